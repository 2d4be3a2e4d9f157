"""Trees over vertices, which become one where an edge joins them."""

import numpy as np

from semira.kernels import atomic_min, helper, kernel


@helper
def shared_root(parents, v):
    """Return the root of a tree, and hang vertices on the way one step higher.

    Numbers only fall, so that nothing is lost which another thread wrote meanwhile.
    """
    parent = np.int64(parents[v])
    while parent != v:
        further = np.int64(parents[parent])
        if further != parent:
            atomic_min(parents, v, further)
        v = parent
        parent = further
    return v


@helper
def joined(parents, a, b):
    """Make one tree of those of two roots; return its root, unless another thread hung that."""
    while a != b:
        if a < b:
            c = a
            a = b
            b = c
        before = np.int64(atomic_min(parents, a, b))
        # Another thread hung it below a vertex: that one and the smaller root are united.
        a = b if before == a else before
    return b


@kernel
def unite(low, high, indptr, indices, few, half, without, parents):
    """Unite the trees of neighbours, of which each number is the smaller root; threads may share.

    Rows are read to the entry `few`, those of vertices right below the root `without` not at all.
    With `half`, entries right of the diagonal are left out: those left of it are the same edges.
    """
    for v in range(low, high):
        if parents[v] == without:
            continue
        a = shared_root(parents, np.int64(v))
        for p in range(indptr[v], min(np.int64(indptr[v + 1]), np.int64(indptr[v]) + few)):
            u = np.int64(indices[p])
            if (half and u >= v) or parents[u] == a:
                continue
            b = shared_root(parents, u)
            if a != b:
                a = joined(parents, a, b)


@kernel
def flatten(low, high, parents):
    """Hang every vertex below its root."""
    for v in range(low, high):
        root = np.int64(parents[v])
        while parents[root] != root:
            root = np.int64(parents[root])
        parents[v] = root


@helper
def root_of(parents, v):
    """Return the root of a tree that no other thread knows, and shorten the way to it."""
    parent = np.int64(parents[v])
    while parent != v:
        further = np.int64(parents[parent])
        parents[v] = further
        v = parent
        parent = further
    return v


@kernel
def join_in_order(low, high, heads, tails, places, most, parents, keep):
    """Keep the edges, in their order, that join two trees; `most` of them at most."""
    for _ in range(low, high):
        found = np.int64(0)
        for k in range(len(heads)):
            a = root_of(parents, np.int64(heads[k]))
            b = root_of(parents, np.int64(tails[k]))
            if a == b:
                continue
            keep[places[k]] = True
            parents[max(a, b)] = min(a, b)
            found += 1
            if found == most:
                break
