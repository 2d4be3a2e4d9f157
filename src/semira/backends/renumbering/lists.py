"""Sorted lists of the positions in use along an axis, and regions of axes that long."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from semira.base.errors import IndexOutOfBound

#: None (the whole axis), ``(start, stop, step)``, or an array of positions.
Region = Any

#: Arrays of the library that is passed.
Array = Any


def joined_ids(library: ModuleType, *lists: Array) -> Array:
    """Return the union of sorted lists; one of them itself where the others add nothing."""
    given = [ids for ids in lists if len(ids)]
    first = given[0] if given else (lists[0] if lists else library.zeros(0, np.int64))
    if all(ids is first for ids in given):
        return first
    return library.unique(library.concatenate(given))


def distinct(library: ModuleType, positions: Array) -> tuple[Array, Array]:
    """Return the sorted list of some positions, and the number of each of them on it."""
    if len(positions) == 0:
        return positions, positions
    ids, numbers = library.unique(positions, return_inverse=True)
    return ids, numbers.ravel()


def places_of(library: ModuleType, ids: Array, wanted: Array) -> tuple[Array, Array]:
    """Return where each of `wanted` stands on the sorted list `ids`, and whether it is there."""
    if len(ids) == 0:
        return library.zeros(len(wanted), np.int64), library.zeros(len(wanted), np.bool_)
    at = library.minimum(library.searchsorted(ids, wanted), len(ids) - 1)
    return at, ids[at] == wanted


def located(library: ModuleType, region: Region, ids: Array, length: int) -> tuple[Array, Array]:
    """Return which members of a region stand on a sorted list, rising, and where on it.

    The region is None (the whole axis, of `length`), (start, stop, step) or an array of positions;
    `ids` are sorted positions. Raises IndexOutOfBound if a position is outside the axis.
    """
    if region is None:
        return ids, library.arange(len(ids))
    if isinstance(region, tuple):
        start, _, step = region
        offset = ids.astype(np.int64) - start
        steps = offset // step
        fits = (steps * step == offset) & (steps >= 0) & (steps < len(range(*region)))
        places = library.flatnonzero(fits)
        if step < 0:
            places = places[::-1]
        return steps[places], places
    at, found = places_of(library, ids, checked(region, length))
    numbers = library.flatnonzero(found)
    return numbers, at[numbers]


def checked(positions: Array, length: int, what: str = "index") -> Array:
    """Return the positions of a region that names them, all of them on the axis.

    Raises IndexOutOfBound if one is outside the axis.
    """
    low, high = (int(positions.min()), int(positions.max())) if len(positions) else (0, -1)
    if low < 0 or high >= length:
        raise IndexOutOfBound(
            f"{what} {low if low < 0 else high} is outside [0, {length}); nothing was written"
        )
    return positions


def image(region: Region, numbers: Array) -> Array:
    """Return the positions of members `numbers` of a region."""
    if region is None:
        return numbers
    if isinstance(region, tuple):
        return region[0] + numbers.astype(np.int64) * region[2]
    return region[numbers]


def region_length(region: Region, length: int) -> int:
    """Return how many positions a region of an axis has."""
    if region is None:
        return length
    return len(range(*region)) if isinstance(region, tuple) else len(region)
