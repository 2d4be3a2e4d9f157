"""Running a Program statement by statement, for the backends that interpret.

The interpreter owns what every backend would otherwise repeat: binding slots, choosing the
method by the plan's rule, loops, iteration limits, Ctrl-C, and undoing a broken iteration.
A backend brings a `KernelSet`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

from semira.backends.rules import compile_rule
from semira.base import interrupts
from semira.base.errors import InvalidValue, IterationLimit, Panic
from semira.contract import (
    PRODUCTS,
    LastRows,
    Loop,
    LoopReport,
    Method,
    Program,
    Slot,
    Statement,
    TraceRow,
)
from semira.contract.backend import Binding, Outcome
from semira.contract.plan import Plan
from semira.contract.trace import NO_ROWS
from semira.formats import ScalarArrays

_DIRECT = Plan("direct")

_DONE = Outcome((), NO_ROWS)

#: Where a statement stands: its loop and its position in the body. Bodies of one loop do the
#: same to renamed objects, so they share hysteresis.
Place = tuple[int, int]

#: Undoes one write in place; collected while an iteration runs.
Undo = Callable[[], None]


@dataclass(slots=True, eq=False)
class Cell:
    """A handle of an interpreting backend: a place whose contents statements replace."""

    device: str
    #: One of "matrix", "vector", "scalar".
    kind: str
    #: What the backend stores; None after `release`.
    data: Any
    #: Hysteresis of eager products driven by this vector: index of the last method and the number
    #: of entries then; -1 at first.
    method: int = -1
    frontier: int = -1

    def count_entries(self) -> int | None:
        """Return the number of entries if its backend's data tells."""
        return getattr(self.data, "nvals", None)

    def memory_usage(self) -> dict[str, int]:
        """Return the bytes of each array, as its backend's data tells."""
        if self.kind == "scalar":
            return {}
        if not hasattr(self.data, "memory_usage"):
            return {"object": sys.getsizeof(self.data)}
        held: dict[str, int] = self.data.memory_usage()
        return held


@dataclass(slots=True)
class MaskData:
    """A mask with its object's data; the flags are those of `contract.Mask`.

    `tests` is what the backend made of it, while the statement runs.
    """

    data: Any
    structural: bool
    complement: bool
    tests: Any = None


@dataclass(slots=True)
class Produced:
    """Result of an operation before accumulation: data, and matrix entries read."""

    data: Any
    touched: int = 0


class KernelSet(Protocol):
    """What an interpreting backend implements, on its own data objects."""

    def scalar(self, arrays: ScalarArrays) -> Any:
        """Return the data of a scalar; it must have an attribute ``value`` (None if empty)."""
        ...

    def empty(self, slot: Slot, shape: tuple[int, ...]) -> Any:
        """Return data without entries for a temporary."""
        ...

    def shape(self, data: Any) -> tuple[int, ...]:
        """Return ``()``, ``(size,)`` or ``(nrows, ncols)``."""
        ...

    def counts(
        self, name: str, statement: Statement, args: list[Any], mask: MaskData | None, out: Any
    ) -> float:
        """Return one of `contract.rule.COUNTS` for a product."""
        ...

    def compute(
        self, statement: Statement, method: Method, args: list[Any], mask: MaskData | None, out: Any
    ) -> Produced:
        """Return ``op(args)``.

        `args` holds the data of ``statement.args`` followed by one region per
        ``statement.indices``: None (all), ``(start, stop, step)``, or an array of positions.
        Entries that `mask` forbids may be present or absent: `finish` drops them. `out` is
        the output before the statement (for its shape and dtype; not to be changed).
        """
        ...

    def finish(
        self,
        statement: Statement,
        result: Any,
        mask: MaskData | None,
        out: Any,
        journal: list[Undo] | None,
    ) -> Any:
        """Return the output's new data: accumulate, apply the mask, replace, cast.

        ``Z = accum(out, result)`` (just `result` without accum); then ``out<mask> = Z``. The
        result of ``assign`` is already Z (with ``submask``, already the new output). May
        change `out` in place if nothing can fail afterwards; then, if `journal` is a list,
        what undoes the change is appended before the first write.
        """
        ...

    def nvals(self, data: Any) -> int:
        """Return the number of entries."""
        ...


class _Step:
    """A statement as it is run: what does not depend on objects is looked up once."""

    __slots__ = (
        "args", "driver", "is_new", "is_product", "mask", "methods", "out", "regions", "rule",
        "statement",
    )  # fmt: skip

    def __init__(self, statement: Statement) -> None:
        plan = statement.plan or _DIRECT
        self.statement, self.out, self.mask = statement, statement.out, statement.mask
        self.args = [arg.slot for arg in statement.args]
        self.regions = [spec.slot for spec in statement.indices]
        self.methods = plan.methods
        self.rule = compile_rule(plan.rule) if len(plan.methods) > 1 else None
        self.is_new = bool(statement.param("new"))
        self.is_product = statement.op in PRODUCTS
        #: Which argument is expanded by a push.
        self.driver = 1 if statement.op == "mxv" else 0


@dataclass(frozen=True, slots=True, eq=False)
class Interpreted:
    """An Executable that is its own Program."""

    program: Program
    #: Loops some of whose iterations the backend runs by itself; see `cpu.loops.native.NativeLoop`.
    loops: Mapping[int, Any] = field(default_factory=dict)
    #: Made as statements are met, which live as long as the program.
    steps: dict[int, _Step] = field(default_factory=dict)
    has_loops: bool = field(init=False)

    def __post_init__(self) -> None:
        has_loops = any(isinstance(item, Loop) for item in self.program.body)
        object.__setattr__(self, "has_loops", has_loops)

    def step_of(self, statement: Statement) -> _Step:
        """Return how a statement is run."""
        found = self.steps.get(id(statement))
        if found is None:
            found = self.steps[id(statement)] = _Step(statement)
        return found


@dataclass(slots=True)
class _Run:
    """State of one execution."""

    executable: Interpreted
    kernels: KernelSet
    cells: list[Any]
    clock_ns: int
    trace: LastRows = field(default_factory=LastRows)
    loops: list[LoopReport] = field(default_factory=list)
    journal: list[Undo] | None = None
    memory: dict[Place, tuple[int, int]] = field(default_factory=dict)
    completed: int = 0
    #: What runs iterations of each of these loops.
    native: dict[int, Any] = field(default_factory=dict)

    def data(self, slot: int) -> Any:
        cell = self.cells[slot]
        return cell.data if isinstance(cell, Cell) else cell


def execute(
    executable: Interpreted, bindings: list[Binding], kernels: KernelSet, device: str
) -> Outcome:
    """Run a program on `bindings` with the kernels of one backend."""
    program = executable.program
    pairs = zip(program.slots, bindings, strict=True)
    cells = [
        given
        if given.__class__ is Cell and given.data is not None
        else _bind(slot, given, kernels, device)
        for slot, given in pairs
    ]
    run = _Run(executable, kernels, cells, time.perf_counter_ns())
    if executable.has_loops:
        try:
            with interrupts.deferred():
                _run_body(run, program.body, 0, 0)
        except BaseException as error:
            # Whoever rebinds names after a loop needs to know how far it came.
            error.semira_iterations = run.completed  # type: ignore[attr-defined]
            raise
        finally:
            # They know the run: without this the garbage collector would free both.
            run.native.clear()
    else:
        _run_body(run, program.body, 0, 0)
    rows = run.trace.unread()
    return Outcome(tuple(run.loops), rows) if run.loops or rows is not NO_ROWS else _DONE


def _bind(slot: Slot, given: Binding, kernels: KernelSet, device: str) -> Any:
    if slot.role == "temp":
        return Cell(device, slot.kind, None)
    if slot.kind == "index":
        return given
    if isinstance(given, Cell):
        if given.data is None:
            raise Panic(f"a released {given.kind} was used")
        return given
    value = given
    if given is not None and given.__class__ is not slot.dtype.array_dtype.type:
        value = slot.dtype.scalar(given)
    return Cell(device, "scalar", kernels.scalar(ScalarArrays(slot.dtype, value)))


def _run_body(run: _Run, body: tuple[Statement | Loop, ...], iteration: int, loop: int) -> None:
    for position, item in enumerate(body):
        interrupts.check()
        if isinstance(item, Loop):
            _run_loop(run, item)
        else:
            _run_statement(run, item, iteration, (loop, position))


def _run_statement(run: _Run, statement: Statement, iteration: int, place: Place) -> None:
    step, cells, kernels = run.executable.step_of(statement), run.cells, run.kernels
    args = [cells[slot].data for slot in step.args]
    if step.regions:
        args += [None if slot is None else run.data(slot) for slot in step.regions]
    cell = cells[step.out]
    if step.is_new or cell.data is None:
        slot = run.executable.program.slots[step.out]
        cell.data = kernels.empty(slot, tuple(_length(run, part) for part in slot.shape or ()))
    out, mask = cell.data, None
    if step.mask is not None:
        given = step.mask
        mask = MaskData(cells[given.slot].data, given.structural, given.complement)
    chosen = 0 if step.rule is None else _choose(run, place, step, args, mask, out)
    method = step.methods[chosen]
    produced = kernels.compute(statement, method, args, mask, out)
    if not step.is_product:
        cell.data = kernels.finish(statement, produced.data, mask, out, run.journal)
        return
    frontier, made = kernels.nvals(args[step.driver]), kernels.nvals(produced.data)
    _remember(run, place, step, chosen, frontier)
    cell.data = kernels.finish(statement, produced.data, mask, out, run.journal)
    now_ns = time.perf_counter_ns()
    elapsed_ns, run.clock_ns = now_ns - run.clock_ns, now_ns
    run.trace.add(
        TraceRow(iteration, statement.op, method.name, frontier, produced.touched, made, elapsed_ns)
    )


def _length(run: _Run, part: tuple[int, int] | int) -> int:
    """Return one dimension of a temporary: a number, or an axis of a bound object or region."""
    if isinstance(part, int):
        return part
    slot, axis = part
    data = run.data(slot)
    if run.executable.program.slots[slot].kind == "index":
        return len(range(*data)) if isinstance(data, tuple) else len(data)
    return run.kernels.shape(data)[axis]


def _choose(
    run: _Run, place: Place, step: _Step, args: list[Any], mask: MaskData | None, out: Any
) -> int:
    if run.journal is not None:
        previous, frontier = run.memory.get(place, (-1, -1))
    else:
        cell = run.cells[step.args[step.driver]]
        previous, frontier = cell.method, cell.frontier

    known: dict[str, float] = {"previous_frontier": frontier}
    statement, counts = step.statement, run.kernels.counts

    def count(name: str) -> float:
        # A rule names a count more than once; some cost a pass over the frontier.
        if name not in known:
            known[name] = counts(name, statement, args, mask, out)
        return known[name]

    assert step.rule is not None
    return int(step.rule(count, previous))


def _remember(run: _Run, place: Place, step: _Step, chosen: int, frontier: int) -> None:
    if run.journal is not None:
        run.memory[place] = (chosen, frontier)
        return
    cell = run.cells[step.args[step.driver]]
    cell.method, cell.frontier = chosen, frontier
    # An eager loop often writes the next frontier into another vector.
    written = run.cells[step.out]
    written.method, written.frontier = chosen, frontier


_native_is_off: ContextVar[bool] = ContextVar("native_is_off", default=False)


@contextmanager
def interpreted_only() -> Iterator[None]:
    """Leave every iteration to the interpreter in the block.

    Its statements can be timed then, and what large graphs ask for is compiled.
    """
    before = _native_is_off.set(True)
    try:
        yield
    finally:
        _native_is_off.reset(before)


def _iterations_of(run: _Run, loop: Loop) -> Any:
    """Return what runs iterations of a loop beside the interpreter, or None."""
    native = None if _native_is_off.get() else run.executable.loops.get(id(loop))
    if native is None:
        return None
    before = run.native.get(id(loop))
    found = native.start(run, partial(_size, run), before, in_place=run.journal is None)
    if found is not None:
        run.native[id(loop)] = found
    return found


def _run_loop(run: _Run, loop: Loop) -> None:
    limit = run.data(loop.limit).value
    if limit is None or limit < 1:
        # A Scalar may hold anything.
        raise InvalidValue(f"max_iterations={limit} must be at least 1: a body runs at least once")
    limit, outer, done = int(limit), run.journal, 0
    native = _iterations_of(run, loop)
    while True:
        is_ended = False
        if native is not None:
            done, is_ended = native.advance(done, limit)
        if not is_ended and done < limit:
            which = done % len(loop.bodies)
            _run_iteration(run, loop, which, done, outer)
            done += 1
            condition = loop.conditions[which]
            is_ended = condition is not None and not run.data(condition).value
        if outer is None:
            run.completed = done
        if is_ended or done >= limit:
            break
        # The end of an iteration is the best place. An inner loop's outer iteration is undone.
        interrupts.check()
    reason = "condition" if is_ended else "limit"
    if outer is None:
        run.loops.append(LoopReport(done, reason))
    if reason == "limit" and not loop.explicit_limit:
        raise IterationLimit.by_default(limit)


def _size(run: _Run, slot: int) -> int:
    """Return the size of a temporary vector."""
    (part,) = run.executable.program.slots[slot].shape or (0,)
    if isinstance(part, tuple) and getattr(run.cells[part[0]], "data", part) is None:
        return _size(run, part[0])
    return _length(run, part)


def _run_iteration(
    run: _Run, loop: Loop, which: int, iteration: int, outer: list[Undo] | None
) -> None:
    """Run one body; undo it if it raises. Inner loops journal into the outer iteration."""
    if outer is not None:
        _run_body(run, loop.bodies[which], iteration, id(loop))
        return
    saved = [(cell, cell.data) for cell in run.cells if isinstance(cell, Cell)]
    run.journal = []
    try:
        _run_body(run, loop.bodies[which], iteration, id(loop))
    except BaseException:
        for undo in reversed(run.journal):
            undo()
        for cell, data in saved:
            cell.data = data
        raise
    finally:
        run.journal = None
