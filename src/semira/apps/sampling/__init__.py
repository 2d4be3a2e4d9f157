"""Samples of the neighbours of vertices, and a loader of sampled neighbourhoods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from semira import Matrix
from semira.algorithms.naming import vertices_or_sets
from semira.apps.named import takes_graph
from semira.apps.sampling.loader import Batch, NeighbourLoader, neighbour_loader
from semira.apps.sampling.problem import check_int, keys_of, matrix_of, vertices_of
from semira.apps.sampling.result import NeighbourSample
from semira.apps.sampling.solve import draw_hops, source_of
from semira.kernels import array_module

__all__ = [
    "Batch",
    "NeighbourLoader",
    "NeighbourSample",
    "memory",
    "neighbour_loader",
    "sample_hops",
    "sample_neighbours",
]


def memory(A: Matrix, rows: int, k: int, *, weighted: bool = False) -> int:
    """Return the bytes that sampling takes beside the matrix.

    Examples
    --------
    >>> import semira as gb
    >>> memory(gb.Matrix(int, 10, 10), rows=100, k=5)
    4000
    """
    index = 4 if A.ncols < 2**31 else 8
    offset = 4 if A.nvals < 2**31 else 8
    return rows * k * (index + offset) + (8 * A.nvals if weighted else 0)


@takes_graph(vertices=vertices_or_sets)
def sample_neighbours(
    A: Matrix,
    /,
    vertices: Any,
    k: int,
    *,
    replace: bool = False,
    weighted: bool = False,
    seed: int = 0,
) -> NeighbourSample:
    """Draw k entries of each of some rows.

    Parameters
    ----------
    A : Matrix, shape (n, m), or Graph, any dtype
        Of a transpose a copy is made. Not modified.
    vertices : sequence or array of int, or of names
        Rows, in any order, also several times: each time others are drawn.
    k : int >= 1
        Entries of each row.
    replace : bool
        Whether an entry may be drawn again. If not, a row with at most k entries gives all of them.
    weighted : bool
        Draw by the values. Without replacement, one entry after the other is drawn by the weights
        of those that are left. Entries of weight 0 are never drawn. Default: all alike.
    seed : int >= 0
        Of the random numbers. The same seed draws the same entries on every device.

    Returns
    -------
    NeighbourSample
        ``neighbours`` and ``entries``, shape (len(vertices), k), padded with -1. With
        `weighted`, and in rows with at most k entries, they are sorted; else their order is that in
        which they were drawn, which without replacement is not random.

    Raises
    ------
    IndexOutOfBound
        A vertex is no row.
    InvalidValue
        `k` or `seed` is out of range, or `vertices` are no integers.
    NegativeWeight, InvalidWeight
        A weight is negative, or no finite number.
    OutOfMemory
        The samples do not fit.

    Notes
    -----
    Cost: a draw reads two offsets and an entry; by weight it looks O(log degree) times. Without
    replacement k draws are compared with each other, O(k^2). `weighted` reads all values once,
    O(nvals). Weights are rounded to multiples of 2**-61 of (greatest weight x longest row), so that
    sums of them are the same everywhere.

    References
    ----------
    J. Bentley, B. Floyd, *Programming pearls: a sample of brilliance*, CACM 30(9), 1987 (without
    replacement).

    Examples
    --------
    >>> import semira as gb
    >>> A = gb.Matrix.from_coo([0, 0, 0, 1], [1, 2, 3, 0])
    >>> found = gb.apps.sample_neighbours(A, [0, 1], 2)
    >>> found.neighbours.shape, found.facts()
    ((2, 2), {'rows': 2, 'k': 2, 'drawn': 3})
    """
    hops = _sample(A, vertices, (k,), "sample_neighbours", replace, weighted, seed)
    return hops[0]


@takes_graph(vertices=vertices_or_sets)
def sample_hops(
    A: Matrix,
    /,
    vertices: Any,
    fanouts: Sequence[int] = (10, 25),
    *,
    replace: bool = False,
    weighted: bool = False,
    seed: int = 0,
) -> tuple[NeighbourSample, ...]:
    """Draw entries of rows, then of the rows that these name, and so on.

    Vertices are not made unique: hop h has ``len(vertices) * fanouts[0] * ... * fanouts[h - 1]``
    rows, of which those of -1 are empty. Nothing waits for the device.

    Parameters
    ----------
    A : Matrix or Graph, shape (n, n), any dtype
    vertices : sequence or array of int, or of names
    fanouts : sequence of int
        Entries of each row, one number for each hop.
    replace, weighted, seed
        As of `sample_neighbours`.

    Returns
    -------
    tuple of NeighbourSample
        One for each hop.

    Raises
    ------
    As `sample_neighbours`.

    Examples
    --------
    >>> import semira as gb
    >>> A = gb.Matrix.from_coo([0, 1, 2], [1, 2, 0])
    >>> [hop.neighbours.tolist() for hop in gb.apps.sample_hops(A, [0], (1, 1))]
    [[[1]], [[2]]]
    """
    return _sample(A, vertices, tuple(fanouts), "sample_hops", replace, weighted, seed)


def _sample(
    A: Matrix,
    vertices: Any,
    fanouts: tuple[int, ...],
    name: str,
    replace: bool,
    weighted: bool,
    seed: int,
) -> tuple[NeighbourSample, ...]:
    A = matrix_of(A, name, square=len(fanouts) > 1)
    sizes = [check_int(k, "k", 1) for k in fanouts]
    keys = keys_of(seed, len(sizes))
    with array_module(A.device) as xp:
        rows = vertices_of(vertices, A.nrows, xp, "vertices")
        source = source_of(A, xp, weighted=weighted)
        return draw_hops(A, source, rows, sizes, keys, xp, replace=replace)
