"""Entries of a matrix where a permutation has its ones."""

import numpy as np

from semira.algorithms.kernels.rows import entry_at
from semira.kernels import kernel


@kernel
def pick(low, high, indptr, indices, values, column_of, out):
    """Write the entry of each row at a column of its own; 0 where there is none, or no column."""
    for i in range(low, high):
        # No entry is in column -1.
        at = entry_at(indptr[i], indptr[i + 1], indices, np.int64(column_of[i]))
        out[i] = np.float64(values[at]) if at >= 0 else 0.0
