"""Products of a push written down one after the other, and what makes one list of them."""

import numpy as np

from semira.backends.cpu.kernels.slots import ISO_RESULT, READS_E, READS_X, add, kernel, multiply


@kernel
def list_products(
    lo, hi, at, frontier, x_values, x_stride, indptr, indices, e_values, e_stride, keys, values
):
    """Write the products of some of the frontier's vertices from place `at` on."""
    for q in range(lo, hi):
        k = frontier[q]
        x = x_values[q * x_stride] if READS_X else 0
        for p in range(np.uint64(indptr[k]), np.uint64(indptr[k + 1])):
            out = np.uint64(indices[p])
            keys[at] = out
            if not ISO_RESULT:
                edge = e_values[p * np.uint64(e_stride)] if READS_E else 0
                values[at] = multiply(edge, x, out, k)
            at += 1


@kernel
def scatter_listed(keys, values, mark, acc):
    """Let the last of the products that meet stay; returns how many places have one."""
    num = 0
    for q in range(len(keys)):
        out = np.uint64(keys[q])
        num += not mark[out]
        mark[out] = True
        if not ISO_RESULT:
            acc[out] = values[q]
    return num


@kernel
def count_digits(keys, shift, starts):
    """Set `starts` to where keys of each digit begin; its length is a power of 2."""
    last = len(starts) - 1
    for digit in range(len(starts)):
        starts[digit] = 0
    for q in range(len(keys)):
        starts[(keys[q] >> shift) & last] += 1
    total = 0
    for digit in range(len(starts)):
        count = starts[digit]
        starts[digit] = total
        total += count


@kernel
def move_by_digit(keys, values, shift, starts, keys_to, values_to):
    """Move keys, and values with them, to where their digits begin; equal ones keep their order."""
    last = len(starts) - 1
    for q in range(len(keys)):
        digit = (keys[q] >> shift) & last
        at = starts[digit]
        starts[digit] = at + 1
        keys_to[at] = keys[q]
        if not ISO_RESULT:
            values_to[at] = values[q]


@kernel
def fold_runs(keys, values, found, sums):
    """Fold the values of equal keys, which lie together, in their order; returns their number."""
    num = 0
    for q in range(len(keys)):
        if q > 0 and keys[q] == keys[q - 1]:
            if not ISO_RESULT:
                sums[num - 1] = add(sums[num - 1], values[q])
        else:
            found[num] = keys[q]
            if not ISO_RESULT:
                sums[num] = values[q]
            num += 1
    return num
