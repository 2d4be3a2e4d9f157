"""Copies of a matrix that its products pay for: when there are enough of these, and enough room."""

from __future__ import annotations

from typing import Any, Protocol

from semira.backends.cuda.runtime import free_memory
from semira.backends.cuda.runtime.device import Runtime
from semira.backends.cuda.runtime.room import UNCHECKED
from semira.base.errors import OutOfMemory

#: A copy is made where so many times what it takes is free: others need memory too.
SPARE_ROOM = 2


class Pulls(Protocol):
    """Pulls over an orientation of a matrix (`lower.copies`)."""

    @property
    def slot(self) -> int:
        """Of the matrix."""

    @property
    def orientation(self) -> str:
        """Which one they walk."""

    @property
    def limits(self) -> tuple[int | None, ...]:
        """For each of them the slot of its loop's limit, or None: one product."""


def is_early(copy: str, pull: Pulls, products: int, things: list[Any]) -> bool:
    """Return whether too few products are done or sure to come; count those of this run."""
    coming = sum(1 if limit is None else _limit(things[limit]) for limit in pull.limits)
    counted, key = things[pull.slot].companions.products, (copy, pull.orientation)
    done = counted.get(key, 0)
    counted[key] = done + coming
    return bool(done + coming < products)


def _limit(thing: Any) -> int:
    """Return how often a loop runs at most; 1 where only the device knows."""
    return max(0, int(thing.word)) if getattr(thing, "has", False) and thing.cell is None else 1


def require_spare(runtime: Runtime, needed: int) -> None:
    """Refuse what would leave others too little.

    Raises
    ------
    OutOfMemory
        The message names the bytes that are needed and free.
    """
    if needed <= UNCHECKED:
        return
    free = free_memory.free_bytes(runtime)
    if SPARE_ROOM * needed > free:
        raise OutOfMemory(f"{SPARE_ROOM} x {needed} bytes on the GPU should be free, {free} are")
