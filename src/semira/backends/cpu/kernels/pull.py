"""Row-wise matrix-vector product: each row that the mask lets through looks its operands up.

`rows` lists the rows when there are few; entry `q` of the result then belongs to ``rows[q]``.
"""

from semira.backends.cpu.kernels.slots import (
    EXIT_FIRST,
    EXIT_TERMINAL,
    FULL,
    ISO_RESULT,
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
    lo, hi, rows, indptr, indices, e_values, e_stride, present, x_values, x_stride,
    may, may_true, complement, out_present, out_values,
):  # fmt: skip
    num = 0
    work = 0
    for q in range(lo, hi):
        out = rows[q] if LISTED else q
        if MASKED and (may[out] and may_true[out]) == complement:
            continue
        begin = indptr[out]
        end = indptr[out + 1]
        read = end - begin
        found = False
        if ISO_RESULT:
            if FULL:
                found = read > 0
                if EXIT_FIRST and found:
                    read = begin - begin + 1
            else:
                for p in range(begin, end):
                    if present[indices[p]]:
                        found = True
                        if EXIT_FIRST:
                            read = p - begin + 1
                            break
        elif read > 0:
            # The first operand starts the sum: the identity may not show (min of NaN is NaN).
            first = begin
            if not FULL:
                while first < end and not present[indices[first]]:
                    first += 1
            if first < end:
                found = True
                k = indices[first]
                edge = e_values[first * e_stride] if READS_E else 0
                x = x_values[k * x_stride] if READS_X else 0
                total = multiply(edge, x, out, k)
                if EXIT_FIRST:
                    read = first - begin + 1
                else:
                    for p in range(first + 1, end):
                        if EXIT_TERMINAL and total == TERMINAL:
                            read = p - begin
                            break
                        k = indices[p]
                        if not FULL and not present[k]:
                            continue
                        edge = e_values[p * e_stride] if READS_E else 0
                        x = x_values[k * x_stride] if READS_X else 0
                        total = add(total, multiply(edge, x, out, k))
                out_values[q] = total
        work += read
        if found:
            out_present[q] = True
            num += 1
    return num, work
