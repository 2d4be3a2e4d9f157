"""Seeds in files."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from semira.apps.texts import lines_of, numbers_of, vertex_of


def read_seeds(path: str, size: int, labels: NDArray[Any] | None = None) -> list[list[int]]:
    """Seeds: a line for each problem, with one vertex or several.

    Vertices are separated by white space or commas; lines that begin with ``#`` or ``%`` are
    comments. Without `labels`, their names, they are numbers from 0. Raises MissingFile or
    FileReadError if the file cannot be read, and FileFormatError if a line has something else, or
    no vertex of the graph; the message has its number.
    """
    names = numbers_of(labels)
    return [
        [vertex_of(f"{path}, line {number}", word, names, size) for word in words]
        for number, words in lines_of(path)
    ]
