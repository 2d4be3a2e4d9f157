"""Operator expressions as Python functions of NumPy scalars: what the reference runs."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from semira.base.dtypes import DataType
from semira.base.memory import require_bytes
from semira.base.record_dtypes import layout
from semira.ops import helpers
from semira.ops.helpers import philox

#: Names of the variables of an expression, by class of operator.
VARIABLES = {
    "UnaryOp": ("a", "i", "j"),
    "BinaryOp": ("a", "b", "i", "k", "j"),
    "IndexUnaryOp": ("a", "i", "j", "t"),
    "SelectOp": ("a", "i", "j", "t"),
}

_GLOBALS = {"np": np, "math": math} | {name: getattr(helpers, name) for name in helpers.NAMES}


def compile_expression(
    text: str, opclass: str, result: DataType, functions: Mapping[str, Callable[..., Any]]
) -> Callable[..., Any]:
    """Return the function of NumPy scalars that an expression stands for.

    The text is Python in the variables of its class, and may call `functions` by name. It is for
    callers inside of ``np.errstate(all="ignore")``.
    """
    variables = ", ".join(VARIABLES[opclass])
    scope = {**_GLOBALS, **functions, "cast_": _to(result)}
    # Records of all layouts are of one class.
    scope["type_"] = None if result.kind == "V" else result.array_dtype.type
    if functions:
        scope["call_"] = _widened(eval(f"lambda {variables}: ({text})", scope))  # noqa: S307
        text = f"call_({variables})"
    # NumPy compares single values slowly.
    text = re.sub(r"\(([ab]) != 0\)", r"bool(\1)", text)
    # One function, which the reference calls for every pair of a product.
    kept = f"value_ if type(value_ := ({text})) is type_ else cast_(value_)"
    meaning: Callable[..., Any] = eval(f"lambda {variables}: {kept}", scope)  # noqa: S307
    return meaning


_COUNTS, _SMALL = (int, bool), np.arange(256)


def _to(result: DataType) -> Callable[[Any], Any]:
    """Return what makes a scalar of `result` of a value of another type: integers wrap."""
    target = result.array_dtype
    # Truth values, ones, and positions in small objects.
    small = [] if result.kind == "V" else [*_SMALL.astype(target)]

    def cast(value: Any) -> Any:
        if type(value) in _COUNTS and 0 <= value < len(small):
            return small[value]
        return np.asarray(value).astype(target)[()]

    return cast


def without_warnings(meaning: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that computes without NumPy's warnings."""

    def quiet(*args: Any) -> Any:
        with np.errstate(all="ignore"):
            return meaning(*args)

    return quiet


def literal(dtype: DataType, value: Any) -> str:
    """Return Python text for one value of `dtype`."""
    if dtype.kind == "V":
        held = bytes(dtype.scalar(value).tobytes()).hex()
        return f'np.frombuffer(bytes.fromhex("{held}"), np.dtype({layout(dtype.array_dtype)!r}))[0]'
    if dtype.kind == "B":
        return str(bool(value))
    if dtype.kind == "C":
        parts = (f'float("{float(part)!r}")' for part in (value.real, value.imag))
        return f"np.{dtype.np_type.name}(complex({', '.join(parts)}))"
    if dtype.kind == "F":
        return f'np.{dtype.np_type.name}(float("{float(value)!r}"))'
    return f"np.{dtype.np_type.name}({int(value)})"


_WIDE = {"i": np.int64, "u": np.uint64}


def _widened(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return `function` of 64-bit integers, in which compiled user functions compute too."""

    def call(*args: Any) -> Any:
        wide = (
            _WIDE[arg.dtype.kind](arg) if getattr(arg, "dtype", _FLOAT).kind in _WIDE else arg
            for arg in args
        )
        return function(*wide)

    return call


_FLOAT = np.dtype(np.float64)


def cast_scalar(value: Any, target: np.dtype[Any]) -> Any:
    """Cast one value as SuiteSparse:GraphBLAS does.

    Floats saturate when cast to integers and NaN becomes 0; integers wrap; of complex numbers the
    real part is kept; anything but zero is true.
    """
    if type(value) is target.type and target.kind != "V":
        return value
    return cast_array(np.asarray(value), target)[()]


def cast_array(values: Any, target: np.dtype[Any]) -> Any:
    """Cast an array as `cast_scalar` casts a value; returns `values` itself if nothing changes."""
    if values.dtype == target:
        return values
    if target.kind == "b":
        return values != 0
    if values.dtype.kind == "c" and target.kind != "c":
        return cast_array(values.real, target)
    if values.dtype.kind == "f" and target.kind in "iu":
        limits = np.iinfo(target)
        # The largest 64-bit integers round up to a float out of range: compare, do not clip.
        high = values >= float(limits.max)
        low = values <= float(limits.min)
        with np.errstate(invalid="ignore"):
            result = np.where(high | low | np.isnan(values), 0, values).astype(target)
        return np.where(high, limits.max, np.where(low, limits.min, result)).astype(target)
    require_bytes(values.size * target.itemsize, "a copy of the values in another dtype")
    with np.errstate(all="ignore"):
        return values.astype(target)


_WORD = 2**64 - 1


def mode_of(sums: Mapping[int, Any], row: int, preferred: Any, seed: Any) -> int:
    """Return the key with the largest sum; NaN counts as minus infinity.

    `preferred` wins a tie that it takes part in. Others are broken by a random number for each key
    and row, the greatest wins; without a `seed`, and among equal numbers, by the smallest key.

    Examples
    --------
    >>> mode_of({7: 2, 3: 2, 5: 1}, 0, None, None), mode_of({7: 2, 3: 2}, 0, 7, None)
    (3, 7)
    """
    ranked = {key: -math.inf if math.isnan(total) else total for key, total in sums.items()}
    most = max(ranked.values())
    tied = [key for key, total in ranked.items() if total == most]
    if preferred is not None and int(preferred) in tied:
        return int(preferred)
    if seed is None or len(tied) == 1:
        return min(tied)
    with np.errstate(all="ignore"):
        drawn = {key: int(philox(np.uint64(key & _WORD), row, 0, int(seed), 0)) for key in tied}
    return max(tied, key=lambda key: (drawn[key], -key))
