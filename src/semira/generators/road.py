"""Road-like graphs: a grid of crossings with some roads missing, and their lengths."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.formats import EdgeList, index_dtype
from semira.generators.checks import check_count, check_real, check_seed, check_weights
from semira.generators.edges import Pairs, assemble, require_edges
from semira.generators.streams import draw_unit, draw_words, map_chunks, open_stream

_EDGES, _PLACES = range(2)

#: Length of a road between two crossings that sit exactly on the grid.
_SPACING = 1000.0

#: How far a crossing may lie from its place on the grid, as a part of the spacing.
_JITTER = 0.4


def _draw_places(num_vertices: int, seed: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return how far down and to the right of its grid place each crossing lies."""
    down, right = np.empty(num_vertices, np.float32), np.empty(num_vertices, np.float32)

    def draw(chunk: int, start: int, stop: int) -> None:
        bits = open_stream(seed, _PLACES, chunk)
        for part in (down, right):
            part[start:stop] = _SPACING * _JITTER * (2 * draw_unit(bits, stop - start) - 1)

    map_chunks(draw, num_vertices)
    return down, right


def generate_road(
    rows: int,
    cols: int,
    *,
    removed: float = 0.0,
    seed: int = 0,
    symmetric: bool = True,
    weights: str | None = "distance",
) -> EdgeList:
    """Return a grid of ``rows * cols`` crossings, each tied to its neighbours in four directions.

    Parameters
    ----------
    rows, cols : int
        Size of the grid; crossing (i, j) is vertex ``i * cols + j``.
    removed : float
        Probability that a road is missing. Above about 0.5 the grid falls apart into small
        pieces (bond percolation); real road networks have an average degree of 2.4 to 2.8,
        which corresponds to 0.3 to 0.4.
    seed : int
    symmetric : bool
        List each road in both directions; else only rightwards and downwards.
    weights : {"distance", "uniform", None}
        ``"distance"``: lengths in the plane as integers, crossings lying up to 0.4 of the
        spacing (1000) off the grid in each direction. ``"uniform"``: integers from 1 to 64.
        None: a pattern.

    Returns
    -------
    EdgeList
        Square, without self-loops and without repeats.

    Raises
    ------
    InvalidValue
        A parameter is out of range.
    OutOfMemory
        The graph would not fit into memory; raised before it is allocated.

    Notes
    -----
    O(rows * cols) time. Equal parameters give equal graphs, whatever the number of threads.

    Examples
    --------
    >>> graph = generate_road(2, 3, weights=None)
    >>> sorted(zip(graph.rows.tolist(), graph.cols.tolist()))[:5]
    [(0, 1), (0, 3), (1, 0), (1, 2), (1, 4)]
    """
    rows, cols = check_count("rows", rows), check_count("cols", cols)
    num_vertices = check_count("rows * cols", rows * cols)
    removed = check_real("removed", removed, 0, 1)
    seed = check_seed(seed)
    check_weights(weights, "distance", "uniform")
    num_roads = max(2 * num_vertices - rows - cols, 0)
    require_edges(
        num_vertices, num_roads * (1 - removed), symmetric=symmetric, weighted=weights is not None,
        extra=8 * num_vertices if weights == "distance" else 0,
    )  # fmt: skip
    limit = round(removed * 2**32)
    places = _draw_places(num_vertices, seed) if weights == "distance" else None
    dtype: Any = index_dtype(num_vertices)

    def draw(chunk: int, start: int, stop: int) -> Pairs:
        bits = open_stream(seed, _EDGES, chunk)
        crossings = np.arange(start, stop, dtype=dtype)
        is_inside = (crossings % cols < cols - 1, crossings < num_vertices - cols)
        tails = [
            crossings[inside & (draw_words(bits, stop - start) >= limit)] for inside in is_inside
        ]
        heads = [part + step for part, step in zip(tails, (1, cols), strict=True)]
        lengths = None
        if places is not None:
            steps = ((0.0, _SPACING), (_SPACING, 0.0))
            pieces = [_measure(places, *ends) for ends in zip(tails, heads, steps, strict=True)]
            lengths = np.concatenate(pieces)
        return Pairs(np.concatenate(tails), np.concatenate(heads), lengths)

    return assemble(
        num_vertices,
        map_chunks(draw, num_vertices),
        symmetric=symmetric,
        weight_seed=seed if weights == "uniform" else None,
        meta={"generator": "road", "rows": rows, "cols": cols, "removed": removed, "seed": seed},
    )


def _measure(
    places: tuple[NDArray[np.float32], NDArray[np.float32]],
    tails: NDArray[Any],
    heads: NDArray[Any],
    step: tuple[float, float],
) -> NDArray[np.int32]:
    """Return the lengths of roads whose ends lie `step` apart on the grid."""
    spans = [
        part[heads].astype(np.float64) - part[tails] + along
        for part, along in zip(places, step, strict=True)
    ]
    lengths: NDArray[np.float64] = np.rint(np.hypot(*spans))
    return lengths.astype(np.int32)
