"""Making arrays of new objects from what callers pass."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.base.dtypes import DataType, lookup_dtype
from semira.base.errors import DimensionMismatch, InvalidValue
from semira.formats import MatrixArrays, VectorArrays, coo_to_matrix, coo_to_vector
from semira.formats.build import Merge
from semira.formats.index import MAX_SIZE, check_indices, index_dtype, offset_dtype
from semira.frontend.operators import as_binary
from semira.ops import TypedOp
from semira.ops.meaning import cast_array

#: Operators NumPy folds in compiled code; the others are folded entry by entry.
_FOLDS: dict[str, Any] = {
    "plus": np.add, "times": np.multiply, "min": np.fmin, "max": np.fmax,
    "lor": np.logical_or, "land": np.logical_and, "band": np.bitwise_and, "bor": np.bitwise_or,
    "bxor": np.bitwise_xor, "lxor": np.logical_xor,
}  # fmt: skip


def check_size(size: Any, what: str) -> int:
    """Return a dimension as an int.

    Raises
    ------
    InvalidValue
        It is negative, beyond 2**60, or not an integer.
    """
    if isinstance(size, bool) or not isinstance(size, (int, np.integer)):
        raise InvalidValue(f"{what} must be an integer, got {size!r}")
    if not 0 <= size <= MAX_SIZE:
        raise InvalidValue(f"{what}={size} must lie in [0, 2**60]")
    return int(size)


def merge_with(op: TypedOp) -> Merge:
    """Return the function that folds runs of repeated values with `op`, in order."""

    def merge(values: NDArray[Any], starts: NDArray[Any]) -> NDArray[Any]:
        ends = np.append(starts[1:], len(values))
        if op.name in ("first", "any"):
            return np.asarray(values[starts])
        if op.name == "second":
            return np.asarray(values[ends - 1])
        values = cast_array(values, op.type.np_type)
        if op.name in _FOLDS:
            with np.errstate(over="ignore"):
                return np.asarray(_FOLDS[op.name].reduceat(values, starts), op.return_type.np_type)
        return _fold_slowly(op, values, starts, ends)

    return merge


def _fold_slowly(
    op: TypedOp, values: NDArray[Any], starts: NDArray[Any], ends: NDArray[Any]
) -> NDArray[Any]:
    folded: NDArray[Any] = values[starts]
    for run in np.flatnonzero(ends - starts > 1):
        total = values[starts[run]]
        for value in values[starts[run] + 1 : ends[run]]:
            total = op.scalar_function(total, value, 0, 0, 0)
        folded[run] = total
    return folded


def _values_of(values: Any, count: int, dtype: Any) -> tuple[NDArray[Any] | None, DataType, Any]:
    """Return (values or None if iso, dtype, the iso value)."""
    array = np.asarray(values)
    if array.dtype.kind == "O":
        raise InvalidValue("values must be numbers of one dtype")
    wanted = lookup_dtype(array.dtype) if dtype is None else lookup_dtype(dtype)
    if array.ndim == 0:
        return None, wanted, cast_array(array, wanted.np_type)[()]
    if array.ndim != 1 or len(array) != count:
        raise DimensionMismatch(f"{array.shape} values for {count} positions")
    if array.size == 0 and dtype is None:
        wanted = lookup_dtype("FP64") if array.dtype == np.float64 else wanted
    return cast_array(array, wanted.np_type), wanted, 1


def _merge_for(dup_op: Any, dtype: DataType) -> Merge | None:
    return None if dup_op is None else merge_with(as_binary(dup_op, dtype, dtype))


def vector_from_coo(indices: Any, values: Any, dtype: Any, size: Any, dup_op: Any) -> VectorArrays:
    """Return the arrays of `Vector.from_coo`."""
    positions = np.asarray(indices)
    if size is None:
        if positions.size == 0:
            raise InvalidValue("No indices provided. Unable to infer size.")
        size = int(positions.max()) + 1
    size = check_size(size, "size")
    positions = check_indices(positions, size, "indices")
    stored, wanted, iso = _values_of(values, len(positions), dtype)
    merge = _merge_for(dup_op, wanted)
    if stored is None:
        return _iso_vector(size, positions, wanted, iso, merge)
    return coo_to_vector(size, positions, stored, dtype=wanted, merge=merge)


def _iso_vector(
    size: int, positions: NDArray[Any], dtype: DataType, iso: Any, merge: Merge | None
) -> VectorArrays:
    made = coo_to_vector(size, positions, None, dtype=dtype, iso_value=iso)
    if made.nvals == len(positions):
        return made
    # A repeated position: the merged value may differ from the single one.
    full = np.full(len(positions), iso, dtype.np_type)
    return coo_to_vector(size, positions, full, dtype=dtype, merge=merge)


def vector_from_scalar(value: Any, size: Any, dtype: Any) -> VectorArrays:
    """Return the arrays of `Vector.from_scalar`: full, with the one value they share."""
    size = check_size(size, "size")
    stored, wanted, iso = _values_of(value, size, dtype)
    if stored is not None:
        raise InvalidValue(f"from_scalar takes one value, got {len(stored)} of them")
    values = np.full(1, iso, wanted.np_type)
    return VectorArrays(size, wanted, "full", values, nvals=size, iso=True)


def matrix_from_coo(
    rows: Any, columns: Any, values: Any, dtype: Any, nrows: Any, ncols: Any, dup_op: Any
) -> MatrixArrays:
    """Return the arrays of `Matrix.from_coo`."""
    rows, columns = np.asarray(rows), np.asarray(columns)
    if rows.shape != columns.shape:
        raise DimensionMismatch(f"{rows.shape} rows for {columns.shape} columns")
    if (nrows is None or ncols is None) and rows.size == 0:
        raise InvalidValue("No indices provided. Unable to infer nrows and ncols.")
    nrows = check_size(int(rows.max()) + 1 if nrows is None else nrows, "nrows")
    ncols = check_size(int(columns.max()) + 1 if ncols is None else ncols, "ncols")
    rows = check_indices(rows, nrows, "rows")
    columns = check_indices(columns, ncols, "columns")
    stored, wanted, iso = _values_of(values, len(rows), dtype)
    merge = _merge_for(dup_op, wanted)
    if stored is not None:
        return coo_to_matrix(nrows, ncols, rows, columns, stored, dtype=wanted, merge=merge)
    made = coo_to_matrix(nrows, ncols, rows, columns, None, dtype=wanted, iso_value=iso)
    if made.nvals == len(rows):
        return made
    full = np.full(len(rows), iso, wanted.np_type)
    return coo_to_matrix(nrows, ncols, rows, columns, full, dtype=wanted, merge=merge)


def matrix_from_compressed(
    orientation: str, indptr: Any, indices: Any, values: Any, dtype: Any, nmajor: Any, nminor: Any
) -> MatrixArrays:
    """Return the arrays of `Matrix.from_csr` and `from_csc`; sorts rows that need it.

    Raises
    ------
    InvalidValue
        ``indptr`` does not fit ``indices``.
    """
    offsets, minor = np.asarray(indptr), np.asarray(indices)
    if offsets.dtype.kind not in "iu":
        raise InvalidValue(f"indptr must hold integers, got {offsets.dtype}")
    offsets = offsets.astype(np.int64)
    if offsets.ndim != 1 or len(offsets) == 0 or offsets[0] != 0 or offsets[-1] != len(minor):
        raise InvalidValue(f"indptr must start at 0 and end at {len(minor)}, the number of indices")
    if bool(np.any(np.diff(offsets) < 0)):
        raise InvalidValue("indptr must not decrease")
    count = len(offsets) - 1
    if nmajor is not None and nmajor != count:
        raise InvalidValue(f"indptr holds {count} rows (columns), {nmajor} were announced")
    if nminor is None:
        nminor = int(minor.max()) + 1 if len(minor) else 0
    major = np.repeat(np.arange(count), np.diff(offsets))
    rows, cols = (major, minor) if orientation == "csr" else (minor, major)
    shape = (count, nminor) if orientation == "csr" else (nminor, count)
    return matrix_from_coo(rows, cols, values, dtype, shape[0], shape[1], None)


def vector_from_dense(values: Any, missing: Any, dtype: Any) -> VectorArrays:
    """Return the arrays of `Vector.from_dense`: full, or sparse if a value means "missing"."""
    array = np.array(values)
    if array.ndim != 1:
        raise DimensionMismatch(f"a Vector needs one-dimensional values, got shape {array.shape}")
    wanted = lookup_dtype(array.dtype if dtype is None else dtype)
    array = cast_array(array, wanted.np_type)
    if missing is None:
        return VectorArrays.full(wanted, array)
    keep = ~np.isnan(array) if _is_nan(missing) else array != missing
    indices = np.flatnonzero(keep).astype(index_dtype(len(array)), copy=False)
    return VectorArrays.sparse(len(array), wanted, indices, array[keep])


def matrix_from_dense(values: Any, missing: Any, dtype: Any) -> MatrixArrays:
    """Return the arrays of `Matrix.from_dense`."""
    array = np.array(values)
    if array.ndim != 2:
        raise DimensionMismatch(f"a Matrix needs two-dimensional values, got shape {array.shape}")
    wanted = lookup_dtype(array.dtype if dtype is None else dtype)
    array = cast_array(array, wanted.np_type)
    if missing is None:
        keep = np.ones(array.shape, bool)
    else:
        keep = ~np.isnan(array) if _is_nan(missing) else array != missing
    rows, cols = np.nonzero(keep)
    nrows, ncols = array.shape
    indptr = np.concatenate(([0], np.cumsum(np.count_nonzero(keep, axis=1))))
    return MatrixArrays(
        nrows, ncols, wanted, "csr", indptr.astype(offset_dtype(len(rows))),
        cols.astype(index_dtype(nrows, ncols)), array[rows, cols],
    )  # fmt: skip


def _is_nan(value: Any) -> bool:
    return isinstance(value, (float, np.floating)) and bool(np.isnan(value))
