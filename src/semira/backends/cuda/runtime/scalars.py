"""Scalars: in device memory, or bound by value."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import numpy as np

from semira.backends.cuda.runtime.device import Runtime
from semira.backends.cuda.runtime.parts import Buffer
from semira.base.dtypes import DataType

#: Stamps of objects: one for each state of the buffers of each object, none twice.
stamps = count(1)

#: Bytes of the cell of a value that fits one word.
CELL_BYTES = 16

#: Bytes of a value that a literal holds itself; a larger one gets a cell.
LITERAL_BYTES = 8


@dataclass(slots=True, eq=False)
class CudaScalar:
    """A scalar: one cell, its value's bytes in whole words and whether there is one."""

    runtime: Runtime
    dtype: DataType
    cell: Any
    device: str = "cuda"
    kind: str = "scalar"
    stamp: int = field(default_factory=stamps.__next__)
    #: The host knows that there is one; False: only the device knows.
    has_value: bool = False
    #: Whether the cell goes to `Runtime.spares` when it is released.
    is_reused: bool = False
    #: Whether the cell holds what the scalar does. An empty one is sent when somebody first looks
    #: for it there: most are written before.
    is_sent: bool = True
    #: The stamp that it had when the host last knew of a value in this cell.
    valued: int = 0
    #: What its cell is part of with memory of other objects, and where (`bundle.Bundle`).
    bundle: Any = None
    place: int = 0

    def know(self, has_value: bool) -> None:
        """Note that a launch writes it, and whether there is a value for sure then.

        Launches that relied on a value are filled anew.
        """
        if self.has_value and not has_value:
            self.valued, self.stamp = self.stamp, next(stamps)
        self.has_value, self.is_sent = has_value, True

    def describe(self) -> array[int]:
        """Return the words of its ScalarDescriptor."""
        self.send()
        return array("q", (int(self.cell.handle), 0, 0))

    def send(self) -> None:
        """Let the cell hold what the scalar does."""
        if not self.is_sent:
            self.runtime.upload_image(bytearray(cell_bytes(self.dtype)), self.cell)
            self.is_sent = True

    def release(self) -> None:
        """Give the cell back, once; `reused` returns the scalar with it."""
        if not self.stamp:
            return
        stamp, self.stamp = self.stamp, 0
        if self.bundle is not None:
            self.bundle.take_back(self.runtime, self.place, (self, stamp))
            return
        spares, stream = self.runtime.spares, self.runtime.stream
        if self.is_reused and spares.give(id(self.dtype), (self, stamp), self.cell, stream):
            return
        self.cell.close(stream)

    @classmethod
    def reused(cls, runtime: Runtime, dtype: DataType, *, has_value: bool) -> CudaScalar | None:
        """Return a released scalar of a dtype with its cell, of unknown contents; None without."""
        found: tuple[CudaScalar, int] | None = runtime.spares.take(id(dtype))
        if found is None or found[0].dtype is not dtype:
            return None
        scalar, stamp = found
        scalar.begin(stamp, has_value=has_value)
        scalar.is_sent = has_value
        return scalar

    def begin(self, stamp: int, *, has_value: bool) -> None:
        """Be a scalar again that was released with a stamp."""
        self.stamp = stamp
        self.know(has_value)
        if has_value:
            # For launches that relied on the value before it is as it was.
            self.stamp = self.valued or stamp

    def memory_usage(self) -> dict[str, int]:
        """Return the bytes of its buffers, together."""
        return {"buffers": sum(int(buffer.size) for buffer in self.buffers())}

    def buffers(self) -> list[Any]:
        """Return every buffer."""
        return [self.cell]

    def duplicate(self) -> CudaScalar:
        """Return a copy."""
        self.send()
        cell = self.runtime.copy(self.cell)
        return CudaScalar(self.runtime, self.dtype, cell, has_value=self.has_value)

    def become(self, other: CudaScalar) -> None:
        """Take the cell of a copy made earlier."""
        self.cell, self.has_value, self.stamp = other.cell, other.has_value, next(stamps)
        self.is_reused, self.is_sent, self.valued, self.bundle = False, other.is_sent, 0, None


@dataclass(slots=True)
class Literal:
    """A scalar bound by value, or a temporary one."""

    #: Bytes of a value that fits one.
    word: int
    has: bool
    #: Holds a value that needs more than a word.
    cell: Buffer | None = None

    @classmethod
    def bound(cls, runtime: Runtime | None, dtype: DataType, value: Any) -> Literal:
        """Return the literal of a value; None stands for an empty one.

        `runtime` may be None for values of at most `LITERAL_BYTES`.
        """
        if value is None:
            return cls(0, has=False)
        image = scalar_image(dtype, dtype.scalar(value))
        if len(image) > CELL_BYTES:
            assert runtime is not None, "a value that needs a cell needs memory for it"
            return cls(0, has=True, cell=runtime.upload(np.frombuffer(image, np.int64)))
        return cls(int.from_bytes(image[:8], "little", signed=True), has=True)

    def describe(self) -> list[int]:
        """Return the words of its ScalarDescriptor."""
        return [0 if self.cell is None else int(self.cell.handle), self.word, int(self.has)]


def cell_bytes(dtype: DataType) -> int:
    """Return the size of a scalar's cell: the value in whole words, then whether it has one."""
    return 8 * -(-dtype.itemsize // 8) + 8


def scalar_image(dtype: DataType, value: Any) -> bytearray:
    """Return the bytes of a scalar's cell."""
    image = bytearray(cell_bytes(dtype))
    if value is not None:
        enter_value(image, 0, len(image) - 8, dtype, value)
    return image


def enter_value(image: bytearray, start: int, flag: int, dtype: DataType, value: Any) -> None:
    """Enter the value of a cell, and that it has one."""
    is_exact = dtype.kind != "V" and value.__class__ is dtype.array_dtype.type
    held = (value if is_exact else np.array(value, dtype.array_dtype)).tobytes()
    image[start : start + len(held)] = held
    image[flag] = 1
