"""Entries times a full matrix; see `semira.backends.cpu.kernels.spmm`."""

import numpy as np

from semira.backends.cpu.kernels.slots import READS_A, kernel
from semira.backends.cpu.kernels.spmm import add_row


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
