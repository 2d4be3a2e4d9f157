"""Recorder: the calls that ran, as text."""

from __future__ import annotations

import html
from collections.abc import Iterator
from typing import Any

from semira.contract import Program
from semira.contract.backend import Outcome
from semira.contract.program import walk_statements
from semira.engine import trace


def _describe(program: Program) -> Iterator[str]:
    for statement in walk_statements(program.body):
        operator = "" if statement.operator is None else f" {statement.operator!r}"
        plan = statement.plan
        methods = "" if plan is None else " via " + " | ".join(one.name for one in plan.methods)
        yield f"{statement.op}{operator}{methods}"


class Recorder:
    """Record the calls that run while it is on.

    Parameters
    ----------
    start : bool
        Begin at once.
    max_rows : int
        Calls shown by ``repr``.

    Attributes
    ----------
    data : list of str
        One line for each call: operation, operator, admissible methods, milliseconds.

    Examples
    --------
    >>> import semira as gb
    >>> v = gb.Vector.from_coo([0], [1])
    >>> with gb.Recorder() as rec:
    ...     w = v.apply("ainv").new()
    >>> len(rec.data), rec.is_recording
    (1, False)
    """

    def __init__(self, *, start: bool = True, max_rows: int = 20) -> None:
        self.data: list[str] = []
        self.max_rows = max_rows
        if start:
            self.start()

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
        self.data.clear()

    def record(self, cfunc_name: str, args: Any, *, exc: Any = None) -> None:
        """Add a line for a call of that name."""
        error = "" if exc is None else f" /* ERROR: {type(exc).__name__} */"
        named = (getattr(arg, "name", None) or str(arg) for arg in args)
        self.data.append(f"{cfunc_name}({', '.join(named)});{error}")

    def record_raw(self, text: str) -> None:
        """Add a line of text."""
        self.data.append(text)

    def _note(self, program: Program, outcome: Outcome, elapsed_ms: float) -> None:
        del outcome
        lines = list(_describe(program))
        if lines:
            lines[-1] += f"  # {elapsed_ms:.3f} ms"
        self.data.extend(lines)

    def __enter__(self) -> Recorder:
        self.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()

    def __iter__(self) -> Iterator[str]:
        return iter(self.data)

    def _lines(self) -> list[str]:
        if len(self.data) <= self.max_rows:
            return [f"  {line}" for line in self.data]
        half = self.max_rows // 2
        hidden = len(self.data) - 2 * half
        middle = f"  // {hidden} rows not shown; set `recorder.max_rows` to show more (or less)"
        shown = self.data[:half], self.data[len(self.data) - half :]
        return [*(f"  {x}" for x in shown[0]), "", middle, "", *(f"  {x}" for x in shown[1])]

    def __repr__(self) -> str:
        heading = f"gb.Recorder ({'recording' if self.is_recording else 'not recording'})"
        return "\n".join([heading, "-" * len(heading), *self._lines()])

    def _repr_html_(self) -> str:
        state = "recording" if self.is_recording else "not recording"
        body = html.escape("\n".join(self._lines()))
        return f"<div><b>gb.Recorder</b> ({state})<pre>{body}</pre></div>"
