"""A product with a full matrix is one product for each of its columns, or rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import semira as gb

#: Sums that end early, that do not, that read no values, and that ask for positions.
RINGS = ("plus_times", "min_plus", "plus_pair", "any_pair", "max_secondi", "lor_land")


@st.composite
def products(draw: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a matrix with gaps (-1), a full one of as many rows as it has columns, and a mask."""
    rows, inner, cols = (draw(st.integers(1, 9)) for _ in range(3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    density = draw(st.sampled_from((0.1, 0.5, 1.0)))
    sparse = np.where(rng.random((rows, inner)) < density, rng.integers(0, 4, (rows, inner)), -1)
    mask = rng.random((rows, cols)) < draw(st.sampled_from((0.2, 0.8)))
    return sparse, rng.integers(0, 4, (inner, cols)), mask


def matrix(dense: np.ndarray, *, by_columns: bool = False) -> gb.Matrix:
    rows, cols = np.nonzero(dense >= 0)
    if by_columns:
        return matrix(dense.T).T.new()
    shape = {"nrows": dense.shape[0], "ncols": dense.shape[1]}
    return gb.Matrix.from_coo(rows, cols, dense[rows, cols].astype(np.int64), **shape)


def masked(mask: gb.Matrix | gb.Vector, kind: str) -> dict[str, Any]:
    """Return the options of a call under a mask, none if its kind is ""."""
    return {"mask": ~mask.S if kind == "~S" else mask.S} if kind else {}


def written(product: Any, options: dict[str, Any]) -> gb.Matrix:
    """Return a product by an accumulator, which no short cut for small matrices has."""
    made = gb.Matrix(product.dtype, product.nrows, product.ncols)
    made(accum="second", **options) << product
    return made


@pytest.mark.parametrize("ring", RINGS)
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(drawn=products(), by_columns=st.booleans(), kind=st.sampled_from(("", "S", "~S")))
def test_columns_and_rows_of_a_product(
    device: str, ring: str, drawn: Any, by_columns: bool, kind: str
) -> None:
    sparse, full, mask = drawn
    with gb.device(device):
        A, X = matrix(sparse, by_columns=by_columns), matrix(full, by_columns=by_columns)
        M = gb.Matrix.from_coo(*np.nonzero(mask), True, nrows=mask.shape[0], ncols=mask.shape[1])
        right = written(A.mxm(X, ring), masked(M, kind))
        left = written(X.T.mxm(A.T, ring), masked(M.T.new(), kind))
        for j in range(full.shape[1]):
            x, options = X[:, j].new(), masked(M[:, j].new(), kind)
            assert right[:, j].new().isequal(A.mxv(x, ring).new(**options))
            assert left[j, :].new().isequal(x.vxm(A.T, ring).new(**options))
