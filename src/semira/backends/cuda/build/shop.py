"""What building objects of arrays needs: memory, the array library, kernels, room."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from semira.backends.cuda.build.generated import Generated
from semira.backends.cuda.lower.context import check_dtype
from semira.backends.cuda.runtime.device import Runtime
from semira.backends.cuda.runtime.primitives import Primitives
from semira.base.dtypes import DataType, lookup_dtype
from semira.base.errors import InvalidIndex, NotImplementedException
from semira.formats.index import WIDE, check_range

#: Entries that the array library is given at once; beyond 2**31 some of its calls do not count.
PART = 2**30


@dataclass(slots=True)
class Shop:
    """The tools of one build."""

    #: CuPy, on the runtime's stream; NumPy in tests.
    xp: Any
    #: Memory and kernels.
    runtime: Runtime
    primitives: Primitives
    #: Kernels that dtypes or operators enter.
    generated: Generated
    #: Raises unless so many bytes can be had.
    require: Callable[[int, str], None] = field(repr=False)

    def array(self, memory: Any, dtype: Any, count: int) -> Any:
        """Return memory as an array."""
        return self.primitives.as_cupy(memory, dtype, count)

    def copied(self, array: Any, dtype: Any) -> Any:
        """Return a copy in memory of ours, cast to `dtype`."""
        kind = np.dtype(dtype)
        memory = self.runtime.allocate(kind.itemsize * array.size)
        target, source = self.array(memory, kind, array.size), array.ravel()
        for part in parts(array.size):
            target[part] = source[part]
        return memory

    def cast(self, values: Any, dtype: DataType) -> Any:
        """Return values as those of `dtype`, in memory that may be the caller's."""
        given = lookup_dtype(values.dtype)
        if given is dtype:
            return values
        check_dtype(given)
        memory = self.runtime.allocate(dtype.itemsize * values.size)
        self.generated.cast(given, dtype, values, values.size, memory)
        return self.array(memory, dtype.np_type, values.size).reshape(values.shape)

    def indices(self, array: Any, what: str) -> Any:
        """Return positions as 32- or 64-bit integers.

        Raises InvalidIndex if they are no list of integers.
        """
        if array.ndim != 1:
            raise InvalidIndex(f"{what} must be one-dimensional, got shape {array.shape}")
        if array.dtype.kind not in "iu":
            if array.size:
                raise InvalidIndex(f"{what} must be integers, got dtype {array.dtype}")
            return array.astype(np.int32)
        return array if array.dtype.itemsize in (4, 8) else array.astype(np.int32)

    def read(self, item: Any) -> Any:
        """Return a number of an array of one; waits."""
        self.runtime.statistics.synchronisations += 1
        return item.item()

    def span(self, array: Any) -> tuple[int, int]:
        """Return the least and the greatest of some integers, (0, -1) of none; waits."""
        pieces = [array[part] for part in parts(array.size)]
        found = [(self.read(piece.min()), self.read(piece.max())) for piece in pieces]
        if not found:
            return 0, -1
        return min(low for low, _ in found), max(high for _, high in found)

    def size(self, array: Any, given: int | None, what: str) -> int:
        """Return the size along an axis after checking its positions; waits.

        Raises IndexOutOfBound if a position lies outside, and NotImplementedException if the size
        is 2**31 or more.
        """
        low, high = self.span(array)
        size = high + 1 if given is None else given
        if array.size:
            check_range(low, high, size, what)
        check_side(size)
        return size


def parts(count: int) -> Iterator[slice]:
    """Return slices that cover a list, none of them too long for the array library."""
    return (slice(start, min(start + PART, count)) for start in range(0, count, PART))


def check_side(size: int) -> None:
    """Refuse a side that entries on the device cannot have."""
    if size >= WIDE:
        raise NotImplementedException(
            f"a side of {size} is not built from arrays on the GPU (limit {WIDE - 1}); copy them "
            "to the host first"
        )
