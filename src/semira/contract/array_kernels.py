"""Kernels over plain arrays, which applications bring: where their texts are, how they start."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np


@dataclass(frozen=True, slots=True, eq=False)
class KernelText:
    """A kernel by the files that hold it, in a package of its application; equal to itself only."""

    package: str
    #: ``file.py`` has a function `name` of ``(low, high, *arguments)``; ``file.cuh`` a template
    #: `name` of ``(items, arguments...)``.
    file: str
    name: str
    #: Threads of a GPU that share an item; 0: one thread, in a loop, after the kernel before.
    lanes: int = 1
    #: Threads of a block.
    threads: int = 256
    #: Blocks of a loop that a multiprocessor has room for at the same time; 0: any number.
    blocks: int = 0
    #: Hosts have nothing to do for it, and no function.
    skips_hosts: bool = False

    @property
    def place(self) -> str:
        """Package and file, as the back ends find texts."""
        return f"{self.package}:{self.file}"

    def module(self) -> ModuleType:
        """Return the Python module."""
        return _module(f"{self.package}.{self.file}")


@functools.cache
def _module(name: str) -> ModuleType:
    return importlib.import_module(name)


@dataclass(frozen=True, slots=True)
class WorkerArray:
    """Memory of its own for each worker: a thread of the host, a block of the GPU."""

    dtype: Any
    length: int
    #: What it holds when a worker begins; None: anything.
    fill: Any = None


class Launch(NamedTuple):
    """One call of a kernel."""

    items: int
    #: Arrays of the device, contiguous, and numbers.
    arguments: tuple[Any, ...]
    #: The last arguments of the kernel.
    scratch: tuple[WorkerArray, ...] = ()
    #: Entries that all items read together, or (on the host) an array of their running totals, by
    #: which items are shared out.
    work: Any = 0
    #: Returns more of them, which only hosts have; a template has memory of its own.
    host_scratch: Callable[[], Sequence[WorkerArray]] = tuple
    #: On hosts the last argument is an array of one item, which Ctrl-C makes 1.
    stops: bool = False
    #: Bytes of shared memory of each block of a GPU, beside what the template declares.
    shared: int = 0

    def on_host(self) -> tuple[WorkerArray, ...]:
        """Return what a worker of a host needs."""
        return (*self.scratch, *self.host_scratch())


#: Dtypes of the arrays that kernels take, and how C++ calls them.
ARRAY_DTYPES: dict[np.dtype[Any], str] = {
    np.dtype(name): text
    for name, text in (
        ("bool", "bool"), ("int8", "signed char"), ("uint8", "unsigned char"),
        ("int16", "short"), ("uint16", "unsigned short"), ("int32", "int"),
        ("uint32", "unsigned"), ("int64", "long long"), ("uint64", "unsigned long long"),
        ("float32", "float"), ("float64", "double"),
    )
}  # fmt: skip
