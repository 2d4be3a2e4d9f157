"""Memory of large results, which outlives them: the next result of the same size takes it.

Large arrays come from the system and go back to it, so every result of some megabytes costs faults
of its pages: in a loop over a million positions a third of the time. Here they lie in memory that
is kept once nobody looks at them any more, views of views included.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.base import locks, memory

#: Bytes from which on a result is kept: from half a megabyte on the allocator of C gives memory
#: back to the system. Two cores, microseconds of a copy of 256 KB, 512 KB and 2 MB: 8, 22 and 111
#: in memory of that allocator, 11, 18 and 62 in what is kept.
LARGE = 1 << 19

#: Bytes that are kept in all.
KEPT = 1 << 28


class _Shelf:
    """Memory that nobody uses, by its size."""

    def __init__(self) -> None:
        self.waiting: dict[int, list[NDArray[np.uint8]]] = {}
        # A lease may end while this very thread looks for memory.
        self.lock = locks.rlock()

    @property
    def nbytes(self) -> int:
        """Bytes of all that waits; counted, so that no total can be wrong after a fork."""
        return sum(size * len(arrays) for size, arrays in list(self.waiting.items()))

    def take(self, nbytes: int) -> NDArray[np.uint8]:
        with self.lock:
            found = self.waiting.get(nbytes)
            if found:
                return found.pop()
        try:
            return memory.empty(nbytes, np.uint8)
        except MemoryError:
            self.clear()
            return memory.empty(nbytes, np.uint8)

    def give(self, spare: NDArray[np.uint8]) -> None:
        with self.lock:
            if self.nbytes + spare.nbytes > KEPT:
                # Sizes that are no longer asked for would otherwise stay for ever.
                self.clear()
            if spare.nbytes <= KEPT:
                self.waiting.setdefault(spare.nbytes, []).append(spare)

    def clear(self) -> None:
        with self.lock:
            self.waiting = {}


_shelf = _Shelf()


class _Lease:
    """Memory in use: what every array that lies in it holds on to, and which gives it back."""

    __slots__ = ("_memory", "_shelf")

    def __init__(self, shelf: _Shelf, memory: NDArray[np.uint8]) -> None:
        self._shelf, self._memory = shelf, memory

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return self._memory.__array_interface__

    def __del__(self) -> None:
        self._shelf.give(self._memory)


def empty(length: int, dtype: np.dtype[Any] | type) -> NDArray[Any]:
    """Return an array of unknown contents, as `numpy.empty` does."""
    dtype = np.dtype(dtype)
    nbytes = length * dtype.itemsize
    if nbytes < LARGE or dtype.hasobject:
        return np.empty(length, dtype)
    return np.asarray(_Lease(_shelf, _shelf.take(nbytes))).view(dtype)


def zeros(length: int, dtype: np.dtype[Any] | type) -> NDArray[Any]:
    """Return an array of zeros, as `numpy.zeros` does."""
    dtype = np.dtype(dtype)
    if length * dtype.itemsize < LARGE or dtype.hasobject:
        return np.zeros(length, dtype)
    made = empty(length, dtype)
    made.view(np.uint8)[...] = 0
    return made


def copied(array: NDArray[Any]) -> NDArray[Any]:
    """Return a copy of an array of one axis."""
    made = empty(len(array), array.dtype)
    made[...] = array
    return made


def kept_bytes() -> int:
    """Return the bytes that wait for the next results."""
    return _shelf.nbytes


def drop() -> None:
    """Give back to the system all that waits."""
    _shelf.clear()


memory.spares.append(drop)
