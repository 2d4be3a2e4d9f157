"""Accumulate, mask, replace: what becomes of the output, given the result of an operation.

At each position: Z holds the result, or with UNION the output as well, overlapping entries
accumulated; the output takes Z where it may be written, else keeps or (REPLACE) drops its entry.
With REGION (of an assignment) Z holds the output outside of the region.
"""

import numpy as np

from semira.backends.cpu.kernels.slots import (
    DELETES,
    FULL,
    GAPS_A,
    GAPS_B,
    ISO_A,
    ISO_B,
    MASKED,
    REGION,
    REPLACE,
    SUBMASK,
    UNION,
    accumulate,
    helper,
    kernel,
    store,
)


@kernel
def scatter(
    positions, given, values, stride, may, may_true, complement, present, p_stride,
    out_values, count,
):  # fmt: skip
    """Write at distinct positions, in place; `count` keeps the number of entries."""
    for q in range(len(positions)):
        at = positions[q]
        if MASKED and (may[at] and may_true[at]) == complement:
            continue
        here = present[at * p_stride]
        if DELETES and not given[q]:
            present[at * p_stride] = False
            count[0] -= here
            continue
        t = values[q * stride]
        if here:
            out_values[at] = accumulate(out_values[at], t)
        else:
            present[at * p_stride] = True
            out_values[at] = store(t)
            count[0] += 1


@kernel
def full(lo, hi, t_present, t_values, o_values, new_values):
    """Accumulate into an output A with an entry at every position, no mask; B is the result."""
    for at in range(np.uint64(lo), np.uint64(hi)):
        old = o_values[0 if ISO_A else at]
        if FULL or t_present[at]:
            new_values[at] = accumulate(old, t_values[0 if ISO_B else at])
        else:
            new_values[at] = old


@kernel
def overwrite(
    lo, hi, t_present, t_values, may, may_true, complement, o_present, o_values,
    new_present, new_values,
):  # fmt: skip
    """Update under a mask without accumulator, and without a branch; returns the entries."""
    num = 0
    for at in range(np.uint64(lo), np.uint64(hi)):
        allowed = (may[at] & may_true[at]) != complement
        has_t = t_present[at] if GAPS_B else True
        has_o = o_present[at] if GAPS_A else True
        here = (allowed & has_t) | ((not allowed) & has_o & (not REPLACE))
        t = store(t_values[0 if ISO_B else at])
        new_values[at] = t if allowed & has_t else o_values[0 if ISO_A else at]
        new_present[at] = here
        num += here
    return num


@kernel
def fold_into(positions, values, stride, new_values):
    """Accumulate values at positions that may repeat, in order."""
    for q in range(len(positions)):
        at = positions[q]
        new_values[at] = accumulate(new_values[at], values[q * stride])


@kernel
def dense(
    lo, hi, t_present, tp_stride, t_values, t_stride, may, may_true, complement, inside,
    o_present, op_stride, o_values, o_stride, new_present, new_values,
):  # fmt: skip
    """Every position of a range; returns the number of entries."""
    num = 0
    for at in range(lo, hi):
        has_t = t_present[at * tp_stride]
        has_o = o_present[at * op_stride]
        here = inside[at] if REGION else True
        allowed = (may[at] and may_true[at]) != complement if MASKED else True
        if SUBMASK and not here:
            take_t = False
            take_o = has_o
        elif allowed:
            take_t = has_t
            take_o = has_o and (UNION or not here)
        else:
            take_t = False
            take_o = has_o and not REPLACE
        if take_t:
            if take_o:
                new_values[at] = accumulate(o_values[at * o_stride], t_values[at * t_stride])
            else:
                new_values[at] = store(t_values[at * t_stride])
            new_present[at] = True
            num += 1
        elif take_o:
            new_values[at] = o_values[at * o_stride]
            new_present[at] = True
            num += 1
    return num


@helper
def merge_segment(
    o, o_end, o_indices, o_values, o_stride, t, t_end, t_indices, t_values, t_stride,
    may, may_true, complement, row_inside, inside, n, new_indices, new_values,
):  # fmt: skip
    """Merge two sorted runs; returns the end of what was written from `n` on."""
    while o < o_end or t < t_end:
        if o < o_end and (t >= t_end or o_indices[o] <= t_indices[t]):
            at = o_indices[o]
            has_o = True
            has_t = t < t_end and t_indices[t] == at
        else:
            at = t_indices[t]
            has_o = False
            has_t = True
        here = row_inside and inside[at] if REGION else True
        allowed = (may[at] and may_true[at]) != complement if MASKED else True
        if SUBMASK and not here:
            take_t = False
            take_o = has_o
        elif allowed:
            take_t = has_t
            take_o = has_o and (UNION or not here)
        else:
            take_t = False
            take_o = has_o and not REPLACE
        if take_t:
            if take_o:
                new_values[n] = accumulate(o_values[o * o_stride], t_values[t * t_stride])
            else:
                new_values[n] = store(t_values[t * t_stride])
            new_indices[n] = at
            n += 1
        elif take_o:
            new_values[n] = o_values[o * o_stride]
            new_indices[n] = at
            n += 1
        o += has_o
        t += has_t
    return n


@kernel
def segment(
    o_indices, o_values, o_stride, t_indices, t_values, t_stride,
    may, may_true, complement, inside, new_indices, new_values,
):  # fmt: skip
    """Two sparse vectors."""
    return merge_segment(
        0, len(o_indices), o_indices, o_values, o_stride,
        0, len(t_indices), t_indices, t_values, t_stride,
        may, may_true, complement, True, inside, 0, new_indices, new_values,
    )  # fmt: skip


@kernel
def rows(
    lo, hi, base, o_indptr, o_indices, o_values, o_stride, t_indptr, t_indices, t_values, t_stride,
    m_indptr, m_indices, complement, mark, rows_inside, inside,
    new_indptr, new_indices, new_values,
):  # fmt: skip
    """Two matrices by rows; a chunk writes from `base` on and leaves row counts in `new_indptr`."""
    n = base
    for i in range(lo, hi):
        if MASKED:
            for p in range(m_indptr[i], m_indptr[i + 1]):
                mark[m_indices[p]] = True
        row_inside = rows_inside[i] if REGION else True
        end = merge_segment(
            o_indptr[i], o_indptr[i + 1], o_indices, o_values, o_stride,
            t_indptr[i], t_indptr[i + 1], t_indices, t_values, t_stride,
            mark, mark, complement, row_inside, inside, n, new_indices, new_values,
        )  # fmt: skip
        new_indptr[i + 1] = end - n
        n = end
        if MASKED:
            for p in range(m_indptr[i], m_indptr[i + 1]):
                mark[m_indices[p]] = False
    return n - base
