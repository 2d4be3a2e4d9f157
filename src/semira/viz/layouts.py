"""Where to draw the vertices of a graph: by NetworkX, by igraph, or on a circle."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.base.errors import DimensionMismatch, InvalidValue
from semira.base.optional import need

LAYOUTS = ("auto", "spring", "kamada_kawai", "circle")

#: Vertices up to which ``auto`` takes kamada_kawai, whose time grows with the cube.
_FEW = 60

#: igraph's names.
_IGRAPH = {"spring": "fr", "kamada_kawai": "kk"}

Places = NDArray[np.float64]


def positions(
    layout: Any, count: int, edges: Sequence[tuple[int, int]], names: Any = None
) -> Places:
    """Return where each vertex is drawn, shape (count, 2), within -1 and 1 where it is computed.

    The layout is one of `LAYOUTS`, or the places themselves: in order, or by vertex or one of the
    `names`. Raises InvalidValue if there is no layout of this name, DimensionMismatch if a place is
    missing or is no pair of numbers, and MissingLibrary if neither NetworkX nor igraph is
    installed, and a layout was named that needs one.
    """
    if not isinstance(layout, str):
        return _given(layout, count, range(count) if names is None else names)
    if layout not in LAYOUTS:
        raise InvalidValue(f"layout={layout!r}; choose one of {', '.join(LAYOUTS)}, or give places")
    has_networkx, has_igraph = _has("networkx"), _has("igraph")
    if layout == "circle" or count < 2 or (layout == "auto" and not (has_networkx or has_igraph)):
        return _circle(count)
    found = _by_igraph if has_igraph and not has_networkx else _by_networkx
    return _side_by_side(count, edges, lambda size, own: found(layout, size, own))


def _side_by_side(
    count: int, edges: Sequence[tuple[int, int]], place: Callable[[int, Any], Places]
) -> Places:
    """Return the places of all components, each laid out alone, the largest first, in rows.

    Together they would drift apart until nothing can be read.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    ends = np.array(edges, np.int64).reshape(-1, 2)
    pattern = coo_array((np.ones(len(ends)), ends.T), shape=(count, count))
    _, label = connected_components(pattern, directed=False)
    sizes = np.bincount(label)
    # A component has room in proportion to its vertices.
    sides, places = np.sqrt(sizes), np.empty((count, 2))
    row_width = max(float(sides.max()), float(np.sqrt((sides**2).sum())))
    left = below = height = 0.0
    for component in np.argsort(-sizes, kind="stable").tolist():
        own, side = np.flatnonzero(label == component), float(sides[component])
        inside = np.searchsorted(own, ends[label[ends[:, 0]] == component])
        if left + side > row_width and left > 0:
            left, below, height = 0.0, below - height, 0.0
        middle = (left + side / 2, below - side / 2)
        found = _scaled(place(len(own), inside.tolist())) if len(own) > 1 else np.zeros((1, 2))
        places[own] = middle + found * 0.4 * side
        left, height = left + side, max(height, side)
    return _scaled(places)


def _has(library: str) -> bool:
    try:
        return find_spec(library) is not None
    except ValueError:  # someone has set it to None
        return False


def _given(layout: Any, count: int, names: Sequence[Any]) -> Places:
    if isinstance(layout, Mapping):
        missing = [name for name in names if name not in layout]
        if missing:
            raise DimensionMismatch(f"the layout has no place for vertex {missing[0]!r}")
        layout = [layout[name] for name in names]
    places = np.asarray(layout, np.float64)
    if places.shape != (count, 2):
        raise DimensionMismatch(
            f"the layout has the shape {places.shape}; {count} vertices have ({count}, 2)"
        )
    return places


def _circle(count: int) -> Places:
    angles = 2 * np.pi * np.arange(count) / max(count, 1)
    return np.column_stack([np.cos(angles), np.sin(angles)])


def _by_networkx(layout: str, count: int, edges: Sequence[tuple[int, int]]) -> Places:
    nx = need("networkx", "draw", "networkx")
    graph = nx.Graph()
    graph.add_nodes_from(range(count))
    graph.add_edges_from(edges)
    if layout == "auto":
        layout = "kamada_kawai" if count <= _FEW else "spring"
    if layout == "spring":
        found = nx.spring_layout(graph, seed=0, weight=None)
    else:
        found = nx.kamada_kawai_layout(graph, weight=None)
    return np.array([found[vertex] for vertex in range(count)])


def _by_igraph(layout: str, count: int, edges: Sequence[tuple[int, int]]) -> Places:
    igraph = need("igraph", "draw", "networkx")
    import random

    # igraph draws from Python's generator: the same graph is to look the same.
    state = random.getstate()
    random.seed(0)
    try:
        found = igraph.Graph(count, list(edges)).layout(_IGRAPH.get(layout, "auto"))
    finally:
        random.setstate(state)
    return np.array(found.coords)


def _scaled(places: Places) -> Places:
    """Return places in the square from -1 to 1."""
    middle = (places.max(axis=0) + places.min(axis=0)) / 2
    reach = np.abs(places - middle).max()
    scaled: Places = (places - middle) / (reach if reach > 0 else 1)
    return scaled
