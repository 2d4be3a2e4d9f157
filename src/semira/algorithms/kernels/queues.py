"""Searches along a queue, and Brandes' sums."""

import numpy as np

from semira.kernels import atomic_add, atomic_max, helper, kernel


@helper
def count_paths(indptr, indices, source, level, paths, queue):
    """Count the shortest paths to all vertices, queued by level; return how many are reached."""
    level[source] = 1
    paths[source] = 1.0
    queue[0] = source
    end = np.int64(1)
    begin = np.int64(0)
    while begin < end:
        v = np.int64(queue[begin])
        begin += 1
        after = np.int64(level[v]) + 1
        mine = paths[v]
        for p in range(indptr[v], indptr[v + 1]):
            w = np.int64(indices[p])
            there = np.int64(level[w])
            if there == 0:
                level[w] = after
                paths[w] = mine
                queue[end] = w
                end += 1
            elif there == after:
                paths[w] += mine
    return end


@kernel
def depend(
    low, high, indptr, indices, sources, many, score, state, level, queue, paths, share, stop
):
    """Add the dependencies on each vertex in blocks of `many` searches, each to a row of `score`.

    With p paths to v and d the dependency on it, ``d_v = p_v sum over successors w of
    (1 + d_w) / p_w``. In `state` are levels of all searches, and whether paths were too many.
    """
    n = len(indptr) - 1
    for block in range(low, high):
        for s in range(block * many, min((block + 1) * many, len(sources))):
            if atomic_add(stop, 0, 0) != 0:
                break
            end = count_paths(indptr, indices, np.int64(sources[s]), level, paths, queue)
            atomic_add(state, 0, np.int64(level[queue[end - 1]]))
            for k in range(end):
                v = np.int64(queue[end - 1 - k])
                after = np.int64(level[v]) + 1
                gained = 0.0
                for p in range(indptr[v], indptr[v + 1]):
                    w = np.int64(indices[p])
                    if level[w] == after:
                        gained += share[w]
                share[v] = 1.0 / paths[v] + gained
                if k < end - 1:
                    score[n * block + v] += gained * paths[v]
                if paths[v] == float("inf"):
                    atomic_max(state, 1, 1)
            for i in range(end):
                level[queue[i]] = 0
