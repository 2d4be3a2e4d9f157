"""Scans, orders and shapes of the layer for huge objects; the kernels of the cuda backend."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from tests.helpers.compiling import assert_all_compile
from tests.unit.backends.cuda.test_compile import ARCHITECTURES, needs_nvrtc
from tests.unit.backends.cuda.test_wide import N, stand_in  # noqa: F401

import semira as gb
from semira.backends.cuda.rearrange.kronecker import ROOT as KRONECKER
from semira.backends.cuda.rearrange.kronecker import kronecker_source
from semira.backends.cuda.wide.entry_source import SEGMENTS as ROOT
from semira.backends.cuda.wide.entry_source import order_source, scan_source
from semira.base.dtypes import BOOL, FP32, FP64, INT8, INT64
from semira.ops.registry import binary, monoid

ORDERS = ["rowwise", "columnwise"]
HOWS = ["first", "last", "smallest", "largest"]


def random_matrix(seed=1):
    rng = np.random.default_rng(seed)
    dense = rng.integers(-3, 4, (9, 13)).astype(float)
    return gb.Matrix.from_dense(np.where(rng.random(dense.shape) < 0.5, dense, np.nan), np.nan)


HUGE = 2**30
ROWS, COLS = np.array([0, 5, 2**29, HUGE - 1]), np.array([3, 2**20, 2**28, HUGE - 2, HUGE - 1])


def pair(seed=3):
    """Return a huge matrix, and one with the same entries in neighbouring rows and columns."""
    rng = np.random.default_rng(seed)
    rows, cols = np.nonzero(rng.random((len(ROWS), len(COLS))) < 0.6)
    values = rng.permutation(len(rows))
    small = gb.Matrix.from_coo(rows, cols, values, nrows=len(ROWS), ncols=len(COLS))
    return gb.Matrix.from_coo(ROWS[rows], COLS[cols], values, nrows=HUGE, ncols=HUGE), small


def assert_like(huge, small, rows, cols):
    """Check that `huge` has the entries of `small`, at other rows and columns."""
    at, to, values = small.to_coo()
    found = sorted(zip(*(part.tolist() for part in huge.to_coo()), strict=True))
    assert found == sorted(zip(rows[at].tolist(), cols[to].tolist(), values.tolist(), strict=True))


@pytest.mark.parametrize("order", ORDERS)
def test_lines_of_huge_matrices(stand_in, order):  # noqa: F811
    """Conformance tests compare small matrices with SuiteSparse."""
    huge, small = pair()
    assert_like(huge.ss.scan("plus", order), small.ss.scan("plus", order), ROWS, COLS)
    assert_like(huge.ss.selectk("last", 2, order), small.ss.selectk("last", 2, order), ROWS, COLS)
    front = np.arange(len(COLS))
    across = (ROWS, front) if order == "rowwise" else (front, COLS)
    for how in HOWS:
        made = [x.ss.compactify(how, 2, order, reverse=True) for x in (huge, small)]
        assert_like(*made, *across)
    for mine, found in zip(huge.ss.sort("gt", order), small.ss.sort("gt", order), strict=True):
        other = found
        if other.dtype == "UINT64":
            at, to, origin = other.to_coo()
            origin = (COLS if order == "rowwise" else ROWS)[origin.astype(int)]
            other = gb.Matrix.from_coo(at, to, origin, nrows=other.nrows, ncols=other.ncols)
        assert_like(mine, other, *across)


@pytest.mark.parametrize("order", ORDERS)
def test_shapes_of_huge_matrices(stand_in, order):  # noqa: F811
    huge, _ = pair()
    rows, cols, values = (part.astype(np.int64) for part in huge.to_coo())
    major, minor = (rows, cols) if order == "rowwise" else (cols, rows)
    long = huge.ss.flatten(order)
    expected = sorted(zip((major * HUGE + minor).tolist(), values.tolist(), strict=True))
    assert list(zip(*(part.tolist() for part in long.to_coo()), strict=True)) == expected
    assert long.ss.reshape(HUGE, HUGE, order).isequal(huge)
    tiles = huge.ss.split([[5, HUGE - 5], [HUGE - 1, 1]])
    assert gb.ss.concat(tiles).isequal(huge)


def test_random_choice_takes_as_many_as_there_are(stand_in):  # noqa: F811
    A = random_matrix()
    counts = np.diff(A.to_csr()[0])
    chosen = A.ss.selectk("random", 3)
    assert np.diff(chosen.to_csr()[0]).tolist() == np.minimum(counts, 3).tolist()
    assert chosen.ewise_mult(A, "eq").new().reduce_scalar("land").new().value


def test_sort_by_a_comparison_of_the_user(stand_in):  # noqa: F811
    A = random_matrix()
    nearer = gb.binary.register_anonymous(lambda x, y: abs(x) < abs(y))
    indptr, cols, values = A.to_csr()
    found = A.ss.sort(nearer)
    for line, (lo, hi) in enumerate(itertools.pairwise(indptr.tolist())):
        order = sorted(range(lo, hi), key=lambda at: abs(values[at]))
        assert found[0][line, :].new().to_coo()[1].tolist() == values[order].tolist()
        assert found[1][line, :].new().to_coo()[1].tolist() == cols[order].tolist()


def test_a_comparison_that_contradicts_itself_takes_nothing_from_elsewhere(stand_in):  # noqa: F811
    always = gb.binary.register_anonymous(lambda x, y: True)
    values, places = random_matrix().ss.sort(always)
    assert set(values.to_coo()[2]) <= set(random_matrix().to_coo()[2])
    assert places.nvals == values.nvals == random_matrix().nvals


SCANS = {
    "plus": (monoid["plus"].typed(FP64), FP32),
    "lor": (monoid["lor"].typed(BOOL), INT64),
    "min": (monoid["min"].typed(INT8), INT8),
}


@needs_nvrtc
@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_scans_and_orders_compile(arch):
    texts = {name: scan_source(*given) for name, given in SCANS.items()}
    texts["order"] = order_source(binary["gt"].typed(FP64), INT8)
    assert_all_compile(texts, arch, root=ROOT)


def test_the_far_end_is_reached(stand_in):  # noqa: F811
    v = gb.Vector.from_coo([3, N - 1], [2, 1], size=N)
    assert v.ss.sort()[1].to_coo()[1].tolist() == [N - 1, 3]


@needs_nvrtc
@pytest.mark.parametrize("offset_type", ["int", "long long"])
def test_kronecker_products_compile_without_warning(offset_type):
    kinds = (("times", FP64), ("firstj", INT64), ("second", FP64))
    texts = {name: kronecker_source(binary[name].typed(dtype), FP32, INT8) for name, dtype in kinds}
    assert_all_compile(texts, ARCHITECTURES[-1], offset_type, KRONECKER)
