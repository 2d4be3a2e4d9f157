"""The namespace ``semira.kernels``: kernels over plain arrays, on every device.

For work on graphs that is no product: random walks, local searches, medians of neighbours. A kernel
is one Python function for ``reference`` and ``cpu`` and one CUDA C++ template for ``cuda``.
The guide is docs/guide/kernels.md.
"""

from __future__ import annotations

import time
from typing import Any

from semira.frontend.array_kernels import (
    ArrayKernel,
    Rows,
    array_module,
    kernel,
    placed,
    rows_of,
    run_loop,
    vector_of,
    workspace,
)
from semira.ops.helpers import philox

__all__ = [
    "ArrayKernel",
    "Rows",
    "array_module",
    "atomic_add",
    "atomic_max",
    "atomic_min",
    "helper",
    "kernel",
    "now",
    "philox",
    "placed",
    "prefetch",
    "rows_of",
    "run_loop",
    "vector_of",
    "workspace",
]


def helper(function: Any) -> Any:
    """Mark a function as one that kernels of the same file call."""
    return function


def prefetch(array: Any, index: Any) -> None:
    """Fetch an element into the caches of a host, to be read some items later; elsewhere nothing.

    The index may lie outside of the array.
    """


def now() -> int:
    """Return the nanoseconds of `time.perf_counter_ns`; on hosts."""
    return time.perf_counter_ns()


def atomic_add(array: Any, index: Any, value: Any) -> Any:
    """Add to an integer of an array that other threads change too; return what it was.

    Examples
    --------
    >>> import numpy as np
    >>> counts = np.array([1, 2])
    >>> int(atomic_add(counts, 1, 5)), counts.tolist()
    (2, [1, 7])
    """
    old = array[index]
    array[index] += value
    return old


def atomic_min(array: Any, index: Any, value: Any) -> Any:
    """Lower an integer of an array that other threads change too; return what it was."""
    old = array[index]
    array[index] = min(old, value)
    return old


def atomic_max(array: Any, index: Any, value: Any) -> Any:
    """Raise an integer of an array that other threads change too; return what it was."""
    old = array[index]
    array[index] = max(old, value)
    return old
