"""One GPU: its stream, its memory, and the count of what the host had to wait for."""

from __future__ import annotations

import ctypes
import os
import threading
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.backends.cuda.jit.compile import Compiled, compile_cached
from semira.backends.cuda.jit.render import PROGRAM
from semira.backends.cuda.runtime import free_memory
from semira.backends.cuda.runtime.errors import DRIVER, check, reported, translate, unavailable
from semira.backends.cuda.runtime.kernel import Kernel
from semira.backends.cuda.runtime.profile import Profile, read_attribute
from semira.backends.cuda.runtime.spare import MOST_BYTES, Spares
from semira.base.errors import OutOfMemory, Panic

#: Bytes of copies of one value that the host makes.
REPEATED = 4096

#: Bytes of page-locked memory that short requests share, and where each of them begins.
PINNED, LINE = 1 << 18, 128

#: Bytes that `Runtime.read_short` reads at the most.
LANDING = 128

#: Parts of the device's memory: what is kept of released objects, and the largest vector that has
#: both of its planes from the start and whose memory is kept.
SPARE_SHARE, PAIRED_SHARE = 64, 1024

#: The largest such vector on a small device.
PAIRED = 1 << 20


@dataclass(slots=True)
class Statistics:
    """What a backend has done since it was opened."""

    #: Times the host waited for the device.
    synchronisations: int = 0
    #: Kernels started; tables sent.
    launches: int = 0
    uploads: int = 0
    #: Kernels compiled, and kernels taken from the cache on disk.
    compiled: int = 0
    loaded: int = 0
    #: Requests for device memory, CuPy's included; bytes asked for, whatever was given back since.
    allocations: int = 0
    bytes_allocated: int = 0


class Runtime:
    """Device 0, opened. Not usable in a forked child."""

    def __init__(self) -> None:
        self.statistics = Statistics()
        self._pid = os.getpid()
        self._driver, self._core = _load()
        # The driver starts meanwhile, and most algorithms need it.
        threading.Thread(target=_import_array_library, name="semira-import").start()
        try:
            self.device = self._core.Device(0)
            self.device.set_current()
        except Exception as error:
            raise unavailable(f"the driver does not start ({error})", DRIVER) from error
        if not self.device.properties.cooperative_launch:
            reason = f"{self.device.name} has no cooperative launch"
            raise unavailable(reason, "use another GPU, or device='cpu'")
        #: Where buffers come from: the driver's pool unless replaced.
        self.memory: Any = self.device.memory_resource
        #: The base kernels, once something needed them.
        self.primitives: Any = None
        #: Takes every launch while there is one; a benchmarking aid.
        self.profile: Profile | None = None
        #: Whether every buffer of an object is an allocation of its own, so that a sanitizer sees
        #: each step outside of it; a testing aid.
        self.keeps_apart = False
        total = int(check(self._driver.cuDeviceTotalMem(0), "asking for the device's memory"))
        #: Memory of objects that were released.
        self.spares = Spares(max(MOST_BYTES, total // SPARE_SHARE))
        #: Vectors of at most so many bytes, both planes together, have both from the start, in
        #: memory that goes to `spares`.
        self.paired_bytes = max(PAIRED, total // PAIRED_SHARE)
        #: Sizes of buffers are rounded up to multiples of it; 1 with the exact testing aid.
        self.unit = 16
        #: Page-locked memory for results of loops that nobody uses.
        self.results: list[NDArray[np.int64]] = []
        self._pinned: tuple[int, int] = (0, 0)
        self._landing: int | None = None
        self.stream = self.device.create_stream()
        self.side_stream = self.device.create_stream()
        self.stream_handle = int(self.stream.handle)
        self._queue = self._driver.CUstream(self.stream_handle)
        self._not_ready = self._driver.CUresult.CUDA_ERROR_NOT_READY
        self.arch = f"sm_{self.device.arch}"
        self.multiprocessors = self.device.properties.multiprocessor_count
        #: Bytes of shared memory that a multiprocessor has for its blocks.
        self.shared = int(self.device.properties.max_shared_memory_per_multiprocessor)

    def check_process(self) -> None:
        """Raise in a forked child, where the parent's context does not work."""
        if os.getpid() != self._pid:
            raise Panic("a CUDA context does not survive fork; open the device in the child")
        self.device.set_current()

    @property
    def driver(self) -> Any:
        """The driver's bindings."""
        return self._driver

    def describe(self) -> dict[str, str]:
        """Return the names of the GPU, its architecture and the driver's CUDA version."""
        version = int(check(self._driver.cuDriverGetVersion(), "asking the driver's version"))
        driver = f"{version // 1000}.{version % 1000 // 10}"
        return {"gpu": self.device.name, "arch": self.arch, "driver_cuda": driver}

    # kernels ---------------------------------------------------------------------------------
    def compile(self, source: str, name: str, offset_type: str, root: str = PROGRAM) -> bytes:
        """Return the cubin of generated source; counted."""
        return self._counted(compile_cached(source, name, self.arch, offset_type, root)).code

    def compile_program(
        self, source: str, name: str, offset_type: str, *, may_be_quick: bool
    ) -> Compiled:
        """Return the cubin of a Program's kernel; counted."""
        return self._counted(
            compile_cached(source, name, self.arch, offset_type, may_be_quick=may_be_quick)
        )

    def _counted(self, compiled: Compiled) -> Compiled:
        if compiled.was_cached:
            self.statistics.loaded += 1
        else:
            self.statistics.compiled += 1
        return compiled

    def open_code(self, code: bytes, name: str) -> Any:
        """Return a cubin, which has kernels by name."""
        return self._core.ObjectCode.from_cubin(code, name=name)

    def load(self, code: bytes, name: str, entry: str, threads: int, shared: int = 0) -> Kernel:
        """Return a kernel of a cubin, to be launched with `threads` threads a block.

        `shared` are bytes of dynamic shared memory that a block may ask for; none
        (`Kernel.shared`) if there is not so much beside what the kernel declares.
        """
        with reported(f"loading kernel {name}"):
            loaded = self.open_code(code, name).get_kernel(entry)
            declared = read_attribute(loaded.attributes, "shared_size_bytes") if shared else 0
        if declared + shared > self.device.properties.max_shared_memory_per_block_optin:
            return Kernel(loaded, None, 0, name, threads)
        if shared:
            self.grant_shared(loaded, shared)
        with reported(f"loading kernel {name}"):
            fitting = loaded.occupancy.max_active_blocks_per_multiprocessor(threads, shared)
        kernel = self._driver.CUkernel(int(loaded.handle))
        function = check(self._driver.cuKernelGetFunction(kernel), f"loading kernel {name}")
        if shared:
            # The function is another handle than the kernel, and is what will be launched.
            status = self._driver.cuFuncSetAttribute(function, self._dynamic_shared, shared)
            check(status, f"asking for {shared} bytes of shared memory")
        return Kernel(loaded, function, int(fitting), name, threads, shared)

    def launch(
        self, kernel: Kernel, blocks: int, threads: int, parameters: int, shared: int = 0
    ) -> None:
        """Start a cooperative launch; `parameters` is the address of pointers to them."""
        (status,) = self._driver.cuLaunchCooperativeKernel(
            kernel.function, blocks, 1, 1, threads, 1, 1, shared, self._queue, parameters
        )
        if status:
            what = f"starting kernel {kernel.name} with {blocks} blocks of {threads}"
            raise translate(status.name, what)
        self.statistics.launches += 1

    def startable(self, loaded: Any) -> Any:
        """Return a kernel as what `start` takes.

        The driver's launch takes kernels for functions; what was granted to a kernel
        (`grant_shared`) holds for it, not for a function of it that was asked for before.
        """
        return self._driver.CUfunction(int(loaded.handle))

    def start(self, function: Any, name: str, grid: tuple[int, int, int], words: list[int]) -> None:
        """Start a plain launch of a kernel whose parameters all have 64 bits.

        The grid is its blocks, and the threads and bytes of shared memory of each.
        """
        blocks, threads, shared = grid
        count = len(words)
        values = (ctypes.c_int64 * count)(*words)
        first = ctypes.addressof(values)
        places = (ctypes.c_int64 * count)(*range(first, first + 8 * count, 8))
        (status,) = self._driver.cuLaunchKernel(
            function, blocks, 1, 1, threads, 1, 1, shared, self._queue,
            ctypes.addressof(places), 0,
        )  # fmt: skip
        if status:
            raise translate(status.name, f"starting kernel {name} with {blocks} blocks")
        self.statistics.launches += 1

    # memory ----------------------------------------------------------------------------------
    def allocate(self, nbytes: int) -> Any:
        """Return a buffer of at least `nbytes` bytes, rounded up to whole units.

        Raises OutOfMemory if there is not so much left; the message has the bytes needed and those
        free.
        """
        size = max(self.unit, -(-nbytes // self.unit) * self.unit)
        try:
            buffer = self.memory.allocate(size, stream=self.stream)
        except Exception as error:
            # Not `reported`, which takes as long as the allocation itself.
            refusal = self._refusal(size, error)
            # The driver's own refusal: what a test refuses is refused.
            is_short = isinstance(refusal, OutOfMemory) and not isinstance(error, OutOfMemory)
            if not is_short or not self.spares.give_back(self.stream):
                raise refusal from error
            return self.allocate(nbytes)
        self.statistics.allocations += 1
        self.statistics.bytes_allocated += nbytes
        return buffer

    def _refusal(self, size: int, error: Exception) -> Exception:
        if not isinstance(error, OutOfMemory):
            translated = translate(str(error), f"allocating {size} bytes")
            if not isinstance(translated, OutOfMemory):
                return translated
        free = free_memory.free_bytes(self)
        return OutOfMemory(
            f"the GPU's memory is used up: {size} bytes are needed, {free} are free; "
            "release objects or use device='cpu'"
        )

    def upload(self, array: NDArray[Any], target: Any = None, offset: int = 0) -> Any:
        """Copy a host array to `target` (new if None) and return the buffer."""
        buffer = self.allocate(array.nbytes) if target is None else target
        if array.nbytes:
            contiguous = np.ascontiguousarray(array)
            place = int(buffer.handle) + offset
            self.send(place, _address(contiguous), contiguous.nbytes)
        return buffer

    def upload_image(self, image: bytearray, buffer: Any, offset: int = 0) -> None:
        """Copy bytes into a buffer; they may be changed once this returns."""
        memory = ctypes.c_char.from_buffer(image)
        self.send(int(buffer.handle) + offset, ctypes.addressof(memory), len(image))

    def send(self, place: int, source: int, nbytes: int) -> None:
        """Copy bytes to the GPU, from and to addresses; a few may be changed once this returns."""
        (status,) = self._driver.cuMemcpyHtoDAsync(place, source, nbytes, self._queue)
        if status:
            raise translate(status.name, f"copying {nbytes} bytes to the GPU")

    def download(self, buffer: Any, dtype: Any, count: int, offset: int = 0) -> NDArray[Any]:
        """Return `count` values of a buffer; waits for the stream."""
        array = self._fetch(int(buffer.handle) + offset, dtype, count)
        self.synchronise()
        return array

    def read_short(self, buffer: Any, nbytes: int, offset: int = 0) -> bytes:
        """Return bytes of a buffer, `LANDING` at most; waits for the stream.

        They come through page-locked memory that stays, which one thread at a time uses: that with
        the backend's lock.
        """
        if self._landing is None:
            self._landing = int(self.pinned(LANDING // 8).ctypes.data)
        (status,) = self._driver.cuMemcpyDtoHAsync(
            self._landing, int(buffer.handle) + offset, nbytes, self._queue
        )
        if status:
            raise translate(status.name, f"copying {nbytes} bytes from the GPU")
        self.synchronise()
        return ctypes.string_at(self._landing, nbytes)

    def download_all(self, *wanted: tuple[Any, Any, int]) -> list[NDArray[Any]]:
        """Return the first values of several buffers, each (buffer, dtype, count); waits once."""
        arrays = [self._fetch(int(buffer.handle), dtype, count) for buffer, dtype, count in wanted]
        self.synchronise()
        return arrays

    def _fetch(self, place: int, dtype: Any, count: int) -> NDArray[Any]:
        """Return an array that has its values once the stream was waited for."""
        array = np.empty(count, dtype)
        if array.nbytes:
            status = self._driver.cuMemcpyDtoHAsync(
                array.ctypes.data, place, array.nbytes, self._queue
            )
            check(status, f"copying {array.nbytes} bytes from the GPU")
        return array

    def copy(self, buffer: Any) -> Any:
        """Return a copy of a buffer."""
        target = self.allocate(buffer.size)
        self.move(buffer, target, 0, buffer.size)
        return target

    def move(self, source: Any, target: Any, offset: int, nbytes: int) -> None:
        """Copy bytes from the start of one buffer into another."""
        if nbytes:
            status = self._driver.cuMemcpyDtoDAsync(
                int(target.handle) + offset, int(source.handle), nbytes, self._queue
            )
            check(status, f"copying {nbytes} bytes on the GPU")

    def zeroed(self, nbytes: int) -> Any:
        """Return a buffer of zeros."""
        buffer = self.allocate(nbytes)
        self.clear(buffer)
        return buffer

    def clear(self, buffer: Any, byte: int = 0, nbytes: int | None = None) -> None:
        """Fill a buffer, or its first `nbytes` bytes, with zeros or another byte."""
        count = buffer.size if nbytes is None else nbytes
        if count:
            self._fill(self._driver.cuMemsetD8Async, buffer, byte, count)

    def _fill(self, fill: Any, buffer: Any, unit: int, count: int) -> None:
        (status,) = fill(int(buffer.handle), unit, count, self._queue)
        if status:
            raise translate(status.name, f"filling {count} places of {buffer.size} bytes")

    def repeat(self, value: NDArray[Any], buffer: Any) -> None:
        """Fill a buffer with copies of one value.

        By the driver where the value is one of its units, or two that are equal; else a block from
        the host is doubled.
        """
        image = value.tobytes()
        if len(image) == 8 and image[:4] == image[4:]:
            image = image[:4]
        driver = self._driver
        fills = {1: driver.cuMemsetD8Async, 2: driver.cuMemsetD16Async, 4: driver.cuMemsetD32Async}
        fill = fills.get(len(image))
        if fill is not None:
            unit = int.from_bytes(image, "little")
            self._fill(fill, buffer, unit, buffer.size // len(image))
            return
        count = min(buffer.size // value.nbytes, max(1, REPEATED // value.nbytes))
        self.upload(np.repeat(value, count), buffer)
        done = count * value.nbytes
        while done < buffer.size:
            step = min(done, buffer.size - done)
            self.move(buffer, buffer, done, step)
            done += step

    def pinned(self, words: int) -> NDArray[np.int64]:
        """Return page-locked 64-bit words that the device can write; freed with the process.

        Short ones share what is locked at a time: locking takes longer than a launch.
        """
        nbytes = -(-8 * words // LINE) * LINE
        if nbytes > PINNED // 8:
            place = self._lock_pages(nbytes)
        else:
            place, left = self._pinned
            if nbytes > left:
                place, left = self._lock_pages(PINNED), PINNED
            self._pinned = place + nbytes, left - nbytes
        raw = (ctypes.c_int64 * words).from_address(place)
        array = np.ctypeslib.as_array(raw)
        array[:] = 0
        return array

    def _lock_pages(self, nbytes: int) -> int:
        """Return the address of new page-locked memory."""
        flags = self._driver.CU_MEMHOSTALLOC_PORTABLE | self._driver.CU_MEMHOSTALLOC_DEVICEMAP
        made = self._driver.cuMemHostAlloc(nbytes, flags)
        return int(check(made, f"locking {nbytes} bytes of memory"))

    def poke(self, buffer: Any, offset: int, word: NDArray[np.int64]) -> None:
        """Write pinned words into a buffer now, past everything queued on the main stream."""
        check(
            self._driver.cuMemcpyHtoDAsync(
                int(buffer.handle) + offset,
                word.ctypes.data,
                word.nbytes,
                self._driver.CUstream(int(self.side_stream.handle)),
            ),
            "stopping a loop",
        )

    def grant_shared(self, kernel: Any, nbytes: int) -> None:
        """Let the blocks of a kernel ask for `nbytes` of dynamic shared memory."""
        device = self._driver.CUdevice(self.device.device_id)
        status = self._driver.cuKernelSetAttribute(
            self._dynamic_shared, nbytes, kernel.handle, device
        )
        check(status, f"asking for {nbytes} bytes of shared memory")

    @property
    def _dynamic_shared(self) -> Any:
        """The driver's name of the dynamic shared memory that a block may ask for."""
        return self._driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES

    # order -----------------------------------------------------------------------------------
    def synchronise(self) -> None:
        """Wait for everything on the stream; counted."""
        self.statistics.synchronisations += 1
        try:
            self.stream.sync()
        except Exception:
            with reported("waiting for the GPU"):
                raise

    def is_capturing(self) -> bool:
        """Return whether what is started now is recorded and not run."""
        state = check(self._driver.cuStreamIsCapturing(self._queue), "asking about a capture")
        return int(state) != 0

    def is_idle(self) -> bool:
        """Return whether everything on the stream has run."""
        (status,) = self._driver.cuStreamQuery(self._queue)
        if status and status != self._not_ready:
            raise translate(status.name, "waiting for the GPU")
        return not status

    def mark(self) -> Any:
        """Return a timing event, or None unless launches are profiled."""
        if self.profile is None:
            return None
        with reported("recording an event"):
            return self.stream.record(options=self._core.EventOptions(timing_enabled=True))

    def note_launch(self, start: Any, name: str, *facts: Any) -> None:
        """Add a launch since `start`, which `mark` gave, to the profile; see `Profile.add`."""
        if self.profile is not None and start is not None:
            self.profile.add(name, (start, self.mark()), *facts)

    def open_profile(self) -> Profile:
        """Return an empty profile that takes the launches from now on."""
        self.profile = Profile(int(self.device.properties.max_threads_per_multiprocessor))
        return self.profile


def _address(array: NDArray[Any]) -> int:
    """Return where an array's bytes lie."""
    if array.flags.writeable:
        memory: Any = array
        return ctypes.addressof(ctypes.c_char.from_buffer(memory))
    return int(array.ctypes.data)


#: The version of CUDA that a driver must know, as it tells its own.
_LEAST_DRIVER = 13_000


def _import_array_library() -> None:
    """Import CuPy: a quarter of a second. Whoever needs it says what is wrong with it."""
    with suppress(Exception):
        import cupy
        import cupy.cuda.thrust  # noqa: F401 - what it sorts with


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
        reason = "its libraries are installed, but no NVIDIA driver (libcuda) was found"
        raise unavailable(reason, DRIVER) from error
    failed, version = driver.cuDriverGetVersion()
    found = f"{version // 1000}.{version % 1000 // 10}"
    if not failed and version < _LEAST_DRIVER:
        raise unavailable(f"the NVIDIA driver found is for CUDA {found}", DRIVER)
    if status.name == "CUDA_ERROR_NO_DEVICE":
        raise unavailable("the NVIDIA driver finds no GPU", "use device='cpu'")
    if status != driver.CUresult.CUDA_SUCCESS:
        reason = f"the NVIDIA driver found, for CUDA {found}, does not start ({status.name})"
        raise unavailable(reason, DRIVER)
    return driver, cuda.core
