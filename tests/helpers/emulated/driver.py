"""The driver's functions and `cuda.core`, on memory of the host."""

from __future__ import annotations

import ctypes
import functools
import tempfile
import time
import weakref
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from tests.helpers import emulated as emulated_package
from tests.helpers.emulated import operators
from tests.helpers.emulated.arrays import Library
from tests.helpers.emulated.build import PERMUTED, compile_for_host, compiler_version, emulator
from tests.helpers.fake_cuda import (
    GARBAGE,
    TOTAL_BYTES,
    FakeBuffer,
    FakeDevice,
    FakeDriver,
    Status,
)  # fmt: skip

from semira.backends.cuda.backend import CudaBackend
from semira.backends.cuda.build import exchange
from semira.backends.cuda.jit import compile as compiling
from semira.backends.cuda.jit import render
from semira.backends.cuda.runtime import device as device_module
from semira.backends.cuda.runtime.device import Runtime
from semira.backends.cuda.runtime.errors import translate

#: Of the emulated device; small, since every block of a cooperative launch is a thread of the host.
MULTIPROCESSORS, FITTING = 2, 2

#: Bytes round a buffer that nobody may write; gpu.cpp looks at them.
GUARD = 128

#: Parameters that a kernel may have.
WORDS = 24


class Failed:
    """The status of a launch that went wrong."""

    def __init__(self, why: str) -> None:
        self.name = f"CUDA_ERROR_LAUNCH_FAILED: {why}"


@dataclass(frozen=True)
class Entry:
    """What a kernel is to `emulated_launch`: addresses of functions.

    Attributes
    ----------
    typed : int
        Takes parameters by address, or 0.
    plain : int
        Takes parameters of 64 bits, or 0.
    variables : int
        Tells where the shared variables are.
    """

    typed: int
    plain: int
    variables: int


#: Kernels that were asked for, by handle.
_entries: dict[int, Entry] = {}


@functools.cache
def emulated() -> Any:
    """Return the functions of gpu.cpp."""
    library = ctypes.CDLL(str(emulator()), mode=ctypes.RTLD_GLOBAL)
    library.emulated_launch.restype = ctypes.c_char_p
    library.emulated_launch.argtypes = (
        (ctypes.c_void_p,) * 4 + (ctypes.c_uint,) * 3 + (ctypes.c_int,) * 3
    )
    library.emulated_guard.restype = None
    library.emulated_guard.argtypes = ctypes.c_void_p, ctypes.c_int64
    library.emulated_buffer.restype = ctypes.c_void_p
    library.emulated_buffer.argtypes = (ctypes.c_void_p,)
    library.emulated_wait_for.restype = None
    library.emulated_wait_for.argtypes = (ctypes.c_double,)
    return library


def _address_of(function: Any) -> int:
    address = ctypes.cast(function, ctypes.c_void_p).value
    assert address is not None
    return address


@dataclass(frozen=True)
class HostKernel:
    """A kernel of a library, by its address."""

    handle: int

    attributes = SimpleNamespace(shared_size_bytes=0, num_regs=0, local_size_bytes=0)
    occupancy = SimpleNamespace(max_active_blocks_per_multiprocessor=lambda *_: FITTING)


class HostCode:
    """A library of kernels."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library

    @classmethod
    def from_cubin(cls, code: bytes, *, name: str = "") -> HostCode:
        """Load a library."""
        del name
        emulated()
        with tempfile.NamedTemporaryFile(suffix=".so", delete=False) as file:
            file.write(code)
        try:
            library = ctypes.CDLL(file.name)
        finally:
            Path(file.name).unlink()
        operators.connect(library)
        return cls(library)

    def get_kernel(self, name: str) -> HostKernel:
        """Return a kernel."""
        is_typed = hasattr(self._library, "emulated_entry")
        symbol = _address_of(getattr(self._library, "emulated_entry" if is_typed else name))
        variables = _address_of(self._library.emulated_variables)
        places = (symbol, 0) if is_typed else (0, symbol)
        _entries[symbol] = Entry(*places, variables)
        return HostKernel(symbol)


class EmulatedDriver(FakeDriver):
    """Launches run, and are over when the call returns."""

    CUfunction_attribute = SimpleNamespace(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES=8)
    CUmemPool_attribute = SimpleNamespace(
        CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT=0, CU_MEMPOOL_ATTR_USED_MEM_CURRENT=1
    )
    #: Threads, blocks and calls go round the other way.
    backwards = False

    def is_alive(self, place: int) -> bool:
        return place in _sizes

    def _inside(self, place: int, nbytes: int) -> int:
        start = emulated().emulated_buffer(place)
        is_fit = start is not None and place + nbytes <= start + _sizes.get(start, -1)
        assert is_fit, f"{nbytes} bytes at {place:#x} are outside of every buffer"
        return place

    def _run(self, kernel: int, parameters: Any, grid: tuple[int, int, int], together: int) -> Any:
        entry = _entries[kernel]
        permuted = PERMUTED in render.defines
        why = emulated().emulated_launch(
            entry.typed, entry.plain, parameters, entry.variables,
            *grid, together, self.backwards, permuted,
        )  # fmt: skip
        return (Status.CUDA_SUCCESS if why is None else Failed(why.decode()),)

    def start(
        self,
        kernel: Any,
        name: str,
        grid: tuple[int, int, int],
        words: list[int],
        *,
        together: bool = False,
    ) -> None:
        """Run a kernel of parameters with 64 bits, all blocks at the same time if so asked."""
        assert len(words) <= WORDS
        given = (ctypes.c_int64 * WORDS)(*words)
        (status,) = self._run(kernel, ctypes.addressof(given), grid, int(together))
        if status:
            raise translate(status.name, f"starting kernel {name}")

    def cuLaunchCooperativeKernel(self, kernel: Any, *given: Any) -> Any:
        blocks, _, _, threads, _, _, shared, _, parameters = given
        if _entries[kernel].plain:
            # Told the words themselves. Such kernels have one parameter where blocks run together.
            place = ctypes.cast(parameters, ctypes.POINTER(ctypes.c_int64))[0]
            words = (ctypes.c_int64 * WORDS)(ctypes.c_int64.from_address(place).value)
            parameters = ctypes.addressof(words)
        return self._run(kernel, parameters, (blocks, threads, shared), 1)

    def CUkernel(self, handle: Any) -> Any:
        return handle

    def CUdevice(self, number: int) -> int:
        return number

    def CUfunction(self, handle: Any) -> Any:
        return handle

    def cuKernelGetFunction(self, kernel: Any) -> Any:
        return Status.CUDA_SUCCESS, kernel

    def cuFuncSetAttribute(self, *_: Any) -> Any:
        return (Status.CUDA_SUCCESS,)

    def cuKernelSetAttribute(self, *_: Any) -> Any:
        return (Status.CUDA_SUCCESS,)

    def cuMemGetInfo(self) -> Any:
        return Status.CUDA_SUCCESS, 8 << 30, 16 << 30

    def cuDeviceGetMemPool(self, _: int) -> Any:
        return Status.CUDA_SUCCESS, 0

    def cuMemPoolGetAttribute(self, *_: Any) -> Any:
        return Status.CUDA_SUCCESS, 0

    def cuDriverGetVersion(self) -> Any:
        return Status.CUDA_SUCCESS, 0


#: Bytes of the buffers that nobody has closed or dropped, by address.
_sizes: dict[int, int] = {}


def _forget(place: int) -> None:
    _sizes.pop(place, None)
    emulated().emulated_guard(place, -1)


class GuardedBuffer(FakeBuffer):
    """Device memory with bytes on both sides that kernels may not write."""

    def __post_init__(self) -> None:
        self.memory = np.full(self.size + 3 * GUARD, GARBAGE, np.uint8)
        self.handle = -(-(self.memory.ctypes.data + GUARD) // GUARD) * GUARD
        emulated().emulated_guard(self.handle, self.size)
        _sizes[self.handle] = self.size
        # Not when the buffer itself is finalised: the collector of cycles does that to buffers that
        # somebody else's finaliser keeps. It does not look at arrays.
        weakref.finalize(self.memory, _forget, self.handle).atexit = False

    def close(self, stream: Any = None) -> None:
        """Give the memory back; whoever reads it yet finds no values."""
        super().close(stream)
        self.memory.fill(GARBAGE)
        _sizes.pop(self.handle, None)


class EmulatedDevice(FakeDevice):
    """A GPU with few multiprocessors."""

    name, arch = "emulated on the host", "host"
    device_id = 0
    properties = SimpleNamespace(
        cooperative_launch=True,
        multiprocessor_count=MULTIPROCESSORS,
        max_shared_memory_per_multiprocessor=228 << 10,
        max_shared_memory_per_block_optin=227 << 10,
        max_threads_per_multiprocessor=2048,
    )

    def create_stream(self) -> Any:
        """Return a stream, which is always idle."""
        return _Stream()

    def allocate(self, size: int, *, stream: Any) -> FakeBuffer:
        """Return memory."""
        del stream
        if size > TOTAL_BYTES:
            raise RuntimeError("CUDA_ERROR_OUT_OF_MEMORY")
        return GuardedBuffer(size)


class _Stream:
    """A stream that is always done."""

    handle = 1

    def sync(self) -> None:
        pass

    def wait(self, other: Any) -> None:
        pass

    def record(self, options: Any = None) -> _Event:
        del options
        return _Event(1e3 * time.perf_counter())


@dataclass(frozen=True)
class _Event:
    """A time of the host, in milliseconds."""

    time: float

    def sync(self) -> None:
        pass

    def __sub__(self, other: _Event) -> float:
        return self.time - other.time


def _start(
    runtime: Runtime, function: Any, name: str, grid: tuple[int, int, int], words: list[int]
) -> None:
    """Take the place of `Runtime.start`: the driver here cannot know how many words there are."""
    runtime.driver.start(function, name, grid, words)
    runtime.statistics.launches += 1


def install() -> None:
    """Let device ``cuda`` of this process be the emulation."""
    import sys

    from benchmarks.scripts import device_memory as memory

    driver = EmulatedDriver()
    core = SimpleNamespace(
        Device=lambda number: EmulatedDevice(driver),
        ObjectCode=HostCode,
        EventOptions=lambda **_: None,
    )
    device_module._load = lambda: (driver, core)
    Runtime.start = _start
    compiling.compile_source = compile_for_host
    compiling.compiler_version = compiler_version
    # What a test does not ask for is not compiled.
    CudaBackend.expect = lambda *_: None
    # Every buffer is an allocation of its own.
    memory.open_memory = lambda runtime, policy: runtime.device.memory_resource
    sys.modules["cupy"] = Library()
    # The stream that arrays are handed over on.
    exchange._stream = lambda handle: _Stream()
    emulated_package.is_installed = True
