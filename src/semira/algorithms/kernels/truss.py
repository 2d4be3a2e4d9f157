"""Edges that leave a truss round by round, with the triangles that they were in.

Edges are entries of an acyclic orientation. Rows of the graph have an entry for each direction,
with the number of its edge. An edge that leaves is queued once: ``queue[state[1]:state[2]]`` leave
in round ``state[4]``, those up to ``state[3]`` in the next one. `leaves` is the round in which an
edge leaves, 0 while it stays.
"""

import numpy as np

from semira.kernels import atomic_add, helper, kernel


@kernel
def count_support(low, high, heads, indptr, indices, alike, support, mark, mine, stop):  # noqa: ARG001
    """Count the triangles of each edge; items are vertices, on GPUs entries.

    Neighbours of a vertex are marked with their entry and 1 more, and looked for among those of
    each.
    """
    for u in range(low, high):
        if atomic_add(stop, 0, 0) != 0:
            break
        first = np.int64(indptr[u])
        for p in range(first, indptr[u + 1]):
            mark[indices[p]] = p + 1
            mine[p - first] = 0
        for p in range(first, indptr[u + 1]):
            v = np.int64(indices[p])
            found = np.int64(0)
            for q in range(indptr[v], indptr[v + 1]):
                there = np.int64(mark[indices[q]]) - 1
                if there >= first:
                    found += 1
                    mine[there - first] += 1
                    atomic_add(support, q, 1)
            mine[p - first] += found
        for p in range(first, indptr[u + 1]):
            if mine[p - first] != 0:
                atomic_add(support, p, mine[p - first])


@kernel
def list_weak(low, high, least, support, leaves, queue, state):
    """Queue the edges in too few triangles."""
    for e in range(low, high):
        if support[e] < least:
            leaves[e] = 1
            queue[atomic_add(state, 3, 1)] = e


@helper
def take_off(f, least, support, leaves, queue, state):
    """Take a triangle off an edge, and queue it if that leaves too few."""
    if atomic_add(support, f, -1) == least:
        leaves[f] = state[4] + 1
        queue[atomic_add(state, 3, 1)] = f


@helper
def drop_edge(e, least, heads, tails, indptr, indices, numbers, support, leaves, queue, state):
    """Take the triangles of an edge that leaves off its other edges; return entries looked at."""
    a = np.int64(heads[e])
    b = np.int64(tails[e])
    if indptr[a + 1] - indptr[a] > indptr[b + 1] - indptr[b]:
        a, b = b, a
    at = np.int64(indptr[b])
    last = np.int64(indptr[b + 1])
    begin = np.int64(indptr[a])
    p = begin
    end = np.int64(indptr[a + 1])
    is_long = last - at > 8 * (end - begin)
    now = state[4]
    # Triangles that it is still in.
    left = np.int64(support[e])
    while left > 0 and p < end:
        w = indices[p]
        if is_long:
            top = last
            while at < top:
                middle = at + (top - at) // 2
                if indices[middle] < w:
                    at = middle + 1
                else:
                    top = middle
        else:
            while at < last and indices[at] < w:
                at += 1
        if at < last and indices[at] == w:
            f = np.int64(numbers[p])
            g = np.int64(numbers[at])
            f_leaves = np.int64(leaves[f])
            g_leaves = np.int64(leaves[g])
            # Those that go now or later are there; of those that go now the first takes it off.
            if (f_leaves == 0 or f_leaves >= now) and (g_leaves == 0 or g_leaves >= now):
                left -= 1
                if not (f_leaves == now and f < e) and not (g_leaves == now and g < e):
                    if f_leaves != now:
                        take_off(f, least, support, leaves, queue, state)
                    if g_leaves != now:
                        take_off(g, least, support, leaves, queue, state)
        p += 1
    return p - begin


@kernel
def drop(low, high, least, heads, tails, indptr, indices, numbers, support, leaves, queue, state):
    """Drop a share of the edges that leave in this round."""
    begin = state[1]
    count = state[2] - begin
    for i in range(begin + count * low // len(heads), begin + count * high // len(heads)):
        e = np.int64(queue[i])
        drop_edge(e, least, heads, tails, indptr, indices, numbers, support, leaves, queue, state)


@kernel
def decide(
    low, high, least, heads, tails, indptr, indices, numbers, support, leaves, queue, few, budget,
    state,
):  # fmt: skip
    """Go on to the next round, and through rounds of few edges at once; end after the last one."""
    for _ in range(low, high):
        looked = np.int64(0)
        while True:
            state[4] += 1
            state[1] = state[2]
            state[2] = state[3]
            if state[1] == state[2]:
                state[0] = 1
                break
            if state[2] - state[1] > few or looked > budget:
                break
            for i in range(state[1], state[2]):
                e = np.int64(queue[i])
                looked += 1 + drop_edge(
                    e, least, heads, tails, indptr, indices, numbers, support, leaves, queue, state
                )
