"""Greedy colours and greedy independent sets, one vertex after the other."""

import numpy as np

from semira.kernels import atomic_add, kernel, prefetch


@kernel
def colour_in_order(low, high, indptr, indices, order, colour, mark, stop):
    """Give each vertex the least colour that its neighbours leave; `colour` is -1 at first.

    In `mark`, which is 0 at first, has colour c at place c + 1 the last vertex with a neighbour of
    that colour, by its number in the order and 1 more. Place 0 is for those without a colour.
    """
    count = np.int64(len(order))
    for _ in range(low, high):
        for i in range(count):
            if i & 4095 == 0 and atomic_add(stop, 0, 0) != 0:
                break
            v = np.uint64(order[i])
            if i + 8 < count:
                prefetch(indptr, order[i + 8])
                prefetch(indices, indptr[np.uint64(order[i + 4])])
            for p in range(np.uint64(indptr[v]), np.uint64(indptr[v + np.uint64(1)])):
                mark[np.int64(colour[np.uint64(indices[p])]) + 1] = i + 1
            c = np.int64(1)
            while mark[c] == i + 1:
                c += 1
            colour[v] = c - 1


@kernel
def join_in_scan(low, high, indptr, indices, order, near, member, stop):
    """Let each vertex join that is near to none that did; both flags are False at first."""
    count = np.int64(len(order))
    for _ in range(low, high):
        for i in range(count):
            if i & 4095 == 0 and atomic_add(stop, 0, 0) != 0:
                break
            if i + 8 < count:
                prefetch(near, order[i + 8])
                prefetch(indptr, order[i + 8])
            v = np.uint64(order[i])
            if near[v]:
                continue
            member[v] = True
            for p in range(np.uint64(indptr[v]), np.uint64(indptr[v + np.uint64(1)])):
                near[np.uint64(indices[p])] = True
