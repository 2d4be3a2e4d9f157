"""Objects from arrays: built on the host, or on the device whose memory is to hold them."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.backends.registry import capabilities_of
from semira.base.dtypes import DataType, lookup_dtype
from semira.base.errors import DeviceMismatch, DimensionMismatch, InvalidValue
from semira.base.memory import require_bytes, tells_shortage
from semira.base.settings import GPU
from semira.engine.values import asked_device, default_device
from semira.formats import MatrixArrays, RawArrays, VectorArrays
from semira.formats.index import WIDE, index_dtype, offset_dtype
from semira.formats.raw import on_gpu, shape_of
from semira.frontend import construct
from semira.frontend.operators import as_accum
from semira.frontend.range_check import as_array, as_fitting, dtype_of, masked_positions
from semira.frontend.records import prepared

#: Entries on the host from which a device orders and folds them; a few are sooner ordered here
#: than a device is started on them.
BUILD_FROM = 2**16


def vector_from_coo(
    indices: Any, values: Any, dtype: Any, size: Any, dup_op: Any, device: str | None = None
) -> VectorArrays | RawArrays:
    """Return what `Vector.from_coo` makes a vector of."""
    if dup_op is None:
        quick = construct.shared_entries(indices, values, dtype, size, BUILD_FROM)
        if quick is not None:
            return quick
    return _vector_from_coo(indices, values, dtype, size, dup_op, device)


@tells_shortage("Vector.from_coo")
def _vector_from_coo(
    indices: Any, values: Any, dtype: Any, size: Any, dup_op: Any, device: str | None
) -> VectorArrays | RawArrays:
    if dup_op is None and dtype is None:
        quick = construct.listed_entries(indices, values, size, BUILD_FROM)
        if quick is not None:
            return quick
    home = _home_of((indices, values), device)
    if home is not None:
        return _raw_coo(home, (size,), (indices,), values, dtype, dup_op)
    given = construct.vector_entries(indices, values, dtype, size, dup_op)
    return _sent(given, dup_op, device) or construct.arrays_of(given, dup_op)


@tells_shortage("Matrix.from_coo")
def matrix_from_coo(
    rows: Any,
    columns: Any,
    values: Any,
    dtype: Any,
    nrows: Any,
    ncols: Any,
    dup_op: Any,
    device: str | None = None,
) -> MatrixArrays | RawArrays:
    """Return what `Matrix.from_coo` makes a matrix of."""
    home = _home_of((rows, columns, values), device)
    if home is not None:
        return _raw_coo(home, (nrows, ncols), (rows, columns), values, dtype, dup_op)
    given = construct.matrix_entries(rows, columns, values, dtype, nrows, ncols, dup_op)
    return _sent(given, dup_op, device) or construct.arrays_of(given, dup_op)


@tells_shortage("Matrix.from_csr or from_csc")
def matrix_from_compressed(
    orientation: str,
    indptr: Any,
    indices: Any,
    values: Any,
    dtype: Any,
    nmajor: Any,
    nminor: Any,
    device: str | None = None,
    *,
    owned: bool = False,
) -> MatrixArrays | RawArrays:
    """Return what `Matrix.from_csr` and `from_csc` make a matrix of.

    Arrays on a GPU that are `owned` are kept, not copied, where their dtypes are those we store.
    """
    home = _home_of((indptr, indices, values), device)
    if home is None:
        return construct.matrix_from_compressed(
            orientation, indptr, indices, values, dtype, nmajor, nminor
        )
    stored, wanted = _raw_values(values, _length(indices, "indices"), dtype)
    sizes = _sizes((nmajor, nminor))
    shape = sizes if orientation == "csr" else sizes[::-1]
    return RawArrays(home, orientation, shape, (indptr, indices), stored, wanted, owned=owned)


@tells_shortage("from_dense")
def from_dense(
    ndim: int, values: Any, missing: Any, dtype: Any, device: str | None = None
) -> MatrixArrays | VectorArrays | RawArrays:
    """Return what `Vector.from_dense` and `Matrix.from_dense` make an object of."""
    home = _home_of((values,), device)
    if home is None:
        if isinstance(values, np.ndarray):
            require_bytes(values.nbytes, f"a copy of a dense array of shape {values.shape}")
        make = vector_from_dense if ndim == 1 else matrix_from_dense
        return make(values, missing, dtype)
    shape = shape_of(values)
    check_dense(shape, ndim)
    return RawArrays(home, "dense", shape, (), values, _dtype(dtype), missing=missing)


def _home_of(given: tuple[Any, ...], asked: str | None) -> str | None:
    """Return the device where arrays lie, None: the host; raise if another was asked for."""
    if not any(on_gpu(one) for one in given):
        return None
    wanted = asked or asked_device()
    if wanted is not None and not capabilities_of(wanted).own_memory:
        raise DeviceMismatch(
            f"arrays in the memory of a GPU for an object on {wanted!r}; copy them to the host "
            f"first (with .get() or .cpu()), or use device={GPU!r}"
        )
    return wanted or GPU


def _sent(given: construct.Entries, dup_op: Any, asked: str | None) -> RawArrays | None:
    """Return entries of the host as a device is to build them; None if the host should."""
    is_plain = given.dtype.kind in "BIUF" and max(given.shape) < WIDE
    if len(given.indices[0]) < BUILD_FROM or not is_plain:
        return None
    device = asked or default_device()
    if not capabilities_of(device).own_memory:
        return None
    values = np.asarray(given.shared, given.dtype.array_dtype)
    stored = values if given.values is None else given.values
    return RawArrays(device, "coo", given.shape, given.indices, stored, given.dtype, _fold(dup_op))


def _raw_coo(
    device: str,
    shape: tuple[Any, ...],
    indices: tuple[Any, ...],
    values: Any,
    dtype: Any,
    dup_op: Any,
) -> RawArrays:
    names = ("indices",) if len(indices) == 1 else ("rows", "columns")
    lengths = [_length(one, name) for one, name in zip(indices, names, strict=True)]
    if len(set(lengths)) > 1:
        listed = ", ".join(map(str, lengths))
        raise DimensionMismatch(f"`rows` and `columns` lengths must match: {listed}")
    if lengths[0] == 0 and None in shape:
        raise InvalidValue("No indices provided. Unable to infer the shape.")
    stored, wanted = _raw_values(values, lengths[0], dtype)
    is_shared = (shape_of(stored) if on_gpu(stored) else np.shape(stored)) == ()
    if is_shared:
        construct.refuse_dup_op(dup_op)
    fold = None if is_shared else _fold(dup_op)
    return RawArrays(device, "coo", _sizes(shape), indices, stored, wanted, fold)


def _fold(dup_op: Any) -> Any:
    return None if dup_op is None else partial(as_accum, dup_op)


def _sizes(shape: tuple[Any, ...]) -> tuple[int | None, ...]:
    named = zip(shape, ("size",) if len(shape) == 1 else ("nrows", "ncols"), strict=True)
    return tuple(None if size is None else construct.check_size(size, name) for size, name in named)


def _dtype(dtype: Any) -> DataType | None:
    return None if dtype is None else lookup_dtype(dtype)


def _raw_values(values: Any, count: int, dtype: Any) -> tuple[Any, DataType | None]:
    """Return values for entries on a device (no dimensions: all share one), and their dtype."""
    if not on_gpu(values):
        stored, wanted, shared = construct.values_of(prepared(values, dtype), count, dtype)
        return np.asarray(shared, wanted.array_dtype) if stored is None else stored, wanted
    shape = shape_of(values)
    if shape not in ((), (count,)):
        raise DimensionMismatch(f"{shape} values for {count} positions")
    return values, _dtype(dtype)


def _length(indices: Any, name: str) -> int:
    shape = shape_of(indices) if on_gpu(indices) else np.shape(indices)
    if len(shape) != 1:
        raise DimensionMismatch(f"{name} must be one-dimensional, got shape {shape}")
    return int(shape[0])


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
