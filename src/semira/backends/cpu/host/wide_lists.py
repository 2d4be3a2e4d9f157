"""Lists of rows and columns in use: bringing huge matrices to common ones."""

from __future__ import annotations

import numpy as np

from semira.backends.cpu.compressed import Array, Compressed, offsets_from_counts
from semira.backends.cpu.exchange import expanded, to_arrays, wide_from
from semira.backends.cpu.storage import CpuMatrix, WideMatrix, matrix_of
from semira.backends.renumbering.lists import places_of
from semira.formats import MatrixArrays, index_dtype, is_hypersparse
from semira.formats.index import WIDE


def as_wide(matrix: CpuMatrix | WideMatrix) -> WideMatrix:
    """Return a matrix as lists and a small matrix."""
    if isinstance(matrix, WideMatrix):
        return matrix
    arrays = to_arrays(matrix)
    assert isinstance(arrays, MatrixArrays)
    return wide_from(arrays)


def renumbered(matrix: WideMatrix, row_ids: Array, col_ids: Array) -> CpuMatrix:
    """Return the entries in the listed rows and columns, numbered by the lists.

    O(entries + lengths of the lists), nothing if the lists are the matrix' own.
    """
    if row_ids is matrix.row_ids and col_ids is matrix.col_ids:
        return matrix.small
    if matrix.small.csr is None:
        flipped = renumbered(matrix.transposed(), col_ids, row_ids)
        return CpuMatrix(len(row_ids), len(col_ids), matrix.dtype, None, flipped.csr)
    rows = matrix.small.csr
    new_row, row_kept = places_of(np, row_ids, matrix.row_ids)
    new_col, col_kept = places_of(np, col_ids, matrix.col_ids)
    majors = rows.entry_majors()
    kept = row_kept[majors] & col_kept[rows.indices]
    counts = np.zeros(len(row_ids) + 1, np.int64)
    counts[1:] = np.bincount(new_row[majors[kept]], minlength=len(row_ids))
    dtype = index_dtype(len(row_ids), len(col_ids))
    stored = Compressed(
        len(row_ids), len(col_ids), offsets_from_counts(counts),
        new_col[rows.indices[kept]].astype(dtype, copy=False),
        rows.values if rows.iso else rows.values[kept], rows.iso,
    )  # fmt: skip
    return matrix_of(stored, matrix.dtype)


def settled_matrix(matrix: WideMatrix) -> CpuMatrix | WideMatrix:
    """Return a result in the form that `formats.is_hypersparse` asks for, with short lists."""
    largest = max(matrix.nrows, matrix.ncols)
    if largest < WIDE and not is_hypersparse(largest, matrix.nvals):
        return expanded(matrix)
    if max(len(matrix.row_ids), len(matrix.col_ids)) <= 2 * matrix.nvals + 64:
        return matrix
    arrays = to_arrays(matrix)
    assert isinstance(arrays, MatrixArrays)
    return wide_from(arrays)
