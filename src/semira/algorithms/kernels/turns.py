"""Greedy colours: a vertex has its turn when all neighbours of greater numbers have a colour.

Vertices are in four classes by the length of their rows, and in falling order of their numbers in
each of them; see turns.cuh. `counts` has how many there are of each class.

The state: whether it is done; on hosts the vertices of each class that have a colour.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from semira.kernels import atomic_add, helper, kernel


@helper
def number_of(v: Any, start: Any) -> Any:
    """Return the number of a vertex, as `priorities` finds it."""
    most = np.uint64(0xFFFFFFFF)
    h = np.uint64(v) ^ np.uint64(start)
    h = ((h ^ (h >> np.uint64(16))) * np.uint64(0x85EBCA6B)) & most
    h = ((h ^ (h >> np.uint64(13))) * np.uint64(0xC2B2AE35)) & most
    return h ^ (h >> np.uint64(16))


@kernel
def falling_keys(low: Any, high: Any, start: Any, indptr: Any, keys: Any, counts: Any) -> None:
    """Write the keys by which vertices are sorted, and count the classes, which are 0 at first."""
    for v in range(low, high):
        length = np.int64(indptr[v + 1]) - np.int64(indptr[v])
        kind = np.int64(length > 8) + np.int64(length > 32) + np.int64(length > 512)
        atomic_add(counts, kind, 1)
        rest = np.uint64(0xFFFFFFFF) - number_of(v, start)
        keys[v] = (np.uint64(kind) << np.uint64(32)) | rest


@kernel
def begin_colours(low: Any, high: Any, colour: Any, state: Any) -> None:
    """Give no vertex a colour."""
    for v in range(low, high):
        colour[v] = -1
        if v == 0:
            for k in range(5):
                state[k] = 0


@helper
def least_colour(v: Any, start: Any, indptr: Any, indices: Any, colour: Any) -> Any:
    """Return the least colour that neighbours of greater numbers leave; -1 if one has none yet."""
    own = number_of(v, start)
    first = np.int64(0)
    chosen = np.int64(-1)
    waits = False
    while chosen < 0 and not waits:
        # The colours from `first` on, bits of a word.
        used = np.uint64(0)
        for p in range(np.int64(indptr[v]), np.int64(indptr[v + 1])):
            u = np.int64(indices[p])
            if number_of(u, start) > own:
                c = np.int64(colour[u])
                if c < 0:
                    waits = True
                    break
                if c >= first and c < first + 64:
                    used |= np.uint64(1) << np.uint64(c - first)
        if used != ~np.uint64(0):
            chosen = first
            while used & np.uint64(1) != np.uint64(0):
                used = used >> np.uint64(1)
                chosen += 1
        first += 64
    return np.int64(-1) if waits else chosen


@kernel
def colour_in_turn(
    low: Any, high: Any, start: Any, indptr: Any, indices: Any, order: Any, counts: Any,
    colour: Any, state: Any,
) -> None:  # fmt: skip
    """Colour all vertices; the first thread does it, a class as far as it can in its turn."""
    left = np.int64(len(order)) if low == 0 and high > 0 else np.int64(0)
    while left > 0:
        first = np.int64(0)
        for kind in range(4):
            c = np.int64(0)
            while c >= 0 and state[1 + kind] < counts[kind]:
                v = np.int64(order[first + state[1 + kind]])
                c = least_colour(v, start, indptr, indices, colour)
                if c >= 0:
                    colour[v] = c
                    state[1 + kind] += 1
                    left -= 1
            first += counts[kind]


@kernel
def end_colours(low: Any, high: Any, state: Any) -> None:
    """End after one round."""
    for _ in range(low, high):
        state[0] = 1
