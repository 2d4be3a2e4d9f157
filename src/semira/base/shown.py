"""What objects show at a prompt and in a notebook: their printed text, and small tables."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

#: Numbers in text, perhaps with a unit of time.
_FIGURE = re.compile(r"[0-9][0-9.,]*( (s|ms|us))?|-|\.\.\.")


class Shown:
    """Objects whose ``repr`` is the text that `print` writes; notebooks show it unchanged."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


def is_figure_text(text: str) -> bool:
    """Return whether a cell belongs flush right: a number, a gap or a duration.

    Examples
    --------
    >>> [is_figure_text(each) for each in ("1,204", "12.3 ms", "-", "kron:9")]
    [True, True, True, False]
    """
    return _FIGURE.fullmatch(text) is not None


def seconds_text(seconds: float | None) -> str:
    """Return a duration with a unit that suits it; a dash for None.

    Examples
    --------
    >>> [seconds_text(each) for each in (0.0000042, 0.0123, 2.5, None)]
    ['4.2 us', '12.3 ms', '2.50 s', '-']
    """
    if seconds is None:
        return "-"
    for factor, unit, digits in ((1, "s", 2), (1e3, "ms", 1), (1e6, "us", 1)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.{digits}f} {unit}"
    return f"{seconds * 1e6:.1f} us"


def _right(rows: Sequence[Sequence[str]]) -> set[int]:
    """Return the columns that hold figures only."""
    columns = range(len(rows[0]) if rows else 0)
    return {at for at in columns if all(is_figure_text(row[at]) for row in rows)}


def table_text(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table as lines of text; columns of figures are flush right.

    Examples
    --------
    >>> print(table_text(("op", "touched"), [("mxv", "9"), ("vxm", "1,204")]))
    op   touched
    mxv        9
    vxm    1,204
    """
    right = _right(rows)
    lines = [list(columns), *(list(row) for row in rows)]
    widths = [max(len(line[at]) for line in lines) for at in range(len(columns))]
    return "\n".join(
        "  ".join(
            text.rjust(width) if at in right else text.ljust(width)
            for at, (text, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def table_html(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return the same table as HTML; every text in it is escaped."""
    right = _right(rows)

    def line(cells: Sequence[str], tag: str) -> str:
        style = [' style="text-align: right"' if at in right else "" for at in range(len(cells))]
        inner = (
            f"<{tag}{how}>{escape(text)}</{tag}>" for text, how in zip(cells, style, strict=True)
        )
        return f"<tr>{''.join(inner)}</tr>"

    body = "\n".join(line(row, "td") for row in rows)
    return f"<table><thead>{line(columns, 'th')}</thead>\n<tbody>\n{body}\n</tbody></table>"
