"""k-trusses: edges in few triangles are dropped until every edge left is in enough."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Unpack

from semira import (
    Matrix,
    ProductOptions,
    Scalar,
    Vector,
    binary,
    device,
    dtypes,
    fused,
    monoid,
    repeat,
    select,
    semiring,
)
from semira.algorithms.checks import check_count, check_square
from semira.algorithms.naming import takes_graph
from semira.algorithms.neighbours import undirected
from semira.algorithms.results import Chained, finished
from semira.algorithms.run import Layout, Run
from semira.algorithms.sequential import runs_kernels
from semira.algorithms.triangle_kernels import truss as peeled
from semira.exceptions import InvalidValue

#: Squared degrees, added up, from which on counting all triangles again costs more than taking off
#: those that are lost.
_MANY = 1 << 30

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
    edges. Where the squares of the degrees add up to much, triangles are counted once: later
    iterations take off those that the edges dropped were in, D, ``C<C> -= D plus.pair (C + D)' +
    C plus.pair D'``, with more passes over C, but with products as large as D. It waits for the
    squares. Without `opts`, hosts and ``cuda`` run kernels instead: triangles are counted once, and
    each edge that leaves takes its triangles off their other edges, which costs the shorter row of
    its ends. Rounds are as many as iterations; the trace is empty. What numbers the edges stays
    with `A` (`Matrix.derived`, 24 bytes an edge).

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
    if runs_kernels(A, opts):
        found, rounds = peeled(A, least, symmetric)
        return KTrussResult(rounds, (), found)
    edges = undirected(A, symmetric).select(select.offdiag).new()
    truss, before = Matrix(dtypes.INT64, n, n), Scalar(int)
    truss(edges.S) << 1
    plus_pair = semiring.plus_pair[truss.dtype]
    # Most rows of what is dropped are empty, which a dot product sees at once.
    dots: Any = {"method": "dot"} | opts

    def count() -> None:
        # truss<truss, replace> = truss plus.pair truss': triangles of each edge
        truss(truss.S, replace=True, **opts) << truss.mxm(truss.T, plus_pair)

    def drop() -> Any:
        before << truss.nvals
        count()
        truss << truss.select(select.valuege, least)
        return truss.nvals < before

    def drop_and_take_off() -> Any:
        whole, dropped = truss.dup(), truss.select(select.valuelt, least).new()
        truss << truss.select(select.valuege, least)
        # lost<truss> = dropped plus.pair whole' + truss plus.pair dropped'
        lost = dropped.mxm(whole.T, plus_pair).new(mask=truss.S, **dots)
        lost(mask=truss.S, accum=binary.plus, **dots) << truss.mxm(dropped.T, plus_pair)
        truss(accum=binary.minus) << lost
        return dropped.nvals > 0

    if _squared_degrees(edges) < _MANY:
        loop = finished(repeat(drop))
        return KTrussResult(loop.iterations, loop.trace, truss)
    first = finished(fused(count))
    # An edge in no triangle has no entry.
    loop = finished(repeat(drop_and_take_off))
    return KTrussResult(loop.iterations, Chained(first.trace, loop.trace), truss)


def _squared_degrees(edges: Matrix) -> int:
    with device(edges.device):
        ones, degree = Vector(dtypes.INT64, edges.nrows), Vector(dtypes.INT64, edges.nrows)
    total = Scalar(dtypes.INT64)

    def add_up() -> None:
        ones << 1
        degree << edges.mxv(ones, semiring.plus_second[dtypes.INT64])
        total << degree.ewise_mult(degree, binary.times).reduce(monoid.plus, allow_empty=False)

    fused(add_up)
    return int(total.value)
