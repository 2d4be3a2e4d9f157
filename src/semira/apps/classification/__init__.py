"""Application classification: which vertices of a graph look like those of a pattern."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from semira.apps.classification import problem, solve
from semira.apps.classification.problem import EdgeFeatures, edges_of, memory, rows_of_names
from semira.apps.classification.result import Classification
from semira.apps.named import takes_graph
from semira.kernels import array_module

__all__ = ["Classification", "EdgeFeatures", "classify", "memory"]


@takes_graph(vertices=rows_of_names, edges=edges_of)
def classify(
    A: Any,
    vertices: Any,
    edges: Any,
    pattern_vertices: Any,
    pattern_edges: Any,
    *,
    reverse_from: str = "source",
    iterations: int | None = None,
    null_penalty: float = 0.0,
    progress: Callable[[int, int], None] | None = None,
) -> Classification:
    """Return how likely each vertex of a graph is to be each vertex of a pattern.

    Graph and pattern have features on vertices and edges. Vertices that are near in their features,
    and whose edges and neighbours are near those of the pattern, get high probabilities: loopy
    belief propagation, an inexact subgraph match.

    Parameters
    ----------
    A : Matrix or Graph, shape (n, n), any dtype
        Entry (i, j) is an edge from i to j. Values are not read. Not modified.
    vertices : array of real numbers, shape (n, fv), or mapping of names to rows of it
        Features of the vertices. Finite, at most 1e150.
    edges : array of real numbers, shape (nvals, fe), or EdgeFeatures
        Features of the entries of `A`, by rows; or ``(sources, targets, features)``, in any order,
        with names in a Graph that has them.
        Listed edges may be repeated, and each of them counts.
    pattern_vertices : array, shape (p, fv)
        Features of the vertices of the pattern.
    pattern_edges : EdgeFeatures
        ``(sources, targets, features)`` of the edges of the pattern.
    reverse_from : {"source", "destination"}
        Whose scores messages against the direction of an edge carry. ``"source"`` is what PNNL's
        code does, which the HIVE report reproduces; ``"destination"`` is what the method means.
    iterations : int >= 0, optional
        One for each vertex of the pattern if None.
    null_penalty : float
        What a vertex loses if no edge matches an edge of the pattern.
    progress : callable, optional
        Called after each iteration with how many are done, and all.

    Returns
    -------
    Classification
        ``log_probabilities`` and ``probabilities`` (n, p), whose columns sum to 1; ``best``,
        ``top(k)``; ``facts()``, ``table()``, ``write(path)``.

    Raises
    ------
    DomainMismatch
        `A` is no Matrix, or features are no real numbers.
    DimensionMismatch
        `A` is not square, there are not as many rows of features as vertices or edges, or the
        pattern has other features than the graph.
    IndexOutOfBound
        An edge names a vertex that is not there.
    InvalidValue
        A feature is not finite, listed edges are not those of `A`, the pattern has no vertices, or
        a parameter is out of range.
    OutOfMemory
        The device has less memory than `memory` says.

    Notes
    -----
    An iteration sends, for each edge of the pattern p -> r, the scores of p forward over all edges,
    less the distance of their features, and those of r back. Each vertex takes the greatest
    message, or the null message if that is greater, and adds it to its score.

    O(p nvals q (fe + 1)) for q edges of the pattern. Distances of edges are computed again in every
    iteration, from the features: no table of nvals x q is stored. What is sent from the source of
    an edge needs no walk over edges but one at the start. `memory` tells the bytes.

    Greatest messages are exact on every device. Sums are added in an order that depends on n alone,
    or in integers, so the number of threads changes nothing; devices agree to about 1e-12, since
    their exponentials and fused additions differ in the last digit.

    References
    ----------
    B. Johnson et al., *A commodity performance baseline for HIVE graph applications: year 1
    report*, UC Davis, 2018, "Application classification"; PNNL's code, which it compares with.

    Examples
    --------
    >>> import semira as gb
    >>> A = gb.Matrix.from_coo([0, 1, 2, 3], [1, 2, 3, 0])
    >>> found = classify(
    ...     A, [[0.0], [5.0], [9.0], [1.0]], [[1.0], [4.0], [4.0], [4.0]],
    ...     [[0.0], [5.0]], ([0], [1], [[1.0]]),
    ... )
    >>> found.best.tolist(), found.probabilities.sum(axis=0).round(6).tolist()
    ([0, 1], [1.0, 1.0])
    """
    problem.check(A, reverse_from, iterations, null_penalty)
    pattern = problem.pattern_of(pattern_vertices, pattern_edges)
    both = reverse_from == "destination"
    steps = len(pattern.vertices) if iterations is None else int(iterations)
    with array_module(A.device) as xp:
        given = problem.problem_of(A, vertices, edges, pattern, both, xp)
        made = solve.scores(
            given, xp, iterations=steps, penalty=float(null_penalty), both=both, progress=progress
        )
    return Classification(made, A.device, steps, given.m, len(pattern.edges))
