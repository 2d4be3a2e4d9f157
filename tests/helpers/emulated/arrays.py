"""What the cuda backend uses of CuPy, on NumPy."""

from __future__ import annotations

import contextlib
import ctypes
import math
from collections.abc import Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np


class Place:
    """An address in memory that an owner keeps."""

    def __init__(self, ptr: int, owner: Any) -> None:
        self.ptr, self.memory = ptr, SimpleNamespace(place=ptr, owner=owner)

    def __add__(self, offset: int) -> Place:
        return Place(self.ptr + offset, self.memory.owner)


class Array(np.ndarray):
    """An array in memory of the emulated device."""

    owner: Any

    def __new__(
        cls, shape: Any, dtype: Any = float, memptr: Any = None, strides: Any = None
    ) -> Any:
        dtype = np.dtype(dtype)
        if memptr is None:
            return np.empty(shape, dtype).view(cls)
        # Like CuPy, without a look at how much memory there is.
        sizes = (shape,) if isinstance(shape, int) else tuple(shape)
        steps = zip(sizes, strides or (), strict=False)
        span = sum((size - 1) * step for size, step in steps) + dtype.itemsize
        span = max(1, span if strides else dtype.itemsize * math.prod(sizes))
        raw = (ctypes.c_uint8 * span).from_address(memptr.memory.place)
        raw.owner = memptr.memory.owner
        flat = np.frombuffer(raw, np.uint8)
        return np.ndarray(sizes, dtype, flat.data, strides=strides).view(cls)

    @property
    def data(self) -> Any:  # type: ignore[override]
        return Place(self.ctypes.data, self)

    def get(self) -> np.ndarray:
        """Return the values on the host."""
        return np.array(self)

    def sort(self, *given: Any, **named: Any) -> None:  # type: ignore[override]
        np.asarray(self).sort(*given, **named)

    def set(self, values: Any) -> None:
        """Copy from the host."""
        self[...] = values


class UnownedMemory:
    """Memory of somebody else."""

    def __init__(self, place: int, size: int, owner: Any, device_id: int = 0) -> None:
        self.place, self.size, self.owner, self.device_id = place, size, owner, device_id


class MemoryPointer:
    """The start of memory."""

    def __init__(self, memory: UnownedMemory, offset: int) -> None:
        assert offset == 0
        self.memory = memory


class Stream:
    """There is one, and it is done."""

    ptr = 1
    null: Any = None

    @classmethod
    def from_external(cls, stream: Any) -> Stream:
        del stream
        return cls()

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def synchronize(self) -> None:
        """Do nothing."""


@contextlib.contextmanager
def using_allocator(allocate: Any) -> Iterator[None]:
    """Do nothing: NumPy allocates."""
    del allocate
    yield


def _on_device(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_on_device, value))
    return value.view(Array) if isinstance(value, np.ndarray) else value


class Library(ModuleType):
    """NumPy under CuPy's name; arrays that it makes are `Array`."""

    def __init__(self) -> None:
        super().__init__("cupy")
        self.__spec__ = SimpleNamespace(name="cupy")  # type: ignore[assignment]
        self.ndarray = Array
        self.cuda = SimpleNamespace(
            UnownedMemory=UnownedMemory,
            MemoryPointer=MemoryPointer,
            Stream=Stream,
            using_allocator=using_allocator,
            get_current_stream=Stream,
        )

    def get_default_memory_pool(self) -> Any:
        """Return a pool that keeps nothing."""
        return SimpleNamespace(free_all_blocks=lambda: None)

    def asnumpy(self, array: Any) -> np.ndarray:
        """Return the values on the host."""
        return np.array(array)

    def argsort(self, keys: Any, kind: Any = None) -> Any:
        """Return the sorting permutation; equal keys keep their order."""
        assert kind in (None, "stable"), "CuPy sorts no other way"
        return np.argsort(np.asarray(keys), kind="stable").view(Array)

    def __getattr__(self, name: str) -> Any:
        found = getattr(np, name)
        if not callable(found) or isinstance(found, type):
            return found

        def call(*given: Any, **named: Any) -> Any:
            return _on_device(found(*given, **named))

        # What ufuncs do in place.
        vars(call)["at"] = getattr(found, "at", None)
        return call
