"""Eccentricities and the diameter, bounded by a few searches that serve all vertices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, Unpack

import numpy as np

from semira import (
    Matrix,
    ProductOptions,
    Scalar,
    TraceRow,
    Vector,
    binary,
    device,
    fused,
    indexunary,
    monoid,
    repeat,
    select,
    semiring,
    unary,
)
from semira.algorithms.bounds import HostBounds
from semira.algorithms.chains import eccentricities_of_chains
from semira.algorithms.checks import check_count, check_square, vertex_dtype
from semira.algorithms.connected_components import connected_components
from semira.algorithms.naming import takes_graph
from semira.algorithms.neighbours import undirected
from semira.algorithms.results import Chained, finished
from semira.algorithms.run import Layout, Run
from semira.algorithms.searches import LAST, can_search, is_own_transpose, search
from semira.algorithms.sequential import runs_loops
from semira.kernels import rows_of

#: Searches before a graph with few edges is asked whether it has no cycle, and of one without: all
#: eccentricities are known then.
_BEFORE_TREES, _OF_TREES = 4, 3

#: Vertices that may be left for each search made, to be searched from at once: for each that costs
#: 50 (minnesota) to 436 times (wiki-Vote) less than a search by bounds.
_AT_ONCE = 128

#: What `_is_forest` takes, or that the graph has too many edges.
_Thin = Literal[False] | tuple[Matrix, bool, Vector]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class EccentricityResult(Run):
    """Result of `eccentricity`.

    Attributes
    ----------
    lower, upper : Vector, shape (n,)
        The eccentricity of each vertex lies between them; where they are equal, it is known.
    searches : int
        Breadth-first searches made, each from one vertex of every component; at the end, of all
        that are left at once, each from one vertex. 0 if chains told all.
    """

    layout = Layout("lower", ("upper",), answer=("diameter", "radius", "searches"))

    lower: Vector
    upper: Vector
    searches: int

    @property
    def diameter(self) -> tuple[int, int]:
        """Bounds of the largest eccentricity; of no vertices (0, 0). Synchronises."""
        low, high = self.lower.reduce(monoid.max), self.upper.reduce(monoid.max)
        return int(low.get(0)), int(high.get(0))

    @property
    def radius(self) -> tuple[int, int]:
        """Bounds of the smallest eccentricity; of no vertices (0, 0). Synchronises."""
        low, high = self.lower.reduce(monoid.min), self.upper.reduce(monoid.min)
        return int(low.get(0)), int(high.get(0))

    @property
    def is_exact(self) -> bool:
        """Whether every eccentricity is known. Synchronises."""
        return bool(self.lower.isequal(self.upper))


@takes_graph()
def eccentricity(
    A: Matrix,
    /,
    *,
    searches: int | None = None,
    symmetric: bool = False,
    **opts: Unpack[ProductOptions],
) -> EccentricityResult:
    """Return bounds of the largest distance from every vertex within its component, in hops.

    Edges count in both directions. The first two searches are a double sweep: from a vertex of
    highest degree, then from one that lies farthest from it, whose eccentricity is a good lower
    bound of the diameter. After each search from v, distances d give for every w

    ``max(d(v, w), ecc(v) - d(v, w)) <= ecc(w) <= ecc(v) + d(v, w)``.

    Where 256 vertices or more lie on paths, on cycles and in chains between a few others,
    eccentricities follow from the lengths of these, without a search. Trees take 7 at most.

    Parameters
    ----------
    A : Matrix or Graph, shape (n, n), any dtype
        Entry (i, j), whatever its value, connects i and j. Not modified.
    searches : int >= 1, optional
        Maximum number of searches. None: until every eccentricity is known, which takes a few
        where degrees vary, and up to n on graphs that look alike from everywhere.
    symmetric : bool
        The caller knows that the entries of `A` are symmetric: saves every second product.
    **opts
        Options of the products.

    Returns
    -------
    EccentricityResult
        ``lower``, ``upper``: INT32 (INT64 from 2**30 vertices), an entry for each vertex;
        ``diameter`` and ``radius``, each a pair of bounds; ``is_exact``, ``searches``,
        ``iterations`` (levels of all searches), ``trace``.

    Raises
    ------
    DimensionMismatch
        `A` is not square.
    InvalidValue
        `searches` is no integer >= 1.

    Notes
    -----
    O(n + nvals) work a search. Components are searched side by side, one vertex in each: the
    diameter is the largest one of a component. The searches are recorded as loops of 4, 4, 8,
    16, ... of them; it waits for the end of each, and for the components before. Once no more
    than 128 times as many vertices as searches are left, these are searched from at once, as
    `multi_source_bfs` does, unless options are given. Where hosts compile loops, and without
    options, one thread searches along a queue instead, without products and ``trace``. Chains take
    O(n log n), where there are at most 64 vertices of degree 3 or more, and O(n) for each of at
    most 64 ends and 256 chains.

    References
    ----------
    F. Takes, W. Kosters, *Computing the eccentricity distribution of large graphs*, Algorithms
    6, 2013, section 4; C. Magnien, M. Latapy, M. Habib, *Fast computation of empirically tight
    bounds for the diameter of massive graphs*, J. Experimental Algorithmics 13, 2009 (double
    sweep); G. Handler, *Minimax location of a facility in an undirected tree graph*,
    Transportation Science 7, 1973 (trees).

    Examples
    --------
    >>> A = Matrix.from_coo([0, 1, 2, 2], [1, 2, 3, 4], nrows=5, ncols=5)
    >>> found = eccentricity(A)
    >>> found.lower.to_dense().tolist(), found.diameter, found.is_exact
    ([3, 2, 2, 3, 3], (3, 3), True)
    """
    return _bound(A, "eccentricity", searches, symmetric, False, opts)


@takes_graph()
def diameter(
    A: Matrix,
    /,
    *,
    searches: int | None = None,
    symmetric: bool = False,
    **opts: Unpack[ProductOptions],
) -> EccentricityResult:
    """Return bounds of the largest distance between two vertices of a component, in hops.

    As `eccentricity`, but no search is made once the bounds of the diameter meet: few are needed
    even where the eccentricities of all vertices take many.

    Parameters
    ----------
    A : Matrix or Graph, shape (n, n), any dtype
        Entry (i, j), whatever its value, connects i and j. Not modified.
    searches : int >= 1, optional
        Maximum number of searches: 2 is the double sweep, whose lower bound is often the
        diameter. None: until the diameter is known.
    symmetric : bool
        The caller knows that the entries of `A` are symmetric: saves every second product.
    **opts
        Options of the products.

    Returns
    -------
    EccentricityResult
        ``diameter``, a pair of bounds, and what else `eccentricity` returns.

    Raises
    ------
    DimensionMismatch
        `A` is not square.
    InvalidValue
        `searches` is no integer >= 1.

    Notes
    -----
    O(n + nvals) work a search, recorded in loops, or in compiled loops of a host. Chains are looked
    at, and what is left is searched at once, as in `eccentricity`: here the vertices that may be
    farther from another one than the bound.

    References
    ----------
    F. Takes, W. Kosters, *Determining the diameter of small world networks*, CIKM 2011.

    Examples
    --------
    >>> A = Matrix.from_coo([0, 1, 2, 2], [1, 2, 3, 4], nrows=5, ncols=5)
    >>> found = diameter(A)
    >>> found.diameter, found.searches
    ((3, 3), 2)
    """
    return _bound(A, "diameter", searches, symmetric, True, opts)


def _bound(
    A: Matrix, name: str, searches: int | None, symmetric: bool, diameter_only: bool,
    opts: ProductOptions,
) -> EccentricityResult:  # fmt: skip
    """Search until all that is asked for is known, or `searches` are made."""
    n = check_square(A, name, opts)
    limit = n if searches is None else check_count(searches, "searches", 1)
    # Hosts ask that sooner than they multiply against the edges.
    symmetric = symmetric or (runs_loops(A, opts) and is_own_transpose(A))
    known = eccentricities_of_chains(A, symmetric)
    # A bound may be nearly 2 n: twice the distance from a vertex in the middle.
    number = vertex_dtype(2 * n)
    if known is not None and known.nvals == n:
        return EccentricityResult(0, (), known.dup(number), known.dup(number), 0)
    label = connected_components(A, symmetric=symmetric).label
    thin = A.nvals <= 2 * n and (A, symmetric, label)
    if n and runs_loops(A, opts):
        return _bound_in_loops(A, symmetric, label, known, number, diameter_only, limit, thin)
    with device(A.device):
        lower, upper = (Vector.from_scalar(bound, n, number) for bound in (0, 2 * n))
        ranks = label, _degrees(A, symmetric), Vector("INT64", n), Vector("INT64", n)
        frontier, level, farthest = Vector(bool, n), Vector(number, n), Vector(number, n)
        turn, levels = (Scalar.from_value(0, "INT64") for _ in range(2))
    if known is not None:
        lower(known.S) << known
        upper(known.S) << known
    sweep = _sweep(A, symmetric, frontier, level, levels, opts)

    def search() -> Any:
        _choose(frontier, lower, upper, turn, ranks)
        turn << 1 - turn
        sweep()
        # e = the largest level of the component; lower max= level, e - level; upper min= e + level
        farthest << 0
        farthest.scatter(label, level, monoid.max)
        far = farthest.gather(label).new()
        lower(accum=binary.max) << level
        lower(accum=binary.max) << far.ewise_mult(level, binary.minus)
        upper(accum=binary.min) << far.ewise_mult(level, binary.plus)
        if diameter_only:
            return upper.reduce(monoid.max) > lower.reduce(monoid.max)
        return lower.ewise_mult(upper, binary.ne).reduce(monoid.lor)

    def search_some(most: int) -> tuple[int, bool, Sequence[TraceRow]]:
        loop = finished(repeat(search, max_iterations=most))
        return loop.iterations, loop.stopped_by == "condition", loop.trace

    def search_trees() -> Sequence[TraceRow]:
        trees = partial(_measure_trees, sweep, frontier, level, lower, upper, ranks)
        return finished(fused(trees)).trace

    def search_rest(made: int) -> int:
        most = 0 if opts else min(limit - made, _AT_ONCE * made)
        return _search_rest(A, symmetric, lower, upper, diameter_only, most)

    made, trace = _run(search_some, search_trees, limit, thin, search_rest)
    return EccentricityResult(int(levels), trace, lower, upper, made)


def _bound_in_loops(
    A: Matrix, symmetric: bool, label: Vector, known: Vector | None, number: Any,
    diameter_only: bool, limit: int, thin: _Thin,
) -> EccentricityResult:  # fmt: skip
    """Do as `_bound` where hosts compile loops."""
    n = A.nrows
    degree = (
        np.minimum(np.diff(rows_of(A, values=False).indptr), n - 1)
        if symmetric
        else _degrees(A, False).to_dense()
    )
    bounds = HostBounds(A, symmetric, label.to_dense(), degree, number, diameter_only)
    if known is not None:
        places, values = known.to_coo()
        bounds.lower[places] = bounds.upper[places] = values
    found: list[Vector] = []

    def search_some(most: int) -> tuple[int, bool, Sequence[TraceRow]]:
        return *bounds.search(most), ()

    def search_trees() -> Sequence[TraceRow]:
        bounds.search_trees()
        return ()

    def search_rest(made: int) -> int:
        lower, upper = bounds.vectors()
        found[:] = lower, upper
        most = min(limit - made, _AT_ONCE * made)
        return _search_rest(A, symmetric, lower, upper, diameter_only, most)

    made, _ = _run(search_some, search_trees, limit, thin, search_rest)
    lower, upper = found if made > bounds.made else bounds.vectors()
    return EccentricityResult(bounds.levels, (), lower, upper, made)


def _run(
    search_some: Callable[[int], tuple[int, bool, Sequence[TraceRow]]],
    search_trees: Callable[[], Sequence[TraceRow]],
    limit: int,
    thin: _Thin,
    search_rest: Callable[[int], int],
) -> tuple[int, Sequence[TraceRow]]:
    """Search until all is known; return how many searches that took, and their trace.

    `search_some` takes how many searches to make at most, and returns how many it made, whether all
    is known, and their trace. `thin` tells whether the graph is a forest, if it may be one; see
    `_is_forest`. `search_rest` takes how many searches were made; it searches from all vertices
    that are left if these are few, and returns how many they were.
    """
    made, trace = 0, Chained((), ())
    while True:
        # As many as were made before, and as many as tell a tree first.
        count, is_done, rows = search_some(min(max(made, _BEFORE_TREES), max(limit, 1) - made))
        made, trace = made + count, Chained(trace, rows)
        if is_done or made >= limit:
            return made, trace
        if thin and made + _OF_TREES <= limit and _is_forest(*thin):
            return made + _OF_TREES, Chained(trace, search_trees())
        thin = False
        rest = search_rest(made)
        if rest:
            return made + rest, trace


def _search_rest(
    A: Matrix, symmetric: bool, lower: Vector, upper: Vector, diameter_only: bool, most: int
) -> int:
    """Search from each vertex with an open bound, if at most `most` are left; return how many."""
    least = int(lower.reduce(monoid.max).value)
    if diameter_only:
        open_ = upper.select(select.valuegt, least).new()
    else:
        open_ = lower.ewise_mult(upper, binary.ne).select(select.valueeq, True).new()
    count = int(open_.nvals)
    if count > most or not can_search(A, count, LAST):
        return 0
    vertices = open_.to_coo(values=False)[0].astype(np.int64)
    far = search(undirected(A, symmetric), vertices, LAST).far
    with device(A.device):
        known = Vector.from_coo(vertices, far, lower.dtype, size=A.nrows)
    lower(known.S) << known
    upper(known.S) << known
    return count


def _sweep(
    A: Matrix,
    symmetric: bool,
    frontier: Vector,
    level: Vector,
    levels: Scalar,
    opts: ProductOptions,
) -> Callable[[], None]:
    """Return statements that search from `frontier`, write to `level` and add up `levels`."""
    with device(A.device):
        depth = Scalar.from_value(0, "INT64")

    def step() -> Any:
        depth << depth + 1
        # frontier<not level, replace> = frontier any.pair A, and against the edges
        fresh = frontier.vxm(A, semiring.any_pair).new(mask=~level.S, **opts)
        if not symmetric:
            fresh(~level.S, accum=binary.lor, **opts) << A.mxv(frontier, semiring.any_pair)
        frontier << fresh
        level(frontier.S) << depth
        return frontier.nvals > 0

    def sweep() -> None:
        depth << 0
        level(frontier.S, replace=True) << 0
        repeat(step, max_iterations=max(A.nrows, 1))
        levels << levels + depth

    return sweep


def _measure_trees(
    sweep: Callable[[], None], frontier: Vector, level: Vector, lower: Vector, upper: Vector,
    ranks: _Ranks,
) -> None:  # fmt: skip
    """Search from any vertex, from one farthest from it, an end of a longest path, and the other.

    Every vertex is farthest from one of both ends.
    """
    _best_of_each(frontier, ranks[0].apply(unary.ainv["INT64"]).new(), ranks)
    sweep()
    lower << 0
    for _ in range(2):
        _best_of_each(frontier, level.dup("INT64"), ranks)
        sweep()
        lower(accum=binary.max) << level
    upper << lower


def _is_forest(A: Matrix, symmetric: bool, label: Vector) -> bool:
    """Return whether there is no cycle: each tree has an edge less than vertices."""
    edges = undirected(A, symmetric).select(select.offdiag).new().nvals
    roots = label.ewise_mult(label.apply(indexunary.index).new(), binary.eq).new()
    trees = roots.select(select.valueeq, True).new().nvals
    return bool(edges == 2 * (A.nrows - trees))


_Ranks = tuple[Vector, Vector, Vector, Vector]


def _degrees(A: Matrix, symmetric: bool) -> Vector:
    """Return the number of edges of every vertex, in both directions, at most n - 1."""
    n, plus_pair = A.nrows, semiring.plus_pair["INT64"]
    ones, degree = Vector.from_scalar(True, n), Vector.from_scalar(0, n, "INT64")
    degree(accum=binary.plus) << A.mxv(ones, plus_pair)
    if not symmetric:
        degree(accum=binary.plus) << ones.vxm(A, plus_pair)
    degree << degree.apply(binary.min, right=max(n - 1, 0))
    return degree


def _choose(frontier: Vector, lower: Vector, upper: Vector, turn: Scalar, ranks: _Ranks) -> None:
    """Write to `frontier` one vertex of each component whose eccentricity is not known.

    The one with the lowest lower bound if `turn` is 0, with the highest upper bound if it is 1;
    among equal ones that of highest degree, then of smallest number.
    """
    label, degree = ranks[:2]
    n, times, plus = label.size, binary.times["INT64"], binary.plus["INT64"]
    unknown = lower.ewise_mult(upper, binary.ne).select(select.valueeq, True).new()
    # key = n (turn upper - (1 - turn) lower) + degree
    high, low = upper.apply(times, right=n * turn), lower.apply(times, right=n * turn - n)
    key = high.ewise_mult(low, plus).new()
    key(unknown.S, replace=True) << key.ewise_mult(degree, plus)
    _best_of_each(frontier, key, ranks)


def _best_of_each(frontier: Vector, key: Vector, ranks: _Ranks) -> None:
    """Write to `frontier` the first vertex of each component that has its best key."""
    label, _, best, first = ranks
    n = label.size
    best << -((n + 1) ** 2)
    best.scatter(label, key, monoid.max)
    winners = key.ewise_mult(best.gather(label), binary.eq).select(select.valueeq, True).new()
    number = winners.apply(indexunary.index).new()
    first << n
    first.scatter(label, number, monoid.min)
    frontier << number.ewise_mult(first.gather(label), binary.eq).select(select.valueeq, True)
