"""Neighbouring statements that share a phase or barriers on the GPU mean what they mean alone."""

from __future__ import annotations

import numpy as np
import pytest
from tests.helpers.every import every
from tests.helpers.random_bodies import PRODUCTS, run_body

import semira as gb

pytestmark = pytest.mark.gpu


@every("size", [1, 40, 3000])
@every("seed", range(40))
def test_drawn_bodies_agree_with_the_reference(seed, size):
    assert run_body("cuda", seed, size) == run_body(
        "reference" if size < 100 else "cpu", seed, size
    )


@every("size", [1, 40, 3000])
@every("seed", range(60))
def test_products_that_fill_together_agree_with_the_reference(seed, size):
    other = "reference" if size < 100 else "cpu"
    expected = run_body(other, seed, size, kinds=PRODUCTS)
    assert run_body("cuda", seed, size, kinds=PRODUCTS) == expected


def test_a_product_does_not_change_what_an_earlier_statement_reads():
    """The statement waits to be written out; the product replaces the vector that drives it."""
    for n in (40, 5000):
        around = np.arange(n)
        A = gb.Matrix.from_coo(around, (around + 1) % n, True, nrows=n, ncols=n).to("cuda")
        front = gb.Vector.from_coo([0], True, size=n).to("cuda")
        seen, values = gb.Vector("INT64", n).to("cuda"), gb.Vector.from_dense(around).to("cuda")

        def step(seen=seen, front=front, values=values, A=A):
            seen(front.S) << values
            front << front.vxm(A, "any_pair")

        gb.repeat(step, max_iterations=5)
        assert seen.to_dict() == {k: k for k in range(5)}
        assert list(front.to_dict()) == [5]


def waves(device: str, size: int):
    """Return what a loop leaves whose vectors have few entries, far apart, at changing places."""
    rng = np.random.default_rng(9)
    places = np.unique(np.concatenate([rng.integers(0, size, 200), [0, 31, 32, size - 1]]))
    with gb.device(device):
        waiting = gb.Vector.from_coo(places, rng.integers(1, 100, len(places)), size=size)
        near, late, last = waiting.dup(), gb.Vector("INT64", size), gb.Vector("INT64", size)
        fresh = gb.Vector.from_coo((places + size // 3) % size, 7, dtype="INT64", size=size)
        limit, least = gb.Scalar.from_value(20, "INT64"), gb.Scalar("INT64")

    def step():
        # What it had an iteration before stands in no other vector.
        last << near.apply(gb.unary.ainv)
        late << fresh.apply(gb.binary.plus, right=3)
        waiting(~near.S, replace=True) << waiting
        waiting(late.S) << late
        near << waiting.select(gb.select.valuele, limit)
        fresh(~near.S, replace=True) << waiting
        least << waiting.reduce(gb.monoid.min)
        limit << least + 8
        return waiting.nvals > 0

    gb.repeat(step, max_iterations=6)
    left = [v.to_dict() for v in (waiting, near, late, last, fresh)]
    return left, least.get(None), limit.get(None)


@pytest.mark.parametrize("size", [33, 5000, 1_200_000])
def test_words_in_which_nothing_can_happen_are_passed_over(size):
    """In the largest, warps look at several words at once on any device."""
    assert waves("cuda", size) == waves("cpu", size)


def sending(device, size, seed, *, holes=False, bad=False):
    """Return what a loop leaves whose scatter shares the phase that makes its values."""
    rng = np.random.default_rng(seed)
    count = 2 * size
    with gb.device(device):
        A = gb.Matrix.from_coo(
            rng.integers(0, size, count), rng.integers(0, size, count), np.ones(count, bool),
            nrows=size, ncols=size, dup_op=gb.binary.lor,
        )  # fmt: skip
        where = np.flatnonzero(rng.random(size) < (0.6 if holes and size > 1 else 1.0))
        places = rng.integers(0, max(1, size // 4), len(where))
        if bad:
            places[len(places) // 2] = size + 3
        index = gb.Vector.from_coo(where, places, size=size, dtype="INT64")
        values = gb.Vector.from_dense(rng.integers(0, 4 * size, size))
        # Best values: in a few places only, or in all.
        kept = np.flatnonzero(rng.random(size) < (0.3 if holes else 1.0))
        best = gb.Vector.from_coo(kept, rng.integers(0, 9 * size, len(kept)), size=size)
        found = gb.Vector("INT64", size)
        turn = gb.Scalar.from_value(0, "INT64")

        def step():
            turn << turn + 1
            values(accum=gb.binary.min) << A.mxv(values, "min_second")
            best.scatter(index, values, gb.monoid.min)
            best(accum=gb.binary.min) << values.apply(gb.binary.plus, right=turn)
            found << best.gather(index)

        if bad:
            with pytest.raises(gb.exceptions.IndexOutOfBound, match=f"index {size + 3} "):
                gb.repeat(step, max_iterations=4)
        else:
            gb.repeat(step, max_iterations=4)
        return [each.to_dict() for each in (values, best, found)] + [turn.value]


@pytest.mark.parametrize("size", [1, 40, 3000])
@pytest.mark.parametrize("holes", [False, True])
@pytest.mark.parametrize("bad", [False, True])
def test_a_scatter_in_the_phase_of_its_values(size, holes, bad):
    for seed in range(3):
        expected = sending("reference", size, seed, holes=holes, bad=bad)
        assert sending("cuda", size, seed, holes=holes, bad=bad) == expected
        assert expected[-1] == (0 if bad else 4)
