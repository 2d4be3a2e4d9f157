"""A CUDA driver without a GPU: memory is real, on the host; kernels are launched and do nothing.

For what the host does round a launch: binding, checks, tables, allocations, copies.
"""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum
from types import SimpleNamespace
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
import pytest

from semira.backends.cuda.backend import CudaBackend
from semira.backends.cuda.runtime import device as device_module
from semira.backends.cuda.runtime.device import Runtime
from semira.backends.cuda.runtime.executable import COMPLETED, RESULT, RESULT_WORDS
from semira.backends.cuda.runtime.kernel import Kernel

#: Memory that the device says it has.
TOTAL_BYTES = 16 << 30

#: What fresh memory holds, so that nobody relies on zeros.
GARBAGE = 0xA5


class Status(IntEnum):
    """Of a driver call."""

    CUDA_SUCCESS = 0
    CUDA_ERROR_INVALID_VALUE = 1
    CUDA_ERROR_NOT_READY = 600


@dataclass
class FakeBuffer:
    """Device memory that is host memory."""

    size: int
    is_closed: bool = False

    def __post_init__(self) -> None:
        self.memory = np.full(self.size + 128, GARBAGE, np.uint8)
        self.handle = -(-self.memory.ctypes.data // 128) * 128

    def close(self, stream: Any = None) -> None:
        del stream
        assert not self.is_closed, "a buffer was closed twice"
        self.is_closed = True


@dataclass
class Launch:
    """A launch as the driver was given it.

    Attributes
    ----------
    kernel : str
    blocks, threads, shared : int
    table : ndarray
        Copy of the words that the parameter points to.
    """

    kernel: str
    blocks: int
    threads: int
    shared: int
    table: Any


@dataclass
class FakeDriver:
    """The driver's functions that the runtime calls; counts them.

    Attributes
    ----------
    calls : list of str
        Names of the functions called.
    launches : list of Launch
    polls : int
        How often a stream says that it is busy.
    captures : bool
        Whether it says that it is captured.
    loop : tuple of int
        Iterations and reason that every loop reports.
    errors : list of dict
        Words of the result, by number, of the next launches of loops, which then report nothing.
    effect : callable or None
        What a launch does instead of its kernel; called with its table.
    bytes_sent : int
        Uploaded so far.
    living : WeakValueDictionary
        Buffers that nobody has closed or dropped, by address.
    """

    calls: list[str] = field(default_factory=list)
    launches: list[Launch] = field(default_factory=list)
    polls: int = 0
    captures: bool = False
    loop: tuple[int, int] = (3, 0)
    errors: list[dict[int, int]] = field(default_factory=list)
    effect: Callable[[Any], None] | None = None
    bytes_sent: int = 0
    CUresult = Status
    CU_MEMHOSTALLOC_PORTABLE, CU_MEMHOSTALLOC_DEVICEMAP = 1, 2

    def __post_init__(self) -> None:
        self._pinned: list[Any] = []
        self.living: WeakValueDictionary[int, FakeBuffer] = WeakValueDictionary()

    def is_alive(self, place: int) -> bool:
        """Return whether an address is the start of a buffer that was not given back."""
        found = self.living.get(place)
        return found is not None and not found.is_closed

    def CUstream(self, handle: int) -> int:
        return handle

    def _inside(self, place: int, nbytes: int) -> int:
        """Return an address, which with so many bytes lies in a buffer that was not given back."""

        def fits(buffer: FakeBuffer) -> bool:
            end = buffer.handle + buffer.size
            return not buffer.is_closed and buffer.handle <= place and place + nbytes <= end

        if not any(map(fits, self.living.values())):
            # Python's collector clears weak references before finalizers take objects back, as an
            # object's does that keeps its memory for the next one.
            gc.unfreeze()
            kept = (
                one for one in gc.get_objects() if issubclass(type(one), FakeBuffer) and fits(one)
            )
            found = next(kept, None)
            assert found is not None, f"{nbytes} bytes at {place:#x} are outside of every buffer"
            self.living[found.handle] = found
        return place

    def _copy(self, name: str, target: int, source: int, nbytes: int) -> tuple[Status]:
        self.calls.append(name)
        ctypes.memmove(target, source, nbytes)
        return (Status.CUDA_SUCCESS,)

    def cuMemcpyHtoDAsync(self, to: int, source: int, nbytes: int, _: Any) -> Any:
        self.bytes_sent += nbytes
        return self._copy("upload", self._inside(to, nbytes), source, nbytes)

    def cuMemcpyDtoHAsync(self, to: int, source: int, nbytes: int, _: Any) -> Any:
        return self._copy("download", to, self._inside(source, nbytes), nbytes)

    def cuMemcpyDtoDAsync(self, to: int, source: int, nbytes: int, _: Any) -> Any:
        places = self._inside(to, nbytes), self._inside(source, nbytes)
        return self._copy("move", *places, nbytes)

    def cuMemsetD8Async(self, to: int, byte: int, nbytes: int, _: Any) -> Any:
        self.calls.append("clear")
        ctypes.memset(self._inside(to, nbytes), byte, nbytes)
        return (Status.CUDA_SUCCESS,)

    def cuMemsetD16Async(self, to: int, unit: int, count: int, _: Any) -> Any:
        return self._fill(to, unit.to_bytes(2, "little"), count)

    def cuMemsetD32Async(self, to: int, unit: int, count: int, _: Any) -> Any:
        return self._fill(to, unit.to_bytes(4, "little"), count)

    def _fill(self, to: int, unit: bytes, count: int) -> tuple[Status]:
        self.calls.append("clear")
        ctypes.memmove(self._inside(to, len(unit) * count), unit * count, len(unit) * count)
        return (Status.CUDA_SUCCESS,)

    def cuDeviceTotalMem(self, _: int) -> Any:
        return Status.CUDA_SUCCESS, TOTAL_BYTES

    def cuStreamIsCapturing(self, _: Any) -> Any:
        return Status.CUDA_SUCCESS, int(self.captures)

    def cuMemHostAlloc(self, nbytes: int, _: int) -> Any:
        self.calls.append("pin")
        self._pinned.append(np.zeros(nbytes, np.uint8))
        return Status.CUDA_SUCCESS, self._pinned[-1].ctypes.data

    def cuStreamQuery(self, _: Any) -> Any:
        self.polls -= 1
        return (Status.CUDA_ERROR_NOT_READY if self.polls >= 0 else Status.CUDA_SUCCESS,)

    def cuLaunchCooperativeKernel(self, kernel: Any, *given: Any) -> tuple[Status]:
        self.calls.append("launch")
        (blocks, _, _, threads, _, _, shared, _, parameters) = given
        words, is_parameter, has_loop = kernel
        place = ctypes.cast(parameters, ctypes.POINTER(ctypes.c_uint64))[0]
        if not is_parameter:
            place = ctypes.cast(place, ctypes.POINTER(ctypes.c_uint64))[0]
        table = np.array((ctypes.c_int64 * words).from_address(place))
        self.launches.append(Launch("program", blocks, threads, shared, table))
        if self.effect is not None:
            self.effect(table)
        if not has_loop:
            return (Status.CUDA_SUCCESS,)
        place, nbytes = int(table[RESULT]), 8 * (RESULT_WORDS + 2)
        pinned = ((each.ctypes.data, each.nbytes) for each in self._pinned)
        assert any(p <= place and place + nbytes <= p + n for p, n in pinned), "no pinned memory"
        result = (ctypes.c_int64 * (RESULT_WORDS + 2)).from_address(place)
        if self.errors:
            for word, value in self.errors.pop(0).items():
                result[word] = value
        else:
            result[0], result[RESULT_WORDS], result[RESULT_WORDS + 1] = 1, *self.loop
            result[COMPLETED] = self.loop[0]
        return (Status.CUDA_SUCCESS,)


class FakeDevice:
    """A GPU with four multiprocessors."""

    name, arch = "no GPU", "90"
    properties = SimpleNamespace(
        cooperative_launch=True,
        multiprocessor_count=4,
        max_shared_memory_per_multiprocessor=228 << 10,
        max_shared_memory_per_block_optin=227 << 10,
    )

    def __init__(self, driver: FakeDriver) -> None:
        self._driver = driver
        self.allocations = 0

    def set_current(self) -> None:
        """Do nothing: there is one context."""

    def create_stream(self) -> Any:
        """Return a stream, which is always idle."""
        return SimpleNamespace(handle=1, sync=lambda: None)

    @property
    def memory_resource(self) -> FakeDevice:
        """What allocates."""
        return self

    def allocate(self, size: int, *, stream: Any) -> FakeBuffer:
        """Return memory."""
        del stream
        self.allocations += 1
        made = FakeBuffer(size)
        self._driver.living[made.handle] = made
        return made


@dataclass
class FakeCuda:
    """A cuda backend on the fake driver.

    Attributes
    ----------
    backend : CudaBackend
    driver : FakeDriver
    """

    backend: CudaBackend
    driver: FakeDriver

    def run(self, executable: Any, bindings: list[Any]) -> list[str]:
        """Execute; return what was asked of the driver meanwhile, allocations first."""
        device = self.backend.runtime.device
        before, start = device.allocations, len(self.driver.calls)
        self.backend.execute(executable, bindings)
        return ["allocate"] * (device.allocations - before) + self.driver.calls[start:]

    @property
    def table(self) -> Any:
        """Words of the last launch."""
        return self.driver.launches[-1].table


@pytest.fixture
def fake_cuda(monkeypatch: pytest.MonkeyPatch) -> FakeCuda:
    """Return a cuda backend that needs neither GPU nor compiler."""
    driver = FakeDriver()

    def load(
        runtime: Runtime, code: bytes, name: str, entry: str, threads: int, shared: int = 0
    ) -> Kernel:
        del runtime, entry
        words, is_parameter, has_loop = (int(part) for part in code.split())
        return Kernel(None, (words, bool(is_parameter), bool(has_loop)), 2, name, threads, shared)

    def compile_(runtime: Runtime, source: str, *given: Any) -> bytes:
        del given
        runtime.statistics.loaded += 1
        words = int(source.partition("sizeof(Table) == ")[2].partition(",")[0]) // 8
        is_parameter = "__grid_constant__" in source
        return f"{words} {int(is_parameter)} {int('journal.loop' in source)}".encode()

    def compile_program(runtime: Runtime, source: str, *given: Any, **how: Any) -> Any:
        del how
        return SimpleNamespace(code=compile_(runtime, source, *given), better=None)

    core = SimpleNamespace(Device=lambda number: FakeDevice(driver))
    monkeypatch.setattr(device_module, "_load", lambda: (driver, core))
    monkeypatch.setattr(Runtime, "load", load)
    monkeypatch.setattr(Runtime, "compile", compile_)
    monkeypatch.setattr(Runtime, "compile_program", compile_program)
    return FakeCuda(CudaBackend(), driver)
