"""Entries of compressed rows whose columns are in ascending order."""

import numpy as np

from semira.kernels import helper


@helper
def entry_at(begin, end, indices, column):
    """Return where a row from `begin` to `end` has a column, or -1."""
    low, high = np.int64(begin), np.int64(end)
    while low < high:
        middle = (low + high) // 2
        if indices[middle] < column:
            low = middle + 1
        else:
            high = middle
    if low < end and indices[low] == column:
        return low
    return np.int64(-1)
