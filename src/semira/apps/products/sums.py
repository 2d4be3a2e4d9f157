"""The trace of a product that is not made."""

from __future__ import annotations

from typing import Any

from semira import Matrix, binary, monoid
from semira.apps.sampling.problem import matrix_of
from semira.exceptions import DimensionMismatch


def product_trace(X: Matrix, Y: Matrix, /) -> Any:
    """Return the trace of X Y', without the product: the sum of x_ij y_ij.

    Parameters
    ----------
    X, Y : Matrix, shape (m, n)
        Not modified. For the trace of X Y give ``Y.T.new()``.

    Returns
    -------
    number
        0 if no entry meets another.

    Raises
    ------
    DomainMismatch, DimensionMismatch
        One is no Matrix; shapes differ.

    Notes
    -----
    O(entries of both): X Y' may have m * m.

    Examples
    --------
    >>> X = Matrix.from_coo([0, 1], [1, 0], [2, 3])
    >>> product_trace(X, X)
    13
    """
    X, Y = matrix_of(X, "product_trace", square=False), matrix_of(Y, "product_trace", square=False)
    if X.shape != Y.shape:
        raise DimensionMismatch(f"product_trace: shapes {X.shape} and {Y.shape} differ")
    met = X.ewise_mult(Y, binary.times)
    return met.reduce_scalar(monoid.plus, allow_empty=False).new().value
