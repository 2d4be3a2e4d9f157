"""Sparse times full: the columns of the left matrix, and what others share.

Entry (i, j) of the result is ``out_values[out_indptr[i] + j]``: rows have every column, or none.
"""

import numpy as np

from semira.backends.cpu.kernels.slots import READS_A, READS_B, add, helper, kernel, multiply


@helper
def add_row(is_first, i, k, a, b_values, step_k, step_j, place, ncols, out_values):
    """Take row k of B, times `a`, into row i of the result; the first one starts its sums."""
    q = k * step_k
    for j in range(ncols):
        b = b_values[q + j * step_j] if READS_B else 0
        t = multiply(a, b, i, k, j)
        out_values[place + j] = t if is_first else add(out_values[place + j], t)


@kernel
def by_column(
    lo, hi, indptr, rows, a_values, a_stride, b_values, step_k, step_j, has, out_indptr, out_values,
):  # fmt: skip
    """Columns `lo` to `hi` of the result; `has` is False for every row before."""
    for k in range(len(indptr) - 1):
        for p in range(indptr[k], indptr[k + 1]):
            i = np.int64(rows[p])
            a = a_values[p * a_stride] if READS_A else 0
            place = np.int64(out_indptr[i])
            for j in range(lo, hi):
                b = b_values[k * step_k + j * step_j] if READS_B else 0
                t = multiply(a, b, i, np.int64(k), np.int64(j))
                out_values[place + j] = add(out_values[place + j], t) if has[i] else t
            has[i] = True
