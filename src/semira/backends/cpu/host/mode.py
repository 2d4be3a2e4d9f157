"""mode_rows: for each row of a matrix the key with the largest sum."""

from __future__ import annotations

from functools import lru_cache
from types import ModuleType
from typing import Any

import numpy as np

from semira.backends.cpu import cache, threads
from semira.backends.cpu.codegen import Header
from semira.backends.cpu.compressed import EVERYWHERE, Array
from semira.backends.cpu.host.mxv import empty_vector
from semira.backends.cpu.host.update import Result
from semira.backends.cpu.masks import value_of, vector_mask
from semira.backends.cpu.storage import CpuMatrix, CpuVector, bitmap_vector, settled, to_dense
from semira.backends.interpreter import MaskData
from semira.base.dtypes import INT64, UINT64
from semira.contract import Statement
from semira.ops.meaning import cast_array
from semira.ops.registry import indexunary


@lru_cache(1)
def _kernels() -> ModuleType:
    header = Header()
    bits = indexunary["random_bits"].typed(UINT64)
    given = {"a": "np.uint64(key)", "i": "row", "j": "0", "t": "seed"}
    header.function("draw", ("key", "row", "seed"), bits, given)
    return cache.load("mode", header, "rows")


def _by_position(vector: CpuVector) -> tuple[Array, int, Array, int]:
    """Return values and presence by position, each with its stride."""
    if vector.indices is not None:
        vector = to_dense(vector)
    return vector.values, vector.stride, *vector.presence()


def _summands(values: Array, dtype: Any) -> Array:
    """Return matrix values that add up in `dtype` without a cast of each."""
    is_narrow = values.dtype.kind in "bi" or values.dtype.kind == "f"
    return values if is_narrow else cast_array(values, dtype)


def mode_rows(statement: Statement, args: list[Any], mask: MaskData | None, out: Any) -> Result:
    """w_i = the key u_j of which row i has the largest sum of A_ij.

    O(entries of the rows that the mask opens); a table of twice the longest row for each thread.
    """
    matrix: CpuMatrix = args[0]
    keys: CpuVector = args[1]
    others = args[2:]
    prefers, draws = bool(statement.param("prefers")), bool(statement.param("draws"))
    preferred = others.pop(0) if prefers else None
    seed = value_of(others.pop(0), INT64) if draws else np.int64(0)
    rows = matrix.oriented(by_columns=statement.args[0].transposed)
    if rows.nvals == 0 or keys.nvals == 0:
        return Result(empty_vector(out.size, keys.dtype))
    values, stride = _summands(rows.values, statement.operator.type.array_dtype), rows.stride
    if statement.param("counts"):
        values, stride = EVERYWHERE, 0
    mine = (keys.values[:1], 0, EVERYWHERE, 0) if preferred is None else _by_position(preferred)
    test = vector_mask(mask, out.size)
    may, truth, complement = (EVERYWHERE, EVERYWHERE, False) if test is None else test.open()
    out_values, out_present = (
        np.zeros(out.size, keys.dtype.array_dtype),
        np.zeros(out.size, np.bool_),
    )
    fixed = (
        rows.indptr, rows.indices, values, stride, *_by_position(keys), prefers, *mine, draws,
        seed, may, truth, 0 if test is None else 1, complement,
    )  # fmt: skip
    kernels = _kernels()

    def part_of(part: int, lo: int, hi: int) -> tuple[int, int]:
        del part
        longest = max(1, int(rows.degrees()[lo:hi].max(initial=0)))
        slots = 1 << (2 * longest - 1).bit_length()
        found: tuple[int, int] = kernels.modes(
            lo, hi, *fixed, np.zeros(slots, np.int64),
            np.zeros(slots, statement.operator.type.array_dtype), np.full(slots, -1, np.int64),
            np.zeros(longest, np.int64), out_values, out_present,
        )  # fmt: skip
        return found

    bounds = threads.bounds_by_work(rows.indptr, threads.num_chunks(rows.nvals))
    try:
        written = threads.run_chunks(part_of, bounds)
    finally:
        if test is not None:
            test.close()
    count = sum(found for found, _ in written)
    return Result(settled(bitmap_vector(keys.dtype, out_present, out_values, count)), exact=True)
