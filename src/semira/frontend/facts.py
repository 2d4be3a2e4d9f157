"""Numbers about a matrix that were read before: they hold until the matrix is written.

Algorithms check their argument on each call (is a weight negative?), and it hardly ever changes.
"""

from __future__ import annotations

from typing import Any

from semira.base.config import config
from semira.engine import recording, trace
from semira.engine.values import Value
from semira.frontend import reading
from semira.frontend.call import Template

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
