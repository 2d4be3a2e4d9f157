"""k-trusses: edges in few triangles are dropped until every edge left is in enough."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Unpack

from semira import Matrix, ProductOptions, Scalar, dtypes, repeat, select, semiring
from semira.algorithms.checks import check_count, check_square
from semira.algorithms.naming import takes_graph
from semira.algorithms.neighbours import undirected
from semira.algorithms.results import finished
from semira.algorithms.run import Layout, Run
from semira.exceptions import InvalidValue

#: A triangle is the smallest truss that is not just the graph.
_LEAST = 3


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class KTrussResult(Run):
    """Result of `k_truss`.

    Attributes
    ----------
    truss : Matrix, shape (n, n), INT64
        Triangles inside of the truss that each of its edges is in; symmetric.
    """

    layout = Layout("truss", answer=("count",))

    truss: Matrix

    @property
    def count(self) -> int:
        """Number of edges, each counted once. Synchronises."""
        return int(self.truss.nvals) // 2


@takes_graph()
def k_truss(
    A: Matrix, /, k: int = 3, *, symmetric: bool = False, **opts: Unpack[ProductOptions]
) -> KTrussResult:
    """Return the largest subgraph of which each edge is in `k` - 2 triangles of the subgraph.

    Vertices i and j are connected if entry (i, j) or (j, i) is stored, whatever its value;
    self-loops are ignored.

    Parameters
    ----------
    A : Matrix or Graph, shape (n, n), any dtype
        Not modified.
    k : int >= 3
        Triangles of each edge, and 2 more. The 2-truss would be the graph itself.
    symmetric : bool
        The caller knows that the entries of `A` are symmetric.
    **opts
        Options of the product (``method="dot"``, ...).

    Returns
    -------
    KTrussResult
        ``truss``; ``count``, ``iterations``, ``trace``.

    Raises
    ------
    DimensionMismatch
        `A` is not square.
    InvalidValue
        `k` is below 3 or no integer.

    Notes
    -----
    ``C<C> = C plus.pair C'``, of which entries of at least k - 2 stay, until all do. An iteration
    costs the sum over the edges left of the degrees of both ends; each but the last one drops
    edges. The loop writes a matrix: on a GPU the host reads its condition once an iteration.

    References
    ----------
    J. Cohen, *Trusses: cohesive subgraphs for social network analysis*, NSA technical report,
    2008; T. Davis, *Graph algorithms via SuiteSparse:GraphBLAS: triangle counting and k-truss*,
    HPEC 2018.

    Examples
    --------
    >>> A = Matrix.from_coo([0, 1, 2, 2], [1, 2, 0, 3], nrows=4, ncols=4)
    >>> found = k_truss(A, 3)
    >>> found.truss.to_edgelist()[0].tolist(), found.count
    ([[0, 1], [0, 2], [1, 0], [1, 2], [2, 0], [2, 1]], 3)
    """
    n, k = check_square(A, "k_truss", opts), check_count(k, "k")
    if k < _LEAST:
        raise InvalidValue(f"k={k} must be at least {_LEAST}; the 2-truss is the graph itself")
    # No edge is in more than n - 2 triangles: a larger k asks for no less.
    least = min(k - 2, n)
    edges = undirected(A, symmetric).select(select.offdiag).new()
    truss, before = Matrix(dtypes.INT64, n, n), Scalar(int)
    truss(edges.S) << 1

    def drop() -> Any:
        # truss<truss, replace> = truss plus.pair truss': triangles of each edge
        before << truss.nvals
        truss(truss.S, replace=True, **opts) << truss.mxm(truss.T, semiring.plus_pair[truss.dtype])
        truss << truss.select(select.valuege, least)
        return truss.nvals < before

    loop = finished(repeat(drop))
    return KTrussResult(loop.iterations, loop.trace, truss)
