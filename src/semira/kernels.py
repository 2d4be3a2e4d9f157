"""The namespace ``semira.kernels``: kernels over plain arrays, on every device.

For work on graphs that is no product: random walks, local searches, medians of neighbours. A kernel
is one Python function for ``reference`` and ``cpu`` and one CUDA C++ template for ``cuda``.
The guide is docs/guide/kernels.md.
"""

from __future__ import annotations

from typing import Any

from semira.frontend.array_kernels import ArrayKernel, Rows, array_module, rows_of, run_loop
from semira.ops.helpers import philox

__all__ = [
    "ArrayKernel", "Rows", "array_module", "atomic_add",
    "helper", "kernel", "philox", "rows_of",
    "run_loop",
]  # fmt: skip


def kernel(function: Any) -> Any:
    """Mark a function as one that an `ArrayKernel` names."""
    return function


def helper(function: Any) -> Any:
    """Mark a function as one that kernels of the same file call."""
    return function


def atomic_add(array: Any, index: Any, value: Any) -> Any:
    """Add to an integer of an array that other threads add to as well, inside of a kernel.

    Parameters
    ----------
    array : array of int32, uint32, int64 or uint64
    index : int
    value : int

    Returns
    -------
    int
        What was there before.
    """
    before = array[index]
    array[index] = before + value
    return before
