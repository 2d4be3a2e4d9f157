"""Vertex nomination: which vertices are nearest to some that are known."""

from __future__ import annotations

from typing import Any

from semira import Matrix
from semira.algorithms.naming import values_of, vertices_or_sets
from semira.apps.named import takes_graph
from semira.apps.vertex_nomination.problem import checked
from semira.apps.vertex_nomination.result import Nomination
from semira.apps.vertex_nomination.solve import SET_BYTES, solved

__all__ = ["Nomination", "memory", "nominate"]


def memory(A: Matrix, sets: int = 1) -> int:
    """Return the bytes of the searches from some sets of seeds, if all go at once.

    Examples
    --------
    >>> memory(Matrix(int, 1000, 1000), sets=10)
    320000
    """
    return SET_BYTES * A.nrows * sets


@takes_graph(seeds=vertices_or_sets, content=values_of)
def nominate(
    A: Matrix,
    /,
    seeds: Any,
    *,
    top: int | None = None,
    weighted: bool = True,
    weights: Any = None,
    content: Any = None,
    memory: int | None = None,
) -> Nomination:
    """Rank vertices by their distance from the nearest seed: the context of the seeds.

    ``d(v) = min over seeds s of the length of a shortest path from s to v``. Ranks are by distance,
    then by number. Seeds are left out, and so is what no seed reaches.

    Parameters
    ----------
    A : Matrix or Graph, shape (n, n), real
        Entry (i, j) is the edge from i to j, and its length. Not modified. For distances to the
        seeds give the transpose.
    seeds : sequence of int or of names, or of sequences of these
        The vertices that are known, 0 <= each < n. Of several sets, each has a ranking of its own.
    top : int >= 1, optional
        How many vertices to nominate for each set. Distances of others are not kept.
    weighted : bool
        Read lengths. False, and for BOOL matrices: every edge has length 1.
    weights : sequence of float >= 0, one for each set, optional
        Make one ranking of all sets, which are contexts: by ``sum over sets of weight * distance``.
        A vertex is nominated if every set reaches it.
    content : array or full Vector of float, shape (n,), or mapping of names, optional
        What is known of each vertex by itself, added to its distance; small is near.
    memory : int, optional
        Bytes of the searches that go at once. None: a quarter of what is free.

    Returns
    -------
    Nomination
        ``vertices(i)`` and ``scores(i)`` of set i in the order of ranks, ``distance``, ``facts()``
        and ``table()``.

    Raises
    ------
    DomainMismatch, DimensionMismatch
        `A` is no real square Matrix; a list has another length.
    InvalidIndex, IndexOutOfBound
        A seed is not a vertex.
    InvalidValue
        A set of seeds is empty; a parameter is out of range. A distance over 64-bit integers is
        2**53 or more.
    NegativeWeight, InvalidWeight
        A length, or a weight, is negative or NaN.

    Notes
    -----
    One set: the search of `multi_source_bfs` or `sssp` from all seeds together, recorded. Several
    sets: a row each of a matrix of frontiers, ``F min.+ A`` until no distance falls, as many sets
    at a time as fit. Ranks are made when they are first asked for, with `top` at once: O(r log r)
    for r reached vertices. `facts` checks every distance by one more product.

    References
    ----------
    G. Coppersmith, C. Priebe, *Vertex nomination via content and context*, arXiv:1201.4118, 2012;
    J. Johnson et al., *HIVE Year 1 report*, vertex nomination.

    Examples
    --------
    >>> A = Matrix.from_coo([0, 1, 2, 0], [1, 2, 3, 3], [1, 1, 1, 5], nrows=5, ncols=5)
    >>> found = nominate(A, [0])
    >>> found.vertices().tolist(), found.scores().tolist()
    ([1, 2, 3], [1.0, 2.0, 3.0])
    >>> nominate(A, [[0], [1]], weights=[1, 2]).vertices().tolist()
    [2, 3]
    """
    problem = checked(A, seeds, top, weighted, weights, content, memory)
    return solved(problem)
