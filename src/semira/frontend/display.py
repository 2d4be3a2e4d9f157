"""Text and HTML of objects: the facts, then a grid of the first and last entries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from semira.base.config import config
from semira.engine import recording
from semira.frontend import reading
from semira.frontend.expr import Expression, require_operator
from semira.frontend.grid import Grid, matrix_grid, vector_grid
from semira.frontend.mask import Mask

_GAP = "..."

#: Characters from which on a name stands above the facts and not beside them.
_LONG = 50


@dataclass(frozen=True, slots=True)
class Picture:
    """What is shown of an object.

    Attributes
    ----------
    name : str
        Of the object, or the text of an expression.
    kinds : tuple of str
        Lines that say what it is.
    facts : tuple of (str, str)
    header : list of str
        Labels of the grid's columns, the corner first; empty without a grid.
    rows : list of list of str
        The cells of the grid, each row after its label.
    note : str
        What is left out, or why nothing is shown.
    """

    name: str
    kinds: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]
    header: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    note: str = ""


# -------------------------------------------------------------------------- text and HTML


def object_text(item: Any) -> str:
    """Return the text of an object, an expression or a mask.

    Raises
    ------
    RecordError
        Inside a recorded loop body, where nothing has a value yet.
    """
    picture = _picture(item)
    title = f'"{picture.name}"' if picture.name else ""
    # A long expression has a line of its own, so that the facts stay within reach.
    above = [title] if len(title) > _LONG else []
    left = ["" if above else title, *picture.kinds]
    # Facts stand above and below each other, beside the last line of the kinds.
    widths = [max(len(name), len(value)) for name, value in picture.facts]
    names = "  ".join(n.rjust(w) for (n, _), w in zip(picture.facts, widths, strict=True))
    values = "  ".join(v.rjust(w) for (_, v), w in zip(picture.facts, widths, strict=True))
    width = max(map(len, left))
    left[0] = f"{left[0]:{width}}  {names}"
    left[-1] = f"{left[-1]:{width}}  {values}"
    lines = [line.rstrip() for line in left]
    if picture.header or picture.note:
        lines.append("-" * max(map(len, lines)))
    if picture.header:
        lines += _aligned([picture.header, *picture.rows])
    if picture.note:
        lines.append(picture.note)
    return "\n".join([*above, *lines])


def object_html(item: Any) -> str:
    """Return the same as an HTML fragment; every text from the object is escaped."""
    picture = _picture(item)
    title = escape(" ".join(picture.kinds))
    name = f"<code>{escape(picture.name)}</code> " if picture.name else ""
    parts = [f"<div>{name}<b>{title}</b>"]
    names, values = zip(*picture.facts, strict=True)
    parts.append(_html_table(names, [values]))
    if picture.header:
        parts.append(_html_table(picture.header, picture.rows, labelled=True))
    if picture.note:
        parts.append(f"<p>{escape(picture.note)}</p>")
    return "\n".join([*parts, "</div>"])


def updater_text(item: Any) -> str:
    """Return what an updater writes into, as it is written: ``A[...](~v.S, replace=True)``."""
    chosen = [] if item.mask is None else [item.mask.name]
    if item.accum is not None:
        chosen.append(f"accum={item.accum}")
    if item.replace:
        chosen.append("replace=True")
    region = "" if item._axes is None else f"[{_GAP}]"
    return f"gb.{type(item).__name__} {item.parent.name}{region}({', '.join(chosen)})"


def _aligned(table: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[at]) for row in table) for at in range(len(table[0]))]
    lines = []
    for row in table:
        cells = (text.rjust(width) for text, width in zip(row[1:], widths[1:], strict=True))
        lines.append("  ".join([row[0].ljust(widths[0]), *cells]).rstrip())
    return lines


def _html_table(
    header: Sequence[str], rows: Sequence[Sequence[str]], *, labelled: bool = False
) -> str:
    def line(cells: Sequence[str], tags: Sequence[str]) -> str:
        parts = zip(cells, tags, strict=True)
        return "<tr>" + "".join(f"<{tag}>{escape(text)}</{tag}>" for text, tag in parts) + "</tr>"

    first = ["th" if labelled else "td"]
    body = [line(row, first + ["td"] * (len(row) - 1)) for row in rows]
    head = line(header, ["th"] * len(header))
    return "\n".join(["<table>", f"<thead>{head}</thead>", "<tbody>", *body, "</tbody></table>"])


# ------------------------------------------------------------------------- what is shown


def _picture(item: Any) -> Picture:
    if isinstance(item, Mask):
        return _mask_picture(item)
    reason = _obstacle(item)
    if reason is not None:
        return _uncomputed(item, reason)
    if _is_symbolic(item):
        what = f"printing a {item.kind.capitalize()}"
        recording.refuse_host_read(what, "print it after the loop")
    return _DRAWN[item.kind](item, _title(item), _value_text)


def _title(item: Any) -> tuple[str, tuple[str, ...]]:
    name = _expression_text(item) if isinstance(item, Expression) else getattr(item, "name", "")
    return name, (f"gb.{type(item).__name__}",)


def _obstacle(item: Any) -> str | None:
    """Return why an expression may not be computed for being printed."""
    if not isinstance(item, Expression):
        return None
    if not config["autocompute"] and recording.current() is None:
        return "not computed: autocompute is off; use .new() or `other << expression`"
    try:
        require_operator(item._template)
    except TypeError as error:
        return f"not computed: {error}"
    return None


def _is_symbolic(item: Any) -> bool:
    return recording.current() is not None or (
        not isinstance(item, Expression) and item._operand()[0].recording is not None
    )


def _uncomputed(item: Any, reason: str) -> Picture:
    facts = (*_SIZES[item.kind](item), ("dtype", str(item.dtype)))
    return Picture(*_title(item), facts, note=reason)


def _mask_picture(mask: Mask) -> Picture:
    sense = "Structural" if mask.structure else "Value"
    kind = f"{'Complemented' if mask.complement else ''}{sense}Mask"
    title = (mask.name, (kind, f"of gb.{type(mask.parent).__name__}"))
    if _is_symbolic(mask.parent):
        recording.refuse_host_read("printing a mask", "print it after the loop")

    def shown(value: Any) -> str:
        passes = mask.structure or bool(value)
        return str(int(passes != mask.complement))

    return _DRAWN[mask.parent.kind](mask.parent, title, shown)


_Title = tuple[str, tuple[str, ...]]
_Cell = Callable[[Any], str]


def _scalar_picture(item: Any, title: _Title, cell: _Cell) -> Picture:
    arrays = reading.host_arrays(item, "printing")
    value = "empty" if arrays.value is None else cell(arrays.value)
    return Picture(*title, (("value", value), ("dtype", str(item.dtype))))


def _vector_picture(item: Any, title: _Title, cell: _Cell) -> Picture:
    arrays = reading.vector_arrays(item, "printing")
    facts = _facts(item, arrays, arrays.storage)
    if arrays.size == 0:
        return Picture(*title, facts)
    grid = vector_grid(arrays, config["max_columns"])
    header, rows, shown = _table(grid, cell, "index", ["value"])
    note = "" if shown == arrays.size else f"{_few(shown, arrays.size)} positions shown"
    return Picture(*title, facts, header, rows, note)


def _matrix_picture(item: Any, title: _Title, cell: _Cell) -> Picture:
    arrays = reading.matrix_arrays(item, "printing")
    stored = f"hyper{arrays.orientation}" if arrays.majors is not None else arrays.orientation
    facts = _facts(item, arrays, stored)
    if 0 in item.shape:
        return Picture(*title, facts)
    grid = matrix_grid(arrays, config["max_rows"], config["max_columns"])
    header, rows, shown = _table(grid, cell, "", [str(row) for row in grid.rows])
    note = ""
    if (len(grid.rows), shown) != grid.total:
        few = _few(len(grid.rows), arrays.nrows), _few(shown, arrays.ncols)
        note = f"{few[0]} rows and {few[1]} columns shown"
    return Picture(*title, facts, header, rows, note)


def _few(shown: int, total: int) -> str:
    return f"{shown} of {total}"


def _facts(item: Any, arrays: Any, stored: str) -> tuple[tuple[str, str], ...]:
    shape = _SIZES[item.kind](item)
    layout = f"{stored} (iso)" if arrays.iso else stored
    counted = ("nvals", str(arrays.nvals))
    return (counted, *shape, ("dtype", str(item.dtype)), ("format", layout))


def _matrix_sizes(item: Any) -> tuple[tuple[str, str], ...]:
    return ("nrows", str(item.shape[0])), ("ncols", str(item.shape[1]))


_DRAWN: dict[str, Callable[[Any, _Title, _Cell], Picture]] = {
    "scalar": _scalar_picture,
    "vector": _vector_picture,
    "matrix": _matrix_picture,
}

_SIZES: dict[str, Callable[[Any], tuple[tuple[str, str], ...]]] = {
    "scalar": lambda item: (),
    "vector": lambda item: (("size", str(item.shape[0])),),
    "matrix": _matrix_sizes,
}


def _value_text(value: Any) -> str:
    """Return a value as short text: at most six significant digits of long floats.

    Examples
    --------
    >>> [_value_text(each) for each in (np.float64(0.1), np.float64(1 / 3), np.int8(-3), True)]
    ['0.1', '0.333333', '-3', 'True']
    """
    text = str(value)
    if isinstance(value, (float, np.floating)) and len(text) > 8:
        return f"{float(value):.6g}"
    if isinstance(value, (complex, np.complexfloating)) and len(text) > 16:
        return f"{complex(value):.6g}"
    return text


def _table(
    grid: Grid, cell: _Cell, corner: str, labels: list[str]
) -> tuple[list[str], list[list[str]], int]:
    """Return header and rows of a grid that fits the width, and how many columns it shows."""
    columns = [[str(col), *_column(grid, cell, col)] for col in grid.cols]
    label_width = max(map(len, [corner, *labels]))
    widths = [max(map(len, column)) for column in columns]
    shown = _fitting(widths, config["max_width"] - label_width)
    first = (shown + 1) // 2
    if shown < grid.total[1]:
        gap = [_GAP] * (len(labels) + 1)
        columns = [*columns[:first], gap, *columns[len(columns) - (shown - first) :]]
    rows = [list(line) for line in zip([corner, *labels], *columns, strict=True)]
    if len(grid.rows) < grid.total[0]:
        middle = (len(grid.rows) + 1) // 2 + 1
        rows.insert(middle, [_GAP] * len(rows[0]))
    return rows[0], rows[1:], shown


def _column(grid: Grid, cell: _Cell, col: int) -> list[str]:
    found = ((row, col) for row in grid.rows)
    return [cell(grid.values[key]) if key in grid.values else "" for key in found]


def _fitting(widths: list[int], room: int) -> int:
    """Return how many columns, the outer ones first, fit into `room` characters; at least one."""
    count = len(widths)
    while count > 1:
        first = (count + 1) // 2
        outer = (*widths[:first], *widths[len(widths) - (count - first) :])
        gap = len(_GAP) + 2 if count < len(widths) else 0
        if sum(outer) + 2 * count + gap <= room:
            break
        count -= 1
    return count


# ------------------------------------------------------------------------- expressions


def _expression_text(item: Expression) -> str:
    template = item._template
    sources = [getattr(arg, "source", None) for arg in template.args]
    if template.op == "copy" and template.infix is None and sources[0] is not None:
        return _expression_text(sources[0])
    arguments = [_argument_text(arg) for arg in template.args]
    if template.operator is not None:
        arguments.append(str(template.operator))
    return f"{template.op}({', '.join(arguments)})"


def _argument_text(argument: Any) -> str:
    if isinstance(argument, Expression):
        return _expression_text(argument)
    name = getattr(argument, "name", None)
    if name:
        return str(name)
    value = getattr(argument, "value", None)
    return _value_text(value) if isinstance(value, (int, float, np.generic)) else _GAP
