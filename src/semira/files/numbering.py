"""Vertex numbers: which integers are names, and names numbered in order of first appearance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.formats.index import each_once

#: Vertices without an edge that an edge list may have at any rate, before integers become names.
UNNAMED_SLACK = 100

_WORD = 0xFFFF_FFFF_FFFF_FFFF
#: Factors of a hash: the golden ratio for the first, from each to the next a generator's.
_FIRST_FACTOR, _NEXT_FACTOR = 0x9E3779B97F4A7C15, 0xD1342543DE82EF95


def count_used(ends: NDArray[Any]) -> int:
    """Return how many different numbers `ends` holds; none may be negative."""
    if not len(ends):
        return 0
    high = int(ends.max())
    if high >= 4 * len(ends) + UNNAMED_SLACK:
        return len(each_once(ends))
    is_used = np.zeros(high + 1, bool)
    is_used[ends] = True
    return int(np.count_nonzero(is_used))


def are_names(ends: NDArray[Any]) -> bool:
    """Return whether integers, both ends of all edges, are names of vertices and no numbers.

    They are if one is negative, or if most of the numbers from 0 to the largest are not used: more
    of them than are used, and more than 100. The limits lie between lists that number their
    vertices densely, with some vertices left out, and lists that keep ids of their own, which leave
    most numbers unused. O(k).

    Examples
    --------
    >>> [are_names(np.array(ends)) for ends in ([0, 1, 1, 50], [1001, 1002], [3, -1])]
    [False, True, True]
    """
    if not len(ends):
        return False
    if int(ends.min()) < 0:
        return True
    size = int(ends.max()) + 1
    # No need to count: there are too few ends.
    if size > 2 * len(ends) + UNNAMED_SLACK:
        return True
    used = count_used(ends)
    return size - used > max(used, UNNAMED_SLACK)


def number_integers(ends: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Return numbers in order of first appearance, and the integer that each number stands for.

    Examples
    --------
    >>> numbers, names = number_integers(np.array([1002, 1001, 1002]))
    >>> numbers.tolist(), names.tolist()
    ([0, 1, 0], [1002, 1001])
    """
    numbers, firsts = number_rows([np.ascontiguousarray(ends).view(np.uint64)])
    return numbers, ends[firsts]


def number_rows(
    columns: Sequence[NDArray[np.uint64]],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return numbers of the different rows of a table, in order of first appearance.

    Equal rows have equal numbers: 0 for the first row, 1 for the next different one, ... Beside
    them, the position of the first row of each number. There is at least one column.

    A hash table that all rows enter at once. Of the rows with one slot the first one stays in it;
    those equal to it are done, the others try again with another hash. Every round settles at least
    one row of each slot, nearly all after two. O(k) a column, several times faster than sorting.
    """
    count = len(columns[0])
    bits = max(4, (2 * count).bit_length())
    table = np.empty(1 << bits, np.int64)
    left = np.arange(count)
    first = left.copy()
    parts, factor = list(columns), _FIRST_FACTOR
    while len(left):
        slots = _hashed(parts, factor, bits)
        # Of repeated indices the last assignment stays, which is that of the first row.
        table[slots[::-1]] = left[::-1]
        found = table[slots]
        differs = np.zeros(len(left), bool)
        for column, part in zip(columns, parts, strict=True):
            differs |= column[found] != part
        first[left] = found
        again = np.flatnonzero(differs)
        left, parts = left[again], [part[again] for part in parts]
        factor = factor * _NEXT_FACTOR & _WORD
    is_first = first == np.arange(count)
    return (np.cumsum(is_first) - 1)[first], np.flatnonzero(is_first)


def _hashed(columns: Sequence[NDArray[np.uint64]], factor: int, bits: int) -> NDArray[np.int64]:
    """Return a slot below ``2**bits`` for each row; another `factor` gives unrelated ones."""
    multiplier = np.uint64(factor)
    keys = columns[0] * multiplier
    for column in columns[1:]:
        keys ^= keys >> np.uint64(32)
        keys += column
        keys *= multiplier
    keys ^= keys >> np.uint64(32)
    keys *= multiplier
    return (keys >> np.uint64(64 - bits)).astype(np.int64)
