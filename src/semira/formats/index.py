"""Widths of indices and offsets, chosen independently of each other."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.base.errors import IndexOutOfBound, IndexTooLarge, InvalidIndex

#: Sizes from here on need 64 bits.
WIDE = 2**31

_NARROW: np.dtype[Any] = np.dtype(np.int32)
_WIDER: np.dtype[Any] = np.dtype(np.int64)

#: Largest dimension of any object (GraphBLAS' limit).
MAX_SIZE = 2**60


def index_dtype(*sizes: int) -> np.dtype[Any]:
    """Return the dtype of indices below every one of `sizes`."""
    for size in sizes:
        if size >= WIDE:
            return _WIDER
    return _NARROW


def offset_dtype(nvals: int) -> np.dtype[Any]:
    """Return the dtype of offsets into `nvals` entries."""
    return _NARROW if nvals < WIDE else _WIDER


def check_bounds(indices: Any, size: int, what: str) -> NDArray[np.integer[Any]]:
    """Return `indices` as a 1-D array of integers after checking that all lie in ``[0, size)``.

    An array stays as it is, in its dtype. Raises InvalidIndex if it is not one-dimensional, or not
    of integers, and IndexOutOfBound if an index is negative or not below `size`; the message names
    it.
    """
    array = np.asarray(indices)
    if array.ndim != 1:
        raise InvalidIndex(f"{what} must be one-dimensional, got shape {array.shape}")
    if array.size == 0:
        return np.empty(0, index_dtype(size))
    if array.dtype.kind not in "iu":
        raise InvalidIndex(f"{what} must be integers, got dtype {array.dtype}")
    check_range(int(array.min()), int(array.max()), size, what)
    return array


def check_range(low: int, high: int, size: int, what: str) -> None:
    """Check the least and the greatest index of an array.

    Raises IndexOutOfBound if one is negative or not below `size`; the message names it. Raises
    IndexTooLarge if it is below no size that an object can have.
    """
    if low < 0 or high >= size:
        bad = low if low < 0 else high
        error = IndexTooLarge if bad >= MAX_SIZE else IndexOutOfBound
        raise error(f"{what} holds {bad}, which is outside [0, {size})")


def check_indices(indices: Any, size: int, what: str) -> NDArray[np.signedinteger[Any]]:
    """Return what `check_bounds` returns, and raises, in the dtype of indices below `size`."""
    return check_bounds(indices, size, what).astype(index_dtype(size), copy=False)


def each_once(numbers: NDArray[Any]) -> NDArray[Any]:
    """Return the integers of an array, each once, increasing.

    `numpy.unique` of NumPy 2.4 hashes them, and takes six times as long for a thousand, and thirty
    times for a million.

    Examples
    --------
    >>> each_once(np.array([5, 2, 5, -1])).tolist()
    [-1, 2, 5]
    """
    ordered = np.sort(numbers, axis=None)
    is_first = np.ones(len(ordered), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:])
    return ordered[is_first]
