"""Products of pairs by tiles of bits: triangles, small types, what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from tests.helpers.compiling import assert_all_compile, compile_only
from tests.unit.backends.cuda.test_compile import needs_nvrtc
from tests.unit.backends.cuda.test_product_kernels import planned

import semira as gb
from semira.algorithms import multi_source_bfs, triangle_count
from semira.backends.cuda.jit.render import STAGED
from semira.backends.cuda.staged.executable import source_of
from semira.base.dtypes import BOOL, INT64
from semira.methods.b2sr.cuda_products import ROOT
from semira.ops.registry import semiring

SIDES = (8, 16, 32)


def matrix(nrows: int, ncols: int, nvals: int, seed: int, dtype=bool) -> gb.Matrix:
    cells = np.random.default_rng(seed).choice(nrows * ncols, nvals, replace=False)
    values = np.random.default_rng(seed).integers(0, 2, nvals)
    return gb.Matrix.from_coo(*np.divmod(cells, ncols), values, dtype=dtype, nrows=nrows,
                              ncols=ncols)  # fmt: skip


@pytest.fixture
def placed(device):
    with gb.device(device):
        yield device


def test_masked_products(placed):
    A, B, M = matrix(70, 90, 900, 1), matrix(90, 45, 700, 2, int), matrix(70, 45, 1500, 3, int)
    rings = ("times_pair", M.S), ("lxor_pair", M.S), ("bxnor_pair", M.V), ("lxnor_pair", ~M.S)
    for ring, mask in (("plus_pair", M.S), ("any_pair", M.V), *rings):
        wanted = A.mxm(B, ring).new(mask=mask)
        for bits in SIDES:
            found = A.mxm(B, ring).new(mask=mask, bits=bits)
            assert found.isequal(wanted, check_dtype=True), (ring, bits)
    left, right = A.T.new(), B.T.new()
    found = left.T.mxm(right.T, "plus_pair").new(mask=M.S, bits=16)
    assert found.isequal(A.mxm(B, "plus_pair").new(mask=M.S), check_dtype=True)


def test_products_that_no_mask_names(placed):
    A, B, M = matrix(70, 90, 900, 1), matrix(90, 9000, 700, 2, int), matrix(70, 9000, 9000, 3, int)
    for pins in ({}, {"mask": ~M.S}, {"mask": ~M.V}, {"mask": M.S, "direction": "push"}):
        wanted = A.mxm(B, "lor_pair").new(**{**pins, "direction": None})
        for bits in SIDES if not pins else (16,):
            found = A.mxm(B, "lor_pair").new(**pins, bits=bits)
            assert found.isequal(wanted, check_dtype=True), (pins, bits)
    for ring in ("land_pair", "bor_pair", "times_pair", "eq_pair"):
        assert A.mxm(B, ring).new(bits=16).isequal(A.mxm(B, ring).new(), check_dtype=True)
    nothing = gb.Matrix(bool, 90, 9000)
    assert A.mxm(nothing, "any_pair").new(bits=8).nvals == 0


def test_searches_by_products(placed):
    A = matrix(60, 60, 200, 4)
    found = multi_source_bfs(A, [3, 50], max_depth=3, bits=8).level
    assert found.isequal(multi_source_bfs(A, [3, 50], max_depth=3).level)


def test_small_types_wrap_as_lists_do(placed):
    A = gb.Matrix.from_dense(np.ones((3, 300), np.int8))
    M = gb.Matrix.from_dense(np.ones((3, 3), bool))
    product = A.mxm(A.T, gb.semiring.plus_pair["INT8"])
    for mask in ({"mask": M.S}, {})[: 1 if placed == "cuda" else 2]:
        assert product.new(**mask, bits=8).isequal(product.new(**mask), check_dtype=True)


@pytest.mark.parametrize("bits", ["auto", *SIDES])
def test_triangles(placed, bits):
    half = matrix(120, 120, 1800, 5)
    A = gb.binary.any(half | half.T).new()
    rows, cols, _ = A.to_coo()
    held = np.zeros(A.shape, int)
    held[rows, cols] = rows != cols
    wanted = int(np.trace(np.linalg.matrix_power(held, 3)) // 6)
    assert wanted > 100
    # A GPU starts the second one as it did the first.
    assert [triangle_count(A, bits=bits).count for _ in range(2)] == [wanted] * 2


@needs_nvrtc
def test_kernels_compile_without_warning():
    given = {"method": "b2sr", "parameters": (("bits", 16),)}
    kinds = (
        ("plus_pair", INT64, "kCount"),
        ("any_pair", BOOL, "kOne"),
        ("lxor_pair", BOOL, "kParity"),
    )
    sources = {}
    for ring, dtype, kind in kinds:
        sources[ring] = source_of(planned(semiring[ring].typed(dtype), "value", **given))
        assert f"dot_tiles<Pairs::{kind}, " in sources[ring]
    assert_all_compile(sources, "sm_90", root=STAGED)
    for offsets in ("int", "long long"):
        assert compile_only("", "sm_90", offsets, ROOT).log.strip("\0 \n") == ""


def test_what_bits_cannot_say_is_refused(device):
    if device == "reference":
        pytest.skip("it runs every method by what it means")
    with gb.device(device):
        A = matrix(20, 20, 90, 1, int)
    if device == "cuda":
        for ring in ("plus_pair", "lxor_pair"):
            with pytest.raises(gb.exceptions.PlanError, match="counts pairs only where a mask"):
                A.mxm(A, ring).new(bits=8).wait()
    with pytest.raises(gb.exceptions.PlanError, match="tiles make bits of pairs"):
        A.mxm(A, "plus_times").new(mask=A.S, bits=8)
    with pytest.raises(gb.exceptions.PlanError, match=r"bits=4 of method='b2sr'"):
        A.mxm(A, "plus_pair").new(mask=A.S, bits=4)
