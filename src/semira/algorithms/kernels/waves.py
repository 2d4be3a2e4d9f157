"""Greedy colours in waves: a vertex has its turn when no neighbour of a greater number is waiting.

The queue has the vertices in the order of their turns; those of a wave follow each other. On a GPU
those with many neighbours are in it from its end on, and have a block each.

The state: whether it is done; rounds; where the wave begins and ends, and where the next one ends;
the same of long rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from semira.kernels import atomic_add, kernel


@kernel
def count_greater(
    low: Any, high: Any, indptr: Any, indices: Any, number: Any, waits: Any, colour: Any,
    queue: Any, state: Any,
) -> None:  # fmt: skip
    """Count the neighbours that each vertex waits for; those that wait for none are first."""
    for v in range(low, high):
        colour[v] = -1
        count = 0
        for p in range(indptr[v], indptr[v + 1]):
            if number[indices[p]] > number[v]:
                count += 1
        waits[v] = count
        if count == 0:
            place = atomic_add(state, 4, 1)
            queue[place] = v


@kernel
def colour_wave(
    low: Any, high: Any, indptr: Any, indices: Any, waits: Any, colour: Any, queue: Any, state: Any
) -> None:
    """Give each vertex of a wave the least colour that its neighbours leave.

    No two of a wave are neighbours, and all neighbours that have a colour have greater numbers.
    """
    for k in range(low, high):
        at = state[2] + k
        if at >= state[3]:
            break
        v = np.int64(queue[at])
        first = np.int64(0)
        chosen = np.int64(-1)
        while chosen < 0:
            # The colours from `first` on, bits of a word.
            used = np.uint64(0)
            for p in range(indptr[v], indptr[v + 1]):
                c = np.int64(colour[indices[p]]) - first
                if c >= 0 and c < 64:
                    used |= np.uint64(1) << np.uint64(c)
            if used != ~np.uint64(0):
                chosen = first
                while used & np.uint64(1) != np.uint64(0):
                    used = used >> np.uint64(1)
                    chosen += 1
            first += 64
        colour[v] = chosen
        for p in range(indptr[v], indptr[v + 1]):
            u = np.int64(indices[p])
            if u == v or colour[u] >= 0:
                continue
            waiting = atomic_add(waits, u, -1)
            if waiting == 1:
                place = atomic_add(state, 4, 1)
                queue[place] = u


@kernel
def next_wave(low: Any, high: Any, state: Any) -> None:
    """Go on with the vertices that wait for nobody any longer; end if there are none."""
    for _ in range(low, high):
        state[1] += 1
        if state[4] == state[3] and state[7] == state[6]:
            state[0] = 1
        state[2] = state[3]
        state[3] = state[4]
        state[5] = state[6]
        state[6] = state[7]
