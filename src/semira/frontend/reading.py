"""Reading objects on the host: arrays, single entries, comparison."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from semira.base.dtypes import INT64, DataType, infer_dtype, lookup_dtype, unify
from semira.base.errors import DomainMismatch, IndexOutOfBound, InvalidIndex, OutOfMemory
from semira.base.memory import in_bytes, require_bytes, tells_shortage
from semira.base.record_dtypes import visible
from semira.engine import recording, trace
from semira.formats import MatrixArrays, ScalarArrays, VectorArrays, coo_to_matrix
from semira.frontend.call import Template, emit, fresh_value
from semira.frontend.checks import expect
from semira.frontend.kinds import wrap
from semira.frontend.range_check import as_fitting
from semira.frontend.records import is_record, read, same_values
from semira.ops.meaning import cast_array

_REMEDY = "read it after the loop, or keep the result in a Scalar"


def host_arrays(operand: Any, what: str) -> Any:
    """Return the arrays of an operand, transposed if it is a transpose.

    Raises RecordError inside a recorded loop body.
    """
    recording.refuse_host_read(f"{what} reads values on the host", _REMEDY)
    value, transposed = operand._operand()
    arrays = value.read()
    return arrays.flipped() if transposed else arrays


def matrix_arrays(operand: Any, what: str) -> MatrixArrays:
    """Return the arrays of a matrix operand."""
    return host_arrays(operand, what)  # type: ignore[no-any-return]


def known_symmetry(operand: Any) -> bool | None:
    """Return whether a matrix is known to equal its transpose; reads no entries.

    Raises RecordError inside a recorded loop body.
    """
    recording.refuse_host_read("symmetric reads values on the host", _REMEDY)
    known: bool | None = operand._operand()[0].symmetric
    return known


def vector_arrays(operand: Any, what: str) -> VectorArrays:
    """Return the arrays of a vector operand."""
    return host_arrays(operand, what)  # type: ignore[no-any-return]


def scalar_value(operand: Any, what: str) -> Any:
    """Return the value of a scalar operand, None if empty."""
    arrays: ScalarArrays = host_arrays(operand, what)
    if isinstance(arrays.value, np.void):
        return visible(arrays.value.copy())
    return arrays.value.item() if isinstance(arrays.value, np.generic) else arrays.value


#: What a recorded loop body cannot do with an object, in which contents change by ``<<`` alone: how
#: it is called, and the remedy.
_NOT_RECORDED = {
    "clear": ("clearing {}", "write `x << x.dup(clear=True)`, or with a mask and replace=True"),
    "build": ("building {} of arrays of the host", "build it before the loop, or use `<<`"),
    "resize": (
        "resizing {}",
        "shapes stay the same in a loop: resize it before, or make an object of the largest shape",
    ),
    # The module `copy` comes this way too.
    "pickle": (
        "pickling or copying {} through the host",
        "copy with `x.dup()`, pickle after the loop",
    ),
}


def refuse_recorded(item: Any, deed: str) -> None:
    """Raise RecordError inside a recorded loop body; `deed` is one of `_NOT_RECORDED`."""
    what, remedy = _NOT_RECORDED[deed]
    recording.refuse_host_read(what.format(item.name), remedy)


def replace_contents(item: Any, arrays: Any) -> None:
    """Give an object new contents from the host.

    Raises RecordError inside a recorded loop body: it would happen once, while recording.
    """
    recording.refuse_host_read(
        f"{item.name} gets new contents from the host", "build it before the loop, or use `<<`"
    )
    item._value.replace_contents(arrays)


def cast_values(values: Any, dtype: Any) -> Any:
    """Return values cast to `dtype` (as they are if it is None) that the caller may change."""
    if values.dtype.names is not None:
        return read(values, dtype)
    cast = values if dtype is None else cast_array(values, lookup_dtype(dtype).array_dtype)
    return cast.copy() if cast is values else cast


def empty_dense(operand: Any, fill_value: Any, dtype: Any, *, complete: bool) -> Any:
    """Return the array of `to_dense` before entries are written.

    Raises TypeError if entries are missing and there is no `fill_value`. Raises OutOfMemory if the
    array does not fit.
    """
    if getattr(fill_value, "kind", None) == "scalar":
        fill_value = fill_value.value
    wanted = operand.dtype if dtype is None else lookup_dtype(dtype)
    numbers = (bool, int, float, complex, np.generic)
    is_of_records = is_record(wanted) or is_record(operand.dtype)
    if is_of_records and operand.dtype is not wanted:
        raise DomainMismatch(f"{operand.dtype} cannot be read as {wanted}")
    if not (is_of_records or fill_value is None or isinstance(fill_value, numbers)):
        raise TypeError(
            f"Bad type for keyword argument `fill_value`: {type(fill_value)}; give a number"
        )
    if fill_value is None and not complete:
        raise TypeError("fill_value must be given in `to_dense` when there are missing values")
    if is_of_records:
        dense = _room(operand.shape, wanted)
        dense[...] = np.zeros((), wanted.array_dtype) if complete else wanted.scalar(fill_value)
        return dense
    if not complete and dtype is None:
        wanted = unify(infer_dtype(fill_value), wanted)
    dense = _room(operand.shape, wanted)
    if not complete:
        dense[...] = as_fitting(fill_value, wanted)
    return dense


def _room(shape: tuple[int, ...], dtype: DataType) -> Any:
    needed = math.prod(shape) * dtype.array_dtype.itemsize
    what, remedy = f"a dense array of shape {shape} and dtype {dtype}", "use the entries (to_coo)"
    require_bytes(needed, what, remedy)
    try:
        return np.empty(shape, dtype.array_dtype)
    except (MemoryError, ValueError) as error:
        raise OutOfMemory(f"{what} needs {in_bytes(needed)}; {remedy}") from error


def count_entries(operand: Any) -> Any:
    """Return the number of entries: an int, or a symbolic Scalar while recording."""
    value: Any = None
    if recording.current() is None:
        value = operand._operand()[0]
        known = value.known_nvals()
        if known is None and not trace.is_watched():
            known = value.count_entries()
        if known is not None:
            return known
    template = Template("nvals", (operand,), "scalar", INT64, (), ())
    counted = fresh_value("scalar", INT64, ())
    emit(template, counted, new=True)
    if value is None:
        return wrap(counted)
    found = value.count = int(counted.read().value)  # type: ignore[union-attr]
    return found


def check_position(position: Any, size: int, what: str) -> int:
    """Return a position after wrapping a negative one.

    Raises IndexOutOfBound if it lies outside ``[-size, size)``.
    """
    if not hasattr(position, "__index__"):
        where = "index in Vector" if what == "vector" else f"row, col ({what}) in Matrix"
        raise InvalidIndex(f"Bad {where}.get: {position!r}; give an integer")
    number = int(position)
    if not -size <= number < size:
        raise IndexOutOfBound(f"{what} index {number} is outside [{-size}, {size})")
    return number % size


def _same_values(left: Any, right: Any, rel_tol: float | None, abs_tol: float) -> bool:
    if left.dtype.names is not None or right.dtype.names is not None:
        return same_values(left, right, is_close=rel_tol is not None)
    if rel_tol is None:
        return bool(np.array_equal(left, right))
    return bool(np.all(_is_close(np.asarray(left), np.asarray(right), rel_tol, abs_tol)))


def _is_close(left: Any, right: Any, rel_tol: float, abs_tol: float) -> Any:
    """Return where ``left == right`` or ``|left - right| <= max(rel_tol * largest, abs_tol)``.

    An infinite number is close to itself alone, NaN to nothing.
    """
    x, y = (each.astype("c16" if each.dtype.kind == "c" else "f8") for each in (left, right))
    with np.errstate(over="ignore", invalid="ignore"):
        apart = np.abs(x - y)
        tolerance = np.maximum(rel_tol * np.maximum(np.abs(x), np.abs(y)), abs_tol)
    if left.dtype.kind in "iu" and right.dtype.kind in "iu":
        # Beyond 2**53 integers differ by less than float64 tells, but not than uint64 does.
        a, b = left.astype(np.uint64), right.astype(np.uint64)
        exact = np.where(left > right, a - b, b - a)
        apart = np.where(apart < 2.0**63, exact, apart)
    return (left == right) | (np.isfinite(apart) & (apart <= tolerance))


@tells_shortage("a comparison on the host")
def equal(
    left: Any, right: Any, *, check_dtype: bool, rel_tol: float | None = None, abs_tol: float = 0.0
) -> bool:
    """Whether two operands have the same entries (values equal, or close if `rel_tol`)."""
    expect(right, (left.kind,), "other", f"{left.kind.capitalize()}.isequal")
    if left.shape != right.shape:
        return False
    if check_dtype and left.dtype is not right.dtype:
        return False
    a, b = host_arrays(left, "isequal"), host_arrays(right, "isequal")
    if a.nvals != b.nvals:
        return False
    if left.kind == "scalar":
        if a.value is None:
            return True
        values = a.value, b.value
        if is_record(left.dtype) is not is_record(right.dtype):
            wanted = left.dtype if is_record(left.dtype) else right.dtype
            values = tuple(wanted.scalar(visible(np.asarray(one))) for one in values)
        return _same_values(*values, rel_tol, abs_tol)
    if left.kind == "vector":
        if not np.array_equal(a.entry_indices(), b.entry_indices()):
            return False
        return _same_values(a.entry_values(), b.entry_values(), rel_tol, abs_tol)
    first, second = sorted_coo(a), sorted_coo(b)
    if not all(np.array_equal(x, y) for x, y in zip(first[:2], second[:2], strict=True)):
        return False
    return _same_values(first[2], second[2], rel_tol, abs_tol)


def sorted_coo(arrays: MatrixArrays) -> tuple[Any, Any, Any]:
    """Return rows, columns, values by rows, then columns."""
    rows, cols, values = arrays.to_coo()
    if arrays.orientation == "csc":
        order = np.lexsort((cols, rows))
        return rows[order], cols[order], values[order]
    return rows, cols, values


def oriented(arrays: MatrixArrays, orientation: str) -> MatrixArrays:
    """Return the matrix by rows (``csr``) or columns (``csc``), sorted anew if it is not."""
    if arrays.orientation == orientation:
        return arrays
    lines = arrays.indices, arrays.entry_major()
    return listed(orientation, arrays.shape, lines, arrays.values, arrays.dtype, is_iso=arrays.iso)


def listed(
    orientation: str, shape: tuple[int, int], lines: tuple[Any, ...], values: Any, dtype: DataType,
    *, is_iso: bool,
) -> MatrixArrays:  # fmt: skip
    """Return the matrix of entries at (major, minor) `lines`, in any order."""
    (count, size), (major, minor) = shape if orientation == "csr" else shape[::-1], lines
    made = coo_to_matrix(
        count, size, major, minor, None if is_iso else values,
        dtype=dtype, iso_value=values[0] if is_iso and len(values) else 1,
    )  # fmt: skip
    return made if orientation == "csr" else made.flipped()
