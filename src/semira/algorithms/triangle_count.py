"""Triangle counting by masked products of triangles."""

from __future__ import annotations

from typing import Any

import numpy as np

from semira import Matrix, Vector, binary, monoid, select, semiring, tracing
from semira.algorithms.checks import check_square
from semira.algorithms.results import TriangleResult
from semira.exceptions import InvalidValue

#: Sorting by degree pays from this mean degree on, and where the mean exceeds the median by
#: this factor (after the GAP benchmark's triangle counting).
_MEAN_DEGREE = 10
_SKEW = 1.3


def triangle_count(
    A: Matrix, *, symmetric: bool = False, order: str = "auto", **opts: Any
) -> TriangleResult:
    """Count the triangles of the undirected graph behind `A`.

    Vertices i and j are connected if entry (i, j) or (j, i) is stored, whatever its value;
    self-loops are ignored.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Not modified.
    symmetric : bool
        The caller knows that the entries of `A` are symmetric: half of them are not looked at.
    order : {"auto", "degree", "natural"}
        An edge leads to its end of higher degree (``degree``) or smaller number
        (``natural``). ``auto``: by degree if the mean degree is at least 10 and above 1.3
        medians, which bounds the work that hubs make.
    **opts
        Options of the product (``method="dot"``, ...).

    Returns
    -------
    TriangleResult
        ``count``, ``order``, ``trace``.

    Raises
    ------
    DimensionMismatch
        `A` is not square.
    InvalidValue
        Unknown `order`.

    Notes
    -----
    With L the oriented edges, ``count = sum(C)``, ``C<L> = L plus.pair L'``: each triangle is
    met once, at the edge between its first two vertices. Work: the sum over edges of the
    lengths of two rows of L, O(nvals ** 1.5) by degree. Reads the degrees (`auto`, `degree`)
    and the result: up to two synchronisations.

    References
    ----------
    A. Azad, A. Buluç, J. Gilbert, *Parallel triangle counting and enumeration using matrix
    algebra*, IPDPSW 2015; C. Yang, *High-performance linear algebra-based graph framework on
    the GPU*, 2019, section 7.5.4; S. Beamer, K. Asanović, D. Patterson, *The GAP benchmark
    suite*, 2015.

    Examples
    --------
    >>> A = Matrix.from_coo([0, 1, 2, 2], [1, 2, 0, 3], nrows=4, ncols=4)
    >>> triangle_count(A).count
    1
    """
    n = check_square(A, "triangle_count")
    if order not in ("auto", "degree", "natural"):
        raise InvalidValue(f"order={order!r}; choose 'auto', 'degree' or 'natural'")
    L = _lower(A, symmetric)
    by_degree = None
    if order != "natural":
        degrees = _degrees(A) if symmetric else _degrees(L, both_ways=True)
        by_degree = _degree_order(degrees, forced=order == "degree")
    if by_degree is not None:
        # L[p, p] with p by falling degree: the lower triangle then leads to higher degrees.
        L = _lower(L[by_degree, by_degree].new(), symmetric=False)
    C = Matrix("INT64", n, n)
    with tracing() as run:
        # C<L> = L plus.pair L'
        C(L.S, **opts) << L.mxm(L.T, semiring.plus_pair["INT64"])
    count = C.reduce_scalar(monoid.plus, allow_empty=False).value
    return TriangleResult(
        1, tuple(run.rows), int(count), "natural" if by_degree is None else "degree"
    )


def _lower(A: Matrix, symmetric: bool) -> Matrix:
    """Return each connected pair once, as an entry below the diagonal."""
    below: Matrix = A.select(select.tril, -1).new()
    if not symmetric:
        above = A.select(select.triu, 1).new()
        below << below.ewise_add(above.T, binary.any)
    return below


def _degrees(edges: Matrix, *, both_ways: bool = False) -> Vector:
    """Return the entries of each row; with `both_ways`, and of each column."""
    ones, plus_pair = Vector.from_scalar(1, edges.nrows, "INT64"), semiring.plus_pair["INT64"]
    degrees: Vector = edges.mxv(ones, plus_pair).new()
    if both_ways:
        # Pushed: pulling would walk the columns, which nothing else here needs.
        degrees(accum=binary.plus, direction="push") << edges.T.mxv(ones, plus_pair)
    return degrees


def _degree_order(degrees: Vector, *, forced: bool) -> Any:
    """Return the vertices by falling degree, or None where sorting would not pay."""
    degree = degrees.to_dense(0)
    if not len(degree):
        return None
    mean, half = degree.mean(), len(degree) // 2
    if not forced and not (
        mean >= _MEAN_DEGREE and mean > _SKEW * np.partition(degree, half)[half]
    ):
        return None
    # Falling degree, then rising number, packed: a plain sort is several times as fast as a
    # stable argsort.
    bits = len(degree).bit_length()
    keys = ((degree.max() - degree) << bits) | np.arange(len(degree))
    keys.sort()
    return keys & ((1 << bits) - 1)
