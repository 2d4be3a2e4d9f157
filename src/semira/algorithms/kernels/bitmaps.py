"""Triangles of a graph whose vertices are numbered by falling degree, on GPUs by rows of bits.

Items are the vertices. Row u holds the neighbours of u with smaller numbers, in rising order.
"""

import numpy as np

from semira.kernels import atomic_add, kernel


@kernel
def fill_rows(low, high, indptr, indices, words):
    """Set a bit for each entry; a row has bits for the columns before it, 128 at a time."""
    for v in range(low, high):
        wholes, rest = (v - 1) // 128, (v - 1) % 128
        first = 0
        if v > 0:
            first = 4 * (64 * wholes * (wholes + 1) + rest * (wholes + 1))
        for p in range(indptr[v], indptr[v + 1]):
            w = np.int64(indices[p])
            words[first + w // 32] |= np.uint32(1) << np.uint32(w % 32)


@kernel
def count_ranked(low, high, indptr, indices, words, dense, near, state):  # noqa: ARG001
    """Count the triangles: what rows of neighbours have in common with that of the vertex."""
    for u in range(low, high):
        for p in range(indptr[u], indptr[u + 1]):
            v = np.int64(indices[p])
            x, y = indptr[u], indptr[v]
            while x < p and y < indptr[v + 1]:
                here, there = indices[x], indices[y]
                if here == there:
                    atomic_add(state, 2, 1)
                if here <= there:
                    x += 1
                if there <= here:
                    y += 1
