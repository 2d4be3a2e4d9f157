"""What the methods that have folders cost for a matrix: asked once, kept until it changes."""

from __future__ import annotations

import math
from typing import Any

from semira.backends.registry import backend_for
from semira.base.errors import InvalidValue
from semira.contract import Features, MethodRow, Rule, rows_with_cost
from semira.engine.values import Value
from semira.formats import MatrixArrays

#: Stands for the slot where methods are of no matrix.
NO_SLOT = -1

#: Of a matrix: operation and name of the methods that cost less than compressed rows.
Ranked = tuple[tuple[str, str], ...]


def cheaper_methods(numbers: dict[Value, int], device: str) -> tuple[tuple[int, Ranked], ...]:
    """Return the slots of matrices for which methods cost less than compressed rows, and these.

    Beside them are the methods that a rule weighs, under `NO_SLOT`.

    Parameters
    ----------
    numbers : dict of Value to int
        What a program works on, and its slots.
    device : str
    """
    found = []
    for value, number in numbers.items():
        if value.kind == "matrix" and value.recording is None:
            ranked = _ranked(value, device)
            if ranked:
                found.append((number, ranked))
    # Those that a rule weighs each time are in every plan: part of the key, of no matrix.
    weighed = tuple((op, row.name) for op, row in rows_with_cost() if isinstance(row.cost, Rule))
    return (*found, (NO_SLOT, weighed)) if weighed else tuple(found)


def _ranked(value: Value, device: str) -> Ranked:
    rows = tuple(
        (op, row)
        for op, row in rows_with_cost()
        if not isinstance(row.cost, Rule) and backend_for(device).capabilities().runs(row.name)
    )
    key = ("cheaper", device, tuple(id(row) for _, row in rows))
    facts = value.facts
    if key not in facts:
        facts[key] = _rank(value, rows) if rows else ()
    ranked: Ranked = facts[key]
    return ranked


def _rank(value: Value, rows: tuple[tuple[str, Any], ...]) -> Ranked:
    features = features_of(value)
    costs: dict[int, float] = {}
    found = []
    for op, row in rows:
        if id(row) not in costs:
            costs[id(row)] = _cost(row, features)
        if costs[id(row)] < features.nvals:
            found.append((costs[id(row)], op, row.name))
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
