"""Masked products of pairs by tiles of bits, and triangles."""

from __future__ import annotations

import numpy as np
import pytest

import semira as gb
from semira.algorithms import triangle_count

SIDES = (8, 16, 32)


def matrix(nrows: int, ncols: int, nvals: int, seed: int, dtype=bool) -> gb.Matrix:
    cells = np.random.default_rng(seed).choice(nrows * ncols, nvals, replace=False)
    values = np.random.default_rng(seed).integers(0, 2, nvals)
    return gb.Matrix.from_coo(*np.divmod(cells, ncols), values, dtype=dtype, nrows=nrows,
                              ncols=ncols)  # fmt: skip


@pytest.fixture
def placed(device):
    if device == "cuda":
        pytest.skip("only hosts multiply matrices by bits")
    with gb.device(device):
        yield device


@pytest.mark.parametrize("bits", SIDES)
@pytest.mark.parametrize("ring", ["plus_pair", "any_pair", "lor_pair", "min_pair"])
def test_products_are_those_of_lists(placed, ring, bits):
    A, B = matrix(70, 90, 900, 1), matrix(90, 45, 700, 2, int)
    for share in (0, 40, 1500):
        M = matrix(70, 45, share, 3, int)
        for mask in (M.S, M.V):
            found = A.mxm(B, ring).new(mask=mask, method="b2sr", bits=bits)
            assert found.isequal(A.mxm(B, ring).new(mask=mask, method="dot"), check_dtype=True)
        found = B.T.mxm(A.T, ring).new(mask=M.T.new().S, bits=bits)
        assert found.isequal(A.mxm(B, ring).new(mask=M.S).T.new(), check_dtype=True)


def test_small_types_wrap_as_lists_do(placed):
    A = gb.Matrix.from_dense(np.ones((3, 300), np.int8))
    M = gb.Matrix.from_dense(np.ones((3, 3), bool))
    found = A.mxm(A.T, gb.semiring.plus_pair["INT8"]).new(mask=M.S, bits=8)
    assert found.isequal(A.mxm(A.T, gb.semiring.plus_pair["INT8"]).new(mask=M.S), check_dtype=True)


@pytest.mark.parametrize("bits", ["auto", *SIDES])
def test_triangles(placed, bits):
    half = matrix(120, 120, 1800, 5)
    A = gb.binary.any(half | half.T).new()
    rows, cols, _ = A.to_coo()
    held = np.zeros(A.shape, int)
    held[rows, cols] = rows != cols
    wanted = int(np.trace(np.linalg.matrix_power(held, 3)) // 6)
    assert wanted > 100
    assert triangle_count(A, bits=bits).count == wanted


def test_what_bits_cannot_say_is_refused(device):
    if device == "reference":
        pytest.skip("it runs every method by what it means")
    with gb.device(device):
        A = matrix(20, 20, 90, 1, int)
    if device == "cuda":
        with pytest.raises(gb.exceptions.PlanError, match="cannot run method='b2sr'"):
            A.mxm(A, "plus_pair").new(mask=A.S, bits=8)
        return
    for given, words in (
        (A.mxm(A, "plus_times"), "tiles make bits of pairs"),
        (A.mxm(A, "plus_pair"), "needs a mask"),
    ):
        mask = {} if words == "needs a mask" else {"mask": A.S}
        with pytest.raises(gb.exceptions.PlanError, match=words):
            given.new(**mask, bits=8)
    with pytest.raises(gb.exceptions.PlanError, match=r"bits=4 of method='b2sr'"):
        A.mxm(A, "plus_pair").new(mask=A.S, bits=4)
