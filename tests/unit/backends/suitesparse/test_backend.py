"""What the adapter adds to the device tests: loops, errors, a clear word when it is missing."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from tests.unit.backends.suitesparse.test_functions import compile_only_for

import semira as gb
from semira.base.errors import DeviceUnavailable

pytest.importorskip("graphblas")

DEVICE = "suitesparse"


def path(n: int) -> gb.Matrix:
    return gb.Matrix.from_coo(np.arange(n - 1), np.arange(1, n), nrows=n, ncols=n)


def test_a_recorded_search() -> None:
    with gb.device(DEVICE):
        A = path(5)
        level, depth = gb.Vector(int, 5), gb.Scalar.from_value(0)
        frontier = gb.Vector.from_coo([0], True, size=5)

        def step() -> gb.Scalar:
            level(frontier.S) << depth
            depth << depth + 1
            frontier(~level.S, replace=True) << frontier.vxm(A, gb.semiring.any_pair)
            return frontier.nvals > 0

        report = gb.repeat(step)
        assert level.to_dict() == {n: n for n in range(5)}
        assert report.iterations == 5
        assert level.device == DEVICE


def test_a_broken_iteration_is_undone() -> None:
    with gb.device(DEVICE):
        v, index = (gb.Vector.from_coo([0], value, size=2) for value in (1, 0))
        taken = gb.Vector("INT64", 2)

        def step() -> gb.Scalar:
            v << v.apply("plus", right=1)
            index << index.apply("plus", right=1)
            taken << v.gather(index)  # position 2 does not exist
            return v.nvals > 0

        with pytest.raises(gb.exceptions.IndexOutOfBound, match="2 is outside"):
            gb.repeat(step)
        assert (v.to_dict(), index.to_dict()) == ({0: 2}, {0: 1})


def test_an_explicit_limit_ends_a_loop() -> None:
    with gb.device(DEVICE):
        v = gb.Vector.from_coo([0], 1, size=2)

        def step() -> gb.Scalar:
            v << v.apply("plus", right=1)
            return v.nvals > 0

        assert gb.repeat(step, max_iterations=3).stopped_by == "limit"
        assert v.to_dict() == {0: 4}


def test_errors_are_ours() -> None:
    with gb.device(DEVICE):
        index = gb.Vector.from_coo([0], 9, size=3)
        with pytest.raises(gb.exceptions.IndexOutOfBound, match=r"9 is outside \[0, 3\)"):
            gb.Vector.from_coo([0, 1], [1, 2], size=3).gather(index).new()


def test_user_operators_run(monkeypatch: pytest.MonkeyPatch) -> None:
    compile_only_for(monkeypatch, "BOOL", "INT8", "INT64", "FP64")
    with gb.device(DEVICE):
        v = gb.Vector.from_coo([0, 2], [1, 5], size=3)
        assert v.apply(lambda x: x * x + 1).new().to_dict() == {0: 2, 2: 26}
        assert v.ewise_mult(v, lambda x, y: x + 10 * y).new().to_dict() == {0: 11, 2: 55}


def test_moving_to_and_fro() -> None:
    A = gb.Matrix.from_coo([0, 1], [1, 0], [1.5, 2.5], nrows=2, ncols=3)
    there = A.to(DEVICE)
    assert there.to("cpu").isequal(A.to("cpu"), check_dtype=True)
    assert there.T.mxm(there).new().to("cpu").isequal(A.T.mxm(A).new().to("cpu"))


def test_missing_library_names_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    from semira.backends.suitesparse import objects

    monkeypatch.setitem(sys.modules, "graphblas", None)
    objects.library.cache_clear()
    with pytest.raises(DeviceUnavailable, match=r"semira\[suitesparse\]"):
        objects.library()
    objects.library.cache_clear()
