"""Matrix-vector product that looks at every entry of the matrix; buffers are those of `push`."""

import numpy as np

from semira.backends.cpu.kernels.slots import (
    FULL,
    ISO_RESULT,
    MASKED,
    READS_E,
    READS_X,
    add,
    kernel,
    multiply,
)


@kernel
def push_entries(
    lo, hi, sources, targets, e_values, e_stride, present, x_values, x_stride,
    may, may_true, complement, mark, acc, touched,
):  # fmt: skip
    """Look at every entry of the matrix whether the vector has one at its source."""
    num = 0
    for p in range(np.uint64(lo), np.uint64(hi)):
        k = np.uint64(sources[p])
        if not FULL and not present[k]:
            continue
        out = np.uint64(targets[p])
        if MASKED and (may[out] and may_true[out]) == complement:
            continue
        if ISO_RESULT:
            if not mark[out]:
                mark[out] = True
                touched[num] = out
                num += 1
        else:
            edge = e_values[p * np.uint64(e_stride)] if READS_E else 0
            x = x_values[k * np.uint64(x_stride)] if READS_X else 0
            t = multiply(edge, x, out, k)
            if mark[out]:
                acc[out] = add(acc[out], t)
            else:
                mark[out] = True
                acc[out] = t
                touched[num] = out
                num += 1
    return num, hi - lo
