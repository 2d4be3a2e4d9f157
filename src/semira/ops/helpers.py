"""Scalar functions that operator expressions call.

Their source is inlined into generated CPU kernels, so they use only what both NumPy scalars
and Numba understand; `kernels/common/helpers.cuh` of the cuda backend spells the same.
Integer division follows SuiteSparse:GraphBLAS: x/0 is the largest value for x > 0, the
smallest for x < 0, and 0 for x = 0.
"""

from __future__ import annotations

from typing import Any


def int_div(a: Any, b: Any, low: Any, high: Any) -> Any:
    """Divide signed integers, rounding towards zero."""
    if b == 0:
        if a == 0:
            return a
        return high if a > 0 else low
    if b == -1:
        return -a
    quotient = a // b
    if quotient < 0 and quotient * b != a:
        quotient += 1
    return quotient


def uint_div(a: Any, b: Any, high: Any) -> Any:
    """Divide unsigned integers, rounding down."""
    if b == 0:
        return a if a == 0 else high
    return a // b


def int_floordiv(a: Any, b: Any) -> Any:
    """Divide signed integers, rounding down; x // 0 is 0."""
    if b == 0:
        return b
    if b == -1:
        return -a
    return a // b


def uint_floordiv(a: Any, b: Any) -> Any:
    """Divide unsigned integers, rounding down; x // 0 is 0."""
    if b == 0:
        return b
    return a // b
