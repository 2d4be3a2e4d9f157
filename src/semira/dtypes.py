"""The namespace ``semira.dtypes``."""

from __future__ import annotations

from typing import Any, NoReturn

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
    unify,
)
from semira.base.errors import NotImplementedException

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


def register_new(name: str, dtype: Any) -> NoReturn:
    """Refuse: user-defined dtypes are not supported yet.

    Raises
    ------
    NotImplementedException
        Always; the message says what to do instead.
    """
    raise NotImplementedException(
        f"dtype {name!r} ({dtype}): user-defined dtypes are not supported; keep each field in a "
        "Matrix or Vector of its own"
    )


def register_anonymous(dtype: Any, name: str | None = None) -> NoReturn:
    """Refuse: user-defined dtypes are not supported yet.

    Raises
    ------
    NotImplementedException
        Always; the message says what to do instead.
    """
    register_new(name or "anonymous", dtype)
