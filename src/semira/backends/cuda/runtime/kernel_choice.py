"""Which kernel a launch takes: the program's own, or that of a variant that pays by now."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from semira.backends.cuda.lower import LaunchShape, Lowered
from semira.backends.cuda.lower.variants import VariantPull
from semira.backends.cuda.runtime import free_memory
from semira.backends.cuda.runtime.device import Runtime
from semira.backends.cuda.runtime.executable import CudaExecutable
from semira.backends.cuda.runtime.kernel import Kernel
from semira.backends.cuda.runtime.objects import CudaMatrix
from semira.backends.cuda.runtime.room import UNCHECKED
from semira.backends.cuda.runtime.shares import MEAN_SHORT, gathers_many
from semira.base.errors import OutOfMemory
from semira.contract import variant_part

#: Entries of matrices from which a launch waits for its optimised kernel.
MANY = 1 << 21

#: A copy is made only if this many times its size is free: others need memory too.
SPARE_ROOM = 2


@dataclass(frozen=True, slots=True)
class LaunchFacts:
    """What a variant is asked about."""

    runtime: Runtime
    #: Of the program, all that may have it.
    pulls: Sequence[VariantPull]
    #: What slots are bound to.
    things: list[Any]
    #: Returns the shape of the launch without variants. It may wait.
    shape: Callable[[], LaunchShape]


class Choice(NamedTuple):
    """What a variant answers."""

    #: Of its kernel; None: it is not ready, or refused.
    shape: LaunchShape | None = None
    #: Bytes of dynamic shared memory; None: what the kernel takes without the variant.
    shared: int | None = None
    #: Whether a later run may find more.
    is_open: bool = False


def choose_kernel(
    runtime: Runtime, executable: CudaExecutable, things: list[Any], offset_type: str
) -> tuple[Kernel, int, bool]:
    """Return the kernel of a launch, its dynamic shared memory, and whether a later run may differ.

    Makes what variants read, where they pay.
    """
    lowered, is_open = executable.lowered, False
    is_small = _is_small(things)
    shape = functools.cache(lambda: _shape_for(lowered, things))
    for name in dict.fromkeys(pull.variant for pull in lowered.variants):
        pulls = [pull for pull in lowered.variants if pull.variant == name]
        part = variant_part(name, "cuda")
        choice: Choice = part.choose(LaunchFacts(runtime, pulls, things, shape))
        is_open = is_open or choice.is_open
        if choice.shape is None:
            continue
        key = (offset_type, choice.shape)
        kernel, is_quick = executable.kernels.get(runtime, key, is_small=is_small)
        if choice.shared is None:
            return kernel, _shared_of(kernel, lowered, things), is_open or is_quick
        # Else it does not fit a multiprocessor.
        if choice.shared <= kernel.shared:
            return kernel, choice.shared, is_open or is_quick
    kernel, is_quick = executable.kernels.get(runtime, (offset_type, shape()), is_small=is_small)
    return kernel, _shared_of(kernel, lowered, things), is_open or is_quick


def _is_small(things: list[Any]) -> bool:
    """Return whether a launch takes less time than a compiler, even if it is hardly optimised."""
    return sum(thing.most for thing in things if isinstance(thing, CudaMatrix)) < MANY


def _shared_of(kernel: Kernel, lowered: Lowered, things: list[Any]) -> int:
    if lowered.kept_room and kernel.shared > lowered.room and _are_short(lowered, things):
        return lowered.room
    return kernel.shared


def _shape_for(lowered: Lowered, things: list[Any]) -> LaunchShape:
    """Return the shape of a launch: that of the program, unless it gathers or scatters much."""
    if lowered.shape != LaunchShape():
        return lowered.shape
    walked = {slot for slot, _ in lowered.sliced} | lowered.scattered
    if not any(gathers_many(things[slot].nrows, things[slot].most) for slot in walked):
        return lowered.shape
    lanes = {things[slot].lanes_of_lines(side) for slot, side in lowered.sliced}
    # One kernel has one way.
    if len(lanes) != 1 or 0 in lanes:
        return LaunchShape.for_many_gathers()
    return LaunchShape.for_short_rows(lanes.pop())


def _are_short(lowered: Lowered, things: list[Any]) -> bool:
    """Return whether no pull keeps tiles, since rows are short: L1 gets that memory."""
    walked = [(things[slot], side) for slot, side in lowered.sliced]
    # The longest row is asked for where the mean leaves it open.
    may_be = all(each.most <= MEAN_SHORT * each.sides(side)[0] for each, side in walked)
    return may_be and all(each.lanes_of_lines(side) for each, side in walked)


def is_early(pull: VariantPull, products: float, things: list[Any]) -> bool:
    """Return whether too few products are done or sure to come; count those of this run."""
    coming = sum(1 if limit is None else _limit(things[limit]) for limit in pull.limits)
    counted, key = things[pull.slot].companions.products, (pull.variant, pull.orientation)
    done = counted.get(key, 0)
    counted[key] = done + coming
    return bool(done + coming < products)


def _limit(thing: Any) -> int:
    """Return how often a loop runs at most; 1 where only the device knows."""
    return max(0, int(thing.word)) if getattr(thing, "has", False) and thing.cell is None else 1


def require_spare(runtime: Runtime, needed: int) -> None:
    """Refuse what would leave others too little.

    Raises OutOfMemory; the message names the bytes that are needed and free.
    """
    if needed <= UNCHECKED:
        return
    free = free_memory.free_bytes(runtime)
    if SPARE_ROOM * needed > free:
        raise OutOfMemory(f"{SPARE_ROOM} x {needed} bytes on the GPU should be free, {free} are")
