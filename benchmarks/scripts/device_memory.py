"""Allocation policies for device buffers, compared by the script memory_policies."""

from __future__ import annotations

from collections import defaultdict
from enum import Enum
from typing import TYPE_CHECKING, Any

from cuda.core import Buffer, DeviceMemoryResource, DeviceMemoryResourceOptions, MemoryResource

from semira.backends.cuda.runtime.errors import check

if TYPE_CHECKING:
    from semira.backends.cuda.runtime.device import Runtime

#: Bytes that `MemoryPolicy.START` allocates at the start.
START_BYTES = 8 << 30

#: Size classes of reused buffers per power of two.
_STEPS = 4


class MemoryPolicy(Enum):
    """How memory is allocated and freed.

    OPERATION
        From the driver for every buffer (``cuMemAlloc``), and freed at once; both wait.
    POOL
        From a pool of the driver, in stream order; free memory goes back to the driver at every
        wait.
    KEPT
        From the driver's current pool, which keeps free memory. The default.
    START
        From a pool that took `START_BYTES` at the start and keeps everything.
    REUSE
        From lists of free buffers by size, kept here.
    """

    OPERATION = "operation"
    POOL = "pool"
    KEPT = "kept"
    START = "start"
    REUSE = "reuse"


def open_memory(runtime: Runtime, policy: MemoryPolicy) -> Any:
    """Return a memory resource for `Runtime.memory`."""
    if policy is MemoryPolicy.OPERATION:
        return DriverMemory(runtime)
    if policy is MemoryPolicy.REUSE:
        return ReusedMemory(runtime)
    if policy is MemoryPolicy.KEPT:
        return runtime.device.memory_resource
    pool = DeviceMemoryResource(runtime.device.device_id, DeviceMemoryResourceOptions())
    keep = policy is MemoryPolicy.START
    attribute = runtime.driver.CUmemPool_attribute.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD
    most = runtime.driver.cuuint64_t(2**64 - 1 if keep else 0)
    check(runtime.driver.cuMemPoolSetAttribute(pool.handle, attribute, most), "setting up a pool")
    if keep:
        pool.allocate(START_BYTES, stream=runtime.stream).close(runtime.stream)
    return pool


def peak_bytes(resource: Any) -> int:
    """Return the peak bytes that a resource held from the driver."""
    if isinstance(resource, DriverMemory):
        return resource.most_bytes
    return int(resource.attributes.reserved_mem_high)


class DriverMemory(MemoryResource):
    """Memory from ``cuMemAlloc``, a call for every buffer.

    Attributes
    ----------
    taken_bytes, most_bytes : int
        Held from the driver now, and at the peak.
    """

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self.taken_bytes = self.most_bytes = 0

    def allocate(self, size: int, *, stream: Any = None) -> Buffer:  # noqa: ARG002 - one stream
        """Return a new buffer."""
        return Buffer.from_handle(self._take(size), size, mr=self)

    def deallocate(self, ptr: Any, size: int, *, stream: Any = None) -> None:  # noqa: ARG002 - one stream
        """Free memory, after waiting for its users."""
        check(self._runtime.driver.cuMemFree(int(ptr)), f"freeing {size} bytes")
        self.taken_bytes -= size

    def _take(self, size: int) -> int:
        made = check(self._runtime.driver.cuMemAlloc(size), f"allocating {size} bytes")
        self.taken_bytes += size
        self.most_bytes = max(self.most_bytes, self.taken_bytes)
        return int(made)

    @property
    def is_device_accessible(self) -> bool:
        """Whether the device can read it."""
        return True

    @property
    def is_host_accessible(self) -> bool:
        """Whether the host can read it."""
        return False

    @property
    def device_id(self) -> int:
        """Number of the device."""
        return int(self._runtime.device.device_id)


class ReusedMemory(DriverMemory):
    """Free buffers by size; nothing goes back to the driver.

    A buffer may be reused while kernels still use it: there is one stream, on which they run
    before any work of the new owner.
    """

    def __init__(self, runtime: Runtime) -> None:
        super().__init__(runtime)
        self._free: dict[int, list[int]] = defaultdict(list)

    def allocate(self, size: int, *, stream: Any = None) -> Buffer:  # noqa: ARG002 - one stream
        """Return a free buffer of the size's step, or a new one."""
        listed = self._free[step_of(size)]
        place = listed.pop() if listed else self._take(step_of(size))
        return Buffer.from_handle(place, size, mr=self)

    def deallocate(self, ptr: Any, size: int, *, stream: Any = None) -> None:  # noqa: ARG002 - one stream
        """List a buffer as free."""
        self._free[step_of(size)].append(int(ptr))


def step_of(size: int) -> int:
    """Return the allocated size of a buffer of `size` bytes: at most a quarter more.

    Examples
    --------
    >>> [step_of(size) for size in (16, 17, 24, 33, 1000)]
    [16, 20, 24, 40, 1024]
    """
    size = max(size, 1 << _STEPS)
    step = (1 << (size - 1).bit_length() - 1) // _STEPS
    return -(-size // step) * step
