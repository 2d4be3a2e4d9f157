"""One operator on every entry; `bound` is a bound operand or a thunk."""

import numpy as np

from semira.backends.cpu.kernels.slots import LISTED, VALUES, call, kernel


@kernel
def entries(lo, hi, indices, values, bound, out):
    """Entries of a vector: listed positions, or every one."""
    for q in range(np.uint64(lo), np.uint64(hi)):
        i = indices[q] if LISTED else q
        a = values[q] if VALUES else 0
        out[q] = call(a, i, 0, bound)


@kernel
def rows(lo, hi, indptr, indices, values, bound, out):
    """Entries of a matrix by rows."""
    for i in range(lo, hi):
        for p in range(indptr[i], indptr[i + 1]):
            a = values[p] if VALUES else 0
            out[p] = call(a, i, indices[p], bound)


@kernel
def pairs(lo, hi, rows, cols, values, bound, out):
    """Entries at listed rows and columns."""
    for p in range(lo, hi):
        a = values[p] if VALUES else 0
        out[p] = call(a, rows[p], cols[p], bound)
