"""How two recordings of one loop body differ, and which objects stand in each other's places."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from reprlib import Repr
from typing import Any

import numpy as np

from semira.engine.calls import Call, Literal, LoopCall, Region
from semira.engine.places import Place, line_of
from semira.engine.values import Value

_SCALAR = (
    "Python values that change (a counter, a step size) must be Scalars made before the loop "
    "(`depth << depth + 1`)"
)
_LIMIT = "A limit that changes must be a Scalar made before the loop"
_POSITIONS = (
    "Positions that change must be values of a Vector made before the loop (`gather`, `scatter`), "
    "or entries of a mask"
)
_STEADY = (
    "A body must do the same each time that it is recorded: in place of an `if` or a `for` over "
    "what changes use a mask, `select` or a Scalar"
)
_TOGETHER = (
    "Names that a body rebinds must change places among themselves, as in `p, q = q, p`; else "
    "copy, `p << q`"
)

_short = Repr()
_short.maxstring = _short.maxother = 60


@dataclass(frozen=True, slots=True)
class Difference:
    """The first thing in which two recordings of a body differ."""

    #: What it is that differs.
    subject: str
    #: What it is in the first recording, and in the other one.
    had: str
    has: str
    remedy: str
    #: Of the call in the other recording; None if it is what the body returned.
    place: Place | None = None

    def __str__(self) -> str:
        # Two functions may have one name.
        has = "another one" if self.has == self.had else self.has
        return (
            f"{self.subject} is {self.had} in the first recording and {has} in a later one. "
            f"{self.remedy}"
        )


def differing_bodies(
    mine: list[Call | LoopCall], theirs: list[Call | LoopCall], pairs: dict[int, Value]
) -> Difference | None:
    """Return in what two lists of calls differ beside their objects, None if in nothing.

    `pairs` gets, by the id of each value of the first, the one that stands in its place.
    """
    for a, b in zip(mine, theirs, strict=False):
        found = _differing_calls(a, b, pairs)
        if found is not None:
            return found if found.place is not None else replace(found, place=b.place)
    if len(mine) == len(theirs):
        return None
    had, has = str(len(mine)), str(len(theirs))
    return Difference("the number of operations", had, has, _STEADY, _surplus(mine, theirs))


def _surplus(mine: list[Call | LoopCall], theirs: list[Call | LoopCall]) -> Place | None:
    """Return where the longer one of two lists has a call that the other has not."""
    shorter, longer = sorted((mine, theirs), key=len)
    for few, many in zip(shorter, longer, strict=False):
        if line_of(few.place) != line_of(many.place):
            return many.place
    return longer[len(shorter)].place


def differing_conditions(
    mine: Value | None, theirs: Value | None, pairs: dict[int, Value], subject: str
) -> Difference | None:
    """Return in what two conditions differ; see `differing_bodies`."""
    if mine is None or theirs is None:
        is_same = mine is theirs
        return None if is_same else Difference(subject, _named(mine), _named(theirs), _STEADY)
    return _differing_objects(mine, theirs, pairs, subject)


def _differing_calls(
    mine: Call | LoopCall, theirs: Call | LoopCall, pairs: dict[int, Value]
) -> Difference | None:
    if isinstance(mine, LoopCall) and isinstance(theirs, LoopCall):
        return _differing_loops(mine, theirs, pairs)
    had, has = _shown(mine), _shown(theirs)
    if had != has:
        first, other = line_of(mine.place), line_of(theirs.place)
        had = had if first == other else f"{had} ({first})"
        return Difference("an operation", had, has, _STEADY)
    assert isinstance(mine, Call)
    assert isinstance(theirs, Call)
    return (
        _differing_operands(mine, theirs, pairs)
        or _differing_regions(mine, theirs)
        or _differing_settings(mine, theirs)
        or _differing_masks(mine, theirs, pairs)
        or _differing_objects(mine.out, theirs.out, pairs, f"the result of {had}")
    )


def _shown(call: Call | LoopCall) -> str:
    if isinstance(call, LoopCall):
        return "`repeat`"
    return f"`{call.op}` with `.new()`" if call.new else f"`{call.op}`"


def _differing_loops(
    mine: LoopCall, theirs: LoopCall, pairs: dict[int, Value]
) -> Difference | None:
    limit = "`max_iterations` of an inner loop"
    if mine.explicit_limit != theirs.explicit_limit:
        had, has = ("given" if one.explicit_limit else "not given" for one in (mine, theirs))
        return Difference(limit, had, has, _STEADY)
    found = _differing_operand(mine.limit, theirs.limit, pairs, limit)
    if found is not None:
        return replace(found, remedy=_LIMIT)
    for a, b in zip(mine.bodies, theirs.bodies, strict=True):
        found = found or differing_bodies(a, b, pairs)
    for x, y in zip(mine.conditions, theirs.conditions, strict=True):
        found = found or differing_conditions(x, y, pairs, "the condition of an inner loop")
    return found


def _differing_operands(mine: Call, theirs: Call, pairs: dict[int, Value]) -> Difference | None:
    if len(mine.args) != len(theirs.args):
        subject = f"the number of operands of `{mine.op}`"
        return Difference(subject, str(len(mine.args)), str(len(theirs.args)), _STEADY)
    for (a, mine_turned), (b, theirs_turned) in zip(mine.args, theirs.args, strict=True):
        is_plain = isinstance(a, Literal) and isinstance(b, Literal)
        subject = f"{'a Python value in' if is_plain else 'an operand of'} `{mine.op}`"
        found = _differing_operand(a, b, pairs, subject)
        if found is not None:
            return found
        if mine_turned != theirs_turned:
            had, has = ("transposed" if one else "as it is" for one in (mine_turned, theirs_turned))
            return Difference(subject, had, has, _STEADY)
    return None


def _differing_operand(
    mine: Value | Literal, theirs: Value | Literal, pairs: dict[int, Value], subject: str
) -> Difference | None:
    if isinstance(mine, Value) and isinstance(theirs, Value):
        return _differing_objects(mine, theirs, pairs, subject)
    if isinstance(mine, Literal) and isinstance(theirs, Literal):
        had, has = _text(mine.value), _text(theirs.value)
        if mine.dtype is not theirs.dtype:
            had, has = f"{had} ({mine.dtype})", f"{has} ({theirs.dtype})"
        elif np.array_equal(mine.value, theirs.value, equal_nan=mine.dtype.kind in "FC"):
            return None
        return Difference(subject, had, has, _SCALAR)
    return Difference(subject, _named(mine), _named(theirs), _STEADY)


def _differing_objects(
    mine: Value, theirs: Value, pairs: dict[int, Value], subject: str
) -> Difference | None:
    kinds = [(value.kind, id(value.dtype), value.shape) for value in (mine, theirs)]
    if kinds[0] != kinds[1]:
        return Difference(subject, _named(mine), _named(theirs), _STEADY)
    before = pairs.setdefault(id(mine), theirs)
    if before is theirs:
        return None
    had = f"the same {mine.kind} as one before it"
    return Difference(subject, had, "another one", _TOGETHER)


def _differing_regions(mine: Call, theirs: Call) -> Difference | None:
    subject = f"an index of `{mine.op}`"
    if len(mine.regions) != len(theirs.regions):
        had, has = (str(len(call.regions)) for call in (mine, theirs))
        return Difference(f"the number of indices of `{mine.op}`", had, has, _STEADY)
    for a, b in zip(mine.regions, theirs.regions, strict=True):
        if not a.same_as(b):
            return Difference(subject, _region(a), _region(b), _POSITIONS)
    return None


def _differing_settings(mine: Call, theirs: Call) -> Difference | None:
    if (
        mine.hints == theirs.hints
        and mine.params == theirs.params
        and _plain(mine) == _plain(theirs)
    ):
        return None
    had, has = dict(_settings(mine)), dict(_settings(theirs))
    name = next(name for name in had | has if had.get(name) != has.get(name))
    subject = f"`{name}` of `{mine.op}`"
    return Difference(subject, _text(had.get(name)), _text(has.get(name)), _STEADY)


def _plain(call: Call) -> tuple[Any, ...]:
    return call.operator, call.accum, call.replace


def _settings(call: Call) -> Iterator[tuple[str, Any]]:
    yield from zip(("operator", "accum", "replace"), _plain(call), strict=True)
    yield from call.params
    yield from ((one.name, getattr(call.hints, one.name)) for one in fields(call.hints))


def _differing_masks(mine: Call, theirs: Call, pairs: dict[int, Value]) -> Difference | None:
    subject = f"the mask of `{mine.op}`"
    if mine.mask is None or theirs.mask is None or mine.mask[1:] != theirs.mask[1:]:
        had, has = _mask(mine), _mask(theirs)
        return None if had == has else Difference(subject, had, has, _STEADY)
    return _differing_objects(mine.mask[0], theirs.mask[0], pairs, subject)


def _mask(call: Call) -> str:
    if call.mask is None:
        return "None"
    value, is_structural, is_complement = call.mask
    return f"`{'~' if is_complement else ''}{value.kind}.{'S' if is_structural else 'V'}`"


def _region(region: Region) -> str:
    numbers = region.numbers
    if region.kind == "all":
        return "`:`"
    if region.kind == "range":
        return _text(slice(*numbers))
    return _text(numbers.tolist()[0] if region.kind == "one" else numbers.tolist())


def _named(operand: Value | Literal | None) -> str:
    if isinstance(operand, Value):
        shape = f" of shape {operand.shape}" if operand.shape else ""
        return f"a {operand.kind} of {operand.dtype}{shape}"
    return "None" if operand is None else f"the Python value {_text(operand.value)}"


def _text(given: Any) -> str:
    return _short.repr(given.item() if isinstance(given, np.generic) else given)
