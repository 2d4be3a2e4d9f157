"""Random walks and scored walks: uniform, greedy, by score, by weight, node2vec."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from semira import Matrix
from semira.algorithms.naming import values_of, vertices_or_sets
from semira.apps.named import takes_graph
from semira.apps.sampling.problem import matrix_of, vertices_of
from semira.apps.walks.problem import checked, ground_of
from semira.apps.walks.result import WalkResult
from semira.apps.walks.solve import run, walker_bytes
from semira.kernels import array_module

__all__ = ["WalkResult", "memory", "random_walks"]


def memory(
    A: Matrix,
    walks: int,
    length: int = 10,
    *,
    kind: str = "uniform",
    keep: str = "paths",
    weighted: bool = True,
) -> int:
    """Return the bytes that walks take beside the matrix, if they stay on its device.

    Examples
    --------
    >>> import semira as gb
    >>> memory(gb.Matrix(int, 10, 10), walks=100, length=80)
    33200
    """
    by_weight = kind in ("biased", "stochastic_greedy") or (kind == "node2vec" and weighted)
    tables = 8 * A.nvals if by_weight else 4 * A.nrows if kind == "greedy" else 0
    counts = 8 * A.nrows if keep == "counts" else 0
    return walks * walker_bytes(A.nrows, length, keep) + tables + counts


@takes_graph(starts=vertices_or_sets, scores=values_of)
def random_walks(
    A: Matrix,
    /,
    starts: Any = None,
    length: int = 10,
    *,
    walks_per_vertex: int = 1,
    kind: str = "uniform",
    scores: Any = None,
    weighted: bool = True,
    p: float = 1.0,
    q: float = 1.0,
    restart: float = 0.0,
    seed: int = 0,
    keep: str = "paths",
    progress: Callable[[int, int], None] | None = None,
) -> WalkResult:
    """Walk along the entries of a matrix, from row to column.

    From a vertex v, the next one is chosen by `kind`. ``"uniform"``: every neighbour alike.
    ``"biased"``: by the values, P(u) = A[v, u] / sum of row v. ``"greedy"``: the neighbour with the
    greatest score, the first of several. ``"stochastic_greedy"``: P(u) = score[u] / sum of the
    scores of all neighbours; every neighbour alike if that sum is 0. ``"node2vec"``: by
    A[v, u] f, where f is 1/p if u is the vertex before v, 1 if that vertex has the entry of u, and
    1/q otherwise.

    Parameters
    ----------
    A : Matrix or Graph, shape (n, n), any dtype
        Entry (i, j) is a step from i to j: symmetric if steps go both ways. Not modified; of a
        transpose a copy is made.
    starts : sequence or array of int, or of names, optional
        Vertices that walks begin at. None: all.
    length : int >= 1
        Vertices of a walk, its start included.
    walks_per_vertex : int >= 1
        Walks from each start: row i of the result began at ``starts[i % len(starts)]``.
    kind : {"uniform", "greedy", "stochastic_greedy", "biased", "node2vec"}
    scores : Vector or array of float, shape (n,), or mapping from names, optional
        Of ``greedy`` and ``stochastic_greedy``, there not negative.
    weighted : bool
        Whether ``node2vec`` reads the values. False: all are 1.
    p, q : float > 0
        Of ``node2vec``: a large `p` keeps walks from turning back, a large `q` keeps them near.
        A step takes max(1, q) trials on average at most.
    restart : float, from 0 up to 1
        Probability that a walk goes back to its start in place of a move. If it is above 0, a walk
        at a vertex without neighbours goes back too.
    seed : int >= 0
        Of the random numbers, which are a function of seed, walk and step: the same walks on every
        device, whatever the number of threads.
    keep : {"paths", "ends", "counts"}
        All vertices, the last vertex of each walk, or how often each vertex was visited.
    progress : callable of (done, total), optional
        Called between parts of the walks.

    Returns
    -------
    WalkResult
        ``kept`` on the device, ``paths``, ``ends`` or ``counts``; ``lengths``, ``steps``,
        ``neighbours_seen``, ``false_moves``. A walk ends at a vertex without neighbours (for
        ``biased`` and ``node2vec`` without a positive weight); the rest of its row is -1.

    Raises
    ------
    IndexOutOfBound
        A start is no vertex.
    InvalidValue
        A parameter is out of range, `A` is not square, or scores are missing or not read.
    DimensionMismatch, DomainMismatch
        There is not a score for each vertex; scores are no real numbers.
    NegativeWeight, InvalidWeight
        A weight or score is negative, or no finite number.
    OutOfMemory
        The paths fit neither on the device nor on the host.

    Notes
    -----
    Cost: one launch; a step reads two offsets and an entry. ``biased`` and ``stochastic_greedy``
    first add up the weights of each row, O(nvals), and search O(log degree) times a step;
    ``node2vec`` searches the row of the vertex before, too. ``greedy`` first finds the best
    neighbour of every vertex, O(nvals). Weights are rounded to multiples of 2**-61 of (greatest
    weight x longest row). Uniform walks on ``cuda`` do not wait for the device if the starts lie on
    the host. If the paths take more than 3/4 of what is free on the GPU, they are made in parts and
    copied to the host.

    References
    ----------
    A. Grover, J. Leskovec, *node2vec: scalable feature learning for networks*, KDD 2016; K. Yang
    et al., *KnightKing: a fast distributed graph random walk engine*, SOSP 2019 (rejection); J.
    Johnson et al., *HIVE Year 1 report*, GraphSearch (scored walks).

    Examples
    --------
    >>> import semira as gb
    >>> A = gb.Matrix.from_coo([0, 1, 2, 2], [1, 2, 0, 1])
    >>> gb.apps.random_walks(A, [0, 1], 4, kind="greedy", scores=[3, 2, 1]).paths.tolist()
    [[0, 1, 2, 0], [1, 2, 0, 1]]
    >>> gb.apps.random_walks(A, length=5, seed=1).facts()["steps"]
    12
    """
    A = matrix_of(A, "random_walks")
    walks = checked(kind, length, walks_per_vertex, p, q, restart, seed, keep)
    with array_module(A.device) as xp:
        begin = vertices_of(starts, A.nrows, xp, "starts")
        ground = ground_of(A, walks, scores, weighted, xp)
        found = run(ground, walks, begin, weighted, A.device, xp, progress)
    return WalkResult(*found, keep, kind, A.device, walks.length, ground, begin, walks.restart > 0)
