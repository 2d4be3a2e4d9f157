"""Testing aids: memory to the byte, memory that runs out at a chosen request, and a small GPU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.scripts.device_memory import MemoryPolicy, open_memory

from semira.base.errors import OutOfMemory

if TYPE_CHECKING:
    from semira.backends.cuda.runtime.device import Runtime


def be_exact(runtime: Runtime) -> None:
    """Let every buffer from now on be one allocation of exactly its size, for sanitizers."""
    runtime.memory = open_memory(runtime, MemoryPolicy.OPERATION)
    runtime.keeps_apart, runtime.unit = True, 1


class Failing:
    """Refuses the `number`-th request from now on, counted from 0, and then no other.

    Takes the place of `Runtime.memory`, whose requests it passes on.
    """

    def __init__(self, inner: Any, number: int) -> None:
        self._inner, self._left = inner, number

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    @property
    def has_failed(self) -> bool:
        """Whether the request was made."""
        return self._left < 0

    def allocate(self, size: int, *, stream: Any) -> Any:
        """Return a buffer of the inner resource.

        Raises
        ------
        OutOfMemory
            It is this request's turn.
        """
        self._left -= 1
        if self._left == -1:
            raise OutOfMemory("refused by a test")
        return self._inner.allocate(size, stream=stream)


class Limited:
    """Has `limit` bytes in all, those in use when it was made not counted.

    Takes the place of `Runtime.memory`, whose requests it passes on.

    Attributes
    ----------
    free, least : int
        Bytes that are left, and that were left at the least.
    """

    def __init__(self, inner: Any, limit: int) -> None:
        self._inner = inner
        self.free = self.least = limit

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def free_bytes(self) -> int:
        """Return the bytes that are left: what is planned by free memory goes by them."""
        return self.free

    def allocate(self, size: int, *, stream: Any) -> LimitedBuffer:
        """Return a buffer of the inner resource.

        Raises
        ------
        OutOfMemory
            Less is left.
        """
        if size > self.free:
            raise OutOfMemory("refused by a test")
        buffer = LimitedBuffer(self, self._inner.allocate(size, stream=stream), size)
        self.free -= size
        self.least = min(self.least, self.free)
        return buffer


class LimitedBuffer:
    """A buffer that says when it is given back, or dropped."""

    def __init__(self, owner: Limited, inner: Any, size: int) -> None:
        self._owner, self._inner, self.size = owner, inner, size
        self.handle, self.is_closed = int(inner.handle), False

    def close(self, stream: Any = None) -> None:
        """Give the memory back, once."""
        if not self.is_closed:
            self.is_closed = True
            self._inner.close(stream)
            self._owner.free += self.size

    def __del__(self) -> None:
        if not self.is_closed:
            self._owner.free += self.size
