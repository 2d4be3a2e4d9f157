"""Pushes that list their products: every way beside the reference, and what sorting moves."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.studies.spmspv import MERGES, ways_on
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers.every import every
from tests.helpers.storages import RINGS, check_hinted

import semira as gb
from semira.backends.cpu import threads
from semira.backends.cpu.compressed import Compressed
from semira.backends.cpu.host.mxv import Product
from semira.backends.cpu.storage import CpuVector
from semira.base.dtypes import FP64
from semira.base.errors import PlanError
from semira.base.settings import override, restore
from semira.contract import Hints
from semira.methods.sorted_push import cpu
from semira.ops.registry import semiring

WAYS = [("vxm", False), ("vxm", True), ("mxv", False), ("mxv", True)]
SORTS = ["radix", "sort"]


@pytest.mark.parametrize(
    ("ring", "op", "transposed"),
    [(ring, *WAYS[k % 4]) for k, ring in enumerate(RINGS)],
)
@pytest.mark.parametrize("merge", ["atomics", *SORTS])
def test_every_semiring(merge, ring, op, transposed):
    check_hinted("cpu", Hints(merge=merge), op, ring, transposed=transposed)


@every(("op", "transposed"), WAYS)
@every("name", ["any_pair", "any_first", "any_second", "min_pair", "lor_pair"])
def test_a_scatter_keeps_one_of_those_that_meet(name, op, transposed):
    rng = np.random.default_rng(3)
    at = np.unique(rng.integers(0, (70, 40), (400, 2)), axis=0)
    A = gb.Matrix.from_coo(at[:, 0], at[:, 1], 5, nrows=70, ncols=40, dtype="INT64")
    left = op == "vxm"
    B = A.T if transposed else A
    size = B.nrows if left else B.ncols
    places = rng.permutation(size)[: size // 3]
    u = gb.Vector.from_coo(places, 5, size=size, dtype="INT64")
    ring = getattr(gb.semiring, name)
    multiply = u.vxm if left else B.mxv
    given = (B, ring) if left else (u, ring)
    # Equal operands, so that whatever stays is the same.
    assert multiply(*given).new(merge="scatter").isequal(multiply(*given).new(direction="pull"))


def test_what_any_keeps_is_one_of_the_products():
    A = gb.Matrix.from_coo([0, 1, 2], [0, 0, 1], [1, 2, 3], nrows=3, ncols=2)
    u = gb.Vector.from_coo([0, 1, 2], [10, 20, 30], size=3)
    for merge in MERGES:
        found = u.vxm(A, "any_first").new(merge=merge)
        assert found[0].value in (10, 20)
        assert found[1].value == 30


def test_sums_go_with_the_order_of_the_frontier_whatever_the_threads_do():
    rng = np.random.default_rng(5)
    count = 4 * threads.PARALLEL_ENTRIES
    at = np.unique(rng.integers(0, (3000, 900), (count, 2)), axis=0)
    A = gb.Matrix.from_coo(at[:, 0], at[:, 1], rng.random(len(at)), nrows=3000, ncols=900)
    u = gb.Vector.from_dense(rng.random(3000))
    expected = np.zeros(900)
    # One addition after the other, in the order of the rows.
    np.add.at(expected, at[:, 1], u.to_dense()[at[:, 0]] * A.to_coo()[2])
    for count in (1, 3):
        before = override(threads=count)
        try:
            found = [u.vxm(A, "plus_times").new(merge=merge).to_dense() for merge in SORTS]
        finally:
            restore(before)
        assert all(np.array_equal(each, expected) for each in found)


@settings(max_examples=60, deadline=None)
@given(
    keys=st.lists(st.integers(0, 2**31 - 2), max_size=200),
    bits=st.integers(1, 31),
    wide=st.booleans(),
)
def test_a_radix_sort_is_stable_and_looks_at_the_bits_of_the_rows_alone(keys, bits, wide):
    size = 2**bits
    keys = np.array(keys, np.int64 if wide else np.int32) & (size - 1)
    values = np.arange(len(keys), dtype=np.float64)
    kernels = cpu.kernel_of(cpu._LISTS, _product(), (("ISO_RESULT", False),))
    found, moved = cpu.sorted_by_digits(kernels, keys.copy(), values.copy(), size)
    order = np.argsort(keys, kind="stable")
    assert np.array_equal(found, keys[order])
    assert np.array_equal(moved, values[order])


def _product():
    ring = semiring["plus_times"].typed(FP64)
    nothing = np.zeros(1, np.int32)
    edges = Compressed(0, 0, nothing, nothing, np.zeros(0))
    vector = CpuVector(0, FP64, "full", np.zeros(0))
    return Product(ring.monoid, ring.binaryop, True, edges, vector, 0)


@pytest.mark.parametrize("merge", MERGES)
def test_without_products(merge):
    A = gb.Matrix("BOOL", 4, 5)
    for u in (gb.Vector("BOOL", 4), gb.Vector.from_coo([1], True, size=4)):
        assert u.vxm(A, "any_pair").new(merge=merge).nvals == 0
    B = gb.Matrix.from_coo([0], [4], True, nrows=4, ncols=5)
    assert gb.Vector.from_coo([1], True, size=4).vxm(B, "any_pair").new(merge=merge).nvals == 0
    assert gb.Vector("BOOL", 0).vxm(gb.Matrix("BOOL", 0, 5), "any_pair").new(merge=merge).nvals == 0


@pytest.mark.parametrize("merge", MERGES)
def test_a_search_may_be_pinned(merge):
    A = gb.io.read("kron:8,ef=4")
    found = gb.algorithms.bfs(A, 0, merge=merge)
    assert {row.method for row in found.trace} == {"push"}
    assert found.level.isequal(gb.algorithms.bfs(A, 0).level)


def test_the_study_has_a_line_for_each():
    assert list(ways_on("cpu")) == [*MERGES, "pull", "dense", "auto"]


def test_a_pull_has_no_lists():
    u, A = gb.Vector.from_coo([0], [1.0], size=3), gb.Matrix("FP64", 3, 3)
    with pytest.raises(PlanError, match="works row by row"):
        u.vxm(A, "plus_times").new(merge="sort", direction="pull")
