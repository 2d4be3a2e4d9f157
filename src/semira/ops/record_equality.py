"""Expressions that compare records and sub-arrays field by field."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from semira.base.dtypes import BY_NUMPY
from semira.base.record_dtypes import flattened


def equality_text(dtype: np.dtype[Any], a: str, b: str) -> str:
    """Return the expression that compares two values field by field.

    Examples
    --------
    >>> equality_text(np.dtype([("x", np.int8), ("y", np.int8)]), "a", "b")
    "(a['x'] == b['x']) and (a['y'] == b['y'])"
    """
    if dtype.names is None or dtype.fields is None:
        return f"({a} == {b}).all()" if dtype.subdtype is not None else f"({a} == {b})"
    parts = (
        equality_text(dtype.fields[name][0], f"{a}[{name!r}]", f"{b}[{name!r}]")
        for name in dtype.names
    )
    return " and ".join(parts)


def cuda_equality_text(dtype: np.dtype[Any], a: str, b: str, offset: int = 0) -> str:
    """Return the CUDA expression that compares two values field by field.

    Examples
    --------
    >>> cuda_equality_text(np.dtype([("x", np.int8), ("y", np.float64, 2)]), "a", "b")
    'same_fields<signed char, 0, 1>(a, b) && same_fields<double, 1, 2>(a, b)'
    """
    if dtype.subdtype is not None:
        leaf, shape = flattened(dtype)
        count = math.prod(shape)
        if leaf.names is None:
            return f"same_fields<{BY_NUMPY[leaf].cuda_type}, {offset}, {count}>({a}, {b})"
        places = (offset + k * leaf.itemsize for k in range(count))
        return " && ".join(cuda_equality_text(leaf, a, b, place) for place in places)
    if dtype.names is None or dtype.fields is None:
        return f"same_fields<{BY_NUMPY[dtype].cuda_type}, {offset}, 1>({a}, {b})"
    fields = (dtype.fields[name] for name in dtype.names)
    return " && ".join(cuda_equality_text(part[0], a, b, offset + part[1]) for part in fields)


def equality_texts(dtype: np.dtype[Any], b: str, *, negated: bool) -> tuple[str, str]:
    """Return the expressions, in Python and CUDA, that compare a value ``a`` with another one."""
    text, cuda = equality_text(dtype, "a", b), cuda_equality_text(dtype, "a", b)
    return (f"not ({text})", f"!({cuda})") if negated else (text, cuda)
