"""Graphs to match with, and pairs of vertices, in files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira import Matrix, io
from semira.apps.texts import is_index, lines_of, numbers_of
from semira.exceptions import FileFormatError

_Labels = NDArray[Any] | None


def read_other(path: str) -> io.Graph:
    """Graph of any size: a file of any format that is read, or a generator.

    Raises what `semira.io.read_graph` raises.
    """
    return io.read_graph(path)


def read_similarity(path: str) -> Matrix:
    """Matrix of what pairs are worth: a row for each vertex, a column for each of the other graph.

    Exceptions are those of `read_other`.
    """
    return io.read(path)


def read_pairs(path: str, labels: _Labels = None, found: Mapping[str, Any] | None = None) -> Any:
    """Pairs: a line for each, with a vertex of the graph and one of the other.

    Vertices are separated by white space or commas; lines that begin with ``#`` or ``%`` are
    comments. They are numbers from 0, or names in a graph that has names: `labels`, and those of
    the other graph, which is `found` as ``"other"``. What is no vertex is refused later. Raises
    MissingFile or FileReadError if the file cannot be read, and FileFormatError if a line has
    something else; the message has its number.
    """
    others = getattr((found or {}).get("other"), "labels", None)
    firsts = numbers_of(labels)
    seconds = None if others is None else {str(name): name for name in others.tolist()}
    pairs = []
    for number, words in lines_of(path):
        pair = [_vertex(word, known) for word, known in zip(words, (firsts, seconds), strict=False)]
        if len(words) != 2 or None in pair:
            raise FileFormatError(
                f"{path}, line {number}: {' '.join(words)!r} is no pair of vertices: numbers from "
                "0, or names where a graph has names"
            )
        pairs.append(pair)
    return np.array(pairs, np.int64).reshape(-1, 2) if seconds is None else pairs


def _vertex(word: str, known: Mapping[str, Any] | None) -> Any:
    """Return what a word of a file means to `graph_match`; None if it is no vertex."""
    if known is not None:
        return known.get(word)
    return int(word) if is_index(word) else None
