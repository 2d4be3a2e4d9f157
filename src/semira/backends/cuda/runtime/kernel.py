"""A loaded kernel as a launch needs it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Kernel:
    """One kernel of one cubin.

    Attributes
    ----------
    loaded : cuda.core.Kernel
        Keeps the cubin loaded; has the kernel's attributes.
    function : CUfunction
        What the driver launches.
    fitting : int
        Blocks that fit on one multiprocessor at once.
    name : str
        Of the program, for messages.
    threads : int
        Of a block.
    shared : int
        Bytes of dynamic shared memory that a block may ask for.
    """

    loaded: Any
    function: Any
    fitting: int
    name: str
    threads: int
    shared: int = 0
