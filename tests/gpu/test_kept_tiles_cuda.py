"""Loops whose pulls keep columns in shared memory from one iteration to the next."""

from __future__ import annotations

import numpy as np
import pytest

import semira as gb
from semira.backends.cuda.lower.program import KEPT_ROOM, TILE_ROOM
from semira.backends.cuda.runtime.shares import TILING_WARPS
from semira.backends.registry import backend_for

pytestmark = pytest.mark.gpu

#: Entries of each warp: part of a tile, tiles that are all kept, and more than are kept.
ENTRIES = [90, 700, 1500]


def graph(device: str, entries: int, dtype: str) -> gb.Matrix:
    """Return a square matrix with so many entries for each warp, most rows short, some long."""
    rng = np.random.default_rng(entries)
    count = entries * TILING_WARPS * backend_for("cuda").runtime.multiprocessors
    n = max(count // 6, 40)
    long = rng.integers(0, n, 5)
    rows = np.where(rng.random(count) < 0.6, rng.integers(0, n, count), rng.choice(long, count))
    # A part of the rows has no entry.
    rows -= (rows % 7 == 3) & (rows > 0)
    places = np.unique(rows * n + rng.integers(0, n, count))
    values = places % 5 + 1
    return gb.Matrix.from_coo(
        places // n, places % n, values.astype(dtype.lower()), nrows=n, ncols=n
    ).to(device)


def rotate(device: str, entries: int, dtype: str, ring: str, times: int = 1) -> list[list[int]]:
    """Run loops whose operand is made anew of what the product gave; return what is left."""
    found = []
    for matrix in (graph(device, each, dtype) for each in (entries, entries // 2)):
        n = matrix.nrows
        x, y, old = (gb.Vector(dtype, n).to(device) for _ in range(3))
        x << 1
        x << x.apply(gb.indexunary.rowindex)
        scale = x.apply(gb.binary.minus, right=3).new(dtype)
        total = gb.Scalar(dtype)

        def step(A=matrix, x=x, y=y, old=old, scale=scale, total=total):
            y << 7
            y(accum=gb.binary.plus, direction="pull") << A.mxv(x, ring)
            total << y.reduce(gb.monoid.plus)
            old << y
            x << y.ewise_mult(scale, gb.binary.minus)
            return total != 0

        for _ in range(times):
            gb.repeat(step, max_iterations=3)
        found.append([*old.to_dense().tolist(), *x.to_dense().tolist(), total.get(0)])
    return found


@pytest.mark.parametrize("entries", ENTRIES)
@pytest.mark.parametrize("dtype", ["INT32", "INT64"])
@pytest.mark.parametrize("ring", ["plus_second", "plus_times"])
def test_a_walk_finds_what_the_one_before_has_kept(entries, dtype, ring):
    assert rotate("cuda", entries, dtype, ring) == rotate("cpu", entries, dtype, ring)


def test_nothing_is_kept_from_one_launch_to_the_next():
    assert rotate("cuda", 700, "INT32", "min_plus", 3) == rotate("cpu", 700, "INT32", "min_plus", 3)


@pytest.fixture
def asked(monkeypatch) -> list[int]:
    """Bytes of dynamic shared memory that launches ask for."""
    runtime, found = backend_for("cuda").runtime, []
    launch = runtime.launch

    def note(kernel, blocks, threads, parameters, shared=0):
        found.append(shared)
        return launch(kernel, blocks, threads, parameters, shared)

    monkeypatch.setattr(runtime, "launch", note)
    return found


@pytest.mark.parametrize(("name", "room"), [("grid:20x20", 0), ("kron:9", KEPT_ROOM)])
def test_shared_memory_is_left_to_l1_where_rows_are_short(asked, name, room):
    A = gb.io.read(name).to("cuda")
    gb.algorithms.pagerank(A, tol=0, max_iterations=2, dtype="FP32")
    assert max(asked) == TILE_ROOM + room


def test_a_device_with_little_shared_memory_keeps_nothing(monkeypatch, asked):
    runtime = backend_for("cuda").runtime
    monkeypatch.setattr(runtime, "shared", 100 << 10)
    # Of no other test, so that the kernel is loaded now.
    expected = rotate("cpu", 700, "INT32", "max_second")
    assert rotate("cuda", 700, "INT32", "max_second") == expected
    assert max(asked) == TILE_ROOM
