"""What the methods that have folders cost for a matrix: asked once, kept until it changes."""

from __future__ import annotations

import functools
import math

from semira.backends.registry import capabilities_of
from semira.base.errors import InvalidValue
from semira.contract import VERSION, Features, MethodRow, Rule, rows_with_cost
from semira.engine.values import Value
from semira.formats import MatrixArrays

#: Stands for the slot where methods are of no matrix.
NO_SLOT = -1

#: Of a matrix: operation and name of the methods that cost less than compressed rows.
Ranked = tuple[tuple[str, str], ...]


def cheaper_methods(numbers: dict[Value, int], device: str) -> tuple[tuple[int, Ranked], ...]:
    """Return the slots of matrices for which methods cost less than compressed rows, and these.

    `numbers` are the slots of what a program works on. Beside them are the methods that a rule
    weighs, under `NO_SLOT`.
    """
    found = []
    rows, weighed = _rows(device, VERSION[0])
    for value, number in numbers.items():
        if rows and value.kind == "matrix" and value.recording is None:
            ranked = _ranked(value, device, rows)
            if ranked:
                found.append((number, ranked))
    # Those that a rule weighs each time are in every plan: part of the key, of no matrix.
    return (*found, (NO_SLOT, weighed)) if weighed else tuple(found)


@functools.lru_cache(8)
def _rows(device: str, _version: int) -> tuple[tuple[tuple[str, MethodRow], ...], Ranked]:
    """Return the rows that a function weighs and `device` runs, and the names of a rule's."""
    runs, rows = capabilities_of(device).runs, tuple(rows_with_cost())
    by_rule = tuple((op, row.name) for op, row in rows if isinstance(row.cost, Rule))
    others = ((op, row) for op, row in rows if not isinstance(row.cost, Rule))
    is_about = ((op, row) for op, row in others if device in (row.costed_on or (device,)))
    return tuple((op, row) for op, row in is_about if runs(row.name)), by_rule


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
