"""Breadth-first search by levels: vertices of a level push along a queue, or all others pull.

What a search knows is in `state`: 0, the vertices found; 1 and 2, where the last level begins and
ends in the queue; 3, levels that were expanded; 4, edges of their vertices; 5, what the queue has:
0, vertices level by level; 1, not the last level, which is in `bits`; 2, all vertices found, in
order, and from ``len(level) + 1`` on their levels; 6 and 7, the edges of a level in `bits`, and
what a pull costs; after it 7 and 8, the vertices that it found and the entries that it read; 9,
when the search began; 10, levels at most; 11, how to begin: 0, go on; 1, whatever `level` holds; 2,
it is -1 everywhere, as a search leaves it that lists what it found. Behind these are the last
levels, five numbers each.
"""

import numpy as np

from semira.kernels import atomic_add, helper, kernel, now, prefetch


@helper
def seed(sources, level, parent, queue, state):
    """Begin at different vertices."""
    if state[11] != 2:
        for v in range(len(level)):
            level[v] = -1
    for v in range(len(parent)):
        parent[v] = -1
    for at in range(9):
        state[at] = 0
    state[9] = now()
    state[0] = len(sources)
    state[2] = len(sources)
    for i in range(len(sources)):
        v = np.int64(sources[i])
        level[v] = 0
        queue[i] = v
        if len(parent) > 0:
            parent[v] = v


@helper
def expand_sparse(indptr, indices, begin, stop, after, level, parent, queue):
    """Queue what the vertices from `begin` to `stop` find; return its end, and the edges read.

    If there is room, `parent` gets the vertex that found each one first. Without branches in the
    loop over edges: whether a vertex with few edges finds others cannot be predicted.
    """
    end = np.uint64(stop)
    read = np.uint64(0)
    is_tree = len(parent) > 0
    for i in range(np.uint64(begin), np.uint64(stop)):
        v = np.uint64(queue[i])
        if i + np.uint64(6) < np.uint64(stop):
            prefetch(indptr, queue[i + np.uint64(6)])
            prefetch(indices, indptr[np.uint64(queue[i + np.uint64(3)])])
        first = np.uint64(indptr[v])
        last = np.uint64(indptr[v + np.uint64(1)])
        read += last - first
        for p in range(first, last):
            w = np.uint64(indices[p])
            old = level[w]
            level[w] = np.int64(after) if old < 0 else np.int64(old)
            if is_tree:
                before = parent[w]
                parent[w] = np.int64(v) if old < 0 else np.int64(before)
            queue[end] = w
            end += np.uint64(old < 0)
    return np.int64(end), np.int64(read)


@helper
def expand_dense(indptr, indices, begin, stop, after, level, parent, queue):
    """Do the same where vertices have many edges, most of which lead to vertices found before."""
    end = np.uint64(stop)
    read = np.uint64(0)
    for i in range(np.uint64(begin), np.uint64(stop)):
        v = np.uint64(queue[i])
        if i + np.uint64(6) < np.uint64(stop):
            prefetch(indptr, queue[i + np.uint64(6)])
            prefetch(indices, indptr[np.uint64(queue[i + np.uint64(3)])])
        first = np.uint64(indptr[v])
        last = np.uint64(indptr[v + np.uint64(1)])
        read += last - first
        for p in range(first, last):
            w = np.uint64(indices[p])
            if level[w] < 0:
                level[w] = after
                if len(parent) > 0:
                    parent[w] = v
                queue[end] = w
                end += np.uint64(1)
    return np.int64(end), np.int64(read)


@helper
def expand(indptr, indices, begin, stop, after, level, parent, queue):
    """Queue what the vertices from `begin` to `stop` find, in the way that suits the graph."""
    if len(indices) > 8 * len(level):
        return expand_dense(indptr, indices, begin, stop, after, level, parent, queue)
    return expand_sparse(indptr, indices, begin, stop, after, level, parent, queue)


@helper
def edges_of(indptr, begin, stop, queue):
    """Return how many edges leave the vertices queued from `begin` to `stop`."""
    edges = np.int64(0)
    for i in range(begin, stop):
        v = np.int64(queue[i])
        edges += np.int64(indptr[v + 1]) - np.int64(indptr[v])
    return edges


@helper
def to_bits(begin, stop, queue, bits):
    """Mark the vertices queued from `begin` to `stop`."""
    for word in range(len(bits)):
        bits[word] = 0
    for i in range(begin, stop):
        v = np.int64(queue[i])
        bits[v >> 6] |= np.uint64(1) << np.uint64(v & 63)


@helper
def to_queue(bits, queue):
    """Queue the vertices that are marked; return how many they are."""
    end = np.int64(0)
    for word in range(len(bits)):
        left = bits[word]
        v = np.int64(64 * word)
        while left != np.uint64(0):
            if left & np.uint64(255) == np.uint64(0):
                left = left >> np.uint64(8)
                v += 8
                continue
            if left & np.uint64(1) != np.uint64(0):
                queue[end] = v
                end += 1
            left = left >> np.uint64(1)
            v += 1
    return end


@helper
def sort_few(queue, count):
    """Sort the first vertices of the queue, which are few: one after the other moves down."""
    for i in range(1, count):
        v = queue[i]
        at = np.int64(i)
        while at > 0 and queue[at - 1] > v:
            queue[at] = queue[at - 1]
            at -= 1
        queue[at] = v


@helper
def list_found(level, queue, bits, state):
    """Queue all vertices found in order, and behind the places of all vertices their levels.

    No vertex has a level then.
    """
    n = np.int64(len(level))
    found = np.int64(state[0])
    if 16 * found < n and found == state[2]:
        # The queue has all of them: no level pulled.
        if found * found < 8 * len(bits):
            sort_few(queue, found)
        else:
            to_bits(0, found, queue, bits)
            to_queue(bits, queue)
        for i in range(found):
            v = np.int64(queue[i])
            queue[n + 1 + i] = level[v]
            level[v] = -1
    else:
        end = np.int64(0)
        for v in range(n):
            queue[end] = v
            queue[n + 1 + end] = level[v]
            end += np.int64(level[v] >= 0)
            level[v] = -1
    state[5] = 2


@helper
def note(state, k, frontier, touched, produced):
    """Write what a level was that pushed."""
    at = 12 + 5 * (k % ((len(state) - 12) // 5))
    state[at] = frontier
    state[at + 1] = touched
    state[at + 2] = produced
    state[at + 3] = 0
    state[at + 4] = now()


@helper
def gained_by_pull(n, edges, ahead, state):
    """Return how much a pull takes less than pushing the frontier's edges, which are `ahead`.

    A vertex without a level reads on until an edge comes from the frontier: ``edges / ahead``
    entries, or all. Where it stops cannot be predicted: a wrong guess takes as long as 2.5 entries.
    All vertices are looked at.
    """
    missed = n - np.int64(state[0])
    rest = edges - np.int64(state[4]) - ahead
    if missed * edges < rest * ahead:
        rest = missed * edges // ahead
    state[6] = ahead
    state[7] = n // 4 + 5 * missed // 2 + rest
    return ahead - np.int64(state[7])


@kernel
def push_levels(
    low, high, indptr, indices, sources, many, few, budget, level, parent, queue, bits, state
):
    """Expand level after level, from `sources` on where the search begins.

    The search pauses before a level of `many` edges or more into which vertices should pull:
    `bits` has the vertices of the last one then. And it pauses when `budget` edges are read. At its
    end it lists the vertices if there are `few`, or if it found few of them.
    """
    n = np.int64(len(level))
    edges = np.int64(len(indices))
    for _ in range(low, high):
        if state[11] != 0:
            seed(sources, level, parent, queue, state)
        limit = np.int64(state[10])
        if state[5] != 0:
            ahead = np.int64(state[6])
            if ahead >= many and gained_by_pull(n, edges, ahead, state) > 0:
                break
            state[2] = to_queue(bits, queue)
            state[5] = 0
        begin = np.int64(state[1])
        end = np.int64(state[2])
        depth = np.int64(state[3])
        last = np.int64(state[4]) + budget
        while begin < end and depth < limit and state[4] < last:
            if edges >= many and 64 * (end - begin) >= n:
                ahead = edges_of(indptr, begin, end, queue)
                # A smaller gain does not pay for making the edges to each vertex.
                if ahead >= many and gained_by_pull(n, edges, ahead, state) > edges // 16:
                    to_bits(begin, end, queue, bits)
                    state[5] = 1
                    break
            depth += 1
            stop = end
            end, read = expand(indptr, indices, begin, stop, depth, level, parent, queue)
            note(state, depth - 1, stop - begin, read, end - stop)
            state[4] += read
            state[0] += end - stop
            begin = stop
        state[1] = begin
        state[2] = end
        state[3] = depth
        found = np.int64(state[0])
        is_over = (begin >= end or depth >= limit) and state[5] == 0
        if is_over and found < n and (n <= few or (16 * found < n and found == end)):
            list_found(level, queue, bits, state)


@kernel
def pull_level(low, high, outward, indptr, indices, after, level, parent, front, bits, state):
    """Look, for each vertex of some words that has no level, for a neighbour in the frontier.

    `indptr` and `indices` are edges to a vertex, `outward` has where those from it begin. `front`
    has the frontier, and `bits` gets the next one. Threads have words of their own.
    """
    n = np.int64(len(level))
    found = np.int64(0)
    read = np.int64(0)
    ahead = np.int64(0)
    for word in range(low, high):
        fresh = np.uint64(0)
        for v in range(64 * word, min(64 * word + 64, n)):
            if level[v] >= 0:
                continue
            begin = np.uint64(indptr[v])
            end = np.uint64(indptr[v + 1])
            p = begin
            while p < end:
                u = np.uint64(indices[p])
                p += np.uint64(1)
                if (front[u >> np.uint64(6)] >> (u & np.uint64(63))) & np.uint64(1) != np.uint64(0):
                    level[v] = after
                    if len(parent) > 0:
                        parent[v] = u
                    fresh |= np.uint64(1) << np.uint64(v & 63)
                    found += 1
                    ahead += np.int64(outward[v + 1]) - np.int64(outward[v])
                    break
            read += np.int64(p - begin)
        bits[word] = fresh
    atomic_add(state, 6, ahead)
    atomic_add(state, 7, found)
    atomic_add(state, 8, read)
