"""Transformations of edge lists. All are pure: they return a new list and share what is equal."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.base.errors import DimensionMismatch
from semira.files.options import ReadOptions
from semira.formats import EdgeList, hash_weights
from semira.formats.weights import WEIGHT_HIGH, WEIGHT_LOW


def _require_square(edges: EdgeList, what: str) -> None:
    if edges.nrows != edges.ncols:
        raise DimensionMismatch(
            f"cannot {what} a {edges.nrows} x {edges.ncols} matrix: rows and columns are "
            f"different vertices; it must be square"
        )


def drop_self_loops(edges: EdgeList) -> EdgeList:
    """Return the edges of a square list that join two different vertices. O(nnz).

    Raises DimensionMismatch if rows and columns are not the same vertices.
    """
    _require_square(edges, "drop self-loops of")
    keep = edges.rows != edges.cols
    if bool(keep.all()):
        return edges
    values = None if edges.values is None else edges.values[keep]
    return replace(edges, rows=edges.rows[keep], cols=edges.cols[keep], values=values)


def symmetrise(edges: EdgeList, *, sign: int = 1, conjugate: bool = False) -> EdgeList:
    """Return the edges of a square list and the reverse of each; self-loops are listed once.

    A list that is known to be symmetric is returned as it is. `sign` is the factor of the mirrored
    values: -1 completes a skew-symmetric matrix; `conjugate` mirrors complex conjugates, which
    completes a Hermitian one. Otherwise the result has ``symmetric=True``. Raises DimensionMismatch
    if rows and columns are not the same vertices.

    O(nnz). Each reversed edge directly follows its original, so repeated edges meet at (i, j) and
    at (j, i) in the same order: the matrix is symmetric whatever operator merges them, even
    ``first`` or a floating-point sum.

    Examples
    --------
    >>> edges = EdgeList(3, 3, np.array([0, 2]), np.array([1, 2]))
    >>> both = symmetrise(edges)
    >>> list(zip(both.rows.tolist(), both.cols.tolist()))
    [(0, 1), (1, 0), (2, 2)]
    """
    if edges.symmetric and sign == 1:
        return edges
    _require_square(edges, "symmetrise")
    keep = np.ones(2 * edges.nnz, bool)
    keep[1::2] = edges.rows != edges.cols
    values = edges.values
    if values is not None:
        mirrored = values if sign == 1 else -values
        mirrored = mirrored.conj() if conjugate else mirrored
        values = _interleave(values, mirrored)[keep]
    return replace(
        edges,
        rows=_interleave(edges.rows, edges.cols)[keep],
        cols=_interleave(edges.cols, edges.rows)[keep],
        values=values,
        symmetric=sign == 1 and not conjugate,
    )


def _interleave(first: NDArray[Any], second: NDArray[Any]) -> NDArray[Any]:
    return np.stack((first, second), axis=1).reshape(-1)


def random_weights(
    edges: EdgeList, *, seed: int = 0, low: int = WEIGHT_LOW, high: int = WEIGHT_HIGH
) -> EdgeList:
    """Return the edges with uniform random integer values in ``[low, high]``, of int64. O(nnz).

    An edge's value depends on its two ends and the seed only (a hash of (smaller end, larger end,
    seed) by the SplitMix64 finaliser): both directions and all repeats of an edge get the same one,
    in any order of the list. The seed is below 2**64. Raises InvalidValue if the range is empty, or
    has more than 2**32 values.

    References
    ----------
    Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, OOPSLA 2014, figure 14.
    Range 1..64: Yang: High-Performance Linear Algebra-based Graph Framework on the GPU, 2019,
    chapter 7.
    """
    values = hash_weights(edges.rows, edges.cols, seed, low=low, high=high, dtype=np.int64)
    return replace(edges, values=values)


def clean(edges: EdgeList, options: ReadOptions) -> EdgeList:
    """Return the edges after every transformation that `options` asks for.

    Self-loops are dropped (and counted: ``meta["dropped_self_loops"]``), then edges mirrored,
    then weights drawn; ``dup_op`` is carried in ``meta``.
    """
    facts: dict[str, Any] = {}
    if options.drop_self_loops:
        listed = edges.nnz
        edges = drop_self_loops(edges)
        facts["dropped_self_loops"] = listed - edges.nnz
    if options.symmetrise:
        edges = symmetrise(edges)
    if options.random_weights:
        edges = random_weights(edges, seed=options.seed)
    if options.dup_op is not None:
        facts["dup_op"] = options.dup_op
    return replace(edges, meta={**edges.meta, **facts}) if facts else edges
