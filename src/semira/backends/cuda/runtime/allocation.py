"""Testing aids: memory to the byte, and memory that runs out at a chosen request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from semira.base.errors import OutOfMemory

if TYPE_CHECKING:
    from semira.backends.cuda.runtime.device import Runtime


def be_exact(runtime: Runtime) -> None:
    """Let every buffer from now on be one allocation of exactly its size, for sanitizers."""
    from semira.backends.cuda.runtime.memory import MemoryPolicy, open_memory

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
