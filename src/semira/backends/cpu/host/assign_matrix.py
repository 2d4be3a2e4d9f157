"""assign, and into a matrix: scalars, vectors (one axis is a single position) and matrices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from semira.backends.cpu.compressed import Array, Compressed, offsets_from_counts
from semira.backends.cpu.host.assign import into_vector, pattern_of, rows_from_coo, spread
from semira.backends.cpu.host.extract import submatrix
from semira.backends.cpu.host.regions import Region, is_rising, last_of_each, positions_of
from semira.backends.cpu.host.structure import copy
from semira.backends.cpu.host.update import Result
from semira.backends.cpu.masks import matrix_mask
from semira.backends.cpu.storage import CpuMatrix, CpuVector, empty_matrix, matrix_of
from semira.backends.interpreter import MaskData
from semira.base.dtypes import BOOL
from semira.base.memory import require_bytes
from semira.contract import Statement
from semira.formats import ScalarArrays, index_dtype


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
            result.submask = _submask(mask, axes, out, into_row=kinds[0] == "one")
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
    rows, cols = np.unique(axes.rows), np.unique(axes.cols)
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
        stored = submatrix(matrix_of(stored, x.dtype), rows, cols).rows()
        placed = _Axes(axes.rows[rows], axes.cols[cols], False)
    shape = (out.nrows, out.ncols)
    rows, cols = placed.rows[stored.entry_majors()], placed.cols[stored.indices]
    return rows_from_coo(shape, rows, cols, stored.values, x.dtype, iso=stored.iso), covers


def _submask(mask: MaskData, axes: _Axes, out: CpuMatrix, *, into_row: bool) -> Compressed:
    """Return a mask over the region as a mask over the output."""
    first, second = pattern_of(mask)
    if isinstance(mask.data, CpuVector) and into_row:
        first, second = second, first
    rows, cols = axes.rows[first], axes.cols[second]
    ones = np.ones(1, np.bool_)
    return rows_from_coo((out.nrows, out.ncols), rows, cols, ones, BOOL, iso=True).rows()
