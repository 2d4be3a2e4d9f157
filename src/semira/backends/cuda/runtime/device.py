"""One GPU: its stream, its memory, and the count of what the host had to wait for."""

from __future__ import annotations

import ctypes
import os
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.backends.cuda.runtime.allocation import Allocator, Pool
from semira.backends.cuda.runtime.errors import check, reported, unavailable
from semira.base.errors import OutOfMemory, Panic


@dataclass(slots=True)
class Statistics:
    """What a backend has done since it was opened.

    Attributes
    ----------
    synchronisations : int
        Times the host waited for the device.
    launches, uploads : int
        Kernels started; tables sent.
    compiled, loaded : int
        Kernels compiled, and kernels taken from the cache on disk.
    allocations, bytes_allocated : int
        Requests for device memory, CuPy's for sorts included; bytes asked for, whatever was
        given back since.
    """

    synchronisations: int = 0
    launches: int = 0
    uploads: int = 0
    compiled: int = 0
    loaded: int = 0
    allocations: int = 0
    bytes_allocated: int = 0


class Runtime:
    """Device 0, opened. Not usable in a forked child.

    Attributes
    ----------
    primitives : Primitives or None
        The base kernels, once something needed them.
    is_timed : bool
        Whether launches are bracketed by timing events; a benchmarking aid.
    launched : tuple of events
        Before and after the last launch, if `is_timed`.
    allocator : Allocator
        Where memory comes from; tests put others in place.
    """

    def __init__(self) -> None:
        self.statistics = Statistics()
        self._pid = os.getpid()
        self._driver, self._core = _load()
        try:
            self.device = self._core.Device(0)
            self.device.set_current()
        except Exception as error:
            raise unavailable(f"the driver does not start ({error})") from error
        if not self.device.properties.cooperative_launch:
            raise unavailable(f"{self.device.name} has no cooperative launch")
        self.primitives: Any = None
        self.is_timed = False
        self.launched: tuple[Any, Any] = (None, None)
        self.stream = self.device.create_stream()
        self.side_stream = self.device.create_stream()
        self.allocator: Allocator = Pool(self.device, self.stream)
        self.arch = f"sm_{self.device.arch}"
        self.multiprocessors = self.device.properties.multiprocessor_count

    def check_process(self) -> None:
        """Raise in a forked child, where the parent's context does not work."""
        if os.getpid() != self._pid:
            raise Panic("a CUDA context does not survive fork; open the device in the child")
        self.device.set_current()

    def describe(self) -> dict[str, str]:
        """Return the names of the GPU, its architecture and the driver's CUDA version."""
        version = int(check(self._driver.cuDriverGetVersion(), "asking the driver's version"))
        driver = f"{version // 1000}.{version % 1000 // 10}"
        return {"gpu": self.device.name, "arch": self.arch, "driver_cuda": driver}

    def snapshot(self) -> Statistics:
        """Return a copy of the statistics."""
        return replace(self.statistics)

    # memory ----------------------------------------------------------------------------------
    def allocate(self, nbytes: int) -> Any:
        """Return a buffer of at least `nbytes` bytes.

        Raises
        ------
        OutOfMemory
            There is not so much left; the message has the bytes needed and those free.
        """
        try:
            with reported(f"allocating {nbytes} bytes"):
                buffer = self.allocator.allocate(nbytes)
        except OutOfMemory as error:
            raise OutOfMemory(
                f"the GPU's memory is used up: {nbytes} bytes are needed, {self.free_bytes()} are "
                "free; release objects or use device='cpu'"
            ) from error
        self.statistics.allocations += 1
        self.statistics.bytes_allocated += nbytes
        return buffer

    def free_bytes(self) -> int:
        """Return the device memory that is free, what the pool holds in reserve included."""
        result = self._driver.cuMemGetInfo()
        check((result[0],), "asking for free memory")
        pool = getattr(self.device.memory_resource, "attributes", None)
        if pool is None:
            return int(result[1])
        return int(result[1]) + int(pool.reserved_mem_current) - int(pool.used_mem_current)

    def upload(self, array: NDArray[Any], target: Any = None, offset: int = 0) -> Any:
        """Copy a host array to `target` (new if None) and return the buffer."""
        buffer = self.allocate(array.nbytes) if target is None else target
        if array.nbytes:
            contiguous = np.ascontiguousarray(array)
            place = int(buffer.handle) + offset
            status = self._driver.cuMemcpyHtoDAsync(
                place, contiguous.ctypes.data, contiguous.nbytes, self._stream(self.stream)
            )
            check(status, f"copying {array.nbytes} bytes to the GPU")
        return buffer

    def download(self, buffer: Any, dtype: Any, count: int, offset: int = 0) -> NDArray[Any]:
        """Return `count` values of a buffer; waits for the stream."""
        array = np.empty(count, dtype)
        if array.nbytes:
            status = self._driver.cuMemcpyDtoHAsync(
                array.ctypes.data,
                int(buffer.handle) + offset,
                array.nbytes,
                self._stream(self.stream),
            )
            check(status, f"copying {array.nbytes} bytes from the GPU")
        self.synchronise()
        return array

    def copy(self, buffer: Any) -> Any:
        """Return a copy of a buffer."""
        target = self.allocate(buffer.size)
        with reported(f"copying {buffer.size} bytes on the GPU"):
            target.copy_from(buffer, stream=self.stream)
        return target

    def move(self, source: Any, target: Any, offset: int, nbytes: int) -> None:
        """Copy bytes from the start of one buffer into another."""
        if nbytes:
            status = self._driver.cuMemcpyDtoDAsync(
                int(target.handle) + offset, int(source.handle), nbytes, self._stream(self.stream)
            )
            check(status, f"copying {nbytes} bytes on the GPU")

    def zeroed(self, nbytes: int) -> Any:
        """Return a buffer of zeros."""
        buffer = self.allocate(nbytes)
        with reported(f"clearing {buffer.size} bytes"):
            buffer.fill(0, stream=self.stream)
        return buffer

    def pinned(self, words: int) -> NDArray[np.int64]:
        """Return page-locked 64-bit words that the device can write; freed with the process."""
        flags = self._driver.CU_MEMHOSTALLOC_PORTABLE | self._driver.CU_MEMHOSTALLOC_DEVICEMAP
        place = check(
            self._driver.cuMemHostAlloc(8 * words, flags), f"locking {8 * words} bytes of memory"
        )
        raw = (ctypes.c_int64 * words).from_address(int(place))
        array = np.ctypeslib.as_array(raw)
        array[:] = 0
        return array

    def poke(self, buffer: Any, offset: int, word: NDArray[np.int64]) -> None:
        """Write pinned words into a buffer now, past everything queued on the main stream."""
        check(
            self._driver.cuMemcpyHtoDAsync(
                int(buffer.handle) + offset,
                word.ctypes.data,
                word.nbytes,
                self._stream(self.side_stream),
            ),
            "stopping a loop",
        )

    # order -----------------------------------------------------------------------------------
    def synchronise(self) -> None:
        """Wait for everything on the stream; counted."""
        self.statistics.synchronisations += 1
        with reported("waiting for the GPU"):
            self.stream.sync()

    def record(self) -> Any:
        """Return an event after everything submitted so far."""
        with reported("recording an event"):
            return self.stream.record()

    def mark(self) -> Any:
        """Return a timing event, or None unless launches are timed."""
        if not self.is_timed:
            return None
        with reported("recording an event"):
            return self.stream.record(options=self._core.EventOptions(timing_enabled=True))

    def kernel_ms(self) -> float:
        """Return the device time of the last launch, which must have ended."""
        start, end = self.launched
        return float(end - start)

    def _stream(self, stream: Any) -> Any:
        return self._driver.CUstream(int(stream.handle))


def _load() -> tuple[Any, Any]:
    """Return the driver bindings and cuda.core, or say what is missing."""
    try:
        import cuda.core
        from cuda.bindings import driver
    except ImportError as error:
        raise unavailable(f"cuda.core is not installed ({error})") from error
    try:
        (status,) = driver.cuInit(0)
    except RuntimeError as error:
        raise unavailable(f"there is no NVIDIA driver ({error})") from error
    if status != driver.CUresult.CUDA_SUCCESS:
        raise unavailable(f"the NVIDIA driver does not start ({status.name})")
    return driver, cuda.core
