"""Where device memory comes from: the device's pool, and two allocators that tests put in place."""

from __future__ import annotations

from typing import Any, Protocol

from semira.backends.cuda.runtime.errors import check
from semira.base.errors import OutOfMemory


class Allocator(Protocol):
    """What `Runtime.allocate` asks for memory."""

    def allocate(self, nbytes: int) -> Any:
        """Return a buffer of at least `nbytes` bytes."""
        ...


class Pool:
    """The device's stream-ordered pool; sizes are rounded up to whole 16-byte units."""

    def __init__(self, device: Any, stream: Any) -> None:
        self._device, self._stream = device, stream

    def allocate(self, nbytes: int) -> Any:
        """Return a buffer from the pool."""
        return self._device.allocate(max(16, -(-nbytes // 16) * 16), stream=self._stream)


class Exact:
    """One allocation of its own for every buffer, to the byte: sanitizers see each step outside.

    Freeing waits for the stream; a testing aid.
    """

    def __init__(self, driver: Any, stream: Any) -> None:
        self._resource = _synchronous_resource(driver, stream)

    def allocate(self, nbytes: int) -> Any:
        """Return a buffer of `nbytes` bytes; of one byte if there are none."""
        return self._resource.allocate(max(1, nbytes))


class Failing:
    """Refuses the `number`-th request from now on, counted from 0, and then no other."""

    def __init__(self, inner: Allocator, number: int) -> None:
        self._inner, self._left = inner, number

    @property
    def has_failed(self) -> bool:
        """Whether the request was made."""
        return self._left < 0

    def allocate(self, nbytes: int) -> Any:
        """Return a buffer of the inner allocator.

        Raises
        ------
        OutOfMemory
            It is this request's turn.
        """
        self._left -= 1
        if self._left == -1:
            raise OutOfMemory("refused by a test")
        return self._inner.allocate(nbytes)


def _synchronous_resource(driver: Any, stream: Any) -> Any:
    from cuda.core import Buffer, MemoryResource

    class Synchronous(MemoryResource):  # type: ignore[misc,unused-ignore]
        def allocate(self, size: int, *, stream: Any = None) -> Any:
            del stream
            place = check(driver.cuMemAlloc(size), f"allocating {size} bytes")
            return Buffer.from_handle(int(place), size, mr=self, stream=queue)

        def deallocate(self, ptr: Any, size: int, *, stream: Any = None) -> None:
            del stream
            queue.sync()
            check(driver.cuMemFree(int(ptr)), f"freeing {size} bytes")

        @property
        def is_device_accessible(self) -> bool:
            return True

        @property
        def is_host_accessible(self) -> bool:
            return False

        @property
        def device_id(self) -> int:
            return 0

    queue = stream
    return Synchronous()
