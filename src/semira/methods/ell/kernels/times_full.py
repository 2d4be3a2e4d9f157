"""Padded rows times a full matrix; see `semira.backends.cpu.kernels.spmm`."""

import numpy as np

from semira.backends.cpu.kernels.slots import READS_A, kernel
from semira.backends.cpu.kernels.spmm import add_row


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
