"""Soft-max of the entries of each row."""

from __future__ import annotations

from typing import Any

import numpy as np

from semira.frontend.array_kernels import kernel


@kernel
def softmax(low: int, high: int, indptr: Any, values: Any, is_log: bool, out: Any) -> None:
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
