"""Arrays of devices on the host, and whether more of them fit."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira import free_memory
from semira.exceptions import OutOfMemory


def on_host(array: Any) -> NDArray[Any]:
    """Return an array of a device, or a list, as one of NumPy; without a copy if possible.

    Examples
    --------
    >>> on_host([1, 2]).tolist()
    [1, 2]
    """
    return np.asarray(array.get() if hasattr(array, "get") else array)


def check_room(needed: int, device: str, what: str, remedy: str, *, least: int = 2**26) -> None:
    """Check that a device has so many bytes; of fewer than `least` it is not asked.

    Raises
    ------
    OutOfMemory
        It has not; the message says how many are needed, and free.
    """
    # Asking costs more than a small call.
    free = free_memory(device) if needed >= least else None
    if free is not None and needed > free:
        raise OutOfMemory(
            f"{what} take {needed:,} bytes, and {free:,} are free on {device}: {remedy}"
        )
