"""Recording: calls are collected instead of run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from semira.base.dtypes import BOOL, DataType
from semira.base.errors import RecordError
from semira.engine.calls import Call, LoopCall
from semira.engine.differences import Difference, differing_bodies, differing_conditions
from semira.engine.places import Place, line_of, user_line, user_place
from semira.engine.values import Value

#: Frames of Semira between the user's code and `Recording.append`, at least.
_INNERMOST = 3

_current: ContextVar[Recording | None] = ContextVar("semira_recording", default=None)


class Recording:
    """The calls of one run of a loop body."""

    def __init__(self, outer: Recording | None) -> None:
        self.calls: list[Call | LoopCall] = []
        #: Set when the body has returned.
        self.condition: Value | None = None
        #: Where the body returned, once it has: what is recorded then belongs to what it returned.
        self.returned_at: Place | None = None
        self.outer = outer
        self._started: int = Value("scalar", BOOL, ()).serial if outer is None else outer._started
        self._temporaries: list[Value] = []

    def temporary(self, kind: str, dtype: DataType, shape: tuple[int, ...]) -> Value:
        """Return a value that lives for one iteration."""
        value = Value(kind, dtype, shape)
        value.recording = self
        self._temporaries.append(value)
        return value

    def is_inside(self, other: Any) -> bool:
        """Whether `other` is this recording or one around it."""
        frame: Recording | None = self
        while frame is not None:
            if frame is other:
                return True
            frame = frame.outer
        return False

    def append(self, call: Call | LoopCall) -> None:
        """Record a call; raises RecordError if it uses a temporary of another iteration."""
        if isinstance(call, Call):
            for value in call.values():
                self._check_value(value)
        call.place = self.returned_at or user_place(_INNERMOST)
        self.calls.append(call)

    def end(self, condition: Value | None) -> None:
        """Set the condition.

        Raises RecordError if it was made where this recording cannot see its value.
        """
        if condition is not None:
            self._check_value(condition)
        self.condition = condition

    def forget(self) -> None:
        """Let go of what was recorded, once a loop has it.

        Temporaries know their recording: without this only the garbage collector would free both.
        """
        self.calls, self.condition, self.returned_at, self._temporaries = [], None, None, []

    def _line(self) -> str:
        return user_line() if self.returned_at is None else line_of(self.returned_at)

    def _check_value(self, value: Value) -> None:
        made_in = value.recording
        if made_in is self or (made_in is None and value.serial <= self._started):
            return
        if made_in is None:
            raise RecordError(
                f"{self._line()}: a {value.kind} made inside the loop body is used; make it "
                "before the loop, or compute it with `.new()`"
            )
        if not self.is_inside(made_in):
            raise RecordError(
                f"{self._line()}: a temporary made in another iteration is used; temporaries "
                "end with their iteration. Make an object before the loop and write into "
                "it (`x << ...`)"
            )

    def compare(self, other: Recording) -> tuple[dict[int, Value], Difference | None]:
        """Compare with another recording of the same body; return pairs and a difference.

        The pairs are, by the id of each value of this recording, those of `other` in their place.
        The difference says in what else the two differ first; then the pairs have what came before.
        """
        pairs: dict[int, Value] = {}
        found = differing_bodies(self.calls, other.calls, pairs)
        if found is None:
            found = differing_conditions(self.condition, other.condition, pairs, "the condition")
        return pairs, found


def current() -> Recording | None:
    """Return the recording in progress, if any."""
    return _current.get()


@contextmanager
def recording() -> Iterator[Recording]:
    """Collect the calls made inside the block."""
    record = Recording(current())
    token = _current.set(record)
    try:
        yield record
    finally:
        _current.reset(token)


def refuse_host_read(what: str, remedy: str) -> None:
    """Raise RecordError if a recording is in progress.

    It names the line of the user's code, what cannot be recorded, and the remedy.
    """
    if _current.get() is not None:
        raise RecordError(f"{user_line()}: {what} inside a recorded loop body; {remedy}")
