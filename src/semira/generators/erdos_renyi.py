"""Erdős-Rényi graphs: a uniform choice among all graphs with a given number of edges."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.formats import EdgeList, index_dtype
from semira.generators.checks import check_count, check_real, check_seed, check_weights
from semira.generators.edges import Pairs, assemble, require_edges
from semira.generators.streams import map_chunks, open_stream

#: Positions of the adjacency matrix are numbered in signed 64-bit integers.
_MAX_VERTICES = 3_037_000_499


def _distinct(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return `keys`, sorted in place, without repeats."""
    keys.sort()
    fresh = np.ones(len(keys), bool)
    np.not_equal(keys[1:], keys[:-1], out=fresh[1:])
    return keys[fresh]


def _draw_positions(
    num_vertices: int, count: int, seed: int, turn: int, *, symmetric: bool
) -> NDArray[np.int64]:
    """Return `count` uniform off-diagonal positions (above the diagonal if `symmetric`)."""

    def draw(chunk: int, start: int, stop: int) -> NDArray[np.int64]:
        generator = np.random.Generator(open_stream(seed, turn, chunk))
        # Column numbers skip the diagonal, hence one fewer of them.
        drawn = generator.integers(0, num_vertices * (num_vertices - 1), stop - start)
        rows, cols = np.divmod(drawn, num_vertices - 1)
        cols += cols >= rows
        if symmetric:
            rows, cols = np.minimum(rows, cols), np.maximum(rows, cols)
        rows *= num_vertices
        rows += cols
        return rows

    return np.concatenate([np.empty(0, np.int64), *map_chunks(draw, count)])


def _draw_distinct(
    num_vertices: int, count: int, seed: int, *, symmetric: bool
) -> NDArray[np.int64]:
    """Return a uniform set of `count` positions, sorted.

    Draws as many as are missing until none is: together the turns take the first `count`
    distinct positions of one endless uniform sequence.
    """
    found = np.empty(0, np.int64)
    turn = 0
    while len(found) < count:
        more = _draw_positions(num_vertices, count - len(found), seed, turn, symmetric=symmetric)
        found = _distinct(np.concatenate([found, more]))
        turn += 1
    return found


def _draw_complement(
    num_vertices: int, count: int, seed: int, *, symmetric: bool
) -> NDArray[np.int64]:
    """Return every position but a uniform set of `count`."""
    wanted = np.ones((num_vertices, num_vertices), bool)
    if symmetric:
        wanted = np.triu(wanted, 1)
    np.fill_diagonal(wanted, False)
    wanted.reshape(-1)[_draw_distinct(num_vertices, count, seed, symmetric=symmetric)] = False
    return np.flatnonzero(wanted)


def generate_erdos_renyi(
    num_vertices: int,
    degree: float | None = None,
    *,
    seed: int = 0,
    symmetric: bool = True,
    weights: str | None = None,
) -> EdgeList:
    """Return G(n, m): each graph of `num_vertices` and the given average degree alike.

    Parameters
    ----------
    num_vertices : int
    degree : float, optional
        Average number of entries per row: ``round(num_vertices * degree / 2)`` edges if
        `symmetric`, ``round(num_vertices * degree)`` otherwise. None: 16, or ``num_vertices - 1``
        if that is less.
    seed : int
    symmetric : bool
        Undirected, each edge listed in both directions; else directed.
    weights : {None, "uniform"}
        None: a pattern. ``"uniform"``: integers from 1 to 64, equal in both directions.

    Returns
    -------
    EdgeList
        Square, without self-loops and without repeats.

    Raises
    ------
    InvalidValue
        A parameter is out of range: no graph has so many edges.
    OutOfMemory
        The graph would not fit into memory; raised before it is allocated.

    Notes
    -----
    O(m log m) time for m edges: positions are drawn, sorted and drawn again where they repeat;
    above half of all positions those left out are drawn instead. Equal parameters give equal
    graphs, whatever the number of threads.

    References
    ----------
    Erdős, Rényi, "On random graphs I", Publicationes Mathematicae 6, 1959.

    Examples
    --------
    >>> graph = generate_erdos_renyi(1000, degree=8)
    >>> graph.nrows, graph.nnz
    (1000, 8000)
    """
    num_vertices = check_count("num_vertices", num_vertices, 0, _MAX_VERTICES)
    most = max(num_vertices - 1, 0)
    degree = min(16.0, most) if degree is None else check_real("degree", degree, 0, most)
    seed = check_seed(seed)
    check_weights(weights, "uniform")
    width = 2 if symmetric else 1
    num_positions = num_vertices * (num_vertices - 1) // width
    num_edges = min(round(num_vertices * degree / width), num_positions)
    # The sorted positions are there beside both ends of each edge.
    require_edges(
        num_vertices, num_edges, symmetric=symmetric, weighted=weights is not None,
        extra=8 * num_edges,
    )  # fmt: skip
    if 2 * num_edges > num_positions:
        missing = num_positions - num_edges
        keys = _draw_complement(num_vertices, missing, seed, symmetric=symmetric)
    else:
        keys = _draw_distinct(num_vertices, num_edges, seed, symmetric=symmetric)
    return assemble(
        num_vertices,
        _split(keys, num_vertices),
        symmetric=symmetric,
        weight_seed=None if weights is None else seed,
        meta={"generator": "erdos_renyi", "degree": degree, "seed": seed},
    )


def _split(keys: NDArray[np.int64], num_vertices: int) -> list[Pairs]:
    dtype: Any = index_dtype(num_vertices)

    def split(_chunk: int, start: int, stop: int) -> Pairs:
        rows, cols = np.divmod(keys[start:stop], num_vertices)
        return Pairs(rows.astype(dtype), cols.astype(dtype))

    return map_chunks(split, len(keys))
