"""Labels from files, for the command line."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.algorithms.shown import is_number
from semira.apps.texts import array_of, lines_of
from semira.exceptions import InvalidValue


def read_labels(path: Any, size: int) -> NDArray[np.int64]:
    """Return the label of each vertex from a file.

    Parameters
    ----------
    path : path
        ``.npy``: an array of integers. Else text, a line for each vertex: its label, or vertex and
        label, by commas or blanks, in any order of vertices; a line of names may come first.
    size : int
        Vertices.

    Raises
    ------
    MissingFile, FileReadError, FileFormatError
        The file cannot be read, or is no array or text.
    InvalidValue
        A line is none of these, or a vertex has no label or several.
    """
    path = str(path)
    if path.endswith(".npy"):
        return array_of(path)
    lines = [words for _, words in lines_of(path)]
    if lines and not is_number(lines[0][0]):
        lines = lines[1:]
    if {len(line) for line in lines} not in (set(), {1}, {2}):
        raise InvalidValue(f"{path}: every line is a label, or every line is a vertex and a label")
    try:
        rows = np.array(lines, np.int64).reshape(len(lines), -1)
    except ValueError as error:
        raise InvalidValue(f"{path}: vertices and labels are integers ({error})") from error
    if rows.shape[1:] != (2,):
        return rows.ravel()
    vertices = rows[:, 0]
    if sorted(vertices.tolist()) != list(range(size)):
        raise InvalidValue(f"{path}: {len(vertices)} vertices; each of 0 to {size - 1} once")
    labels = np.empty(size, np.int64)
    labels[vertices] = rows[:, 1]
    return labels
