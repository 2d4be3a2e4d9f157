"""Weights become integers."""

import numpy as np

from semira.kernels import kernel


@kernel
def whole(low, high, weights, factor, out):
    """Multiply by a power of two and round; positive weights become 1 at least."""
    for p in range(low, high):
        weight = np.float64(weights[p])
        rounded = np.int64(np.floor(weight * factor + 0.5))
        if rounded == 0 and weight > 0.0:
            rounded = np.int64(1)
        out[p] = rounded
