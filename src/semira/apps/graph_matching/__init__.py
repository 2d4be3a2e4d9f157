"""Matching of two graphs: which vertex of the one is which of the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from semira import Matrix, binary
from semira.algorithms.checks import check_count, check_number
from semira.apps.arrays import as_given, on_host
from semira.apps.graph_matching.problem import NAME, Pairs, Problem, checked, memory
from semira.apps.graph_matching.result import MatchingResult
from semira.apps.graph_matching.solve import Progress, Search, Settings, searches
from semira.apps.graph_matching.vertices import by_number
from semira.exceptions import DimensionMismatch, InvalidValue
from semira.kernels import array_module

if TYPE_CHECKING:
    from semira.io import Graph

__all__ = ["MatchingResult", "graph_match", "memory"]

STARTS = ("barycentre", "seeds")


def graph_match(
    A: Matrix | Graph,
    /,
    other: Matrix | Graph,
    *,
    seeds: Any = None,
    num_seeds: int = 0,
    soft_seeds: Any = None,
    similarity: Matrix | None = None,
    initial: str | Any = "barycentre",
    padding: str = "naive",
    max_iterations: int = 30,
    tolerance: float = 0.01,
    restarts: int = 1,
    seed: int = 0,
    method: str = "auto",
    progress: Progress | None = None,
) -> MatchingResult:
    """Return the partner of each vertex of a graph in another graph.

    Partners are chosen such that edges lie on edges as far as possible: the sum of
    ``A[i, j] * other[p[i], p[j]]`` over all i and j is to be large. That is a quadratic assignment
    problem, which is hard; the method of Frank and Wolfe finds a local optimum. Pairs that are
    known beforehand, the seeds, help much.

    Parameters
    ----------
    A : Matrix or Graph, shape (n, n), any real dtype
        A graph, directed or not; entries are weights of edges. Not modified.
    other : Matrix or Graph, square, any real dtype
        The other graph, of equal size or not. Not modified.
    seeds : array of int, shape (k, 2), optional
        Pairs (vertex of `A`, vertex of `other`) that are partners; names where a graph has names.
    num_seeds : int >= 0
        The first so many vertices of both are partners. In place of `seeds`.
    soft_seeds : array of int, shape (k, 2), optional
        Pairs that the search starts from, and may leave.
    similarity : Matrix, shape (vertices of A, vertices of other), optional
        What a pair of partners is worth by itself; it is added to the sum.
    initial : {"barycentre", "seeds"}, array of int, or mapping
        Where the search starts: every vertex evenly spread over all partners [2]_; with no partner
        for any vertex but seeds and soft seeds, as in the HIVE report; or a partner for each vertex
        of the graph with fewer or equal vertices, in order or by name.
    padding : {"naive", "adopted"}
        What graphs of unequal size are compared by. The smaller one gets vertices without edges.
        ``"adopted"`` counts pairs without an edge as -1, but not those of added vertices: the
        smaller graph is then sought in the larger one as an induced subgraph [2]_. For graphs
        without weights.
    max_iterations : int >= 1
        Steps of a search at most.
    tolerance : float >= 0
        A search ends when a step is shorter than this, over the root of the number of vertices.
    restarts : int >= 1
        Searches. All but the first start half way to a permutation that is drawn.
    seed : int
        Of what is drawn.
    method : {"auto", "paths", "auction"}
        Of `linear_sum_assignment`. With ``"auction"`` every device finds the same partners.
    progress : callable, optional
        Called with the numbers of finished and of all searches.

    Returns
    -------
    MatchingResult
        ``match``, and what it preserves, counted from the graphs: ``objective``, ``common``,
        ``disagreements``, ``distance``.

    Raises
    ------
    DomainMismatch, DimensionMismatch
        A graph is no square Matrix, or complex; seeds are no pairs; similarity has another shape.
    DeviceMismatch
        The matrices are on several devices.
    InvalidWeight
        A weight is NaN, or infinite.
    InvalidIndex, IndexOutOfBound, InvalidValue
        A seed is no pair of vertices, a vertex has two partners, an option is out of range.
    OutOfMemory
        It does not fit; `memory` tells the bytes.

    Notes
    -----
    A step takes one product of A with the rows of `other` in the order of the last permutation (two
    for directed graphs), and one linear assignment over n * n benefits. The benefits are a sparse
    matrix and, at the barycentre, the product of two matrices of one or two columns, which is never
    made. The length of a step is the best one: the objective along it is a parabola, whose
    coefficients are sums over entries of the gradient at permutations [1]_. A search that ends
    between permutations is projected to the nearest one by a last assignment.

    The same call returns the same partners on every host, and with ``method="auction"`` on every
    device if weights are integers. Where several assignments are best, paths and auction may go
    different ways.

    References
    ----------
    .. [1] J. Vogelstein et al., *Fast approximate quadratic programming for graph matching*, PLoS
       ONE 10, 2015; the sparse form is that of the HIVE report.
    .. [2] D. Fishkind et al., *Seeded graph matching*, Pattern Recognition 87, 2019.

    Examples
    --------
    A path and the same path with other numbers; its ends are known:

    >>> from semira import Matrix
    >>> A = Matrix.from_coo([0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2], 1.0, nrows=4, ncols=4)
    >>> B = Matrix.from_coo([2, 0, 0, 3, 3, 1], [0, 2, 3, 0, 1, 3], 1.0, nrows=4, ncols=4)
    >>> found = graph_match(A, B, seeds=[(0, 2), (3, 1)])
    >>> found.match.tolist(), found.disagreements
    ([2, 0, 3, 1], 0)
    """
    given = by_number(A, other, seeds, soft_seeds, initial)
    problem = checked(
        *given.matrices, given.seeds, num_seeds, given.soft_seeds, similarity, padding
    )
    settings = Settings(
        _start(given.initial, problem), check_count(max_iterations, "max_iterations", 1),
        check_number(tolerance, "tolerance"), check_count(restarts, "restarts", 1),
        check_count(seed, "seed"), method,
    )  # fmt: skip
    with array_module(problem.device) as xp:
        if len(problem.rest_a):
            found = searches(problem, settings, xp, progress)
        else:
            found = [Search(np.zeros(0, np.int64), [], True)]
        kept = [_kept(problem, problem.full(each.of)) for each in found]
    best = max(range(len(found)), key=lambda number: (kept[number]["objective"], -number))
    return MatchingResult(
        **kept[best],
        iterations=np.array([len(each.steps) for each in found]),
        objectives=np.array([each["objective"] for each in kept]),
        steps=tuple(found[best].steps),
        converged=found[best].converged,
        graph=given.graphs[0],
        other=given.graphs[1],
    )


def _start(initial: Any, problem: Problem) -> Any:
    """Return the start: a word, or positions of partners.

    Raises InvalidValue or DimensionMismatch if it is no start.
    """
    if isinstance(initial, str):
        if initial not in STARTS:
            raise InvalidValue(f"{NAME}: initial={initial!r} is none of {', '.join(STARTS)}")
        return initial
    given, (size, others) = on_host(as_given(initial, f"{NAME}: initial")), problem.sizes
    if given.shape != (size,) or given.dtype.kind not in "iu":
        raise DimensionMismatch(
            f"{NAME}: initial is the partner of each of the {size} vertices of A, integers"
        )
    if (
        size > others
        or len(np.unique(given)) < size
        or given.min(initial=0) < 0
        or (given.max(initial=-1) >= others)
    ):
        raise InvalidValue(
            f"{NAME}: initial gives each vertex of A another partner among 0 to {others - 1}; A "
            "may not have more vertices"
        )
    if (given[problem.seeds[:, 0]] != problem.seeds[:, 1]).any():
        raise InvalidValue(f"{NAME}: initial gives a seed another partner than seeds does")
    n = problem.n
    whole = np.concatenate((given, np.setdiff1d(np.arange(n), given)))
    place = np.full(n, -1, np.int64)
    place[problem.rest_b] = np.arange(len(problem.rest_b))
    return place[whole[problem.rest_a]]


def _kept(problem: Problem, match: Pairs) -> dict[str, Any]:
    """Return partners, and what they preserve, by laying the one graph on the other."""
    A, B, size = problem.A, problem.B, problem.sizes[0]
    laid = B[match, match].new()
    products = A.ewise_mult(laid, binary.times).new()
    objective, common = float(products.reduce_scalar().new().get(0.0)), int(products.nvals)
    squares = sum(
        float(each.ewise_mult(each, binary.times).new().reduce_scalar().new().get(0.0))
        for each in (A, laid)
    )
    worth = 0.0
    if problem.similarity is not None:
        order = problem.similarity[:, match].new()
        worth = float(order.diag().reduce().new().get(0.0))
    is_seed = np.zeros(size, bool)
    is_seed[problem.seeds[:, 0]] = True
    return {
        "match": np.where(match < problem.sizes[1], match, -1)[:size],
        "is_seed": is_seed,
        "objective": objective + worth,
        "common": common,
        "disagreements": int(A.nvals) + int(laid.nvals) - 2 * common,
        "distance": max(squares - 2 * objective, 0.0),
    }
