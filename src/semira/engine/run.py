"""Running calls: look up or prepare the executable, bind, execute."""

from __future__ import annotations

from collections import OrderedDict
from time import perf_counter
from typing import Any

from semira.backends.registry import backend_for
from semira.base.errors import OutOfMemory
from semira.contract import Executable, Program
from semira.contract.backend import Outcome
from semira.engine import recording, trace
from semira.engine.calls import Call, LoopCall, Lowering
from semira.engine.values import Value, common_device
from semira.plan import Facts, plan_program

#: Prepared programs kept per process; the oldest go first.
_KEPT = 4096

_NO_FACTS = Facts()

_prepared: OrderedDict[tuple[str, Program, Facts], Executable] = OrderedDict()


def submit(call: Call) -> None:
    """Record a call if a recording is in progress, else run it now."""
    record = recording.current()
    if record is not None:
        record.append(call)
        return
    lowering = Lowering()
    body = (lowering.statement(call),)
    execute(lowering.program(body), lowering.bound)


def run_loop(call: LoopCall) -> Outcome:
    """Run a recorded loop."""
    lowering = Lowering()
    body = (lowering.loop(call),)
    program = lowering.program(body)
    return execute(program, lowering.bound, _facts(program, lowering.bound))


def _facts(program: Program, bound: list[Any]) -> Facts:
    """Return what the host knows of the bindings without asking a device."""
    empty, present = set(), set()
    for number, (slot, given) in enumerate(zip(program.slots, bound, strict=True)):
        known = given.known_nvals() if isinstance(given, Value) else int(given is not None)
        if known == 0 and slot.kind == "vector" and slot.role != "temp":
            empty.add(number)
        if known == 1 and slot.kind == "scalar":
            present.add(number)
    return Facts(frozenset(empty), frozenset(present))


def execute(program: Program, bound: list[Any], facts: Facts = _NO_FACTS) -> Outcome:
    """Prepare `program` for the device its values agree on, and run it.

    Raises
    ------
    DeviceMismatch
        Values are placed on different devices.
    OutOfMemory
        An allocation failed; every object is as it was before the statement (the iteration).
    """
    values = [given for given in bound if isinstance(given, Value)]
    device = common_device(values)
    backend = backend_for(device)
    executable = _prepare(device, program, facts)
    placed = any(value.device is not None for value in values)
    try:
        bindings = [
            given.handle_on(device) if isinstance(given, Value) else given for given in bound
        ]
        start = perf_counter()
        outcome = backend.execute(executable, bindings)
        elapsed_ms = (perf_counter() - start) * 1e3
    except OutOfMemory:
        raise
    except MemoryError as error:
        raise OutOfMemory(
            f"{device} ran out of memory ({error}); the operands are unchanged. "
            "Free objects, use smaller ones, or another device"
        ) from error
    if placed:
        for value in values:
            value.device = device
    trace.note(executable.program, outcome, elapsed_ms)
    return outcome


def _prepare(device: str, program: Program, facts: Facts) -> Executable:
    key = (device, program, facts)
    found = _prepared.get(key)
    if found is None:
        backend = backend_for(device)
        found = backend.prepare(plan_program(program, backend.capabilities(), facts=facts))
        _prepared[key] = found
        if len(_prepared) > _KEPT:
            _prepared.popitem(last=False)
    return found
