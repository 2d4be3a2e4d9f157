"""What ran on the device inside a block, how long it took, and what its kernels occupy."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol


class KernelOwner(Protocol):
    """What holds kernels: an executable, or a module of them."""

    @property
    def code_bytes(self) -> int:
        """Bytes of the cubins loaded."""

    @property
    def workspace_bytes(self) -> int:
        """Bytes of device memory that stay between executions."""


@dataclass(frozen=True, slots=True)
class KernelUse:
    """A kernel, or a library's call, that ran in a profiled block."""

    name: str
    launches: int
    #: Between events round each launch, summed.
    device_ms: float
    #: Of a thread, of a block, of a thread (spilled registers and arrays); None for a library.
    registers: int | None = None
    shared_bytes: int | None = None
    local_bytes: int | None = None
    #: Of a block, of the largest launch.
    threads: int | None = None
    blocks: int | None = None
    #: Blocks that fit on a multiprocessor at once.
    blocks_per_sm: int | None = None
    #: Their threads as a share of what a multiprocessor can hold.
    occupancy: float | None = None
    #: Of what the kernel belongs to: cubins, and memory kept between executions.
    code_bytes: int | None = None
    workspace_bytes: int | None = None


@dataclass(slots=True)
class _Launched:
    """Launches of one kernel."""

    kernel: Any
    owner: KernelOwner | None
    threads: int
    shared: int
    blocks: int = 0
    events: list[tuple[Any, Any]] = field(default_factory=list)


class Profile:
    """The launches of a block; read it after the device has been waited for."""

    def __init__(self, threads_per_sm: int) -> None:
        #: Threads that a multiprocessor holds.
        self.threads_per_sm = threads_per_sm
        self._launched: dict[tuple[str, int, int, int], _Launched] = {}

    def add(
        self, name: str, events: tuple[Any, Any], kernel: Any = None,
        owner: KernelOwner | None = None, blocks: int = 0, threads: int = 0, shared: int = 0,
    ) -> None:  # fmt: skip
        """Note a launch between two events; a library's call has no kernel.

        `shared` is what the launch asks for beside the bytes that the kernel declares. Launches of
        other shapes count apart.
        """
        key = name, id(kernel), threads, shared
        seen = self._launched.setdefault(key, _Launched(kernel, owner, threads, shared))
        seen.blocks = max(seen.blocks, blocks)
        seen.events.append(events)

    @property
    def device_ms(self) -> float:
        """Time of all launches together; idle time between them does not count."""
        return sum(_elapsed_ms(seen) for seen in self._launched.values())

    def kernels(self) -> list[KernelUse]:
        """Return what ran, longest first."""
        found = [self._use(name, seen) for (name, *_), seen in self._launched.items()]
        return sorted(found, key=lambda use: -use.device_ms)

    def _use(self, name: str, seen: _Launched) -> KernelUse:
        times = len(seen.events), _elapsed_ms(seen)
        if seen.kernel is None:
            return KernelUse(name, *times)
        registers, shared, local = (
            read_attribute(seen.kernel.attributes, each) for each in _ATTRIBUTES
        )
        fits = seen.kernel.occupancy.max_active_blocks_per_multiprocessor
        fitting = int(fits(seen.threads, seen.shared))
        owner = seen.owner
        return KernelUse(
            name, *times, registers, shared + seen.shared, local, threads=seen.threads,
            blocks=seen.blocks, blocks_per_sm=fitting,
            occupancy=fitting * seen.threads / self.threads_per_sm,
            code_bytes=None if owner is None else owner.code_bytes,
            workspace_bytes=None if owner is None else owner.workspace_bytes,
        )  # fmt: skip


#: Names in cuda.core of registers, shared and local bytes.
_ATTRIBUTES = ("num_regs", "shared_size_bytes", "local_size_bytes")


def read_attribute(attributes: Any, name: str) -> int:
    """Return an attribute of a kernel, a method in the first releases of cuda.core."""
    found = getattr(attributes, name)
    return int(found() if callable(found) else found)


def _elapsed_ms(seen: _Launched) -> float:
    return sum(float(end - start) for start, end in seen.events)
