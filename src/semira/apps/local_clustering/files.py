"""Seeds in files."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.exceptions import FileFormatError, FileReadError, MissingFile


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
    names = None if labels is None else {str(name): at for at, name in enumerate(labels.tolist())}
    try:
        text = Path(path).read_text("utf-8")
    except FileNotFoundError as error:
        raise MissingFile(f"{path}: there is no such file of seeds") from error
    except (OSError, UnicodeDecodeError) as error:
        raise FileReadError(f"{path}: cannot be read: {error}") from error
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        words = re.split(r"[\s,]+", line.strip())
        if words != [""] and not words[0].startswith(("#", "%")):
            found.append(_line(path, number, words, size, names))
    return found


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
