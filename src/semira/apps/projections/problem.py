"""Checks of projections, and the product that each of them is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from semira import Matrix
from semira.apps.arrays import check_real
from semira.apps.products.problem import check_filters
from semira.apps.sampling.problem import matrix_of
from semira.exceptions import InvalidValue
from semira.kernels import ArrayKernel, array_module, rows_of

#: Of each weight: the product of two values, and the way to weigh the sum.
WEIGHTS: dict[str, tuple[str, str | None]] = {
    "count": ("pair", None),
    "none": ("exists", None),
    "ratio": ("pair", "scaled"),
    "overlap": ("pair", "overlap"),
    "jaccard": ("pair", "jaccard"),
    "collaboration": ("first", None),
    "cosine": ("times", "scaled"),
    "product": ("times", None),
    "first": ("first", None),
    "quotient": ("truediv", None),
    "share": ("share", None),
    "min": ("min", None),
}

#: Weights of (u, v) that are those of (v, u).
_SYMMETRIC = {*WEIGHTS} - {"first", "quotient", "share"}

_squares = ArrayKernel("semira.apps.products.kernels:rows", "row_squares")


@dataclass(frozen=True, slots=True)
class Problem:
    """A checked call."""

    #: `left`, `right`: whose product the projection is.
    left: Matrix
    right: Matrix
    #: ``"function"`` of one that was given as such.
    weight: str
    onto: str
    #: What `filtered_product` is given.
    options: dict[str, Any]

    @property
    def is_symmetric(self) -> bool:
        """Whether the result is symmetric."""
        return self.weight in _SYMMETRIC and self.options["top"] is None

    @property
    def is_whole(self) -> bool:
        """Whether the weights count all pairs."""
        filters = self.options["top"], self.options["threshold"]
        return self.weight == "count" and filters == (None, None)


def checked(
    A: Any, onto: Any, weight: Any, function: Any, top: Any, threshold: Any, keep_diagonal: Any,
    memory: Any,
) -> Problem:  # fmt: skip
    """Return the product of a call of `project`, which says what is raised."""
    A = matrix_of(A, "project", square=False)
    if onto not in ("columns", "rows"):
        raise InvalidValue(f"onto={onto!r} must be 'columns' or 'rows'")
    if not isinstance(weight, str) or weight not in WEIGHTS:
        known = ", ".join(WEIGHTS)
        raise InvalidValue(f"weight={weight!r} must be one of {known}; give others as function=")
    is_named = function is None
    weight = weight if is_named else "function"
    check_filters(top, threshold, memory)
    if is_named and weight == "none" and (top is not None or threshold is not None):
        raise InvalidValue("weight='none' leaves nothing for top= and threshold= to compare")
    check_real(A, "project")
    other = transposed(A)
    left, right = (other, A) if onto == "columns" else (A, other)
    options: dict[str, Any] = {
        "top": top, "threshold": threshold, "drop_diagonal": not keep_diagonal, "memory": memory
    }  # fmt: skip
    multiply, weigh = WEIGHTS[weight] if is_named else (function, None)
    if is_named and multiply not in ("pair", "exists"):
        left, right = _with_values(left, right, weight)
    if weigh is not None:
        numbers = _numbers(left, right, weight)
        options |= {"weigh": weigh, "left": numbers[0], "right": numbers[1]}
    return Problem(left, right, weight, onto, {"multiply": multiply, **options})


def transposed(A: Matrix) -> Matrix:
    """Return the transpose; it stays with the matrix."""
    found: Matrix = A.derived("transposed", A.T.new)
    return found


def _with_values(left: Matrix, right: Matrix, weight: str) -> tuple[Matrix, Matrix]:
    """Return the operands with the values that a weight adds up."""
    if weight != "collaboration":
        return left, right
    with array_module(left.device) as xp:
        rows, degrees = rows_of(left, values=False), _degrees(right)
        # 1 / (d(w) - 1); alone, w joins nobody
        share = xp.where(degrees > 1, 1 / xp.maximum(degrees - 1, 1), 0.0)
        made = Matrix.from_csr(
            rows.indptr, rows.indices, share[rows.indices], nrows=left.nrows, ncols=left.ncols,
            device=left.device,
        )  # fmt: skip
    return made, right


def _numbers(left: Matrix, right: Matrix, weight: str) -> tuple[Any, Any]:
    """Return the numbers of rows and of columns that weigh a sum; they are the same."""
    with array_module(left.device) as xp:
        if weight == "ratio":
            return xp.full(left.nrows, float(left.ncols)), xp.ones(right.ncols)
        if weight != "cosine":
            degrees = _degrees(left).astype(xp.float64)
            return degrees, degrees
        rows = rows_of(left, dtype=np.float64)
        lengths = xp.empty(left.nrows, xp.float64)
        _squares(left.nrows, rows.indptr, rows.values, lengths, device=left.device)
        lengths = xp.sqrt(lengths)
        return lengths, lengths


def _degrees(matrix: Matrix) -> Any:
    indptr = rows_of(matrix, values=False).indptr
    return indptr[1:] - indptr[:-1]
