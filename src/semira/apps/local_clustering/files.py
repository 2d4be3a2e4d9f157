"""Seeds in files."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.apps.texts import lines_of, numbers_of
from semira.exceptions import FileFormatError


def read_seeds(path: str, size: int, labels: NDArray[Any] | None = None) -> list[list[int]]:
    """Seeds: a line for each problem, with one vertex or several.

    Parameters
    ----------
    path : str
        A text file; vertices are separated by white space or commas, and lines that begin with
        ``#`` or ``%`` are comments.
    size : int
        Number of vertices.
    labels : ndarray, shape (size,), optional
        Names of the vertices; without them vertices are numbers from 0.

    Returns
    -------
    list of list of int

    Raises
    ------
    MissingFile, FileReadError
        The file cannot be read.
    FileFormatError
        A line has something else, or no vertex of the graph; the message has its number.
    """
    names = numbers_of(labels)
    return [_line(path, number, words, size, names) for number, words in lines_of(path, "seeds")]


def _line(
    path: str, number: int, words: list[str], size: int, names: dict[str, int] | None
) -> list[int]:
    """Return the vertices of one line."""
    if names is not None:
        for word in words:
            if word not in names:
                raise FileFormatError(f"{path}, line {number}: no vertex is named {word!r}")
        return [names[word] for word in words]
    try:
        found = np.array(words, np.int64)
    except (ValueError, OverflowError) as error:
        raise FileFormatError(
            f"{path}, line {number}: {' '.join(words)!r} are no vertex numbers"
        ) from error
    if found.min() < 0 or found.max() >= size:
        raise FileFormatError(
            f"{path}, line {number}: a vertex is none of 0 to {size - 1} ({found.tolist()})"
        )
    return list(map(int, found))
