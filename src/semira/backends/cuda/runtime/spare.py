"""Device memory of released objects, kept for the next objects of the same size.

A search makes a few vectors and scalars on each call, mostly as many as the call before released.
Kernels may still use what is taken again: they run before whatever the new owner submits, on the
one stream there is.
"""

from __future__ import annotations

from typing import Any

#: Bytes kept at the most where nobody says how large the device is.
MOST_BYTES = 8 << 20


class Spares:
    """Memory that nobody uses, by what it can hold; `most_bytes` of it at the most.

    What was given longest ago goes first: the graphs of last hour may have had other sizes.
    """

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        # The key that was given last is the last one.
        self._free: dict[Any, list[tuple[Any, Any, int]]] = {}
        self._bytes, self._most = 0, most_bytes

    def take(self, key: Any) -> Any:
        """Return memory that was given under this key, None if there is none."""
        listed = self._free.get(key)
        if not listed:
            return None
        memory, _, nbytes = listed.pop()
        self._bytes -= nbytes
        return memory

    def give(self, key: Any, memory: Any, buffer: Any, stream: Any) -> bool:
        """Keep memory that lies in a buffer; False if it is too much."""
        nbytes = int(buffer.size)
        if nbytes > self._most:
            return False
        listed = self._free.pop(key, None)
        self._free[key] = listed = [] if listed is None else listed
        listed.append((memory, buffer, nbytes))
        self._bytes += nbytes
        while self._bytes > self._most:
            self._drop_oldest(stream)
        return True

    def give_back(self, stream: Any) -> int:
        """Give everything back to where memory comes from; returns how many bytes that were."""
        given = self._bytes
        while self._free:
            self._drop_oldest(stream)
        return given

    def _drop_oldest(self, stream: Any) -> None:
        key = next(iter(self._free))
        listed = self._free[key]
        if listed:
            _, buffer, nbytes = listed.pop(0)
            self._bytes -= nbytes
            buffer.close(stream)
        if not listed:
            del self._free[key]
