"""Breadth-first search from many sources: one search for each, or one for all together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from semira import (
    Kept,
    LoopResult,
    Matrix,
    ProductOptions,
    Scalar,
    TraceRow,
    Vector,
    kept_loop,
    monoid,
    repeat,
    semiring,
)
from semira.algorithms.checks import check_count, check_square, check_vertices, vertex_dtype
from semira.algorithms.levels import search_levels, search_rooms
from semira.algorithms.naming import Vertex, takes_graph, vertices
from semira.algorithms.results import finished
from semira.algorithms.run import Layout, Run
from semira.algorithms.searches import LEVELS, Searches, can_search, search


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MultiSourceResult(Run):
    """Result of `multi_source_bfs`.

    Attributes
    ----------
    level : Matrix, shape (k, n), or Vector, shape (n,)
        Hops from source i to vertex j at (i, j), or from the nearest source; no entry where
        unreachable. A Matrix is made when it is first read.
    sources : ndarray, shape (k,)
        Numbers of the sources, in the order of the rows of a Matrix.
    """

    layout = Layout("level", answer=("reached", "depth"), rows="sources", vector_if="together")

    level: Matrix | Vector
    sources: NDArray[np.int64] | None = None

    @property
    def depth(self) -> int:
        """Largest level. Synchronises."""
        level: Any = _WHEN_READ.held(self)
        if isinstance(level, Searches):
            return int(level.far.max())
        is_matrix = isinstance(level, Matrix)
        most = level.reduce_scalar(monoid.max) if is_matrix else level.reduce(monoid.max)
        return int(most.get(0))

    @property
    def reached(self) -> int:
        """Number of entries of `level`. Synchronises."""
        return int(self.level.nvals)


class _WhenRead:
    """A field that holds what searches found, and gives it as a Matrix."""

    def __init__(self, slot: Any) -> None:
        self._slot = slot

    def held(self, result: MultiSourceResult) -> Any:
        """Return what the field holds."""
        return self._slot.__get__(result)

    def __get__(self, result: MultiSourceResult | None, owner: Any = None) -> Any:
        if result is None:
            return self
        found = self.held(result)
        return found.matrix() if isinstance(found, Searches) else found

    def __set__(self, result: MultiSourceResult, value: Any) -> None:
        self._slot.__set__(result, value)


_WHEN_READ = _WhenRead(MultiSourceResult.__dict__["level"])
MultiSourceResult.level = _WHEN_READ  # type: ignore[assignment, misc]


@takes_graph(sources=vertices)
def multi_source_bfs(
    A: Matrix,
    /,
    sources: Vertex | Sequence[Vertex],
    *,
    together: bool = False,
    max_depth: int | None = None,
    **opts: Unpack[ProductOptions],
) -> MultiSourceResult:
    """Return the hops from each of k sources to every vertex, or from the nearest of them.

    Parameters
    ----------
    A : Matrix or Graph, shape (n, n), any dtype
        Entry (i, j), whatever its value, is the edge from i to j. Not modified.
    sources : int or sequence of k ints, each in [0, n); names in a Graph with labels
        With `together`, a source may be named twice, and none at all reach nothing.
    together : bool
        One search that starts at all sources: a level is the distance from the nearest one.
    max_depth : int >= 0, optional
        Maximum number of hops.
    **opts
        Options of the product.

    Returns
    -------
    MultiSourceResult
        ``level``: INT32 (INT64 from 2**31 vertices), a Matrix with a row for each source, in
        their order, or a Vector; ``depth``, ``reached``, ``iterations``, ``trace``.

    Raises
    ------
    DimensionMismatch
        `A` is not square.
    InvalidIndex, IndexOutOfBound
        A source is no vertex.
    InvalidValue
        `max_depth` is negative.

    Notes
    -----
    Together: O(n + nvals) work, recorded, no synchronisation. Hosts search as `bfs` does.

    Else a vertex has a bit for each of up to 256 searches, so that a look at an edge serves them
    all: O(nvals) work at most for each level of such a block. Vertices of the frontier push, or
    those that a search misses pull until none is missing, as counts of each level say. On hosts a
    graph whose vertices lie at many different levels, such as a mesh, is searched from one source
    after the other instead. On a GPU blocks and levels are one launch. It keeps up to k n levels
    of one byte (two from 255 levels on), of which reading ``level`` makes a Matrix.

    With options, in graphs of many more vertices than entries, and where k n bytes do not fit, the
    searches are products of a matrix, a row for each source: O(k nvals) work, recorded; the host
    reads sizes in each level. ``trace`` has these products.

    References
    ----------
    A. Buluç, J. Gilbert, *The Combinatorial BLAS: design, implementation, and applications*,
    Int. J. High Performance Computing Applications 25, 2011 (the searches of betweenness
    centrality, in step as a sparse matrix); M. Then et al., *The more the merrier: efficient
    multi-source graph traversal*, VLDB 2014 (a bit for each search).

    Examples
    --------
    >>> A = Matrix.from_coo([0, 1, 2], [1, 2, 3], nrows=4, ncols=4)
    >>> multi_source_bfs(A, [0, 2]).level.to_dicts()
    {0: {0: 0, 1: 1, 2: 2, 3: 3}, 1: {2: 0, 3: 1}}
    >>> multi_source_bfs(A, [0, 2], together=True).level.to_dict()
    {0: 0, 1: 1, 2: 0, 3: 1}
    """
    n = check_square(A, "multi_source_bfs", opts)
    vertices = check_vertices(sources, n)
    limit = n if max_depth is None else min(check_count(max_depth, "max_depth"), n)
    if together:
        level, iterations, trace = from_all(A, vertices, limit, opts)
        return MultiSourceResult(iterations, trace, level, vertices)
    if opts or not can_search(A, len(vertices), LEVELS):
        return _from_each(A, vertices, limit, opts)
    found: Any = search(A, vertices, LEVELS, limit)
    return MultiSourceResult(min(int(found.far.max()) + 1, limit), (), found, vertices)


def from_all(
    A: Matrix, vertices: Any, limit: int, opts: ProductOptions
) -> tuple[Vector, int, Sequence[TraceRow]]:
    """Search from a vertex, or all of several together, up to a number of hops; all are checked.

    Returns
    -------
    level, iterations, trace
    """
    rooms = search_rooms(A, opts)
    is_one = vertices.__class__ is int
    if not is_one and len(vertices) > 1 and not (vertices[1:] > vertices[:-1]).all():
        vertices = np.unique(vertices)
    if rooms is not None:
        level, _, iterations, trace = search_levels(A, rooms, vertices, limit)
        return level, iterations, trace
    vertices = np.atleast_1d(vertices)
    if limit == 0 or len(vertices) == 0:
        return Vector.from_coo(vertices, 0, vertex_dtype(A.nrows), size=A.nrows), 0, ()
    key = ("hops", limit, *sorted(opts.items()))
    given = (vertices, 0), (vertices, True)
    loop, (level,) = kept_loop(A, key, lambda: _together(A, limit, opts), *given)
    return level, loop.iterations, loop.trace


def _together(A: Matrix, limit: int, opts: Any) -> Kept:
    """Return the loop of searches that begin together; this one begins at vertex 0."""
    level = Vector.from_coo([0], 0, vertex_dtype(A.nrows), size=A.nrows)
    frontier = Vector.from_coo([0], True, size=A.nrows)
    depth = Scalar.from_value(0, level.dtype)

    def step() -> Any:
        depth << depth + 1
        # frontier<not level, replace> = frontier any.pair A
        frontier(~level.S, replace=True, **opts) << frontier.vxm(A, semiring.any_pair)
        # level<frontier> = depth
        level(frontier.S) << depth
        return frontier.nvals > 0

    return Kept(step, (level, frontier), (level,), limit)


def _from_each(A: Matrix, vertices: Any, limit: int, opts: ProductOptions) -> MultiSourceResult:
    k, n, number = len(vertices), A.nrows, vertex_dtype(A.nrows)
    frontier = Matrix.from_coo(np.arange(k), vertices, True, nrows=k, ncols=n)
    level = Matrix.from_coo(np.arange(k), vertices, 0, number, nrows=k, ncols=n)
    if limit == 0 or k == 0:
        return MultiSourceResult(0, (), level, vertices)
    loop = advance(A, frontier, level, limit, opts)
    return MultiSourceResult(loop.iterations, loop.trace, level, vertices)


def advance(
    A: Matrix, frontier: Matrix, level: Matrix, limit: int, opts: ProductOptions
) -> LoopResult:
    """Advance the frontiers of all rows by one edge, until none moves, or `limit` times."""
    depth = Scalar.from_value(0, level.dtype)

    def step() -> Any:
        depth << depth + 1
        # F<not L, replace> = F any.pair A
        frontier(~level.S, replace=True, **opts) << frontier.mxm(A, semiring.any_pair)
        # L<F> = depth
        level(frontier.S) << depth
        return frontier.nvals > 0

    return finished(repeat(step, max_iterations=limit))
