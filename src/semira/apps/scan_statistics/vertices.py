"""Graphs of the same vertices, found by their names."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira import Matrix, device
from semira.exceptions import InvalidValue
from semira.io import Graph


def placed(A: Matrix, places: NDArray[np.int64], n: int) -> Matrix:
    """Return the matrix of a graph whose vertex i becomes vertex places[i] of n."""
    rows, columns, values = A.to_coo()
    with device(A.device):
        return Matrix.from_coo(places[rows], places[columns], values, nrows=n, ncols=n)


def without_names(given: Any) -> Any:
    """Return the matrix of a Graph that has no names; others are left as they are."""
    return given.matrix if isinstance(given, Graph) and given.labels is None else given


def among(graph: Graph, other: Any) -> Any:
    """Return the matrix of another Graph, with the vertices of `graph`; others are left as is.

    Raises InvalidValue if it has no names, and IndexOutOfBound if a name is unknown.
    """
    if not isinstance(other, Graph):
        return other
    if other.labels is None:
        raise InvalidValue("the graph has names, the other one has none; give names to both")
    names = other.labels.tolist()
    if names == graph.names(np.arange(graph.size)):
        return other.matrix
    return placed(other.matrix, graph.vertices(names), graph.size)


def joined(graphs: list[Any]) -> tuple[list[Any], Graph | None]:
    """Return the matrices of graphs over all their vertices, and a Graph of these vertices.

    What is no Graph is left as it is, with None if it is the first. Raises InvalidValue if some
    have names, and others have none.
    """
    named = [each for each in graphs if isinstance(each, Graph) and each.labels is not None]
    if named and len(named) < len(graphs):
        raise InvalidValue("some graphs have names, and others have none; give names to all")
    if not named:
        first = graphs[0] if graphs and isinstance(graphs[0], Graph) else None
        return [without_names(each) for each in graphs], first
    names = dict.fromkeys(name for each in named for name in each.names(np.arange(each.size)))
    first = named[0]
    if len(names) > first.size:
        matrix = placed(first.matrix, np.arange(first.size), len(names))
        first = Graph(matrix, list(names))
    return [among(first, each) for each in named], first
