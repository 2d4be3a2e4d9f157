"""Recording: calls are collected instead of run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from semira.base.dtypes import BOOL, DataType
from semira.base.errors import RecordError
from semira.engine.calls import Call, Literal, LoopCall
from semira.engine.places import Place, line_of, user_line
from semira.engine.values import Value

_current: ContextVar[Recording | None] = ContextVar("semira_recording", default=None)


class Recording:
    """The calls of one run of a loop body.

    Attributes
    ----------
    calls : list of Call or LoopCall
    condition : Value or None
        Set when the body has returned.
    returned_at : Place or None
        Where the body returned, once it has: what is recorded then belongs to what it returned.
    """

    def __init__(self, outer: Recording | None) -> None:
        self.calls: list[Call | LoopCall] = []
        self.condition: Value | None = None
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
        """Record a call.

        Raises
        ------
        RecordError
            It uses a temporary of another iteration.
        """
        if isinstance(call, Call):
            self._check(call)
        self.calls.append(call)

    def end(self, condition: Value | None) -> None:
        """Set the condition.

        Raises
        ------
        RecordError
            It was made where this recording cannot see its value.
        """
        if condition is not None:
            self._check_value(condition)
        self.condition = condition

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

    def _check(self, call: Call) -> None:
        for value in call.values():
            self._check_value(value)
        if call.op == "mxm" and call.mask is None:
            raise RecordError(
                f"{self._line()}: the size of an unmasked matrix product is not known before it "
                "ran; give it a mask, or take it out of the loop"
            )

    def renaming(self, other: Recording) -> dict[int, Value] | None:
        """Return which value of `other` stands where each value of this recording stands.

        None if the recordings differ in more than the objects they use.
        """
        pairs: dict[int, Value] = {}
        if not _match_bodies(self.calls, other.calls, pairs):
            return None
        if (self.condition is None) != (other.condition is None):
            return None
        matched = self.condition is None or _pair(self.condition, other.condition, pairs)
        return pairs if matched else None


def _pair(mine: Value, theirs: Any, pairs: dict[int, Value]) -> bool:
    if not isinstance(theirs, Value) or mine.kind != theirs.kind:
        return False
    if mine.dtype is not theirs.dtype or mine.shape != theirs.shape:
        return False
    return pairs.setdefault(id(mine), theirs) is theirs


def _match_operand(mine: Any, theirs: Any, pairs: dict[int, Value]) -> bool:
    if isinstance(mine, Literal):
        return (
            isinstance(theirs, Literal)
            and mine.dtype is theirs.dtype
            and bool(np.array_equal(mine.value, theirs.value, equal_nan=mine.dtype.kind in "FC"))
        )
    return _pair(mine, theirs, pairs)


def _match_call(mine: Call, theirs: Any, pairs: dict[int, Value]) -> bool:
    if not isinstance(theirs, Call) or len(mine.args) != len(theirs.args):
        return False
    plain = ("op", "operator", "accum", "replace", "params", "hints", "new")
    if any(getattr(mine, name) != getattr(theirs, name) for name in plain):
        return False
    if len(mine.regions) != len(theirs.regions):
        return False
    if not all(a.same_as(b) for a, b in zip(mine.regions, theirs.regions, strict=True)):
        return False
    if (mine.mask is None) != (theirs.mask is None):
        return False
    if (
        mine.mask is not None
        and theirs.mask is not None
        and (mine.mask[1:] != theirs.mask[1:] or not _pair(mine.mask[0], theirs.mask[0], pairs))
    ):
        return False
    operands = zip(mine.args, theirs.args, strict=True)
    if not all(a[1] == b[1] and _match_operand(a[0], b[0], pairs) for a, b in operands):
        return False
    return _pair(mine.out, theirs.out, pairs)


def _match_bodies(
    mine: list[Call | LoopCall], theirs: list[Call | LoopCall], pairs: dict[int, Value]
) -> bool:
    if len(mine) != len(theirs):
        return False
    return all(
        _match_loop(a, b, pairs) if isinstance(a, LoopCall) else _match_call(a, b, pairs)
        for a, b in zip(mine, theirs, strict=True)
    )


def _match_loop(mine: LoopCall, theirs: Any, pairs: dict[int, Value]) -> bool:
    if not isinstance(theirs, LoopCall) or len(mine.bodies) != len(theirs.bodies):
        return False
    if mine.explicit_limit != theirs.explicit_limit:
        return False
    if not _match_operand(mine.limit, theirs.limit, pairs):
        return False
    for a, b in zip(mine.bodies, theirs.bodies, strict=True):
        if not _match_bodies(a, b, pairs):
            return False
    for x, y in zip(mine.conditions, theirs.conditions, strict=True):
        if (x is None) != (y is None) or (x is not None and not _pair(x, y, pairs)):
            return False
    return True


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

    Raises
    ------
    RecordError
        Names the line of the user's code, what cannot be recorded, and the remedy.
    """
    if current() is not None:
        raise RecordError(f"{user_line()}: {what} inside a recorded loop body; {remedy}")
