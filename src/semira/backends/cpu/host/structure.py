"""Copying, counting, transposing, diagonals: operations without an operator."""

from __future__ import annotations

from typing import Any

import numpy as np

from semira.backends.cpu import threads
from semira.backends.cpu.compressed import Array, Compressed, offsets_from_counts
from semira.backends.cpu.host.update import Result
from semira.backends.cpu.storage import CpuMatrix, CpuVector, matrix_of, sparse_vector, to_sparse
from semira.backends.cpu.transposition import structure_kernels
from semira.backends.interpreter import MaskData
from semira.backends.renumbering.lists import checked
from semira.base.dtypes import BOOL
from semira.base.memory import empty
from semira.contract import Statement
from semira.formats import ScalarArrays, index_dtype


def count_entries(matrix: Compressed, vector: CpuVector) -> int:
    """Return the entries of the runs at which `vector` has an entry."""
    listed = vector.indices is not None
    places = vector.indices if listed else vector.present
    if places is None:
        return matrix.nvals
    return int(structure_kernels(listed=listed).count_entries(places, matrix.indptr))


def gather_rows(matrix: Compressed, rows: Array, counts: Array) -> Compressed:
    """Return rows `rows` in that order, the first `counts` entries of each."""
    running = np.zeros(len(rows) + 1, np.int64)
    running[1:] = counts
    indptr = offsets_from_counts(running)
    total = int(indptr[-1])
    indices = empty(total, matrix.indices.dtype)
    values = matrix.values if matrix.iso else empty(total, matrix.values.dtype)
    kernels = structure_kernels(values=not matrix.iso)

    def gather(_part: int, lo: int, hi: int) -> None:
        kernels.gather_rows(
            lo, hi, rows, matrix.indptr, matrix.indices, matrix.values, indptr, indices, values
        )

    threads.run_chunks(gather, threads.bounds_by_work(indptr, threads.num_chunks(total)))
    return Compressed(len(rows), matrix.nminor, indptr, indices, values, matrix.iso)


def copy(statement: Statement, args: list[Any], _mask: MaskData | None, _out: Any) -> Result:
    """Return the operand, its orientations swapped if it is transposed; `finish` casts."""
    x = args[0]
    if not isinstance(x, CpuMatrix) or not statement.args[0].transposed:
        return Result(x, shared=True)
    by_columns = x.columns()
    return Result(CpuMatrix(x.ncols, x.nrows, x.dtype, by_columns, x.csr, x.symmetric), shared=True)


def nvals(_statement: Statement, args: list[Any], _mask: MaskData | None, out: Any) -> Result:
    """Return the number of entries."""
    return Result(ScalarArrays(out.dtype, out.dtype.scalar(args[0].nvals)))


def diag(statement: Statement, args: list[Any], _mask: MaskData | None, out: Any) -> Result:
    """Return the k-th diagonal: a vector's as a matrix, a matrix' as a vector."""
    k = int(statement.param("k", 0))
    down, right = max(-k, 0), max(k, 0)
    x = args[0]
    if statement.param("by_value"):
        return Result(_matrix_by_value(to_sparse(x), out))
    if isinstance(x, CpuVector):
        return Result(_diagonal_matrix(to_sparse(x), down, right, out))
    rows = x.oriented(by_columns=statement.args[0].transposed)
    majors = rows.entry_majors()
    here = np.flatnonzero(rows.indices - majors.astype(np.int64) == k)
    indices = (majors[here] - down).astype(index_dtype(out.size), copy=False)
    values = rows.values if rows.iso else rows.values[here]
    return Result(sparse_vector(out.size, x.dtype, indices, values, iso=rows.iso))


def _matrix_by_value(vector: CpuVector, out: CpuMatrix) -> CpuMatrix:
    assert vector.indices is not None
    columns = checked(vector.entry_values()[0][: vector.nvals], out.ncols, "one_hot value")
    if vector.iso:
        columns = np.repeat(columns[:1], vector.nvals)
    counts = np.zeros(out.nrows + 1, np.int64)
    counts[vector.indices.astype(np.int64) + 1] = 1
    indices = columns.astype(index_dtype(out.nrows, out.ncols))
    rows = Compressed(
        out.nrows, out.ncols, offsets_from_counts(counts), indices, np.ones(1, np.bool_), True
    )
    return matrix_of(rows, BOOL)


def _diagonal_matrix(vector: CpuVector, down: int, right: int, out: CpuMatrix) -> CpuMatrix:
    assert vector.indices is not None
    counts = np.zeros(out.nrows + 1, np.int64)
    counts[vector.indices.astype(np.int64) + (down + 1)] = 1
    indices = (vector.indices + right).astype(index_dtype(out.nrows, out.ncols), copy=False)
    rows = Compressed(
        out.nrows, out.ncols, offsets_from_counts(counts), indices, vector.values, vector.iso
    )
    return matrix_of(rows, vector.dtype)
