"""PageRank by pulling, with dangling mass."""

from __future__ import annotations

from typing import Any, Unpack

from semira import Matrix, ProductOptions, Scalar, binary, monoid, repeat, semiring, unary
from semira.algorithms.adaptive_pagerank import adaptive_pagerank
from semira.algorithms.naming import keys_of, takes_graph
from semira.algorithms.pagerank_passes import rank_in_one_pass, ranks_in_one_pass
from semira.algorithms.pagerank_terms import Personalisation, begin, checked, restarted
from semira.algorithms.results import PageRankResult, finished


@takes_graph(personalisation=keys_of)
def pagerank(
    A: Matrix,
    /,
    damping: float = 0.85,
    tol: float = 1e-6,
    max_iterations: int = 100,
    *,
    weighted: bool = False,
    adaptive: bool = False,
    personalisation: Personalisation = None,
    dtype: Any = "FP64",
    **opts: Unpack[ProductOptions],
) -> PageRankResult:
    """Return the PageRank of every vertex.

    ``r_j = (1 - d) / n + d (sum over i of r_i A_ij / out_i + dangling / n)``, where dangling is
    the rank of the vertices without out-edges, spread evenly. With `personalisation` p, divided by
    its sum: ``r_j = (1 - d) p_j + d (sum over i of r_i A_ij / out_i + dangling p_j)``.

    Parameters
    ----------
    A : Matrix or Graph, shape (n, n), any dtype
        Entry (i, j) is the edge from i to j. Not modified.
    damping : float in [0, 1]
        How often the surfer follows an edge.
    tol : float >= 0
        Stop when the absolute changes of an iteration sum to at most `tol` (NetworkX: n * tol).
    max_iterations : int >= 1
        Maximum number of iterations.
    weighted : bool
        Share rank in proportion to the values of `A` (as NetworkX does); else evenly, and the
        values are not read.
    adaptive : bool
        Mask out rows that an iteration changed by at most `tol` times their rank. Every fourth
        iteration computes every row, and only such a one may stop the loop: the guarantee is
        the same. It pays where parts of the graph converge early; where rank travels far
        through rows that have not moved yet, it takes more iterations.
    personalisation : Vector of shape (n,), or dict of vertex to number, optional
        Shares of the vertices at which the surfer starts anew, none negative; no entry is 0. See
        also `personalised_pagerank`.
    dtype : {"FP64", "FP32"}
        Of the ranks. FP32 may not reach a small `tol`.
    **opts
        Options of the product; by default it pulls. Without them hosts do all of an iteration in
        one pass over the vertices, which is no product.

    Returns
    -------
    PageRankResult
        ``rank`` (sums to 1), ``iterations``, ``converged``, ``last_change``, ``trace``.

    Raises
    ------
    DimensionMismatch
        `A` is not square, or `personalisation` has another number of vertices.
    InvalidValue
        `damping`, `tol` or `max_iterations` is out of range, `personalisation` has a negative
        value, or a sum that is not positive and finite, or `weighted` and weights or their sum
        are no normal numbers of `dtype`.
    InvalidWeight, NegativeWeight
        `weighted` and a weight is negative or NaN.
    DomainMismatch
        `dtype` is no floating-point dtype, or `personalisation` no Vector of real numbers.

    Notes
    -----
    O(n + nvals) an iteration; no synchronisation inside of it. One before the loop, the first time
    that the edges of `A` are looked at with a damping, four more the first time with `weighted`;
    with `personalisation` two each time. What follows from the edges, a vector, two with sinks,
    stays with `A` for the last damping (`Matrix.derived`).

    References
    ----------
    S. Kamvar, T. Haveliwala, G. Golub, *Adaptive methods for the computation of PageRank*,
    Linear Algebra and its Applications 386, 2004; C. Yang, *High-performance linear
    algebra-based graph framework on the GPU*, 2019, section 7.5.3 and Figure 7.6.

    Examples
    --------
    >>> A = Matrix.from_coo([0, 1, 2], [1, 0, 0], nrows=3, ncols=3)
    >>> [round(x, 3) for x in pagerank(A, tol=1e-9).rank.to_dense().tolist()]
    [0.486, 0.464, 0.05]
    """
    damping, tol, number = checked(A, damping, tol, weighted, dtype, opts)
    if not adaptive and ranks_in_one_pass(A, opts):
        return rank_in_one_pass(A, damping, weighted, personalisation, number, tol, max_iterations)
    terms = rank, share, scale, sinks, shares = begin(A, damping, weighted, personalisation, number)
    product = (semiring.plus_times if weighted else semiring.plus_second)[number]
    if adaptive:
        return adaptive_pagerank(A, terms, product, damping, tol, max_iterations, opts)
    change, pulled = Scalar(number), {"direction": "pull", **opts}

    def step() -> Any:
        # fresh = (1 - d + d * (sum of rank over the sinks)) / n, or times p
        fresh = restarted(rank, sinks, shares, damping).new()
        # fresh += A' plus.second share
        fresh(accum=binary.plus, **pulled) << A.T.mxv(share, product)
        # change = sum of |fresh - rank|; then rank = fresh and share = fresh scale
        moved = fresh.ewise_mult(rank, binary.minus).apply(unary.abs).new()
        change << moved.reduce(monoid.plus)
        rank << fresh
        share << fresh.ewise_mult(scale, binary.times)
        return change > tol

    loop = finished(repeat(step, max_iterations=max_iterations))
    return PageRankResult(loop.iterations, loop.trace, rank, loop.stopped_by == "condition", change)
