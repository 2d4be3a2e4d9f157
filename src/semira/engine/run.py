"""Running calls: look up or prepare the executable, bind, execute."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from semira.backends.registry import backend_for
from semira.base.errors import OutOfMemory
from semira.contract import Executable, Program
from semira.contract.backend import Outcome
from semira.engine import recording, trace
from semira.engine.calls import Call, Literal, LoopCall, Lowering
from semira.engine.values import Value, common_device
from semira.plan import plan_program

#: Prepared programs kept per process; the oldest go first.
_KEPT = 4096

_prepared: OrderedDict[tuple[str, Program], Executable] = OrderedDict()


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
    return execute(lowering.program(body), lowering.bound)


def execute(program: Program, bound: list[Any]) -> Outcome:
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
    executable = _prepare(device, program)
    placed = any(value.device is not None for value in values)
    bindings = [given.handle_on(device) if isinstance(given, Value) else given for given in bound]
    if placed:
        for value in values:
            value.device = device
    try:
        outcome = backend.execute(executable, bindings)
    except OutOfMemory:
        raise
    except MemoryError as error:
        raise OutOfMemory(
            f"{device} ran out of memory ({error}); the operands are unchanged. "
            "Free objects, use smaller ones, or another device"
        ) from error
    trace.note(executable.program, outcome)
    return outcome


def _prepare(device: str, program: Program) -> Executable:
    key = (device, program)
    found = _prepared.get(key)
    if found is None:
        backend = backend_for(device)
        found = backend.prepare(plan_program(program, backend.capabilities()))
        _prepared[key] = found
        if len(_prepared) > _KEPT:
            _prepared.popitem(last=False)
    return found


def literal(dtype: Any, value: Any) -> Literal:
    """Return a literal of a dtype."""
    return Literal(dtype, value)
