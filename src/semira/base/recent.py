"""A cache of the entries added last."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Recent(dict[K, V]):
    """A dictionary that holds a limited number of entries: the oldest go first.

    Reading is that of a dictionary and says nothing about age: a cache whose hits are counted in
    microseconds cannot pay for more.

    Parameters
    ----------
    limit : int
        Entries that are kept.
    dropped : callable, optional
        Called with the key and the value of each entry that had to go.

    Examples
    --------
    >>> kept = Recent(2)
    >>> for number in range(4):
    ...     kept[number] = str(number)
    >>> list(kept)
    [2, 3]
    """

    __slots__ = ("_dropped", "limit")

    def __init__(self, limit: int, dropped: Callable[[K, V], Any] | None = None) -> None:
        super().__init__()
        self.limit = limit
        self._dropped = dropped

    def __setitem__(self, key: K, value: V) -> None:
        """Add an entry, or replace its value, which leaves its age as it is."""
        super().__setitem__(key, value)
        while len(self) > self.limit:
            # Another thread may add or drop entries meanwhile.
            try:
                oldest = next(iter(self))
                gone = self.pop(oldest)
            except (KeyError, RuntimeError, StopIteration):
                continue
            if self._dropped is not None:
                self._dropped(oldest, gone)
