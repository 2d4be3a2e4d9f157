"""Moving entries within an array."""

import numpy as np

from semira.backends.cpu.kernels.slots import kernel


@kernel
def shift(array, begin, to, number):
    """Move entries towards the start; the two places may overlap."""
    for p in range(np.uint64(number)):
        array[np.uint64(to) + p] = array[np.uint64(begin) + p]
