"""The namespace ``semira.dtypes``."""

from __future__ import annotations

from typing import Any

from semira.base import dtypes
from semira.base.dtypes import (
    BOOL,
    FC32,
    FC64,
    FP32,
    FP64,
    INT8,
    INT16,
    INT32,
    INT64,
    UINT8,
    UINT16,
    UINT32,
    UINT64,
    DataType,
    lookup_dtype,
    register_anonymous,
    unify,
)
from semira.base.errors import InvalidValue

__all__ = [
    "BOOL",
    "FC32",
    "FC64",
    "FP32",
    "FP64",
    "INT8",
    "INT16",
    "INT32",
    "INT64",
    "UINT8",
    "UINT16",
    "UINT32",
    "UINT64",
    "DataType",
    "lookup_dtype",
    "register_anonymous",
    "register_new",
    "unify",
]


def register_new(name: str, dtype: Any) -> DataType:
    """Make a dtype of a NumPy record or sub-array and keep it here under `name`.

    Parameters
    ----------
    name : str
        An identifier.
    dtype : numpy dtype, dict of field to dtype, or str
        ``np.dtype([("x", bool), ("y", float)])``, ``{"x": bool, "y": float}``, ``"INT64[3]"``.

    Raises
    ------
    InvalidValue
        The name is no identifier, or taken; the dtype holds Python objects, or is built in.
    UnknownDtype
        `dtype` is neither a record nor a sub-array of numbers.

    Examples
    --------
    >>> from semira import Vector
    >>> edge = register_new("DocsEdge", {"weight": float, "hops": int})
    >>> v = Vector(edge, size=2)
    >>> v[0] = (2.5, 1)
    >>> v.to_dict()
    {0: (2.5, 1)}
    """
    if name in globals():
        raise InvalidValue(f"{name!r} name for dtype is unavailable")
    return dtypes.register_new(name, dtype)


def __getattr__(name: str) -> Any:
    try:
        return dtypes.registered()[name]
    except KeyError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None


def __dir__() -> list[str]:
    return [*__all__, *dtypes.registered()]
