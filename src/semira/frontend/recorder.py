"""Recorder: the operations that ran, and what they took."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from semira.contract.program import walk_statements
from semira.engine import trace

_COLUMNS = ("operation", "operator", "methods", "ms", "bytes", "new bytes")

_UNITS = ("B", "kB", "MB", "GB", "TB")


@dataclass(frozen=True, slots=True)
class Recorded:
    """One line of a Recorder."""

    #: The operation, its operator and the methods of its plan.
    text: str
    #: The same apart; empty for a line that was added by hand.
    cells: tuple[str, ...] = ()
    #: Milliseconds on the host. A loop has one time for all of its operations: it stands on the
    #: last of them, as do the bytes.
    elapsed_ms: float | None = None
    #: Bytes of all objects that took part, when it was done: what it could read or write.
    num_bytes: int | None = None
    #: By how much they grew.
    new_bytes: int | None = None
    #: The exception that stopped it, if one did.
    error: str = ""

    def __str__(self) -> str:
        failed = f" /* ERROR: {self.error} */" if self.error else ""
        if self.elapsed_ms is None:
            return self.text + failed
        sizes = f"{_size(self.num_bytes)}, {_size(self.new_bytes, sign='+')}"
        return f"{self.text}  # {self.elapsed_ms:.3f} ms, {sizes}{failed}"

    @property
    def columns(self) -> tuple[str, ...]:
        """Its cells in a table."""
        if not self.cells:
            return (str(self), *[""] * (len(_COLUMNS) - 1))
        if self.elapsed_ms is None:
            return (*self.cells, "", "", self.error)
        sizes = _size(self.num_bytes), self.error or _size(self.new_bytes, sign="+")
        return (*self.cells, f"{self.elapsed_ms:.3f}", *sizes)


def _size(number: int | None, *, sign: str = "") -> str:
    """Return bytes in a unit that leaves few digits.

    Examples
    --------
    >>> _size(999), _size(25_000), _size(3_200_000, sign="+")
    ('999 B', '25.0 kB', '+3.2 MB')
    """
    amount, unit = float(number or 0), 0
    while abs(amount) >= 1000 and unit < len(_UNITS) - 1:
        amount, unit = amount / 1000, unit + 1
    return f"{amount:{sign}.{1 if unit else 0}f} {_UNITS[unit]}"


def _rows(run: trace.Run) -> Iterator[Recorded]:
    statements = list(walk_statements(run.program.body))
    for number, statement in enumerate(statements, start=1):
        operator = "" if statement.operator is None else repr(statement.operator)
        plan = statement.plan
        methods = "" if plan is None else " | ".join(one.name for one in plan.methods)
        via = f"via {methods}" if methods else ""
        text = " ".join(part for part in (statement.op, operator, via) if part)
        cells = (statement.op, operator, methods)
        if number < len(statements):
            yield Recorded(text, cells)
            continue
        error = "" if run.error is None else type(run.error).__name__
        yield Recorded(text, cells, run.elapsed_ms, run.num_bytes, run.new_bytes, error)


class Recorder:
    """Record the calls that run while it is on.

    Parameters
    ----------
    start : bool
        Begin at once.
    max_rows : int
        Calls shown when it is printed.

    Attributes
    ----------
    rows : list of Recorded
        Each operation with its plan's methods, milliseconds and bytes.

    Notes
    -----
    Without a recorder nothing is measured. With one, every call asks its objects for their size.
    What runs on a GPU is timed until it is started, not until it is done.

    Examples
    --------
    >>> import semira as gb
    >>> v = gb.Vector.from_coo([0], [1])
    >>> with gb.Recorder() as rec:
    ...     w = v.apply("ainv").new()
    >>> rec.data
    ['apply unary.ainv[INT64] via direct  # ... ms, ... B, +... B']
    >>> rec.rows[0].num_bytes > 0, rec.is_recording
    (True, False)
    """

    def __init__(self, *, start: bool = True, max_rows: int = 20) -> None:
        self.rows: list[Recorded] = []
        self.max_rows = max_rows
        if start:
            self.start()

    @property
    def data(self) -> list[str]:
        """One line of text for each operation."""
        return [str(row) for row in self.rows]

    @property
    def is_recording(self) -> bool:
        """Whether calls are being recorded."""
        return trace.is_listening(self._note)

    def start(self) -> None:
        """Begin, or go on."""
        trace.listen(self._note)

    def stop(self) -> None:
        """Pause."""
        trace.stop_listening(self._note)

    def clear(self) -> None:
        """Forget what was recorded."""
        self.rows.clear()

    def record(self, cfunc_name: str, args: Any, *, exc: Any = None) -> None:
        """Add a line for a call of that name."""
        named = (getattr(arg, "name", None) or str(arg) for arg in args)
        error = "" if exc is None else type(exc).__name__
        self.rows.append(Recorded(f"{cfunc_name}({', '.join(named)});", error=error))

    def record_raw(self, text: str) -> None:
        """Add a line of text."""
        self.rows.append(Recorded(text))

    def _note(self, run: trace.Run) -> None:
        self.rows.extend(_rows(run))

    def __enter__(self) -> Recorder:
        self.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()

    def __iter__(self) -> Iterator[str]:
        return iter(self.data)

    def _lines(
        self, written: Callable[[Recorded], str], noted: Callable[[str], Sequence[str]]
    ) -> list[str]:
        """Return rows as lines, those in the middle as what is said of rows left out."""
        if len(self.rows) <= self.max_rows:
            return [*map(written, self.rows)]
        last = self.max_rows // 2
        first = self.max_rows - last
        hidden = len(self.rows) - self.max_rows
        note = f"{hidden} rows not shown; set `recorder.max_rows` attribute to show more (or less)"
        ends = self.rows[:first], self.rows[len(self.rows) - last :]
        return [*map(written, ends[0]), *noted(note), *map(written, ends[1])]

    def _heading(self) -> str:
        return f"gb.Recorder ({'recording' if self.is_recording else 'not recording'})"

    def __repr__(self) -> str:
        lines = self._lines(lambda row: f"  {row}", lambda note: ["", f"  // {note}", ""])
        heading = self._heading()
        return "\n".join([heading, "-" * len(heading), *lines])

    def _repr_markdown_(self) -> str:
        def line(cells: Sequence[str]) -> str:
            return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"

        rows = self._lines(
            lambda row: line(row.columns), lambda note: [line([note, *[""] * (len(_COLUMNS) - 1)])]
        )
        rule = "|---|---|---|---:|---:|---:|"
        return "\n".join([f"**{self._heading()}**", "", line(_COLUMNS), rule, *rows])

    def _repr_html_(self) -> str:
        def line(cells: Sequence[str], tag: str = "td") -> str:
            inner = "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells)
            return f"<tr>{inner}</tr>"

        rows = self._lines(
            lambda row: line(row.columns),
            lambda note: [f'<tr><td colspan="{len(_COLUMNS)}"><em>{escape(note)}</em></td></tr>'],
        )
        head = f"<thead>{line(_COLUMNS, 'th')}</thead>"
        start = f"<div><b>{escape(self._heading())}</b>"
        return "\n".join([start, "<table>", head, "<tbody>", *rows, "</tbody></table></div>"])
