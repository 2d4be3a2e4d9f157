"""Minimum spanning forest: Borůvka with gather and scatter over ranked edges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from semira import (
    Matrix,
    Vector,
    binary,
    device,
    device_traits,
    dtypes,
    fused,
    indexunary,
    monoid,
    repeat,
    select,
)
from semira.algorithms.checks import check_no_nan, check_ordered, check_square, vertex_dtype
from semira.algorithms.naming import takes_graph
from semira.algorithms.results import finished
from semira.algorithms.run import Layout, Run
from semira.exceptions import InvalidValue

#: Most vertices: edges are sorted by their positions i n + j, of which there are at most 2**60.
_MOST = 2**30


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ForestResult(Run):
    """Result of `minimum_spanning_forest`.

    Attributes
    ----------
    forest : Matrix, shape (n, n), dtype of the matrix
        The edges of the forest with their weights, each once, below the diagonal.
    """

    layout = Layout("forest", answer=("weight", "trees"))

    forest: Matrix

    @property
    def weight(self) -> int | float:
        """Sum of the weights: exact for integers (below 2**63), FP64 for floats. Synchronises."""
        kind = self.forest.dtype.kind
        number = {"F": dtypes.FP64, "U": dtypes.UINT64}.get(kind, dtypes.INT64)
        total = self.forest.reduce_scalar(monoid.plus[number], allow_empty=False).value
        return float(total) if kind == "F" else int(total)

    @property
    def trees(self) -> int:
        """Number of trees, single vertices included: the components of the graph. Synchronises."""
        return int(self.forest.nrows - self.forest.nvals)


@takes_graph()
def minimum_spanning_forest(A: Matrix, /) -> ForestResult:
    """Return the lightest edges that connect each component, each edge once.

    Edges count in both directions; where both are stored, the lighter one counts. Self-loops are
    ignored. Of equally light edges the one with the smaller greater end comes first, then the one
    with the smaller other end: so there is one answer, and it is the same on every device.

    Parameters
    ----------
    A : Matrix or Graph, shape (n, n), BOOL, integers or floats
        Entry (i, j) is the weight of the edge between i and j; zero and negative numbers are
        weights too. Not modified.

    Returns
    -------
    ForestResult
        ``forest``: the edges with their weights; ``weight``, ``trees``, ``iterations`` (rounds);
        ``trace`` is empty, because no product runs.

    Raises
    ------
    DimensionMismatch
        `A` is not square.
    DomainMismatch
        Values of the dtype have no order (complex numbers, records).
    InvalidValue
        A weight is NaN, or there are more than 2**30 vertices.

    Notes
    -----
    Edges are sorted once; their ranks make weights unique. A round finds the first edge out of
    every tree by two scatters, lets every tree hook onto the one at the other end, and points
    every vertex at its root. At most log2(n) + 1 rounds of O(n log n + edges between trees). The
    rounds are recorded. Besides, it waits for the number of edges, the sort, and the edges found,
    of which at most n - 1 come to the host.

    References
    ----------
    O. Borůvka, *O jistém problému minimálním*, 1926; Y. Zhang, A. Azad, A. Buluç, *Parallel
    algorithms for finding connected components using linear algebra*, J. Parallel and Distributed
    Computing 144, 2020 (gather and scatter on a forest of labels).

    Examples
    --------
    >>> A = Matrix.from_coo([0, 1, 2, 3], [1, 2, 0, 3], [5, 2, 4, 1], nrows=4, ncols=4)
    >>> found = minimum_spanning_forest(A)
    >>> found.forest.to_dicts(), found.weight, found.trees
    ({2: {0: 4, 1: 2}}, 6, 2)
    """
    n = check_square(A, "minimum_spanning_forest")
    if n > _MOST:
        raise InvalidValue(
            f"minimum_spanning_forest sorts edges by their positions, of which {n} x {n} are more "
            f"than 2**60: a graph has at most {_MOST} = 2**30 vertices; extract the part of the "
            "matrix that has edges first"
        )
    check_ordered(A, "minimum_spanning_forest")
    check_no_nan(A, "minimum_spanning_forest")
    lower = _below_diagonal(A)
    entries, place, edge, head, tail = _ranked(lower)
    label, own = _every_vertex_alone(A)
    with device(A.device):
        found = Vector(edge.dtype, edge.size)
        cheapest, nothing = Vector(edge.dtype, n), Vector(edge.dtype, n)

    def shorten() -> Any:
        grand = label.gather(label).new()
        moved = grand.ewise_mult(label, binary.ne).new()
        label << grand
        return moved.reduce(monoid.lor)

    def step() -> Any:
        # The trees at both ends of the edges; edges inside of a tree drop out.
        a, b = label.gather(head).new(), label.gather(tail).new()
        apart = a.ewise_mult(b, binary.ne).new()
        for each in (edge, head, tail):
            each(apart.V, replace=True) << each
        # cheapest = the first edge out of each tree
        cheapest << nothing
        cheapest.scatter(a, edge, monoid.min)
        cheapest.scatter(b, edge, monoid.min)
        found.scatter(cheapest, cheapest)
        # Every tree hooks onto the tree at the other end: that of the two which it is not.
        ends = a.gather(cheapest).ewise_mult(b.gather(cheapest), binary.bxor).new()
        label(ends.S) << ends.ewise_mult(own, binary.bxor)
        # Where two trees chose the same edge, the smaller one stays a root.
        mutual = label.gather(label).ewise_mult(own, binary.eq).new()
        label(mutual.V) << label.ewise_mult(own, binary.min)
        repeat(shorten)
        return cheapest.nvals > 0

    loop = finished(repeat(step, max_iterations=max(n, 1)))
    return ForestResult(loop.iterations, loop.trace, _forest(lower, entries, found, place))


def _below_diagonal(A: Matrix) -> Matrix:
    """Return each connected pair once, with the smaller weight of its directions."""
    below, above = A.select(select.tril, -1).new(), A.select(select.triu, 1).new()
    lower: Matrix = below.ewise_add(above.T, binary.min).new()
    return lower


def _ranked(lower: Matrix) -> tuple[Any, ...]:
    """Return the entries of `lower`, and by weight, then position: place, rank, and both ends."""
    n, m = lower.nrows, int(lower.nvals)
    where = lower.device if device_traits(lower.device).own_memory else None
    entries = lower.to_coo(device=where)
    with device(lower.device):
        rows, cols = (Vector.from_dense(ends, dtype=vertex_dtype(n)) for ends in entries[:2])
        # Places by weight; those of equally light entries in their order.
        weights = Vector.from_dense(entries[2], dtype=lower.dtype)
        place = weights.ss.compactify("smallest", m, asindex=True).dup("INT64")
        edge = Vector(vertex_dtype(m), m)

    def number() -> None:
        edge << 0
        edge << edge.apply(indexunary.index)

    fused(number)
    return entries, place, edge, rows.gather(place).new(), cols.gather(place).new()


def _every_vertex_alone(A: Matrix) -> tuple[Vector, ...]:
    """Return the label of each vertex, which is the vertex itself, and the vertices."""
    n = A.nrows
    with device(A.device):
        label, own = Vector(vertex_dtype(n), n), Vector(vertex_dtype(n), n)

    def number() -> None:
        label << 0
        label << label.apply(indexunary.index)
        own << label

    fused(number)
    return label, own


def _forest(lower: Matrix, entries: Any, found: Vector, place: Vector) -> Matrix:
    """Return the entries of `lower` whose ranks were found."""
    where = lower.device if device_traits(lower.device).own_memory else None
    places = found.ewise_mult(place, binary.second).new().to_coo(indices=False, device=where)[1]
    rows, cols, weights = (part[places] for part in entries)
    with device(lower.device):
        return Matrix.from_coo(
            rows, cols, weights, lower.dtype, nrows=lower.nrows, ncols=lower.ncols
        )
