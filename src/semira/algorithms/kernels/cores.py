"""Core numbers, one vertex after the other."""

import numpy as np

from semira.kernels import helper, kernel


@helper
def leave_out_loops(indptr, indices, degree):
    """Lower the degrees of vertices that are neighbours of themselves."""
    for v in range(len(degree)):
        for p in range(indptr[v], indptr[v + 1]):
            if indices[p] == v:
                degree[v] -= 1


@helper
def order_by_degree(degree, order, place, begins):
    """Order vertices by degree; those of degree d begin at ``begins[d]``, which is 0 at first."""
    # One place further on, they begin there before they are placed, and end there after it.
    for v in range(len(degree)):
        begins[degree[v] + 2] += 1
    for d in range(3, len(begins)):
        begins[d] += begins[d - 1]
    for v in range(len(degree)):
        at = begins[degree[v] + 1]
        order[at] = v
        place[v] = at
        begins[degree[v] + 1] = at + 1


@kernel
def peel_in_order(low, high, indptr, indices, core, order, place, begins):
    """Take off the vertex of least degree, again and again; in `core` are the lengths of rows.

    A neighbour that loses an edge changes places with the first of its degree, and is the last one
    of the degree below from then on.
    """
    for _ in range(low, high):
        leave_out_loops(indptr, indices, core)
        order_by_degree(core, order, place, begins)
        for i in range(len(core)):
            v = np.int64(order[i])
            least = core[v]
            for p in range(indptr[v], indptr[v + 1]):
                u = np.int64(indices[p])
                d = np.int64(core[u])
                if d <= least:
                    continue
                first = np.int64(begins[d])
                w = np.int64(order[first])
                if w != u:
                    at = place[u]
                    order[at] = w
                    place[w] = at
                    order[first] = u
                    place[u] = first
                begins[d] = first + 1
                core[u] = d - 1
