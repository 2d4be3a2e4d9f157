"""Row-wise matrix-vector product of padded rows, which lie as `EllArrays` says.

`rows` lists the rows when there are few; entry `q` of the result then belongs to ``rows[q]``.
Positions are counted unsigned: a negative one would count from the end, and be tested for it.
"""

import numpy as np

from semira.backends.cpu.kernels.slots import (
    EXIT_FIRST,
    EXIT_TERMINAL,
    FULL,
    ISO_RESULT,
    LENGTHS,
    LISTED,
    MASKED,
    READS_E,
    READS_X,
    TERMINAL,
    add,
    kernel,
    multiply,
)


@kernel
def pull(
    lo, hi, rows, height, starts, lengths, indices, e_values, e_stride, present, x_values,
    x_stride, may, may_true, complement, out_present, out_values,
):  # fmt: skip
    num = 0
    work = 0
    step = np.uint64(height)
    for q in range(np.uint64(lo), np.uint64(hi)):
        out = np.uint64(rows[q]) if LISTED else q
        if MASKED and (may[out] and may_true[out]) == complement:
            continue
        place = out // step
        p = np.uint64(starts[place]) + out % step
        # Every slot of the slice lies before it.
        end = np.uint64(starts[place + np.uint64(1)])
        if LENGTHS:
            end = p + np.uint64(lengths[out]) * step
        found = False
        if not ISO_RESULT:
            total = out_values[q]
        while p < end:
            if not LENGTHS and indices[p] < 0:
                break
            work += 1
            k = np.uint64(indices[p])
            if FULL or present[k]:
                if not ISO_RESULT:
                    edge = e_values[p * np.uint64(e_stride)] if READS_E else 0
                    x = x_values[k * np.uint64(x_stride)] if READS_X else 0
                    # The first operand starts the sum: the identity may not show.
                    t = multiply(edge, x, out, k)
                    total = add(total, t) if found else t
                found = True
                if EXIT_FIRST:
                    break
                if EXIT_TERMINAL and total == TERMINAL:
                    break
            p += step
        if found:
            if not ISO_RESULT:
                out_values[q] = total
            out_present[q] = True
            num += 1
    return num, work
