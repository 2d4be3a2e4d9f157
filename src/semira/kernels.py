"""The namespace ``semira.kernels``: kernels over plain arrays, on every device.

For work on graphs that is no product: random walks, local searches, medians of neighbours. A kernel
is one Python function for ``reference`` and ``cpu`` and one CUDA C++ template for ``cuda``.
The guide is docs/guide/kernels.md.
"""

from __future__ import annotations

from typing import Any

from semira.frontend.array_kernels import ArrayKernel, Rows, array_module, rows_of
from semira.ops.helpers import philox

__all__ = ["ArrayKernel", "Rows", "array_module", "helper", "kernel", "philox", "rows_of"]


def kernel(function: Any) -> Any:
    """Mark a function as one that an `ArrayKernel` names."""
    return function


def helper(function: Any) -> Any:
    """Mark a function as one that kernels of the same file call."""
    return function
