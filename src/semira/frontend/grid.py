"""The part of an object that is printed: a few rows and columns, found without reading the rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from semira.formats import MatrixArrays, VectorArrays

#: Positions looked through at once for the first and last entries of a bitmap.
_CHUNK = 4096

#: Rows, columns or positions shown of what has no entries at all.
_FEW = 6


@dataclass(frozen=True, slots=True)
class Grid:
    """Cells to print.

    Attributes
    ----------
    rows, cols : list of int
        Positions shown, increasing.
    values : dict of (int, int) to scalar
        Entries at these positions.
    total : tuple of int
        Number of rows and columns there are.
    """

    rows: list[int]
    cols: list[int]
    values: dict[tuple[int, int], Any]
    total: tuple[int, int]


def _ends(items: Any, limit: int) -> list[int]:
    """Return at most `limit` of the `items`: the first ones and the last ones."""
    if len(items) <= limit:
        return [int(item) for item in items]
    first = (limit + 1) // 2
    last = limit - first
    return [int(item) for item in (*items[:first], *items[len(items) - last :])]


class _Lines:
    """The rows (csr) or columns (csc) of a matrix."""

    def __init__(self, arrays: MatrixArrays) -> None:
        self.arrays = arrays
        self.count = arrays.nrows if arrays.orientation == "csr" else arrays.ncols

    def shown(self, limit: int) -> list[int]:
        """Return the lines to print: all, or the first and last that have entries."""
        arrays = self.arrays
        if self.count <= limit:
            return list(range(self.count))
        if arrays.nvals == 0:
            return _ends(range(self.count), min(limit, _FEW))
        if arrays.majors is not None:
            return _ends(arrays.majors, limit)
        return self._with_entries(limit)

    def _with_entries(self, limit: int) -> list[int]:
        """Find the first and last lines with entries; O(limit log count)."""
        indptr = self.arrays.indptr
        found: set[int] = set()
        offset = 0
        while offset < self.arrays.nvals and len(found) < (limit + 1) // 2:
            line = int(np.searchsorted(indptr, offset, side="right")) - 1
            found.add(line)
            offset = int(indptr[line + 1])
        offset = self.arrays.nvals
        while offset > 0 and len(found) < limit:
            line = int(np.searchsorted(indptr, offset, side="left")) - 1
            found.add(line)
            offset = int(indptr[line])
        return sorted(found)

    def span(self, line: int) -> tuple[int, int]:
        """Return where the entries of a line begin and end."""
        arrays, at = self.arrays, line
        if arrays.majors is not None:
            at = int(np.searchsorted(arrays.majors, line))
            if at == len(arrays.majors) or arrays.majors[at] != line:
                return 0, 0
        return int(arrays.indptr[at]), int(arrays.indptr[at + 1])

    def shown_across(self, lines: list[int], count: int, limit: int) -> list[int]:
        """Return the positions to print across the lines: all, or the first and last used."""
        if count <= limit:
            return list(range(count))
        used: set[int] = set()
        for line in lines:
            start, stop = self.span(line)
            used.update(_ends(self.arrays.indices[start:stop], 2 * limit))
        return _ends(sorted(used), limit) if used else _ends(range(count), min(limit, _FEW))

    def cells(self, line: int, across: list[int]) -> dict[int, Any]:
        """Return the entries of a line at the positions `across`."""
        start, stop = self.span(line)
        inside = self.arrays.indices[start:stop]
        found = {}
        for position, at in zip(across, np.searchsorted(inside, across), strict=True):
            if at < len(inside) and inside[at] == position:
                found[position] = self.arrays.values[0 if self.arrays.iso else start + at]
        return found


def matrix_grid(arrays: MatrixArrays, max_rows: int, max_columns: int) -> Grid:
    """Return the cells of a matrix to print.

    A matrix that does not fit shows the first and last of its rows and columns that have
    entries. O(max_rows * max_columns * log nvals) time, whatever the shape.
    """
    is_csr = arrays.orientation == "csr"
    limits = (max_rows, max_columns) if is_csr else (max_columns, max_rows)
    lines = _Lines(arrays)
    other = arrays.ncols if is_csr else arrays.nrows
    shown = lines.shown(limits[0])
    across = lines.shown_across(shown, other, limits[1])
    values = {}
    for line in shown:
        for position, value in lines.cells(line, across).items():
            values[(line, position) if is_csr else (position, line)] = value
    rows, cols = (shown, across) if is_csr else (across, shown)
    return Grid(rows, cols, values, (arrays.nrows, arrays.ncols))


def vector_grid(arrays: VectorArrays, max_columns: int) -> Grid:
    """Return the positions of a vector to print, as the columns of one row.

    A vector that does not fit shows its first and last entries; a bitmap is looked through
    from both ends, the other storages cost O(max_columns).
    """
    positions = _vector_positions(arrays, max_columns)
    values = {}
    for position in positions:
        at = _entry_at(arrays, position)
        if at is not None:
            values[0, position] = arrays.values[0 if arrays.iso else at]
    return Grid([0], positions, values, (1, arrays.size))


def _vector_positions(arrays: VectorArrays, limit: int) -> list[int]:
    if arrays.nvals == 0:
        limit = min(limit, _FEW) if arrays.size > limit else limit
    if arrays.size <= limit or arrays.nvals in (0, arrays.size):
        return _ends(range(arrays.size), limit)
    if arrays.indices is not None:
        return _ends(arrays.indices, limit)
    first = (limit + 1) // 2
    found = set(_scan(arrays.present, first))
    backwards = _scan(None if arrays.present is None else arrays.present[::-1], limit - first)
    found.update(arrays.size - 1 - each for each in backwards)
    return sorted(found)


def _scan(present: Any, wanted: int) -> list[int]:
    """Return the first `wanted` positions that are true."""
    found: list[int] = []
    for start in range(0, len(present), _CHUNK):
        found += (np.flatnonzero(present[start : start + _CHUNK]) + start).tolist()
        if len(found) >= wanted:
            break
    return found[:wanted]


def _entry_at(arrays: VectorArrays, position: int) -> int | None:
    """Return where the value of a position is stored, None if it has no entry."""
    if arrays.indices is not None:
        at = int(np.searchsorted(arrays.indices, position))
        return at if at < arrays.nvals and arrays.indices[at] == position else None
    if arrays.present is not None and not arrays.present[position]:
        return None
    return position
