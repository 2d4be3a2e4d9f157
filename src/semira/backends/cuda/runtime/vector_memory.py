"""Memory of vectors: where planes and state lie in one allocation, which outlives the vector."""

from __future__ import annotations

import struct
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from semira.backends.cuda.runtime.device import Runtime
from semira.backends.cuda.runtime.parts import Buffer, Part, allocate_parts, laid_out
from semira.backends.cuda.runtime.room import require
from semira.base.dtypes import DataType

#: Presence words of at most so many bytes are uploaded; longer ones are filled on the device. With
#: entries, that is so for each of them: else an entry takes two copies of its own.
UPLOADED = 1 << 14

#: Fields of VectorState (kernels/common/vector.cuh).
STATE_WORDS = 5

#: A VectorState as bytes; that of a vector without entries.
STATE = struct.Struct(f"{STATE_WORDS}q")
NO_ENTRIES = 0, 0, 1, -1, -1


@dataclass(frozen=True, slots=True)
class Form:
    """Where the parts of a vector with two planes lie in one allocation.

    Presence words of both planes, state and list come first: they are uploaded in one piece.
    """

    #: Bytes of words, words, state, list, values, list, values.
    sizes: tuple[int, ...]
    #: Where state, first list and first values begin, and where all ends.
    state: int
    listed: int
    values: int
    end: int
    #: The first bytes of a vector without entries, up to the list; not to be changed.
    empty: bytearray


@lru_cache(maxsize=256)
def form_of(size: int, itemsize: int) -> Form:
    """Return the form of vectors of `size` positions with values of `itemsize` bytes."""
    values, words, listed = plane_sizes(size, itemsize)
    sizes = (words, words, 8 * STATE_WORDS, listed, values, listed, values)
    starts, end = laid_out(sizes)
    # Words of long vectors are filled on the device.
    empty = bytearray(starts[3] if starts[2] <= UPLOADED else 0)
    if empty:
        STATE.pack_into(empty, starts[2], *NO_ENTRIES)
    return Form(sizes, starts[2], starts[3], starts[4], end, empty)


@dataclass(slots=True, eq=False)
class VectorMemory:
    """Both planes of a vector and its state, in one allocation."""

    #: What it can hold: number of positions, bytes of a value.
    key: tuple[int, int]
    whole: Buffer
    #: As in `CudaVector`.
    planes: tuple[tuple[Any, Any, Any], ...]
    state: Any
    #: The words of its VectorDescriptor.
    words: array[int]
    #: The vector that left it, and its stamp then.
    last: Any = None
    stamp: int = 0

    @classmethod
    def of_parts(
        cls, size: int, itemsize: int, whole: Buffer, parts: Sequence[Any]
    ) -> VectorMemory:
        """Return the memory whose parts have the sizes of a form, one behind the other."""
        words, spare_words, state, listed, values, spare_list, spare = parts
        planes = (values, words, listed), (spare, spare_words, spare_list)
        described = descriptor(planes, state, size)
        return cls((size, itemsize), whole, planes, state, described)


def take_memory(runtime: Runtime, size: int, itemsize: int) -> VectorMemory:
    """Return memory that a vector of the same form left, or new memory, of unknown contents."""
    key = size, itemsize
    found: VectorMemory | None = runtime.spares.take(key)
    if found is not None:
        return found
    require(runtime, form_of(size, itemsize).end, f"a vector of size {size}")
    parts = allocate_parts(runtime, form_of(size, itemsize).sizes)
    return VectorMemory.of_parts(size, itemsize, parts[0].whole, parts)


def descriptor(planes: Sequence[tuple[Any, Any, Any]], state: Any, size: int) -> array[int]:
    """Return the words of a VectorDescriptor."""
    pointers = [int(buffer.handle) for plane in (*planes, planes[0])[:2] for buffer in plane]
    return array("q", [*pointers, int(state.handle), size])


def plane_sizes(size: int, itemsize: int) -> tuple[int, int, int]:
    """Return the bytes of values, presence words and list.

    Values fill whole words: those of 1 and 2 bytes are swapped with their neighbours (see
    kernels/common/atomics.cuh). There is always room for one: lanes of a pull that have no entry
    look at position 0 whether the vector has it or not (kernels/vxm/short.cuh).
    """
    return 4 * -(-max(size, 1) * itemsize // 4), 4 * -(-size // 32), 4 * size


def plane_of(parts: list[Part], first: int) -> tuple[Any, Any, Any]:
    """Return values, presence words and list of the plane whose parts begin there."""
    return parts[first], parts[first + 1], parts[first + 2]


def empty_plane(runtime: Runtime, size: int, dtype: DataType) -> tuple[Any, Any, Any]:
    """Return values, zeroed presence words and room for the list."""
    plane = plane_of(allocate_parts(runtime, plane_sizes(size, dtype.itemsize)), 0)
    runtime.clear(plane[1])
    return plane


def vector_bytes(size: int, dtype: DataType) -> int:
    """Return the bytes of one plane of a vector: values, presence words, list of positions."""
    return size * (dtype.itemsize + 4) + 4 * -(-size // 32)
