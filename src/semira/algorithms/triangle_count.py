"""Triangle counting by masked products of triangles."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np

from semira import (
    Matrix,
    ProductOptions,
    Scalar,
    Vector,
    binary,
    indexunary,
    monoid,
    repeat,
    select,
    semiring,
)
from semira.algorithms.checks import check_square
from semira.algorithms.naming import takes_graph
from semira.algorithms.results import TriangleResult, finished
from semira.exceptions import InvalidValue

#: Edges are oriented by degree from this mean degree on (after the GAP benchmark's triangle
#: counting), and where the greatest one exceeds the mean by this factor: a sample of degrees that
#: vary by chance alone stays below. Both are known without bringing the degrees to the host.
_MEAN_DEGREE = 10
_SKEW = 3


@takes_graph()
def triangle_count(
    A: Matrix, /, *, symmetric: bool = False, order: str = "auto", **opts: Unpack[ProductOptions]
) -> TriangleResult:
    """Return the number of triangles of the undirected graph behind `A`.

    Vertices i and j are connected if entry (i, j) or (j, i) is stored, whatever its value;
    self-loops are ignored.

    Parameters
    ----------
    A : Matrix or Graph, shape (n, n), any dtype
        Not modified.
    symmetric : bool
        The caller knows that the entries of `A` are symmetric: half of them are not looked at.
    order : {"auto", "degree", "natural"}
        An edge leads to its end of higher degree (``degree``) or smaller number
        (``natural``). ``auto``: by degree if the mean degree is at least 10 and the greatest
        at least 3 times the mean, which bounds the work that hubs make.
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
    lengths of two rows of L, O(nvals ** 1.5) by degree. C is summed up as it is computed where
    the device can do that. L stays with `A` until that is written (`Matrix.derived`: half of its
    entries, as BOOL or without values), so that only the first call makes it. On a GPU the degrees
    stay there: a call synchronises for the count, and the first one for the number of entries of L,
    and by degree for the greatest degree.

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
    check_square(A, "triangle_count", opts)
    if order not in ("auto", "degree", "natural"):
        raise InvalidValue(f"order={order!r}; choose 'auto', 'degree' or 'natural'")
    L, by_degree = oriented_edges(A, symmetric=symmetric, order=order)
    count = Scalar("INT64")

    def step() -> None:
        # C<L> = L plus.pair L', of which only the sum is asked for.
        C = L.mxm(L.T, semiring.plus_pair["INT64"]).new(mask=L.S, **opts)
        count << C.reduce_scalar(monoid.plus, allow_empty=False)

    loop = finished(repeat(step, max_iterations=1))
    return TriangleResult(1, loop.trace, int(count.value), "degree" if by_degree else "natural")


def oriented_edges(A: Matrix, *, symmetric: bool, order: str) -> tuple[Matrix, bool]:
    """Return each connected pair once, and whether it leads to its end of higher degree.

    They stay with `A` (`Matrix.derived`). Their number is known: what is kept is then no longer
    than that, and products know how long its rows are.
    """

    def counted() -> tuple[Matrix, bool]:
        L, by_degree = _oriented(A, symmetric, order)
        L.nvals  # noqa: B018
        return L, by_degree

    found: tuple[Matrix, bool] = A.derived(("triangle_count", symmetric, order), counted)
    return found


def _oriented(A: Matrix, symmetric: bool, order: str) -> tuple[Matrix, bool]:
    """Return what `oriented_edges` keeps."""
    pairs = A if symmetric else _lower(A, symmetric=False)
    if A.nrows and order != "natural":
        mean = int(pairs.nvals) * (1 if symmetric else 2) / A.nrows
        least = 0.0 if order == "degree" else _SKEW * mean
        if order == "degree" or mean >= _MEAN_DEGREE:
            # Degrees do not leave a GPU, where sorting out entries is cheap. On the host the lists
            # of hubs lie side by side once their numbers do, which pays for moving all entries.
            turned = _upwards if A.device == "cuda" else _renumbered
            found = turned(pairs, symmetric, least)
            if found is not None:
                return found, True
    return (_lower(A, symmetric=True) if symmetric else pairs), False


def _lower(A: Matrix, *, symmetric: bool) -> Matrix:
    """Return each connected pair once, as an entry below the diagonal."""
    below: Matrix = A.select(select.tril, -1).new()
    if not symmetric:
        above = A.select(select.triu, 1).new()
        below << below.ewise_add(above.T, binary.any)
    return below


def _upwards(pairs: Matrix, symmetric: bool, least: float) -> Matrix | None:
    """Return the entries that lead to the higher degree; among equal ones to the greater number.

    None if no degree reaches `least`.
    """
    n = pairs.nrows
    edges = pairs if symmetric else pairs.ewise_add(pairs.T, binary.any).new()
    ones, degrees, greatest = Vector("INT64", n), Vector("INT64", n), Scalar("INT64")

    def count() -> None:
        ones << 1
        degrees << edges.mxv(ones, semiring.plus_second["INT64"])
        greatest << degrees.reduce(monoid.max)

    # Recorded like a loop: one launch, which only who reads the greatest degree waits for.
    repeat(count, max_iterations=1)
    if least and greatest.get(0) < least:
        return None
    # A column: n times the degree of each vertex, and its number.
    ranks = Matrix("INT64", n, 1)
    ranks[:, 0] << degrees.apply(binary.times, right=n) + degrees.apply(indexunary.index)
    rises = ranks.mxm(ranks.T, semiring.any_lt).new(mask=edges.S)
    found: Matrix = rises.select(select.valueeq, True).new()
    return found


def _renumbered(pairs: Matrix, symmetric: bool, least: float) -> Matrix | None:
    """Return the pairs below the diagonal once vertices are numbered by falling degree.

    None if no degree reaches `least`.
    """
    ones, plus_pair = Vector.from_scalar(1, pairs.nrows, "INT64"), semiring.plus_pair["INT64"]
    degrees: Vector = pairs.mxv(ones, plus_pair).new()
    if not symmetric:
        # Pushed: pulling would walk the columns, which nothing else here needs. SuiteSparse
        # chooses by itself.
        pins: dict[str, Any] = {} if pairs.device == "suitesparse" else {"direction": "push"}
        degrees(accum=binary.plus, **pins) << pairs.T.mxv(ones, plus_pair)
    degree = degrees.to_dense(0)
    if degree.max() < least:
        return None
    # Falling degree, then rising number, packed: a plain sort is several times as fast as a
    # stable argsort.
    bits = len(degree).bit_length()
    keys = ((degree.max() - degree) << bits) | np.arange(len(degree))
    keys.sort()
    places = keys & ((1 << bits) - 1)
    # The lower triangle leads to higher degrees.
    return _lower(pairs[places, places].new(), symmetric=symmetric)
