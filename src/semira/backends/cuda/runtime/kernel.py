"""A loaded kernel as a launch needs it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Kernel:
    """One kernel of one cubin."""

    #: A cuda.core.Kernel: keeps the cubin loaded; has the kernel's attributes.
    loaded: Any
    #: The CUfunction that the driver launches.
    function: Any
    #: Blocks that fit on one multiprocessor at once.
    fitting: int
    #: Of the program, for messages.
    name: str
    #: Of a block.
    threads: int
    #: Bytes of dynamic shared memory that a block may ask for.
    shared: int = 0
