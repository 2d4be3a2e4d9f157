"""Single-source shortest paths: Bellman-Ford with a sparsified active set, and what replaces it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Unpack

from semira import (
    Matrix,
    Vector,
    VectorProductOptions,
    binary,
    device_traits,
    monoid,
    repeat,
    semiring,
)
from semira.algorithms.checks import (
    check_exact_sums,
    check_lengths,
    check_square,
    check_vertex,
    distance_dtype,
    has_negative,
    longest_row,
)
from semira.algorithms.delta_stepping import delta_stepping
from semira.algorithms.moving_window import begin_near, moving_window, window_width
from semira.algorithms.naming import Vertex, takes_graph, vertex
from semira.algorithms.results import Chained, SSSPResult, finished
from semira.algorithms.routes import predecessors as route_tree
from semira.exceptions import InvalidValue, NegativeCycle

#: Iterations that a search in a large graph takes near vertices alone, those of Bellman-Ford that
#: follow, and rows and entries of such a graph (docs/decisions/0034). One H200, milliseconds of
#: Bellman-Ford and of the window: a grid of 24 M vertices 2,120 and 390, a random geometric graph
#: of 1 M with 14 M entries 71 and 35; but a road network of 1.5 M with 4 M entries 48 and 70.
NEAR, PATIENCE, LARGE = 6, 256, 8_000_000

#: Longest and mean row, and rows and entries at least, of graphs whose lengths a GPU settles
#: without iterations, a thread a row (docs/decisions/0040). One H200, milliseconds of Bellman-Ford
#: or the window, and of that: a road network of 2,642 vertices 0.77 and 0.44, of 1.5 M 42 and 18,
#: a grid of 24 M 367 and 118; but a triangulation, whose mean row is 6, 1.60 and 1.56.
LONGEST, MEAN, LEAST = 32, 4, 8192

#: Rows of such graphs: the bits of those that wait lie in shared memory, of 64 multiprocessors for
#: so many. What does not fit is a loop without near vertices and without a window.
MOST_ROWS = 1 << 26

METHODS = ("auto", "bellman_ford", "delta_stepping", "window", "asynchronous")


@takes_graph(source=vertex)
def sssp(
    A: Matrix,
    /,
    source: Vertex,
    *,
    method: str = "auto",
    delta: float | None = None,
    dtype: Any = None,
    predecessors: bool = False,
    **opts: Unpack[VectorProductOptions],
) -> SSSPResult:
    """Return the length of a shortest path from `source` to every vertex, and perhaps the paths.

    Parameters
    ----------
    A : Matrix or Graph, shape (n, n), any dtype
        Entry (i, j) is the length of the edge from i to j; zero is a length, and a pattern has
        the lengths it stores. Not modified.
    source : int, 0 <= source < n; a name in a Graph with labels
    method : {"auto", "bellman_ford", "delta_stepping", "window", "asynchronous"}
        ``bellman_ford`` takes negative weights. The others save work where paths are long, and
        do not take them: ``window`` relaxes what lies close to the nearest open vertex,
        ``delta_stepping`` does so bucket by bucket, light edges first, ``asynchronous`` without
        iterations on ``cuda`` (`Vector.fixed_point`; elsewhere a loop). ``auto``: on ``cuda``
        ``asynchronous`` for a graph with 8,192 rows and entries or more and 67,108,864 rows at
        most, which have 32 entries at most and 4 on average, none negative, without `opts`; else
        Bellman-Ford; on a graph with 8,000,000 rows and entries or more and no negative weight its
        first six iterations take near vertices alone, and after 256 more it goes on as ``window``.
    delta : float, optional
        Width of the window, or of a bucket, > 0; None derives one from means over the graph.
    dtype : "FP32" or "FP64", optional
        Of the distances. None: FP32 for FP32 weights, else FP64, in which distances over
        integers are exact below 2**53 and cannot overflow. A longer sum is infinite.
    predecessors : bool
        Also return a tree of shortest paths; `SSSPResult.path_to` follows it.
    **opts
        Options of the product (``direction="push"``, ...); not with ``asynchronous``.

    Returns
    -------
    SSSPResult
        ``distance``: no entry where unreachable; ``predecessor``, ``reached``, ``farthest``,
        ``largest_distance``, ``iterations``, ``trace``;
        ``method``: what ran, in the end. Of ``asynchronous`` on ``cuda``, ``iterations`` are the
        most rounds of a block of threads; it has no ``trace`` (``bellman_ford`` has one).

    Raises
    ------
    DimensionMismatch
        `A` is not square.
    IndexOutOfBound
        `source` is not a vertex.
    InvalidWeight, NegativeWeight
        A weight is NaN or minus infinity; with ``delta_stepping``, ``window`` and
        ``asynchronous``, also if it is negative.
    NegativeCycle
        Bellman-Ford still improved distances after n iterations.
    DomainMismatch
        `dtype` is no floating-point dtype.
    InvalidValue
        Unknown `method`, options that it does not take, `delta` is not positive, or lengths do not
        fit into `dtype`: a weight is beyond its numbers, or negative ones may add up to what is.
        Also if a distance over 64-bit integers is 2**53 or more, unless `dtype` is given.

    Notes
    -----
    Bellman-Ford: at most n iterations of O(active vertices + their edges), O(n nvals) in all;
    only vertices whose distance improved stay active. The first call on a matrix checks its
    weights: one or two synchronisations before the loop, on a large graph one more for their mean,
    on ``cuda`` one for the longest row; none inside.

    Predecessors are found from the distances afterwards: O(n + nvals), whatever the method.

    References
    ----------
    C. Yang, *High-performance linear algebra-based graph framework on the GPU*, 2019, section
    7.5.2 (its second optimisation), Figure 7.6.

    Examples
    --------
    >>> A = Matrix.from_coo([0, 0, 2], [1, 2, 1], [7, 2, 3], nrows=4, ncols=4)
    >>> sssp(A, 0).distance.to_dict()
    {0: 0.0, 1: 5.0, 2: 2.0}
    >>> sssp(A, 0, predecessors=True).path_to(1)
    [0, 2, 1]
    """
    n = check_square(A, "sssp", opts)
    start = check_vertex(source, n)
    number = distance_dtype(A, dtype, "sssp")
    if method not in METHODS or (delta is not None and method in METHODS[:2]):
        raise InvalidValue(
            f"method={method!r} with delta={delta}; choose {', '.join(METHODS)}, of which the last "
            "three have a delta"
        )
    found = _lengths(A, start, number, method, delta, opts)
    if dtype is None:
        ends = (monoid.max, monoid.min)
        check_exact_sums(A, lambda: [found.distance.reduce(end).get(0) for end in ends], "sssp")
    if not predecessors:
        return found
    exact = not has_negative(A)
    return replace(found, predecessor=route_tree(A, found.distance, [start], exact=exact))


def _lengths(
    A: Matrix,
    source: int,
    number: Any,
    method: str,
    delta: float | None,
    opts: VectorProductOptions,
) -> SSSPResult:
    """Return the distances by one of the methods; arguments are checked."""
    n = A.nrows
    if method == "auto" and not opts and _has_short_rows(A):
        method = "asynchronous"
    active = Vector.from_coo([source], 0, number, size=n)
    if method in METHODS[2:]:
        return _near_first(A, source, active, method, delta, opts)
    distance = active.dup()
    check_lengths(A, "sssp", number, allow_negative=True)
    is_large = method == "auto" and n + A.nvals >= LARGE and not has_negative(A)
    begun = None
    if is_large:
        begun, active = begin_near(A, active, distance, NEAR, **opts)
        if begun.stopped_by != "limit":
            return SSSPResult(begun.iterations, begun.trace, distance, "window")

    def step() -> Any:
        # t = active min.+ A
        reached = active.vxm(A, semiring.min_plus[number]).new(**opts)
        # Keep of t what is new or shorter: active<not (t >= distance), replace> = t
        worse = reached.ewise_mult(distance, binary.ge).new()
        active(~worse.V, replace=True) << reached
        # distance<active> = active
        distance(active.S) << active
        return active.nvals > 0

    loop = finished(repeat(step, max_iterations=PATIENCE if is_large else n))
    iterations, trace = loop.iterations, loop.trace
    if begun is not None:
        iterations, trace = begun.iterations + iterations, Chained(begun.trace, trace)
    if loop.stopped_by == "limit" and is_large:
        rest = moving_window(A, active, distance, None, **opts)
        return replace(
            rest, iterations=iterations + rest.iterations, trace=Chained(trace, rest.trace)
        )
    if loop.stopped_by == "limit":
        raise NegativeCycle(
            f"a cycle of negative length is reachable from vertex {source}: distances still fell "
            f"in iteration {n}, the number of vertices. Shortest paths do not exist"
        )
    return SSSPResult(iterations, trace, distance, "bellman_ford")


def _has_short_rows(A: Matrix) -> bool:
    """Return whether a GPU settles the lengths on these rows faster without iterations."""
    if A.nrows > MOST_ROWS or not device_traits(A.device).fixed_points:
        return False
    if not LEAST - A.nrows <= A.nvals <= MEAN * A.nrows:
        return False
    return A.derived("longest row", lambda: longest_row(A)) <= LONGEST and not has_negative(A)


def _near_first(
    A: Matrix,
    source: int,
    begun: Vector,
    method: str,
    delta: float | None,
    opts: VectorProductOptions,
) -> SSSPResult:
    """Return what a method finds that relaxes near vertices first, from a vector of the source."""
    if method == "delta_stepping":
        return delta_stepping(A, source, delta, begun.dtype, **opts)
    if method == "window":
        return moving_window(A, begun, begun.dup(), delta, **opts)
    if opts:
        raise InvalidValue(f"method='asynchronous' has no product that takes {sorted(opts)}")
    check_lengths(A, "sssp", begun.dtype)
    width = None if delta is None else float(window_width(A, delta, begun.dtype))
    rounds = begun.fixed_point(A, semiring.min_plus[begun.dtype], width=width)
    return SSSPResult(rounds, (), begun, "asynchronous", width)
