"""Random geometric graphs: points in the unit square, tied to all others nearby."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from semira.formats import EdgeList, index_dtype
from semira.generators.checks import check_count, check_real, check_seed, check_weights
from semira.generators.edges import Pairs, assemble, require_edges
from semira.generators.streams import draw_unit, map_chunks, open_stream

#: Pairs of points a chunk compares, so that its temporaries stay in the caches.
_CHUNK_PAIRS = 2**17


#: Cells are a shade wider than the radius: rounding cannot put neighbours two cells apart.
_SHADE = 0.999999


class _Cells(NamedTuple):
    """Points sorted by the cell they lie in, row of cells by row of cells."""

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    cells: NDArray[np.int64]
    starts: NDArray[np.int64]
    per_side: int


def _draw_points(num_vertices: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    x, y = np.empty(num_vertices), np.empty(num_vertices)

    def draw(chunk: int, start: int, stop: int) -> None:
        bits = open_stream(seed, chunk)
        for part in (x, y):
            part[start:stop] = draw_unit(bits, stop - start)

    map_chunks(draw, num_vertices)
    return x, y


def _sort_into_cells(x: NDArray[np.float64], y: NDArray[np.float64], radius: float) -> _Cells:
    """Sort the points by cells that are at least `radius` wide, and about as many as points."""
    limit = math.isqrt(len(x)) + 1
    per_side = limit if radius * limit < _SHADE else max(1, int(_SHADE / radius))
    cells = (y * per_side).astype(np.int64) * per_side + (x * per_side).astype(np.int64)
    order = np.argsort(cells, kind="stable")
    starts = np.zeros(per_side * per_side + 1, np.int64)
    np.cumsum(np.bincount(cells, minlength=per_side * per_side), out=starts[1:])
    return _Cells(x[order], y[order], cells[order], starts, per_side)


def _candidates(grid: _Cells, start: int, stop: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return all pairs of points start..stop with later points of the same or a touching cell."""
    points = np.arange(start, stop)
    cell_rows, cell_cols = np.divmod(grid.cells[start:stop], grid.per_side)
    first_col = np.maximum(cell_cols - 1, 0)
    last_col = np.minimum(cell_cols + 1, grid.per_side - 1)
    here, below = cell_rows * grid.per_side, (cell_rows + 1) * grid.per_side
    below_exists = cell_rows + 1 < grid.per_side
    below = np.where(below_exists, below, 0)
    # Later points lie in two runs: this cell and the one to its right; three cells below.
    firsts = np.concatenate([points + 1, grid.starts[below + first_col]])
    lasts = np.concatenate(
        [
            grid.starts[here + last_col + 1],
            np.where(below_exists, grid.starts[below + last_col + 1], firsts[len(points) :]),
        ]
    )
    counts = lasts - firsts
    before = np.cumsum(counts) - counts
    tails = np.repeat(np.concatenate([points, points]), counts)
    heads = np.arange(len(tails)) + np.repeat(firsts - before, counts)
    return tails, heads


def _radius_of(num_vertices: int, radius: float | None) -> float:
    if radius is None:
        radius = 0.55 * math.sqrt(math.log(max(num_vertices, 2)) / max(num_vertices, 1))
    return check_real("radius", radius)


def geometric_points(
    num_vertices: int, radius: float | None = None, *, seed: int = 0
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return where in the unit square the vertices of `generate_geometric` are.

    Parameters
    ----------
    num_vertices, radius, seed
        As there.

    Returns
    -------
    x, y : ndarray, shape (num_vertices,)

    Examples
    --------
    >>> x, y = geometric_points(1000, seed=1)
    >>> graph = generate_geometric(1000, seed=1)
    >>> gaps = (x[graph.rows] - x[graph.cols]) ** 2 + (y[graph.rows] - y[graph.cols]) ** 2
    >>> bool(gaps.max() < graph.meta["radius"] ** 2)
    True
    """
    num_vertices, seed = check_count("num_vertices", num_vertices), check_seed(seed)
    grid = _sort_into_cells(*_draw_points(num_vertices, seed), _radius_of(num_vertices, radius))
    return grid.x, grid.y


def generate_geometric(
    num_vertices: int,
    radius: float | None = None,
    *,
    seed: int = 0,
    symmetric: bool = True,
    weights: str | None = None,
) -> EdgeList:
    """Return a random geometric graph: points of the unit square closer than `radius` are tied.

    Parameters
    ----------
    num_vertices : int
        Number of points, uniform in the unit square.
    radius : float, optional
        Ends of an edge lie closer than this. The default ``0.55 * sqrt(ln n / n)`` is that of
        the ``rgg_n_2_k`` graphs (n = 2**k) of the 10th DIMACS challenge: just about connected.
    seed : int
    symmetric : bool
        List each edge in both directions; else only from the smaller vertex to the larger.
    weights : {None, "uniform", "distance"}
        None: a pattern. ``"uniform"``: integers from 1 to 64, equal in both directions.
        ``"distance"``: Euclidean distances in single precision.

    Returns
    -------
    EdgeList
        Square, without self-loops and without repeats. Vertices are numbered cell by cell of a
        grid over the square, so that neighbours have close numbers.

    Raises
    ------
    InvalidValue
        A parameter is out of range.
    OutOfMemory
        The graph would not fit into memory; raised before it is allocated.

    Notes
    -----
    O(n log n + m) time for m edges: a point is compared with those of its own and the touching
    cells of a grid whose cells are as wide as the radius. Equal parameters give equal graphs,
    whatever the number of threads.

    References
    ----------
    Bader, Meyerhenke, Sanders, Wagner (eds.), "Graph partitioning and graph clustering: 10th
    DIMACS implementation challenge", Contemporary Mathematics 588, 2013.

    Examples
    --------
    >>> graph = generate_geometric(1000, seed=1)
    >>> graph.nrows, 6 < graph.nnz / graph.nrows < 7
    (1000, True)
    """
    num_vertices = check_count("num_vertices", num_vertices)
    seed = check_seed(seed)
    check_weights(weights, "uniform", "distance")
    radius = _radius_of(num_vertices, radius)
    reach = min(radius, 1.0)
    # The probability that two points of the square are closer than that.
    near = math.pi * reach**2 - 8 / 3 * reach**3 + reach**4 / 2
    require_edges(
        num_vertices, near * num_vertices * (num_vertices - 1) / 2, symmetric=symmetric,
        weighted=weights is not None, extra=24 * num_vertices,
    )  # fmt: skip
    grid = _sort_into_cells(*_draw_points(num_vertices, seed), radius)
    dtype = index_dtype(num_vertices)

    def compare(_chunk: int, start: int, stop: int) -> Pairs:
        tails, heads = _candidates(grid, start, stop)
        squares = (grid.x[heads] - grid.x[tails]) ** 2 + (grid.y[heads] - grid.y[tails]) ** 2
        near = squares < radius * radius
        lengths = np.sqrt(squares[near]).astype(np.float32) if weights == "distance" else None
        return Pairs(tails[near].astype(dtype), heads[near].astype(dtype), lengths)

    pairs_per_point = 1 + math.ceil(5 * num_vertices / grid.per_side**2)
    return assemble(
        num_vertices,
        map_chunks(compare, num_vertices, size=max(1, _CHUNK_PAIRS // pairs_per_point)),
        symmetric=symmetric,
        weight_seed=seed if weights == "uniform" else None,
        meta={"generator": "geometric", "radius": radius, "seed": seed},
    )
