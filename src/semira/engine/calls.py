"""Calls: one operation on values, before it becomes a Statement over slots."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from semira.base.config import config
from semira.base.dtypes import INT64, DataType
from semira.base.errors import PlanError
from semira.contract import (
    PRODUCTS,
    VARIANTS,
    Arg,
    Hints,
    IndexSpec,
    Loop,
    Mask,
    Program,
    Slot,
    Statement,
    row_of,
)
from semira.contract.hints import NO_HINTS
from semira.engine.places import Place
from semira.engine.values import Value


@dataclass(slots=True, eq=False)
class Literal:
    """A scalar known on the host, bound when the program runs; nothing changes it."""

    dtype: DataType
    value: Any


@dataclass(frozen=True, slots=True)
class Region:
    """How one axis is indexed: `kind` of `contract.IndexSpec`, and its numbers."""

    kind: str
    numbers: Any = None

    def same_as(self, other: Region) -> bool:
        """Whether both name the same positions."""
        return self.kind == other.kind and bool(np.array_equal(self.numbers, other.numbers))


ALL = Region("all")


@dataclass(slots=True, eq=False)
class Call:
    """``out<mask, replace> accum= op(args)`` on values."""

    op: str
    out: Value
    #: Each with whether it is transposed.
    args: tuple[tuple[Value | Literal, bool], ...]
    operator: Any = None
    #: The mask, whether it is structural, and whether it is complemented.
    mask: tuple[Value, bool, bool] | None = None
    accum: Any = None
    replace: bool = False
    regions: tuple[Region, ...] = ()
    params: tuple[tuple[str, Any], ...] = ()
    hints: Hints = NO_HINTS
    #: The output was made for this call and holds nothing yet.
    new: bool = False
    #: For a `new` output: where each dimension comes from, ``(argument number, axis)``, a `Region`
    #: number as ``("region", axis)``, or an int.
    shape: tuple[Any, ...] | None = None
    #: Where a recorded call stands in the user's code.
    place: Place | None = None

    def values(self) -> list[Value]:
        """Return every value the call touches, the output first."""
        found = [self.out, *[arg for arg, _ in self.args if isinstance(arg, Value)]]
        return found if self.mask is None else [*found, self.mask[0]]


def effective_hints(call: Call) -> Hints:
    """Return the hints of a call, those that an option sets included."""
    hints = call.hints
    if hints.deterministic is None and config["deterministic"]:
        hints = replace(hints, deterministic=True)
    if call.op not in ("vxm", "mxv"):
        return hints
    for name in VARIANTS:
        chosen = config[name]
        if chosen != "auto" and getattr(hints, name) is None:
            hints = replace(hints, **{name: chosen == "on"})
    return hints


@dataclass(slots=True, eq=False)
class LoopCall:
    """A recorded loop: bodies, the value of each body's condition, and the limit."""

    bodies: list[list[Call | LoopCall]]
    conditions: list[Value | None]
    limit: Value | Literal
    explicit_limit: bool
    place: Place | None = None


@dataclass(slots=True)
class Lowering:
    """Turns calls into a Program and the list of what its slots are bound to."""

    slots: list[Slot] = field(default_factory=list)
    bound: list[Any] = field(default_factory=list)
    numbers: dict[int, int] = field(default_factory=dict)

    def slot_of(self, value: Value, role: str = "input") -> int:
        """Return the slot of a value; writing to it makes it ``inout``."""
        number = self.numbers.get(id(value))
        if number is None:
            number = self._add(Slot(value.kind, value.dtype, role), value)
            self.numbers[id(value)] = number
        elif role != "input" and self.slots[number].role == "input":
            self.slots[number] = Slot(value.kind, value.dtype, role)
        return number

    def _add(self, slot: Slot, bound: Any) -> int:
        self.slots.append(slot)
        self.bound.append(bound)
        return len(self.slots) - 1

    def operand(self, given: Value | Literal) -> int:
        """Return the slot of an operand."""
        if isinstance(given, Literal):
            return self._add(Slot("scalar", given.dtype), given.value)
        return self.slot_of(given)

    def region(self, region: Region) -> IndexSpec:
        """Return the spec of a region, its numbers bound to a slot of their own."""
        if region.kind == "all":
            return IndexSpec("all")
        return IndexSpec(region.kind, self._add(Slot("index", INT64), region.numbers))

    def statement(self, call: Call) -> Statement:
        """Return the Statement of a call."""
        args = tuple(Arg(self.operand(arg), transposed) for arg, transposed in call.args)
        specs = tuple(self.region(region) for region in call.regions)
        mask = None
        if call.mask is not None:
            mask = Mask(self.slot_of(call.mask[0]), call.mask[1], call.mask[2])
        params = call.params
        if call.out.recording is not None and call.new:
            out = self._temporary(call, args, specs)
            params = (*params, ("new", True))
        else:
            out = self.slot_of(call.out, "inout")
        return Statement(
            call.op,
            out,
            args,
            call.operator,
            mask,
            call.accum,
            call.replace,
            specs,
            params,
            effective_hints(call),
        )

    def _temporary(self, call: Call, args: tuple[Arg, ...], specs: tuple[IndexSpec, ...]) -> int:
        number = self.numbers.get(id(call.out))
        if number is not None:
            return number
        shape = tuple(self._dimension(part, args, specs) for part in call.shape or ())
        number = self._add(Slot(call.out.kind, call.out.dtype, "temp", shape), None)
        self.numbers[id(call.out)] = number
        return number

    def _dimension(
        self, part: Any, args: tuple[Arg, ...], specs: tuple[IndexSpec, ...]
    ) -> tuple[int, int] | int:
        if isinstance(part, int):
            return part
        source, axis = part
        if source == "region":
            slot = specs[axis].slot
            return (args[0].slot, axis) if slot is None else (slot, 0)
        return args[source].slot, axis

    def body(self, calls: list[Call | LoopCall]) -> tuple[Statement | Loop, ...]:
        """Return the statements of a list of calls."""
        return tuple(
            self.statement(call) if isinstance(call, Call) else self.loop(call) for call in calls
        )

    def loop(self, call: LoopCall) -> Loop:
        """Return the Loop of a recorded loop."""
        limit = self.operand(call.limit)
        bodies = tuple(self.body(body) for body in call.bodies)
        conditions = tuple(
            None if condition is None else self.slot_of(condition) for condition in call.conditions
        )
        return Loop(bodies, conditions, limit, call.explicit_limit)

    def program(self, body: tuple[Statement | Loop, ...]) -> Program:
        """Return the Program over the slots met so far."""
        return Program(tuple(self.slots), body)


def lean_hints(op: str, args: tuple[Any, ...], hints: Hints) -> Hints:
    """Return the hints of a product, its matrix storage pinned to what lean operands keep.

    What the call pins itself stays, ``matrix_storage`` or a method with a folder:
    ``matrix_storage="both"`` lets one call transpose. Raises PlanError if the operands keep
    different orientations.
    """
    if op not in PRODUCTS or hints.matrix_storage is not None:
        return hints
    row = row_of(op, hints.method)
    if row is not None and row.keeps != ():
        # It is made of whichever orientation there is.
        return hints
    kept = {arg.lean for arg, _ in args if getattr(arg, "lean", None) is not None}
    if not kept:
        return hints
    if len(kept) > 1:
        raise PlanError(
            f"{op} of a matrix that keeps csr and one that keeps csc (memory='lean'); give one "
            "memory='fast', or pass matrix_storage='both' to transpose for this call"
        )
    return replace(hints, matrix_storage=kept.pop())
