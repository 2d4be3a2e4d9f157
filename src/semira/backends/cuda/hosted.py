"""Programs of several statements of which one is several launches: the host runs them in pieces.

A statement that writes a matrix, or a method with launches of its own, cannot stand in the one
kernel of a program. The statements between such ones share a kernel, and inner loops without one
have their own; the host reads the condition of a loop once an iteration.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from semira.backends.cuda.lower.uses import slots_in, stands_apart
from semira.backends.cuda.runtime.device import Runtime
from semira.backends.cuda.runtime.executable import CudaExecutable
from semira.backends.cuda.runtime.launch import resolve_side
from semira.backends.cuda.runtime.objects import UNDRIVEN, CudaMatrix
from semira.backends.cuda.runtime.savepoint import Savepoint
from semira.backends.cuda.runtime.scalars import CudaScalar
from semira.backends.cuda.runtime.transfer import get_scalar, put_scalar, put_vector
from semira.backends.cuda.runtime.waiting import Interrupt
from semira.base.errors import InvalidValue, IterationLimit
from semira.contract import (
    LastRows,
    Loop,
    LoopReport,
    Program,
    Rows,
    Slot,
    Statement,
    TraceRow,
    UnreadRows,
    lost_rows,
    walk_statements,
)
from semira.contract.backend import Binding, Outcome
from semira.formats import ScalarArrays, VectorArrays

Body = tuple[Statement | Loop, ...]

#: The report of a loop that runs once.
_ONCE = (LoopReport(1, "limit"),)

#: Pieces whose rows nobody has read: each keeps the arrays alive that its sizes are read from.
UNREAD = 4


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """Statements that one executable of the backend runs, and the slots it is given."""

    #: What `CudaBackend.prepare` returns.
    executable: Any
    slots: tuple[int, ...]
    is_loop: bool
    #: It replaces one output when all went well: broken, it has changed nothing.
    is_whole: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class HostedLoop:
    """A loop whose bodies are pieces and loops in turn."""

    loop: Loop
    bodies: tuple[tuple[Any, ...], ...]
    is_whole = False

    @property
    def leaves_nothing(self) -> bool:
        """Whether a broken iteration has changed nothing."""
        return all(len(body) == 1 and body[0].is_whole for body in self.bodies)


@dataclass(frozen=True, slots=True, eq=False)
class HostedExecutable:
    """A Program as pieces."""

    program: Program
    #: Each a `Piece` or a `HostedLoop`.
    body: tuple[Any, ...]
    #: Temporaries that live inside one piece.
    unmade: frozenset[int] = frozenset()
    #: All there is to do where the limit is 1: a sum, which changes one scalar with its launch.
    lone: Piece | None = None


def is_hosted(program: Program) -> bool:
    """Return whether a program has several items and one of them is launches of its own."""
    lone = len(program.body) == 1 and isinstance(program.body[0], Statement)
    return not lone and any(stands_apart(program, item) for item in program.body)


def prepare_hosted(
    program: Program,
    prepare: Callable[[Program], Any],
    is_one: Callable[[Program], bool] = lambda _: False,
) -> HostedExecutable:
    """Cut a program into pieces and prepare each.

    `prepare` takes a program of one statement that stands apart, of none, or of a pair that
    `is_one` accepts: its second statement is all that reads the matrix that the first one makes.
    """
    cutter = _Cutter(program, prepare, is_one)
    body = tuple(cutter.cut(program.body))
    return HostedExecutable(program, body, frozenset(cutter.unmade), _lone_sum(body))


def _lone_sum(body: tuple[Any, ...]) -> Piece | None:
    """Return the piece of a loop that is one sum and ends by its limit."""
    if len(body) != 1 or not isinstance(body[0], HostedLoop):
        return None
    loop, bodies = body[0].loop, body[0].bodies
    if not loop.explicit_limit or loop.conditions != (None,) or len(bodies[0]) != 1:
        return None
    (piece,) = bodies[0]
    is_sum = isinstance(piece, Piece) and getattr(piece.executable, "total", None) is not None
    return piece if is_sum else None


class _Cutter:
    """Cuts bodies into pieces and loops."""

    def __init__(
        self, program: Program, prepare: Callable[[Program], Any], is_one: Callable[[Program], bool]
    ) -> None:
        self.program, self.prepare, self.is_one = program, prepare, is_one
        # What is a temporary of the whole lives on between its pieces.
        self.slots = tuple(
            replace(slot, role="inout", shape=None) if slot.role == "temp" else slot
            for slot in program.slots
        )
        self.uses = count_uses(program)
        #: Temporaries inside of pairs met so far.
        self.unmade: set[int] = set()
        self.depth = 0

    def cut(self, body: Body) -> Iterator[Any]:
        waiting: list[Statement | Loop] = []
        at = 0
        while at < len(body):
            item = body[at]
            at += 1
            if not isinstance(item, Loop) and not stands_apart(self.program, item):
                waiting.append(item)
                continue
            if waiting:
                yield self._piece(tuple(waiting))
                waiting = []
            pair = self._pair(body[at - 1 : at + 1])
            if pair is not None:
                yield pair
                at += 1
            elif isinstance(item, Loop) and stands_apart(self.program, item):
                self.depth += 1
                yield HostedLoop(item, tuple(tuple(self.cut(inner)) for inner in item.bodies))
                self.depth -= 1
            else:
                yield self._piece((item,))
        if waiting:
            yield self._piece(tuple(waiting))

    def _piece(self, body: Body, slots: tuple[Slot, ...] | None = None) -> Piece:
        used = _slots_of(body)
        given = _renumbered(self.slots if slots is None else slots, body, used)
        executable = self.prepare(given)
        if self.depth and isinstance(executable, CudaExecutable):
            # The iteration around it is taken back as a whole.
            executable.keeps = False
        is_whole = getattr(executable, "replaces_output", False)
        return Piece(executable, used, isinstance(body[0], Loop), is_whole)

    def _pair(self, body: Body) -> Piece | None:
        """Return two statements as one piece, if the first one's matrix need not be made."""
        if len(body) != 2 or not all(isinstance(item, Statement) for item in body):
            return None
        first, second = walk_statements(body)
        made = first.out
        is_temporary = self.program.slots[made].role == "temp" and first.param("new")
        # Written once and read once, by the second statement.
        if not is_temporary or self.uses[made] != 2 or made not in _slots_of((second,)):
            return None
        slots = list(self.slots)
        slots[made] = replace(self.program.slots[made], shape=None)
        if not self.is_one(_renumbered(tuple(slots), body, _slots_of(body))):
            return None
        self.unmade.add(made)
        return self._piece(body, tuple(slots))


def count_uses(program: Program) -> Counter[int]:
    """Return how often each slot is written or read by a statement, or by a loop's head."""
    uses = Counter(slots_in(program.body))
    # What gets its shape from a temporary needs it.
    for slot in program.slots:
        uses.update(part[0] for part in slot.shape or () if not isinstance(part, int))
    return uses


def _slots_of(body: Body) -> tuple[int, ...]:
    return tuple(sorted({*slots_in(body)}))


def _renumbered(slots: tuple[Slot, ...], body: Body, used: tuple[int, ...]) -> Program:
    """Return a body as a program of the slots it touches."""
    number = {slot: at for at, slot in enumerate(used)}

    def moved(item: Statement | Loop) -> Statement | Loop:
        if isinstance(item, Loop):
            return replace(
                item,
                limit=number[item.limit],
                conditions=tuple(None if c is None else number[c] for c in item.conditions),
                bodies=tuple(tuple(moved(each) for each in inner) for inner in item.bodies),
            )
        return replace(
            item,
            out=number[item.out],
            args=tuple(replace(arg, slot=number[arg.slot]) for arg in item.args),
            indices=tuple(
                spec if spec.slot is None else replace(spec, slot=number[spec.slot])
                for spec in item.indices
            ),
            mask=None if item.mask is None else replace(item.mask, slot=number[item.mask.slot]),
        )

    return Program(tuple(slots[slot] for slot in used), tuple(moved(item) for item in body))


@dataclass(slots=True)
class _Unread:
    """Rows of a piece, the iteration they belong to unless they say it, and the host's time."""

    rows: Sequence[TraceRow]
    iteration: int | None
    elapsed_ns: int

    def read(self) -> list[TraceRow]:
        """Return the rows; waits if the device has not written them."""
        rows = list(self.rows)
        if not rows:
            return rows
        if self.iteration is None:
            # A loop on the device has its own clock: what the host spent besides was before it.
            rest = max(0, self.elapsed_ns - sum(row.elapsed_ns for row in rows))
            rows[0] = rows[0]._replace(elapsed_ns=rows[0].elapsed_ns + rest)
            return rows
        # Of several products of a launch the host sees the end of the last one.
        rows = [row._replace(iteration=self.iteration, elapsed_ns=0) for row in rows]
        rows[-1] = rows[-1]._replace(elapsed_ns=self.elapsed_ns)
        return rows


class HostedTrace(UnreadRows):
    """The rows of pieces; the last ones are read when somebody asks, which may wait.

    The host's clock runs on from the end of one iteration, where it has waited for the device, to
    that of the next.
    """

    def __init__(self) -> None:
        self._read = LastRows()
        self._unread: list[_Unread] = []
        self._rows: Rows | None = None
        self._clock_ns = time.perf_counter_ns()

    def add(self, rows: Sequence[TraceRow], iteration: int | None) -> None:
        """Append rows, with the iteration they belong to unless they say it themselves."""
        if isinstance(rows, tuple) and not rows:
            return
        self._rows = None
        self._unread.append(_Unread(rows, iteration, 0))
        self.pass_time()
        if len(self._unread) > UNREAD:
            self._read_first()

    def pass_time(self) -> None:
        """Add the time since the last call to the last piece."""
        if self._unread:
            now_ns = time.perf_counter_ns()
            self._unread[-1].elapsed_ns += now_ns - self._clock_ns
            self._clock_ns = now_ns

    def _read_first(self) -> None:
        first = self._unread.pop(0)
        self._read.extend(first.read(), lost_rows(first.rows))

    @property
    def lost(self) -> int:
        """Older rows that there was no room for."""
        return self.made().lost

    def made(self) -> Rows:
        """Return all rows; waits for those that are not read yet."""
        if self._rows is None:
            while self._unread:
                self._read_first()
            self._rows = self._read.rows()
        return self._rows


@dataclass(slots=True)
class _Run:
    """State of one execution."""

    runtime: Runtime
    program: Program
    things: list[Binding]
    execute: Callable[[Any, list[Binding]], Outcome]
    interrupt: Interrupt
    savepoint: Savepoint
    trace: HostedTrace = field(default_factory=HostedTrace)
    loops: list[LoopReport] = field(default_factory=list)
    depth: int = 0

    def body(self, items: tuple[Any, ...], iteration: int) -> None:
        for item in items:
            if isinstance(item, HostedLoop):
                self.loop(item)
                continue
            outcome = self.execute(item.executable, [self.things[slot] for slot in item.slots])
            # Rows of an inner loop have its iterations already.
            self.trace.add(outcome.trace, None if item.is_loop else iteration)
            if self.depth == 0:
                self.loops.extend(outcome.loops)

    def loop(self, hosted: HostedLoop) -> None:
        loop, limit = hosted.loop, self.value(hosted.loop.limit)
        if limit is None or limit < 1:
            raise InvalidValue(
                f"max_iterations={limit} must be at least 1: a body runs at least once"
            )
        if self.depth == 0:
            _forget_directions(self.things)
        done, reason = 0, "limit"
        while done < limit:
            which = done % len(hosted.bodies)
            self.iteration(hosted, which, done)
            done += 1
            if self.depth == 0:
                self.interrupt.completed = done
            condition = loop.conditions[which]
            goes_on = condition is None or self.value(condition)
            self.trace.pass_time()
            if not goes_on:
                reason = "condition"
                break
            if self.interrupt.seen:
                if self.depth:
                    raise KeyboardInterrupt
                break
        if self.depth == 0:
            self.loops.append(LoopReport(done, reason))
        if reason == "limit" and not loop.explicit_limit and not self.interrupt.seen:
            raise IterationLimit.by_default(int(limit))

    def iteration(self, hosted: HostedLoop, which: int, done: int) -> None:
        """Run one body; an outermost one is undone if it raises."""
        if self.depth == 0 and not hosted.leaves_nothing:
            written = {statement.out for statement in walk_statements((hosted.loop,))}
            outlive = [n for n in sorted(written) if self.program.slots[n].role != "temp"]
            self.savepoint.set([self.things[slot] for slot in outlive])
        self.depth += 1
        try:
            self.body(hosted.bodies[which], done)
        except BaseException:
            if self.depth == 1:
                self.savepoint.restore()
            raise
        finally:
            self.depth -= 1
            if self.depth == 0:
                self.savepoint.drop()

    def value(self, slot: int) -> Any:
        """Return a scalar's value; waits if it is on the device."""
        thing = self.things[slot]
        return get_scalar(thing).value if isinstance(thing, CudaScalar) else thing


def execute_hosted(
    runtime: Runtime, executable: HostedExecutable, bindings: list[Binding],
    execute: Callable[[Any, list[Binding]], Outcome],
) -> Outcome:  # fmt: skip
    """Run the pieces; waits once an iteration of each loop.

    Objects that a broken iteration wrote are as they were before it.
    """
    program, lone = executable.program, executable.lone
    if lone is not None and bindings[executable.body[0].loop.limit] == 1:
        # Nothing to take back, and its end is known beforehand: Ctrl-C could not end it earlier.
        outcome = execute(lone.executable, [bindings[slot] for slot in lone.slots])
        return Outcome(_ONCE, outcome.trace)
    things = list(bindings)
    for number, slot in enumerate(program.slots):
        if slot.role == "temp" and number not in executable.unmade:
            things[number] = _temporary(runtime, program, things, number)
    with Interrupt() as interrupt:
        run = _Run(runtime, program, things, execute, interrupt, Savepoint(runtime))
        run.body(executable.body, 0)
    return Outcome(tuple(run.loops), run.trace)


def _temporary(runtime: Runtime, program: Program, things: list[Any], number: int) -> Any:
    slot = program.slots[number]
    if slot.kind == "scalar":
        return put_scalar(runtime, ScalarArrays(slot.dtype, None))
    sides = [resolve_side(program, things, number, axis) for axis in range(len(slot.shape or ()))]
    if slot.kind == "vector":
        return put_vector(runtime, VectorArrays.empty(sides[0], slot.dtype))
    return CudaMatrix(
        runtime, sides[0], sides[1], 0, slot.dtype, False, None, None, np.dtype(np.int32)
    )


def _forget_directions(things: list[Binding]) -> None:
    """Start a loop without hysteresis: what ran before says nothing of products in it."""
    for thing in things:
        if isinstance(thing, CudaMatrix):
            thing.driven = UNDRIVEN
