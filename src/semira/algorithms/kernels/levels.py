"""Breadth-first searches, each with a queue."""

from __future__ import annotations

from typing import Any

import numpy as np

from semira.kernels import helper, kernel


@helper
def next_level(
    indptr: Any, indices: Any, levels: Any, base: Any, depth: Any, queue: Any, head: Any, tail: Any
) -> Any:
    """Append the new neighbours of the vertices in a part of the queue; return its new end."""
    end = tail
    for at in range(head, tail):
        v = np.int64(queue[at])
        for p in range(indptr[v], indptr[v + 1]):
            u = np.int64(indices[p])
            if levels[base + u] < 0:
                levels[base + u] = depth
                queue[end] = u
                end += 1
    return end


@kernel
def search_levels(
    low: Any,
    high: Any,
    indptr: Any,
    indices: Any,
    ptr: Any,
    sources: Any,
    limit: Any,
    levels: Any,
    depths: Any,
    queue: Any,
) -> None:
    """Search from each set of sources; `levels` holds -1 at first, a row for each set."""
    n = len(indptr) - 1
    for i in range(low, high):
        base = np.int64(i) * n
        tail = np.int64(0)
        for k in range(ptr[i], ptr[i + 1]):
            source = np.int64(sources[k])
            levels[base + source] = 0
            queue[tail] = source
            tail += 1
        head = np.int64(0)
        depth = np.int64(0)
        while head < tail and depth < limit:
            depth += 1
            end = next_level(indptr, indices, levels, base, depth, queue, head, tail)
            head = tail
            tail = end
        depths[i] = depth
