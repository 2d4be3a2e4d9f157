"""Matrix-vector products that scatter: the entries of the vector walk their rows.

A chunk of these entries works on dense buffers of its own: `mark` (clean on entry),
`acc`, and the list `touched` of marked positions in the order they were met.
"""

import numpy as np

from semira.backends.cpu.kernels.slots import (
    ISO_RESULT,
    MASKED,
    READS_E,
    READS_X,
    add,
    helper,
    kernel,
    multiply,
)


@kernel
def push(
    lo, hi, frontier, x_values, x_stride, indptr, indices, e_values, e_stride,
    may, may_true, complement, mark, acc, touched,
):  # fmt: skip
    num = 0
    work = 0
    for q in range(lo, hi):
        k = frontier[q]
        x = x_values[q * x_stride] if READS_X else 0
        begin = indptr[k]
        end = indptr[k + 1]
        work += end - begin
        # Unsigned: a negative position would count from the end, and be tested for it.
        for p in range(np.uint64(begin), np.uint64(end)):
            out = np.uint64(indices[p])
            if MASKED and (may[out] and may_true[out]) == complement:
                continue
            if ISO_RESULT:
                if not mark[out]:
                    mark[out] = True
                    touched[num] = out
                    num += 1
            else:
                edge = e_values[p * np.uint64(e_stride)] if READS_E else 0
                t = multiply(edge, x, out, k)
                if mark[out]:
                    acc[out] = add(acc[out], t)
                else:
                    mark[out] = True
                    acc[out] = t
                    touched[num] = out
                    num += 1
    return num, work


@helper
def folded(out, other_mark, other_acc, mark, acc):
    """Fold the value of a position into another buffer; return whether there was none yet."""
    other_mark[out] = False
    is_new = not mark[out]
    mark[out] = True
    if not ISO_RESULT:
        acc[out] = other_acc[out] if is_new else add(acc[out], other_acc[out])
    return is_new


@kernel
def merge_touched(num_other, other_touched, other_mark, other_acc, num, touched, mark, acc):
    """Fold the buffers of a later chunk into those of an earlier one, and clean them."""
    for q in range(num_other):
        out = other_touched[q]
        if folded(out, other_mark, other_acc, mark, acc):
            touched[num] = out
            num += 1
    return num


@kernel
def merge_range(lo, hi, other_mark, other_acc, mark, acc):
    """Do the same for a range of positions, whatever was touched; returns the marks in it."""
    num = 0
    for out in range(lo, hi):
        if other_mark[out]:
            folded(out, other_mark, other_acc, mark, acc)
        num += mark[out]
    return num
