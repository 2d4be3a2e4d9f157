"""Products of pairs by tiles of bits: triangles, small types, what is refused."""

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


def test_small_types_wrap_as_lists_do(placed):
    A = gb.Matrix.from_dense(np.ones((3, 300), np.int8))
    M = gb.Matrix.from_dense(np.ones((3, 3), bool))
    product = A.mxm(A.T, gb.semiring.plus_pair["INT8"])
    for mask in ({"mask": M.S}, {}):
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
    with pytest.raises(gb.exceptions.PlanError, match="tiles make bits of pairs"):
        A.mxm(A, "plus_times").new(mask=A.S, bits=8)
    with pytest.raises(gb.exceptions.PlanError, match=r"bits=4 of method='b2sr'"):
        A.mxm(A, "plus_pair").new(mask=A.S, bits=4)
