"""Products that are weighed before each call, and what is launched for each way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from semira.contract import Executable
from semira.plan import Beforehand

#: Counts whose way is kept for each kind of call.
_KEPT = 1024

#: Leading bits of a vector's entries that count: a rule takes much of what a call does, so that a
#: loop whose frontier is another each time asks it once for each eighth of a doubling.
_BITS = 4


def way_of(weighed: Beforehand, bound: Sequence[Any]) -> str:
    """Return the way of a product with what its slots are bound to.

    Empty where the host does not know how many entries an operand has.
    """
    counts = _counts(weighed, bound)
    return "" if counts is None else weighed.way(*counts)


class Ways:
    """The executables of one kind of call: for each way that it went, and for an open choice.

    `prepare` takes a way, or an empty text for the choice, and returns the executable.
    """

    __slots__ = ("_chosen", "_made", "_prepare", "_weighed")

    def __init__(self, weighed: Beforehand, prepare: Callable[[str], Executable]) -> None:
        self._weighed = weighed
        self._prepare = prepare
        self._made: dict[str, Executable] = {}
        self._chosen: dict[tuple[int, int, int, int] | None, str] = {None: ""}

    def executable_for(self, bound: Sequence[Any]) -> Executable:
        """Return what to execute with what slots are bound to; it is prepared the first time."""
        counts = _counts(self._weighed, bound)
        way = self._chosen.get(counts)
        if way is None:
            assert counts is not None
            if len(self._chosen) > _KEPT:
                self._chosen = {None: ""}
            way = self._chosen[counts] = self._weighed.way(*counts)
        executable = self._made.get(way)
        if executable is None:
            executable = self._made[way] = self._prepare(way)
        return executable


def _counts(weighed: Beforehand, bound: Sequence[Any]) -> tuple[int, int, int, int] | None:
    """Return the arguments of `Beforehand.way`, the first about, if the host knows them."""
    vector, matrix = bound[weighed.vector], bound[weighed.matrix]
    frontier, nnz = vector.last_count(), matrix.last_count()
    if frontier is None or nnz is None:
        return None
    less = max(0, frontier.bit_length() - _BITS)
    return frontier >> less << less, vector.shape[0], bound[weighed.out].shape[0], nnz
