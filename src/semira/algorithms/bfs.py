"""Breadth-first search."""

from __future__ import annotations

from typing import Any, Unpack

from semira import Kept, Matrix, ProductOptions, Scalar, Vector, kept_loop, semiring
from semira.algorithms.checks import check_square, check_vertex, vertex_dtype
from semira.algorithms.levels import search_levels, search_rooms
from semira.algorithms.naming import Vertex, takes_graph, vertex
from semira.algorithms.results import BFSResult


@takes_graph(source=vertex)
def bfs(
    A: Matrix, /, source: Vertex, *, parents: bool = False, **opts: Unpack[ProductOptions]
) -> BFSResult:
    """Return the hops from `source` to every vertex, and optionally a tree of parents.

    Parameters
    ----------
    A : Matrix or Graph, shape (n, n), any dtype
        Entry (i, j), whatever its value, is the edge from i to j. Not modified.
    source : int, 0 <= source < n; a name in a Graph with labels
    parents : bool
        Also return, for each vertex reached, some vertex of the level before with an edge to it.
    **opts
        Options of the product (``direction="pull"``, ``policy="beamer"``, ...).

    Returns
    -------
    BFSResult
        ``level`` and ``parent``: INT32 (INT64 from 2**31 vertices), no entry where unreachable;
        ``depth``, ``reached``, ``iterations``, ``trace``.

    Raises
    ------
    DimensionMismatch
        `A` is not square.
    IndexOutOfBound
        `source` is not a vertex.

    Notes
    -----
    O(n + nvals) work in depth + 1 iterations; an iteration costs O(frontier + edges looked at).
    No synchronisation. Where hosts compile loops, and without options, no product runs: vertices of
    a level push along a queue, or all others pull where that reads less. ``trace`` has its levels.

    Each search of a textbook is this one under options, which ``BFS_METHODS`` has by name; all give
    the same levels. ``balance`` and ``queue`` are for ``cuda``, others refuse them:

    | method | options |
    |---|---|
    | vertex-centric push | `direction="push", balance="positions"` |
    | vertex-centric pull | `direction="pull", balance="thread"` |
    | edge-centric | `matrix_storage="coo"` |
    | frontier, global queue | `direction="push", balance="thread", queue="global"` |
    | frontier, block queue | `direction="push", balance="thread", queue="block"` |
    | one block for small levels | `policy="ligra", switch_point=1.0` |

    References
    ----------
    C. Yang, *High-performance linear algebra-based graph framework on the GPU*, 2019, sections
    5.3 and 7.5.1, Figure 7.6; S. Beamer, K. Asanović, D. Patterson, *Direction-optimizing
    breadth-first search*, SC 2012 (the loop of hosts); W. Hwu, D. Kirk, I. El Hajj, *Programming
    massively parallel processors*, chapter 15 (the methods by name).

    Examples
    --------
    >>> A = Matrix.from_coo([0, 0, 1, 3], [1, 2, 2, 0], nrows=4, ncols=4)
    >>> found = bfs(A, 3, parents=True)
    >>> found.level.to_dict(), found.parent.to_dict()
    ({0: 1, 1: 2, 2: 2, 3: 0}, {0: 3, 1: 0, 2: 0, 3: 3})
    """
    n = check_square(A, "bfs", opts)
    source = check_vertex(source, n)
    rooms = search_rooms(A, opts)
    if rooms is not None:
        found, tree, iterations, trace = search_levels(A, rooms, source, n, parents)
        return BFSResult(iterations, trace, found, tree)
    key = ("bfs", parents, *sorted(opts.items()))
    loop, (level, *parent) = kept_loop(
        A, key, lambda: _search(A, n, parents, opts), ([source], source if parents else True)
    )
    return BFSResult(loop.iterations, loop.trace, level, parent[0] if parents else None)


def _search(A: Matrix, n: int, parents: bool, opts: Any) -> Kept:
    """Return the loop of all searches of a matrix; this one begins at vertex 0."""
    number = vertex_dtype(n)
    level, parent, depth = Vector(number, n), Vector(number, n), Scalar.from_value(0, number)
    # A frontier of vertex numbers carries the vertex that each of its members was found from.
    frontier = Vector.from_coo([0], 0 if parents else True, number if parents else None, size=n)
    product = semiring.any_secondi[number] if parents else semiring.any_pair

    def step() -> Any:
        # level<frontier> = depth
        level(frontier.S) << depth
        if parents:
            # parent<frontier> = frontier
            parent(frontier.S) << frontier
        depth << depth + 1
        # frontier<not level, replace> = frontier any.pair A   (parents: any.secondi)
        frontier(~level.S, replace=True, **opts) << frontier.vxm(A, product)
        return frontier.nvals > 0

    return Kept(step, (frontier,), (level, parent) if parents else (level,), n)
