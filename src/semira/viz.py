"""Pictures of matrices: ``semira.viz``. They need Matplotlib, `draw` NetworkX too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from semira.base.errors import DomainMismatch, InvalidValue
from semira.base.optional import need
from semira.frontend import reading
from semira.io import to_networkx

__all__ = ["datashade", "draw", "spy"]

#: Pixels of `datashade` along the longer side.
_PIXELS = 600

#: Smaller markers cannot be seen.
_LEAST_POINTS = 0.3

#: More vertices than that are no picture anybody can read.
_MOST_DRAWN = 1000


def _check_matrix(item: Any, what: str) -> None:
    if getattr(item, "kind", None) != "matrix":
        raise DomainMismatch(f"{what} takes a Matrix, got {type(item).__name__}")


def draw(m: Any) -> None:
    """Draw a square Matrix as a graph with its values at the edges.

    Parameters
    ----------
    m : Matrix or TransposedMatrix, shape (n, n)
        At most 1000 vertices.

    Raises
    ------
    DomainMismatch
        `m` is no matrix.
    InvalidValue
        It is not square, or too large to be drawn.
    MissingLibrary
        NetworkX or Matplotlib is not installed.
    """
    _check_matrix(m, "draw")
    if m.nrows != m.ncols:
        raise InvalidValue(f"draw takes a square matrix, got {m.nrows} x {m.ncols}")
    if m.nrows > _MOST_DRAWN:
        raise InvalidValue(
            f"{m.nrows} vertices cannot be told apart in a drawing (limit: {_MOST_DRAWN}); use "
            "spy or datashade, or draw a part such as A[:100, :100]"
        )
    nx = need("networkx", "draw", "networkx")
    plt = need("matplotlib.pyplot", "draw", "plot")
    graph = to_networkx(m)
    places = nx.circular_layout(graph)
    nx.draw_networkx(graph, places, node_color="tab:orange", node_size=400)
    labels = {(i, j): _short(value) for i, j, value in graph.edges(data="weight")}
    nx.draw_networkx_edge_labels(graph, places, edge_labels=labels)
    plt.axis("off")
    plt.show()


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def spy(
    M: Any,  # noqa: N803 - python-graphblas' name
    *,
    centered: bool = False,
    show: bool = True,
    figure: Any = None,
    axes: Any = None,
    figsize: Any = None,
    **kwargs: Any,
) -> Any:
    """Plot where a Matrix has entries, a marker for each.

    Parameters
    ----------
    M : Matrix, TransposedMatrix or Vector
        A vector is one row.
    centered : bool
        Label the middle of a row or column; otherwise its first edge.
    show : bool
        Show the figure; False to go on working at it.
    figure : matplotlib.figure.Figure, optional
    axes : matplotlib.axes.Axes, optional
        Plot there; made if None.
    figsize : (float, float), optional
        Of a new figure, in inches.
    **kwargs
        Options of `matplotlib.axes.Axes.spy`, such as ``markersize``.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    DomainMismatch
        `M` is neither a Matrix nor a Vector.
    MissingLibrary
        Matplotlib is not installed.
    """
    if getattr(M, "kind", None) not in ("matrix", "vector"):
        raise DomainMismatch(f"spy takes a Matrix or a Vector, got {type(M).__name__}")
    plt = need("matplotlib.pyplot", "spy", "plot")
    places = _places(M)
    axes = _axes(plt, figure, axes, figsize)
    axes.spy(places, **({"markersize": _marker_size(axes, places.shape)} | kwargs))
    if not centered:
        nrows, ncols = places.shape
        axes.set_xticks(*_edges(axes.get_xticks(), ncols))
        axes.set_yticks(*_edges(axes.get_yticks(), nrows))
    if show:
        plt.show()
    return axes.figure


def _places(item: Any) -> Any:
    """Return a SciPy array of ones: `Axes.spy` leaves zeros out, and entries count here."""
    from scipy.sparse import coo_array

    *indices, _ = item.to_coo()
    if item.kind == "vector":
        indices = [np.zeros_like(indices[0]), *indices]
    shape = (1, item.size) if item.kind == "vector" else item.shape
    ones = np.ones(len(indices[0]), np.int8)
    return coo_array((ones, tuple(np.asarray(each, np.int64) for each in indices)), shape=shape)


def _axes(plt: Any, figure: Any, axes: Any, figsize: Any) -> Any:
    if axes is not None:
        return axes
    if figure is None:
        figure = plt.figure(figsize=figsize)
    return figure.gca()


def _edges(ticks: Any, count: int) -> tuple[list[float], list[str]]:
    """Return the ticks that lie on positions, moved to the cells' edges, and their labels."""
    inside = [tick for tick in ticks if 0 <= tick < count and float(tick).is_integer()]
    return [tick - 0.5 for tick in inside], [str(int(tick)) for tick in inside]


def _marker_size(axes: Any, shape: tuple[int, int]) -> float:
    """Return the size in points of a square marker that fills a cell, if that can be seen."""
    nrows, ncols = shape
    pixels = min(axes.bbox.width / max(ncols, 1), axes.bbox.height / max(nrows, 1))
    return max(float(pixels) * 72 / float(axes.figure.dpi), _LEAST_POINTS)


#: The value of a pixel from the values of its entries and where they fall.
_AGGREGATIONS: dict[str, Callable[[Any, Any, int], Any]] = {
    "count": lambda where, values, size: np.bincount(where, minlength=size),
    "any": lambda where, values, size: np.bincount(where, minlength=size) > 0,
    "sum": lambda where, values, size: np.bincount(where, values, minlength=size),
    "mean": lambda where, values, size: (
        np.bincount(where, values, minlength=size)
        / np.maximum(np.bincount(where, minlength=size), 1)
    ),
    "max": lambda where, values, size: _folded(np.fmax, -np.inf, where, values, size),
    "min": lambda where, values, size: _folded(np.fmin, np.inf, where, values, size),
}


def _folded(fold: Any, start: float, where: Any, values: Any, size: int) -> Any:
    pixels = np.full(size, start)
    fold.at(pixels, where, values)
    return pixels


def datashade(
    M: Any,  # noqa: N803 - python-graphblas' name
    agg: str = "count",
    *,
    width: int | None = None,
    height: int | None = None,
    opts_kwargs: dict[str, Any] | None = None,
    **kwargs: Any,
) -> Any:
    """Plot a large Matrix as an image: each pixel stands for a block of positions.

    Parameters
    ----------
    M : Matrix or TransposedMatrix
    agg : {"count", "any", "sum", "mean", "min", "max"}
        What a pixel shows of the entries in its block; blocks without entries stay blank.
        Complex values count by their magnitude.
    width, height : int, optional
        Pixels; 600 along the longer side if None, never more than columns and rows.
    opts_kwargs : dict, optional
        Options of `matplotlib.pyplot.figure`, such as ``figsize``.
    **kwargs
        Options of `matplotlib.axes.Axes.imshow`, such as ``cmap`` or ``norm``.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    DomainMismatch
        `M` is no matrix.
    InvalidValue
        `agg` is unknown, or a size is not positive.
    MissingLibrary
        Matplotlib is not installed.

    Notes
    -----
    O(nvals + width * height) time. python-graphblas opens an interactive plot of Datashader
    here; this is a still image.
    """
    _check_matrix(M, "datashade")
    if agg not in _AGGREGATIONS:
        raise InvalidValue(f"agg={agg!r}; choose one of {', '.join(_AGGREGATIONS)}")
    shape = _pixels((M.nrows, M.ncols), (height, width))
    plt = need("matplotlib.pyplot", "datashade", "plot")
    image = _shaded(M, agg, shape)
    axes = plt.figure(**(opts_kwargs or {})).gca()
    options = {"interpolation": "nearest", "aspect": "auto"} | kwargs
    # Pixels are labelled by the positions they stand for.
    axes.imshow(image, extent=(-0.5, M.ncols - 0.5, M.nrows - 0.5, -0.5), **options)
    plt.show()
    return axes.figure


def _pixels(shape: tuple[int, int], asked: tuple[int | None, int | None]) -> tuple[int, int]:
    found = []
    for name, size, pixels in zip(("height", "width"), shape, asked, strict=True):
        if pixels is not None and pixels < 1:
            raise InvalidValue(f"{name}={pixels} must be at least 1")
        wanted = -(-_PIXELS * size // max(*shape, 1)) if pixels is None else pixels
        found.append(max(1, min(wanted, size)))
    return found[0], found[1]


def _shaded(matrix: Any, agg: str, shape: tuple[int, int]) -> Any:
    """Return the image, shape (height, width), NaN where there are no entries."""
    rows, cols, values = reading.matrix_arrays(matrix, "datashade").to_coo()
    height, width = shape
    # In floats: positions times pixels may not fit 64 bits.
    down = (rows / max(matrix.nrows, 1) * height).astype(np.int64)
    across = (cols / max(matrix.ncols, 1) * width).astype(np.int64)
    where = np.minimum(down, height - 1) * width + np.minimum(across, width - 1)
    size = height * width
    shown = np.abs(values) if values.dtype.kind == "c" else values
    image = _AGGREGATIONS[agg](where, shown.astype(np.float64), size).astype(np.float64)
    image[np.bincount(where, minlength=size) == 0] = np.nan
    return image.reshape(shape)
