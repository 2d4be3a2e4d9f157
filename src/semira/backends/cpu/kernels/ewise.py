"""Element-wise union and intersection. `x` and `y` are the defaults of a union with defaults."""

import numpy as np

from semira.backends.cpu.kernels.slots import (
    GAPS_A,
    GAPS_B,
    ISO_A,
    ISO_B,
    READS_A,
    READS_B,
    UNION,
    VECTOR,
    combine,
    kernel,
    only_a,
    only_b,
)


@kernel
def rows(
    lo, hi, a_indptr, a_indices, a_values, a_stride, b_indptr, b_indices, b_values, b_stride,
    x, y, out_indptr, out_indices, out_values,
):  # fmt: skip
    """Merge sorted rows; row counts go to ``out_indptr[i + 1]``; returns the entries written."""
    n = 0
    for i in range(lo, hi):
        before = n
        p = a_indptr[i]
        q = b_indptr[i]
        p_end = a_indptr[i + 1]
        q_end = b_indptr[i + 1]
        while (p < p_end or q < q_end) if UNION else (p < p_end and q < q_end):
            if q >= q_end or (p < p_end and a_indices[p] <= b_indices[q]):
                j = a_indices[p]
                has_a = True
                has_b = q < q_end and b_indices[q] == j
            else:
                j = b_indices[q]
                has_a = False
                has_b = True
            row = j if VECTOR else i
            col = 0 if VECTOR else j
            if has_a and has_b:
                a = a_values[p * a_stride] if READS_A else 0
                b = b_values[q * b_stride] if READS_B else 0
                out_indices[n] = j
                out_values[n] = combine(a, b, row, col)
                n += 1
            elif UNION:
                out_indices[n] = j
                if has_a:
                    out_values[n] = only_a(a_values[p * a_stride], y, row, col)
                else:
                    out_values[n] = only_b(x, b_values[q * b_stride], row, col)
                n += 1
            p += has_a
            q += has_b
        out_indptr[i + 1] = n - before
    return n


@kernel
def dense(
    lo, hi, a_present, ap_stride, a_values, a_stride, b_present, bp_stride, b_values, b_stride,
    x, y, out_present, out_values,
):  # fmt: skip
    """Two vectors by position; returns the number of entries."""
    num = 0
    for i in range(lo, hi):
        has_a = a_present[i * ap_stride]
        has_b = b_present[i * bp_stride]
        if has_a and has_b:
            a = a_values[i * a_stride] if READS_A else 0
            b = b_values[i * b_stride] if READS_B else 0
            out_values[i] = combine(a, b, i, 0)
        elif UNION and has_a:
            out_values[i] = only_a(a_values[i * a_stride], y, i, 0)
        elif UNION and has_b:
            out_values[i] = only_b(x, b_values[i * b_stride], i, 0)
        else:
            continue
        out_present[i] = True
        num += 1
    return num


@kernel
def full(lo, hi, a_values, b_values, out_values):
    """Two vectors with an entry at every position; unsigned counting lets it be vectorised."""
    for i in range(np.uint64(lo), np.uint64(hi)):
        a = a_values[0 if ISO_A else i] if READS_A else 0
        b = b_values[0 if ISO_B else i] if READS_B else 0
        out_values[i] = combine(a, b, i, 0)


@kernel
def common(lo, hi, a_present, a_values, b_present, b_values, out_present, out_values):
    """Intersection by position without a branch: what is computed beside entries is not seen."""
    num = 0
    for i in range(np.uint64(lo), np.uint64(hi)):
        here = (a_present[i] if GAPS_A else True) & (b_present[i] if GAPS_B else True)
        a = a_values[0 if ISO_A else i] if READS_A else 0
        b = b_values[0 if ISO_B else i] if READS_B else 0
        out_values[i] = combine(a, b, i, 0)
        out_present[i] = here
        num += here
    return num


@kernel
def listed(lo, hi, indices, a_values, a_stride, b_values, b_stride, out_values):
    """Pairs of values at given positions of a vector."""
    for q in range(lo, hi):
        a = a_values[q * a_stride] if READS_A else 0
        b = b_values[q * b_stride] if READS_B else 0
        out_values[q] = combine(a, b, indices[q], 0)
