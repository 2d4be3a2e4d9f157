"""Keeping the entries for which an operator is true."""

import numpy as np

from semira.backends.cpu.kernels.slots import VALUES, keep, kernel


@kernel
def listed(lo, hi, indices, values, stride, thunk, kept):
    """Entries of a sparse vector: sets ``kept[q]``, returns how many."""
    num = 0
    for q in range(lo, hi):
        a = values[q * stride] if VALUES else 0
        kept[q] = keep(a, indices[q], 0, thunk)
        num += kept[q]
    return num


@kernel
def dense(lo, hi, present, p_stride, values, stride, thunk, kept):
    """Positions of a bitmap or full vector."""
    num = 0
    for i in range(lo, hi):
        if present[i * p_stride]:
            a = values[i * stride] if VALUES else 0
            if keep(a, i, 0, thunk):
                kept[i] = True
                num += 1
    return num


@kernel
def rows(lo, hi, indptr, indices, values, stride, thunk, out_indptr, out_indices, out_values):
    """Rows of a matrix; row counts go to ``out_indptr[i + 1]``; returns the entries kept."""
    n = np.uint64(0)
    step = np.uint64(stride)
    for i in range(lo, hi):
        before = n
        for p in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            j = indices[p]
            a = values[p * step] if VALUES else 0
            # Written in any case, and overwritten if not kept: no branch to guess.
            out_indices[n] = j
            out_values[n * step] = values[p * step]
            n += np.uint64(1) if keep(a, i, j, thunk) else np.uint64(0)
        out_indptr[i + 1] = n - before
    return n
