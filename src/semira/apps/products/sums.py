"""Sums over rows and products that make no matrix: soft-max, log-sum-exp, traces."""

from __future__ import annotations

from typing import Any

from semira import Matrix, Vector, binary, dtypes, monoid, unary
from semira.apps.sampling.problem import matrix_of
from semira.exceptions import DimensionMismatch, DomainMismatch


def _float_dtype(A: Matrix, name: str) -> Any:
    kind = A.dtype.np_type.kind
    if kind not in "biuf":
        raise DomainMismatch(f"{name}: values of dtype {A.dtype} have no order; use real numbers")
    return A.dtype if kind == "f" else dtypes.FP64


def row_log_sum_exp(A: Matrix, /) -> Vector:
    """Return the logarithm of the sum of exponentials of each row, without overflow.

    ``w_i = m_i + log(sum over j of exp(a_ij - m_i))``, m_i the greatest value of row i.

    Parameters
    ----------
    A : Matrix, shape (m, n), real
        Not modified. Positions without an entry do not count.

    Returns
    -------
    Vector, shape (m,)
        FP32 for FP32, else FP64; no entry for an empty row.

    Raises
    ------
    DomainMismatch
        `A` is no real Matrix.

    Notes
    -----
    Two passes over the entries and a matrix of exponentials.

    Examples
    --------
    >>> A = Matrix.from_coo([0, 0, 2], [0, 1, 1], [1000.0, 1000.0, 3.0])
    >>> {i: round(x, 4) for i, x in row_log_sum_exp(A).to_dict().items()}
    {0: 1000.6931, 2: 3.0}
    """
    A = matrix_of(A, "row_log_sum_exp", square=False)
    _, most, total = _exponentials(A, "row_log_sum_exp")
    # The logarithm of the sum, and the greatest value again.
    found: Vector = total.apply(unary.log).new().ewise_mult(most, binary.plus).new()
    return found


def row_softmax(A: Matrix, /) -> Matrix:
    """Return the soft-max of each row: exponentials that add up to 1.

    ``s_ij = exp(a_ij - m_i) / sum over k of exp(a_ik - m_i)``, m_i the greatest value of row i.

    Parameters
    ----------
    A : Matrix, shape (m, n), real
        Not modified. Positions without an entry do not count.

    Returns
    -------
    Matrix, shape (m, n)
        With the entries of `A`; FP32 for FP32, else FP64.

    Raises
    ------
    DomainMismatch
        `A` is no real Matrix.

    Notes
    -----
    Two passes over the entries and a matrix of exponentials.

    Examples
    --------
    >>> A = Matrix.from_coo([0, 0, 2], [0, 1, 1], [1000.0, 1000.0, 3.0])
    >>> row_softmax(A).to_dicts()
    {0: {0: 0.5, 1: 0.5}, 2: {1: 1.0}}
    """
    A = matrix_of(A, "row_softmax", square=False)
    powers, _, total = _exponentials(A, "row_softmax")
    # Each exponential over the sum of its row.
    found: Matrix = total.ewise_mult(powers, binary.rtruediv).new()
    return found


def _exponentials(A: Matrix, name: str) -> tuple[Matrix, Vector, Vector]:
    """Return exp(a_ij - m_i), m_i, and the sums of the rows."""
    number = _float_dtype(A, name)
    most: Vector = A.reduce_rowwise(monoid.max).new(number)
    less: Matrix = most.ewise_mult(A, binary.rminus).new(number)
    powers: Matrix = less.apply(unary.exp).new()
    total: Vector = powers.reduce_rowwise(monoid.plus).new()
    return powers, most, total


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
