"""Kronecker graphs (R-MAT): skewed degrees, small diameter."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.base.errors import InvalidValue
from semira.formats import EdgeList, index_dtype
from semira.formats.index import MAX_SIZE
from semira.generators.checks import check_count, check_real, check_seed, check_weights
from semira.generators.edges import Pairs, assemble, require_edges
from semira.generators.streams import draw_permutation, draw_words, map_chunks, open_stream

_EDGES, _VERTICES = range(2)

#: Levels whose bits are gathered in bytes before they are widened to indices.
_BYTE_LEVELS = 8

#: Rounding room of a + b + c <= 1.
_SLACK = 1e-9


def _draw_ends(
    bits: np.random.PCG64DXSM, count: int, scale: int, limits: list[int], dtype: np.dtype[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Draw `count` edges: each level gives one bit of the row and one of the column."""
    rows, cols = np.zeros(count, dtype), np.zeros(count, dtype)
    for first in range(0, scale, _BYTE_LEVELS):
        levels = min(_BYTE_LEVELS, scale - first)
        row_bits: NDArray[Any] = np.zeros(count, np.uint8)
        col_bits: NDArray[Any] = np.zeros(count, np.uint8)
        for _ in range(levels):
            words = draw_words(bits, count)
            past_a, past_b, past_c = (words >= limit for limit in limits)
            # Quadrants in the order A B C D: the row bit is set in C and D, the column bit in
            # B and D, that is after one or three of the limits.
            col_bit = past_a ^ past_b ^ past_c
            row_bits = (row_bits << 1) | past_b.view(np.uint8)
            col_bits = (col_bits << 1) | col_bit.view(np.uint8)
        rows = (rows << levels) | row_bits
        cols = (cols << levels) | col_bits
    return rows, cols


def generate_kronecker(
    scale: int,
    edge_factor: int = 16,
    *,
    a: float = 0.57,
    b: float = 0.19,
    c: float = 0.19,
    permute: bool = True,
    seed: int = 0,
    symmetric: bool = True,
    self_loops: bool = False,
    weights: str | None = None,
) -> EdgeList:
    """Return a Kronecker graph of ``2**scale`` vertices and ``edge_factor * 2**scale`` draws.

    Parameters
    ----------
    scale : int
        Binary logarithm of the number of vertices.
    edge_factor : int
        Edges drawn per vertex, before self-loops are dropped and repeats merge.
    a, b, c : float
        Probabilities of the upper left, upper right and lower left quadrant at each level, the
        same at every level (no noise); the lower right one has the rest.
    permute : bool
        Shuffle the vertices, so that a vertex's number tells nothing about its degree.
    seed : int
    symmetric : bool
        List each edge in both directions; else only as drawn.
    self_loops : bool
        Keep edges from a vertex to itself.
    weights : {None, "uniform"}
        None: a pattern. ``"uniform"``: integers from 1 to 64, equal in both directions.

    Returns
    -------
    EdgeList
        Square; repeats may be there and merge when the matrix is built (the weights of repeats
        are equal, so any way to merge them that picks one will do).

    Raises
    ------
    InvalidValue
        A parameter is out of range.
    OutOfMemory
        The graph would not fit into memory; raised before it is allocated.

    Notes
    -----
    O(edge_factor * scale * 2**scale) time, spread over ``settings().threads`` threads; about
    12 bytes per draw besides the result. Equal parameters give equal graphs, whatever the
    number of threads.

    References
    ----------
    Chakrabarti, Zhan, Faloutsos, "R-MAT: a recursive model for graph mining", SDM 2004,
    section 3. Graph500 benchmark specification, section "Generating the edge list".

    Examples
    --------
    >>> graph = generate_kronecker(8, 4, seed=1)
    >>> graph.nrows, graph.symmetric, graph.nnz <= 2 * 4 * 256
    (256, True, True)
    """
    scale = check_count("scale", scale, 0, MAX_SIZE.bit_length() - 1)
    edge_factor = check_count("edge_factor", edge_factor)
    seed = check_seed(seed)
    a, b, c = (check_real(name, part, 0, 1) for name, part in (("a", a), ("b", b), ("c", c)))
    if a + b + c > 1 + _SLACK:
        raise InvalidValue(f"a={a}, b={b}, c={c} must have a sum of at most 1, not {a + b + c}")
    check_weights(weights, "uniform")
    num_vertices = 1 << scale
    count = edge_factor * num_vertices
    dtype = index_dtype(num_vertices)
    # An edge is a self-loop where both of its ends fall into the same half at every level.
    apart = 1.0 if self_loops else 1 - min(1.0, 1 - b - c) ** scale
    require_edges(
        num_vertices, count * apart, symmetric=symmetric, weighted=weights is not None,
        extra=num_vertices * dtype.itemsize if permute else 0,
    )  # fmt: skip
    limits = [round(min(part, 1.0) * 2**32) for part in (a, a + b, a + b + c)]
    labels = draw_permutation(num_vertices, dtype, seed, _VERTICES) if permute else None

    def draw(chunk: int, start: int, stop: int) -> Pairs:
        rows, cols = _draw_ends(
            open_stream(seed, _EDGES, chunk), stop - start, scale, limits, dtype
        )
        if not self_loops:
            apart = rows != cols
            if not apart.all():
                rows, cols = rows[apart], cols[apart]
        return Pairs(rows, cols) if labels is None else Pairs(labels[rows], labels[cols])

    quadrants = {"a": a, "b": b, "c": c}
    return assemble(
        num_vertices,
        map_chunks(draw, count),
        symmetric=symmetric,
        weight_seed=None if weights is None else seed,
        meta={"generator": "kronecker", "edge_factor": edge_factor, **quadrants, "seed": seed},
    )
