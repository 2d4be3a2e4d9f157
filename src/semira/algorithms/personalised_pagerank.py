"""PageRank of a surfer who always starts anew at the same few vertices."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Unpack

import numpy as np

from semira import Matrix, ProductOptions, Vector, device
from semira.algorithms.checks import check_square, check_vertices
from semira.algorithms.naming import Vertex, takes_graph, vertices
from semira.algorithms.pagerank import pagerank
from semira.algorithms.results import PageRankResult
from semira.exceptions import InvalidValue


@takes_graph(sources=vertices)
def personalised_pagerank(
    A: Matrix,
    /,
    sources: Vertex | Iterable[Vertex],
    damping: float = 0.85,
    tol: float = 1e-6,
    max_iterations: int = 100,
    *,
    weighted: bool = False,
    adaptive: bool = False,
    dtype: Any = "FP64",
    **opts: Unpack[ProductOptions],
) -> PageRankResult:
    """Return how close every vertex is to `sources`, as the rank of a surfer who starts there.

    ``r = (1 - d) p + d (A' (r / out) + dangling p)``: p is 1 / (number of sources) at each of
    them; the rank of vertices without out-edges goes back to the sources.

    Parameters
    ----------
    A : Matrix or Graph, shape (n, n), any dtype
        Entry (i, j) is the edge from i to j. Not modified.
    sources : int, or several, 0 <= each < n; names in a Graph with labels
        Naming a vertex twice changes nothing. For other shares than equal ones see the
        `personalisation` of `pagerank`.
    damping : float in [0, 1]
        How far the surfer goes: a walk has d / (1 - d) steps on average.
    tol : float >= 0
        Stop when the absolute changes of an iteration sum to at most `tol`.
    max_iterations : int >= 1
        Maximum number of iterations.
    weighted : bool
        Share rank in proportion to the values of `A`; else evenly, and the values are not read.
    adaptive : bool
        Mask out rows that hardly change, as `pagerank` does.
    dtype : {"FP64", "FP32"}
        Of the ranks.
    **opts
        Options of the product; by default it pulls.

    Returns
    -------
    PageRankResult
        ``rank`` (sums to 1; 0 at vertices that no source reaches), ``iterations``,
        ``converged``, ``last_change``, ``trace``.

    Raises
    ------
    DimensionMismatch
        `A` is not square.
    InvalidIndex, IndexOutOfBound
        A source is not a vertex.
    InvalidValue
        There is no source, or an option is out of range.

    Notes
    -----
    Of `pagerank`: O(n + nvals) an iteration, nothing read on the host inside of the loop.

    References
    ----------
    L. Page, S. Brin, R. Motwani, T. Winograd, *The PageRank citation ranking: bringing order to
    the web*, Stanford InfoLab 1999-66, section 6; T. Haveliwala, *Topic-sensitive PageRank*, WWW
    2002.

    Examples
    --------
    >>> A = Matrix.from_coo([0, 1, 2, 3], [1, 0, 0, 2], nrows=4, ncols=4)
    >>> found = personalised_pagerank(A, 2, tol=1e-9)
    >>> [round(x, 3) for x in found.rank.to_dense().tolist()]
    [0.459, 0.391, 0.15, 0.0]
    """
    n = check_square(A, "personalised_pagerank")
    starts = np.unique(check_vertices(sources, n)).tolist()
    if not starts:
        raise InvalidValue("personalised_pagerank: sources is empty; name at least one vertex")
    with device(A.device):
        shares = Vector.from_coo(starts, 1.0, size=n)
    return pagerank(
        A, damping, tol, max_iterations, weighted=weighted, adaptive=adaptive,
        personalisation=shares, dtype=dtype, **opts,
    )  # fmt: skip
