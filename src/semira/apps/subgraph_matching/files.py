"""Patterns and labels in files."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import semira as gb
from semira.apps.texts import numbers_in, words_of
from semira.exceptions import DimensionMismatch, FileFormatError


def read_pattern(path: str) -> gb.Matrix:
    """Read the pattern: a graph file of any format; its vertices are numbers from 0."""
    return gb.io.read(path)


def read_labels(path: str, size: int) -> NDArray[np.int64]:
    """Labels of the vertices: an integer for each, in their order, or ``.npy``.

    White space or commas stand between them. Raises MissingFile or FileReadError if the file cannot
    be read, FileFormatError if it has something else, and DimensionMismatch if there is not one for
    each of `size` vertices.
    """
    found = numbers_in(path, np.int64)
    if len(found) != size:
        raise DimensionMismatch(f"{path} has {len(found)} labels for {size} vertices")
    return found


def read_pattern_labels(path: str) -> gb.Vector:
    """Labels of the pattern's vertices, in their order; ``*`` matches any label."""
    if path.endswith(".npy"):
        return gb.Vector.from_dense(numbers_in(path, np.int64))
    words = words_of(path)
    at = [j for j, word in enumerate(words) if word != "*"]
    try:
        numbers = np.array([words[j] for j in at], object).astype(np.int64)
    except (ValueError, OverflowError) as error:
        raise FileFormatError(f"{path}: {error}; give integers of 64 bits, or *") from error
    return gb.Vector.from_coo(at, numbers, "INT64", size=len(words))
