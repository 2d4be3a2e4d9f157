"""What was read of a matrix, or made of it, before: it holds until the matrix is written."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from semira.base.config import config
from semira.engine import recording, trace
from semira.engine.values import Value
from semira.frontend import reading
from semira.frontend.call import Template
from semira.frontend.collection import Collection

#: Answers kept of a matrix: functions made anew for each question would add up.
_MOST = 64

#: What is kept: numbers of Python, which nobody can change.
_PLAIN = (bool, int, float, complex, type(None))


def value_of(operand: Any, what: str) -> Any:
    """Return the value of a scalar expression, None if empty.

    The reduction of a matrix, or of an operator applied to it, is not computed again. Somebody who
    watches what runs sees it run.
    """
    is_plain = recording.current() is None and not trace.is_watched() and config["autocompute"]
    found = _about(operand._template) if is_plain and operand._computed is None else None
    if found is None:
        return reading.scalar_value(operand, what)
    matrix, key = found
    # Taken before the matrix is read: whoever writes it meanwhile puts another one in its place.
    known = matrix.facts
    if key in known:
        return known[key]
    value = reading.scalar_value(operand, what)
    if isinstance(value, _PLAIN) and len(known) < _MOST:
        known[key] = value
    return value


def _about(template: Template) -> tuple[Value, tuple[Any, ...]] | None:
    """Return the one matrix that an expression is about, and what it asks; None if it is more."""
    if template.op != "reduce":
        return None
    key = [config["deterministic"]]
    while True:
        if len(template.args) != 1 or template.infix is not None:
            return None
        key += (template.op, template.operator, template.params, template.dtype)
        (given,) = template.args
        if given.kind != "matrix":
            return None
        inner = getattr(given, "_template", None)
        if inner is None:
            matrix, transposed = given._operand()
            return matrix, (*key, transposed)
        if inner.op != "apply":
            return None
        template = inner


Result = TypeVar("Result")

#: Marks these results among the facts of a matrix.
_DERIVED = object()


def cached(matrix: Value, key: Hashable, make: Callable[[], Result]) -> Result:
    """Return the result cached under `key`, or compute it; see `Matrix.derived`."""
    if matrix.lean is not None:
        return make()
    place = (_DERIVED, matrix.device or matrix.where, key)
    # Taken before anything is made: whoever writes the matrix meanwhile puts others in its place.
    known: dict[Any, Any] = matrix._facts or matrix.facts
    found: Any = known.get(place, _DERIVED)
    if found is _DERIVED:
        found = known[place] = make()
    return found  # type: ignore[no-any-return]


def derived_usage(matrix: Value) -> dict[str, int]:
    """Return the bytes of all cached results under one name; an empty dict without any."""
    made = [each for place, each in matrix.facts.items() if place[0] is _DERIVED]
    several = (tuple, list)
    parts = [part for each in made for part in (each if isinstance(each, several) else (each,))]
    sizes = [
        sum(x.memory_usage().values()) if isinstance(x, Collection) else getattr(x, "nbytes", 0)
        for x in parts
    ]
    return {"derived": sum(sizes)} if made else {}
