"""Arcs of a network: the opposite of each one, what flows over them, and the proof of a flow."""

import numpy as np

from semira.algorithms.kernels.rows import entry_at
from semira.kernels import atomic_add, kernel


@kernel
def opposites(low, high, indptr, indices, back):
    """Find the place of the opposite of each arc; the pattern is symmetric, columns are sorted."""
    for v in range(low, high):
        for e in range(indptr[v], indptr[v + 1]):
            w = indices[e]
            back[e] = entry_at(indptr[w], indptr[w + 1], indices, v)


@kernel
def imbalance(low, high, indptr, capacity, room, excess):
    """Add up what flows into each vertex, less what flows out."""
    for v in range(low, high):
        total = np.int64(0)
        for e in range(indptr[v], indptr[v + 1]):
            total += room[e] - capacity[e]
        excess[v] = total


@kernel
def check(low, high, indptr, indices, back, capacity, room, reached, source, sink, found):
    """Count what is wrong with a flow; sum the capacity of the cut, and what gets to the sink.

    `found` has: arcs above their capacity or unlike their opposite, vertices that do not pass on
    what they get, arcs with room out of the source's side, the cut, the value.
    """
    wrong, leaking, crossing, cut = 0, 0, 0, np.int64(0)
    for v in range(low, high):
        total = np.int64(0)
        for e in range(indptr[v], indptr[v + 1]):
            total += room[e] - capacity[e]
            if room[e] < 0 or room[e] + room[back[e]] != capacity[e] + capacity[back[e]]:
                wrong += 1
            if reached[v] != 0 and reached[indices[e]] == 0:
                cut += capacity[e]
                if room[e] > 0:
                    crossing += 1
        if v == sink:
            found[4] = total
        elif v != source and total != 0:
            leaking += 1
    atomic_add(found, 0, wrong)
    atomic_add(found, 1, leaking)
    atomic_add(found, 2, crossing)
    atomic_add(found, 3, cut)
