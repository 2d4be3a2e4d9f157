"""Checks of arguments that the algorithms share."""

from __future__ import annotations

import operator
from numbers import Real
from typing import Any

import numpy as np

from semira import Matrix, dtypes, monoid, unary
from semira.exceptions import (
    DimensionMismatch,
    DomainMismatch,
    IndexOutOfBound,
    InvalidIndex,
    InvalidValue,
    NegativeWeight,
)

#: Graphs with fewer vertices have 32-bit vertex numbers and levels.
_WIDE = 2**31


def check_square(A: Any, name: str) -> int:
    """Return the number of vertices of an adjacency matrix.

    Raises
    ------
    DomainMismatch
        `A` is no Matrix.
    DimensionMismatch
        It is not square.
    """
    if not isinstance(A, Matrix):
        raise DomainMismatch(f"{name} needs a Matrix, got {type(A).__name__}")
    if A.nrows != A.ncols:
        raise DimensionMismatch(
            f"{name} needs a square adjacency matrix, got shape {A.shape}; entry (i, j) is the "
            "edge from vertex i to vertex j"
        )
    return A.nrows


def check_vertex(vertex: Any, size: int, what: str = "source") -> int:
    """Return a vertex as an int.

    Raises
    ------
    InvalidIndex
        It is not an integer.
    IndexOutOfBound
        The graph of `size` vertices does not have it.
    """
    number = _integer(vertex)
    if number is None:
        raise InvalidIndex(f"{what} must be the number of a vertex, got {vertex!r}")
    if not 0 <= number < size:
        raise IndexOutOfBound(f"{what} {number} is outside [0, {size}), the graph's vertices")
    return number


def check_count(value: Any, what: str) -> int:
    """Return an integer >= 0 as an int.

    Raises
    ------
    InvalidValue
        It is negative or no integer.
    """
    number = _integer(value)
    if number is None or number < 0:
        raise InvalidValue(f"{what}={value!r} must be an integer >= 0")
    return number


def _integer(value: Any) -> int | None:
    """Return an integer as an int, None for anything else."""
    if isinstance(value, (bool, np.bool_)):
        return None
    try:
        return operator.index(value)
    except TypeError:
        return None


def check_weights(A: Matrix, name: str, *, allow_negative: bool = False) -> None:
    """Check that path lengths over the values of `A` make sense.

    Raises
    ------
    NegativeWeight
        A value is NaN, or negative (with `allow_negative`: minus infinity).

    Notes
    -----
    At most two passes over the values, each read on the host: two synchronisations, until the
    matrix is written not again.
    """
    kind = A.dtype.kind
    if kind == "F" and A.apply(unary.isnan).reduce_scalar(monoid.lor).value:
        raise NegativeWeight(f"{name}: a weight is nan; remove such edges or give them a length")
    if kind in "BU" or (kind == "I" and allow_negative):
        return
    least = A.reduce_scalar(monoid.min).value
    if least is not None and least < (-np.inf if allow_negative else 0):
        raise NegativeWeight(
            f"{name} needs weights that are not negative, but one is {least}; "
            "sssp(..., method='bellman_ford') takes negative weights"
        )
    if allow_negative and least == -np.inf:
        raise NegativeWeight(f"{name}: a weight is {least}; give that edge a finite length")


def check_number(value: Any, what: str, largest: float = np.inf) -> float:
    """Return a number in [0, largest] as a float.

    Raises
    ------
    InvalidValue
        It is outside, NaN, or no number.
    """
    number = np.nan if isinstance(value, bool) or not isinstance(value, Real) else float(value)
    if not 0 <= number <= largest:
        raise InvalidValue(f"{what}={value!r} must be a number in [0, {largest}]")
    return number


def vertex_dtype(size: int) -> Any:
    """Return the dtype of vertex numbers and levels of a graph with `size` vertices."""
    return dtypes.INT32 if size < _WIDE else dtypes.INT64
