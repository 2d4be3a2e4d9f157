"""Arrays of dense objects, from what callers pass."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.base.dtypes import DataType, lookup_dtype
from semira.base.errors import DimensionMismatch
from semira.formats import MatrixArrays, VectorArrays
from semira.formats.index import index_dtype, offset_dtype
from semira.frontend.range_check import as_array, as_fitting, dtype_of, masked_positions
from semira.frontend.records import prepared


def vector_from_dense(values: Any, missing: Any, dtype: Any) -> VectorArrays:
    """Return the arrays of `Vector.from_dense`: full, or sparse if a value means "missing"."""
    array, wanted, keep = _dense(values, 1, missing, dtype)
    if keep is None:
        return VectorArrays.full(wanted, array)
    indices = np.flatnonzero(keep).astype(index_dtype(len(array)), copy=False)
    return VectorArrays.sparse(len(array), wanted, indices, array[keep])


def _dense(
    values: Any, ndim: int, missing: Any, dtype: Any
) -> tuple[NDArray[Any], DataType, NDArray[np.bool_] | None]:
    """Return (values of a dense object, a copy; dtype; which are entries, None: all)."""
    mask = masked_positions(values)
    if mask is not None:
        # What is masked may be anything; 0 fits everywhere.
        values = values.filled(0)
    array = _records_of(values, ndim, dtype)
    check_dense(array.shape, ndim)
    wanted = dtype_of(array) if dtype is None else lookup_dtype(dtype)
    keep = None if mask is None else np.broadcast_to(~mask, array.shape)
    if missing is not None:
        is_there = ~np.isnan(array) if _is_nan(missing) else array != missing
        keep = is_there if keep is None else keep & is_there
    if wanted.kind == "V":
        return array.astype(wanted.array_dtype), wanted, keep
    if keep is None:
        cast = as_fitting(array, wanted)
        return cast.copy() if cast is array else cast, wanted, None
    cast = as_fitting(np.where(keep, array, 0), wanted)
    return cast, wanted, keep if missing is None or _is_nan(missing) else keep & (cast != missing)


def _records_of(values: Any, ndim: int, dtype: Any) -> NDArray[Any]:
    """Return values as an array; those for an object of a user-defined dtype as records."""
    array = as_array(values)
    if dtype is not None and lookup_dtype(dtype).kind == "V":
        wanted = lookup_dtype(dtype)
        if wanted.shape and array.ndim <= ndim:
            raise DimensionMismatch(
                f"a >{ndim}d array is required: the values of {wanted} include dtype shape "
                f"{wanted.shape}; got shape {array.shape}"
            )
        array = prepared(values, wanted, ndim)
    elif dtype is None and (array.ndim > ndim or array.dtype.names is not None):
        array = prepared(array, None, ndim)
    return array


def check_dense(shape: tuple[int, ...], ndim: int) -> None:
    """Check the shape of a dense object of `ndim` dimensions.

    Raises TypeError or DimensionMismatch if it has other ones.
    """
    kind = ("Scalar", "Vector", "Matrix")[ndim]
    if not shape:
        raise TypeError(f"a single value does not make a dense {kind}; use {kind}.from_scalar")
    if len(shape) < ndim:
        raise DimensionMismatch(
            f"a {ndim}d array is required to create a dense {kind}; got shape {shape}"
        )
    if len(shape) > ndim:
        raise DimensionMismatch(
            f"the values of a dense {kind} must be {ndim}d; got a >{ndim}d array of shape {shape}"
        )


def matrix_from_dense(values: Any, missing: Any, dtype: Any) -> MatrixArrays:
    """Return the arrays of `Matrix.from_dense`."""
    array, wanted, keep = _dense(values, 2, missing, dtype)
    if keep is None:
        keep = np.ones(array.shape, bool)
    rows, cols = np.nonzero(keep)
    nrows, ncols = array.shape
    indptr = np.concatenate(([0], np.cumsum(np.count_nonzero(keep, axis=1))))
    return MatrixArrays(
        nrows, ncols, wanted, "csr", indptr.astype(offset_dtype(len(rows))),
        cols.astype(index_dtype(nrows, ncols)), array[rows, cols],
    )  # fmt: skip


def _is_nan(value: Any) -> bool:
    return isinstance(value, (float, complex, np.inexact)) and bool(np.isnan(value))
