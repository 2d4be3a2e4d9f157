"""Device memory of released objects, kept for the next objects of the same size.

A search makes a few vectors and scalars on each call, mostly as many as the call before released.
Kernels may still use what is taken again: they run before whatever the new owner submits, on the
one stream there is.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

#: Bytes kept at the most.
MOST_BYTES = 8 << 20


class Spares:
    """Memory that nobody uses, by what it can hold."""

    def __init__(self) -> None:
        self._free: dict[Any, list[Any]] = defaultdict(list)
        self._bytes = 0

    def take(self, key: Any) -> Any:
        """Return memory that was given under this key, None if there is none."""
        listed = self._free.get(key)
        if not listed:
            return None
        memory, nbytes = listed.pop()
        self._bytes -= nbytes
        return memory

    def give(self, key: Any, memory: Any, nbytes: int) -> bool:
        """Keep memory; False if there is too much of it already."""
        if self._bytes + nbytes > MOST_BYTES:
            return False
        self._bytes += nbytes
        self._free[key].append((memory, nbytes))
        return True
