"""What is weighed before a call: the way of a product, and the methods that a matrix pays for."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

from semira.backends.registry import capabilities_of
from semira.base.errors import InvalidValue
from semira.contract import VERSION, Executable, Features, MethodRow, Rule, rows_with_cost
from semira.engine.values import Value
from semira.formats import MatrixArrays
from semira.plan import Beforehand

#: Counts whose way is kept for each kind of call.
_KEPT = 1024

#: Leading bits of a vector's entries that count: a rule takes much of what a call does, so that a
#: loop whose frontier is another each time asks it once for each eighth of a doubling.
_BITS = 4


def way_of(weighed: Beforehand, bound: Sequence[Any]) -> str:
    """Return the way of a product with what its slots are bound to.

    Empty where the host does not know how many entries an operand has.
    """
    counts = _counts(weighed, bound)
    return "" if counts is None else weighed.way(*counts)


class Ways:
    """The executables of one kind of call: for each way that it went, and for an open choice.

    `prepare` takes a way, or an empty text for the choice, and returns the executable.
    """

    __slots__ = ("_chosen", "_made", "_prepare", "_weighed")

    def __init__(self, weighed: Beforehand, prepare: Callable[[str], Executable]) -> None:
        self._weighed = weighed
        self._prepare = prepare
        self._made: dict[str, Executable] = {}
        self._chosen: dict[tuple[int, int, int, int] | None, str] = {None: ""}

    def executable_for(self, bound: Sequence[Any]) -> Executable:
        """Return what to execute with what slots are bound to; it is prepared the first time."""
        counts = _counts(self._weighed, bound)
        way = self._chosen.get(counts)
        if way is None:
            assert counts is not None
            if len(self._chosen) > _KEPT:
                self._chosen = {None: ""}
            way = self._chosen[counts] = self._weighed.way(*counts)
        executable = self._made.get(way)
        if executable is None:
            executable = self._made[way] = self._prepare(way)
        return executable


def _counts(weighed: Beforehand, bound: Sequence[Any]) -> tuple[int, int, int, int] | None:
    """Return the arguments of `Beforehand.way`, the first about, if the host knows them."""
    vector, matrix = bound[weighed.vector], bound[weighed.matrix]
    frontier, nnz = vector.last_count(), matrix.last_count()
    if frontier is None or nnz is None:
        return None
    less = max(0, frontier.bit_length() - _BITS)
    return frontier >> less << less, vector.shape[0], bound[weighed.out].shape[0], nnz


#: Stands for the slot where methods are of no matrix.
NO_SLOT = -1

#: Of a matrix: operation and name of the methods that cost less than compressed rows.
Ranked = tuple[tuple[str, str], ...]


def cheaper_methods(numbers: dict[Value, int], device: str) -> tuple[tuple[int, Ranked], ...]:
    """Return the slots of matrices for which methods cost less than compressed rows, and these.

    `numbers` are the slots of what a program works on. Beside them are the methods that a rule
    weighs, under `NO_SLOT`.
    """
    rows, always = _rows(device, VERSION[0])
    if not rows:
        return always
    found = []
    for value, number in numbers.items():
        if value.kind == "matrix" and value.recording is None:
            ranked = _ranked(value, device, rows)
            if ranked:
                found.append((number, ranked))
    return (*found, *always)


@functools.lru_cache(8)
def _rows(
    device: str, _version: int
) -> tuple[tuple[tuple[str, MethodRow], ...], tuple[tuple[int, Ranked], ...]]:
    """Return the rows that a function weighs and `device` runs, and what is found of each program.

    Those that a rule weighs each time are in every plan: part of the key, of no matrix.
    """
    runs, rows = capabilities_of(device).runs, tuple(rows_with_cost())
    by_rule = tuple((op, row.name) for op, row in rows if isinstance(row.cost, Rule))
    others = ((op, row) for op, row in rows if not isinstance(row.cost, Rule))
    is_about = ((op, row) for op, row in others if device in (row.costed_on or (device,)))
    weighed = tuple((op, row) for op, row in is_about if runs(row.name))
    return weighed, ((NO_SLOT, by_rule),) if by_rule else ()


def _ranked(value: Value, device: str, rows: tuple[tuple[str, MethodRow], ...]) -> Ranked:
    facts, key = value.facts, ("cheaper", device, VERSION[0])
    found: Ranked | None = facts.get(key)
    if found is None:
        facts["products"] = seen = facts.get("products", 0) + 1
        due = tuple((op, row) for op, row in rows if row.from_product <= seen)
        found = _rank(value, due, device)
        if len(due) == len(rows):
            facts[key] = found
    return found


def _rank(value: Value, rows: tuple[tuple[str, MethodRow], ...], device: str) -> Ranked:
    found, facts, features = [], value.facts, None
    for op, row in rows:
        key = ("cost", device, VERSION[0], id(row))
        if key not in facts:
            features = features or features_of(value)
            cost = _cost(row, features)
            facts[key] = cost if cost < features.nvals else math.inf
        if facts[key] < math.inf:
            found.append((facts[key], op, row.name))
    return tuple((op, name) for _, op, name in sorted(found))


def _cost(row: MethodRow, features: Features) -> float:
    assert callable(row.cost)
    try:
        cost = row.cost(features)
        found = math.inf if cost is None else float(cost)
    except (TypeError, ValueError, ArithmeticError) as error:
        raise InvalidValue(f"the cost of method {row.name!r} failed: {error}") from error
    if not found >= 0:
        raise InvalidValue(f"the cost of method {row.name!r} is {cost!r}; return a number >= 0")
    return found


def features_of(value: Value) -> Features:
    """Return what a cost may ask of a matrix; may wait for the device to count its entries."""

    def arrays() -> MatrixArrays:
        held = value.read()
        assert isinstance(held, MatrixArrays)
        return held

    nvals, iso = value.known_nvals(), bool(getattr(value._arrays, "iso", False))
    if nvals is None:
        nvals = value.count_entries()
    if nvals is None:
        held = arrays()
        nvals, iso = held.nvals, held.iso
    nrows, ncols = value.shape
    return Features(nrows, ncols, nvals, value.dtype.itemsize, iso, arrays)
