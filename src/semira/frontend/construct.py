"""Making arrays of new objects from what callers pass."""

from __future__ import annotations

import operator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semira.base.dtypes import BOOL, FP32, FP64, INT32, INT64, DataType, lookup_dtype
from semira.base.errors import (
    DimensionMismatch,
    DomainMismatch,
    InvalidIndex,
    InvalidObject,
    InvalidValue,
)
from semira.engine.calls import Literal
from semira.formats import MatrixArrays, VectorArrays, coo_to_matrix, coo_to_vector
from semira.formats.build import Merge
from semira.formats.index import MAX_SIZE, WIDE, check_bounds, check_range, index_dtype
from semira.frontend.call import as_literal
from semira.frontend.checks import bad_type
from semira.frontend.operators import as_accum
from semira.frontend.range_check import as_array, as_fitting, dtype_of
from semira.frontend.records import prepared
from semira.ops import TypedOp
from semira.ops.meaning import cast_array


class Entries(NamedTuple):
    """Checked entries on the host, in any order."""

    shape: tuple[int, ...]
    #: Positions along each axis, in bounds.
    indices: tuple[NDArray[Any], ...]
    #: None: all entries share `shared`.
    values: NDArray[Any] | None
    dtype: DataType
    shared: Any


#: Operators NumPy folds in compiled code; the others are folded entry by entry.
FOLDS: dict[str, Any] = {
    "plus": np.add, "times": np.multiply, "min": np.fmin, "max": np.fmax,
    "lor": np.logical_or, "land": np.logical_and, "band": np.bitwise_and, "bor": np.bitwise_or,
    "bxor": np.bitwise_xor, "lxor": np.logical_xor,
}  # fmt: skip

#: Types that are no integers although Python and NumPy take them for some.
_TRUTHS = frozenset((bool, np.bool_))


def check_size(size: Any, what: str) -> int:
    """Return a dimension as an int.

    Raises InvalidValue if it is negative, beyond 2**60, or not an integer.
    """
    if size.__class__ is int and 0 <= size <= MAX_SIZE:
        return size
    if getattr(size, "kind", None) == "scalar":
        size = size.value
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
        values = cast_array(values, op.type.array_dtype)
        if op.name in FOLDS:
            with np.errstate(over="ignore"):
                folded = np.asarray(
                    FOLDS[op.name].reduceat(values, starts), op.return_type.array_dtype
                )
            if op.name in ("lor", "land", "lxor") and op.type.kind != "B":
                # A value that meets no other stays what it is, and does not become 0 or 1.
                alone = ends - starts == 1
                folded[alone] = values[starts[alone]]
            return folded
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


def values_of(values: Any, count: int, dtype: Any) -> tuple[NDArray[Any] | None, DataType, Any]:
    """Return (values or None if iso, dtype, the iso value)."""
    array = np.asarray(values)
    if array.dtype.names is not None:
        wanted = lookup_dtype(array.dtype)
        return (None, wanted, array[()]) if array.ndim == 0 else (array, wanted, 1)
    wanted = dtype_of(array) if dtype is None else lookup_dtype(dtype)
    if array.ndim == 0:
        return None, wanted, as_fitting(array, wanted)[()]
    if array.ndim != 1 or len(array) != count:
        raise DimensionMismatch(f"{array.shape} values for {count} positions")
    if array.size == 0 and dtype is None:
        wanted = lookup_dtype("FP64") if array.dtype == np.float64 else wanted
    return as_fitting(array, wanted), wanted, 1


def _merge_for(dup_op: Any, dtype: DataType) -> Merge | None:
    op = as_accum(dup_op, dtype)
    return None if op is None else merge_with(op)


def as_value(given: Any, where: str, dtype: Any = None) -> Any:
    """Return a Scalar operand as it is, a number (or a record of `dtype`) as a literal.

    Raises DomainMismatch if it is neither. Raises InvalidValue if it does not fit into `dtype`.
    """
    if getattr(given, "kind", None) == "scalar":
        return given
    try:
        return as_literal(given, None if dtype is None else lookup_dtype(dtype))
    except DomainMismatch:
        raise bad_type(given, "Scalar", "value", where, literals=True) from None


def refuse_dup_op(dup_op: Any) -> None:
    """Check that a single value comes without `dup_op`: repeated positions all hold it.

    ``any``, ``first`` and ``second`` pick one of equal values and may stay.
    """
    if dup_op is not None and getattr(dup_op, "name", dup_op) not in ("any", "first", "second"):
        raise InvalidValue("dup_op must be None if there is a single value for all positions")


def as_indices(given: Any, what: str) -> NDArray[Any]:
    """Return indices as an array of integers.

    Raises InvalidIndex if there is something that is no integer, or masked; the message names it.
    Raises IndexOutOfBound if an integer in a list lies beyond every size.
    """
    try:
        array = as_array(given, what)
    except ValueError as error:
        raise InvalidIndex(f"{what} must be a list of integers: {error}") from None
    if not array.size:
        return array if array.dtype.kind in "iu" else np.empty(array.shape, np.uint64)
    # NumPy takes truth values among integers for integers.
    is_mixed = isinstance(given, (list, tuple)) and not _TRUTHS.isdisjoint(map(type, given))
    if array.dtype.kind in "iu" and not is_mixed:
        return array
    if isinstance(given, np.ndarray):
        raise InvalidIndex(f"{what} must be integers, not {array.dtype}")
    items = np.array(given, object)
    return np.array([_as_index(item, what) for item in items.flat], np.uint64).reshape(items.shape)


def _as_index(item: Any, what: str) -> int:
    try:
        index = None if type(item) in _TRUTHS else operator.index(item)
    except TypeError:
        index = None
    if index is None:
        raise InvalidIndex(
            f"{what} must be integers, got {item!r} ({type(item).__name__}); give a list or an "
            "array of integers"
        )
    check_range(index, index, MAX_SIZE, what)
    return index


def _size_for(indices: NDArray[Any], what: str) -> int:
    """Return the least size that has room for indices; IndexOutOfBound if none has."""
    if not indices.size:
        return 0
    low, high = int(indices.min()), int(indices.max())
    check_range(low, high, MAX_SIZE, what)
    return high + 1


def _entries(
    axes: tuple[tuple[str, Any, str, Any], ...], values: Any, dtype: Any, dup_op: Any
) -> Entries:
    """Return checked entries; an axis is the name of its indices, them, and its size likewise."""
    given = {name: as_indices(indices, name) for name, indices, *_ in axes}
    for (name, positions), (*_, sized, size) in zip(given.items(), axes, strict=True):
        if size is None and not positions.size:
            what = f"{name[:-1]} " if len(axes) > 1 else ""
            raise InvalidValue(f"No {what}indices provided. Unable to infer {sized}.")
    values = prepared(values, dtype)
    lengths = {f"`{name}`": positions.size for name, positions in given.items()}
    if shape := np.shape(values):
        lengths["`values`"] = shape[0]
    if len({*lengths.values()}) > 1:
        listed = ", ".join(map(str, lengths.values()))
        raise DimensionMismatch(f"{' and '.join(lengths)} lengths must match: {listed}")
    sizes = tuple(
        check_size(_size_for(given[name], name) if size is None else size, sized)
        for name, _, sized, size in axes
    )
    indices = tuple(
        check_bounds(positions, size, name)
        for (name, positions), size in zip(given.items(), sizes, strict=True)
    )
    stored, wanted, iso = values_of(values, len(indices[0]), dtype)
    if stored is None:
        refuse_dup_op(dup_op)
    return Entries(sizes, indices, stored, wanted, iso)


def vector_entries(indices: Any, values: Any, dtype: Any, size: Any, dup_op: Any) -> Entries:
    """Return the entries that `Vector.from_coo` was given, checked."""
    return _entries((("indices", indices, "size", size),), values, dtype, dup_op)


#: Dtypes of numbers of Python.
_OF_PYTHON: dict[type, DataType] = {bool: BOOL, int: INT64, float: FP64}

#: Integers below this are the same in every dtype of 32 bits and more.
_SAFE = 2**24


def _plain_dtype(value: Any, dtype: Any) -> DataType | None:
    """Return the dtype of a number of Python to be stored as `dtype`; None: look closer."""
    found = _OF_PYTHON.get(value.__class__)
    if found is None or (found is INT64 and abs(value) >= _SAFE):
        return None
    wanted = found if dtype is None else lookup_dtype(dtype)
    if wanted is found:
        return wanted
    is_real = wanted is FP32 or wanted is FP64
    fits = is_real or (wanted is INT32 and abs(value) < 2**31)
    return wanted if found is INT64 and fits else None


def shared_entries(
    indices: Any, values: Any, dtype: Any, size: Any, most: int
) -> VectorArrays | None:
    """Return the vector of listed positions and one number of Python; None: look closer.

    The positions are one in a list, or an array of fewer than `most` integers in order. What starts
    a search is made on each call: checked as other arrays it would cost more than to upload it.
    """
    if size.__class__ is not int or not 0 < size <= WIDE:
        return None
    if indices.__class__ is list:
        if len(indices) != 1 or indices[0].__class__ is not int or not 0 <= indices[0] < size:
            return None
    elif not _are_positions(indices, size, most):
        return None
    wanted = _plain_dtype(values, dtype)
    if wanted is None:
        return None
    # Not beyond `WIDE`: positions of 32 bits.
    positions = np.array(indices, _SIGNED[size == WIDE])
    value = np.array([values], wanted.array_dtype)
    return VectorArrays(size, wanted, "sparse", value, positions, None, len(positions), True)


_SIGNED = (np.dtype(np.int32), np.dtype(np.int64))


def _are_positions(indices: Any, size: int, most: int) -> bool:
    """Return whether an array has indices in order, fewer than `most`, all of a vector."""
    if indices.__class__ is not np.ndarray or indices.dtype not in _SIGNED or indices.ndim != 1:
        return False
    if not 0 < len(indices) < most or indices[0] < 0 or indices[-1] >= size:
        return False
    return bool((indices[1:] > indices[:-1]).all())


def listed_entries(indices: Any, values: Any, size: Any, most: int) -> VectorArrays | None:
    """Return the vector of arrays that only have to be copied; None if they need a closer look.

    Those are indices in order, fewer than `most`, and as many real numbers.
    """
    if values.__class__ is not np.ndarray or size.__class__ is not int or not 0 < size <= WIDE:
        return None
    if not _are_positions(indices, size, most) or values.shape != indices.shape:
        return None
    kept = values.dtype
    if kept.kind not in "biuf" or not kept.isnative:
        return None
    positions = indices.astype(index_dtype(size))
    return VectorArrays.sparse(size, dtype_of(values), positions, values.copy())


def vector_from_coo(indices: Any, values: Any, dtype: Any, size: Any, dup_op: Any) -> VectorArrays:
    """Return the arrays of `Vector.from_coo`."""
    made: VectorArrays = arrays_of(vector_entries(indices, values, dtype, size, dup_op), dup_op)
    return made


def arrays_of(given: Entries, dup_op: Any) -> Any:
    """Return checked entries as a vector, or as a csr matrix."""
    merge = None if given.values is None else _merge_for(dup_op, given.dtype)
    make: Any = coo_to_vector if len(given.shape) == 1 else coo_to_matrix
    return make(
        *given.shape, *given.indices, given.values,
        dtype=given.dtype, iso_value=given.shared, merge=merge,
    )  # fmt: skip


def vector_from_scalar(given: Any, size: Any, dtype: Any) -> VectorArrays:
    """Return the arrays of `Vector.from_scalar`: full, with the one value they share.

    `given` is what `as_value` returned.
    """
    size = check_size(size, "size")
    wanted, iso = given.dtype, given.value
    if given.__class__ is not Literal or wanted.kind == "V":
        stored, wanted, iso = values_of(prepared(iso, dtype), size, dtype)
        if stored is not None:
            raise InvalidValue(f"from_scalar takes one value, got {len(stored)} of them")
    values = np.full(1, iso, wanted.array_dtype)
    return VectorArrays(size, wanted, "full", values, nvals=size, iso=True)


def matrix_entries(
    rows: Any, columns: Any, values: Any, dtype: Any, nrows: Any, ncols: Any, dup_op: Any
) -> Entries:
    """Return the entries that `Matrix.from_coo` was given, checked."""
    axes = ("rows", rows, "nrows", nrows), ("columns", columns, "ncols", ncols)
    return _entries(axes, values, dtype, dup_op)


def matrix_from_coo(
    rows: Any, columns: Any, values: Any, dtype: Any, nrows: Any, ncols: Any, dup_op: Any
) -> MatrixArrays:
    """Return the arrays of `Matrix.from_coo`."""
    given = matrix_entries(rows, columns, values, dtype, nrows, ncols, dup_op)
    made: MatrixArrays = arrays_of(given, dup_op)
    return made


def matrix_from_compressed(
    orientation: str, indptr: Any, indices: Any, values: Any, dtype: Any, nmajor: Any, nminor: Any
) -> MatrixArrays:
    """Return the arrays of `Matrix.from_csr` and `from_csc`; sorts rows that need it.

    Raises InvalidValue if ``indptr`` does not fit ``indices``. Raises InvalidIndex if ``indices``
    are no integers.
    """
    offsets, minor = as_array(indptr, "indptr"), as_indices(indices, "indices")
    if offsets.dtype.kind not in "iu":
        raise InvalidValue(f"indptr must hold integers, got {offsets.dtype}")
    offsets = offsets.astype(np.int64)
    if offsets.ndim != 1 or len(offsets) == 0 or offsets[0] != 0 or offsets[-1] != len(minor):
        raise InvalidValue(f"indptr must start at 0 and end at {len(minor)}, the number of indices")
    if bool(np.any(offsets[1:] < offsets[:-1])):
        raise InvalidValue("indptr must not decrease")
    count = len(offsets) - 1
    if nmajor is not None and nmajor != count:
        name = "nrows" if orientation == "csr" else "ncols"
        raise InvalidValue(f"{name} must be {count}, the length of indptr less 1; got {nmajor}")
    largest = _size_for(minor, "indices")
    nminor = largest if nminor is None else nminor
    if nminor < largest:
        raise InvalidObject(f"an index reaches {largest - 1}, the size there is {nminor}")
    minor = minor.astype(np.int64) if len(minor) == 0 else minor
    major = np.repeat(np.arange(count, dtype=index_dtype(count)), np.diff(offsets))
    return _of_lines(orientation, major, minor, values, dtype, count, nminor)


def _of_lines(
    orientation: str, major: Any, minor: Any, values: Any, dtype: Any, count: Any, size: Any
) -> MatrixArrays:
    if orientation == "csr":
        return matrix_from_coo(major, minor, values, dtype, count, size, None)
    return matrix_from_coo(minor, major, values, dtype, size, count, None)


def matrix_from_hypersparse(
    orientation: str,
    compressed: Any,
    indptr: Any,
    indices: Any,
    values: Any,
    dtype: Any,
    nmajor: Any,
    nminor: Any,
) -> MatrixArrays:
    """Return the arrays of `Matrix.from_dcsr` and `from_dcsc`: only some rows are listed.

    Raises InvalidValue if ``indptr`` does not fit the other arrays.
    """
    named, offsets = as_indices(compressed, "compressed"), as_indices(indptr, "indptr")
    minor = as_indices(indices, "indices")
    if len(offsets) != len(named) + 1 or int(offsets[0]) != 0 or int(offsets[-1]) != len(minor):
        raise InvalidValue(
            f"indptr must hold {len(named) + 1} offsets from 0 to {len(minor)}, the number of "
            f"listed rows (columns) and of indices; got {offsets.tolist()[:8]}"
        )
    lengths: NDArray[np.int64] = np.diff(offsets.astype(np.int64)).astype(np.int64)
    if bool(np.any(lengths < 0)):
        raise InvalidValue("indptr must not decrease")
    if nmajor is None:
        nmajor = _size_for(named, "compressed")
    if nminor is None:
        nminor = _size_for(minor, "indices")
    major = np.repeat(named.astype(np.int64), lengths)
    return _of_lines(orientation, major, minor, values, dtype, nmajor, nminor)


def edges_of(edgelist: Any, values: Any) -> tuple[Any, Any, Any]:
    """Return (rows, columns, values) of an edge list.

    That is an array of shape (n, 2), or an iterable of pairs or triples, with a value in the last
    place. Raises InvalidValue for rows of another length, or an array with three columns, and
    TypeError for triples if there are `values` as well.
    """
    if isinstance(edgelist, np.ndarray):
        _check_edge_array(edgelist)
        return edgelist[:, 0], edgelist[:, 1], 1.0 if values is None else values
    edges = [tuple(edge) for edge in edgelist]
    widths = {len(edge) for edge in edges}
    if not widths <= {2} and not widths <= {3}:
        raise InvalidValue(f"edgelist must have two or three items per edge, got {sorted(widths)}")
    rows, cols = [edge[0] for edge in edges], [edge[1] for edge in edges]
    if widths == {3}:
        if values is not None:
            raise TypeError("Too many sources of values: triples in `edgelist`, and `values`")
        values = [edge[2] for edge in edges]
    return rows, cols, ([] if not edges else 1.0) if values is None else values


def _check_edge_array(edgelist: NDArray[Any]) -> None:
    if edgelist.ndim != 2:
        raise InvalidValue(f"edgelist array must have 2 dimensions, got {edgelist.ndim}")
    if edgelist.shape[1] == 3:
        raise InvalidValue("values must be passed separately from an edgelist array of 2 columns")
    if edgelist.shape[1] != 2:
        raise InvalidValue(
            f"edgelist array must be length 2 in its second dimension, got {edgelist.shape[1]}"
        )


def triples_of(
    nested: Any, order: str, nrows: Any, ncols: Any
) -> tuple[NDArray[Any], NDArray[Any], list[Any], Any, Any]:
    """Return (rows, columns, values, nrows, ncols) of nested dicts, or of a list of dicts.

    Raises InvalidValue if `order` is unknown, or the size along the listed axis is not the list's
    length, and InvalidIndex or IndexOutOfBound as `as_indices` does.
    """
    rowwise = is_rowwise(order)
    names = ("rows", "columns") if rowwise else ("columns", "rows")
    is_list = not hasattr(nested, "items")
    items = list(enumerate(nested)) if is_list else list(nested.items())
    lines = as_indices([i for i, _ in items], names[0])
    major = np.repeat(lines, [len(inner) for _, inner in items])
    minor = as_indices([j for _, inner in items for j in inner], names[1])
    values = [x for _, inner in items for x in inner.values()]
    given, other = (nrows, ncols) if rowwise else (ncols, nrows)
    least, largest = _size_for(lines, names[0]), _size_for(minor, names[1])
    if is_list and given is not None and given != least:
        name = "nrows" if rowwise else "ncols"
        raise InvalidValue(f"{name} must be {least}, the length of the list; got {given}")
    if other is not None and other < largest:
        raise InvalidObject(f"an index reaches {largest - 1}, the size there is {other}")
    given = least if given is None else given
    other = largest if other is None else other
    if rowwise:
        return major, minor, values, given, other
    return minor, major, values, other, given


def is_rowwise(order: str) -> bool:
    """Whether `order` means rows: ``"rowwise"``, ``"row"``, ``"C"``; or ``"columnwise"``, ``"F"``.

    Raises InvalidValue if it means neither.
    """
    word = str(order).lower()
    if word in ("rowwise", "row", "rows", "c"):
        return True
    if word in ("columnwise", "colwise", "column", "col", "columns", "cols", "f"):
        return False
    raise InvalidValue(f"Bad value for order: {order!r}; choose rowwise or columnwise")
