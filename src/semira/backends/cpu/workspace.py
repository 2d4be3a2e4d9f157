"""Dense scratch arrays, kept per thread so that small calls allocate nothing.

A borrowed mark array is clean and must be given back clean; what is not given back (because it
became part of a result, or an error passed by) is simply gone.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Shorter arrays are made anew, which takes less time than to look one up and clean it.
SHORT = 4096

#: Bytes of scratch that one thread keeps.
_KEPT_BYTES = 2**28


class _Shelf(threading.local):
    def __init__(self) -> None:
        self.arrays: dict[tuple[Any, int], list[NDArray[Any]]] = {}
        self.kept_bytes = 0


_shelf = _Shelf()


def marks(length: int) -> NDArray[np.bool_]:
    """Return a bool array of `length`, all False; to be given back all False."""
    waiting = None if length < SHORT else _shelf.arrays.get(("mark", length))
    return _taken(waiting) if waiting else np.zeros(length, np.bool_)


def zeros(dtype: Any, length: int) -> NDArray[Any]:
    """Return an array of zeros; to be given back with `give_zeros`, zero again."""
    dtype = np.dtype(dtype)
    waiting = _shelf.arrays.get((("zero", dtype), length))
    return _taken(waiting) if waiting else np.zeros(length, dtype)


def give_zeros(array: NDArray[Any]) -> None:
    """Keep an array from `zeros` for the next caller of this thread."""
    _keep(("zero", array.dtype), array)


def buffer(dtype: Any, length: int) -> NDArray[Any]:
    """Return an array of `length` with arbitrary contents."""
    if length < SHORT:
        return np.zeros(length, dtype)
    dtype = np.dtype(dtype)
    waiting = _shelf.arrays.get((dtype, length))
    return _taken(waiting) if waiting else np.zeros(length, dtype)


def give_marks(array: NDArray[np.bool_]) -> None:
    """Keep a clean array from `marks` for the next caller of this thread."""
    _keep("mark", array)


def give_buffer(array: NDArray[Any]) -> None:
    """Keep an array from `buffer` for the next caller of this thread."""
    _keep(array.dtype, array)


def _taken(waiting: list[NDArray[Any]]) -> NDArray[Any]:
    array = waiting.pop()
    _shelf.kept_bytes -= array.nbytes
    return array


def _keep(kind: Any, array: NDArray[Any]) -> None:
    if len(array) < SHORT:
        return
    if _shelf.kept_bytes + array.nbytes > _KEPT_BYTES:
        # Sizes that are no longer asked for would otherwise stay for ever.
        _shelf.arrays.clear()
        _shelf.kept_bytes = 0
    if array.nbytes <= _KEPT_BYTES:
        _shelf.arrays.setdefault((kind, len(array)), []).append(array)
        _shelf.kept_bytes += array.nbytes
