"""PageRank that leaves out the rows which hardly moved."""

from __future__ import annotations

from typing import Any

from semira import Matrix, ProductOptions, Scalar, Vector, binary, monoid, repeat, select, unary
from semira.algorithms.pagerank_terms import Terms, restarted
from semira.algorithms.results import PageRankResult, finished

#: Every row is computed once in this many iterations.
_PERIOD = 4


def adaptive_pagerank(
    A: Matrix,
    terms: Terms,
    product: Any,
    damping: float,
    tol: float,
    max_iterations: int,
    opts: ProductOptions,
) -> PageRankResult:
    """Return the ranks as `pagerank` with ``adaptive=True`` does, which checks the arguments.

    References
    ----------
    S. Kamvar, T. Haveliwala, G. Golub, *Adaptive methods for the computation of PageRank*,
    Linear Algebra and its Applications 386, 2004.
    """
    rank, share, scale, sinks, shares = terms
    n = A.nrows
    change, turn = Scalar(scale.dtype), Scalar.from_value(0)
    closed = Vector.from_scalar(False, n)
    rows: dict[str, Any] = {"mask": ~closed.V}
    pulled: dict[str, Any] = {"direction": "pull", **opts, **rows}

    def step() -> Any:
        # As in `pagerank`, of the rows that are not closed.
        fresh = restarted(rank, sinks, shares, damping).new(**rows)
        fresh(accum=binary.plus, **pulled) << A.T.mxv(share, product)
        moved = fresh.ewise_mult(rank, binary.minus).apply(unary.abs).new()
        change << moved.reduce(monoid.plus)
        rank(fresh.S) << fresh
        share(fresh.S) << fresh.ewise_mult(scale, binary.times)
        _close(closed, moved.ewise_mult(fresh, binary.truediv), turn, tol)
        return (change > tol) | (fresh.nvals < n)

    loop = finished(repeat(step, max_iterations=max_iterations))
    # Rows left out meanwhile kept old values: the sum is off by as little.
    rank << rank.apply(binary.truediv, right=rank.reduce(monoid.plus, allow_empty=False))
    return PageRankResult(loop.iterations, loop.trace, rank, loop.stopped_by == "condition", change)


def _close(closed: Vector, relative: Any, turn: Scalar, tol: float) -> None:
    """Close the rows that hardly moved; open every row again when it is their turn."""
    closed(relative.select(select.valuele, tol).S) << True
    turn << turn + 1
    closed << closed.apply(binary.land, right=turn // _PERIOD * _PERIOD < turn)
