"""Minimum spanning forest: Borůvka with gather and scatter over ranked edges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from semira import (
    Matrix,
    Scalar,
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
from semira.algorithms.sequential import entries_of, forest, is_sequential
from semira.exceptions import InvalidValue

#: Most vertices: several numbers are kept of each.
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
def minimum_spanning_forest(A: Matrix, /, *, algorithm: str = "auto") -> ForestResult:
    """Return the lightest edges that connect each component, each edge once.

    Edges count in both directions; where both are stored, the lighter one counts. Self-loops are
    ignored. Of equally light edges the one with the smaller greater end comes first, then the one
    with the smaller other end: so there is one answer, and it is the same on every device.

    Parameters
    ----------
    A : Matrix or Graph, shape (n, n), BOOL, integers or floats
        Entry (i, j) is the weight of the edge between i and j; zero and negative numbers are
        weights too. Not modified.
    algorithm : {"auto", "boruvka", "kruskal"}
        ``boruvka`` joins all trees at once, round by round. ``kruskal`` takes one edge after the
        other, on devices in the host's memory. ``auto``: ``kruskal`` there, else ``boruvka``.

    Returns
    -------
    ForestResult
        ``forest``: the edges with their weights; ``weight``, ``trees``, ``iterations`` (rounds; 1
        for ``kruskal``); ``trace`` is empty, because no product runs.

    Raises
    ------
    DimensionMismatch
        `A` is not square.
    DomainMismatch
        Values of the dtype have no order (complex numbers, records).
    InvalidValue
        A weight is NaN, there are more than 2**30 vertices, or `algorithm` is unknown, or
        ``kruskal`` in memory of a device.

    Notes
    -----
    Edges are sorted by weight, and their numbers make weights unique. ``kruskal`` keeps those that
    join two trees: O(edges) in practice. Else a round finds the first edge
    out of every tree by two scatters, lets every tree hook onto the one at the other end, and
    points every vertex at its root. At most log2(n) + 1 rounds of O(n log n + edges between trees).
    The rounds are recorded. The edges in order stay with `A` until that is written
    (`Matrix.derived`: 24 bytes an edge and its weight), so that only the first call sorts.
    Each call waits for the end of its loop, and for the edges found, which do not leave the device.

    References
    ----------
    O. Borůvka, *O jistém problému minimálním*, 1926; J. Kruskal, *On the shortest spanning subtree
    of a graph and the traveling salesman problem*, Proc. AMS 7(1), 1956; Y. Zhang, A. Azad,
    A. Buluç, *Parallel algorithms for finding connected components using linear algebra*, J.
    Parallel and Distributed Computing 144, 2020 (gather and scatter on a forest of labels).

    Examples
    --------
    >>> A = Matrix.from_coo([0, 1, 2, 3], [1, 2, 0, 3], [5, 2, 4, 1], nrows=4, ncols=4)
    >>> found = minimum_spanning_forest(A)
    >>> found.forest.to_dicts(), found.weight, found.trees
    ({2: {0: 4, 1: 2}}, 6, 2)
    """
    n = _checked(A)
    if is_sequential(A, algorithm, ("auto", "boruvka", "kruskal")):
        return ForestResult(1, (), forest(A))
    lower, head, tail, place = A.derived("edges by weight", lambda: _edges_by_weight(A))
    m = head.size
    with device(A.device):
        label, own = Vector(vertex_dtype(n), n), Vector(vertex_dtype(n), n)
        edge, found = Vector(vertex_dtype(m), m), Vector(vertex_dtype(m), m)
        a, b, cheapest = Vector(label.dtype, m), Vector(label.dtype, m), Vector(edge.dtype, n)
        keep = Vector(dtypes.BOOL, m)
    rounds = Scalar.from_value(0)

    def number() -> None:
        label << 0
        label << label.apply(indexunary.index)
        own << label
        edge << 0
        edge << edge.apply(indexunary.index)
        found << -1

    def shorten() -> Any:
        # Three steps towards the root cost little more than one.
        grand = label.gather(label.gather(label).new()).new()
        grand = label.gather(grand).new()
        moved = grand.ewise_mult(label, binary.ne).new()
        label << grand
        return moved.reduce(monoid.lor)

    def step() -> Any:
        cheapest << m
        # The trees at both ends of the edges; edges inside of a tree drop out.
        a(edge.S, replace=True) << label.gather(head)
        b(edge.S, replace=True) << label.gather(tail)
        edge(a.ewise_mult(b, binary.ne).new().V, replace=True) << edge
        # cheapest = the first edge out of each tree, m where there is none
        cheapest.scatter(a, edge, monoid.min)
        cheapest.scatter(b, edge, monoid.min)
        chosen = cheapest.select(select.valuelt, m).new()
        found.scatter(chosen, chosen, monoid.max)
        # Every tree hooks onto the tree at the other end: that of the two which it is not.
        ends = a.gather(chosen).ewise_mult(b.gather(chosen), binary.bxor).new()
        label(ends.S) << ends.ewise_mult(own, binary.bxor)
        # Where two trees chose the same edge, the smaller one stays a root.
        mutual = label.gather(label).ewise_mult(own, binary.eq).new()
        label(mutual.V) << label.ewise_mult(own, binary.min)
        repeat(shorten)
        rounds << rounds + 1
        return chosen.nvals > 0

    def join() -> None:
        number()
        repeat(step, max_iterations=max(n, 1))
        # The entries of the matrix that these edges are.
        keep << False
        keep.scatter(place, found.apply(binary.ge, right=0).new(), monoid.lor)

    loop = finished(fused(join))
    kept = entries_of(lower, keep.to_dense(device=_where(A)))
    return ForestResult(int(rounds), loop.trace, kept)


def _checked(A: Matrix) -> int:
    n = check_square(A, "minimum_spanning_forest")
    if n > _MOST:
        raise InvalidValue(
            f"minimum_spanning_forest keeps the tree of every vertex: a graph has at most {_MOST} "
            f"= 2**30 vertices, not {n}; extract the part of the matrix that has edges first"
        )
    check_ordered(A, "minimum_spanning_forest")
    check_no_nan(A, "minimum_spanning_forest")
    return n


def _edges_by_weight(A: Matrix) -> tuple[Matrix, Vector, Vector, Vector]:
    """Return edges below the diagonal; both ends of each by weight, the greater one first, places.

    A place is that of the edge among the entries of the matrix.

    Of the weights of both directions the smaller one counts.
    """
    below, above = A.select(select.tril, -1).new(), A.select(select.triu, 1).new()
    lower: Matrix = below.ewise_add(above.T, binary.min).new()
    rows, cols, weights = lower.to_coo(device=_where(A))
    with device(A.device):
        ends = [Vector.from_dense(each, dtype=vertex_dtype(A.nrows)) for each in (rows, cols)]
        weight = Vector.from_dense(weights, dtype=A.dtype)
        # Places by weight; equally light edges stay in their order.
        place = weight.ss.compactify("smallest", weight.size, asindex=True).dup("INT64")
    head, tail = (each.gather(place).new() for each in ends)
    return lower, head, tail, place


def _where(A: Matrix) -> str | None:
    """Return the device whose arrays hold what is in `A`; None for the host's."""
    return A.device if device_traits(A.device).lends_arrays else None
