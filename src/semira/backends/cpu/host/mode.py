"""mode_rows: for each row of a matrix the key with the largest sum."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from types import ModuleType
from typing import Any

import numpy as np

from semira.backends.companions import Kind
from semira.backends.cpu import cache, threads, workspace
from semira.backends.cpu.codegen import Header
from semira.backends.cpu.compressed import EVERYWHERE, Array, Compressed
from semira.backends.cpu.host.mxv import empty_vector
from semira.backends.cpu.host.update import Result
from semira.backends.cpu.masks import VectorMask, value_of, vector_mask
from semira.backends.cpu.storage import CpuMatrix, CpuVector, bitmap_vector, settled, to_dense
from semira.backends.interpreter import MaskData
from semira.base.dtypes import INT64, UINT64
from semira.contract import Statement
from semira.ops.meaning import cast_array
from semira.ops.registry import indexunary

#: Entries of the longest run.
_LONGEST = Kind("longest", lambda runs, _: runs.degrees().max(initial=0), depends_on="pattern")


@lru_cache(2)
def _kernels(listed: bool) -> ModuleType:
    header = Header(flags={"LISTED": listed})
    bits = indexunary["random_bits"].typed(UINT64)
    given = {"a": "np.uint64(key)", "i": "row", "j": "0", "t": "seed"}
    header.function("draw", ("key", "row", "seed"), bits, given)
    return cache.load("mode", header, "rows")


def _by_position(vector: CpuVector) -> tuple[Array, int, Array, int]:
    """Return values and presence by position, each with its stride."""
    if vector.indices is not None:
        vector = to_dense(vector)
    return vector.values, vector.stride, *vector.presence()


def _summands(statement: Statement, rows: Compressed) -> tuple[Array, int]:
    """Return matrix values that add up in the dtype of the sums without a cast, and their step."""
    if statement.param("counts"):
        return EVERYWHERE, 0
    if rows.values.dtype.kind in "bif":
        return rows.values, rows.stride
    return cast_array(rows.values, statement.operator.type.array_dtype), rows.stride


@dataclass(slots=True, eq=False)
class _Work:
    """Which rows are walked, and how they are shared out."""

    rows: Compressed
    test: VectorMask | None
    #: The rows, if the mask lists them.
    listed: Array | None = None
    #: Borders of the chunks, of the list or of all rows.
    bounds: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        rows = self.rows
        self.listed = None if self.test is None else self.test.writable
        if self.listed is None:
            self.bounds = threads.bounds_by_work(rows.indptr, threads.num_chunks(rows.nvals))
        else:
            entries = int(rows.degrees()[self.listed].sum())
            self.bounds = threads.even_bounds(len(self.listed), threads.num_chunks(entries))

    def mask(self) -> tuple[Any, ...]:
        """Return what a kernel tests rows with; to be closed."""
        if self.test is None or self.listed is not None:
            return EVERYWHERE, EVERYWHERE, 0, False
        may, truth, complement = self.test.open()
        return may, truth, 1, complement

    def close(self) -> None:
        """Clean what `mask` borrowed."""
        if self.test is not None and self.listed is None:
            self.test.close()


def mode_rows(statement: Statement, args: list[Any], mask: MaskData | None, out: Any) -> Result:
    """w_i = the key u_j of which row i has the largest sum of A_ij.

    O(entries of the rows that the mask opens); a table of twice the longest row for each thread.
    """
    matrix: CpuMatrix = args[0]
    keys: CpuVector = args[1]
    others = args[2:]
    preferred = others.pop(0) if statement.param("prefers") else None
    draws = bool(statement.param("draws"))
    seed = value_of(others.pop(0), INT64) if draws else np.int64(0)
    rows = matrix.oriented(by_columns=statement.args[0].transposed)
    if rows.nvals == 0 or keys.nvals == 0:
        return Result(empty_vector(out.size, keys.dtype))
    mine = (keys.values[:1], 0, EVERYWHERE, 0) if preferred is None else _by_position(preferred)
    work = _Work(rows, vector_mask(mask, out.size))
    values, present = np.zeros(out.size, keys.dtype.array_dtype), np.zeros(out.size, np.bool_)
    fixed = (
        EVERYWHERE if work.listed is None else work.listed, rows.indptr, rows.indices,
        *_summands(statement, rows), *_by_position(keys), preferred is not None, *mine, draws, seed,
        *work.mask(),
    )  # fmt: skip
    kernels, total = _kernels(work.listed is not None), statement.operator.type.array_dtype
    longest = max(1, int(rows.companions.need(_LONGEST, rows)))
    slots = 1 << (2 * longest - 1).bit_length()

    def part_of(_part: int, lo: int, hi: int) -> int:
        stamps = workspace.buffer(np.int64, slots)
        stamps[:] = -1
        scratch = [workspace.buffer(kind, slots) for kind in (np.int64, total)]
        used = workspace.buffer(np.int64, longest)
        found = kernels.modes(lo, hi, *fixed, *scratch, stamps, used, values, present)
        for each in (stamps, *scratch, used):
            workspace.give_buffer(each)
        return int(found)

    try:
        count = sum(threads.run_chunks(part_of, work.bounds))
    finally:
        work.close()
    return Result(settled(bitmap_vector(keys.dtype, present, values, count)), exact=True)
