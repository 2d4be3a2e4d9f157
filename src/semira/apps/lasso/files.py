"""Values of vertices in files."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.apps.texts import array_of, lines_of, numbers_of
from semira.exceptions import FileFormatError


def read_values(path: str, size: int, labels: NDArray[Any] | None = None) -> NDArray[np.float64]:
    """Values: a number for each vertex in order, or lines "name value"; or a .npy file.

    A text file has as many numbers as there are vertices, separated by white space or commas, on as
    many lines as you like: an image as rows of pixels too. Or, where vertices have names, lines of
    a name and a number. Lines that begin with ``#`` or ``%`` are comments. An array of NumPy has
    any shape. Raises MissingFile or FileReadError if the file cannot be read, and FileFormatError
    if there are more or fewer numbers than vertices, something is no number, or a name is unknown
    or lacks a value; the message has the line.
    """
    if path.endswith(".npy"):
        return _sized(path, array_of(path), size)
    numbers = numbers_of(labels) or {}
    found: list[float] = []
    named: dict[int, float] = {}
    for number, words in lines_of(path):
        if len(words) == 2 and words[0] in numbers:
            named[numbers[words[0]]] = _number(path, number, words[1])
        else:
            found += [_number(path, number, word) for word in words]
    if not named:
        return _sized(path, np.array(found, np.float64), size)
    if found or len(named) < size:
        raise FileFormatError(
            f"{path}: {len(named)} of {size} names have values, and {len(found)} numbers have no "
            "name; give all names, or numbers alone"
        )
    return np.array([named[at] for at in range(size)])


def _number(path: str, line: int, word: str) -> float:
    try:
        return float(word)
    except ValueError as error:
        raise FileFormatError(
            f"{path}, line {line}: {word!r} is no number, and no vertex with one number"
        ) from error


def _sized(path: str, values: NDArray[Any], size: int) -> NDArray[np.float64]:
    if values.dtype.kind not in "biuf":
        raise FileFormatError(f"{path}: has values of {values.dtype}, not real numbers")
    if values.size != size:
        raise FileFormatError(f"{path}: has {values.size} values, but the graph {size} vertices")
    return values.ravel().astype(np.float64)
