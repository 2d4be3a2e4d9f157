"""Single-source shortest paths: Bellman-Ford with a sparsified active set."""

from __future__ import annotations

from typing import Any, Unpack

from semira import LoopResult, Matrix, Vector, VectorProductOptions, binary, repeat, semiring
from semira.algorithms.naming import Vertex, takes_graph, vertex
from semira.algorithms.renamed import renamed
from semira.algorithms.results import SSSPResult, finished
from semira.algorithms.sssp_choice import ALGORITHMS, checked, choose, with_paths


@renamed("method", "algorithm", ALGORITHMS)
@takes_graph(source=vertex)
def sssp(
    A: Matrix,
    /,
    source: Vertex,
    *,
    algorithm: str = "auto",
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
    algorithm : {"auto", "bellman_ford", "dijkstra", "delta_stepping", "window", "asynchronous"}
        ``bellman_ford`` takes negative weights. The others save work where paths are long, and
        do not take them: ``dijkstra`` settles vertices one by one, on hosts; ``window`` relaxes
        what lies close to the nearest open vertex, ``delta_stepping`` does so bucket by bucket,
        light edges first, ``asynchronous`` without iterations on ``cuda`` (`Vector.fixed_point`;
        elsewhere a loop). ``auto``: on ``cuda`` ``asynchronous`` for a graph with 8,192 rows and
        entries or more and 67,108,864 rows at most, which have 32 entries at most and 4 on average,
        none negative, without `opts`; else Bellman-Ford; on hosts whose loops are compiled
        ``dijkstra`` with fewer than 8,000,000 rows and entries, none negative, without `opts`, with
        more ``window`` if rows have 8 entries at most on average and 32 at most. Else Bellman-Ford,
        whose first six iterations take near vertices alone on a graph with 8,000,000 rows and
        entries or more and no negative weight; after 256 more it goes on as ``window``.
    delta : float, optional
        Width of the window, or of a bucket, > 0; None derives one from means over the graph.
    dtype : "FP32" or "FP64", optional
        Of the distances. None: FP32 for FP32 weights, else FP64, in which distances over
        integers are exact below 2**53 and cannot overflow. A longer sum is infinite.
    predecessors : bool
        Also return a tree of shortest paths; `SSSPResult.path_to` follows it.
    **opts
        Options of the product (``direction="push"``, ...); not with ``asynchronous`` and
        ``dijkstra``.

    Returns
    -------
    SSSPResult
        ``distance``: no entry where unreachable; ``predecessor``, ``reached``, ``farthest``,
        ``largest_distance``, ``iterations``, ``trace``;
        ``method``: what ran, in the end. Of ``asynchronous`` on ``cuda``, ``iterations`` are the
        most rounds of a block of threads; it has no ``trace`` (``bellman_ford`` has one). Nor has
        ``dijkstra``, whose ``iterations`` are 1.

    Raises
    ------
    DimensionMismatch
        `A` is not square.
    IndexOutOfBound
        `source` is not a vertex.
    InvalidWeight, NegativeWeight
        A weight is NaN or minus infinity; with all but ``bellman_ford`` and ``auto`` also if it is
        negative.
    NegativeCycle
        Bellman-Ford still improved distances after n iterations.
    DomainMismatch
        `dtype` is no floating-point dtype.
    InvalidValue
        Unknown `algorithm`, options that it does not take, `delta` is not positive, or lengths do
        not fit into `dtype`: a weight is beyond its numbers, or negative ones may add up to what
        is. Also if a distance over 64-bit integers is 2**53 or more, unless `dtype` is given.

    Notes
    -----
    Bellman-Ford: at most n iterations of O(active vertices + their edges), O(n nvals) in all; only
    vertices whose distance improved stay active. Dijkstra: O(n log n + nvals), one thread.

    The first call on a matrix checks its weights: one or two synchronisations before the loop, on a
    large graph one more for their mean, on ``cuda`` one for the longest row; none inside.

    Predecessors are found from the distances afterwards: O(n + nvals), whatever the algorithm.

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
    start, number = checked(A, source, algorithm, delta, dtype, opts)
    found = choose(A, [start], number, algorithm, delta, opts, bellman_ford)
    return with_paths(A, found, start, dtype, predecessors)


def bellman_ford(
    A: Matrix, active: Vector, distance: Vector, iterations: int, opts: VectorProductOptions
) -> LoopResult:
    """Relax the edges of vertices whose distance has just improved, until none has."""
    min_plus = semiring.min_plus[distance.dtype]

    def step() -> Any:
        # t = active min.+ A
        reached = active.vxm(A, min_plus).new(**opts)
        # Keep of t what is new or shorter: active<not (t >= distance), replace> = t
        worse = reached.ewise_mult(distance, binary.ge).new()
        active(~worse.V, replace=True) << reached
        # distance<active> = active
        distance(active.S) << active
        return active.nvals > 0

    return finished(repeat(step, max_iterations=iterations))
