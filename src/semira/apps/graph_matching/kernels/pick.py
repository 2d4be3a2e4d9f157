"""Entries of a matrix where a permutation has its ones."""

import numpy as np

from semira.kernels import kernel


@kernel
def pick(low, high, indptr, indices, values, column_of, out):
    """Write the entry of each row at a column of its own; 0 where there is none, or no column."""
    for i in range(low, high):
        wanted = np.int64(column_of[i])
        first = np.int64(indptr[i])
        last = np.int64(indptr[i + 1])
        end = last
        while first < last:
            middle = (first + last) // 2
            if indices[middle] < wanted:
                first = middle + 1
            else:
                last = middle
        out[i] = 0.0
        if wanted >= 0 and first < end and indices[first] == wanted:
            out[i] = np.float64(values[first])
