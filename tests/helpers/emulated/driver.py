"""The driver's functions and `cuda.core`, on memory of the host."""

from __future__ import annotations

import ctypes
import functools
import tempfile
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from tests.helpers.emulated.arrays import Library
from tests.helpers.emulated.build import compile_for_host, emulator
from tests.helpers.fake_cuda import GARBAGE, FakeBuffer, FakeDevice, FakeDriver, Status

from semira.backends.cuda.jit import compile as compiling
from semira.backends.cuda.runtime import device as device_module
from semira.backends.cuda.runtime.device import Runtime
from semira.backends.cuda.runtime.errors import translate

#: Of the emulated device; small, since every block of a cooperative launch is a thread of the host.
MULTIPROCESSORS, FITTING = 2, 2

#: Bytes round a buffer that nobody may write.
GUARD = 128

#: Parameters that a kernel may have.
WORDS = 24


class Failed:
    """The status of a launch that went wrong."""

    def __init__(self, why: str) -> None:
        self.name = f"CUDA_ERROR_LAUNCH_FAILED: {why}"


#: Addresses of kernels that take their parameters by address.
_typed: set[int] = set()


@functools.cache
def _launcher() -> Any:
    launch = ctypes.CDLL(str(emulator())).emulated_launch
    launch.restype = ctypes.c_char_p
    launch.argtypes = (ctypes.c_void_p,) * 3 + (ctypes.c_uint,) * 2 + (ctypes.c_int,) * 2
    return launch


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
        with tempfile.NamedTemporaryFile(suffix=".so", delete=False) as file:
            file.write(code)
        try:
            ctypes.CDLL(str(emulator()), mode=ctypes.RTLD_GLOBAL)
            return cls(ctypes.CDLL(file.name))
        finally:
            Path(file.name).unlink()

    def get_kernel(self, name: str) -> HostKernel:
        """Return a kernel."""
        is_typed = hasattr(self._library, "emulated_entry")
        symbol = getattr(self._library, "emulated_entry" if is_typed else name)
        address = ctypes.cast(symbol, ctypes.c_void_p).value
        assert address is not None
        if is_typed:
            _typed.add(address)
        return HostKernel(address)


class EmulatedDriver(FakeDriver):
    """Launches run, and are over when the call returns."""

    CUfunction_attribute = SimpleNamespace(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES=8)
    CUmemPool_attribute = SimpleNamespace(
        CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT=0, CU_MEMPOOL_ATTR_USED_MEM_CURRENT=1
    )
    #: Threads, blocks and calls go round the other way.
    backwards = False

    def _run(self, kernel: Any, parameters: Any, blocks: int, threads: int, alone: int) -> Any:
        typed, plain = (kernel, 0) if kernel in _typed else (0, kernel)
        why = _launcher()(typed, plain, parameters, blocks, threads, alone, int(self.backwards))
        if why is not None:
            return (Failed(why.decode()),)
        self.check_guards()
        return (Status.CUDA_SUCCESS,)

    def start(self, kernel: Any, name: str, grid: tuple[int, int, int], words: list[int]) -> None:
        """Run a kernel of parameters with 64 bits."""
        assert len(words) <= WORDS
        given = (ctypes.c_int64 * WORDS)(*words)
        (status,) = self._run(kernel, ctypes.addressof(given), *grid[:2], 0)
        if status:
            raise translate(status.name, f"starting kernel {name}")

    def check_guards(self) -> None:
        """Fail where something was written outside of a buffer."""
        for buffer in list(self.living.values()):
            if not buffer.is_closed:
                buffer.check()

    def cuLaunchCooperativeKernel(self, kernel: Any, *given: Any) -> Any:
        blocks, _, _, threads, _, _, _, _, parameters = given
        return self._run(kernel, parameters, blocks, threads, 1)

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


class GuardedBuffer(FakeBuffer):
    """Device memory with bytes on both sides that stay as they are."""

    def __post_init__(self) -> None:
        self.memory = np.full(self.size + 3 * GUARD, GARBAGE, np.uint8)
        self.handle = -(-(self.memory.ctypes.data + GUARD) // GUARD) * GUARD

    def check(self) -> None:
        """Fail if the bytes around it have changed."""
        start = self.handle - self.memory.ctypes.data
        around = self.memory[:start], self.memory[start + self.size :]
        assert all((part == GARBAGE).all() for part in around), (
            f"a kernel wrote outside of a buffer of {self.size} bytes"
        )


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
        made = GuardedBuffer(size)
        self._driver.living[made.handle] = made
        return made


class _Stream:
    """A stream that is always done."""

    handle = 1

    def sync(self) -> None:
        pass

    def wait(self, other: Any) -> None:
        pass


def _start(
    runtime: Runtime, function: Any, name: str, grid: tuple[int, int, int], words: list[int]
) -> None:
    """Take the place of `Runtime.start`: the driver here cannot know how many words there are."""
    runtime.driver.start(function, name, grid, words)
    runtime.statistics.launches += 1


def install() -> None:
    """Let device ``cuda`` of this process be the emulation."""
    import sys

    driver = EmulatedDriver()
    core = SimpleNamespace(Device=lambda number: EmulatedDevice(driver), ObjectCode=HostCode)
    device_module._load = lambda: (driver, core)
    Runtime.start = _start
    compiling._compile = compile_for_host
    sys.modules["cupy"] = Library()
