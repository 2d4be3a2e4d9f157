"""Row-wise matrix-vector product: each row that the mask lets through looks its operands up.

`rows` lists the rows when there are few; entry `q` of the result then belongs to ``rows[q]``.
INTO: the result has an entry for every row, what `old` holds with the row's sum accumulated.
Positions are counted unsigned: a negative one would count from the end, and be tested for it.
"""

import numpy as np

from semira.backends.cpu.kernels.slots import (
    EXIT_FIRST,
    EXIT_TERMINAL,
    FULL,
    INTO,
    ISO_RESULT,
    LISTED,
    MASKED,
    READS_E,
    READS_X,
    TERMINAL,
    accumulate,
    add,
    kernel,
    multiply,
)


@kernel
def pull(
    lo, hi, rows, indptr, indices, e_values, e_stride, present, x_values, x_stride,
    may, may_true, complement, old, o_stride, out_present, out_values,
):  # fmt: skip
    num = 0
    work = np.uint64(0)
    for q in range(np.uint64(lo), np.uint64(hi)):
        out = np.uint64(rows[q]) if LISTED else q
        if MASKED and (may[out] and may_true[out]) == complement:
            continue
        begin = np.uint64(indptr[out])
        end = np.uint64(indptr[out + np.uint64(1)])
        read = end - begin
        found = False
        if ISO_RESULT:
            if FULL:
                found = begin < end
                if EXIT_FIRST and found:
                    read = np.uint64(1)
            else:
                for p in range(begin, end):
                    if present[np.uint64(indices[p])]:
                        found = True
                        if EXIT_FIRST:
                            read = p - begin + np.uint64(1)
                            break
        elif begin < end:
            # The first operand starts the sum: the identity may not show (min of NaN is NaN).
            first = begin
            if not FULL:
                while first < end and not present[np.uint64(indices[first])]:
                    first += np.uint64(1)
            if first < end:
                found = True
                k = np.uint64(indices[first])
                edge = e_values[first * np.uint64(e_stride)] if READS_E else 0
                x = x_values[k * np.uint64(x_stride)] if READS_X else 0
                total = multiply(edge, x, out, k)
                if EXIT_FIRST:
                    read = first - begin + np.uint64(1)
                else:
                    for p in range(first + np.uint64(1), end):
                        if EXIT_TERMINAL and total == TERMINAL:
                            read = p - begin
                            break
                        k = np.uint64(indices[p])
                        if not FULL and not present[k]:
                            continue
                        edge = e_values[p * np.uint64(e_stride)] if READS_E else 0
                        x = x_values[k * np.uint64(x_stride)] if READS_X else 0
                        total = add(total, multiply(edge, x, out, k))
                kept = accumulate(old[q * np.uint64(o_stride)], total) if INTO else total
                out_values[q] = kept
        work += read
        if INTO and not found:
            out_values[q] = old[q * np.uint64(o_stride)]
        elif not INTO and found:
            out_present[q] = True
            num += 1
    return num, work
