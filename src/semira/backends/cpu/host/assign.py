"""assign: the operand moved to where it goes in the output."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from semira.backends.cpu.compressed import Array, Compressed, offsets_from_counts
from semira.backends.cpu.host.extract import (
    Region,
    is_rising,
    last_of_each,
    positions_of,
    region_of_rows,
)
from semira.backends.cpu.host.structure import copy
from semira.backends.cpu.host.update import Result
from semira.backends.cpu.masks import VectorMask, matrix_mask, vector_mask
from semira.backends.cpu.storage import CpuMatrix, CpuVector, empty_matrix, matrix_of, sparse_vector
from semira.backends.interpreter import MaskData
from semira.base.dtypes import BOOL, DataType
from semira.base.memory import require_bytes
from semira.contract import Statement
from semira.formats import ScalarArrays, coo_to_matrix, index_dtype
from semira.formats.index import each_once


def into_vector(
    statement: Statement,
    x: Any,
    region: Region,
    mask: MaskData | None,
    out: CpuVector,
    submask: bool,
) -> Result:
    """Return the operand of an assignment in the coordinates of a vector."""
    targets = positions_of(region, out.size)
    if targets is None:
        data, covers = _everywhere(x, out)
        return Result(data, shared=isinstance(x, CpuVector), assigned=True, covers=covers)
    if isinstance(x, CpuVector):
        covers = x.nvals == len(targets)
        result = spread(x, targets, out.size, accumulates=statement.accum is not None)
    else:
        covers = x.value is not None
        value = np.array([x.value if covers else 0], x.dtype.array_dtype)
        kept = each_once(targets) if covers else targets[:0]
        result = sparse_vector(out.size, x.dtype, kept, value, iso=True)
    region_set = targets if is_rising(targets) else each_once(targets)
    translated = _submask(mask, targets, out.size) if submask else None
    return Result(
        result, assigned=True, covers=covers, region=region_set,
        submask=translated, has_submask=submask,
    )  # fmt: skip


def spread(x: CpuVector, targets: Array, length: int, *, accumulates: bool) -> CpuVector:
    """Return a vector of `length` with entry i of `x` at ``targets[i]``.

    Of a position named several times the last counts: the last entry if an accumulator takes
    only what is there, else the last occurrence, which may bring no entry.
    """
    picked = x.entry_indices()
    values, stride = x.entry_values()
    if is_rising(targets):
        return sparse_vector(length, x.dtype, targets[picked], values, iso=stride == 0)
    if accumulates:
        chosen = last_of_each(targets[picked])
    else:
        number = np.full(len(targets), -1, np.int64)
        number[picked] = np.arange(len(picked))
        chosen = number[last_of_each(targets)]
        chosen = chosen[chosen >= 0]
    values = values[chosen] if stride else values
    return sparse_vector(length, x.dtype, targets[picked[chosen]], values, iso=stride == 0)


def _everywhere(x: Any, out: CpuVector) -> tuple[CpuVector, bool]:
    """Return the operand of an assign to all positions, and whether it has them all."""
    if isinstance(x, CpuVector):
        return x, x.nvals == x.size
    if x.value is None:
        empty = np.empty(0, index_dtype(out.size))
        return sparse_vector(out.size, x.dtype, empty, np.empty(0, x.dtype.array_dtype)), False
    value = np.array([x.value], x.dtype.array_dtype)
    return CpuVector(out.size, x.dtype, "full", value, iso=True), True


def _submask(mask: MaskData | None, targets: Array, size: int) -> VectorMask:
    """Return a mask over the region as a mask over the output."""
    assert mask is not None
    inner = vector_mask(mask, len(targets)) if isinstance(mask.data, CpuVector) else None
    if inner is None:
        return VectorMask(size, False, each_once(targets))
    if inner.listed is not None:
        set_positions = targets[inner.listed]
    else:
        assert inner.may is not None
        assert inner.truth is not None
        set_positions = targets[inner.may & inner.truth]
    return VectorMask(size, inner.complement, each_once(set_positions))


def pattern_of(mask: MaskData) -> tuple[Array, Array]:
    """Return rows and columns of a mask's set entries; those of a vector are in column 0."""
    if isinstance(mask.data, CpuVector):
        inner = vector_mask(MaskData(mask.data, mask.structural, False), mask.data.size)
        if inner is None:
            listed = np.arange(mask.data.size)
        elif inner.listed is not None:
            listed = inner.listed
        else:
            listed = np.flatnonzero(inner.may & inner.truth)  # type: ignore[operator]
        return listed, np.zeros(len(listed), listed.dtype)
    rows = matrix_mask(mask)
    assert rows is not None
    return rows.entry_majors(), rows.indices


def rows_from_coo(
    shape: tuple[int, int], rows: Array, cols: Array, values: Array, dtype: DataType, *, iso: bool
) -> CpuMatrix:
    """Return a matrix of entries in any order; the last of several at one position stays."""

    def last(folded: Array, starts: Array) -> Array:
        ends = np.append(starts[1:], len(folded)) - 1
        kept: Array = folded[ends]
        return kept

    one = values[0] if iso and len(values) else dtype.scalar(0)
    arrays = coo_to_matrix(
        shape[0], shape[1], rows, cols, None if iso else values,
        dtype=dtype, iso_value=one, merge=last,
    ).ordinary()  # fmt: skip
    return matrix_of(
        Compressed(shape[0], shape[1], arrays.indptr, arrays.indices, arrays.values, arrays.iso),
        dtype,
    )


def compute(
    statement: Statement, args: list[Any], mask: MaskData | None, out: CpuVector | CpuMatrix
) -> Result:
    """Return the operand in the output's coordinates; a position named twice takes the last."""
    x, regions = args[0], args[len(statement.args) :]
    submask = bool(statement.param("submask")) and mask is not None
    if isinstance(out, CpuVector):
        return into_vector(statement, x, regions[0] if regions else None, mask, out, submask)
    return into_matrix(statement, x, regions, mask, out)


@dataclass(slots=True, eq=False)
class _Axes:
    """Where the region's rows and columns lie in the output."""

    rows: Array
    cols: Array
    everything: bool

    @property
    def length(self) -> int:
        return len(self.rows) * len(self.cols)


def into_matrix(
    statement: Statement, x: Any, regions: list[Region], mask: MaskData | None, out: CpuMatrix
) -> Result:
    """Return the operand in the output's coordinates."""
    submask = bool(statement.param("submask")) and mask is not None
    given = [
        positions_of(region, length)
        for region, length in zip(regions, (out.nrows, out.ncols), strict=True)
    ]
    everything = given[0] is None and given[1] is None
    if everything and getattr(x, "value", None) is not None and (mask is None or mask.complement):
        _require_room(out.nrows, out.ncols, out)
    axes = _Axes(_listed(given[0], out.nrows), _listed(given[1], out.ncols), everything)
    kinds = [spec.kind for spec in statement.indices]
    if isinstance(x, ScalarArrays):
        data, covers = _from_scalar(x, axes, mask, out, submask=submask)
    elif isinstance(x, CpuVector):
        data, covers = _from_vector(
            x, axes, out, into_row=kinds[0] == "one", accumulates=statement.accum is not None
        )
    else:
        data, covers = _from_matrix(statement, x, axes, out)
    result = Result(data, assigned=True, covers=covers, has_submask=submask)
    if not everything:
        result.region = (_marked(axes.rows, out.nrows), _marked(axes.cols, out.ncols))
        if submask and mask is not None:
            result.submask = _submask_of_axes(mask, axes, out, into_row=kinds[0] == "one")
    return result


def _listed(positions: Array | None, length: int) -> Array:
    if positions is not None:
        return positions
    return np.arange(length, dtype=index_dtype(length))


def _marked(positions: Array, length: int) -> Array:
    marks = np.zeros(length, np.bool_)
    marks[positions] = True
    return marks


def _require_room(nrows: int, ncols: int, out: CpuMatrix) -> None:
    """Check that a column index fits for each position of a region of the output."""
    require_bytes(
        nrows * ncols * index_dtype(out.nrows, out.ncols).itemsize,
        f"a value at {nrows} x {ncols} positions",
        "write it under a mask that names fewer, or into a smaller region",
    )


def _from_scalar(
    x: ScalarArrays, axes: _Axes, mask: MaskData | None, out: CpuMatrix, *, submask: bool
) -> tuple[CpuMatrix, bool]:
    """Return a pattern of one value over the region, or over the mask where that is all of it."""
    if x.value is None:
        return empty_matrix(out.nrows, out.ncols, x.dtype), False
    value = np.array([x.value], x.dtype.array_dtype)
    if axes.everything and mask is not None and not mask.complement and not submask:
        pattern = matrix_mask(mask)
        assert pattern is not None
        return matrix_of(pattern.replaced(value, iso=True), x.dtype), True
    rows, cols = each_once(axes.rows), each_once(axes.cols)
    counts = np.zeros(out.nrows + 1, np.int64)
    counts[rows.astype(np.int64) + 1] = len(cols)
    cols = cols.astype(index_dtype(out.nrows, out.ncols), copy=False)
    _require_room(len(rows), len(cols), out)
    indices = np.tile(cols, len(rows))
    indptr = offsets_from_counts(counts)
    stored = Compressed(out.nrows, out.ncols, indptr, indices, value, True)
    return matrix_of(stored, x.dtype), True


def _from_vector(
    x: CpuVector, axes: _Axes, out: CpuMatrix, *, into_row: bool, accumulates: bool
) -> tuple[CpuMatrix, bool]:
    targets, length = (axes.cols, out.ncols) if into_row else (axes.rows, out.nrows)
    placed = spread(x, targets, length, accumulates=accumulates)
    positions = placed.entry_indices()
    counts = np.zeros(out.nrows + 1, np.int64)
    if into_row:
        counts[int(axes.rows[0]) + 1] = len(positions)
        indices = positions
    else:
        counts[positions.astype(np.int64) + 1] = 1
        indices = np.full(len(positions), axes.cols[0])
    stored = Compressed(
        out.nrows, out.ncols, offsets_from_counts(counts),
        indices.astype(index_dtype(out.nrows, out.ncols), copy=False), placed.values, placed.iso,
    )  # fmt: skip
    return matrix_of(stored, x.dtype), x.nvals == axes.length


def _from_matrix(
    statement: Statement, x: CpuMatrix, axes: _Axes, out: CpuMatrix
) -> tuple[CpuMatrix, bool]:
    transposed = statement.args[0].transposed
    covers = x.nvals == axes.length
    if axes.everything:
        view: CpuMatrix = copy(statement, [x], None, out).data
        return view, covers
    stored = x.oriented(by_columns=transposed)
    placed = axes
    if (
        statement.accum is None
        and not covers
        and not (is_rising(axes.rows) and is_rising(axes.cols))
    ):
        # Of a position named twice the last counts, also where it brings no entry.
        rows, cols = last_of_each(axes.rows), last_of_each(axes.cols)
        stored = region_of_rows(stored, rows, cols)
        placed = _Axes(axes.rows[rows], axes.cols[cols], False)
    shape = (out.nrows, out.ncols)
    rows, cols = placed.rows[stored.entry_majors()], placed.cols[stored.indices]
    return rows_from_coo(shape, rows, cols, stored.values, x.dtype, iso=stored.iso), covers


def _submask_of_axes(mask: MaskData, axes: _Axes, out: CpuMatrix, *, into_row: bool) -> Compressed:
    """Return a mask over the region as a mask over the output."""
    first, second = pattern_of(mask)
    if isinstance(mask.data, CpuVector) and into_row:
        first, second = second, first
    rows, cols = axes.rows[first], axes.cols[second]
    ones = np.ones(1, np.bool_)
    return rows_from_coo((out.nrows, out.ncols), rows, cols, ones, BOOL, iso=True).rows()
