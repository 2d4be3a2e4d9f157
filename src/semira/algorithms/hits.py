"""HITS: hubs point to good authorities, and good hubs point to authorities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Unpack

from semira import (
    Matrix,
    ProductOptions,
    Scalar,
    Vector,
    binary,
    device,
    dtypes,
    fused,
    monoid,
    repeat,
    semiring,
    unary,
)
from semira.algorithms.checks import check_number, check_square, check_sums, check_weights
from semira.algorithms.naming import takes_graph
from semira.algorithms.results import finished
from semira.algorithms.run import Layout, Run
from semira.exceptions import DomainMismatch


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class HITSResult(Run):
    """Result of `hits`.

    Attributes
    ----------
    hub, authority : Vector, shape (n,), FP32 or FP64
        Every vertex has an entry; each vector sums to 1, or is 0 where there are no edges.
    converged : bool
        Whether the tolerance was met within the iterations allowed.
    last_change : Scalar
        Sum over the vertices of the last iteration's absolute changes of `hub`.
    """

    layout = Layout("hub", ("authority",), answer=("converged", "iterations"), ranked=True)

    hub: Vector
    authority: Vector
    converged: bool
    last_change: Scalar


@takes_graph()
def hits(
    A: Matrix,
    /,
    tol: float = 1e-6,
    max_iterations: int = 100,
    *,
    weighted: bool = False,
    dtype: Any = "FP64",
    **opts: Unpack[ProductOptions],
) -> HITSResult:
    """Return how good a hub and how good an authority every vertex is.

    ``authority = A' hub`` and ``hub = A authority``, each divided by its sum, over and over: hubs
    tend to the leading eigenvector of ``A A'``, authorities to that of ``A' A``.

    Parameters
    ----------
    A : Matrix or Graph, shape (n, n), any dtype
        Entry (i, j) is the edge from i to j. Not modified.
    tol : float >= 0
        Stop when the absolute changes of `hub` in an iteration sum to at most `tol`.
    max_iterations : int >= 1
        Maximum number of iterations.
    weighted : bool
        Multiply by the values of `A` (as NetworkX does); else each edge counts once, and the
        values are not read.
    dtype : {"FP64", "FP32"}
        Of the scores. FP32 may not reach a small `tol`.
    **opts
        Options of the products; by default they pull.

    Returns
    -------
    HITSResult
        ``hub``, ``authority``, ``iterations``, ``converged``, ``last_change``, ``trace``.

    Raises
    ------
    DimensionMismatch
        `A` is not square.
    InvalidValue
        `tol` or `max_iterations` is out of range, or `weighted` and weights or their sum are no
        normal numbers of `dtype`.
    InvalidWeight, NegativeWeight
        `weighted` and a weight is negative or NaN.
    DomainMismatch
        `dtype` is no floating-point dtype.

    Notes
    -----
    O(n + nvals) an iteration; no synchronisation inside of it. Errors shrink by the ratio of the
    two largest eigenvalues of ``A A'``; where they are equal, the limit is the part of the start
    (equal scores) that lies in their eigenvectors. With `weighted` four synchronisations before the
    loop, the first time that the values of `A` are looked at.

    References
    ----------
    J. Kleinberg, *Authoritative sources in a hyperlinked environment*, J. ACM 46, 1999, section
    3.1.

    Examples
    --------
    >>> A = Matrix.from_coo([0, 0, 1], [2, 3, 3], nrows=4, ncols=4)
    >>> found = hits(A, tol=1e-9)
    >>> [round(x, 3) for x in found.hub.to_dense().tolist()]
    [0.618, 0.382, 0.0, 0.0]
    >>> [round(x, 3) for x in found.authority.to_dense().tolist()]
    [0.0, 0.0, 0.382, 0.618]
    """
    n, tol = check_square(A, "hits", opts), check_number(tol, "tol")
    number = dtypes.lookup_dtype(dtype)
    if not number.is_float:
        raise DomainMismatch(f"hits: dtype={number}, but scores are FP32 or FP64")
    if weighted:
        check_weights(A, "hits")
        check_sums(A, "hits", number)
    product = (semiring.plus_times if weighted else semiring.plus_second)[number]
    pulled = {"direction": "pull"} | opts
    with device(A.device):
        hub, authority, fresh = (Vector(number, n) for _ in range(3))
    change = Scalar(number)

    def start() -> None:
        hub << 1 / max(n, 1)

    def share_out(score: Vector) -> None:
        # score /= sum of score; a sum of 0 stays 0
        total = score.reduce(monoid.plus, allow_empty=False).new()
        score << score.apply(binary.truediv, right=total + (total == 0))

    def step() -> Any:
        # authority = A' plus.second hub, fresh = A plus.second authority
        authority << 0
        authority(accum=binary.plus, **pulled) << A.T.mxv(hub, product)
        share_out(authority)
        fresh << 0
        fresh(accum=binary.plus, **pulled) << A.mxv(authority, product)
        share_out(fresh)
        # change = sum of |fresh - hub|
        change << fresh.ewise_mult(hub, binary.minus).apply(unary.abs).reduce(monoid.plus)
        hub << fresh
        return change > tol

    fused(start)
    loop = finished(repeat(step, max_iterations=max_iterations))
    converged = loop.stopped_by == "condition"
    return HITSResult(loop.iterations, loop.trace, hub, authority, converged, change)
