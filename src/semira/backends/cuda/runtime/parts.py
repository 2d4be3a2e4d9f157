"""Several buffers in one allocation: an object costs the host one request, not four."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import Any

from numpy.typing import NDArray

from semira.backends.cuda.runtime.device import Runtime

#: Device memory, with `handle` and `size`: a buffer of cuda.core, or a `Part` of one.
Buffer = Any

#: Every part begins on a cache line.
ALIGNMENT = 128

#: Bytes of a matrix whose arrays are one allocation. Larger ones have several: an array that
#: another matrix shares would keep the others.
JOINED = 1 << 20


@dataclass(frozen=True, slots=True)
class MadeRows:
    """What a statement has made of a matrix, in row order."""

    #: (indptr, indices, values).
    parts: tuple[Buffer, Buffer, Buffer]
    #: Row of every entry; None: not made. Of whole rows neither are the indices.
    rows: Buffer | None
    #: Entries there is room for; as many as there are if `is_exact`.
    most: int
    is_exact: bool
    #: Greatest number of entries that the host knew of its operands.
    base: int
    #: Whether all entries share one value; whether offsets have 64 bits.
    iso: bool
    wide: bool


class Part:
    """A piece of a buffer, used like one."""

    __slots__ = ("handle", "offset", "size", "whole")

    def __init__(self, whole: Any, place: int, offset: int, size: int) -> None:
        #: The allocation, where the buffer begins in it, and its bytes.
        self.whole, self.offset, self.size = whole, offset, size
        #: Its address on the device.
        self.handle = place + offset

    @property
    def is_closed(self) -> bool:
        """Whether the allocation was given back."""
        return bool(self.whole.is_closed)

    def close(self, stream: Any) -> None:
        """Give the whole allocation back, once."""
        if not self.whole.is_closed:
            self.whole.close(stream)


def allocate_parts(runtime: Runtime, sizes: tuple[int, ...]) -> list[Part]:
    """Return uninitialised buffers of these sizes, one behind the other in one allocation.

    With `Runtime.keeps_apart` each is an allocation of its own. Raises OutOfMemory if they do not
    fit.
    """
    if runtime.keeps_apart:
        wholes = [runtime.allocate(size) for size in sizes]
        return [
            Part(whole, int(whole.handle), 0, size)
            for whole, size in zip(wholes, sizes, strict=True)
        ]
    starts, end = laid_out(sizes)
    whole = runtime.allocate(end)
    place = int(whole.handle)
    return [Part(whole, place, start, size) for start, size in zip(starts, sizes, strict=True)]


def upload_parts(runtime: Runtime, *arrays: NDArray[Any]) -> list[Any]:
    """Return buffers with what host arrays hold; of few bytes together, in one allocation and copy.

    Raises OutOfMemory if they do not fit.
    """
    sizes = tuple([array.nbytes for array in arrays])
    if sum(sizes) > JOINED or runtime.keeps_apart:
        return [runtime.upload(array) for array in arrays]
    starts, end = laid_out(sizes)
    image = bytearray(max(1, end))
    for start, size, array in zip(starts, sizes, arrays, strict=True):
        image[start : start + size] = array.tobytes()
    parts = allocate_parts(runtime, sizes)
    runtime.upload_image(image, parts[0].whole)
    return [*parts]


@lru_cache(maxsize=1024)
def laid_out(sizes: tuple[int, ...]) -> tuple[list[int], int]:
    """Return where each part begins, and the end."""
    ends = list(accumulate(-(-size // ALIGNMENT) * ALIGNMENT for size in sizes))
    return [0, *ends[:-1]], ends[-1]
