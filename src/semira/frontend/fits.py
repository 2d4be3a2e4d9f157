"""Whether numbers of Python fit into the dtype of an object."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.base.dtypes import DataType
from semira.base.errors import InvalidValue


def misfit(value: Any, dtype: DataType) -> InvalidValue:
    """Return the error that says which numbers fit."""
    return InvalidValue(
        f"{value} does not fit into {dtype} (limits {dtype.smallest} .. {dtype.largest})"
    )


def check_written(value: Any, dtype: DataType) -> None:
    """Check that an integer of Python that is no INT64 fits where it is written.

    Smaller ones wrap in assignments, as they do in SuiteSparse.

    Raises
    ------
    InvalidValue
        It does not; the message has the limits.
    """
    if value.__class__ is not int or -(2**63) <= value < 2**63 or not dtype.is_integer:
        return
    if not dtype.smallest <= value <= dtype.largest:
        raise misfit(value, dtype)


def as_fitting(values: Any, dtype: DataType | None) -> NDArray[Any]:
    """Return values as an array; integers of Python must fit into an integer dtype.

    Arrays of NumPy are cast as everywhere else: they wrap.

    Raises
    ------
    InvalidValue
        One does not fit; the message names it and the limits.

    Examples
    --------
    >>> from semira.dtypes import INT8
    >>> as_fitting([1, 127], INT8).tolist()
    [1, 127]
    """
    array = np.asarray(values)
    is_array = isinstance(values, (np.ndarray, np.generic)) or hasattr(values, "__array__")
    if is_array or dtype is None or dtype.kind not in "IU" or array.dtype.kind not in "iu":
        return array
    for extreme in (array.min(), array.max()) if array.size else ():
        if not dtype.smallest <= int(extreme) <= dtype.largest:
            raise misfit(extreme, dtype)
    return array
