"""Running calls: look up or prepare the executable, bind, execute."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any
from weakref import finalize

from semira.backends.registry import backend_for
from semira.base.memory import raise_with_figures
from semira.base.recent import Recent
from semira.contract import COSTED, Backend, Executable, Program
from semira.contract.backend import Outcome
from semira.engine import recording, trace, warm
from semira.engine.calls import Call, LoopCall, Lowering
from semira.engine.values import Value
from semira.engine.ways import Ways, cheaper_methods
from semira.plan import Facts, plan_program, weighed_beforehand

#: Prepared programs kept per process; the oldest go first.
_KEPT = 2048

_NO_FACTS = Facts()

REMEDY = (
    "the operands are unchanged. Release objects, use smaller ones or a mask, or another device"
)

_prepared: Recent[tuple[str, Program, Facts], Executable] = Recent(_KEPT)

#: What was known of the planned programs that are still alive, by identity: equal ones may differ.
_facts: dict[int, Facts] = {}


def submit(call: Call) -> None:
    """Record a call if a recording is in progress, else run it now."""
    record = recording.current()
    if record is not None:
        record.append(call)
        return
    key, asked = warm.read(call)
    methods: tuple[Any, ...] = ()
    if COSTED:
        methods = cheaper_methods(asked.numbers, asked.device)
        key += methods
    found = warm.look_up(key)
    if found is None:
        found = _find_call(call, key, asked.device, methods)
    carry_out(found, asked)


def _find_call(
    call: Call, key: tuple[Any, ...], device: str, methods: tuple[Any, ...]
) -> warm.Found:
    """Prepare the first call of its kind, or what weighs each of them before it is prepared."""
    program, backend = warm.lowered(call), backend_for(device)
    weighed = None if methods else weighed_beforehand(program, backend.capabilities())
    if weighed is None:
        facts = Facts(methods=methods) if methods else _NO_FACTS
        return warm.remember(key, program, backend, _prepare(device, program, facts))
    ways = Ways(weighed, lambda way: _prepare(device, program, Facts(way=way)))
    return warm.remember(key, program, backend, None, ways)


def run_loop(recorded: Callable[[], LoopCall], reading: warm.Reading) -> Outcome:
    """Run a recorded loop, `reading` being `warm.read_loop` of it.

    The recording itself is asked for only if no loop like it was prepared. Raises DeviceMismatch if
    values are placed on different devices. Raises OutOfMemory if an allocation failed: every object
    is as it was before the iteration.
    """
    return carry_out(*prepare_loop(recorded, reading))


def prepare_loop(
    recorded: Callable[[], LoopCall], reading: warm.Reading
) -> tuple[warm.Found, warm.Asked]:
    """Return what `run_loop` runs, and what its slots are to be bound to."""
    asked = warm.Asked(reading.bound, reading.numbers)
    methods = cheaper_methods(asked.numbers, asked.device) if COSTED else ()
    facts = (asked.device, *_known(asked), methods)
    short = None if reading.known_by is None else (reading.known_by, facts)
    found = None if short is None else warm.look_up(short)
    if found is None:
        found = _find_loop(recorded, reading, facts)
        if short is not None:
            assert found.executable is not None
            warm.remember(short, found.executable.program, found.backend, found.executable)
    return found, asked


def _find_loop(
    recorded: Callable[[], LoopCall],
    reading: warm.Reading,
    facts: tuple[str, tuple[int, ...], tuple[int, ...], tuple[Any, ...]],
) -> warm.Found:
    """Look a loop up by all that it is made of; prepare it the first time."""
    key, (device, empty, present, methods) = (*reading.key, *facts), facts
    found = warm.look_up(key)
    if found is None:
        program, known = _with_facts(recorded(), reading, empty, present, methods)
        executable = _prepare(device, program, known)
        found = warm.remember(key, program, backend_for(device), executable)
    return found


def loop_program(call: LoopCall, reading: warm.Reading) -> tuple[Program, Facts]:
    """Return the Program of a recorded loop, and what is known of its objects."""
    asked = warm.Asked(reading.bound, reading.numbers)
    methods = cheaper_methods(reading.numbers, asked.device) if COSTED else ()
    return _with_facts(call, reading, *_known(asked), methods)


def _with_facts(
    call: LoopCall,
    reading: warm.Reading,
    empty: tuple[int, ...],
    present: tuple[int, ...],
    methods: tuple[Any, ...],
) -> tuple[Program, Facts]:
    lowering = Lowering()
    program = lowering.program((lowering.loop(call),))
    given = _given(program, reading.bound)
    return program, Facts(frozenset(empty), given.union(present), "", methods)


def _known(asked: warm.Asked) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the vectors known to be empty and the scalars known to have a value, in order.

    Known to the host without asking a device.
    """
    empty: tuple[int, ...] = ()
    present: tuple[int, ...] = ()
    for value in asked.resting:
        kind, known = value.kind, value.known_nvals()
        if known == 0 and kind == "vector":
            empty += (asked.numbers[value],)
        elif known == 1 and kind == "scalar":
            present += (asked.numbers[value],)
    return empty, present


def _given(program: Program, bound: list[Any]) -> frozenset[int]:
    """Return the scalars bound to a literal that is not empty."""
    return frozenset(
        number
        for number, (slot, given) in enumerate(zip(program.slots, bound, strict=True))
        if slot.kind == "scalar" and given is not None and not isinstance(given, Value)
    )


def carry_out(found: warm.Found, asked: warm.Asked) -> Outcome:
    """Bind what was asked, run it, and let its values stay where they are now."""
    executable = found.executable
    if executable is None:
        assert found.ways is not None
        executable = found.ways.executable_for(asked.bound)
    try:
        if trace.has_listeners():
            outcome = _told(found.backend, executable, asked)
        else:
            outcome = _execute(found.backend, executable, asked)
    finally:
        for number in found.written:
            asked.bound[number].forget_facts()
    if asked.placed:
        for value in asked.numbers:
            value.device = asked.device
    trace.note(executable.program, outcome)
    return outcome


def _execute(backend: Backend, executable: Executable, asked: warm.Asked) -> Outcome:
    try:
        return backend.execute(executable, asked.bindings())
    except MemoryError as error:
        raise_with_figures(error, asked.device, REMEDY)


def _told(backend: Backend, executable: Executable, asked: warm.Asked) -> Outcome:
    """Run it, and tell the listeners what it took, or what stopped it."""
    before = _held_bytes(asked)
    start = perf_counter()
    failed: Exception | None = None
    try:
        return _execute(backend, executable, asked)
    except Exception as error:
        failed = error
        raise
    finally:
        elapsed_ms = (perf_counter() - start) * 1e3
        held = _held_bytes(asked)
        trace.tell(trace.Run(executable.program, elapsed_ms, held, held - before, failed))


def _held_bytes(asked: warm.Asked) -> int:
    return sum(sum(value.memory_usage().values()) for value in asked.numbers)


def facts_of(program: Program) -> Facts:
    """Return what was known of the objects of a planned program when it was prepared."""
    return _facts.get(id(program), _NO_FACTS)


def _prepare(device: str, program: Program, facts: Facts) -> Executable:
    key = (device, program, facts)
    found = _prepared.get(key)
    if found is None:
        backend = backend_for(device)
        planned = plan_program(program, backend.capabilities(), facts=facts)
        found = _prepared[key] = backend.prepare(planned)
        _facts[id(found.program)] = facts
        finalize(found.program, _facts.pop, id(found.program), None)
    return found
