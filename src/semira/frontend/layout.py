"""Tables as text and as HTML, laid out as pandas does, without pandas."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from semira.base.record_dtypes import visible
from semira.formats import MatrixArrays, VectorArrays

_GAP = "..."

#: The style pandas gives its tables.
_TABLE_STYLE = """<style scoped>
    .dataframe tbody tr th:only-of-type {
        vertical-align: middle;
    }

    .dataframe tbody tr th {
        vertical-align: top;
    }

    .dataframe thead th {
        text-align: right;
    }
</style>
"""


@dataclass(frozen=True, slots=True)
class Table:
    """Cells with a label for each row and column."""

    #: What stands above the labels of the rows.
    corner: str
    #: Labels.
    rows: list[str]
    columns: list[str]
    #: Row after row; numbers that are not negative start with a blank.
    cells: list[list[str]]
    #: Rows (columns) are left out after this many.
    rows_cut: int | None = None
    columns_cut: int | None = None
    #: The labels of the columns are numbers, and are aligned as such.
    are_positions: bool = True
    #: Stands before the labels of the columns.
    lead: str = ""


def value_text(value: Any) -> str:
    """Return a value as a cell: floats with at most six decimals, a blank before what has no sign.

    Very small and very large floats keep their leading digits instead.

    Examples
    --------
    >>> [value_text(each) for each in (0.1, 1 / 3, -2.5, 3, True, 1e-9)]
    [' 0.1', ' 0.333333', '-2.5', ' 3', ' True', ' 1e-09']
    """
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if not isinstance(value, (float, np.floating)) or not math.isfinite(value):
        return f" {value}"
    number = float(value)
    if number != 0 and not 1e-4 <= abs(number) < 1e15:
        return f"{number: .6g}"
    text = f"{number: .6f}".rstrip("0")
    return f"{text}0" if text.endswith(".") else text


def _without_middle(table: Table, count: int) -> Table:
    """Return the table with only `count` columns, halved between both ends."""
    half = max(count // 2, 1)
    keep: Callable[[list[str]], list[str]] = lambda line: [*line[:half], *line[-half:]]  # noqa: E731
    return Table(
        table.corner, table.rows, keep(table.columns), [keep(line) for line in table.cells],
        table.rows_cut, half, table.are_positions, table.lead,
    )  # fmt: skip


def _columns(table: Table) -> list[list[str]]:
    """Return the columns of the text, each of one width, that of the row labels first."""
    width = max(map(len, table.columns), default=0) if table.are_positions else 0
    found = [[table.corner, *table.rows]]
    for at, label in enumerate(table.columns):
        found.append([table.lead + label.ljust(width), *(line[at] for line in table.cells)])
    for at, column in enumerate(found):
        width = max(map(len, column))
        found[at] = [cell.rjust(width) if at else cell.ljust(width) for cell in column]
    return found


def _fitting(widths: list[int], room: int) -> int:
    """Return how many columns of the table are left when those in the middle are dropped."""
    left = list(widths)
    excess = sum(left) + len(left) - 1 - room + 1
    while excess > 0 and len(left) > 1:
        excess -= left.pop(round(len(left) / 2)) + 1
    return max(len(left) - 1, 2)


def table_text(table: Table, max_width: int) -> str:
    """Return the lines of a table; columns in the middle give way until it fits."""
    if len(table.columns) > max_width:
        table = _without_middle(table, max_width)
    columns = _columns(table)
    gap = [[f" {_GAP}"] * (len(table.rows) + 1)]
    widths = [len(column[0]) for column in columns]
    if table.columns_cut is not None:
        widths.insert(table.columns_cut + 1, len(gap[0][0]))
    if sum(widths) + len(widths) - 1 > max_width and len(table.columns) > 2:
        count = _fitting(widths, max_width)
        if count < len(table.columns):
            table = _without_middle(table, count)
            columns = _columns(table)
    if table.rows_cut is not None:
        for at, column in enumerate(columns):
            dots = _GAP if len(column[table.rows_cut]) > 3 else _GAP[:2]
            width = len(column[0])
            column.insert(table.rows_cut + 1, dots.rjust(width) if at else dots.ljust(width))
            # Dots may be wider than what they stand for.
            columns[at] = [cell.ljust(max(width, len(dots))) for cell in column]
    if table.columns_cut is not None:
        columns.insert(table.columns_cut + 1, [f" {_GAP}"] * len(columns[0]))
    return "\n".join(" ".join(line) for line in zip(*columns, strict=True))


def table_html(table: Table, max_columns: int) -> str:
    """Return the table as HTML; every text in it is escaped."""
    if len(table.columns) > max_columns:
        table = _without_middle(table, max_columns)

    def line(label: str, cells: Sequence[str], tag: str) -> list[str]:
        cells = [cell.strip() for cell in cells]
        if table.columns_cut is not None:
            cells.insert(table.columns_cut, _GAP)
        # The name of a vector's row ("value") is for text only.
        found = [f"      <th>{'' if table.corner else escape(label)}</th>"]
        return [*found, *(f"      <{tag}>{escape(cell)}</{tag}>" for cell in cells), "    </tr>"]

    body = [line(row, cells, "td") for row, cells in zip(table.rows, table.cells, strict=True)]
    if table.rows_cut is not None:
        body.insert(table.rows_cut, line(_GAP, [_GAP] * len(table.columns), "td"))
    lines = [
        '<table border="1" class="dataframe">', "  <thead>",
        '    <tr style="text-align: right;">', *line("", table.columns, "th"), "  </thead>",
        "  <tbody>", *(part for row in body for part in ("    <tr>", *row)), "  </tbody>",
        "</table>",
    ]  # fmt: skip
    return "<div>\n" + _TABLE_STYLE + "\n".join(lines) + "\n</div>"


def heading(name: str, kinds: Sequence[str], facts: Sequence[tuple[str, str]]) -> list[str]:
    """Return the lines that say what an object is: names of facts over their values."""
    widths = [max(len(key), len(value)) + 2 for key, value in facts]
    keys = "".join(key.rjust(width) for (key, _), width in zip(facts, widths, strict=True))
    values = "".join(value.rjust(width) for (_, value), width in zip(facts, widths, strict=True))
    width = max(map(len, (name, *kinds)))
    lines = [name.ljust(width) + keys, *(kind.ljust(width) for kind in kinds)]
    lines[-1] += values
    return lines


def heading_html(title: str, facts: Sequence[tuple[str, str]]) -> str:
    """Return the same as a small table; `title` is HTML already, the facts are escaped."""
    keys = "".join(f"    <td><pre>{escape(key)}</pre></td>\n" for key, _ in facts)
    values = "".join(f"    <td>{escape(value)}</td>\n" for _, value in facts)
    return (
        '<div>\n<table class="gb-info-table">\n  <tr>\n'
        f'    <td rowspan="2" class="gb-info-name-cell"><pre>{title}</pre></td>\n'
        f"{keys}  </tr>\n  <tr>\n{values}  </tr>\n</table>\n</div>\n"
    )


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
