"""Where the smallest and largest entries are, against NumPy and SuiteSparse: ties by position."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.helpers.every import every
from tests.helpers.pgb import assert_same, suitesparse

import semira as gb

NAMES = ["argmin", "argmax"]
DTYPES = ["INT8", "UINT64", "FP32"]


def drawn(dtype: str) -> tuple[Any, Any, Any]:
    """Draw entries with many ties, rows and columns of all lengths, and empty ones."""
    rng = np.random.default_rng(len(dtype))
    share = np.linspace(0, 1, 40)[:, None] * np.linspace(1, 0, 50)
    rows, cols = np.nonzero(rng.random((40, 50)) < share)
    low = 0 if dtype.startswith("U") else -4
    return rows, cols, rng.integers(low, 5, len(rows)).astype(gb.dtypes.lookup_dtype(dtype).np_type)


@every("name", NAMES)
@every("dtype", DTYPES)
def test_by_rows_and_columns(dtype: str, name: str, device: str) -> None:
    rows, cols, values = drawn(dtype)

    def program(library: Any) -> Any:
        A = library.Matrix.from_coo(rows, cols, values, dtype=dtype, nrows=40, ncols=50)
        op = getattr(library.agg if library is gb else library.agg.ss, name)
        return A.reduce_rowwise(op).new(), A.reduce_columnwise(op).new()

    with gb.device(device):
        by_rows, by_columns = program(gb)
    for ours, theirs in zip((by_rows, by_columns), program(suitesparse()), strict=True):
        assert_same(ours, theirs)
    sign = 1 if name == "argmax" else -1
    dense = np.full((40, 50), -np.inf)
    dense[rows, cols] = sign * values.astype(float)
    first, second = dense.argmax(axis=1), dense.argmax(axis=0)
    assert by_rows.to_dict() == {i: first[i] for i in np.unique(rows).tolist()}
    assert by_columns.to_dict() == {j: second[j] for j in np.unique(cols).tolist()}


@every("name", NAMES)
@every("dtype", DTYPES)
def test_of_a_vector(dtype: str, name: str, device: str) -> None:
    _, _, values = drawn(dtype)
    places = np.random.default_rng(3).permutation(9 * len(values))[: len(values)]
    with gb.device(device):
        v = gb.Vector.from_coo(places, values, dtype=dtype, size=9 * len(values))
        found = v.reduce(getattr(gb.agg, name)).new().value
    best = values.max() if name == "argmax" else values.min()
    assert found == places[values == best].min()
