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
    try:
        number = operator.index(vertex)
    except TypeError:
        number = None
    if number is None or isinstance(vertex, (bool, np.bool_)):
        raise InvalidIndex(f"{what} must be the number of a vertex, got {vertex!r}")
    if not 0 <= number < size:
        raise IndexOutOfBound(f"{what} {number} is outside [0, {size}), the graph's vertices")
    return number


def check_weights(A: Matrix, name: str, *, allow_negative: bool = False) -> None:
    """Check that path lengths over the values of `A` make sense.

    Raises
    ------
    NegativeWeight
        A value is NaN, or negative (with `allow_negative`: minus infinity).

    Notes
    -----
    At most two passes over the values, each read on the host: two synchronisations.
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
    if not isinstance(value, Real) or isinstance(value, bool) or not 0 <= value <= largest:
        raise InvalidValue(f"{what}={value!r} must be a number in [0, {largest}]")
    return float(value)


def vertex_dtype(size: int) -> Any:
    """Return the dtype of vertex numbers and levels of a graph with `size` vertices."""
    return dtypes.INT32 if size < _WIDE else dtypes.INT64
