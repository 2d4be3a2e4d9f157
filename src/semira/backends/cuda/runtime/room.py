"""Whether something fits before any of it is allocated."""

from __future__ import annotations

import sys

from semira.backends.cuda.runtime import free_memory
from semira.backends.cuda.runtime.device import Runtime
from semira.base.errors import OutOfMemory

#: Smaller requests are left to the allocator: asking the driver costs more than they are worth.
UNCHECKED = 2**24


def fit_together(runtime: Runtime, *requests: int) -> bool:
    """Return whether buffers of these sizes fit; small ones are left to the allocator."""
    return max(requests) <= UNCHECKED or fits(runtime, sum(requests))


def spendable(runtime: Runtime) -> int:
    """Return the bytes that work in rounds may take: half of what is free.

    Free memory may lie in pieces, and what follows needs some.
    """
    return free_memory.free_bytes(runtime) // 2


def require(
    runtime: Runtime, needed: int, what: str, remedy: str = "release objects or use device='cpu'"
) -> None:
    """Refuse what does not fit, before any of it is allocated.

    Raises OutOfMemory; the message names the bytes that are needed and free, and the remedy.
    """
    if not fits(runtime, needed):
        free = free_memory.free_bytes(runtime)
        raise OutOfMemory(f"{what} needs {needed} bytes on the GPU and {free} are free; {remedy}")


def fits(runtime: Runtime, needed: int) -> bool:
    """Return whether `needed` bytes can be allocated once unused memory is given back."""
    if needed <= UNCHECKED or needed <= free_memory.free_bytes(runtime):
        return True
    # What was released may still be queued, or kept for other objects; CuPy keeps it as well.
    runtime.spares.give_back(runtime.stream)
    runtime.synchronise()
    library = sys.modules.get("cupy")
    if library is not None:
        library.get_default_memory_pool().free_all_blocks()
    return needed <= free_memory.free_bytes(runtime)
