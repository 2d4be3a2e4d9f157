"""Bounds of eccentricities by searches from a vertex of each component, one search after the other.

A search begins at the first vertex with the best key of each component and goes on level by level,
along a queue. Of the root of each component, which is its smallest vertex and the label of all,
`first` has the vertex that the search begins at, or -1, and `far` the last level.

The state: 0, whether all is known; 1, searches made; 2, levels of all searches; 3, whose turn it
is: 0, the lowest lower bound; 1, the highest upper bound.
"""

import numpy as np

from semira.kernels import atomic_add, helper, kernel, prefetch


@helper
def spread(indptr, indices, end, level, queue):
    """Search from the vertices that are queued; return how many are reached."""
    begin = np.uint64(0)
    last = np.uint64(end)
    while begin < last:
        v = np.uint64(queue[begin])
        if begin + np.uint64(6) < last:
            prefetch(indptr, queue[begin + np.uint64(6)])
            prefetch(indices, indptr[np.uint64(queue[begin + np.uint64(3)])])
        begin += np.uint64(1)
        after = np.int64(level[v]) + 1
        for p in range(np.uint64(indptr[v]), np.uint64(indptr[v + np.uint64(1)])):
            w = np.uint64(indices[p])
            if level[w] < 0:
                level[w] = after
                queue[last] = w
                last += np.uint64(1)
    return np.int64(last)


@helper
def search(indptr, indices, label, first, level, queue, far):
    """Search from the first vertex of each component; return how many vertices are reached."""
    n = len(label)
    end = np.int64(0)
    for v in range(n):
        level[v] = -1
    for v in range(n):
        if label[v] == v and first[v] >= 0:
            level[np.int64(first[v])] = 0
            queue[end] = first[v]
            end += 1
    end = spread(indptr, indices, end, level, queue)
    # Levels rise along the queue: the last one stays.
    for k in range(end):
        v = np.int64(queue[k])
        far[np.int64(label[v])] = level[v]
    return end


@helper
def levels_of(level, queue, end):
    """Return how many levels a search has looked from."""
    return np.int64(1) if end == 0 else np.int64(level[np.int64(queue[end - 1])]) + 1


@helper
def choose(label, degree, lower, upper, turn, first, best):
    """Find the first vertex with the best key of each component, among those not known."""
    n = np.int64(len(label))
    for v in range(n):
        first[v] = -1
    for v in range(n):
        if lower[v] != upper[v]:
            bound = np.int64(upper[v]) if turn != 0 else -np.int64(lower[v])
            key = n * bound + np.int64(degree[v])
            c = np.int64(label[v])
            if first[c] < 0 or key > best[c]:
                first[c] = v
                best[c] = key


@helper
def is_known(lower, upper, diameter_only):
    """Return whether all eccentricities are known, or the largest one."""
    most = np.int64(0)
    least = np.int64(0)
    known = True
    for v in range(len(lower)):
        most = max(most, np.int64(upper[v]))
        least = max(least, np.int64(lower[v]))
        known = known and lower[v] == upper[v]
    return most <= least if diameter_only != 0 else known


@kernel
def bound_by_searches(
    low, high, limit, diameter_only, indptr, indices, label, degree, lower, upper, level, queue,
    first, far, best, state, stop,
):  # fmt: skip
    """Search until all that is asked for is known, or `limit` times."""
    made = np.int64(0)
    for _ in range(low, high):
        while made < limit and state[0] == 0 and atomic_add(stop, 0, 0) == 0:
            choose(label, degree, lower, upper, state[3], first, best)
            end = search(indptr, indices, label, first, level, queue, far)
            for k in range(end):
                v = np.int64(queue[k])
                here = np.int64(level[v])
                there = np.int64(far[np.int64(label[v])])
                least = max(here, there - here)
                lower[v] = max(np.int64(lower[v]), least)
                upper[v] = min(np.int64(upper[v]), there + here)
            made += 1
            state[1] += 1
            state[2] += levels_of(level, queue, end)
            state[3] = 1 - state[3]
            state[0] = np.int64(is_known(lower, upper, diameter_only))


@kernel
def measure_trees(
    low, high, indptr, indices, label, lower, upper, level, queue, first, far, state, stop
):
    """Search from the first vertex of each tree, then from both ends of one of its longest paths.

    Every vertex is farthest from one of these.
    """
    n = len(label)
    for _ in range(low, high):
        for v in range(n):
            first[v] = v
            lower[v] = 0
        for turn in range(3):
            if atomic_add(stop, 0, 0) != 0:
                break
            end = search(indptr, indices, label, first, level, queue, far)
            state[1] += 1
            state[2] += levels_of(level, queue, end)
            for v in range(n):
                first[v] = -1
            for v in range(n):
                if turn > 0:
                    lower[v] = max(np.int64(lower[v]), np.int64(level[v]))
                c = np.int64(label[v])
                if level[v] == far[c] and first[c] < 0:
                    first[c] = v
        for v in range(n):
            upper[v] = lower[v]
