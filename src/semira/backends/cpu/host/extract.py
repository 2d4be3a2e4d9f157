"""extract: regions of vectors and matrices, repeats and any order allowed."""

from __future__ import annotations

from typing import Any

import numpy as np

from semira.backends.cpu.compressed import Array, Compressed
from semira.backends.cpu.host.structure import gather_rows
from semira.backends.cpu.host.update import Result
from semira.backends.cpu.storage import (
    CpuVector,
    bitmap_vector,
    matrix_of,
    settled,
    sparse_vector,
)
from semira.backends.cpu.whole import transpose
from semira.backends.interpreter import MaskData
from semira.backends.renumbering.lists import located
from semira.base.errors import IndexOutOfBound
from semira.contract import Statement
from semira.formats import ScalarArrays, index_dtype


def compute(statement: Statement, args: list[Any], _mask: MaskData | None, out: Any) -> Result:
    """Return the region of the operand that the indices name.

    O(entries of the rows named + length of the lists); a permutation of both axes is three
    counting passes.
    """
    x, regions = args[0], args[1:]
    if isinstance(x, CpuVector):
        return _from_vector(x, regions[0], out)
    transposed = statement.args[0].transposed
    kinds = [spec.kind for spec in statement.indices]
    if kinds[1] == "one" and kinds[0] != "one":
        # A column is a row of the transpose.
        transposed, regions, kinds = not transposed, [regions[1], regions[0]], ["one", kinds[0]]
    rows = region_of_rows(x.oriented(by_columns=transposed), regions[0], regions[1])
    if kinds == ["one", "one"]:
        value = rows.values[0] if rows.nvals else None
        return Result(ScalarArrays(x.dtype, value))
    if kinds[0] == "one":
        indices = rows.indices.astype(index_dtype(out.size), copy=False)
        return Result(sparse_vector(out.size, x.dtype, indices, rows.values, iso=rows.iso))
    return Result(matrix_of(rows, x.dtype))


def _from_vector(u: CpuVector, region: Region, out: Any) -> Result:
    if isinstance(region, tuple) and u.indices is not None:
        # A range of a list of entries is arithmetic on them: it may be longer than memory.
        numbers, places = located(np, region, u.indices, u.size)
        values = u.values if u.iso else u.values[places]
        indices = numbers.astype(index_dtype(out.size), copy=False)
        return Result(sparse_vector(out.size, u.dtype, indices, values, iso=u.iso))
    positions = positions_of(region, u.size)
    if positions is None:
        return Result(u, shared=True)
    given, values, stride = u.entries_at(positions)
    if isinstance(out, ScalarArrays):
        here = len(positions) > 0 and (given is None or bool(given[0]))
        return Result(ScalarArrays(u.dtype, values[0] if here else None))
    if given is None:
        if stride == 0:
            return Result(CpuVector(out.size, u.dtype, "full", values[:1], iso=True))
        return Result(bitmap_vector(u.dtype, np.ones(out.size, np.bool_), values, out.size))
    if stride == 0:
        kept = np.flatnonzero(given).astype(index_dtype(out.size), copy=False)
        return Result(sparse_vector(out.size, u.dtype, kept, values[:1], iso=True))
    return Result(settled(bitmap_vector(u.dtype, given, values, int(np.count_nonzero(given)))))


def region_of_rows(rows: Compressed, row_region: Region, col_region: Region) -> Compressed:
    """Return ``A[rows, cols]`` of a matrix given by rows."""
    row_positions = positions_of(row_region, rows.nmajor)
    col_positions = positions_of(col_region, rows.nminor)
    if row_positions is not None:
        rows = gather_rows(rows, row_positions, rows.degrees()[row_positions])
    if col_positions is None:
        return rows
    if is_rising(col_positions):
        return kept_columns(rows, col_positions)
    # In any order or repeated: gather the rows of the transpose; transposing sorts.
    columns = transpose(rows)
    return transpose(gather_rows(columns, col_positions, columns.degrees()[col_positions]))


def kept_columns(rows: Compressed, positions: Array) -> Compressed:
    """Keep rising columns, renumbered."""
    dtype = index_dtype(rows.nmajor, len(positions))
    if rows.nvals * 4 < rows.nminor:
        at = np.searchsorted(positions, rows.indices)
        at = np.minimum(at, max(0, len(positions) - 1))
        kept = np.zeros(rows.nvals, np.bool_)
        if len(positions):
            kept = positions[at] == rows.indices
        numbers = at
    else:
        renumbered = np.full(rows.nminor, -1, dtype)
        renumbered[positions] = np.arange(len(positions), dtype=dtype)
        numbers = renumbered[rows.indices]
        kept = numbers >= 0
    before = np.zeros(rows.nvals + 1, rows.indptr.dtype)
    np.cumsum(kept, out=before[1:])
    values = rows.values if rows.iso else rows.values[kept]
    return Compressed(
        rows.nmajor, len(positions), before[rows.indptr], numbers[kept].astype(dtype, copy=False),
        values, rows.iso,
    )  # fmt: skip


Region = tuple[int, int, int] | Array | None


def positions_of(region: Region, length: int) -> Array | None:
    """Return the positions a region names along an axis of `length`; None is all of them.

    Raises IndexOutOfBound if a position is outside the axis.
    """
    if region is None:
        return None
    if isinstance(region, tuple):
        start, stop, step = region
        positions = np.arange(start, stop, step, dtype=index_dtype(length))
    else:
        positions = np.asarray(region)
    if len(positions):
        low, high = int(positions.min()), int(positions.max())
        if low < 0 or high >= length:
            raise IndexOutOfBound(
                f"index {low if low < 0 else high} is outside [0, {length}); nothing was written"
            )
    return positions.astype(index_dtype(length), copy=False)


def is_rising(positions: Array) -> bool:
    """Return whether positions are strictly increasing."""
    return len(positions) < 2 or bool(np.all(positions[1:] > positions[:-1]))


def last_of_each(positions: Array) -> Array:
    """Return where the last occurrence of each position is, in the order of the positions."""
    order = np.argsort(positions, kind="stable")
    ordered = positions[order]
    last = np.ones(len(ordered), np.bool_)
    last[:-1] = ordered[1:] != ordered[:-1]
    picked: Array = order[last]
    return picked
