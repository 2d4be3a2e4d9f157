"""Subgraph matching: where a small pattern lies in a graph, exactly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from semira.algorithms.naming import values_of
from semira.apps.named import takes_graph
from semira.apps.subgraph_matching import problem, solve
from semira.apps.subgraph_matching.problem import MOST
from semira.apps.subgraph_matching.result import SubgraphMatches
from semira.apps.subgraph_matching.solve import memory
from semira.kernels import array_module

__all__ = ["MOST", "SubgraphMatches", "memory", "subgraph_match"]


@takes_graph(labels=values_of)
def subgraph_match(
    A: Any,
    pattern: Any,
    *,
    labels: Any = None,
    pattern_labels: Any = None,
    match_values: bool = False,
    induced: bool = False,
    distinct: bool = False,
    limit: int = 1000,
    count_all: bool = True,
    progress: Callable[[int, int], None] | None = None,
) -> SubgraphMatches:
    """Return where a pattern lies in a graph: the number of matches, and some of them.

    A match gives each vertex of the pattern a vertex of the graph of its own, with its label, so
    that each edge of the pattern is an edge of the graph, with its direction.

    Parameters
    ----------
    A : Matrix or Graph, shape (n, n), any dtype
        Entry (i, j) is an edge from i to j; without direction, `A` is symmetric. Not modified.
    pattern : Matrix, shape (k, k), 1 <= k <= 8
        Edges of the pattern, as those of `A`. It need not be connected.
    labels : array of integers, or Vector, shape (n,), or mapping of names, optional
        Labels of the vertices of the graph.
    pattern_labels : array of integers, or Vector, shape (k,), optional
        Labels of the vertices of the pattern. One that has no entry in a Vector matches any label.
    match_values : bool
        Whether edges must have the values of the pattern's edges.
    induced : bool
        Whether pairs without an edge in the pattern must have none in the graph: the pattern is
        then the whole graph between these vertices, loops included.
    distinct : bool
        Return one match of those that differ by a symmetry of the pattern only: each triangle once,
        not six times.
    limit : int >= 0
        Matches to list at most. All are counted.
    count_all : bool
        Count all matches; else stop when `limit` of them are found.
    progress : callable, optional
        Called with the vertices that were tried as first of the pattern, and all of them.

    Returns
    -------
    SubgraphMatches
        ``count``, ``matches``, ``places``, ``automorphisms``; ``facts()``, ``table()``.

    Raises
    ------
    DomainMismatch
        A matrix is none, labels are no integers, or values are no real numbers.
    DimensionMismatch
        A matrix is not square, or there are not as many labels as vertices.
    InvalidValue
        The pattern has no vertices or more than 8, only one of graph and pattern has labels, a
        vertex of the graph has none, or `limit` is out of range.
    OutOfMemory
        The device has less memory than `memory` says.
    NotImplementedException
        The graph has 2**31 vertices or more.

    Notes
    -----
    Partial matches are joined with the neighbours of a matched vertex, that with the fewest; these
    are looked up in the rows of the other ones. A join is counted before it is written, and taken
    in pieces of 4 million matches, or fewer if these do not fit, so memory is bounded whatever
    their number. Time is not: it is that of the number of partial matches. Symmetries of the
    pattern are broken by an order of the matched vertices [1]_, which saves their factor.

    Matches are listed in rising order of the vertices as they are matched, which is the same on
    every device.

    References
    ----------
    .. [1] J. Grochow, M. Kellis, *Network motif discovery using subgraph enumeration and
       symmetry-breaking*, RECOMB 2007.

    Examples
    --------
    >>> import semira as gb
    >>> edges = [(0, 1), (0, 2), (1, 2), (2, 3)]
    >>> i, j = zip(*edges, *[(j, i) for i, j in edges])
    >>> A = gb.Matrix.from_coo(i, j)
    >>> triangle = gb.Matrix.from_coo([0, 0, 1, 1, 2, 2], [1, 2, 0, 2, 0, 1])
    >>> found = subgraph_match(A, triangle, distinct=True)
    >>> found.count, found.matches.tolist(), subgraph_match(A, triangle).count
    (1, [[0, 1, 2]], 6)
    """
    problem.check(A, pattern, labels, pattern_labels, limit)
    dtype = solve.value_dtype(A, pattern) if match_values else None
    wanted = problem.pattern_of(pattern, pattern_labels, dtype)
    symmetries = problem.automorphisms(wanted)
    most = solve.ROOM if count_all else solve.FEW
    room = solve.room_of(A, len(wanted.edges), labels is not None, int(limit), most)
    with array_module(A.device) as xp:
        known = None if labels is None else problem.labels_of(labels, A, xp)
        order = problem.order_of(wanted, solve.frequencies(known, A.nrows, xp))
        smaller = problem.smaller_pairs(symmetries, order) if distinct else set()
        steps = problem.steps_of(wanted, order, smaller, induced)
        matcher = solve.Matcher(A, known, dtype, steps, room, xp)
        matcher.run(int(limit), count_all, progress)
        matches = matcher.matches(order)
    complete = count_all or matcher.count < limit
    count = matcher.count if complete else len(matches)
    return SubgraphMatches(matches, count, complete, len(symmetries), bool(distinct))
