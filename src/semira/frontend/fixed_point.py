"""Fixed points of a product: by the device itself, or by a loop over what has improved."""

from __future__ import annotations

import math
import sys
from typing import Any

from semira.base.errors import DimensionMismatch, DomainMismatch, InvalidValue, IterationLimit
from semira.engine import recording
from semira.engine.rearranging import fixed_point, has_fixed_points
from semira.frontend import reading
from semira.frontend.checks import expect
from semira.frontend.kinds import OBJECTS, provides
from semira.frontend.operators import as_semiring
from semira.frontend.repeat import repeat
from semira.ops.registry import binary, monoid, select

#: Mean values of the matrix that the window of ``min_plus`` is wide (docs/decisions/0040).
MEANS = 16

#: The widest window: all finite numbers.
FARTHEST = sys.float_info.max

#: Monoids whose order of additions does not matter, and which end on finitely many values.
_MONOIDS = ("min", "max")


@provides
def settle(w: Any, a: Any, op: Any, width: float | None) -> int:
    """Change a vector to the fixed point of ``w = w (+) w (+).(*) A``; see `Vector.fixed_point`."""
    recording.refuse_host_read("fixed_point runs to its end at once", "do it before the loop")
    expect(a, ("matrix",), "other", "Vector.fixed_point")
    if a.shape != (w.size, w.size):
        raise DimensionMismatch(
            f"fixed_point: a Matrix of shape {a.shape} for a Vector of size {w.size}; it must be "
            "square and as large"
        )
    typed = as_semiring(op, w.dtype, a.dtype)
    _check_semiring(typed, w.dtype)
    if width is not None and not width >= 0:
        raise InvalidValue(f"fixed_point: width={width!r} must not be negative")
    if w.size == 0:
        return 0
    value, matrix = w._value, a._operand()
    if has_fixed_points((value, matrix[0])):
        wide = _default_width(a, typed) if width is None else float(min(width, FARTHEST))
        found = fixed_point(value, matrix, typed, wide)
        if found is not None:
            reading.replace_contents(w, found[0])
            return found[1]
    return _loop(w, a, typed)


def _check_semiring(typed: Any, dtype: Any) -> None:
    add = typed.monoid
    if add.parent.binaryop not in [monoid[name].binaryop for name in _MONOIDS]:
        raise DomainMismatch(
            f"fixed_point: the monoid {add.parent.name} is neither min nor max; write the loop "
            "with `repeat`"
        )
    if typed.return_type != dtype or not (dtype.is_integer or dtype.is_float):
        raise DomainMismatch(
            f"fixed_point: {typed!r} makes {typed.return_type}, the vector holds {dtype}; it takes "
            f"numbers, of the dtype of the result: w.dup({str(typed.return_type)!r})"
        )


def _default_width(a: Any, typed: Any) -> float:
    """Return the width of the window where values are added, by their mean; else none."""
    if typed.binaryop.parent is not binary["plus"] or typed.monoid.parent.name != "min":
        return 0.0
    if not (a.dtype.is_integer or a.dtype.is_float):
        return 0.0

    def mean() -> float:
        entries = int(a.nvals)
        total = a.reduce_scalar(monoid["plus"]["FP64"], allow_empty=False).value
        return float(total) / max(entries, 1)

    derived = getattr(a, "derived", None)
    found = mean() if derived is None else derived("mean of values", mean)
    return MEANS * found if 0 < found < math.inf else 0.0


def _loop(w: Any, a: Any, typed: Any) -> int:
    """Multiply what has improved until nothing has."""
    # Not `w` itself: it stays as it is if this does not end.
    result, active = w.dup(), w.dup()
    vector = OBJECTS["vector"]
    held, is_least = vector(w.dtype, w.size), typed.monoid.parent.name == "min"
    worse_op = binary["ge" if is_least else "le"]

    def step() -> Any:
        reached = active.vxm(a, typed).new()
        if w.dtype.is_float:
            # A NaN improves nothing, nor is it a value of its own.
            held << reached.select(select["valuege"], -math.inf)
        else:
            held << reached
        worse = held.ewise_mult(result, worse_op).new()
        active(~worse.V, replace=True) << held
        result(active.S) << active
        return active.nvals > 0

    loop = repeat(step, max_iterations=w.size)
    if loop.stopped_by == "limit":
        raise IterationLimit(
            f"fixed_point: values still improved after {w.size} iterations, as many as there are "
            "positions. A cycle that improves values has no fixed point; to stop earlier, write a "
            "loop with `repeat(..., max_iterations=...)`"
        )
    reading.replace_contents(w, result._value)
    return loop.iterations
