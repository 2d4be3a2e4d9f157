"""Matrices with few entries in each row: the first or the largest of others, one for each label."""

from __future__ import annotations

from typing import Any

from semira.base.dtypes import BOOL, INT32, INT64
from semira.base.errors import DomainMismatch
from semira.frontend import construct
from semira.frontend.call import Template, expression


def cut_rows(matrix: Any, k: int, *, largest: bool) -> Any:
    """Return the expression of `Matrix.first_per_row` and `Matrix.largest_per_row`."""
    if largest and matrix.dtype.kind not in "BIUF":
        raise DomainMismatch(
            f"largest_per_row compares values, and those of {matrix.dtype} have no order; apply "
            "an operator with real results first"
        )
    # No row has more entries than columns, and kernels count those of a row in 32 bits.
    k = min(construct.check_size(k, "k"), matrix.shape[1])
    source = matrix.new() if matrix._is_transposed else matrix
    params = (("k", k), ("largest", True)) if largest else (("k", k),)
    dims = (0, 0), (0, 1)
    return expression(
        Template("select_k", (source,), "matrix", matrix.dtype, matrix.shape, dims, params=params)
    )


def one_hot(labels: Any, ncols: int) -> Any:
    """Return the expression of `Vector.one_hot`."""
    if labels.dtype not in (INT32, INT64):
        raise DomainMismatch(f"one_hot takes values of INT32 or INT64, got {labels.dtype}")
    shape = labels.size, construct.check_size(ncols, "ncols")
    dims, params = ((0, 0), shape[1]), (("by_value", True),)
    return expression(Template("diag", (labels,), "matrix", BOOL, shape, dims, params=params))
