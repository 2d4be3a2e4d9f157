"""Regions bound to a Program: checked and uploaded before the launch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.backends.cuda.runtime.device import Runtime
from semira.backends.cuda.runtime.objects import CudaMatrix
from semira.backends.cuda.runtime.parts import Buffer
from semira.base.errors import IndexOutOfBound
from semira.contract import Program, Statement, walk_statements


@dataclass(slots=True)
class BoundRegion:
    """Positions along one axis: ``start, start + step, ...``, or a list in device memory."""

    #: Positions of the region as the caller gave it.
    count: int
    #: Positions a kernel walks: fewer if the list of an assign names some twice.
    walked: int
    #: First and last, or least and greatest position; empty if there is none.
    extremes: tuple[int, ...] = ()
    start: int = 0
    step: int = 1
    #: Positions, and their numbers inside the region if some were left out.
    lists: list[Buffer] = field(default_factory=list)
    #: The region as it was bound.
    given: Any = ()

    def positions(self) -> NDArray[np.int64]:
        """Return all positions on the host."""
        if isinstance(self.given, tuple):
            return np.arange(*self.given, dtype=np.int64)
        return np.asarray(self.given, np.int64)

    def describe(self) -> list[int]:
        """Return the words of its RegionDescriptor."""
        pointers = [int(buffer.handle) for buffer in self.lists]
        return [*pointers, *[0] * (2 - len(pointers)), self.start, self.step, self.walked]


def bind_regions(runtime: Runtime, program: Program, things: list[Any]) -> None:
    """Replace the regions in `things` by `BoundRegion`."""
    for statement in walk_statements(program.body):
        for spec in statement.indices:
            if spec.slot is not None and not isinstance(things[spec.slot], BoundRegion):
                is_written = statement.op == "assign"
                things[spec.slot] = _bound(runtime, things[spec.slot], is_written)
    for number, slot in enumerate(program.slots):
        if slot.kind == "index" and not isinstance(things[number], BoundRegion):
            # No statement uses it.
            things[number] = BoundRegion(0, 0)


def check_regions(program: Program, things: list[Any]) -> dict[int, int]:
    """Check every region against the axis it indexes, now that all objects are there.

    Return slots of regions and the lengths of what they index; the least, if that is several axes.
    Raises IndexOutOfBound if a region names a position that the object it indexes does not have.
    """
    lengths: dict[int, int] = {}
    for statement in walk_statements(program.body):
        for axis, spec in enumerate(statement.indices):
            if spec.slot is None:
                continue
            size = _axis_length(statement, things, axis)
            lengths[spec.slot] = min(size, lengths.get(spec.slot, size))
            for position in things[spec.slot].extremes:
                if not 0 <= position < size:
                    raise IndexOutOfBound(f"index {position} is outside of [0, {size})")
    return lengths


def _axis_length(statement: Statement, things: list[Any], axis: int) -> int:
    arg = statement.args[0]
    is_written = statement.op == "assign"
    thing = things[statement.out if is_written else arg.slot]
    if isinstance(thing, CudaMatrix):
        flipped = not is_written and arg.transposed
        return thing.shape[1 - axis if flipped else axis]
    return int(thing.size)


def _bound(runtime: Runtime, given: Any, is_written: bool) -> BoundRegion:
    if isinstance(given, tuple):
        positions = range(*given)
        extremes = (positions[0], positions[-1]) if positions else ()
        return BoundRegion(
            len(positions), len(positions), extremes, given[0], given[2], given=given
        )
    array = np.asarray(given)
    extremes = (int(array.min()), int(array.max())) if len(array) else ()
    if len(array) == 1:
        return BoundRegion(1, 1, extremes, int(array[0]), 1, given=array)
    kept = last_mentions(array) if is_written else None
    parts = [array] if kept is None else [array[kept], kept]
    lists = [runtime.upload(part.astype(np.int32)) for part in parts]
    return BoundRegion(len(array), len(parts[0]), extremes, lists=lists, given=array)


def last_mentions(array: NDArray[Any]) -> NDArray[np.int64] | None:
    """Return where each position stands for the last time; None if none stands twice."""
    if bool(np.all(array[1:] > array[:-1])):
        return None
    _, from_the_end = np.unique(array[::-1], return_index=True)
    if len(from_the_end) == len(array):
        return None
    return np.asarray(np.sort(len(array) - 1 - from_the_end), np.int64)
