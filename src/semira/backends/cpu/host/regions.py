"""Positions that a region names along an axis."""

from __future__ import annotations

import numpy as np

from semira.backends.cpu.compressed import Array
from semira.base.errors import IndexOutOfBound
from semira.formats import index_dtype

Region = tuple[int, int, int] | Array | None


def positions_of(region: Region, length: int) -> Array | None:
    """Return the positions a region names along an axis of `length`; None is all of them.

    Raises IndexOutOfBound if a position is outside the axis.
    """
    if region is None:
        return None
    if isinstance(region, tuple):
        start, stop, step = region
        positions = np.arange(start, stop, step, dtype=index_dtype(length))
    else:
        positions = np.asarray(region)
    if len(positions):
        low, high = int(positions.min()), int(positions.max())
        if low < 0 or high >= length:
            raise IndexOutOfBound(
                f"index {low if low < 0 else high} is outside [0, {length}); nothing was written"
            )
    return positions.astype(index_dtype(length), copy=False)


def is_rising(positions: Array) -> bool:
    """Return whether positions are strictly increasing."""
    return len(positions) < 2 or bool(np.all(positions[1:] > positions[:-1]))


def last_of_each(positions: Array) -> Array:
    """Return where the last occurrence of each position is, in the order of the positions."""
    order = np.argsort(positions, kind="stable")
    ordered = positions[order]
    last = np.ones(len(ordered), np.bool_)
    last[:-1] = ordered[1:] != ordered[:-1]
    picked: Array = order[last]
    return picked
