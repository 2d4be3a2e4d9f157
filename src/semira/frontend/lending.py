"""Entries of objects as arrays in a device's memory."""

from __future__ import annotations

import math
from typing import Any

from semira.base.dtypes import infer_dtype, lookup_dtype, unify
from semira.engine import recording
from semira.formats import RawArrays
from semira.frontend.fits import as_fitting


def lend(operand: Any, layout: str, device: str, dtype: Any = None, **how: Any) -> RawArrays:
    """Return the entries of a matrix or vector operand on a device.

    Parameters
    ----------
    layout : "coo", "csr" or "csc"
    **how
        `copy`, `fill`: see `DeviceBackend.export`.

    Raises
    ------
    RecordError
        Inside a recorded loop body.
    DeviceMismatch, InvalidValue
        The object is placed elsewhere; the device has no memory of its own.
    """
    recording.refuse_host_read(
        "an export needs the number of entries", "export after the loop what it has written"
    )
    value, transposed = operand._operand()
    wanted = None if dtype is None else lookup_dtype(dtype)
    return value.export(layout, device, transposed=transposed, dtype=wanted, **how)  # type: ignore[no-any-return]


def lend_dense(operand: Any, device: str, fill_value: Any, dtype: Any) -> Any:
    """Return a dense array on a device, missing entries replaced by `fill_value`; a copy.

    Raises
    ------
    TypeError
        Entries are missing and there is no `fill_value`.
    """
    complete = operand.nvals == math.prod(operand.shape)
    if not complete and fill_value is None:
        raise TypeError("fill_value must be given in `to_dense` when there are missing values")
    wanted = operand.dtype if dtype is None else lookup_dtype(dtype)
    if complete:
        return lend(operand, "dense", device, wanted).values
    if dtype is None:
        wanted = unify(infer_dtype(fill_value), wanted)
    fill = as_fitting(fill_value, wanted)[()]
    return lend(operand, "dense", device, wanted, fill=fill).values
