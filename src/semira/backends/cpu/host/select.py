"""select and select_k."""

from __future__ import annotations

from functools import lru_cache
from types import ModuleType
from typing import Any

import numpy as np

from semira.backends.cpu import cache, threads, workspace
from semira.backends.cpu.codegen import Header
from semira.backends.cpu.compressed import Array, Compressed
from semira.backends.cpu.host.apply import position_names
from semira.backends.cpu.host.structure import gather_rows, written_rows
from semira.backends.cpu.host.update import Result
from semira.backends.cpu.masks import thunk_of
from semira.backends.cpu.storage import (
    SPARSE_SHARE,
    CpuMatrix,
    CpuVector,
    bitmap_vector,
    matrix_of,
    sparse_vector,
)
from semira.backends.interpreter import MaskData
from semira.backends.renumbering.positions import names_in
from semira.base.dtypes import DataType
from semira.base.memory import require_bytes
from semira.contract import Statement
from semira.formats import ScalarArrays, index_dtype
from semira.ops import TypedOp
from semira.ops.meaning import cast_scalar


@lru_cache(cache.KEPT_BY_HOST)
def _select_kernels(op: TypedOp, source: DataType) -> ModuleType:
    reads = "a" in names_in(op.python)
    header = Header(flags={"VALUES": reads})
    given = {"a": header.cast(source, op.type, "a") if reads else "a", "t": "t"}
    header.function("keep", ("a", "i", "j", "t"), op, given | position_names(op))
    return cache.load("select", header, op.name)


def compute(statement: Statement, args: list[Any], _mask: MaskData | None, _out: Any) -> Result:
    """Keep the entries for which the operator is true."""
    op: TypedOp = statement.operator
    x = args[0]
    thunk = thunk_of(op, args[1])
    if isinstance(x, ScalarArrays):
        return Result(_on_scalar(op, x, thunk))
    kernels = _select_kernels(op, x.dtype)
    if isinstance(x, CpuVector):
        return Result(_on_vector(kernels, x, thunk))
    rows = x.oriented(by_columns=statement.args[0].transposed)
    return Result(matrix_of(_on_rows(kernels, rows, thunk, x.dtype), x.dtype))


def _on_scalar(op: TypedOp, x: ScalarArrays, thunk: Any) -> ScalarArrays:
    if x.value is None:
        return x
    kept = op.scalar_function(cast_scalar(x.value, op.type.array_dtype), 0, 0, thunk)
    return x if kept else ScalarArrays(x.dtype, None)


def _on_vector(kernels: ModuleType, x: CpuVector, thunk: Any) -> CpuVector:
    if x.indices is not None:
        kept = np.zeros(x.nvals, np.bool_)
        kernels.listed(0, x.nvals, x.indices, x.values, x.stride, thunk, kept)
        values = x.values if x.iso else x.values[kept]
        return sparse_vector(x.size, x.dtype, x.indices[kept], values, iso=x.iso)
    kept = np.zeros(x.size, np.bool_)

    def test(_part: int, lo: int, hi: int) -> int:
        return int(kernels.dense(lo, hi, *x.presence(), x.values, x.stride, thunk, kept))

    num = sum(threads.run_chunks(test, threads.pass_bounds(x.size)))
    if num * SPARSE_SHARE <= x.size or x.iso:
        require_bytes(8 * num, "a list of entries")
        indices = np.flatnonzero(kept).astype(index_dtype(x.size), copy=False)
        values = x.values if x.iso else x.values[indices]
        return sparse_vector(x.size, x.dtype, indices, values, iso=x.iso)
    return bitmap_vector(x.dtype, kept, x.values.copy(), num)


def _on_rows(kernels: ModuleType, rows: Compressed, thunk: Any, dtype: DataType) -> Compressed:
    def keep(lo: int, hi: int, counts: Array, indices: Array, values: Array) -> int:
        num: int = kernels.rows(
            lo, hi, rows.indptr, rows.indices, rows.values, rows.stride, thunk,
            counts, indices, values,
        )  # fmt: skip
        return num

    bounds = threads.bounds_by_work(rows.indptr, threads.num_chunks(rows.nvals))
    values = rows.values.copy() if rows.iso else dtype
    return written_rows((rows.nmajor, rows.nminor), bounds, rows.room, keep, values)


def first_of_rows(
    statement: Statement, args: list[Any], _mask: MaskData | None, _out: Any
) -> Result:
    """Keep the first `k` entries of each row, or the `k` largest."""
    x: CpuMatrix = args[0]
    k = int(statement.param("k"))
    rows = x.oriented(by_columns=statement.args[0].transposed)
    degrees = rows.degrees()
    if statement.param("largest") and not rows.iso and 0 < k < degrees.max(initial=0):
        return Result(matrix_of(_largest_of_rows(rows, k, x.dtype), x.dtype))
    counts = np.minimum(degrees, k)
    everything = np.arange(rows.nmajor, dtype=rows.indices.dtype)
    return Result(matrix_of(gather_rows(rows, everything, counts), x.dtype))


def _largest_of_rows(rows: Compressed, k: int, dtype: DataType) -> Compressed:
    kernels = cache.load("largest", Header(), "rows")

    def keep(lo: int, hi: int, counts: Array, indices: Array, values: Array) -> int:
        heap = workspace.buffer(np.int64, k)
        num: int = kernels.largest(
            lo, hi, rows.indptr, rows.indices, rows.values, heap, counts, indices, values
        )
        workspace.give_buffer(heap)
        return num

    bounds = threads.bounds_by_work(rows.indptr, threads.num_chunks(rows.nvals))
    shape = rows.nmajor, rows.nminor
    return written_rows(
        shape, bounds, lambda lo, hi: min(rows.room(lo, hi), k * (hi - lo)), keep, dtype
    )
