"""Copying, counting, transposing, diagonals: operations without an operator."""

from __future__ import annotations

from functools import lru_cache
from types import ModuleType
from typing import Any

import numpy as np

from semira.backends.cpu import cache, threads
from semira.backends.cpu.codegen import Header
from semira.backends.cpu.host.update import Result
from semira.backends.cpu.storage import (
    Array,
    Compressed,
    CpuMatrix,
    CpuVector,
    matrix_of,
    offsets_from_counts,
    sparse_vector,
    to_sparse,
)
from semira.backends.cpu.whole import is_full, transposed_full
from semira.backends.interpreter import MaskData
from semira.base.memory import empty
from semira.contract import Statement
from semira.formats import ScalarArrays, index_dtype, offset_dtype


@lru_cache(cache.KEPT_BY_HOST)
def structure_kernels(*, values: bool = False, listed: bool = False) -> ModuleType:
    """Return the kernels that move entries, with or without values, and count them."""
    return cache.load("structure", Header(flags={"VALUES": values, "LISTED": listed}), "move")


def count_entries(matrix: Compressed, vector: CpuVector) -> int:
    """Return the entries of the runs at which `vector` has an entry."""
    listed = vector.indices is not None
    places = vector.indices if listed else vector.present
    if places is None:
        return matrix.nvals
    return int(structure_kernels(listed=listed).count_entries(places, matrix.indptr))


def rows_of(matrix: CpuMatrix, *, transposed: bool) -> Compressed:
    """Return the rows of a matrix operand, or of its transpose."""
    return matrix.oriented(by_columns=transposed)


def transpose(matrix: Compressed) -> Compressed:
    """Return the other orientation, by a counting sort; O(nvals + nmajor + threads * nminor)."""
    if is_full(matrix) and matrix.nvals:
        return transposed_full(matrix)
    kernels = structure_kernels(values=not matrix.iso)
    # A counter per chunk and minor index: together at most half of what the entries take.
    affordable = 2 * matrix.nvals // max(matrix.nminor, 1)
    chunks = min(threads.num_chunks(matrix.nvals), threads.num_threads(), max(affordable, 1))
    bounds = threads.bounds_by_work(matrix.indptr, chunks)
    offset = offset_dtype(matrix.nvals)
    ends = np.zeros((chunks, matrix.nminor), offset)
    indices = empty(matrix.nvals, index_dtype(matrix.nmajor, matrix.nminor))
    values = matrix.values if matrix.iso else empty(matrix.nvals, matrix.values.dtype)

    def count(part: int, lo: int, hi: int) -> None:
        kernels.count(lo, hi, matrix.indptr, matrix.indices, ends[part])

    def place(part: int, lo: int, hi: int) -> None:
        kernels.place(
            lo, hi, matrix.indptr, matrix.indices, matrix.values, ends[part], indices, values
        )

    threads.run_chunks(count, bounds)
    indptr = np.zeros(matrix.nminor + 1, offset)
    np.cumsum(ends.sum(axis=0, dtype=offset), out=indptr[1:])
    # A chunk's entries go behind those of the chunks before it.
    start = indptr[:-1].copy()
    for counts in ends:
        after = start + counts
        counts[:] = start
        start = after
    threads.run_chunks(place, bounds)
    return Compressed(matrix.nminor, matrix.nmajor, indptr, indices, values, matrix.iso)


def gather_rows(matrix: Compressed, rows: Array, counts: Array) -> Compressed:
    """Return rows `rows` in that order, the first `counts` entries of each."""
    running = np.zeros(len(rows) + 1, np.int64)
    running[1:] = counts
    indptr = offsets_from_counts(running)
    total = int(indptr[-1])
    indices = empty(total, matrix.indices.dtype)
    values = matrix.values if matrix.iso else empty(total, matrix.values.dtype)
    kernels = structure_kernels(values=not matrix.iso)

    def gather(part: int, lo: int, hi: int) -> None:
        del part
        kernels.gather_rows(
            lo, hi, rows, matrix.indptr, matrix.indices, matrix.values, indptr, indices, values
        )

    threads.run_chunks(gather, threads.bounds_by_work(indptr, threads.num_chunks(total)))
    return Compressed(len(rows), matrix.nminor, indptr, indices, values, matrix.iso)


def copy(statement: Statement, args: list[Any], mask: MaskData | None, out: Any) -> Result:
    """Return the operand, its orientations swapped if it is transposed; `finish` casts."""
    del mask, out
    x = args[0]
    if not isinstance(x, CpuMatrix) or not statement.args[0].transposed:
        return Result(x, shared=True)
    by_columns = x.columns()
    return Result(CpuMatrix(x.ncols, x.nrows, x.dtype, by_columns, x.csr, x.symmetric), shared=True)


def nvals(statement: Statement, args: list[Any], mask: MaskData | None, out: Any) -> Result:
    """Return the number of entries."""
    del statement, mask
    return Result(ScalarArrays(out.dtype, out.dtype.scalar(args[0].nvals)))


def diag(statement: Statement, args: list[Any], mask: MaskData | None, out: Any) -> Result:
    """Return the k-th diagonal: a vector's as a matrix, a matrix' as a vector."""
    del mask
    k = int(statement.param("k", 0))
    down, right = max(-k, 0), max(k, 0)
    x = args[0]
    if isinstance(x, CpuVector):
        return Result(_diagonal_matrix(to_sparse(x), down, right, out))
    rows = rows_of(x, transposed=statement.args[0].transposed)
    majors = rows.entry_majors()
    here = np.flatnonzero(rows.indices - majors.astype(np.int64) == k)
    indices = (majors[here] - down).astype(index_dtype(out.size), copy=False)
    values = rows.values if rows.iso else rows.values[here]
    return Result(sparse_vector(out.size, x.dtype, indices, values, iso=rows.iso))


def _diagonal_matrix(vector: CpuVector, down: int, right: int, out: CpuMatrix) -> CpuMatrix:
    assert vector.indices is not None
    counts = np.zeros(out.nrows + 1, np.int64)
    counts[vector.indices.astype(np.int64) + (down + 1)] = 1
    indices = (vector.indices + right).astype(index_dtype(out.nrows, out.ncols), copy=False)
    rows = Compressed(
        out.nrows, out.ncols, offsets_from_counts(counts), indices, vector.values, vector.iso
    )
    return matrix_of(rows, vector.dtype)
