"""Loops that break: objects hold what the complete iterations alone would leave."""

from __future__ import annotations

import numpy as np
import pytest
from tests.helpers.every import every
from tests.unit.frontend.test_repeat import counter, few_iterations, on

import semira as gb
from semira import binary, exceptions, monoid, semiring

__all__ = ["few_iterations", "on"]


def breaking(kind, size, good):
    """Return objects, and the body of a loop that fails after so many good iterations."""
    A = gb.Matrix.from_coo(range(size - 1), range(1, size), 1, nrows=size, ncols=size)
    places = np.arange(size) % (size - good)
    places[-1] = size - good
    index = gb.Vector.from_dense(places)
    left, right = (gb.Vector.from_coo([0, size - 1], [3, 4], size=size) for _ in range(2))
    few, one = gb.Vector("INT64", size), gb.Vector.from_coo([0], [1], size=size)
    turns, rest, inner = counter(), counter(good), counter()

    def endless():
        inner << inner + 1
        return turns > good

    def scaled():
        few << one.select("<=", rest)
        left << left.apply(binary.plus, right=few.reduce(monoid.max))

    breaks = {
        "gather": lambda: right(accum=binary.plus) << left.gather(index),
        "scatter": lambda: right.scatter(index, left, monoid.plus),
        "empty scalar": scaled,
        "inner limit": lambda: gb.repeat(endless),
    }

    def step():
        turns << turns + 1
        right(left.S, accum=binary.max) << turns
        left(accum=binary.plus) << left.vxm(A, semiring.plus_times)
        breaks[kind]()
        index << index + 1
        rest << rest - 1

    return [left, right, few, index, turns, rest, inner], step


@every("good", [0, 1, 6])
@every("size", [40, 5000])
@every("kind", ["gather", "scatter", "empty scalar", "inner limit"])
def test_an_error_leaves_what_the_good_iterations_alone_would(on, few_iterations, kind, size, good):
    assert few_iterations > 15
    expected, step = breaking(kind, size, good)
    if good:
        gb.repeat(step, max_iterations=good)
    errors = (exceptions.IndexOutOfBound, exceptions.EmptyObject, exceptions.IterationLimit)
    # The second time the program is prepared, and its memory in use.
    for _ in range(2):
        found, step = breaking(kind, size, good)
        with pytest.raises(errors):
            gb.repeat(step, max_iterations=15)
        for one, other in zip(found, expected, strict=True):
            assert one.isequal(other)
    # And nothing of it sticks to a loop that does not fail.
    if good:
        found, step = breaking(kind, size, good)
        assert gb.repeat(step, max_iterations=good).iterations == good
        assert all(map(lambda one, other: one.isequal(other), found, expected))
