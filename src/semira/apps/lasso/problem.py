"""What a fused lasso is given, checked, as arrays of its device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from semira import Matrix, Vector, binary, dtypes, select
from semira.algorithms.checks import check_number, check_ordered, check_square, check_weights
from semira.algorithms.flows.network import back_of
from semira.apps.arrays import check_room, per_vertex
from semira.exceptions import InvalidValue
from semira.kernels import rows_of

SOLVERS = ("cuts", "primal_dual")

#: Most vertices: a level may have twice as many parts, by 32-bit numbers.
_MOST = 2**30

#: Greater prices are as good: their products with differences are finite.
_HUGE = 2.0**500

#: Bytes of an arc and of a vertex at most.
_ARC_BYTES, _VERTEX_BYTES = 64, 112


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem; arcs are the entries of a symmetric pattern without loops."""

    #: NumPy or CuPy.
    xp: Any
    device: str
    n: int
    #: `indptr`, `indices`, `back`: array of int32 or int64. `back` is the place of the opposite of
    #: each arc.
    indptr: Any
    indices: Any
    back: Any
    #: Array of float64. ``lambda2`` times the weight of each arc.
    limit: Any
    #: Array of float64, shape (n,).
    y: Any
    #: ``lambda1``.
    threshold: float
    #: `limit`, `y` and `threshold` are divided by ``2**exponent``, so that squares of `y` are
    #: neither 0 nor infinite.
    exponent: int


def memory(vertices: int, edges: int) -> int:
    """Return the bytes that a call works with at most, beside the matrix; each edge counts once.

    Examples
    --------
    >>> memory(1_000_000, 1_998_000) // 2**20
    350
    """
    return _VERTEX_BYTES * vertices + 2 * _ARC_BYTES * edges


def edges_both_ways(A: Matrix, weighted: bool) -> Matrix:
    """Return the weight of each edge in both directions, without loops; the greater of two.

    It stays with `A` (`Matrix.derived`) and is not to be written.
    """

    def both_ways() -> Matrix:
        edges = A.select(select.offdiag).new(dtypes.FP64)
        if not weighted:
            edges << edges.apply(binary.second, right=1.0)
        edges << edges.ewise_add(edges.T.new(), binary.max)
        return edges

    found: Matrix = A.derived(("edges both ways", weighted), both_ways)
    return found


def problem_of(
    A: Any, y: ArrayLike | Vector, lambda1: Any, lambda2: Any, weighted: bool, xp: Any
) -> Problem:
    """Return the problem of a call of `fused_lasso`; call inside of `array_module`."""
    n = A.nrows
    values = per_vertex(y, n, "fused_lasso: y", xp, A.device, finite=True)
    edges = edges_both_ways(A, weighted)
    rows, back = rows_of(edges), back_of(edges, edges, xp)
    limit = check_number(lambda2, "lambda2", np.finfo(float).max) * rows.values
    if not bool(xp.isfinite(limit).all()):
        raise InvalidValue(
            f"fused_lasso: lambda2={lambda2!r} times a weight is infinite; make both finite"
        )
    threshold = check_number(lambda1, "lambda1", np.finfo(float).max)
    exponent = int(np.frexp(float(abs(values).max()) if n else 0.0)[1])
    scale = xp.int32(-exponent)
    with np.errstate(over="ignore"):
        limit = xp.minimum(xp.ldexp(limit, scale), _HUGE)
    return Problem(
        xp, A.device, n, rows.indptr, rows.indices, back, limit, xp.ldexp(values, scale),
        float(min(np.ldexp(threshold, -exponent), _HUGE)), exponent,
    )  # fmt: skip


def check_graph(A: Any) -> None:
    """Check a matrix of weights: square, real, none negative or NaN; and that there is memory."""
    n = check_square(A, "fused_lasso")
    check_ordered(A, "fused_lasso")
    check_weights(A, "fused_lasso")
    if n > _MOST:
        raise InvalidValue(f"fused_lasso: a graph has at most {_MOST} = 2**30 vertices, not {n}")
    what = f"fused_lasso: {n:,} vertices and {A.nvals:,} entries"
    remedy = "use a smaller graph or a device with more memory"
    check_room(memory(n, A.nvals), A.device, what, remedy, least=0)
