"""Text and HTML of objects, masks and expressions, as python-graphblas shows them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from semira.base.config import config
from semira.base.dtypes import BOOL
from semira.base.errors import OutOfMemory
from semira.base.record_dtypes import visible
from semira.engine import recording
from semira.frontend import reading
from semira.frontend.expr import Expression
from semira.frontend.expression_text import (
    argument_text,
    class_name,
    expression_text,
    infix_method,
    infix_sides,
    is_indexed,
)
from semira.frontend.kinds import provides
from semira.frontend.layout import (
    Grid,
    Table,
    ends,
    first_entries,
    heading,
    heading_html,
    matrix_grid,
    table_html,
    table_text,
    value_text,
    vector_grid,
)
from semira.frontend.mask import Mask
from semira.frontend.ss.exporting import stored_format

#: Columns looked at before they are fitted to the width, and those of a table in a notebook.
_MANY_COLUMNS, _NOTEBOOK_COLUMNS = 150, 20

_TOO_LARGE = "Result is too large to compute!"

#: The style of everything shown as HTML.
CSS_STYLE = """
<style>
table.gb-info-table { border: 1px solid; margin: 0; }
td.gb-info-name-cell { white-space: nowrap; }
details.gb-arg-details, details.gb-expr-details, .gb-scalar { margin: 0; padding-bottom: 5px; }
summary.gb-arg-summary, summary.gb-expr-summary { display: list-item; }
blockquote.gb-expr-blockquote { margin: 5px 0 0 15px; }
.expr-tooltip .tooltip-text { visibility: hidden; position: absolute; padding: 3px 8px;
    border: 1px solid; border-radius: 4px; background: #eee; color: #000; }
.expr-tooltip:hover .tooltip-text { visibility: visible; }
</style>
"""

_Facts = tuple[tuple[str, str], ...]
_Cell = Callable[[Any], str]


@dataclass(frozen=True, slots=True)
class Picture:
    """What is shown of an object."""

    name: str
    #: Lines that say what it is.
    kinds: tuple[str, ...]
    facts: _Facts
    #: Some of its values; None where there are no positions.
    table: Table | None = None


def marked_up(name: str) -> str:
    """Return a name as HTML: what follows its first ``_`` is lowered.

    Examples
    --------
    >>> marked_up("v_0"), marked_up("A")
    ('v<sub>0</sub>', 'A')
    """
    stem, mark, below = name.partition("_")
    return f"{escape(stem)}<sub>{escape(below)}</sub>" if mark and stem and below else escape(name)


# -------------------------------------------------------------------------- text and HTML


@provides
def object_text(item: Any) -> str:
    """Return the text of an object, an expression or a mask.

    Raises RecordError inside a recorded loop body, where nothing has a value yet.
    """
    return _expression_text(item) if isinstance(item, Expression) else _text(_picture(item))


@provides
def object_html(item: Any) -> str:
    """Return the same as an HTML fragment; every text from the object is escaped."""
    if isinstance(item, Expression):
        return _expression_html(item)
    return _html(_picture(item), f"<tt>{_name_html(item)}</tt>", is_scalar=_is_scalar(item))


@provides
def updater_text(item: Any) -> str:
    """Return what an updater writes into, as it is written: ``A[...](~v.S, replace=True)``."""
    chosen = [] if item.mask is None else [item.mask.name]
    if item.accum is not None:
        chosen.append(f"accum={item.accum}")
    if item.replace:
        chosen.append("replace=True")
    region = "" if item._axes is None else "[...]"
    return f"gb.{type(item).__name__} {item.parent.name}{region}({', '.join(chosen)})"


def _text(picture: Picture) -> str:
    name = f'"{picture.name}"' if picture.name else ""
    lines = heading(name, picture.kinds, picture.facts)
    if picture.facts[0][0] != "value":
        lines.append("-" * len(lines[0]))
    if picture.table is not None:
        lines.append(table_text(picture.table, config["max_width"]))
    return "\n".join(lines)


def _html(picture: Picture, title: str, *, is_scalar: bool, box: str = "") -> str:
    # python-graphblas breaks the name of a mask over three lines.
    kind = escape("\n".join(picture.kinds)).replace("of gb.", "of\ngb.")
    header = heading_html(box or kind, picture.facts)
    if is_scalar:
        return f'{CSS_STYLE}<div class="gb-scalar">{title}{header}</div>'
    table = "" if picture.table is None else table_html(picture.table, _html_columns())
    return (
        f'<div>{CSS_STYLE}<details open class="gb-arg-details"><summary class="gb-arg-summary">'
        f"{title}{header}</summary>{table}</details></div>"
    )


def _html_columns() -> int:
    in_notebook = "ipykernel" in sys.modules
    return config["max_columns"] or (_NOTEBOOK_COLUMNS if in_notebook else config["max_width"])


def _is_scalar(item: Any) -> bool:
    return getattr(item, "kind", None) == "scalar"


def _name_html(item: Any) -> str:
    if isinstance(item, Mask):
        sign, end = "~" if item.complement else "", "S" if item.structure else "V"
        return f"{sign}{_name_html(item.parent)}.{end}"
    return argument_text(item, marked_up)


# ------------------------------------------------------------------------- what is shown


def _picture(item: Any) -> Picture:
    is_mask = isinstance(item, Mask)
    shown = item.parent if is_mask else item
    if recording.current() is not None or shown._operand()[0].recording is not None:
        what = "a mask" if is_mask else f"a {item.kind.capitalize()}"
        recording.refuse_host_read(f"printing {what}", "print it after the loop")
    if not is_mask:
        return _DRAWN[item.kind](item, item.name, (f"gb.{type(item).__name__}",), None)
    sense = "Structural" if item.structure else "Value"
    kind = f"{'Complemented' if item.complement else ''}{sense}Mask"
    return _DRAWN[shown.kind](shown, item.name, (kind, f"of gb.{type(shown).__name__}"), item)


def _scalar_picture(item: Any, name: str, kinds: tuple[str, ...], _mask: Mask | None) -> Picture:
    arrays = reading.host_arrays(item, "printing")
    value = None if arrays.value is None else visible(arrays.value)
    value = value.tolist() if isinstance(value, np.ndarray) else value
    return Picture(name, kinds, (("value", str(value)), ("dtype", str(item.dtype))))


def _vector_picture(item: Any, name: str, kinds: tuple[str, ...], mask: Mask | None) -> Picture:
    arrays = reading.vector_arrays(item, "printing")
    facts = _facts(item, arrays)
    if arrays.size == 0:
        return Picture(name, kinds, facts)
    limit = config["max_columns"] or _MANY_COLUMNS
    grid = vector_grid(arrays, ends(arrays.size, limit, limit))
    table = _listed(arrays, grid, ["index"], mask)
    return Picture(name, kinds, facts, table or _table(grid, _cell(mask), "index", ["value"]))


def _matrix_picture(item: Any, name: str, kinds: tuple[str, ...], mask: Mask | None) -> Picture:
    arrays = reading.matrix_arrays(item, "printing")
    facts = _facts(item, arrays)
    if 0 in item.shape:
        return Picture(name, kinds, facts)
    limit = config["max_columns"] or _MANY_COLUMNS
    rows = ends(arrays.nrows, config["max_rows"], config["min_rows"])
    grid = matrix_grid(arrays, rows, ends(arrays.ncols, limit, limit))
    table = _listed(arrays, grid, ["row", "col"], mask)
    labels = [str(row) for row in grid.rows]
    return Picture(name, kinds, facts, table or _table(grid, _cell(mask), "", labels))


def _facts(item: Any, arrays: Any) -> _Facts:
    stored = stored_format(arrays)
    layout = f"{stored} (iso)" if arrays.iso else stored
    counted = ("nvals", str(arrays.nvals))
    return (counted, *_sizes(item), ("dtype", str(item.dtype)), ("format", layout))


def _sizes(item: Any) -> _Facts:
    names = {"scalar": (), "vector": ("size",), "matrix": ("nrows", "ncols")}[item.kind]
    return tuple((name, str(size)) for name, size in zip(names, item.shape, strict=True))


_DRAWN: dict[str, Callable[[Any, str, tuple[str, ...], Mask | None], Picture]] = {
    "scalar": _scalar_picture,
    "vector": _vector_picture,
    "matrix": _matrix_picture,
}


def _cell(mask: Mask | None) -> _Cell:
    """Return how a value is shown: under a mask, whether it lets through."""
    if mask is None:
        return value_text

    def shown(value: Any) -> str:
        passes = mask.structure or bool(value)
        return f" {int(passes != mask.complement)}"

    return shown


def _table(grid: Grid, cell: _Cell, corner: str, labels: list[str]) -> Table:
    cells = [
        [cell(grid.values[row, col]) if (row, col) in grid.values else " " for col in grid.cols]
        for row in grid.rows
    ]
    rows_cut, columns_cut = (
        None if len(shown) == total else len(shown) // 2
        for shown, total in zip((grid.rows, grid.cols), grid.total, strict=True)
    )
    return Table(corner, labels, [str(col) for col in grid.cols], cells, rows_cut, columns_cut)


def _listed(arrays: Any, grid: Grid, names: Sequence[str], mask: Mask | None) -> Table | None:
    """Return a list of the first entries if the corners would show too few of them."""
    if grid.is_whole:
        return None
    needed = arrays.nvals if arrays.nvals <= config["max_rows"] else config["min_rows"]
    # Columns that will not fit into the width show nothing.
    room = config["max_width"] - max(len(str(size)) for size in grid.total)
    fitting = max(room // (len(str(grid.total[1] - 1)) + 1), 2)
    visible = set(ends(grid.total[1], fitting, fitting))
    shown = 2 * sum(col in visible for _, col in grid.values)
    if needed <= shown:
        return None
    only_true = mask is not None and not mask.structure
    # One more says whether there are more than are listed.
    found = first_entries(arrays, needed + 1, only_true=only_true)
    if min(len(found), needed) <= shown:
        return None
    is_cut, found = len(found) > needed, found[:needed]
    cell = _cell(mask)
    cells = [[*(f" {at}" for at in position), cell(value)] for position, value in found]
    labels = [str(number) for number in range(len(found))]
    if is_cut:
        cells.append([" ..."] * (len(names) + 1))
        labels.append("...")
    lead = "" if is_cut else " "
    return Table("", labels, [*names, "val"], cells, are_positions=False, lead=lead)


# ------------------------------------------------------------------------- expressions


def _expression_text(item: Expression) -> str:
    kind = f"gb.{class_name(item)}"
    text = expression_text(item, str)
    parts = ["\n".join(heading(kind, (text,), _expression_facts(item)))]
    if _is_computed(item):
        result = _result(item)
        parts.append(_TOO_LARGE if result is None else _text(result))
    parts.append("\n".join(_advice(item, text, "{}", "{}")))
    return "\n\n".join(parts)


def _expression_html(item: Expression) -> str:
    text = expression_text(item, escape if is_indexed(item) else marked_up)
    advice = "<br>".join(_advice(item, text, "<code>{}</code>", "<tt>{}</tt>"))
    title = (
        f"<tt><b>gb.{class_name(item)}</b></tt>&nbsp;"
        '<span class="expr-tooltip"><span class="tooltip-circle">?</span>'
        f'<span class="tooltip-text"><em>{advice}</em></span></span>'
    )
    below = ""
    if _is_computed(item):
        result = _result(item)
        if result is not None:
            return _html(result, title, is_scalar=_is_scalar(item), box=text)
        below = f'<span style="color: red">{_TOO_LARGE}</span>'
    facts = _expression_facts(item)
    if item.kind == "matrix" and item._template.infix is not None:
        # python-graphblas names the right side first here.
        facts = (*facts[:-2], facts[-1], facts[-2])
    return (
        f'<div>{CSS_STYLE}<details class="gb-expr-details"><summary class="gb-expr-summary">'
        f"{title}{heading_html(text, facts)}</summary>{below}</details></div>"
    )


def _expression_facts(item: Expression) -> _Facts:
    if item._template.infix is None:
        return (*_sizes(item), ("dtype", str(item.dtype)))
    left, right = infix_sides(item)
    dtypes = (("left_dtype", str(left.dtype)), ("right_dtype", str(right.dtype)))
    return (*_sizes(item), *dtypes)


def _is_computed(item: Expression) -> bool:
    """Whether an expression is computed to be printed: only if that needs no operator."""
    if not config["autocompute"]:
        return False
    if item._template.infix in ("add", "mult"):
        return all(side.dtype is BOOL for side in infix_sides(item))
    # Products of BOOL and of records wait for their semiring.
    return item._template.infix is None or item._template.operator is not None


def _result(item: Expression) -> Picture | None:
    try:
        picture = _picture(item._result("printing"))
    except OutOfMemory:
        return None
    facts = tuple(fact for fact in picture.facts if fact[0] != "format")
    return Picture("Result", picture.kinds, facts, picture.table)


def _advice(item: Expression, text: str, code: str, kind: str) -> list[str]:
    """Return what can be done with an expression."""
    if is_indexed(item):
        name = item.kind.capitalize()
        given = "M" if item.kind == "matrix" else item.kind[0]
        return [
            f"This expression may be used to extract or assign a {kind.format(name)}.",
            f"Example extract: {code.format(f'{text}.new()')}",
            f"Example assign: {code.format(f'{text} << {given}')}",
        ]
    if item._template.infix is None:
        calls = code.format("expr.new()"), code.format("other << expr")
        return [f"Do {calls[0]} or {calls[1]} to calculate the expression."]
    method, operator = infix_method(item)
    made = kind.format(f"{item.kind.capitalize()}Expression")
    return [
        f"Do {code.format('op(expr)')} to create a {made} for {kind.format(method)}.",
        f"For example: {code.format(f'{operator}({text})')}",
    ]
