"""Kernels for large graphs have a second walk for vectors with every entry: it means the same."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from tests.helpers.every import every

import semira as gb
from semira.backends.cuda.runtime import kernel_choice

pytestmark = pytest.mark.gpu

SIZES = [1, 31, 32, 33, 1000]


@pytest.fixture(autouse=True)
def _large(monkeypatch):
    monkeypatch.setattr(kernel_choice, "gathers_many", lambda *_: True)


def vector(kind: str, size: int, seed: int) -> gb.Vector:
    """Return a vector with every entry, all but one, a few, or none."""
    rng = np.random.default_rng(seed)
    kept = {
        "full": np.arange(size),
        "gap": np.delete(np.arange(size), size // 2),
        "few": np.unique(rng.integers(0, size, 1 + size // 9)),
        "none": np.arange(0),
    }[kind]
    # Values are positions, so that they may be gathered and scattered by.
    values = rng.integers(0, size, len(kept))
    return gb.Vector.from_coo(kept, values, dtype="INT64", size=size)


def ring(size: int) -> gb.Matrix:
    """Return a cycle."""
    around = np.arange(size)
    return gb.Matrix.from_coo(around, (around + 1) % size, True, nrows=size, ncols=size)


def walk(device: str, kinds: tuple[str, ...], size: int) -> list[dict[int, int]]:
    """Return what statements leave that only look at their positions, in a loop with a product."""
    with gb.device(device):
        A = ring(size).to(device)
        u, v, w = (vector(kind, size, k).to(device) for k, kind in enumerate(kinds))
        least, sums = gb.Vector("INT64", size), gb.Scalar("INT64")

    def step():
        least << A.mxv(u, gb.semiring.min_second["INT64"])
        v(accum=gb.binary.min) << least
        w << v.ewise_add(u, gb.binary.max)
        u(mask=w.S) << w.apply(gb.binary.minus, right=1)
        sums << w.reduce(gb.monoid.plus)

    gb.repeat(step, max_iterations=3)
    return [each.to_dict() for each in (u, v, w, least)] + [sums.value]


@every("size", SIZES)
@every("kinds", [*itertools.product(["full", "gap", "few", "none"], repeat=3)])
def test_statements_by_position(kinds, size):
    assert walk("cuda", kinds, size) == walk("reference", kinds, size)


def jump(device: str, kinds: tuple[str, ...], size: int) -> list[dict[int, int]]:
    """Return what a hooking step leaves: scatter, then gathers from what was scattered into."""
    with gb.device(device):
        A = ring(size).to(device)
        label, grand, offer = (vector(kind, size, k).to(device) for k, kind in enumerate(kinds))

    def step():
        offer(accum=gb.binary.min) << A.mxv(grand, gb.semiring.min_second["INT64"])
        label.scatter(grand, offer, gb.monoid.min)
        label(accum=gb.binary.min) << offer.ewise_add(grand, gb.binary.min)
        grand << label.gather(label)
        return grand.reduce(gb.monoid.max) > 0

    gb.repeat(step, max_iterations=4)
    return [each.to_dict() for each in (label, grand, offer)]


@every("size", SIZES)
@every("kinds", [*itertools.product(["full", "gap", "none"], repeat=3)])
def test_scatter_and_gather(kinds, size):
    assert jump("cuda", kinds, size) == jump("reference", kinds, size)


@pytest.mark.parametrize("bad", [-1, 1000])
def test_a_bad_position_in_a_full_vector_is_named(bad):
    size = 1000
    A, label = ring(size).to("cuda"), gb.Vector.from_dense(np.arange(size)).to("cuda")
    to = gb.Vector.from_dense(np.where(np.arange(size) == 700, bad, 5)).to("cuda")
    found = gb.Vector("INT64", size).to("cuda")

    def step():
        found << A.mxv(label, gb.semiring.min_second["INT64"])
        found << label.gather(to)

    with pytest.raises(gb.exceptions.IndexOutOfBound, match=str(bad)):
        gb.repeat(step, max_iterations=2)
    assert found.nvals == 0
    assert label.to_dict() == {k: k for k in range(size)}


@pytest.mark.parametrize("size", [33, 4000])
def test_short_rows_without_gaps(size):
    """One and two lanes a row, words that have all of their rows and the one that has not."""
    rng = np.random.default_rng(size)
    for longest in (3, 6):
        lengths = rng.integers(0, longest + 1, size)
        rows = np.repeat(np.arange(size), lengths)
        cols = rng.integers(0, size, len(rows))
        values = rng.integers(1, 9, len(rows))
        A = gb.Matrix.from_coo(rows, cols, values, nrows=size, ncols=size, dup_op=gb.binary.plus)
        for kind in ("full", "gap"):
            u = vector(kind, size, 3)
            for ring_of in ("plus_times", "min_second", "max_secondi"):
                chosen = getattr(gb.semiring, ring_of)
                expected = A.mxv(u, chosen).new().to_dict()
                got = A.to("cuda").mxv(u.to("cuda"), chosen).new(direction="pull")
                assert got.to_dict() == expected
