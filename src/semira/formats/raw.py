"""Arrays as a caller gave them: what a device with memory of its own builds objects from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from semira.base.dtypes import DataType
from semira.base.errors import InvalidValue

LAYOUTS = ("coo", "csr", "csc", "dense")

#: Types of device that DLPack gives to memory of CUDA, ordinary and managed.
_DLPACK_CUDA = (2, 13)


@dataclass(frozen=True, slots=True, eq=False)
class RawArrays:
    """Arrays that nobody has checked or ordered, on the host or in a device's memory.

    Attributes
    ----------
    device : str
        The device that is to check and build, or that gave the arrays out.
    layout : {"coo", "csr", "csc", "dense"}
    shape : tuple of int or None
        One or two sizes. None: the largest index + 1, which only the device can read.
    indices : tuple of arrays
        coo: the positions along each axis, in any order; csr, csc: offsets, then indices, in any
        order within a line; dense: none.
    values : array
        One per entry, or (no dimensions) the one that all entries share; dense: of `shape`.
    dtype : DataType or None
        Dtype of the object; None: that of `values`.
    fold : callable or None
        Returns, for a dtype, the operator that folds the values of a repeated position in the
        order they were given. None: repeats are refused, unless all entries share one value.
    missing : scalar or None
        dense: positions that hold it have no entry.
    owned : bool
        The object may keep the arrays; nobody else writes to them.
    """

    device: str
    layout: str
    shape: tuple[int | None, ...]
    indices: tuple[Any, ...]
    values: Any
    dtype: DataType | None = None
    fold: Callable[[DataType], Any] | None = None
    missing: Any = None
    owned: bool = False


def on_gpu(given: Any) -> bool:
    """Whether an object is an array in the memory of a GPU, by either protocol.

    Examples
    --------
    >>> on_gpu(np.zeros(3)), on_gpu([1, 2])
    (False, False)
    """
    if isinstance(given, (np.ndarray, list, tuple, int, float, bool, np.generic)):
        return False
    if hasattr(given, "__cuda_array_interface__"):
        return True
    ask = getattr(given, "__dlpack_device__", None)
    return ask is not None and int(ask()[0]) in _DLPACK_CUDA


def shape_of(given: Any) -> tuple[int, ...]:
    """Return the shape of an array on a GPU; raises InvalidValue if it does not say."""
    interface = getattr(given, "__cuda_array_interface__", None)
    shape = getattr(given, "shape", None) if interface is None else interface["shape"]
    if shape is None:
        raise InvalidValue(
            f"a {type(given).__name__} on a GPU without a shape; copy it to the host first, for "
            "example with .cpu()"
        )
    return tuple(int(size) for size in shape)
