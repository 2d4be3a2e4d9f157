"""Recording a loop body until its rebinding of objects closes, and running the loop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Integral
from typing import Any, Never

from semira.base.dtypes import INT64
from semira.base.errors import InvalidValue, RecordError
from semira.base.settings import settings
from semira.base.shown import Shown
from semira.contract import TraceRow, lost_rows, trace_html, trace_text
from semira.contract.backend import Outcome
from semira.engine import recording, remembered, run, warm
from semira.engine.calls import Call, Literal, LoopCall
from semira.engine.places import Place, body_line, line_of, user_line
from semira.engine.recording import Recording
from semira.engine.remembered import Described
from semira.engine.values import Value

#: Largest period of objects rebound by a body (``p, q = q, p`` has period 2).
MAX_PERIOD = 4

#: Most iterations: they are counted in INT64.
_MOST: Any = INT64.largest

#: Turns what a body returned into the value of its condition; also gets what finds the line.
ConditionValue = Callable[[Any, Callable[[], str]], Value | None]


@dataclass(frozen=True, slots=True, repr=False)
class LoopResult(Shown):
    """How a loop ended.

    Attributes
    ----------
    iterations : int
        Bodies run.
    stopped_by : {"condition", "limit"}
        ``limit`` only if the caller chose the limit.
    trace : sequence of TraceRow
        One row per matrix product and iteration; of long loops the last 65,536.
    """

    iterations: int
    stopped_by: str
    trace: Sequence[TraceRow] = ()

    @property
    def lost(self) -> int:
        """Rows before those of the trace, which had no room for them; of loops inside, too."""
        return lost_rows(self.trace)

    def _heading(self) -> str:
        return f"{self.iterations:,} iterations, stopped by the {self.stopped_by}"

    def __str__(self) -> str:
        """Return how the loop ended, and a table of its products."""
        return f"{self._heading()}\n{trace_text(self.trace)}"

    def _repr_html_(self) -> str:
        return f"<p>{self._heading()}</p>{trace_html(self.trace)}"


class InnerLoop:
    """What stands for the LoopResult of a loop inside another recorded loop.

    How it ends is only known when the outer loop has run it, each time anew.

    Raises
    ------
    RecordError
        A field is read: ``iterations``, ``stopped_by``, ``trace`` or ``lost``.
    """

    __slots__ = ()

    @property
    def iterations(self) -> int:
        """Not known; raises RecordError."""
        self._refuse(
            "iterations",
            "count them in a Scalar made before the outer loop, `turns << turns + 1` in the inner "
            "body",
        )

    @property
    def stopped_by(self) -> str:
        """Not known; raises RecordError."""
        self._refuse(
            "stopped_by",
            "let the inner body write its condition into a BOOL Scalar made before the outer loop "
            "and return that: where it is still true, the limit stopped the loop",
        )

    @property
    def trace(self) -> Sequence[TraceRow]:
        """Not known; raises RecordError."""
        self._refuse("trace", "read the trace of the outer loop, which has rows of inner ones")

    @property
    def lost(self) -> int:
        """Not known; raises RecordError."""
        self._refuse("lost", "read `lost` of the outer loop, which counts rows of inner ones")

    def _refuse(self, name: str, remedy: str) -> Never:
        raise RecordError(
            f"{user_line()}: `{name}` of a loop inside a recorded loop body is not known when the "
            f"body is recorded; {remedy}"
        )


_INNER = InnerLoop()


def repeat_body(
    step: Callable[[], Any],
    condition_value: ConditionValue,
    max_iterations: Value | int | None,
    described: Described | None = None,
) -> LoopResult | InnerLoop:
    """Record `step`, run it, and leave rebound names as an eager loop would.

    The body is called once for each recording, never per iteration, and not at all where a loop
    like it was recorded before, if it is `described`: what it depends on. `condition_value` turns
    what it returned into the value of the condition. Inside another recording an InnerLoop is
    returned.
    """
    limit, explicit = _limit(max_iterations), max_iterations is not None
    outer = recording.current()
    if outer is not None:
        records, _ = _record_cycle(step, condition_value, limit, explicit=explicit)
        _append(outer, records, limit, explicit=explicit)
        return _INNER
    recorded, reading = _read(step, condition_value, limit, described, explicit=explicit)
    if isinstance(recorded, LoopCall):
        return _run(step, recorded, reading)
    return result_of(run.run_loop(recorded, reading))


def prepared_loop(
    step: Callable[[], Any],
    condition_value: ConditionValue,
    max_iterations: int,
    described: Described,
) -> tuple[warm.Found, warm.Asked]:
    """Return what `repeat_body` would run, and on what."""
    limit = _limit(max_iterations)
    recorded, reading = _read(step, condition_value, limit, described, explicit=True)
    call_of = (lambda: recorded) if isinstance(recorded, LoopCall) else recorded
    return run.prepare_loop(call_of, reading)


def _read(
    step: Callable[[], Any],
    condition_value: ConditionValue,
    limit: Value | Literal,
    described: Described | None,
    *,
    explicit: bool,
) -> tuple[LoopCall | Callable[[], LoopCall], warm.Reading]:
    """Return a recorded loop and its reading; of one known before, what would record it."""

    def record() -> tuple[LoopCall, warm.Reading | None]:
        records, reading = _record_cycle(step, condition_value, limit, explicit=explicit)
        return _closed(records, limit, explicit=explicit), reading

    if described is not None:
        described.add_limit(limit, explicit=explicit)
        known = remembered.recall(described, limit)
        if known is not None:
            return lambda: record()[0], known
    call, reading = record()
    if reading is None:
        return call, warm.read_loop(call)
    if described is not None:
        remembered.remember(described, reading)
    return call, reading


def recorded_loop(
    step: Callable[[], Any], condition_value: ConditionValue, max_iterations: Value | int | None
) -> LoopCall:
    """Return the loop that `repeat_body` would run; rebound names are as they were."""
    limit, explicit = _limit(max_iterations), max_iterations is not None
    records, _ = _record_cycle(step, condition_value, limit, explicit=explicit)
    period = len(records) - 1
    _turn_names(step, -len(records), period)
    return _closed(records, limit, explicit=explicit)


def _append(
    outer: Recording, records: list[Recording], limit: Value | Literal, *, explicit: bool
) -> None:
    if len(records) > 2:
        raise RecordError(
            f"{user_line()}: the body of an inner loop rebinds its objects (as `p, q = q, p` "
            "does); inside another recorded loop write `p << q` instead"
        )
    for record in records:
        record.outer = outer
    outer.append(_closed(records, limit, explicit=explicit))


def _run(step: Callable[[], Any], call: LoopCall, reading: warm.Reading) -> LoopResult:
    """Run a loop just recorded: once for each of its bodies, and once more."""
    period = len(call.bodies)
    try:
        outcome = run.run_loop(lambda: call, reading)
    except BaseException as error:
        _turn_names(step, getattr(error, "semira_iterations", 0) - period - 1, period)
        raise
    result = result_of(outcome)
    _turn_names(step, result.iterations - period - 1, period)
    return result


def result_of(outcome: Outcome) -> LoopResult:
    """Return how a loop ended that was all there was to run."""
    report = outcome.loops[-1]
    return LoopResult(report.iterations, report.stopped_by, outcome.trace)


def _turn_names(step: Callable[[], Any], steps: int, period: int) -> None:
    """Rebind the caller's names as `steps` more calls of the body would, running nothing.

    Each recording rebound them once, each iteration should have: a few more calls, thrown
    away, bring them to where an eager loop would have left them.
    """
    for _ in range(steps % period):
        with recording.recording() as record:
            step()
        record.forget()


def _limit(limit: Any) -> Value | Literal:
    """Return the largest number of iterations, 1 to 2**63 - 1, as a value or literal."""
    if limit.__class__ is int and 1 <= limit <= _MOST:
        return Literal(INT64, limit)
    if isinstance(limit, Value):
        if not limit.dtype.is_integer:
            raise InvalidValue(f"max_iterations must be an integer Scalar, got {limit.dtype}")
        return limit
    if limit is None:
        return Literal(INT64, settings().max_iterations)
    if isinstance(limit, bool) or not isinstance(limit, Integral):
        raise InvalidValue(f"max_iterations must be an int or a Scalar, got {limit!r}")
    if limit < 1:
        raise InvalidValue(f"max_iterations={limit} must be at least 1: a body runs at least once")
    if limit > _MOST:
        raise InvalidValue(
            f"max_iterations={limit} is counted in INT64, which ends at {_MOST}; give a "
            "smaller number, as no loop gets there"
        )
    return Literal(INT64, int(limit))


def _loop_call(bodies: list[Recording], limit: Value | Literal, *, explicit: bool) -> LoopCall:
    calls = [record.calls for record in bodies]
    return LoopCall(calls, [record.condition for record in bodies], limit, explicit)


def _closed(records: list[Recording], limit: Value | Literal, *, explicit: bool) -> LoopCall:
    """Return the loop of recordings, of which the last equals the first; they are forgotten."""
    call = _loop_call(records[:-1], limit, explicit=explicit)
    for record in records:
        record.forget()
    return call


def _record_cycle(
    step: Callable[[], Any],
    condition_value: ConditionValue,
    limit: Value | Literal,
    *,
    explicit: bool,
) -> tuple[list[Recording], warm.Reading | None]:
    """Record until a recording equals the first one; that last one is included.

    Also returns the reading of the loop, if it was needed for that.
    """
    records: list[Recording] = []
    first: warm.Reading | None = None
    while True:
        record = _record(step, condition_value, explicit=explicit)
        records.append(record)
        if len(records) == 1:
            first = warm.read_loop(_loop_call(records, limit, explicit=explicit))
            continue
        if len(records) == 2 and first is not None:
            second = warm.read_loop(_loop_call(records[1:], limit, explicit=explicit))
            if first.is_same(second):
                return records, first
        if _is_closed(records):
            return records, None


def _record(
    step: Callable[[], Any], condition_value: ConditionValue, *, explicit: bool
) -> Recording:
    with recording.recording() as record:
        returned = step()
        where = record.returned_at = partial(body_line, step, returned)
        condition = condition_value(returned, where)
        if condition is None and not explicit:
            kind = "None" if returned is None else "what a loop in it returned"
            raise RecordError(
                f"{where()}: the loop body returns {kind} and there is no max_iterations; return "
                "a BOOL Scalar (such as `frontier.nvals > 0`) or pass max_iterations"
            )
        record.end(condition)
    return record


def _is_closed(records: list[Recording]) -> bool:
    """Whether the last recording does the same as the first to the same objects.

    Raises RecordError if it differs in more than its objects, or they have not come back for too
    long.
    """
    first, last = records[0], records[-1]
    pairs, difference = first.compare(last)
    if difference is not None:
        raise RecordError(
            f"{line_of(difference.place or last.returned_at)}: the loop body changes from run to "
            f"run: {difference}. Nothing ran, but names that the body rebinds have moved"
        )
    moved = _first_moved(first, last, pairs)
    if moved is not None and len(records) > MAX_PERIOD:
        value, place = moved
        raise RecordError(
            f"{line_of(place)}: {len(records)} recordings of the loop body did not repeat: it "
            f"rebinds objects (this {value.kind} of {value.dtype} is another one each time) that "
            f"did not come back to their places within {MAX_PERIOD} recordings. Rotate at most "
            f"{MAX_PERIOD} objects, write all steps of a longer rotation into one body (a Python "
            "`for` is unrolled), or copy (`p << q`). Nothing ran, but names that the body rebinds "
            "have moved"
        )
    return moved is None


def _first_moved(
    first: Recording, last: Recording, pairs: dict[int, Value]
) -> tuple[Value, Place | None] | None:
    """Return the first object in whose place there is another one, and where; None if none is."""
    for mine, theirs in zip(first.calls, last.calls, strict=True):
        for value in _persistent_values([mine]):
            if pairs[id(value)] is not value:
                return value, theirs.place
    condition = first.condition
    if condition is None or condition.recording is not None or pairs[id(condition)] is condition:
        return None
    return condition, last.returned_at


def _persistent_values(stack: list[Any]) -> list[Value]:
    """Return the values in calls and conditions that outlive an iteration, each once."""
    found: dict[int, Value] = {}
    while stack:
        item = stack.pop()
        if isinstance(item, Call):
            stack += item.values()
        elif isinstance(item, LoopCall):
            stack += [call for body in item.bodies for call in body]
            stack += [value for value in item.conditions if value is not None]
            stack += [item.limit] if isinstance(item.limit, Value) else []
        elif item.recording is None:
            found[id(item)] = item
    return list(found.values())
