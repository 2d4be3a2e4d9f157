"""Files of scan statistics: another graph, and sets of vertices."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import semira as gb
from semira import Matrix
from semira.apps.scan_statistics.vertices import placed
from semira.apps.texts import numbers_of
from semira.exceptions import FileFormatError


def read_them(path: str, size: int, labels: NDArray[Any] | None = None) -> Matrix:
    """Read another graph of the same vertices, whose edges are counted.

    The file is any that `semira.io.read` reads. With `labels`, names of the vertices of the first
    graph, those of the file are found by name. Raises FileFormatError if one of the files has names
    and the other has none, or a name is not known, or there are more vertices.
    """
    graph = gb.io.read_graph(path)
    if (graph.labels is None) != (labels is None):
        raise FileFormatError(f"{path}: of the two graphs, one has names and the other has none")
    matrix: Matrix = graph.matrix
    if labels is None and matrix.shape == (size, size):
        return matrix
    places = np.arange(matrix.nrows)
    numbers = numbers_of(labels)
    if numbers is not None and graph.labels is not None:
        named = [str(name) for name in graph.labels.tolist()]
        unknown = [name for name in named if name not in numbers]
        if unknown:
            raise FileFormatError(f"{path}: the first graph has no vertex {unknown[0]!r}")
        places = np.array([numbers[name] for name in named], np.int64)
    if len(places) > size or matrix.nrows != matrix.ncols:
        raise FileFormatError(
            f"{path}: a graph of shape {matrix.shape}, the first has {size} vertices"
        )
    return placed(matrix, places, size)


def read_neighbourhoods(path: str) -> Matrix:
    """Read sets of vertices that take the place of steps: a matrix with a row for each."""
    found: Matrix = gb.io.read(path)
    return found
