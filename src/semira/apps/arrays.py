"""Arrays of devices on the host."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def on_host(array: Any) -> NDArray[Any]:
    """Return an array of a device, or a list, as one of NumPy; without a copy if possible.

    Examples
    --------
    >>> on_host([1, 2]).tolist()
    [1, 2]
    """
    return np.asarray(array.get() if hasattr(array, "get") else array)
