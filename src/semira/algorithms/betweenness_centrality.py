"""Betweenness centrality by Brandes' algorithm, on matrices: a row for each source of a batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from semira import Matrix, Vector, binary, device, dtypes, monoid, semiring, tracing, unary
from semira.algorithms.checks import check_count, check_sources, check_square
from semira.algorithms.results import CentralityResult
from semira.exceptions import InvalidValue

_PLUS_FIRST = semiring.plus_first[dtypes.FP64]


def betweenness_centrality(
    A: Matrix,
    *,
    sources: int | Sequence[int] | None = None,
    seed: int = 0,
    batch: int = 32,
    normalized: bool = True,
    directed: bool = True,
    **opts: Any,
) -> CentralityResult:
    """Return the betweenness centrality of every vertex.

    ``c_v = sum over s != v != t of (shortest paths from s to t through v) / (all of them)``;
    every edge has length 1.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Entry (i, j), whatever its value, is the edge from i to j. Not modified.
    sources : int, sequence of ints, or None
        The s of the sum. None: all vertices. A number k: k different ones, drawn with `seed`.
        A sequence: these. The sum is scaled by n / (number of sources), which makes it an
        estimate of the whole one, without bias where they are drawn.
    seed : int >= 0
        Of the draw (`numpy.random.default_rng`).
    batch : int >= 1
        Sources that are searched from at a time. More make larger products, in more memory.
    normalized : bool
        Divide by the (n - 1) (n - 2) pairs of other vertices.
    directed : bool
        False, together with ``normalized=False``: count the pairs (s, t) and (t, s) of a
        symmetric graph once. Where `normalized`, it changes nothing.
    **opts
        Options of the products.

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
    O(nvals) work in products for each source, O(n nvals) in all; a level also walks the vertices
    found so far. Memory: the levels of a batch, 12 bytes for each pair reached, and as many marks.
    A search keeps the matrix of each level, so its loop is not recorded: the host reads the size
    of the frontier at each. Its products push or pull as the frontier fills.

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
    vertices, size = check_sources(sources, n, seed), check_count(batch, "batch", 1)
    with device(A.device):
        score = Vector(dtypes.FP64, n)
    score << 0
    levels = 0
    with tracing() as run:
        for at in range(0, len(vertices), size):
            frontiers = _search(A, vertices[at : at + size], opts)
            _accumulate(A, frontiers, score, opts)
            levels += len(frontiers)
    score << score.apply(binary.times, right=_scale(n, len(vertices), normalized, directed))
    return CentralityResult(levels, tuple(run.rows), score, len(vertices))


def _search(A: Matrix, vertices: Any, opts: dict[str, Any]) -> list[Matrix]:
    """Return the levels: entry (i, v) of one is the number of shortest paths from source i to v.

    Raises
    ------
    InvalidValue
        There are too many.
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
    if most.reduce(monoid.max).get(0) == np.inf:
        raise InvalidValue(
            "betweenness_centrality: more shortest paths between two vertices than FP64 can "
            "count (1.8e308); leave vertices out, or contract chains of squares"
        )
    return levels


def _accumulate(A: Matrix, levels: list[Matrix], score: Vector, opts: dict[str, Any]) -> None:
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


def _scale(n: int, count: int, normalized: bool, directed: bool) -> float:
    """Return what makes a sum over `count` sources the centrality."""
    whole = n / max(count, 1)
    if normalized:
        return whole / ((n - 1) * (n - 2)) if n > 2 else 0.0
    return whole if directed else whole / 2
