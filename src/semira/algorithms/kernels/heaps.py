"""Shortest paths from one vertex after the other, by a heap of those that are reached."""

import numpy as np

from semira.kernels import atomic_add, helper, kernel


@helper
def rise(heap, keys, place, i, v, key):
    """Put a vertex into a heap, whose nodes have four children, from a free place upwards."""
    while i > 0:
        parent = (i - 1) >> 2
        above = keys[parent]
        if above <= key:
            break
        u = np.int64(heap[parent])
        heap[i] = u
        keys[i] = above
        place[u] = i
        i = parent
    heap[i] = v
    keys[i] = key
    place[v] = i


@helper
def take_first(heap, keys, place, count):
    """Take the first of a heap away; the last one, behind the `count` left, sinks from there."""
    v = np.int64(heap[count])
    key = keys[count]
    i = np.int64(0)
    child = np.int64(1)
    while child < count:
        least = child
        below = keys[child]
        for k in range(child + 1, min(child + 4, count)):
            if keys[k] < below:
                below = keys[k]
                least = k
        if key <= below:
            break
        u = np.int64(heap[least])
        heap[i] = u
        keys[i] = below
        place[u] = i
        i = least
        child = 4 * i + 1
    heap[i] = v
    keys[i] = key
    place[v] = i


@kernel
def settle_paths(
    low, high, indptr, indices, values, bounds, starts, begins, distance, counts, heap, keys, place,
    stop,
):  # fmt: skip
    """Write the distances from sets of vertices, a row each; -1 where no path leads.

    Set s has the different vertices between two `bounds` of `starts`, at the distances `begins`;
    paths lead to ``counts[s]`` vertices.
    """
    n = np.int64(len(indptr) - 1)
    for s in range(low, high):
        if atomic_add(stop, 0, 0) != 0:
            break
        at = n * s
        for v in range(n):
            distance[at + v] = -1.0
        count = np.int64(0)
        for i in range(bounds[s], bounds[s + 1]):
            v = np.int64(starts[i])
            distance[at + v] = begins[i]
            rise(heap, keys, place, count, v, distance[at + v])
            count += 1
        popped = np.int64(0)
        while count > 0:
            v = np.int64(heap[0])
            far = keys[0]
            count -= 1
            popped += 1
            take_first(heap, keys, place, count)
            for p in range(indptr[v], indptr[v + 1]):
                w = np.int64(indices[p])
                known = distance[at + w]
                reached = far + values[p]
                if known < 0.0:
                    distance[at + w] = reached
                    rise(heap, keys, place, count, w, distance[at + w])
                    count += 1
                elif reached < known:
                    distance[at + w] = reached
                    rise(heap, keys, place, np.int64(place[w]), w, distance[at + w])
        counts[s] = popped


@kernel
def list_paths(low, high, n, distance, ends, indices, values):
    """List the vertices of some rows that paths lead to; a row begins where the one before ends."""
    for s in range(low, high):
        at = np.int64(ends[s])
        for v in range(n):
            far = distance[n * s + v]
            if far >= 0.0:
                indices[at] = v
                values[at] = far
                at += 1


@kernel
def find_parents(low, high, indptr, indices, values, distance, parent, stop):
    """Give each vertex the smallest one that it gets its distance from, if that one is nearer.

    `distance` is -1 where no path leads, and `parent` where there is none yet.
    """
    n = np.int64(len(indptr) - 1)
    for _ in range(low, high):
        for u in range(n):
            if u & 4095 == 0 and atomic_add(stop, 0, 0) != 0:
                break
            far = distance[u]
            if far < 0.0:
                continue
            for p in range(indptr[u], indptr[u + 1]):
                v = np.int64(indices[p])
                if parent[v] < 0 and far < distance[v] and far + values[p] == distance[v]:
                    parent[v] = u
