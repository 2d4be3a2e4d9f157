"""The edges of an undirected graph, each once: towards the higher degree or smaller number."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from semira import (
    Matrix,
    Scalar,
    Vector,
    binary,
    device_traits,
    fused,
    indexunary,
    monoid,
    select,
    semiring,
)
from semira.algorithms.neighbours import by_rows, compared
from semira.exceptions import InvalidValue

#: Edges are oriented by degree from this mean degree on (after the GAP benchmark's triangle
#: counting), and where the greatest one exceeds the mean by this factor: a sample of degrees that
#: vary by chance alone stays below. Both are known without bringing the degrees to the host.
_MEAN_DEGREE = 10
_SKEW = 3


class Oriented(NamedTuple):
    """The edges of an undirected graph, each once."""

    #: Matrix, shape (n, n). An entry for each connected pair, from one end to the other; no vertex
    #: reaches itself.
    edges: Matrix
    #: Whether an entry leads to its end of higher degree.
    by_degree: bool
    #: The vertex that each row and column of `edges` belongs to; None: row i to vertex i.
    places: Vector | None = None


def oriented_edges(A: Matrix, *, symmetric: bool, order: str) -> Oriented:
    """Return each connected pair once, and whether it leads to its end of higher degree.

    They stay with `A` (`Matrix.derived`). Their number is known: what is kept is then no longer
    than that, and products know how long its rows are. Raises InvalidValue if `order` is unknown.
    """
    if order not in ("auto", "degree", "natural"):
        raise InvalidValue(f"order={order!r}; choose 'auto', 'degree' or 'natural'")

    def counted() -> Oriented:
        graph = _oriented(A, symmetric, order)
        graph.edges.nvals  # noqa: B018
        return graph

    found: Oriented = A.derived(("oriented edges", symmetric, order), counted)
    return found


def _oriented(A: Matrix, symmetric: bool, order: str) -> Oriented:
    pairs = A if symmetric else _lower(A, symmetric=False)
    if A.nrows and order != "natural":
        mean = int(pairs.nvals) * (1 if symmetric else 2) / A.nrows
        least = 0.0 if order == "degree" else _SKEW * mean
        if order == "degree" or mean >= _MEAN_DEGREE:
            # Degrees do not leave a GPU, where sorting out entries is cheap. On the host the lists
            # of hubs lie side by side once their numbers do, which pays for moving all entries.
            turned = _upwards if device_traits(A.device).own_memory else _renumbered
            found = turned(pairs, symmetric, least)
            if found is not None:
                return found
    return Oriented(_lower(A, symmetric=True) if symmetric else pairs, by_degree=False)


def _lower(A: Matrix, *, symmetric: bool) -> Matrix:
    """Return each connected pair once, as an entry below the diagonal."""
    below: Matrix = A.select(select.tril, -1).new()
    if not symmetric:
        above = A.select(select.triu, 1).new()
        below << below.ewise_add(above.T, binary.any)
    return below


def _upwards(pairs: Matrix, symmetric: bool, least: float) -> Oriented | None:
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
    fused(count)
    if least and greatest.get(0) < least:
        return None
    return Oriented(rising(edges, degrees), by_degree=True)


def rising(edges: Matrix, degrees: Vector) -> Matrix:
    """Return the entries that lead to a vertex of higher degree, or the same and a higher number.

    They are True.
    """
    ranks = degrees.apply(binary.times, right=edges.nrows) + degrees.apply(indexunary.index)
    return compared(edges, ranks, semiring.any_lt)


def _renumbered(pairs: Matrix, symmetric: bool, least: float) -> Oriented | None:
    """Return the pairs below the diagonal once vertices are numbered by falling degree.

    None if no degree reaches `least`.
    """
    ones, plus_pair = Vector.from_scalar(1, pairs.nrows, "INT64"), semiring.plus_pair["INT64"]
    degrees: Vector = pairs.mxv(ones, plus_pair).new()
    if not symmetric:
        degrees(accum=binary.plus, **by_rows(pairs, "push")) << pairs.T.mxv(ones, plus_pair)
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
    edges = _lower(pairs[places, places].new(), symmetric=symmetric)
    return Oriented(edges, True, Vector.from_dense(places))
