"""Keeping the largest entries of each row: a heap of places, the worst one at its root."""

import numpy as np

from semira.backends.cpu.kernels.slots import helper, kernel


@helper
def _beats(a, p, b, q):
    """Whether value `a` at place `p` goes before `b` at `q`: the larger, the earlier; NaN last."""
    if a == b or (a != a and b != b):  # noqa: PLR0124 - NaN
        return p < q
    return a > b or b != b  # noqa: PLR0124 - NaN


@helper
def _sink(values, heap, at):
    """Move an item down until it is worse than those below it."""
    item = heap[at]
    while 2 * at + 1 < len(heap):
        child = 2 * at + 1
        if child + 1 < len(heap):
            other = heap[child + 1]
            if _beats(values[heap[child]], heap[child], values[other], other):
                child += 1
        if _beats(values[heap[child]], heap[child], values[item], item):
            break
        heap[at] = heap[child]
        at = child
    heap[at] = item


@kernel
def largest(lo, hi, indptr, indices, values, heap, out_indptr, out_indices, out_values):
    """Keep as many entries of each row as `heap` has places; returns how many of all rows.

    Row counts go to ``out_indptr[i + 1]``.
    """
    n = 0
    k = len(heap)
    for i in range(lo, hi):
        before = n
        begin = np.int64(indptr[i])
        end = np.int64(indptr[i + 1])
        is_cut = end - begin > k
        if is_cut:
            for s in range(k):
                heap[s] = begin + s
            for s in range(k // 2):
                _sink(values, heap, k // 2 - 1 - s)
            for p in range(begin + k, end):
                if _beats(values[p], p, values[heap[0]], heap[0]):
                    heap[0] = p
                    _sink(values, heap, 0)
        for p in range(begin, end):
            if is_cut and _beats(values[heap[0]], heap[0], values[p], p):
                continue
            out_indices[n] = indices[p]
            out_values[n] = values[p]
            n += 1
        out_indptr[i + 1] = n - before
    return n
