"""Random vectors, matrices and scalars in every storage, from a seeded generator."""

from __future__ import annotations

from typing import Any

import numpy as np

from semira.formats import MatrixArrays, ScalarArrays, VectorArrays, coo_to_matrix, index_dtype


def random_values(rng: np.random.Generator, dtype: Any, count: int) -> Any:
    """Return small values, zeros among them, that sums and products keep exact."""
    return rng.integers(0 if dtype.kind in "BU" else -3, 4, count).astype(dtype.np_type)


def random_vector(rng: np.random.Generator, size: int, dtype: Any) -> VectorArrays:
    """Return a vector in a random storage: empty, sparse, bitmap or full; sometimes iso."""
    present = rng.random(size) < rng.choice([0.0, 0.1, 0.5, 0.9, 1.0])
    indices = np.flatnonzero(present).astype(index_dtype(size))
    iso = rng.random() < 0.2
    values = random_values(rng, dtype, 1 if iso else len(indices))
    if len(indices) == size and rng.random() < 0.8:
        return VectorArrays(size, dtype, "full", values, None, None, size, iso)
    if rng.random() < 0.5 or iso:
        return VectorArrays.sparse(size, dtype, indices, values, iso=iso)
    dense = np.zeros(size, dtype.np_type)
    dense[indices] = values
    return VectorArrays(size, dtype, "bitmap", dense, None, present, len(indices))


def random_matrix(rng: np.random.Generator, nrows: int, ncols: int, dtype: Any) -> MatrixArrays:
    """Return a matrix by rows or by columns, sometimes iso, sometimes empty."""
    rows, cols = np.nonzero(rng.random((nrows, ncols)) < rng.choice([0.0, 0.1, 0.3, 0.8]))
    iso = rng.random() < 0.2
    values = random_values(rng, dtype, 1 if iso else len(rows))
    given = None if iso else values
    if rng.random() < 0.5:
        return coo_to_matrix(
            nrows, ncols, rows, cols, given, dtype=dtype, iso_value=values[0] if iso else 0
        )
    return coo_to_matrix(
        ncols, nrows, cols, rows, given, dtype=dtype, iso_value=values[0] if iso else 0
    ).flipped()


def random_scalar(rng: np.random.Generator, dtype: Any, empty: float = 0.0) -> ScalarArrays:
    """Return a scalar, empty with probability `empty`."""
    value = None if rng.random() < empty else random_values(rng, dtype, 1)[0]
    return ScalarArrays(dtype, value)


def entries_of(arrays: Any) -> tuple[Any, ...]:
    """Return positions and values of any object in index order, for comparison."""
    if isinstance(arrays, ScalarArrays):
        return (
            arrays.dtype,
            arrays.value is None,
            np.array([] if arrays.value is None else arrays.value),
        )
    arrays.validate()
    if isinstance(arrays, VectorArrays):
        return arrays.dtype, arrays.entry_indices().tolist(), arrays.entry_values()
    rows, cols, values = arrays.to_coo()
    order = np.lexsort((cols, rows))
    positions = list(zip(rows[order].tolist(), cols[order].tolist(), strict=True))
    return arrays.dtype, positions, values[order]


def assert_same(found: Any, wanted: Any, what: str = "") -> None:
    """Check that two objects have the same dtype, positions and values."""
    found_dtype, found_at, found_values = entries_of(found)
    wanted_dtype, wanted_at, wanted_values = entries_of(wanted)
    assert found_dtype is wanted_dtype, what
    assert found_at == wanted_at, what
    np.testing.assert_allclose(
        found_values.astype(np.float64), wanted_values.astype(np.float64), rtol=1e-6, err_msg=what
    )
