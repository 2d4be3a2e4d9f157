"""PageRank by pulling, with dangling mass, and its adaptive variant."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

import numpy as np

from semira import (
    Matrix,
    ProductOptions,
    Scalar,
    Vector,
    binary,
    dtypes,
    monoid,
    repeat,
    select,
    semiring,
    unary,
)
from semira.algorithms.checks import (
    check_number,
    check_square,
    check_sums,
    check_vertices,
    check_weights,
)
from semira.algorithms.naming import Vertex, keys_of, takes_graph
from semira.algorithms.results import PageRankResult, finished
from semira.exceptions import DimensionMismatch, DomainMismatch, InvalidValue

#: The adaptive variant computes every row in one iteration out of so many.
_PERIOD = 4


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
    personalisation: Vector | Mapping[Vertex, float] | None = None,
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
        Stop after so many iterations.
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
        Options of the product; by default it pulls.

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
    n = check_square(A, "pagerank", opts)
    damping, tol = check_number(damping, "damping", 1.0), check_number(tol, "tol")
    number = dtypes.lookup_dtype(dtype)
    if not number.is_float:
        raise DomainMismatch(f"pagerank: dtype={number}, but ranks are FP32 or FP64")
    if weighted:
        check_weights(A, "pagerank")
        check_sums(A, "pagerank", number)
    shares = None if personalisation is None else _shares(personalisation, n, number)
    product = (semiring.plus_times if weighted else semiring.plus_second)[number]
    counts = (semiring.plus_times if weighted else semiring.plus_pair)[number]
    scale, sinks = _kept(A, damping, counts)
    each = 1 / max(n, 1) if shares is None else 1.0
    rank, share = _begin(scale, each, shares)
    change, turn = Scalar(number), Scalar.from_value(0) if adaptive else None
    closed = Vector.from_scalar(False, n) if adaptive else None
    rows: dict[str, Any] = {"mask": ~closed.V} if closed is not None else {}
    pulled: dict[str, Any] = {"direction": "pull", **opts, **rows}

    def step() -> Any:
        # fresh<rows> = (1 - d + d * (sum of rank over the sinks)) / n, or times p
        anew: Any = (1 - damping) * each
        if sinks is not None:
            lost = rank.ewise_mult(sinks, binary.first).reduce(monoid.plus, allow_empty=False)
            anew = lost * (damping * each) + (1 - damping) * each
        if shares is None:
            fresh = rank.apply(binary.second[number], right=anew).new(**rows)
        else:
            fresh = shares.apply(binary.times[number], right=anew).new(**rows)
        # fresh<rows> += A' plus.second share
        fresh(accum=binary.plus, **pulled) << A.T.mxv(share, product)
        # change = sum of |fresh - rank|; then rank = fresh and share = fresh scale
        moved = fresh.ewise_mult(rank, binary.minus).apply(unary.abs).new()
        change << moved.reduce(monoid.plus)
        written: dict[str, Any] = {"mask": fresh.S} if adaptive else {}
        rank(**written) << fresh
        share(**written) << fresh.ewise_mult(scale, binary.times)
        if closed is None or turn is None:
            return change > tol
        _close(closed, moved.ewise_mult(fresh, binary.truediv), turn, tol)
        return (change > tol) | (fresh.nvals < n)

    loop = finished(repeat(step, max_iterations=max_iterations))
    if adaptive:
        # Rows left out meanwhile kept old values: the sum is off by as little.
        rank << rank.apply(binary.truediv, right=rank.reduce(monoid.plus, allow_empty=False))
    return PageRankResult(loop.iterations, loop.trace, rank, loop.stopped_by == "condition", change)


def _kept(A: Matrix, damping: float, product: Any) -> tuple[Vector, Vector | None]:
    """Return what scales a rank to the share of each edge, and the sinks; None without any.

    They stay with `A` until that is written, or another damping asked for.
    """
    kept: list[Any] = A.derived(("pagerank", product), list)
    found = list(kept)
    if found[:1] != [damping]:
        found = [damping, *_shared_out(A, damping, product)]
        kept[:] = found
    return found[1], found[2]


def _shared_out(A: Matrix, damping: float, product: Any) -> tuple[Vector, Vector | None]:
    """Return damping / (sum of its out-edges by `product`) of each vertex, and the sinks.

    No edge reads the share of a sink: any number there keeps shares without gaps, and products
    fast.
    """
    n, number = A.nrows, product.type
    scale, sinks, ones = Vector(number, n), Vector(number, n), Vector(number, n)

    def prepare() -> None:
        # Together with what reads the matrix, so that it is written where the matrix is.
        ones << 1
        # Added to zeros, so that what follows is done where a row is summed.
        sums = ones.apply(binary.times, right=0).new()
        sums(accum=binary.plus, direction="pull") << A.mxv(ones, product)
        out = sums.select(select.valuene, 0).new()
        scale << out.apply(binary.truediv, left=damping)
        sinks(~out.S) << 1
        scale(~out.S) << 1

    repeat(prepare, max_iterations=1)
    return scale, sinks if sinks.nvals else None


def _begin(scale: Vector, each: float, shares: Vector | None) -> tuple[Vector, Vector]:
    """Return the first ranks, and what each vertex hands to each of its neighbours.

    Recorded like a loop: one launch, which nothing waits for.
    """
    rank, share = Vector(scale.dtype, scale.size), Vector(scale.dtype, scale.size)

    def begin() -> None:
        rank << (scale.apply(binary.second, right=each) if shares is None else shares)
        share << rank.ewise_mult(scale, binary.times)

    repeat(begin, max_iterations=1)
    return rank, share


def _close(closed: Vector, relative: Any, turn: Scalar, tol: float) -> None:
    """Close the rows that hardly moved; open every row again when it is their turn."""
    closed(relative.select(select.valuele, tol).S) << True
    turn << turn + 1
    closed << closed.apply(binary.land, right=turn // _PERIOD * _PERIOD < turn)


def _shares(weights: Any, n: int, number: Any) -> Vector:
    """Return where the surfer starts anew: an entry for each vertex, of sum 1."""
    if isinstance(weights, Mapping) and weights:
        vertices = check_vertices(list(weights), n, "personalisation")
        weights = Vector.from_coo(vertices, list(weights.values()), size=n)
    if not isinstance(weights, Vector) or weights.dtype.kind not in "BIUF":
        kind = weights.dtype if isinstance(weights, Vector) else type(weights).__name__
        raise DomainMismatch(f"pagerank: personalisation must be a Vector of numbers, got {kind}")
    if weights.size != n:
        raise DimensionMismatch(
            f"pagerank: personalisation has {weights.size} positions; the graph has {n} vertices"
        )
    total = weights.reduce(monoid.plus[dtypes.FP64]).get(0.0)
    least = weights.reduce(monoid.min).get(0.0)
    if least < 0 or not 0 < total < np.inf:
        raise InvalidValue(
            f"pagerank: personalisation has the sum {total} and the least value {least}; give "
            "numbers that are not negative, of which one is positive, and finite"
        )
    shares = Vector(number, n)
    shares << weights.apply(binary.truediv[dtypes.FP64], right=total)
    shares(~shares.S) << 0
    return shares
