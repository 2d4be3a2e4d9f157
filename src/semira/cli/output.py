"""What commands print: boxed tables on a terminal, plain columns elsewhere, JSON on request."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import typer

from semira.base.shown import is_figure_text, seconds_text, table_text
from semira.base.text import printable, printable_json


def is_terminal() -> bool:
    """Return whether standard output is a terminal."""
    return sys.stdout is not None and sys.stdout.isatty()


def say(message: str) -> None:
    """Print a line of progress to standard error, on a terminal only."""
    if sys.stderr is not None and sys.stderr.isatty():
        typer.echo(printable(message), err=True)


def note(message: str) -> None:
    """Print a line that matters, but is no result, to standard error."""
    typer.echo(f"semira: {printable(message)}", err=True)


def plain(value: Any) -> Any:
    """Return `value` in types that JSON knows; numbers that are not finite become None.

    Examples
    --------
    >>> plain({"sum": np.float64(1.5), "worst": float("inf"), "top": np.arange(2)})
    {'sum': 1.5, 'worst': None, 'top': [0, 1]}
    """
    if isinstance(value, dict):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain(part) for part in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, (bool, int, float, str, type(None))) else str(value)


def print_json(record: dict[str, Any]) -> None:
    """Print one object on standard output."""
    text = json.dumps(plain(record), indent=2, allow_nan=False, ensure_ascii=False)
    typer.echo(printable_json(text))


def print_text(text: str) -> None:
    """Print lines that may hold names from a file."""
    typer.echo("\n".join(map(printable, text.split("\n"))))


def cell(value: Any) -> str:
    r"""Return a value as people read it, control characters as escapes.

    Examples
    --------
    >>> [cell(each) for each in (1234567, 0.00012345, None, True, "a")]
    ['1,234,567', '0.0001234', '-', 'yes', 'a']
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.4g}" if abs(value) < 1e4 else f"{value:,.0f}"
    return printable(str(value))


#: A duration with a unit that suits it.
seconds = seconds_text


def capital(title: str) -> str:
    """Return a title with a capital letter at its beginning."""
    return title[:1].upper() + title[1:]


def print_pairs(pairs: Iterable[tuple[str, Any]], *, title: str | None = None) -> None:
    """Print names and values below each other."""
    rows = [(name, cell(value)) for name, value in pairs]
    width = max((len(name) for name, _ in rows), default=0)
    # A line of its own: in a table it would be broken where that is narrow.
    if title:
        typer.echo(printable(title))
    if is_terminal():
        _print_rich([], rows)
        return
    for name, value in rows:
        typer.echo(f"{name:{width}}  {value}")


def print_table(
    columns: Sequence[str], rows: Iterable[Sequence[Any]], *, title: str | None = None
) -> None:
    """Print a table; columns of numbers are flush right."""
    table = list(rows)
    texts = [[cell(value) for value in row] for row in table]
    if title:
        typer.echo(printable(title))
    if is_terminal():
        _print_rich(columns, texts, _number_columns(table))
    else:
        typer.echo(table_text(columns, texts))


def is_figure(value: Any) -> bool:
    """Return whether a value belongs flush right: numbers, also as text, gaps and durations.

    Examples
    --------
    >>> [is_figure(each) for each in (3, None, "12.3 ms", "7.0", "kron:9", True)]
    [True, True, True, True, False, False]
    """
    if isinstance(value, str):
        return is_figure_text(value)
    return value is None or (
        isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    )


def _number_columns(table: Sequence[Sequence[Any]]) -> set[int]:
    columns = range(len(table[0]) if table else 0)
    return {at for at in columns if all(is_figure(row[at]) for row in table)}


def _print_rich(
    columns: Sequence[str], rows: Sequence[Sequence[str]], right: Iterable[int] = ()
) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    numbers = set(right)
    table = Table(show_header=bool(columns))
    for at, name in enumerate(columns or ("", "")):
        table.add_column(name, justify="right" if at in numbers else "left", overflow="fold")
    for row in rows:
        # Text, not str: brackets in names are no markup.
        table.add_row(*(Text(text) for text in row))
    Console().print(table)
