"""The part of an object that is printed: its corners, or its first entries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from semira.base.record_dtypes import visible
from semira.formats import MatrixArrays, VectorArrays

#: Positions looked through at once for the entries of a bitmap.
_CHUNK = 4096

#: An entry: its position (row and column, or index), and its value.
Entry = tuple[tuple[int, ...], Any]


@dataclass(frozen=True, slots=True)
class Grid:
    """Cells to print."""

    #: Positions shown, increasing.
    rows: list[int]
    cols: list[int]
    #: Entries at these positions.
    values: dict[tuple[int, int], Any]
    #: Number of rows and columns there are.
    total: tuple[int, int]

    @property
    def is_whole(self) -> bool:
        """Whether every position is shown."""
        return (len(self.rows), len(self.cols)) == self.total


def ends(count: int, limit: int, few: int) -> list[int]:
    """Return all positions below `count`, or `few` of them if there are more than `limit`.

    Examples
    --------
    >>> ends(5, 5, 2), ends(10, 5, 4)
    ([0, 1, 2, 3, 4], [0, 1, 8, 9])
    """
    if count <= limit:
        return list(range(count))
    half = max(few // 2, 1)
    return [*range(half), *range(count - half, count)]


def _span(arrays: MatrixArrays, line: int) -> tuple[int, int]:
    """Return where the entries of a row (csr) or column (csc) begin and end."""
    at = line
    if arrays.majors is not None:
        at = int(np.searchsorted(arrays.majors, line))
        if at == len(arrays.majors) or arrays.majors[at] != line:
            return 0, 0
    return int(arrays.indptr[at]), int(arrays.indptr[at + 1])


def _value(arrays: Any, at: int) -> Any:
    value = visible(arrays.values[0 if arrays.iso else at])
    return value.tolist() if isinstance(value, np.ndarray) else value


def matrix_grid(arrays: MatrixArrays, rows: list[int], cols: list[int]) -> Grid:
    """Return the cells of a matrix at some rows and columns.

    O(len(rows) * len(cols) * log nvals) time, whatever the shape.
    """
    is_csr = arrays.orientation == "csr"
    lines, across = (rows, cols) if is_csr else (cols, rows)
    values = {}
    for line in lines:
        start, stop = _span(arrays, line)
        inside = arrays.indices[start:stop]
        for position, at in zip(across, np.searchsorted(inside, across), strict=True):
            if at < len(inside) and inside[at] == position:
                key = (line, position) if is_csr else (position, line)
                values[key] = _value(arrays, start + int(at))
    return Grid(rows, cols, values, arrays.shape)


def vector_grid(arrays: VectorArrays, positions: list[int]) -> Grid:
    """Return some positions of a vector, as the columns of one row."""
    values = {}
    for position in positions:
        at = _entry_at(arrays, position)
        if at is not None:
            values[0, position] = _value(arrays, at)
    return Grid([0], positions, values, (1, arrays.size))


def _entry_at(arrays: VectorArrays, position: int) -> int | None:
    """Return where the value of a position is stored, None if it has no entry."""
    if arrays.indices is not None:
        at = int(np.searchsorted(arrays.indices, position))
        return at if at < arrays.nvals and arrays.indices[at] == position else None
    if arrays.present is not None and not arrays.present[position]:
        return None
    return position


def first_entries(
    arrays: MatrixArrays | VectorArrays, limit: int, *, only_true: bool = False
) -> list[Entry]:
    """Return the first `limit` entries in stored order, of those that are true if `only_true`."""
    at_value = _matrix_position if isinstance(arrays, MatrixArrays) else _vector_position
    places = _first_places(arrays, limit, only_true=only_true)
    return [(at_value(arrays, at), _value(arrays, at)) for at in places]  # type: ignore[arg-type]


def _first_places(arrays: Any, limit: int, *, only_true: bool) -> list[int]:
    """Return where the first entries wanted are stored, looking no further than needed."""
    present = getattr(arrays, "present", None)
    count = arrays.nvals if present is None else arrays.size
    found: list[int] = []
    for start in range(0, count, _CHUNK):
        stop = min(start + _CHUNK, count)
        wanted = np.ones(stop - start, bool) if present is None else present[start:stop]
        if only_true:
            values = arrays.values[:1] if arrays.iso else arrays.values[start:stop]
            wanted = wanted & values.astype(bool)
        found += (np.flatnonzero(wanted) + start).tolist()
        if len(found) >= limit:
            break
    return found[:limit]


def _matrix_position(arrays: MatrixArrays, at: int) -> tuple[int, int]:
    line = int(np.searchsorted(arrays.indptr, at, side="right")) - 1
    major = line if arrays.majors is None else int(arrays.majors[line])
    minor = int(arrays.indices[at])
    return (major, minor) if arrays.orientation == "csr" else (minor, major)


def _vector_position(arrays: VectorArrays, at: int) -> tuple[int]:
    return (at if arrays.indices is None else int(arrays.indices[at]),)
