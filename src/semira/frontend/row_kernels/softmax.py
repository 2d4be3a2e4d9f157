"""Soft-max of the entries of each row."""

# Its types are the arrays it is called with.
# mypy: ignore-errors
# ruff: noqa: ANN001, ANN201

import numpy as np

from semira.frontend.array_kernels import kernel


@kernel
def softmax(low, high, indptr, values, is_log, out):
    """Write exp(x - maximum) over its sum over the row, or the logarithm of that."""
    for i in range(low, high):
        most = -np.inf
        for p in range(indptr[i], indptr[i + 1]):
            x = np.float64(values[p])
            most = x if x > most else most  # noqa: FURB136 - floats
        total = 0.0
        for p in range(indptr[i], indptr[i + 1]):
            total += np.exp(np.float64(values[p]) - most)
        shift = np.log(total) if total > 0.0 else total
        for p in range(indptr[i], indptr[i + 1]):
            x = np.float64(values[p]) - most
            out[p] = x - shift if is_log else np.exp(x) / total
