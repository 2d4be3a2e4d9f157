"""Keeping arrays of the caller without a copy."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from semira.formats import MatrixArrays, VectorArrays
from semira.formats.index import index_dtype, offset_dtype

_Arrays = TypeVar("_Arrays", MatrixArrays, VectorArrays)


def adopt(arrays: _Arrays) -> _Arrays:
    """Return arrays of the caller for an object to keep, without a copy.

    The caller's arrays become read-only. Only indices of another width than `index_dtype` and
    `offset_dtype` ask for, and arrays that are not contiguous, are copied. Raises InvalidObject if
    an invariant of the format is broken, which takes O(nvals) to check; the caller's arrays are as
    they were.
    """
    sizes = _sizes(arrays)
    wanted = {"indices": index_dtype(*sizes), "majors": index_dtype(*sizes)}
    wanted["indptr"] = offset_dtype(arrays.nvals)
    given = {
        name: getattr(arrays, name)
        for name in ("values", "indices", "indptr", "majors", "present")
        if getattr(arrays, name, None) is not None
    }
    kept: dict[str, Any] = {
        name: _as_kept(part, wanted.get(name, part.dtype)) for name, part in given.items()
    }
    adopted = replace(arrays, **kept)
    adopted.validate()
    for name, part in given.items():
        if np.shares_memory(part, kept[name]):
            part.flags.writeable = False
    return adopted


def _sizes(arrays: MatrixArrays | VectorArrays) -> tuple[int, ...]:
    if isinstance(arrays, MatrixArrays):
        return arrays.nrows, arrays.ncols
    return (arrays.size,)


def _as_kept(array: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return a view of an array, a copy if dtype or layout must change."""
    is_same_width = array.dtype.kind in "iu" and array.dtype.itemsize == dtype.itemsize
    if is_same_width and array.flags.c_contiguous:
        return array.view(dtype)
    return np.ascontiguousarray(array, dtype).view()
