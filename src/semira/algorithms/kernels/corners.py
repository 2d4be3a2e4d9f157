"""Triangles of each vertex, along an acyclic orientation of the edges; neighbours of two vertices.

Items are the vertices, on GPUs the entries. To each end of an edge its weight is added, `times` so
often.
"""

import numpy as np

from semira.kernels import atomic_add, kernel


@kernel
def count_corners(
    low, high, heads, indptr, indices, alike, times,  # noqa: ARG001
    counts, mark, mine, stop,
):  # fmt: skip
    """Count the triangles of each vertex.

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
            found = times
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


@kernel
def weigh_corners(
    low, high, heads, indptr, indices, alike, values,  # noqa: ARG001
    times, counts, mark, mine, stop,
):  # fmt: skip
    """Add up what the sides opposite to each vertex weigh in its triangles.

    Neighbours of a vertex are marked with their entry, and looked for among those of each.
    """
    for u in range(low, high):
        if atomic_add(stop, 0, 0) != 0:
            break
        first = np.int64(indptr[u])
        for p in range(first, indptr[u + 1]):
            mark[indices[p]] = p + 1
        for p in range(first, indptr[u + 1]):
            v = np.int64(indices[p])
            for q in range(indptr[v], indptr[v + 1]):
                w = np.int64(indices[q])
                there = np.int64(mark[w]) - 1
                if there >= first:
                    mine[u] += values[q]
                    mine[v] += values[there]
                    mine[w] += values[p]
            mine[u] += times * values[p]
            mine[v] += times * values[p]
    for v in range(len(counts)):
        if mine[v] != 0:
            atomic_add(counts, v, mine[v])


@kernel
def share_pairs(low, high, counts, degrees, out):
    """Return the share of the pairs of neighbours that are connected."""
    for v in range(low, high):
        pairs = degrees[v] * (degrees[v] - 1)
        out[v] = np.float64(2 * counts[v]) / np.float64(max(pairs, 1))


@kernel
def count_all(low, high, indptr, indices, total, mark, stop):
    """Add up the triangles whose edges lead away from some vertices. Looks do not branch."""
    found = np.int64(0)
    for u in range(low, high):
        if atomic_add(stop, 0, 0) != 0:
            break
        first = np.uint64(indptr[u])
        last = np.uint64(indptr[u + 1])
        for p in range(first, last):
            mark[np.uint64(indices[p])] = u + 1
        for p in range(first, last):
            v = np.uint64(indices[p])
            for q in range(np.uint64(indptr[v]), np.uint64(indptr[v + np.uint64(1)])):
                found += np.int64(mark[np.uint64(indices[q])] == u + 1)
    atomic_add(total, 0, found)


@kernel
def overlap_pairs(low, high, firsts, seconds, indptr, indices, out, mark, stop):
    """Write what part of the neighbours of each pair of vertices both have; 0 if none.

    Pairs are compressed rows, of which the items are some. Looks do not branch.
    """
    for u in range(low, high):
        if atomic_add(stop, 0, 0) != 0:
            break
        first = np.uint64(indptr[u])
        last = np.uint64(indptr[u + 1])
        if firsts[u + 1] > firsts[u]:
            for p in range(first, last):
                mark[np.uint64(indices[p])] = u + 1
        for pair in range(firsts[u], firsts[u + 1]):
            v = np.uint64(seconds[pair])
            begin = np.uint64(indptr[v])
            end = np.uint64(indptr[v + np.uint64(1)])
            both = np.int64(0)
            for q in range(begin, end):
                both += np.int64(mark[np.uint64(indices[q])] == u + 1)
            united = np.int64(last - first) + np.int64(end - begin) - both
            out[pair] = np.float64(both) / np.float64(max(united, 1))
