"""Betweenness centrality by Brandes' algorithm: a vector for a source, or a matrix for a batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

import numpy as np

from semira import (
    Matrix,
    ProductOptions,
    Scalar,
    Vector,
    binary,
    config,
    device,
    device_traits,
    dtypes,
    monoid,
    repeat,
    select,
    semiring,
    tracing,
    unary,
)
from semira.algorithms.checks import check_count, check_sources, check_square, vertex_dtype
from semira.algorithms.naming import Vertex, count_or_vertices, takes_graph
from semira.algorithms.neighbours import by_rows
from semira.algorithms.results import CentralityResult, finished, rows_of
from semira.algorithms.sequential import dependencies, runs_loops
from semira.exceptions import InvalidValue

_PLUS_FIRST = semiring.plus_first[dtypes.FP64]
_PLUS_SECOND = semiring.plus_second[dtypes.FP64]

#: Sources of a batch where nobody says how many, but for devices that loop by themselves.
_BATCH = 32

#: Entries of all copies of a graph together. A device with memory of its own searches from several
#: sources at a time, each in a copy: it synchronizes less often, for 5 bytes an entry.
_ENTRIES = 1 << 24


@takes_graph(sources=count_or_vertices)
def betweenness_centrality(
    A: Matrix,
    /,
    *,
    sources: int | Sequence[Vertex] | None = None,
    seed: int = 0,
    batch: int | None = None,
    normalized: bool = True,
    directed: bool = True,
    **opts: Unpack[ProductOptions],
) -> CentralityResult:
    """Return the betweenness centrality of every vertex.

    ``c_v = sum over s != v != t of (shortest paths from s to t through v) / (all of them)``;
    every edge has length 1.

    Parameters
    ----------
    A : Matrix or Graph, shape (n, n), any dtype
        Entry (i, j), whatever its value, is the edge from i to j. Not modified.
    sources : int, sequence of vertices (names in a Graph with labels), or None
        The s of the sum. None: all vertices. A number k: k different ones, drawn with `seed`.
        A sequence: these. The sum is scaled to an estimate of the whole one, without bias where
        they are drawn: by (n - 1) / (number of sources other than v), as NetworkX 3.5 and newer
        do. A vertex that is the only source gets 0 (NetworkX: NaN), as no pair says anything of it.
    seed : int >= 0
        Of the draw (`numpy.random.default_rng`).
    batch : int >= 1, optional
        Of products: sources that are searched from at a time, rows of a matrix, by default 32.
        More make larger products, in more memory. With 1 a search is made of vectors, and all
        searches are one recorded loop. So they are with any number on ``cuda``, whose loops need no
        host: there each of them has a copy of the graph, by default as many as have 16,777,216
        entries.
    normalized : bool
        Divide by the (n - 1) (n - 2) pairs of other vertices.
    directed : bool
        False, together with ``normalized=False``: count the pairs (s, t) and (t, s) of a
        symmetric graph once. Where `normalized`, it changes nothing.
    **opts
        Options of the products. Without them hosts search along queues, one source after the
        other, and multiply nothing.

    Returns
    -------
    CentralityResult
        ``centrality``, ``sources``, ``iterations`` (levels of all batches), ``trace``.

    Raises
    ------
    DimensionMismatch
        `A` is not square.
    InvalidIndex, IndexOutOfBound
        A source is no vertex.
    InvalidValue
        `sources`, `seed` or `batch` is out of range; or a number of shortest paths passes the
        range of FP64, about 1.8e308, as between the corners of a grid 520 squares wide.

    Notes
    -----
    On hosts O(n + nvals) work for each source; threads share the sources; 8 bytes for each vertex
    and each of up to 32 blocks of sources, and 24 for each vertex and thread; no ``trace``.

    Products: O(nvals) work for each source, O(n nvals) in all; a level also walks the vertices
    found so far, all of them in a recorded loop. There a search takes 44 bytes a vertex, and with
    others at a time 5 bytes for each entry of its copy, and the host waits for the last one only. A
    batch of rows takes its levels, 12 bytes for each pair reached, and as many marks; it keeps the
    matrix of each level, so its loop is not recorded, and the host reads the size of the frontier
    at each.

    References
    ----------
    U. Brandes, *A faster algorithm for betweenness centrality*, J. Mathematical Sociology 25,
    2001; U. Brandes, C. Pich, *Centrality estimation in large networks*, Int. J. Bifurcation and
    Chaos 17, 2007 (sampled); A. Buluç, J. Gilbert, *The Combinatorial BLAS*, Int. J. High
    Performance Computing Applications 25, 2011 (batches as matrices).

    Examples
    --------
    >>> A = Matrix.from_coo([0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2], nrows=4, ncols=4)
    >>> betweenness_centrality(A, normalized=False, directed=False).centrality.to_dense().tolist()
    [0.0, 2.0, 2.0, 0.0]
    """
    n = check_square(A, "betweenness_centrality", opts)
    vertices = check_sources(sources, n, seed)
    loops = device_traits(A.device).own_memory
    usual = _side_by_side(A) if loops else _BATCH
    size = min(usual if batch is None else check_count(batch, "batch", 1), max(len(vertices), 1))
    with device(A.device):
        score = Vector(dtypes.FP64, n)
    score << 0
    with tracing() as run:
        if runs_loops(A, opts) and len(vertices):
            levels = _one_by_one(A, vertices, score)
        elif loops or size == 1:
            levels = _in_one_loop(A, vertices, size, score, opts)
        else:
            levels = _in_batches(A, vertices, size, score, opts)
    _rescale(score, vertices, normalized, directed)
    return CentralityResult(levels, rows_of(run), score, len(vertices))


def _one_by_one(A: Matrix, vertices: Any, score: Vector) -> int:
    """Add the dependencies of searches along queues to `score`; return the number of levels.

    Raises InvalidValue if there are too many paths.
    """
    sums, levels, few = dependencies(A, vertices)
    _check_paths(0.0 if few else np.inf)
    with device(A.device):
        score << Vector.from_dense(sums)
    return levels


def _side_by_side(A: Matrix) -> int:
    """Return for how many searches there is a copy of the graph each."""
    return max(1, _ENTRIES // max(int(A.nvals), A.nrows, 1))


def _in_one_loop(A: Matrix, vertices: Any, size: int, score: Vector, opts: ProductOptions) -> int:
    """Add the dependencies of all searches to `score`; return the number of levels.

    `size` searches at a time are one search in a graph that consists of `size` copies of `A`.
    Raises InvalidValue if there are too many paths.
    """
    if size == 1:
        return _all_turns(A, A, vertices, 1, score, opts)
    with device(A.device):
        one, own = Vector.from_scalar(True, size), Vector.from_scalar(True, A.nrows)
        row = Matrix.from_coo(np.zeros(size, int), np.arange(size), True, nrows=1, ncols=size)
        copies = one.diag().kronecker(A, binary.pair).new()
        # Each vertex of the graph from all of its copies.
        together = row.kronecker(own.diag(), binary.pair).new()
        apart = Vector(dtypes.FP64, size * A.nrows)
    apart << 0
    levels = _all_turns(A, copies, vertices, size, apart, opts)
    score(accum=binary.plus, **by_rows(A, "pull")) << together.mxv(apart, _PLUS_SECOND)
    return levels


def _all_turns(
    A: Matrix, copies: Matrix, vertices: Any, size: int, score: Vector, opts: ProductOptions
) -> int:
    """Search from all vertices, `size` at a time; return the number of levels."""
    levels, left = 0, np.asarray(vertices)
    while len(left):
        # Each vertex once; what is given several times is left for the next turns.
        once, first = np.unique(left, return_index=True)
        number = np.arange(len(once))
        starts = once + number % size * A.nrows
        levels += _searches(copies, starts, number // size, A.nrows, score, opts)
        left = np.delete(left, first)
    return levels


def _searches(
    A: Matrix, starts: Any, turns: Any, most_levels: int, score: Vector, opts: ProductOptions
) -> int:
    """Search from different vertices in one loop, those of a turn together.

    Those of one turn reach different vertices. ``p`` counts the shortest paths to each vertex; on
    the way back ``share`` has (1 + d_w) / p_w of the level before, for the dependency d_w on each w
    of it (see `_accumulate`). Frontiers push and levels pull on a GPU: both walk rows, each of them
    once.
    """
    n, number = A.nrows, vertex_dtype(A.nrows)
    with device(A.device):
        turn_of = Vector.from_coo(starts, turns, number, size=n)
        level, start = Vector(number, n), Vector(number, n)
        frontier, paths, share, gained = (Vector(dtypes.FP64, n) for _ in range(4))
    turn, depth, levels = (Scalar.from_value(0, number) for _ in range(3))
    most = Scalar.from_value(0.0, dtypes.FP64)
    # On a GPU. What is pushed is added up as threads come, which a fixed order of sums rules out.
    by_row = device_traits(A.device).own_memory
    fixed = opts.get("deterministic", config.get("deterministic"))
    out: Any = (by_rows(A, "push") if by_row and not fixed else {}) | opts
    back: Any = (by_rows(A, "pull") if by_row else {}) | opts

    def spread() -> Any:
        level(frontier.S) << depth
        paths(frontier.S) << frontier
        depth << depth + 1
        # frontier<not level, replace> = frontier plus.first A
        frontier(~level.S, replace=True, **out) << frontier.vxm(A, _PLUS_FIRST)
        return frontier.nvals > 0

    def collect() -> Any:
        depth << depth - 1
        here = level.select(select.valueeq, depth).new()
        # gained<here, replace> = A plus.second share
        gained(here.S, replace=True, **back) << A.mxv(share, _PLUS_SECOND)
        score(~start.S, accum=binary.plus) << gained.ewise_mult(paths, binary.times)
        share(here.S, replace=True) << paths.apply(unary.minv)
        share(accum=binary.plus) << gained
        return depth > 0

    def search() -> None:
        start << turn_of.select(select.valueeq, turn)
        level(start.S, replace=True) << 0
        paths(start.S, replace=True) << 1
        frontier << paths
        depth << 0
        repeat(spread, max_iterations=most_levels)
        levels << levels + depth
        most(accum=binary.max) << paths.reduce(monoid.max)
        depth << depth - 1
        share << paths.apply(unary.minv)
        share(level.select(select.valueeq, depth).new().S, replace=True) << share
        repeat(collect, max_iterations=most_levels)
        turn << turn + 1

    finished(repeat(search, max_iterations=int(turns[-1]) + 1))
    _check_paths(most.value)
    return int(levels)


def _in_batches(A: Matrix, vertices: Any, size: int, score: Vector, opts: ProductOptions) -> int:
    """Add the dependencies of all searches to `score`; return the number of levels.

    Raises InvalidValue if there are too many paths.
    """
    levels = 0
    for at in range(0, len(vertices), size):
        frontiers = _search(A, vertices[at : at + size], opts)
        _accumulate(A, frontiers, score, opts)
        levels += len(frontiers)
    return levels


def _check_paths(most: float) -> None:
    if most == np.inf:
        raise InvalidValue(
            "betweenness_centrality: more shortest paths between two vertices than FP64 can "
            "count (1.8e308); leave vertices out, or contract chains of squares"
        )


def _search(A: Matrix, vertices: Any, opts: ProductOptions) -> list[Matrix]:
    """Return the levels: entry (i, v) of one is the number of shortest paths from source i to v.

    Raises InvalidValue if there are too many.
    """
    k, n = len(vertices), A.nrows
    frontier = Matrix.from_coo(np.arange(k), vertices, 1.0, nrows=k, ncols=n)
    seen = Matrix.from_coo(np.arange(k), vertices, True, nrows=k, ncols=n)
    most, levels = Vector(dtypes.FP64, k), []
    while frontier.nvals:
        levels.append(frontier)
        # F<not S> = F plus.first A
        frontier = frontier.mxm(A, _PLUS_FIRST).new(mask=~seen.S, **opts)
        # S<F> = true
        seen(frontier.S) << True
        most(accum=binary.max) << frontier.reduce_rowwise(monoid.max)
    _check_paths(most.reduce(monoid.max).get(0))
    return levels


def _accumulate(A: Matrix, levels: list[Matrix], score: Vector, opts: ProductOptions) -> None:
    """Add to `score` the dependency of every search on every vertex, from the last level on.

    With p paths to v and d the dependency on it, ``d_v = p_v sum over successors w of
    (1 + d_w) / p_w``. The fractions of a level are kept.
    """
    share = levels[-1].apply(unary.minv).new()
    for paths in reversed(levels[1:-1]):
        # G<F> = G plus.first A'
        gained = share.mxm(A.T, _PLUS_FIRST).new(mask=paths.S, **opts)
        # score += column sums of G * F
        score(accum=binary.plus) << gained.ewise_mult(paths).reduce_columnwise(monoid.plus)
        # The fractions of this level: 1 / F (+) G
        share = paths.apply(unary.minv).ewise_add(gained).new()


def _rescale(score: Vector, vertices: Any, normalized: bool, directed: bool) -> None:
    """Make sums over some sources the centrality: each stands for n - 1 vertices other than v."""
    n, count = score.size, len(vertices)
    pairs = max((n - 1) * (n - 2), 1) if normalized else 1 if directed else 2
    score << score.apply(binary.times, right=(n - 1) / max(count, 1) / pairs)
    at, times = np.unique(vertices, return_counts=True)
    if not count:
        return
    # A source is no pair's middle in its own search: fewer searches tell something of it.
    others = count - times
    share = np.divide(count, others, out=np.zeros(len(at)), where=others > 0)
    with device(score.device):
        score(accum=binary.times) << Vector.from_coo(at, share, size=n)
