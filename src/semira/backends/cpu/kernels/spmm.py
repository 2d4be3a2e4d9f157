"""Sparse times full: the left matrix by entries, columns or padded rows (see `semira.formats`).

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
def by_entry(
    lo, hi, rows, cols, a_values, a_stride, b_values, step_k, step_j, out_indptr, ncols, out_values,
):  # fmt: skip
    """Entries in row order; a row's are all of one thread."""
    before = np.int64(-1)
    for p in range(lo, hi):
        i = np.int64(rows[p])
        a = a_values[p * a_stride] if READS_A else 0
        add_row(
            i != before, i, np.int64(cols[p]), a, b_values, step_k, step_j, np.int64(out_indptr[i]),
            ncols, out_values,
        )  # fmt: skip
        before = i


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


@kernel
def by_padded_row(
    lo, hi, height, starts, slots, a_values, a_stride, b_values, step_k, step_j, out_indptr, ncols,
    out_values,
):  # fmt: skip
    for i in range(lo, hi):
        place = i // height
        p = np.int64(starts[place]) + i % height
        # Every slot of the slice lies before it; padding stands behind the entries of its row.
        end = np.int64(starts[place + 1])
        is_first = True
        while p < end and slots[p] >= 0:
            a = a_values[p * a_stride] if READS_A else 0
            add_row(
                is_first, i, np.int64(slots[p]), a, b_values, step_k, step_j,
                np.int64(out_indptr[i]), ncols, out_values,
            )  # fmt: skip
            is_first = False
            p += height
