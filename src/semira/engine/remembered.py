"""Recordings of loop bodies that would come out the same: kept, and bound to other objects.

A key says all that a recording depends on but the contents of its objects (`frontend.bodies` makes
it). What is kept is the reading of the loop, with numbers in the place of objects.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from semira.base.recent import Recent
from semira.engine.calls import Literal
from semira.engine.values import Value
from semira.engine.warm import Reading

#: Recordings kept per process; the oldest go first.
_KEPT = 1024


@dataclass(slots=True, eq=False)
class Described:
    """What a loop body depends on."""

    #: Equal for bodies that record the same of their objects, in the order of `values`.
    key: list[Any]
    #: Objects that the body reaches, each once.
    values: list[Value]
    #: What the key knows by its id, beside the dtypes of `values`.
    kept: list[Any]

    def add_limit(self, limit: Value | Literal, *, explicit: bool) -> None:
        """Become the description of the loop with its limit on iterations."""
        self.key.append(explicit)
        if limit.__class__ is Value:
            # The value of a literal is bound anew each time.
            at = self.values.index(limit) if limit in self.values else len(self.values)
            self.key += (at, id(limit.dtype))
            self.values.append(limit)


@dataclass(slots=True, eq=False)
class _Kept:
    """The reading of a loop without its objects."""

    #: Of the reading.
    key: list[Any]
    #: Of the reading, None in the place of objects.
    bound: list[Any]
    #: Slots of objects, and which of the described values they are bound to.
    slots: tuple[int, ...]
    places: tuple[int, ...]
    #: What both keys know by its id.
    alive: tuple[Any, ...]


_kept: Recent[tuple[Any, ...], _Kept] = Recent(_KEPT)


def recall(asked: Described, limit: Value | Literal) -> Reading | None:
    """Return the reading of a loop like one recorded before, on the objects of this one."""
    found = _kept.get(tuple(asked.key))
    if found is None:
        return None
    bound = found.bound.copy()
    if limit.__class__ is Literal:
        # The first slot of a loop is its limit.
        bound[0] = limit.value
    numbers = dict(zip(map(asked.values.__getitem__, found.places), found.slots, strict=True))
    for value, slot in numbers.items():
        bound[slot] = value
    return Reading(found.key, bound, numbers, found)


def remember(asked: Described, reading: Reading) -> None:
    """Keep a recording, unless it uses objects that are not described."""
    numbers = {value: number for number, value in reversed(list(enumerate(asked.values)))}
    if not reading.numbers.keys() <= numbers.keys():
        return
    slots, bound = tuple(reading.numbers.values()), list(reading.bound)
    for slot in slots:
        bound[slot] = None
    places = tuple(map(numbers.__getitem__, reading.numbers))
    dtypes = [value.dtype for value in (*asked.values, *reading.temporaries)]
    _kept[tuple(asked.key)] = _Kept(reading.key, bound, slots, places, (*asked.kept, *dtypes))


#: How often recordings were forgotten: one kept elsewhere is of no use after that.
GENERATION = [0]


def forget_recordings() -> None:
    """Record every body anew: a name in one may have come to mean something else."""
    _kept.clear()
    GENERATION[0] += 1
