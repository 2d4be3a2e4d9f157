"""The warm path of a call or loop: one look-up from what is asked to the prepared executable.

The key holds all that the Program of the call is made of (see `engine.calls.Lowering`): the
operation, operators by identity, kinds and dtypes, which of the objects are the same one, mask,
accumulator, parameters, pins and the device. It holds no sizes, values or storages: those are not
part of a Program either, and whoever executes it looks at them anew each time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from semira.base.recent import Recent
from semira.contract import Backend, Executable, Program
from semira.contract.hints import NO_HINTS
from semira.engine.calls import Call, Literal, LoopCall, Lowering, effective_hints
from semira.engine.values import Value, common_device, default_device, take_to
from semira.engine.ways import Ways

#: Calls remembered per process; the oldest go first.
_KEPT = 2048


@dataclass(frozen=True, slots=True)
class Found:
    """What calls of one kind are prepared as."""

    backend: Backend
    #: None where it depends on the call.
    executable: Executable | None
    #: Slots of the vectors and matrices that it writes.
    written: tuple[int, ...]
    #: What it depends on then.
    ways: Ways | None = None


#: The program is kept with its executable: its dtypes stay alive, so their ids stay theirs.
_known: Recent[tuple[Any, ...], tuple[Program, Found]] = Recent(_KEPT)


class Asked:
    """What the slots of a Program are to be bound to, and where."""

    __slots__ = ("bound", "device", "numbers", "placed", "resting")

    def __init__(self, bound: list[Any], numbers: dict[Value, int]) -> None:
        """Settle the device; raises DeviceMismatch if values are placed on different ones."""
        #: A Value, literal or index region for each slot.
        self.bound = bound
        #: Every value, and its slot.
        self.numbers = numbers
        #: Those that no device had when they were looked at.
        self.resting: list[Value] = []
        chosen: str | None = None
        home: str | None = None
        for value in numbers:
            where = value.device
            if where is None:
                home = home or value._home
            elif chosen is None:
                chosen = where
            elif chosen != where:
                common_device(numbers)
            if value._handle is None:
                self.resting.append(value)
        #: Whether one of them was placed, and where the values agree to work.
        self.placed = chosen is not None
        self.device = chosen or home or default_device()

    def bindings(self) -> list[Any]:
        """Return what the slots are bound to, objects as handles on the device."""
        device, numbers, bindings = self.device, self.numbers, self.bound.copy()
        if self.resting:
            take_to(device, self.resting)
        for value, number in numbers.items():
            handle = value._handle
            # A handle met before and after belongs to the home read in between: no lock.
            if value._home != device or handle is None or value._handle is not handle:
                handle = value.handle_on(device)
            bindings[number] = handle
        return bindings


class Reading:
    """What a call or a loop asks, read without building its Program."""

    __slots__ = ("bound", "key", "known_by", "numbers", "temporaries")

    def __init__(
        self,
        key: list[Any] | None = None,
        bound: list[Any] | None = None,
        numbers: dict[Value, int] | None = None,
        known_by: Any = None,
    ) -> None:
        #: All that the Program is made of.
        self.key: list[Any] = [] if key is None else key
        #: A Value, literal or index region for each slot; None for a temporary.
        self.bound: list[Any] = [] if bound is None else bound
        #: Every value that outlives the call, and its slot.
        self.numbers: dict[Value, int] = {} if numbers is None else numbers
        #: Those of a loop's body.
        self.temporaries: dict[Value, int] = {}
        #: Stands for the key, and is found sooner.
        self.known_by = known_by

    def add(self, value: Value) -> None:
        """Note where a value is read or written."""
        number = self.temporaries.get(value, self.numbers.get(value))
        if number is None:
            self.numbers[value] = len(self.bound)
            self.bound.append(value)
            self.key += (value.kind, id(value.dtype))
        else:
            self.key.append(number)

    def add_temporary(self, value: Value, shape: Any) -> None:
        """Note where a temporary is made."""
        number = self.temporaries.get(value)
        if number is None:
            self.temporaries[value] = len(self.bound)
            self.bound.append(None)
            self.key += ("new", value.kind, id(value.dtype), shape)
        else:
            self.key += ("new", number)

    def add_literal(self, given: Literal) -> None:
        """Note a literal."""
        self.key += (given.value is None, id(given.dtype))
        self.bound.append(given.value)

    def is_same(self, other: Reading) -> bool:
        """Whether `other` asks the same of the same objects and equal literals.

        False for equal literals and positions that only a closer look would find equal.
        """
        if self.key != other.key or len(self.bound) != len(other.bound):
            return False
        return all(
            mine is theirs
            or (mine.__class__ is theirs.__class__ and _is_equal_literal(mine, theirs))
            for mine, theirs in zip(self.bound, other.bound, strict=True)
        )


def _is_equal_literal(mine: Any, theirs: Any) -> bool:
    return isinstance(mine, (np.number, np.bool_, tuple)) and bool(mine == theirs)


def read(call: Call) -> tuple[tuple[Any, ...], Asked]:
    """Return the key of a call and what its slots are bound to.

    Raises DeviceMismatch if its values are placed on different devices.
    """
    reading = Reading()
    _read_call(call, reading)
    asked = Asked(reading.bound, reading.numbers)
    reading.key.append(asked.device)
    return tuple(reading.key), asked


def _read_call(call: Call, reading: Reading) -> None:
    """Add a call, its slots in the order of `engine.calls.Lowering`."""
    key, bound, hints = reading.key, reading.bound, effective_hints(call)
    key += (
        call.op, call.operator, call.accum, call.replace, call.params,
        None if hints is NO_HINTS else hints, len(call.args), len(call.regions),
    )  # fmt: skip
    for given, transposed in call.args:
        if isinstance(given, Literal):
            reading.add_literal(given)
        else:
            reading.add(given)
            key.append(transposed)
    for region in call.regions:
        key.append(region.kind)
        if region.kind != "all":
            bound.append(region.numbers)
    mask = call.mask
    if mask is None:
        key.append(None)
    else:
        reading.add(mask[0])
        key += mask[1:]
    if call.new and call.out.recording is not None:
        reading.add_temporary(call.out, call.shape)
    else:
        reading.add(call.out)


def read_loop(call: LoopCall, reading: Reading | None = None) -> Reading:
    """Return what a recorded loop asks."""
    reading = Reading() if reading is None else reading
    reading.key += ("loop", call.explicit_limit, len(call.bodies))
    if isinstance(call.limit, Literal):
        reading.add_literal(call.limit)
    else:
        reading.add(call.limit)
    for body in call.bodies:
        reading.key.append(len(body))
        for item in body:
            if isinstance(item, Call):
                _read_call(item, reading)
            else:
                read_loop(item, reading)
    for condition in call.conditions:
        if condition is None:
            reading.key.append(None)
        else:
            reading.add(condition)
    return reading


def look_up(key: tuple[Any, ...]) -> Found | None:
    """Return what a call asked before was prepared as, None for the first time."""
    found = _known.get(key)
    return None if found is None else found[1]


def remember(
    key: tuple[Any, ...],
    program: Program,
    backend: Backend,
    executable: Executable | None,
    ways: Ways | None = None,
) -> Found:
    """Keep what the first call of its kind has prepared, and return it."""
    written = tuple(
        number
        for number, slot in enumerate(program.slots)
        if slot.kind != "scalar" and slot.role in ("inout", "output")
    )
    found = Found(backend, executable, written, ways)
    _known[key] = (program, found)
    return found


def lowered(call: Call) -> Program:
    """Return the Program of a call; its slots are in the order of `Asked.bound`."""
    lowering = Lowering()
    return lowering.program((lowering.statement(call),))
