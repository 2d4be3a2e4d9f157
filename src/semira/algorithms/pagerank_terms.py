"""What PageRank multiplies: shares of the edges, sinks, and where surfers start anew."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np

from semira import Matrix, Vector, binary, dtypes, fused, monoid, select, semiring
from semira.algorithms.checks import (
    check_number,
    check_square,
    check_sums,
    check_vertices,
    check_weights,
)
from semira.algorithms.naming import Vertex
from semira.exceptions import DimensionMismatch, DomainMismatch, InvalidValue

#: Shares of the vertices at which the surfer starts anew; None: equal ones.
Personalisation: TypeAlias = Vector | Mapping[Vertex, float] | None

#: Ranks; what each vertex hands to each of its neighbours; what makes that of a rank; the sinks and
#: where the surfer starts anew, each perhaps None.
Terms: TypeAlias = tuple[Vector, Vector, Vector, Vector | None, Vector | None]


def checked(
    A: Matrix, damping: Any, tol: Any, weighted: bool, dtype: Any, opts: Any
) -> tuple[float, float, Any]:
    """Return the damping, the tolerance and the dtype of `pagerank` once they are checked."""
    check_square(A, "pagerank", opts)
    damping, tol = check_number(damping, "damping", 1.0), check_number(tol, "tol")
    number = dtypes.lookup_dtype(dtype)
    if not number.is_float:
        raise DomainMismatch(f"pagerank: dtype={number}, but ranks are FP32 or FP64")
    if weighted:
        check_weights(A, "pagerank")
        check_sums(A, "pagerank", number)
    return damping, tol, number


def begin(
    A: Matrix, damping: float, weighted: bool, personalisation: Personalisation, number: Any
) -> Terms:
    """Return what an iteration of PageRank reads and changes.

    Raises DimensionMismatch, DomainMismatch or InvalidValue if `personalisation` is not as it
    should be.
    """
    n = A.nrows
    scale, sinks, shares = kept_terms(A, damping, weighted, personalisation, number)
    rank, share = Vector(number, n), Vector(number, n)

    def first() -> None:
        rank << (scale.apply(binary.second, right=_each(n)) if shares is None else shares)
        share << rank.ewise_mult(scale, binary.times)

    # One launch, which nothing waits for.
    fused(first)
    return rank, share, scale, sinks, shares


def kept_terms(
    A: Matrix, damping: float, weighted: bool, personalisation: Personalisation, number: Any
) -> tuple[Vector, Vector | None, Vector | None]:
    """Return what makes the share of each edge of a rank, the sinks, and where surfers start.

    Raises DimensionMismatch, DomainMismatch or InvalidValue if `personalisation` is not as it
    should be.
    """
    shares = None if personalisation is None else _shares(personalisation, A.nrows, number)
    counts = (semiring.plus_times if weighted else semiring.plus_pair)[number]
    return *_kept_scale(A, damping, counts), shares


def restarted(rank: Vector, sinks: Vector | None, shares: Vector | None, damping: float) -> Any:
    """Return what every vertex gets of the surfers that start anew: from everywhere, and sinks."""
    each = _each(rank.size) if shares is None else 1.0
    anew: Any = (1 - damping) * each
    if sinks is not None:
        lost = rank.ewise_mult(sinks, binary.first).reduce(monoid.plus, allow_empty=False)
        anew = lost * (damping * each) + (1 - damping) * each
    if shares is None:
        return rank.apply(binary.second[rank.dtype], right=anew)
    return shares.apply(binary.times[rank.dtype], right=anew)


def _each(n: int) -> float:
    return 1 / max(n, 1)


def _kept_scale(A: Matrix, damping: float, product: Any) -> tuple[Vector, Vector | None]:
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

    fused(prepare)
    return scale, sinks if sinks.nvals else None


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
