"""A function of the user over the subgraph of each neighbourhood."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np

from semira import Matrix, Vector, binary, device, dtypes, semiring
from semira.apps.scan_statistics.problem import Problem
from semira.exceptions import DomainMismatch, InvalidValue

#: Vertices whose neighbourhoods are found at once.
_BLOCK = 256


def by_function(problem: Problem, function: Callable[[Matrix], Any]) -> Vector:
    """Return what a function tells of the subgraph of each neighbourhood. FP64.

    Raises DomainMismatch if it cannot be called, or what it returns is no real number. Raises
    InvalidValue if it returns NaN.
    """
    if not callable(function):
        raise DomainMismatch(f"local_scan: function={function!r} cannot be called")
    near, edges = problem.near, problem.edges
    found = np.empty(near.nrows)
    with device(near.device):
        for first in range(0, near.nrows, _BLOCK):
            last = min(first + _BLOCK, near.nrows)
            sets = near[first:last, :].new() if problem.is_given else _within(problem, first, last)
            begins, members, _ = sets.to_csr()
            for row in range(last - first):
                places = members[begins[row] : begins[row + 1]]
                told = function(edges[places, places].new())
                found[first + row] = _number(told, first + row)
        return Vector.from_dense(found)


def _within(problem: Problem, first: int, last: int) -> Matrix:
    """Return a row for each of some vertices: whom `k` steps reach."""
    rows = np.arange(last - first)
    reached: Matrix = Matrix.from_coo(
        rows, rows + first, True, nrows=len(rows), ncols=problem.near.ncols
    )
    for _ in range(problem.k):
        before = reached.nvals
        reached(binary.lor) << reached.mxm(problem.near, semiring.any_pair[dtypes.BOOL])
        if reached.nvals == before:
            break
    return reached


def _number(told: Any, row: int) -> float:
    value = getattr(told, "value", told)
    if not isinstance(value, Real | np.bool_):
        raise DomainMismatch(
            f"local_scan: the function returned a {type(told).__name__} for neighbourhood {row}; "
            "return a real number"
        )
    if np.isnan(float(value)):
        raise InvalidValue(f"local_scan: the function returned NaN for neighbourhood {row}")
    return float(value)
