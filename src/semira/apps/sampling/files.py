"""What walks and samples read from files: vertices, and a number for each vertex."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.apps.texts import array_of, numbers_in, open_text
from semira.exceptions import DimensionMismatch, FileFormatError


def vertices(path: str) -> NDArray[np.int64]:
    """Return the vertex numbers in a text file, from 0, separated by white space or commas.

    Raises
    ------
    MissingFile, FileFormatError
        There is no such file; it has something else.
    """
    return numbers_in(path, np.int64)


def numbers(path: str, size: int) -> NDArray[np.float64]:
    """Return one number for each vertex, from a text file or ``.npy``.

    Raises
    ------
    MissingFile, FileFormatError, DimensionMismatch
        There is no such file; it has something else; or not `size` numbers.
    """
    found = numbers_in(path, np.float64)
    if len(found) != size:
        raise DimensionMismatch(f"{path} has {len(found)} numbers for {size} vertices")
    return found


def matrix(path: str, size: int | None) -> NDArray[np.floating[Any]]:
    """Return a table of float32: a line for each row, or ``.npy``, where float16 stays.

    Raises
    ------
    MissingFile, FileFormatError, DimensionMismatch
        There is no such file; it is no table of numbers; or it has not `size` rows.
    """
    if path.endswith(".npy"):
        found = array_of(path)
        if found.ndim != 2 or found.dtype.kind not in "biuf":
            told = f"{path}: has {found.dtype} of shape {found.shape}"
            raise FileFormatError(f"{told}; give a table of real numbers")
    else:
        with open_text(path) as stream:
            try:
                found = np.loadtxt(stream, ndmin=2)
            except ValueError as error:
                raise FileFormatError(f"{path} is no table of numbers: {error}") from error
    if size is not None and len(found) != size:
        raise DimensionMismatch(f"{path} has {len(found)} rows for {size} vertices")
    with np.errstate(over="ignore"):  # infinite numbers are refused later
        return found if found.dtype == np.float16 else found.astype(np.float32)


def weights(path: str) -> NDArray[np.float32]:
    """Return a table of floats that has nothing to do with the number of vertices.

    Raises
    ------
    MissingFile, FileFormatError
        There is no such file; it is no table of numbers.
    """
    return matrix(path, None)
