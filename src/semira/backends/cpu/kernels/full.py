"""Products with an operand that has every entry, whose values are read where they lie.

Lines of the other operand are walked: B has ``b_values[k * step_k + j * step_j]`` at (k, j), a
result is whole lines, or some of their positions. Positions are counted unsigned: a negative one
would count from the end, and be tested for it.
"""

import numpy as np

from semira.backends.cpu.kernels.slots import (
    EXIT_FIRST,
    EXIT_TERMINAL,
    READS_A,
    READS_B,
    TERMINAL,
    add,
    helper,
    kernel,
    multiply,
)


@helper
def is_final(values, place, width):
    """Return whether every sum of a line has the terminal value."""
    for at in range(place, place + width):  # noqa: SIM110 - Numba compiles no generators
        if values[at] != TERMINAL:
            return False
    return True


@kernel
def by_row(
    lo, hi, indptr, indices, a_values, a_stride, b_values, step_k, ncols, out_indptr, out_values
):  # fmt: skip
    """Add rows of B, whose values are neighbours, to a row of the result; return entries read.

    Whether all of a row is final is asked behind 17, 49, 113, ... entries.
    """
    one = np.uint64(1)
    width = np.uint64(ncols)
    work = np.uint64(0)
    for i in range(np.uint64(lo), np.uint64(hi)):
        begin = np.uint64(indptr[i])
        end = np.uint64(indptr[i + one])
        if begin == end:
            continue
        if EXIT_FIRST:
            end = begin + one
        place = np.uint64(out_indptr[i])
        # The first operand starts the sum: the identity may not show.
        k = np.uint64(indices[begin])
        row = k * np.uint64(step_k)
        a = a_values[begin * np.uint64(a_stride)] if READS_A else 0
        for j in range(width):
            b = b_values[row + j] if READS_B else 0
            out_values[place + j] = multiply(a, b, i, k, j)
        at = begin + one
        batch = np.uint64(16)
        while at < end:
            stop = min(at + batch, end) if EXIT_TERMINAL else end
            for p in range(at, stop):
                k = np.uint64(indices[p])
                row = k * np.uint64(step_k)
                a = a_values[p * np.uint64(a_stride)] if READS_A else 0
                for j in range(width):
                    b = b_values[row + j] if READS_B else 0
                    out_values[place + j] = add(out_values[place + j], multiply(a, b, i, k, j))
            at = stop
            if EXIT_TERMINAL:
                if is_final(out_values, place, width):
                    break
                batch += batch
        work += at - begin
    return np.int64(work)


@kernel
def by_position(
    lo, hi, indptr, indices, a_values, a_stride, b_values, step_k, step_j,
    out_indptr, listed, out_indices, out_values,
):  # fmt: skip
    """Sum up one position after the other; `out_indices` lists them if `listed`, else they are all.

    Lines without entries have no positions. Return the entries read.
    """
    one = np.uint64(1)
    work = np.uint64(0)
    for i in range(np.uint64(lo), np.uint64(hi)):
        begin = np.uint64(indptr[i])
        end = np.uint64(indptr[i + one])
        first = np.uint64(out_indptr[i])
        for n in range(first, np.uint64(out_indptr[i + one])):
            j = np.uint64(out_indices[n]) if listed else n - first
            # Only tells the type: a total counts from the first product on.
            total = out_values[n]
            for p in range(begin, end):
                k = np.uint64(indices[p])
                a = a_values[p * np.uint64(a_stride)] if READS_A else 0
                b = b_values[k * np.uint64(step_k) + j * np.uint64(step_j)] if READS_B else 0
                t = multiply(a, b, i, k, j)
                total = t if p == begin else add(total, t)
                work += one
                if EXIT_FIRST or (EXIT_TERMINAL and total == TERMINAL):
                    break
            out_values[n] = total
    return np.int64(work)
