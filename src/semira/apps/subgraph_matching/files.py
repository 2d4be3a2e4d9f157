"""Patterns and labels in files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import semira as gb
from semira.exceptions import DimensionMismatch, FileFormatError, FileReadError, MissingFile


def read_pattern(path: str, size: int) -> gb.Matrix:
    """Read the pattern: a graph file of any format; its vertices are numbers from 0."""
    del size
    return gb.io.read(path)


def read_labels(path: str, size: int) -> NDArray[np.int64]:
    """Labels of the vertices: an integer for each, in their order, or ``.npy``.

    Parameters
    ----------
    path : str
        White space or commas between them.
    size : int
        Number of vertices.

    Raises
    ------
    MissingFile, FileReadError, FileFormatError, DimensionMismatch
        There is no such file; it cannot be read; it has something else; or not one for each vertex.
    """
    found = _integers(path)
    if len(found) != size:
        raise DimensionMismatch(f"{path} has {len(found)} labels for {size} vertices")
    return found


def read_pattern_labels(path: str, size: int) -> gb.Vector:
    """Labels of the pattern's vertices, in their order; ``*`` matches any label."""
    del size
    if path.endswith(".npy"):
        return gb.Vector.from_dense(_integers(path))
    words = _words(path)
    at = [j for j, word in enumerate(words) if word != "*"]
    numbers = _as_integers(path, [words[j] for j in at])
    return gb.Vector.from_coo(at, numbers, "INT64", size=len(words))


def _words(path: str) -> list[str]:
    if not Path(path).exists():
        raise MissingFile(f"{path}: no such file")
    try:
        return Path(path).read_text(encoding="utf-8").replace(",", " ").split()
    except (OSError, UnicodeDecodeError) as error:
        raise FileReadError(f"{path}: cannot be read: {error}") from error


def _integers(path: str) -> NDArray[np.int64]:
    if not path.endswith(".npy"):
        return _as_integers(path, _words(path))
    try:
        found: NDArray[Any] = np.load(path)
    except FileNotFoundError as error:
        raise MissingFile(f"{path}: no such file") from error
    except (OSError, ValueError) as error:
        raise FileFormatError(f"{path} is no array of NumPy: {error}") from error
    if found.dtype.kind not in "biu" or (found.size and int(found.max()) >= 2**63):
        raise FileFormatError(f"{path} has labels of {found.dtype}; labels are integers of 64 bits")
    return found.ravel().astype(np.int64)


def _as_integers(path: str, words: list[str]) -> NDArray[np.int64]:
    try:
        return np.array(words or [], object).astype(np.int64)
    except (ValueError, OverflowError) as error:
        raise FileFormatError(
            f"{path}: {error}; give an integer of 64 bits for each vertex, in their order"
        ) from error
