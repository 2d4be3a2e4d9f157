"""Strong components by one search in depth."""

import numpy as np

from semira.kernels import helper, kernel


@helper
def close_component(v, mine, rank, label, stack, top):
    """Name the vertices on the stack that were met after `v` after the smallest; return its top."""
    bottom = top
    least = v
    while bottom > 0 and rank[stack[bottom - 1]] >= mine:
        bottom -= 1
        least = min(least, np.int64(stack[bottom]))
    for i in range(bottom, top):
        label[stack[i]] = least
        rank[stack[i]] = len(rank) + 1
    label[v] = least
    rank[v] = len(rank) + 1
    return bottom


@kernel
def search_in_depth(low, high, indptr, indices, label, rank, stack, path, first, edge):
    """Find strong components. `rank` is 0 at first.

    It is then the number of the earliest vertex that a vertex leads back to, and larger than all
    of them once its component is known. A path has vertices, the numbers that they began with, and
    the entries that are next.
    """
    for _ in range(low, high):
        met = np.int64(0)
        top = np.int64(0)
        for root in range(len(rank)):
            depth = np.int64(-1)
            if rank[root] == 0:
                depth = np.int64(0)
                met += 1
                rank[root] = met
                path[0] = root
                first[0] = met
                edge[0] = indptr[root]
            while depth >= 0:
                v = np.int64(path[depth])
                p = edge[depth]
                if p < indptr[v + 1]:
                    edge[depth] = p + 1
                    u = np.int64(indices[p])
                    if rank[u] == 0:
                        depth += 1
                        met += 1
                        rank[u] = met
                        path[depth] = u
                        first[depth] = met
                        edge[depth] = indptr[u]
                    else:
                        rank[v] = min(rank[v], rank[u])
                    continue
                mine = np.int64(rank[v])
                if mine == first[depth]:
                    top = close_component(v, mine, rank, label, stack, top)
                else:
                    stack[top] = v
                    top += 1
                depth -= 1
                if depth >= 0:
                    u = np.int64(path[depth])
                    rank[u] = min(np.int64(rank[u]), mine)
