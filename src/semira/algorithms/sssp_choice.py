"""Which algorithm finds shortest paths from a vertex, and in how many parts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from semira import LoopResult, Matrix, Vector, VectorProductOptions, device_traits, monoid, semiring
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
from semira.algorithms.results import Chained, SSSPResult
from semira.algorithms.route_trees import route_tree
from semira.algorithms.sequential import distance as distance_by_heap
from semira.algorithms.sequential import is_sequential, runs_loops
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

#: Rows at least, and mean row at most, of graphs in the host's memory for which a window saves more
#: work than its iterations cost. Two cores, milliseconds of Bellman-Ford and the window:
#: the roads of New York (mean row 3) 4,100 and 180, a triangulation (6) 99 and 32; but a social
#: network (12) 37 and 51, and a web graph whose mean row is 5 and longest 3,445, 118 and 160. So
#: no row may be longer than `LONGEST`.
SPARSE_ROWS, SPARSE_MEAN = 10_000, 8

ALGORITHMS = ("auto", "bellman_ford", "dijkstra", "delta_stepping", "window", "asynchronous")

#: Changes active vertices and distances, within a maximum number of iterations.
BellmanFord = Callable[[Matrix, Vector, Vector, int, VectorProductOptions], LoopResult]


def checked(
    A: Matrix, source: Any, algorithm: str, delta: float | None, dtype: Any, opts: Any
) -> tuple[int, Any]:
    """Check the arguments of `sssp`; return the source, and the dtype of distances."""
    n = check_square(A, "sssp", opts)
    start = check_vertex(source, n)
    number = distance_dtype(A, dtype, "sssp")
    if algorithm not in ALGORITHMS or (delta is not None and algorithm in ALGORITHMS[:3]):
        raise InvalidValue(
            f"algorithm={algorithm!r} with delta={delta}; choose {', '.join(ALGORITHMS)}, of which "
            "the last three have a delta"
        )
    return start, number


def choose(
    A: Matrix,
    sources: Any,
    number: Any,
    algorithm: str,
    delta: float | None,
    opts: VectorProductOptions,
    bellman_ford: BellmanFord,
) -> SSSPResult:
    """Return the distances by the algorithm asked for, or by what is fastest on this graph.

    They are those from the nearest source. Delta stepping begins at the first alone.
    """
    if _by_heap(A, algorithm, opts, number):
        return SSSPResult(1, (), distance_by_heap(A, sources, number), "dijkstra")
    if algorithm == "delta_stepping":
        return delta_stepping(A, sources[0], delta, number, **opts)
    active = Vector.from_coo(sources, 0, number, size=A.nrows)
    if algorithm == "window":
        return moving_window(A, active, active.dup(), delta, **opts)
    if algorithm == "auto" and not opts and _saves_work(A):
        return moving_window(A, active, active.dup(), None)
    if algorithm == "asynchronous" or (algorithm == "auto" and not opts and _has_short_rows(A)):
        return _asynchronous(A, active, delta, opts)
    distance = active.dup()
    check_lengths(A, "sssp", active.dtype, allow_negative=True)
    if algorithm == "auto" and A.nrows + A.nvals >= LARGE and not has_negative(A):
        return _in_parts(A, active, distance, opts, bellman_ford)
    loop = bellman_ford(A, active, distance, A.nrows, opts)
    if loop.stopped_by == "limit":
        raise NegativeCycle(
            f"a cycle of negative length is reachable from vertex {sources[0]}: distances still "
            f"fell in iteration {A.nrows}, the number of vertices. Shortest paths do not exist"
        )
    return SSSPResult(loop.iterations, loop.trace, distance, "bellman_ford")


def with_paths(
    A: Matrix, found: SSSPResult, source: int, dtype: Any, predecessors: bool
) -> SSSPResult:
    """Check that no distance was rounded; return the result, with a tree of paths if asked for."""
    if dtype is None:
        check_exact_sums(A, lambda: _extremes(found.distance), "sssp")
    if not predecessors:
        return found
    exact = not has_negative(A)
    return replace(found, predecessor=route_tree(A, found.distance, [source], exact=exact))


def _extremes(distance: Vector) -> list[Any]:
    return [distance.reduce(end).get(0) for end in (monoid.max, monoid.min)]


def _by_heap(A: Matrix, algorithm: str, opts: VectorProductOptions, number: Any) -> bool:
    """Return whether Dijkstra's algorithm runs; if so, the lengths have been checked."""
    if algorithm == "dijkstra":
        is_sequential(A, algorithm, (algorithm,), opts)
        check_lengths(A, "sssp", number)
        return True
    if algorithm != "auto" or A.nrows + A.nvals >= LARGE or not runs_loops(A, opts):
        return False
    check_lengths(A, "sssp", number, allow_negative=True)
    return not has_negative(A)


def _in_parts(
    A: Matrix,
    active: Vector,
    distance: Vector,
    opts: VectorProductOptions,
    bellman_ford: BellmanFord,
) -> SSSPResult:
    """Begin with near vertices, go on with all, and end with a window where paths are long."""
    begun, active = begin_near(A, active, distance, NEAR, **opts)
    if begun.stopped_by != "limit":
        return SSSPResult(begun.iterations, begun.trace, distance, "window")
    loop = bellman_ford(A, active, distance, PATIENCE, opts)
    iterations = begun.iterations + loop.iterations
    trace = Chained(begun.trace, loop.trace)
    if loop.stopped_by != "limit":
        return SSSPResult(iterations, trace, distance, "bellman_ford")
    rest = moving_window(A, active, distance, None, **opts)
    return replace(rest, iterations=iterations + rest.iterations, trace=Chained(trace, rest.trace))


def _saves_work(A: Matrix) -> bool:
    """Return whether the work of a search counts for more than the number of its iterations."""
    if A.nrows < SPARSE_ROWS or A.nvals > SPARSE_MEAN * A.nrows:
        return False
    if device_traits(A.device).own_memory or has_negative(A):
        return False
    return bool(A.derived("longest row", lambda: longest_row(A)) <= LONGEST)


def _has_short_rows(A: Matrix) -> bool:
    """Return whether the device settles the lengths on these rows faster without iterations."""
    if A.nrows > MOST_ROWS or not device_traits(A.device).fixed_points:
        return False
    if not LEAST - A.nrows <= A.nvals <= MEAN * A.nrows:
        return False
    return A.derived("longest row", lambda: longest_row(A)) <= LONGEST and not has_negative(A)


def _asynchronous(
    A: Matrix, begun: Vector, delta: float | None, opts: VectorProductOptions
) -> SSSPResult:
    """Settle lengths without iterations, from a vector of the source."""
    if opts:
        raise InvalidValue(f"algorithm='asynchronous' has no product that takes {sorted(opts)}")
    check_lengths(A, "sssp", begun.dtype)
    width = None if delta is None else float(window_width(A, delta, begun.dtype))
    rounds = begun.fixed_point(A, semiring.min_plus[begun.dtype], width=width)
    return SSSPResult(rounds, (), begun, "asynchronous", width)
