"""Copying, counting, transposing, diagonals: operations without an operator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from semira.backends.cpu import cache, threads
from semira.backends.cpu.codegen import Header
from semira.backends.cpu.compressed import Array, Compressed, offsets_from_counts
from semira.backends.cpu.host.update import Result
from semira.backends.cpu.storage import CpuMatrix, CpuVector, matrix_of, sparse_vector, to_sparse
from semira.backends.cpu.whole import structure_kernels
from semira.backends.interpreter import MaskData
from semira.backends.renumbering.lists import checked
from semira.base.dtypes import BOOL, DataType
from semira.base.memory import empty, require_bytes
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


#: Writes rows `lo` to `hi`: row lengths behind `counts`, entries from the start of the two
#: arrays on; returns the number of entries.
Fill = Callable[[int, int, Array, Array, Array], int]


def written_rows(
    shape: tuple[int, int],
    bounds: Sequence[int],
    room_of: Callable[[int, int], int],
    fill: Fill,
    values: DataType | Array,
    *,
    least: int = 0,
) -> Compressed:
    """Return the rows that `fill` writes; raises OutOfMemory if they do not fit.

    `bounds` are borders of the chunks of rows; `room_of` returns the most entries of rows `lo` to
    `hi`. `values` is their dtype, or the one value of every entry; there are at `least` so many
    entries.

    All chunks write into one pair of arrays, each behind the room of the chunks before; then the
    gaps are closed and the arrays cut. Pages that are never written cost nothing, while copying
    into new arrays would touch every page a second time.
    """
    pairs = list(pairwise(bounds))
    starts = np.zeros(len(pairs) + 1, np.int64)
    np.cumsum([room_of(lo, hi) for lo, hi in pairs], out=starts[1:])
    iso = isinstance(values, np.ndarray)
    value_bytes = 0 if isinstance(values, np.ndarray) else values.array_dtype.itemsize
    width = index_dtype(*shape).itemsize + value_bytes
    require_bytes(least * width, "a matrix")
    counts = np.zeros(shape[0] + 1, np.int64)
    indices = np.empty(starts[-1], index_dtype(*shape))
    entries = values if isinstance(values, np.ndarray) else np.empty(starts[-1], values.array_dtype)

    def run(part: int, lo: int, hi: int) -> int:
        piece = slice(starts[part], starts[part + 1])
        return int(fill(lo, hi, counts, indices[piece], entries if iso else entries[piece]))

    numbers = threads.run_chunks(run, bounds)
    for array in (indices,) if iso else (indices, entries):
        _close_gaps(array, starts, numbers)
    return Compressed(*shape, offsets_from_counts(counts), indices, entries, iso)


def _close_gaps(array: Array, starts: Array, numbers: list[int]) -> None:
    """Move what stands behind each start to where the chunk before ends, and cut the array."""
    end = 0
    for start, number in zip(starts[:-1].tolist(), numbers, strict=True):
        if start != end:
            cache.load("gather", Header(), "gather").shift(array, start, end, number)
        end += number
    # No other view of the array is alive.
    array.resize(end, refcheck=False)
