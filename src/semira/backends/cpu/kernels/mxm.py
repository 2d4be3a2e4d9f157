"""Matrix-matrix products: dot products at the mask's positions, or row by row (Gustavson)."""

import numpy as np

from semira.backends.cpu.kernels.slots import (
    COUNTS,
    EXIT_FIRST,
    EXIT_TERMINAL,
    HASHED,
    ISO_RESULT,
    MASKED,
    READS_A,
    READS_B,
    TERMINAL,
    add,
    helper,
    kernel,
    multiply,
)


@helper
def lower_bound(indices, lo, hi, wanted):
    while lo < hi:
        middle = (lo + hi) >> 1
        if indices[middle] < wanted:
            lo = middle + 1
        else:
            hi = middle
    return lo


@helper
def meet_by_search(
    i, j, p_begin, p_end, a_indices, a_values, a_stride, q, q_end, b_indices, b_values, b_stride,
    total,
):  # fmt: skip
    """Look the short row's columns up in the long column; returns found, total, reads."""
    found = False
    work = 0
    for p in range(p_begin, p_end):
        k = a_indices[p]
        q = lower_bound(b_indices, q, q_end, k)
        work += 1
        if q == q_end:
            break
        if b_indices[q] != k:
            continue
        if not ISO_RESULT:
            a = a_values[p * a_stride] if READS_A else 0
            b = b_values[q * b_stride] if READS_B else 0
            t = multiply(a, b, i, k, j)
            total = add(total, t) if found else t
        found = True
        if EXIT_FIRST or (EXIT_TERMINAL and total == TERMINAL):
            break
    return found, total, work


@helper
def meet_by_scan(
    i, j, p_begin, where, a_values, a_stride, q_begin, q_end, b_indices, b_values, b_stride, total
):
    """Go through the column and look its rows up in `where`; returns found, total, reads."""
    found = False
    work = 0
    for q in range(q_begin, q_end):
        k = b_indices[q]
        at = where[k]
        work += 1
        if not at:
            continue
        if not ISO_RESULT:
            a = a_values[(p_begin + at - 1) * a_stride] if READS_A else 0
            b = b_values[q * b_stride] if READS_B else 0
            t = multiply(a, b, i, k, j)
            total = add(total, t) if found else t
        found = True
        if EXIT_FIRST or (EXIT_TERMINAL and total == TERMINAL):
            break
    return found, total, work


@helper
def count_common(where, q_begin, q_end, b_indices):
    """Go through the column and count its rows in `where`, without a branch."""
    num = np.int64(0)
    for q in range(np.uint64(q_begin), np.uint64(q_end)):
        num += where[np.uint64(b_indices[q])]
    return num


@kernel
def dot(
    lo, hi, m_indptr, m_indices, a_indptr, a_indices, a_values, a_stride,
    b_indptr, b_indices, b_values, b_stride, where, out_indptr, out_indices, out_values,
):  # fmt: skip
    """Row i of A against column j of B for each (i, j) of the mask.

    `where` (zero on entry and exit) tells where row i has column k: its offset + 1 if values
    of A are read. A column much longer than the row is searched instead of scanned, one that ends
    before the row begins (or the other way round) is not looked at.
    """
    n = 0
    work = 0
    for i in range(lo, hi):
        before = n
        p_begin = a_indptr[i]
        p_end = a_indptr[i + 1]
        if p_begin == p_end or m_indptr[i] == m_indptr[i + 1]:
            out_indptr[i + 1] = 0
            continue
        lowest = a_indices[p_begin]
        highest = a_indices[p_end - 1]
        is_marked = False
        for m in range(m_indptr[i], m_indptr[i + 1]):
            j = m_indices[m]
            q = b_indptr[j]
            q_end = b_indptr[j + 1]
            if q == q_end or b_indices[q_end - 1] < lowest or b_indices[q] > highest:
                continue
            is_searched = q_end - q > 16 * (p_end - p_begin)
            if not (is_searched or is_marked):
                is_marked = True
                work += p_end - p_begin
                for p in range(p_begin, p_end):
                    where[a_indices[p]] = p - p_begin + 1
            # Only tells the type: a total counts from the first product on.
            total = 0 if ISO_RESULT else out_values[n]
            if is_searched:
                found, total, reads = meet_by_search(
                    i, j, p_begin, p_end, a_indices, a_values, a_stride,
                    q, q_end, b_indices, b_values, b_stride, total,
                )  # fmt: skip
            elif COUNTS:
                reads = np.int64(q_end - q)
                total = count_common(where, q, q_end, b_indices)
                found = total > 0
            else:
                found, total, reads = meet_by_scan(
                    i, j, p_begin, where, a_values, a_stride,
                    q, q_end, b_indices, b_values, b_stride, total,
                )  # fmt: skip
            work += reads
            if found:
                out_indices[n] = j
                if not ISO_RESULT:
                    out_values[n] = total
                n += 1
        if is_marked:
            for p in range(p_begin, p_end):
                where[a_indices[p]] = 0
        out_indptr[i + 1] = n - before
    return n, work


@helper
def sort_range(keys, lo, hi):
    """Sort distinct integers in place: quicksort on halves of halves, insertion at the end."""
    while hi - lo > 24:
        pivot = keys[(lo + hi) >> 1]
        left = lo
        right = hi - 1
        while left <= right:
            while keys[left] < pivot:
                left += 1
            while keys[right] > pivot:
                right -= 1
            if left <= right:
                swap = keys[left]
                keys[left] = keys[right]
                keys[right] = swap
                left += 1
                right -= 1
        # The shorter part first: calls nest no deeper than the logarithm of the length.
        if right + 1 - lo < hi - left:
            sort_range(keys, lo, right + 1)
            lo = left
        else:
            sort_range(keys, left, hi)
            hi = right + 1
    for place in range(lo + 1, hi):
        key = keys[place]
        other = place - 1
        while other >= lo and keys[other] > key:
            keys[other + 1] = keys[other]
            other -= 1
        keys[other + 1] = key


@helper
def slot_of(j, keys, slots_mask):
    """Return the slot of column `j` in a table of open addresses, or the empty one to take."""
    at = (j * 0x9E3779B1) & slots_mask
    while keys[at] != j and keys[at] >= 0:
        at = (at + 1) & slots_mask
    return at


@helper
def write_row(
    n, num, ncols, state, keys, slots_mask, acc, touched, out_indices, out_values
):  # fmt: skip
    """Move a row from the accumulator to position `n` of the result, in column order."""
    if not HASHED and num * 16 > ncols:
        place = n
        for j in range(ncols):
            if state[j]:
                out_indices[place] = j
                place += 1
    else:
        for place in range(num):
            out_indices[n + place] = keys[touched[place]] if HASHED else touched[place]
        sort_range(out_indices, n, n + num)
    for place in range(n, n + num):
        j = out_indices[place]
        at = slot_of(j, keys, slots_mask) if HASHED else j
        if not ISO_RESULT:
            out_values[place] = acc[at]
        if not HASHED:
            state[at] = False
    if HASHED:
        # Only now: an emptied slot would break the search for a key behind it.
        for place in range(num):
            keys[touched[place]] = -1


@kernel
def row_wise(
    lo, hi, a_indptr, a_indices, a_values, a_stride, b_indptr, b_indices, b_values, b_stride,
    m_indptr, m_indices, complement, mark, ncols, state, keys, slots_mask, acc, touched,
    out_indptr, out_indices, out_values,
):  # fmt: skip
    """Row i of the product: the rows of B that row i of A names, added up in an accumulator.

    Dense: slot = column, `state` (clean on entry and exit) tells which are taken. Hashed: `keys`
    (all -1 on entry and exit) does. The row is written in column order.
    """
    n = 0
    work = 0
    for i in range(lo, hi):
        num = 0
        if MASKED:
            for m in range(m_indptr[i], m_indptr[i + 1]):
                mark[m_indices[m]] = True
        for p in range(a_indptr[i], a_indptr[i + 1]):
            k = a_indices[p]
            a = a_values[p * a_stride] if READS_A else 0
            for q in range(b_indptr[k], b_indptr[k + 1]):
                j = b_indices[q]
                if MASKED and mark[j] == complement:
                    continue
                if HASHED:
                    at = slot_of(j, keys, slots_mask)
                    taken = keys[at] == j
                else:
                    at = j
                    taken = state[j]
                if ISO_RESULT:
                    if not taken:
                        touched[num] = at
                        num += 1
                else:
                    b = b_values[q * b_stride] if READS_B else 0
                    t = multiply(a, b, i, k, j)
                    if taken:
                        acc[at] = add(acc[at], t)
                    else:
                        acc[at] = t
                        touched[num] = at
                        num += 1
                if HASHED:
                    keys[at] = j
                else:
                    state[at] = True
            work += b_indptr[k + 1] - b_indptr[k]
        write_row(n, num, ncols, state, keys, slots_mask, acc, touched, out_indices, out_values)
        if MASKED:
            for m in range(m_indptr[i], m_indptr[i + 1]):
                mark[m_indices[m]] = False
        out_indptr[i + 1] = num
        n += num
    return n, work
