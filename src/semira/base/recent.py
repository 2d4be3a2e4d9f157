"""A table of the entries added last."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Recent(dict[K, V]):
    """A dictionary that holds `limit` entries: the oldest go first, and `dropped` is told of each.

    Looking up is that of a dictionary, and no use of an entry: nothing is faster.

    Examples
    --------
    >>> kept = Recent(2)
    >>> kept[1] = kept[2] = kept[3] = True
    >>> list(kept)
    [2, 3]
    """

    def __init__(self, limit: int, dropped: Callable[[K, V], Any] | None = None) -> None:
        self.limit, self.dropped = limit, dropped

    def __setitem__(self, key: K, value: V) -> None:
        super().__setitem__(key, value)
        while len(self) > self.limit:
            try:
                oldest = next(iter(self))
                gone = self.pop(oldest)
            except (KeyError, RuntimeError, StopIteration):
                continue  # another thread adds or drops entries
            if self.dropped is not None:
                self.dropped(oldest, gone)
