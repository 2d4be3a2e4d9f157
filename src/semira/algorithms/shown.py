"""Text and HTML of results: what was asked, the answer, and a few of the values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira import Matrix, Vector, device_traits, select
from semira.exceptions import InvalidValue, RecordError

#: Vertices and numbers that are shown; characters of a name.
_ROWS, _NUMBERS, _LONGEST = 5, 5, 40


@dataclass(frozen=True, slots=True)
class _Picture:
    """What is shown: one line, facts, a table, and how many entries that leaves out."""

    title: str
    facts: list[tuple[str, str]]
    head: list[str]
    rows: list[list[str]]
    left: int


def text_of(result: Any) -> str:
    """Return a result as a short table of text; costs O(n).

    Inside of a recorded loop, where nothing has a value yet, only its title.

    Examples
    --------
    >>> from semira import algorithms, io
    >>> cities = io.Graph.from_edges(["Bern", "Bern"], ["Thun", "Basel"], name="cities")
    >>> print(text_of(algorithms.bfs(cities, "Bern")))
    bfs of cities, 3 vertices
    reached  3
    depth    1
    <BLANKLINE>
    vertex  level
    Bern        0
    Thun        1
    Basel       1
    """
    picture = _picture(result)
    widest = max((len(name) for name, _ in picture.facts), default=0)
    lines = [picture.title, *(f"{name:<{widest}}  {value}" for name, value in picture.facts)]
    if picture.rows:
        lines += ["", *_aligned([picture.head, *picture.rows])]
    if picture.left:
        lines.append(f"... {picture.left:,} more")
    return "\n".join(lines)


def html_of(result: Any) -> str:
    """Return the same as an HTML fragment; every text is escaped."""
    picture = _picture(result)
    facts = "".join(
        f"<tr><th style='text-align:left'>{escape(name)}</th><td>{escape(value)}</td></tr>"
        for name, value in picture.facts
    )
    parts = [f"<div><b>{escape(picture.title)}</b>"]
    if facts:
        parts.append(f"<table>{facts}</table>")
    if picture.rows:
        head = "".join(f"<th>{escape(each)}</th>" for each in picture.head)
        rows = "".join(
            f"<tr>{''.join(f'<td>{escape(each)}</td>' for each in row)}</tr>"
            for row in picture.rows
        )
        parts.append(f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>")
    if picture.left:
        parts.append(f"... {picture.left:,} more")
    return "".join([*parts, "</div>"])


def _picture(result: Any) -> _Picture:
    name = result.algorithm or type(result).__name__
    try:
        try:
            fields = result.fields()
        except InvalidValue:  # a number
            return _Picture(_title(result, name, None), _facts(result), [], [], 0)
        main: Any = next(iter(fields.values()))
        head, rows = _rows(result, fields)
        left = int(main.nvals) - len(rows)
        if result.layout.wide:
            left = main.nrows - len(rows)
        size = main.ncols if isinstance(main, Matrix) else main.size
        size = main.nrows if result.layout.wide else size
        return _Picture(_title(result, name, size), _facts(result), head, rows, left)
    except RecordError:
        return _Picture(f"{name}: values can be read after the recorded loop", [], [], [], 0)


def _title(result: Any, name: str, size: int | None) -> str:
    graph = result.graph
    known = "" if graph is None else str(graph.meta.get("name") or "")
    known = "" if known == "<stream>" else known
    size = size if graph is None else graph.size
    count = "" if size is None else f"{size:,} {'vertex' if size == 1 else 'vertices'}"
    called = f" of {_cell(known)}" if known else ""
    link = ", " if known else " of "
    return f"{name}{called}{link}{count}" if count else f"{name}{called}"


def _facts(result: Any) -> list[tuple[str, str]]:
    layout = result.layout
    found = []
    for each in layout.answer:
        value = getattr(result, each)
        text = _cell(value) if each in layout.vertices else _fact(value)
        found.append((each.replace("_", " "), text))
    return found


def _fact(value: Any) -> str:
    if isinstance(value, np.ndarray):
        shown = ", ".join(_cell(each) for each in value[:_NUMBERS].tolist())
        return f"{shown}, ..." if len(value) > _NUMBERS else shown
    if isinstance(value, tuple):  # bounds, which may have met
        low, high = value
        return _cell(low) if low == high else f"{_cell(low)} to {_cell(high)}"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return _cell(value)


def _rows(result: Any, fields: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    layout = result.layout
    name, main = next(iter(fields.items()))
    if layout.wide:
        few = main[:_ROWS, :].new().to_dense()
        names = result._names(np.arange(len(few))).tolist()
        head = ["vertex", *map(str, range(main.ncols))]
        return head, [
            [_cell(one), *map(_cell, row)] for one, row in zip(names, few.tolist(), strict=True)
        ]
    if isinstance(main, Matrix):
        few = main.first_per_row(_ROWS).new()
        *positions, values = (part[:_ROWS] for part in few.to_coo())
        head, columns = ["row", "col", name], [values]
    else:
        ranked = layout.ranked
        found = best_entries(main, _ROWS, smallest=False) if ranked else _first(main)
        *positions, values = found
        others = list(fields)[1:]
        head, columns = ["vertex", *fields], [values]
        columns += [fields[each][positions[0]].new().to_dense() for each in others]
    parts = result._named(name, positions, columns[0])
    parts += [
        result._named(each, [], column)[0]
        for each, column in zip(list(fields)[1:], columns[1:], strict=True)
    ]
    return head, [
        [_cell(each) for each in row]
        for row in zip(*(part.tolist() for part in parts), strict=True)
    ]


def _first(vector: Any) -> list[Any]:
    """Return positions and values of the first entries."""
    few = vector.ss.selectk("first", _ROWS) if device_traits(vector.device).own_memory else vector
    return [part[:_ROWS] for part in few.to_coo()]


def _aligned(table: Sequence[Sequence[str]]) -> list[str]:
    """Return lines of columns: text to the left, numbers to the right."""
    columns = list(zip(*table, strict=True))
    done = []
    for column in columns:
        width = max(map(len, column))
        flush_right = all(map(is_number, column[1:]))
        done.append([each.rjust(width) if flush_right else each.ljust(width) for each in column])
    return ["  ".join(row).rstrip() for row in zip(*done, strict=True)]


def is_number(text: str) -> bool:
    """Return whether a text is a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def _cell(value: Any) -> str:
    """Return a name or a number as a short text that is safe to print."""
    text = f"{value:.6g}" if isinstance(value, float) else printable(str(value))
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def printable(text: str) -> str:
    r"""Return text with characters that would control a terminal written as escapes.

    Examples
    --------
    >>> print(printable("a\x1b[31mb"))
    a\x1b[31mb
    """
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode() for each in text
    )


def best_entries(item: Any, k: int, *, smallest: bool) -> list[NDArray[Any]]:
    """Return positions and values of the k best entries, the best first, then by position."""
    if isinstance(item, Vector) and k < item.size and device_traits(item.device).own_memory:
        # What is worse than the k-th stays there.
        best = item.ss.compactify("smallest" if smallest else "largest", k).to_coo()[1]
        if len(best):
            op = select.valuele if smallest else select.valuege
            item = item.select(op, best[-1]).new()
    *positions, values = item.to_coo()
    if k < len(values):
        last = max(k - 1, 0) if smallest else min(len(values) - k, len(values) - 1)
        edge = np.partition(values, last)[last]
        kept = values <= edge if smallest else values >= edge
        *positions, values = (part[kept] for part in (*positions, values))
    # Ranks have a sign, whatever the dtype.
    rank = np.unique(values, return_inverse=True)[1].reshape(-1)
    order = np.lexsort((*reversed(positions), rank if smallest else -rank))[:k]
    return [part[order] for part in (*positions, values)]
