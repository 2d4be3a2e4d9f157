"""Products whose left operand is a block of vectors: every column gathers what its rows wait for.

Blocks lie by column: a word for each column and 32 rows says which of these rows have an entry
there, and values of a column's rows are neighbours.
"""

import numpy as np

from semira.backends.cpu.kernels.slots import (
    EXIT_FIRST,
    EXIT_TERMINAL,
    ISO_RESULT,
    READS_A,
    READS_B,
    TERMINAL,
    VALUES,
    add,
    kernel,
    multiply,
)


@kernel
def pack(num_rows, indptr, indices, values, present, dense):
    """Set the bit of every entry; with VALUES also write its value."""
    one = np.uint32(1)
    for i in range(num_rows):
        word = i >> 5
        bit = one << np.uint32(i & 31)
        for p in range(indptr[i], indptr[i + 1]):
            j = indices[p]
            present[j, word] |= bit
            if VALUES:
                dense[j, i] = values[p]


@kernel
def pull(
    lo, hi, indptr, indices, b_values, b_stride, wanted, present, a_values, a_stride,
    first, found, out_values,
):  # fmt: skip
    """Columns `lo` to `hi` of the product. A column is left when no row waits for more of it.

    `first` is the number of the block's first row; `wanted` tells which rows wait, `found` (zero
    on entry) which got something.
    """
    work = 0
    one = np.uint32(1)
    for j in range(lo, hi):
        for word in range(wanted.shape[1]):
            left = wanted[j, word]
            got = np.uint32(0)
            for p in range(indptr[j], indptr[j + 1]):
                if left == 0:
                    break
                work += 1
                k = indices[p]
                met = present[k, word] & left
                if met == 0:
                    continue
                if ISO_RESULT:
                    got |= met
                    if EXIT_FIRST:
                        left ^= met
                else:
                    b = b_values[p * b_stride] if READS_B else 0
                    for shift in range(32):
                        bit = one << np.uint32(shift)
                        if met & bit:
                            i = 32 * word + shift
                            a = a_values[(k * out_values.shape[1] + i) * a_stride] if READS_A else 0
                            t = multiply(a, b, first + i, k, j)
                            if got & bit:
                                out_values[j, i] = add(out_values[j, i], t)
                            else:
                                out_values[j, i] = t
                                got |= bit
                            if EXIT_FIRST or (EXIT_TERMINAL and out_values[j, i] == TERMINAL):
                                left &= ~bit
            found[j, word] = got
    return work


@kernel
def count(found, counts):
    """Count the entries of every row; `counts` is zero on entry."""
    one = np.uint32(1)
    for j in range(found.shape[0]):
        for word in range(found.shape[1]):
            bits = found[j, word]
            shift = 0
            while bits != 0:
                if bits & one:
                    counts[32 * word + shift] += 1
                bits >>= one
                shift += 1


@kernel
def unpack(found, dense, starts, indices, values):
    """List the entries row by row; `starts`, where each row begins, moves to its end."""
    one = np.uint32(1)
    for j in range(found.shape[0]):
        for word in range(found.shape[1]):
            bits = found[j, word]
            shift = 0
            while bits != 0:
                if bits & one:
                    i = 32 * word + shift
                    at = starts[i]
                    indices[at] = j
                    if VALUES:
                        values[at] = dense[j, i]
                    starts[i] = at + 1
                bits >>= one
                shift += 1
