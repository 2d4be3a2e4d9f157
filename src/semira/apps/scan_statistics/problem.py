"""Checks of scan statistics: whose neighbourhoods, which edges, what they weigh."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from semira import Matrix, binary, dtypes, monoid, unary
from semira.algorithms.checks import check_count, check_square
from semira.algorithms.neighbours import undirected
from semira.apps.arrays import check_real
from semira.apps.sampling.problem import matrix_of
from semira.apps.scan_statistics.vertices import without_names
from semira.exceptions import DimensionMismatch, InvalidValue, InvalidWeight

#: Directions of edges.
MODES = ("undirected", "out", "in", "all")

#: What integers may add up to: twice as much is exact, as where edges are two entries.
_MOST = 2.0**62


@dataclass(frozen=True, slots=True)
class Problem:
    """A checked call."""

    #: The graph; if undirected, with entries in both directions.
    us: Matrix
    #: Entry (u, v): v is one step from u. Or the neighbourhoods themselves, a row each.
    near: Matrix
    #: What is counted: of undirected graphs, entries in both directions.
    edges: Matrix
    #: `weighted`, `is_undirected`, `is_given`, `is_own`: whether values count; whether each edge is
    #: two entries; whether `near` has neighbourhoods; whether both are of one graph.
    weighted: bool
    is_undirected: bool
    is_given: bool
    is_own: bool
    k: int
    mode: str


def checked(
    A: Any, them: Any, k: Any, mode: Any, weighted: Any, neighbourhoods: Any, symmetric: bool
) -> Problem:
    """Return the problem of a call of `local_scan`, which says what is raised."""
    n = check_square(A, "local_scan")
    them = without_names(them)
    if mode not in MODES:
        raise InvalidValue(f"mode={mode!r} must be one of {', '.join(MODES)}")
    radius = check_count(k, "k")
    edges = A if them is None else them
    if them is not None:
        check_square(them, "local_scan(them=)")
        if them.nrows != n:
            raise DimensionMismatch(
                f"them has {them.nrows} vertices, the graph {n}; they are the same"
            )
        if them.device != A.device:
            raise InvalidValue(f"them is on {them.device}, the graph on {A.device}; move one")
    if weighted:
        check_weights(edges)
    is_undirected = mode == "undirected"
    given = neighbourhoods is not None
    if given:
        near = matrix_of(neighbourhoods, "local_scan(neighbourhoods=)", square=False)
        if near.ncols != n:
            raise DimensionMismatch(f"neighbourhoods have {near.ncols} columns for {n} vertices")
    else:
        near = _steps(A, mode, symmetric)
    if is_undirected:
        own = symmetric and them is None
        edges = _both_weights(edges, own) if weighted else undirected(edges, own)
    us = near if is_undirected and not given else undirected(A, symmetric) if is_undirected else A
    own = them is None
    return Problem(us, near, edges, bool(weighted), is_undirected, given, own, radius, mode)


def _steps(A: Matrix, mode: str, symmetric: bool) -> Matrix:
    if mode == "out":
        return A
    if mode == "in":
        turned: Matrix = A.derived("transposed", A.T.new)
        return turned
    return undirected(A, symmetric)


def _both_weights(A: Matrix, symmetric: bool) -> Matrix:
    """Return a matrix with each edge in both directions; it stays with `A`.

    Raises InvalidWeight if an edge has two weights.
    """

    def both_ways() -> Matrix:
        most: Matrix = A.ewise_add(A.T, binary.max).new()
        if not most.isequal(A.ewise_add(A.T, binary.min).new()):
            raise InvalidWeight(
                "local_scan: entries (i, j) and (j, i) differ, so that an undirected edge has two "
                "weights; ask for mode='out', 'in' or 'all', or make them equal"
            )
        return most

    if symmetric:
        return A
    found: Matrix = A.derived("weights in both directions", both_ways)
    return found


def check_weights(A: Matrix) -> None:
    """Check that weights can be added up; raises DomainMismatch or InvalidWeight if they cannot."""
    check_real(A, "local_scan")
    if A.dtype.kind == "F" and not bool(
        A.apply(unary.isfinite).reduce_scalar(monoid.land).get(True)
    ):
        raise InvalidWeight("local_scan: a weight is not a finite number; remove such edges")


def shift_of(A: Matrix) -> int:
    """Return how many times weights are doubled before they become integers.

    Sums of all of them stay below 2**62, and are the same in any order. Raises InvalidWeight if
    sums of integers may not.
    """
    if A.nvals == 0 or A.dtype.kind == "B":
        return 0
    if A.dtype.kind != "F":
        total = float(A.dup("FP64").apply(unary.abs).reduce_scalar(monoid.plus).get(0.0))
        if total >= _MOST:
            raise InvalidWeight(
                f"local_scan: weights add up to {total:.6g}, and sums of integers are exact below "
                '2**62; divide them, or make them floating-point numbers with A.dup("FP64")'
            )
        return 0
    most = float(A.apply(unary.abs).reduce_scalar(monoid.max).get(0.0))
    if most == 0:
        return 0
    return max(-1000, min(1000, 61 - math.frexp(most)[1] - math.ceil(math.log2(A.nvals + 1))))


def units_of(A: Matrix, shift: int) -> Matrix:
    """Return weights as integers."""
    if A.dtype.kind != "F":
        return A if A.dtype is dtypes.INT64 else A.apply(unary.identity).new(dtypes.INT64)
    grown = A.apply(unary.identity).new(dtypes.FP64).apply(binary.times, right=2.0**shift)
    found: Matrix = grown.new().apply(unary.round).new(dtypes.INT64)
    return found
