"""Values at positions that a full vector names; moving entries within an array."""

import numpy as np

from semira.backends.cpu.kernels.slots import kernel


@kernel
def gather(lo, hi, positions, values, out):
    """Look values up; return whether every position is there, else the rest is left out."""
    for q in range(np.uint64(lo), np.uint64(hi)):
        # A negative one is beyond all.
        k = np.uint64(np.int64(positions[q]))
        if k >= np.uint64(len(values)):
            return False
        out[q] = values[k]
    return True


@kernel
def shift(array, begin, to, number):
    """Move entries towards the start; the two places may overlap."""
    for p in range(np.uint64(number)):
        array[np.uint64(to) + p] = array[np.uint64(begin) + p]
