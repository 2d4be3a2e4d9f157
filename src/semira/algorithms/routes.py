"""Paths behind the lengths that a search has found: a predecessor for every vertex."""

from __future__ import annotations

from typing import Any

import numpy as np

from semira import Matrix, Vector, binary, device, repeat, select, semiring
from semira.algorithms.checks import vertex_dtype


def predecessors(A: Matrix, distance: Vector, starts: Any, *, exact: bool = True) -> Vector:
    """Return the vertex before each one on a shortest path.

    Parameters
    ----------
    A : Matrix, shape (n, n)
        Lengths of edges.
    distance : Vector, shape (n,), real
        Lengths of shortest paths from `starts`; no entry where there is none.
    starts : sequence of int
        Vertices at distance 0.
    exact : bool
        No length is negative, and each distance is that of the vertex before plus the length of the
        edge, in their dtype. False: it may differ by rounding, and cycles may have length 0.

    Returns
    -------
    Vector, shape (n,), INT32 (INT64 from 2**31 vertices)
        A tree: each start is its own predecessor. The same one on every device.

    Notes
    -----
    Two products of all edges by a diagonal matrix, O(nvals), and `tree_of`. Where it is not `exact`
    also a search over what each edge leaves to be desired, ``distance_u + length - distance_v``,
    which is never negative: the tree whose paths have the least sum of these.

    Examples
    --------
    >>> A = Matrix.from_coo([0, 0, 2], [1, 2, 1], [7, 2, 3], nrows=4, ncols=4)
    >>> predecessors(A, Vector.from_dict({0: 0.0, 1: 5.0, 2: 2.0}, size=4), [0]).to_dict()
    {0: 0, 1: 2, 2: 0}
    """
    if exact:
        return tree_of(A, distance, starts, semiring.any_plus, semiring.any_lt)
    number, here = distance.dtype, distance.diag()
    reach = here.mxm(A, semiring.any_plus[number]).new()
    slack = reach.mxm(here, semiring.any_minus[number]).new()
    slack << slack.apply(binary.max, right=0)
    # Where both are infinite the difference is NaN.
    slack(_where(reach, semiring.any_eq, here).S) << 0
    with device(A.device):
        cost = Vector.from_coo(starts, 0, number, size=distance.size)
    cost.fixed_point(slack, semiring.min_plus[number])
    return tree_of(slack, cost, starts, semiring.any_plus, semiring.any_lt)


def tree_of(A: Matrix, value: Vector, starts: Any, along: Any, before: Any) -> Vector:
    """Return a tree of edges over which each vertex got its value.

    Parameters
    ----------
    A : Matrix, shape (n, n)
    value : Vector, shape (n,)
        ``value_v`` is the best of ``along(value_u, A_uv)`` over the edges that lead to v, and
        `along` makes no value better.
    starts : sequence of int
        Vertices whose values were given.
    along, before : Semiring
        ``any`` with the value after an edge, and with whether one value is better than another.

    Returns
    -------
    Vector, shape (n,)
        As `predecessors`: of several edges, the one from a better value, then from the smallest
        vertex.

    Notes
    -----
    An edge is tight if ``along(value_u, A_uv) == value_v``. Tight edges from better values make no
    cycle, so any one will do. Vertices that have none of these, because all edges that lead to
    them change nothing (length 0, say), are found by a search over tight edges from the others.
    """
    n, number, here = value.size, vertex_dtype(value.size), value.diag()
    tight = _where(here.mxm(A, along[value.dtype]).new(), semiring.any_eq, here)
    steep = _where(here.mxm(tight, semiring.any_first[value.dtype]).new(), before, here)
    min_secondi = semiring.min_secondi[number]
    with device(A.device):
        frontier, predecessor = Vector(number, n), Vector.from_coo(starts, starts, number, size=n)
    predecessor(~predecessor.S) << value.vxm(steep, min_secondi)
    frontier << predecessor

    def step() -> Any:
        frontier(~predecessor.S, replace=True) << frontier.vxm(tight, min_secondi)
        predecessor(frontier.S) << frontier
        return frontier.nvals > 0

    repeat(step, max_iterations=max(n, 1))
    return predecessor


def _where(left: Matrix, op: Any, here: Matrix) -> Matrix:
    """Return the entries (u, v) of a matrix that compare with ``here_vv``, as True."""
    found = left.mxm(here, op[left.dtype]).new()
    kept: Matrix = found.select(select.valueeq, True).new()
    return kept


def followed(predecessor: Vector, vertex: int) -> list[int]:
    """Return the vertices from where a tree begins to `vertex`; none if that is not in it.

    O(n): it copies the vector to the host once.
    """
    indices, values = predecessor.to_coo()
    known, route = indices.astype(np.int64), [vertex]
    for _ in range(len(known)):
        at = int(np.searchsorted(known, route[-1]))
        if at == len(known) or known[at] != route[-1]:
            return []
        if values[at] == route[-1]:
            return route[::-1]
        route.append(int(values[at]))
    return []
