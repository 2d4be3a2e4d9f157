"""Triangles of each vertex."""

from __future__ import annotations

from typing import Any

import numpy as np

from semira.kernels import atomic_add, kernel


@kernel
def count_corners(
    low: Any, high: Any, indptr: Any, indices: Any, counts: Any, mark: Any, mine: Any, stop: Any
) -> None:
    """Count the triangles of each vertex along an acyclic orientation of the edges.

    Neighbours of a vertex are marked with its number and 1 more, and looked for among those of
    each.
    """
    for u in range(low, high):
        if atomic_add(stop, 0, 0) != 0:
            break
        for p in range(indptr[u], indptr[u + 1]):
            mark[indices[p]] = u + 1
        whole = np.int64(0)
        for p in range(indptr[u], indptr[u + 1]):
            v = np.int64(indices[p])
            found = np.int64(0)
            for q in range(indptr[v], indptr[v + 1]):
                w = np.int64(indices[q])
                if mark[w] == u + 1:
                    found += 1
                    mine[w] += 1
            mine[v] += found
            whole += found
        mine[u] += whole
    for v in range(len(counts)):
        if mine[v] != 0:
            atomic_add(counts, v, mine[v])
