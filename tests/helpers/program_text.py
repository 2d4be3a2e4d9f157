"""Programs as lines of JSON and back: how the tests keep the list of what they ask for.

Operators and dtypes are written by name. What only lives in one process has no name: operators
made of Python functions, and dtypes that a test registered.
"""

from __future__ import annotations

import json
from dataclasses import fields, replace
from typing import Any

from semira.base.dtypes import DataType, lookup_dtype
from semira.base.errors import UnknownDtype
from semira.contract import Arg, Hints, IndexSpec, Loop, Mask, Program, Slot, Statement
from semira.ops import TypedMonoid, TypedOp, TypedSemiring
from semira.ops.registry import look_up
from semira.plan import Facts

_OPERATORS = (TypedOp, TypedMonoid, TypedSemiring)


class HasNoText(ValueError):  # noqa: N818 - an answer, not a mistake
    """A program holds an operator or a dtype that no other process can find by name."""


def to_line(program: Program, facts: Facts) -> str:
    """Return a program without its plans, and what was known of its bindings but for its way.

    Raises
    ------
    HasNoText
        An operator is made of a Python function, or a dtype is user-defined.
    """
    data = {
        "slots": [_slot(slot) for slot in program.slots],
        "body": [_item(item) for item in program.body],
    }
    if replace(facts, way="") != Facts():
        data["facts"] = [sorted(facts.empty), sorted(facts.present)]
    return json.dumps(data, separators=(",", ":"))


def from_line(line: str) -> tuple[Program, Facts]:
    """Return the program and the facts that `to_line` wrote."""
    data = json.loads(line)
    slots = tuple(
        Slot(kind, lookup_dtype(dtype), role, _shape(shape))
        for kind, dtype, role, shape in data["slots"]
    )
    empty, present = data.get("facts", ((), ()))
    program = Program(slots, tuple(_read_item(item) for item in data["body"]))
    return program, Facts(frozenset(empty), frozenset(present))


# writing -----------------------------------------------------------------------------------------
def _slot(slot: Slot) -> list[Any]:
    return [slot.kind, _dtype(slot.dtype), slot.role, slot.shape]


def _dtype(dtype: DataType) -> str:
    try:
        if lookup_dtype(dtype.name) is dtype:
            return dtype.name
    except UnknownDtype:
        pass
    raise HasNoText(dtype.name)


def _item(item: Statement | Loop) -> dict[str, Any]:
    if isinstance(item, Loop):
        return {
            "bodies": [[_item(inner) for inner in body] for body in item.bodies],
            "conditions": item.conditions,
            "limit": item.limit,
            "explicit": item.explicit_limit,
        }
    hints = {
        field.name: getattr(item.hints, field.name)
        for field in fields(Hints)
        if getattr(item.hints, field.name) not in (None, ())
    }
    mask = item.mask
    data = {
        "op": item.op,
        "out": item.out,
        "args": [[arg.slot, arg.transposed] for arg in item.args],
        "operator": _value(item.operator),
        "mask": mask and [mask.slot, mask.structural, mask.complement],
        "accum": _value(item.accum),
        "replace": item.replace,
        "indices": [[spec.kind, spec.slot] for spec in item.indices],
        "params": {name: _value(value) for name, value in item.params},
        "hints": hints,
    }
    return {name: value for name, value in data.items() if value or name in ("out", "args")}


def _value(value: Any) -> Any:
    """Return an operator by name; other parameters are numbers, text or truth values."""
    if not isinstance(value, _OPERATORS):
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        raise HasNoText(repr(value))
    text = {"typed": [value.opclass, value.parent.name, _dtype(value.type)]}
    try:
        found = _read_value(text)
    except KeyError:
        found = None
    if found is not value:
        raise HasNoText(value.key)
    return text


# reading -----------------------------------------------------------------------------------------
def _shape(shape: Any) -> Any:
    if shape is None:
        return None
    return tuple(tuple(part) if isinstance(part, list) else part for part in shape)


def _read_item(data: dict[str, Any]) -> Statement | Loop:
    if "bodies" in data:
        bodies = tuple(tuple(_read_item(item) for item in body) for body in data["bodies"])
        return Loop(bodies, tuple(data["conditions"]), data["limit"], data["explicit"])
    mask = data.get("mask")
    return Statement(
        data["op"],
        data["out"],
        tuple(Arg(slot, transposed) for slot, transposed in data["args"]),
        _read_value(data.get("operator")),
        mask and Mask(mask[0], structural=mask[1], complement=mask[2]),
        _read_value(data.get("accum")),
        data.get("replace", False),
        tuple(IndexSpec(kind, slot) for kind, slot in data.get("indices", ())),
        tuple((name, _read_value(value)) for name, value in data.get("params", {}).items()),
        Hints(**data.get("hints", {})),
    )


def _read_value(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    opclass, name, dtype = value["typed"]
    return look_up(opclass, name).computing_in(lookup_dtype(dtype))
