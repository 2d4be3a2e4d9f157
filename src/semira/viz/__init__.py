"""Pictures of matrices: ``semira.viz``. They need Matplotlib."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from semira.base.errors import DimensionMismatch, DomainMismatch, InvalidValue
from semira.base.optional import need
from semira.base.text import printable
from semira.frontend import reading
from semira.viz.layouts import positions

__all__ = ["datashade", "draw", "spy"]

#: Pixels of `datashade` along the longer side.
_PIXELS = 600

#: Smaller markers cannot be seen.
_LEAST_POINTS = 0.3

#: More vertices than that are no picture anybody can read.
_MOST_DRAWN = 1000


#: Vertices up to which their names are drawn, and edges up to which their values are.
_MOST_NAMED, _MOST_EDGE_LABELS = 60, 40

#: More arrows than that are neither seen nor drawn in a moment.
_MOST_ARROWS = 2000

#: How edges look, from an edge to itself, and what keeps a value legible.
_GREY = "#777777"
_ARROW = {"arrowstyle": "-|>", "color": _GREY, "lw": 0.9, "shrinkA": 0, "mutation_scale": 11}
_LOOP = _ARROW | {"arrowstyle": "-", "connectionstyle": "arc3,rad=1.2", "shrinkB": 0}
_BEHIND = {"facecolor": "white", "edgecolor": "none", "pad": 0.8, "alpha": 0.85}


def _check_matrix(item: Any, what: str) -> None:
    if getattr(item, "kind", None) != "matrix":
        raise DomainMismatch(f"{what} takes a Matrix, got {type(item).__name__}")


def draw(
    m: Any,
    *,
    labels: Any = None,
    layout: Any = "auto",
    node_color: Any = "tab:orange",
    edge_labels: bool | None = None,
    ax: Any = None,
    show: bool = True,
    **kwargs: Any,
) -> Any:
    """Draw a square Matrix as a graph.

    Parameters
    ----------
    m : Matrix, TransposedMatrix or io.Graph, shape (n, n)
        At most 1000 vertices.
    labels : bool or sequence of str, optional
        Names of the vertices; True: those of the Graph, or their numbers; None: the same for up to
        60 vertices.
    layout : str, array_like, shape (n, 2), or mapping
        ``spring``, ``kamada_kawai`` or ``circle``, or where each vertex is, in order or by name.
        ``auto``: by NetworkX ``kamada_kawai`` for components of up to 60 vertices, ``spring`` for
        others; without NetworkX by igraph; with neither a circle.
    node_color : color, or Vector or array_like, shape (n,)
        One colour, or one for each vertex: values of a Vector become colours, grey where it has no
        entry.
    edge_labels : bool, optional
        Whether values stand at the edges. None: up to 40 edges, if values differ.
    ax : matplotlib.axes.Axes, optional
        Draw there; nothing is shown then.
    show : bool
        Open the figure in a window. A notebook shows it as the value of its cell.
    **kwargs
        Options of `matplotlib.axes.Axes.scatter` for the vertices, such as ``s`` or ``cmap``.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    DomainMismatch
        `m` is no matrix.
    DimensionMismatch
        `labels`, `layout` or `node_color` are not of n vertices.
    InvalidValue
        The matrix is not square or too large to be drawn, or `layout` is unknown.
    MissingLibrary
        Matplotlib, or what a named layout needs, is not installed.

    Notes
    -----
    A symmetric matrix has lines, another one arrows; of more than 2,000 edges all are lines. The
    same graph is drawn the same each time.

    Examples
    --------
    >>> import semira as gb
    >>> A = gb.Matrix.from_coo([0, 1], [1, 2], [5, 7], nrows=3, ncols=3)
    >>> figure = gb.viz.draw(A, labels=["Bern", "Thun", "Spiez"], show=False)
    """
    names = getattr(m, "labels", None)
    m = getattr(m, "matrix", m)
    _check_matrix(m, "draw")
    if m.nrows != m.ncols:
        raise InvalidValue(f"draw takes a square matrix, got {m.nrows} x {m.ncols}")
    if m.nrows > _MOST_DRAWN:
        raise InvalidValue(
            f"{m.nrows} vertices cannot be told apart in a drawing (limit: {_MOST_DRAWN}); use "
            "spy or datashade, or draw a part such as A[:100, :100]"
        )
    plt = need("matplotlib.pyplot", "draw", "plot")
    texts = _labels_of(labels, names, m.nrows)
    colours = _colours_of(node_color, m.nrows)
    rows, cols, values = reading.matrix_arrays(m, "draw").to_coo()
    edges = list(zip(rows.tolist(), cols.tolist(), strict=True))
    places = positions(layout, m.nrows, edges, names)
    axes = plt.figure().gca() if ax is None else ax
    has_values = edge_labels
    if edge_labels is None:
        has_values = len(edges) <= _MOST_EDGE_LABELS and len(np.unique(values)) > 1
    size = float(np.clip(6000 / max(m.nrows, 1), 12, 320))
    options: dict[str, Any] = {"s": size, "edgecolors": "white"} | kwargs
    radius = float(np.sqrt(np.max(options["s"]))) / 2
    _draw_edges(axes, places, edges, values if has_values else None, radius)
    if np.ndim(colours) == 1 and np.asarray(colours).dtype.kind in "biuf":
        cmap = plt.get_cmap(options.pop("cmap", None)).with_extremes(bad="lightgrey")
        options |= {"cmap": cmap, "plotnonfinite": True}
    axes.scatter(*places.T, c=colours, zorder=2, **options)
    for place, text in zip(places, texts, strict=False):
        axes.annotate(text, place, ha="center", va="center", fontsize=9, zorder=3, parse_math=False)
    axes.margins(0.12)
    # One scale, as arcs have: their values stand on them, and vertices in a row leave room.
    axes.set_aspect("equal", "datalim")
    axes.set_axis_off()
    return _finished(plt, axes.figure, show=show and ax is None, is_ours=ax is None)


def _labels_of(labels: Any, names: Any, count: int) -> list[str]:
    """Return the names to draw, none where there are too many or none are wanted."""
    if labels is None:
        labels = count <= _MOST_NAMED
    if isinstance(labels, bool):
        labels = [] if not labels else (range(count) if names is None else list(names))
        return [printable(str(each)) for each in labels]
    found = [printable(str(each)) for each in labels]
    if len(found) != count:
        raise DimensionMismatch(f"draw: {len(found)} labels for {count} vertices")
    return found


def _colours_of(colour: Any, count: int) -> Any:
    """Return what `scatter` takes for colours: one of them, or a value for each vertex."""
    if getattr(colour, "kind", None) == "vector":
        indices, values = colour.to_coo()
        dense = np.full(colour.size, np.nan)
        dense[indices.astype(np.int64)] = values
        colour = dense
    is_one = isinstance(colour, str) or np.ndim(colour) == 0
    # Three or four numbers are one colour too, unless there are as many vertices.
    is_one |= isinstance(colour, tuple) and len(colour) in (3, 4) and len(colour) != count
    if not is_one and len(colour) != count:
        raise DimensionMismatch(f"draw: {len(colour)} colours for {count} vertices")
    return [colour] * count if is_one else colour


def _draw_edges(
    axes: Any, places: Any, edges: list[tuple[int, int]], values: Any, radius: float
) -> None:
    """Draw lines, or arrows if some edge has no equal one back; values above them.

    `radius`, in points, is that of a vertex.
    """
    texts = [None] * len(edges) if values is None else values.tolist()
    shown = dict(zip(edges, texts, strict=True))
    has_lines = all((j, i) in shown and shown[j, i] == value for (i, j), value in shown.items())
    lines = []
    for (i, j), value in shown.items():
        if has_lines and i > j:
            continue
        curve = 0.0 if has_lines or (j, i) not in shown else 0.18
        way = places[j] - places[i]
        middle = (places[i] + places[j]) / 2 - curve / 2 * np.array([-way[1], way[0]])
        if i == j:
            middle = places[i] + [0, 0.12]
            axes.annotate("", places[i], middle, arrowprops=_LOOP)
        elif has_lines or len(edges) > _MOST_ARROWS:
            lines.append((places[i], places[j]))
        else:
            arrow = _ARROW | {"connectionstyle": f"arc3,rad={curve}", "shrinkB": radius}
            axes.annotate("", places[j], places[i], arrowprops=arrow, zorder=1)
        if value is not None:
            axes.annotate(
                _short(value), middle, ha="center", va="center", fontsize=8, zorder=1.5,
                bbox=_BEHIND, parse_math=False,
            )  # fmt: skip
    from matplotlib.collections import LineCollection

    axes.add_collection(LineCollection(lines, colors=_GREY, linewidths=0.9, zorder=1))


def _finished(plt: Any, figure: Any, *, show: bool, is_ours: bool) -> Any:
    """Return a figure that is seen once: in a window, or as the value of a notebook's cell."""
    if "inline" in plt.get_backend().lower():
        if is_ours:
            # Else the end of the cell would show it as well.
            plt.close(figure)
    elif show:
        plt.show()
    return figure


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
    M : Matrix, TransposedMatrix, Vector or io.Graph
        A vector is one row.
    centered : bool
        Label the middle of a row or column; otherwise its first edge.
    show : bool
        Open the figure in a window; False to go on working at it. A notebook shows it as the value
        of its cell.
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
    shown = getattr(M, "matrix", M)
    if getattr(shown, "kind", None) not in ("matrix", "vector"):
        raise DomainMismatch(f"spy takes a Matrix or a Vector, got {type(M).__name__}")
    plt = need("matplotlib.pyplot", "spy", "plot")
    places = _places(shown)
    is_ours = figure is None and axes is None
    axes = _axes(plt, figure, axes, figsize)
    axes.spy(places, **({"markersize": _marker_size(axes, places.shape)} | kwargs))
    if not centered:
        nrows, ncols = places.shape
        axes.set_xticks(*_edges(axes.get_xticks(), ncols))
        axes.set_yticks(*_edges(axes.get_yticks(), nrows))
    return _finished(plt, axes.figure, show=show, is_ours=is_ours)


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
    show: bool = True,
    opts_kwargs: dict[str, Any] | None = None,
    **kwargs: Any,
) -> Any:
    """Plot a large Matrix as an image: each pixel stands for a block of positions.

    Parameters
    ----------
    M : Matrix, TransposedMatrix or io.Graph
    agg : {"count", "any", "sum", "mean", "min", "max"}
        What a pixel shows of the entries in its block; blocks without entries stay blank.
        Complex values count by their magnitude.
    width, height : int, optional
        Pixels; 600 along the longer side if None, never more than columns and rows.
    show : bool
        Open the figure in a window. A notebook shows it as the value of its cell.
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
    shown = getattr(M, "matrix", M)
    _check_matrix(shown, "datashade")
    if agg not in _AGGREGATIONS:
        raise InvalidValue(f"agg={agg!r}; choose one of {', '.join(_AGGREGATIONS)}")
    shape = _pixels((shown.nrows, shown.ncols), (height, width))
    plt = need("matplotlib.pyplot", "datashade", "plot")
    image = _shaded(shown, agg, shape)
    axes = plt.figure(**(opts_kwargs or {})).gca()
    options = {"interpolation": "nearest", "aspect": "auto"} | kwargs
    # Pixels are labelled by the positions they stand for.
    axes.imshow(image, extent=(-0.5, shown.ncols - 0.5, shown.nrows - 0.5, -0.5), **options)
    return _finished(plt, axes.figure, show=show, is_ours=True)


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
