"""Sums of pairs: what a monoid makes of as many ones as entries meet."""

from __future__ import annotations

from typing import Any

import numpy as np

from semira.ops import TypedMonoid, TypedOp
from semira.ops.registry import binary

#: By what a sum of ones depends on: nothing, whether their number is odd, or their number.
MONOIDS = {
    "one": ("any", "lor", "land", "lxnor", "eq", "times", "min", "max", "bor", "band"),
    "parity": ("lxor", "bxor", "bxnor"),
    "count": ("plus",),
}

_SUMS: dict[Any, str] = {binary[name]: kind for kind, names in MONOIDS.items() for name in names}


def kind_of(add: TypedMonoid, multiply: TypedOp) -> str:
    """Return what a sum of pairs depends on, a key of `MONOIDS`; empty: these are no such sums.

    Examples
    --------
    >>> from semira.base.dtypes import BOOL
    >>> from semira.ops.registry import semiring
    >>> rings = [semiring[f"{name}_pair"].typed(BOOL) for name in ("times", "lxor", "plus")]
    >>> [kind_of(ring.monoid, ring.binaryop) for ring in rings]
    ['one', 'parity', 'count']
    """
    return _SUMS.get(add.op.parent, "") if multiply.parent is binary["pair"] else ""


def values_of(kind: str, add: TypedMonoid, counts: Any) -> Any:
    """Return the sums of as many ones as `counts` says, 1 or more of each.

    Examples
    --------
    >>> from semira.base.dtypes import UINT8
    >>> from semira.ops.registry import monoid
    >>> values_of("parity", monoid["bxnor"].typed(UINT8), np.array([1, 2, 3])).tolist()
    [1, 255, 1]
    """
    dtype = add.type.array_dtype
    if kind == "count":
        return counts.astype(dtype)
    one = add.type.scalar(1)
    even = add.op.scalar_function(one, one, 0, 0, 0)
    return np.array([even, one], dtype)[counts & 1]


def named(kind: str) -> str:
    """Return a kind as kernels/tiles.cuh calls it.

    Examples
    --------
    >>> named("parity"), named("")
    ('Pairs::kParity', 'Pairs::kNone')
    """
    return f"Pairs::k{(kind or 'none').title()}"
