"""What callers pass as numbers: arrays of any kind, checked against the dtype of an object."""

from __future__ import annotations

from decimal import Decimal
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.base.dtypes import DataType, lookup_dtype
from semira.base.errors import InvalidValue, UnknownDtype
from semira.ops.meaning import cast_array


def misfit(value: Any, dtype: DataType, place: tuple[int, ...] = ()) -> InvalidValue:
    """Return the error that says which numbers fit.

    `place` is where the value stands in the array it comes from; empty for one that comes alone.
    """
    if np.iscomplexobj(value) and dtype.kind != "C":
        limits, remedy = "no imaginary part", "take the real part first, or choose dtype FC64"
    elif dtype.kind in "FC":
        limit = np.finfo(dtype.np_type).max
        limits, remedy = f"limits {-limit:g} .. {limit:g}", "choose a wider dtype, or scale it"
    elif np.isnan(float(value)):
        limits, remedy = "integers only", "leave the entry out, or choose dtype FP64"
    elif dtype.smallest <= value <= dtype.largest:
        limits, remedy = "no fractions", "round it, or choose dtype FP64"
    else:
        limits, remedy = f"limits {dtype.smallest} .. {dtype.largest}", "choose a wider dtype"
    return InvalidValue(f"{value} does not fit into {dtype} ({limits}){_at(place)}; {remedy}")


def _at(place: tuple[int, ...]) -> str:
    return f" at position {', '.join(map(str, place))}" if place else ""


def check_written(value: Any, dtype: DataType) -> None:
    """Check that an integer of Python that is no INT64 fits where it is written.

    Smaller ones wrap in assignments, as they do in SuiteSparse. Raises InvalidValue if it does not;
    the message has the limits.
    """
    if value.__class__ is not int or -(2**63) <= value < 2**63 or not dtype.is_integer:
        return
    if not dtype.smallest <= value <= dtype.largest:
        raise misfit(value, dtype)


def masked_positions(values: Any) -> NDArray[np.bool_] | None:
    """Return the mask of a masked array of NumPy; None where nothing is masked.

    Examples
    --------
    >>> masked_positions(np.ma.array([1, 2], mask=[False, True])).tolist()
    [False, True]
    """
    if type(values) is np.ndarray or not isinstance(values, np.ndarray):
        return None
    mask = getattr(values, "mask", None)
    return mask if mask is not None and bool(np.any(mask)) else None


def as_array(values: Any, what: str = "values") -> NDArray[Any]:
    """Return what a caller passes as an array in this machine's byte order.

    Numbers of 16 bits become FP32, which has all of them. Raises InvalidValue if elements are
    masked, or have different shapes.
    """
    mask = masked_positions(values)
    if mask is not None:
        raise _masked(int(np.count_nonzero(mask)), int(np.argmax(mask)), what)
    try:
        array = np.asarray(values)
    except ValueError:
        _check_lengths(values, what)
        raise
    if array.dtype.kind == "f" and isinstance(values, (list, tuple)) and np.isnan(array).any():
        found = [k for k, each in enumerate(values) if type(each).__name__ == "MaskedConstant"]
        if found:
            raise _masked(len(found), found[0], what)
    if array.dtype == np.float16:
        return array.astype(np.float32)
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def _check_lengths(values: Any, what: str) -> None:
    """Raise if elements of a list have different shapes."""
    if not isinstance(values, (list, tuple)):
        return
    shapes = [(len(x),) if isinstance(x, (list, tuple)) else np.shape(x) for x in values]
    for k, shape in enumerate(shapes):
        if shape != shapes[0]:
            raise InvalidValue(
                f"{what}: element {k} has shape {shape}, and element 0 has {shapes[0]}; all must "
                "have one shape"
            )


def _masked(count: int, first: int, what: str) -> InvalidValue:
    return InvalidValue(
        f"{what}: {count} masked elements, the first at position {first}; from_dense leaves masked "
        "elements out, elsewhere pass the others (x.compressed()) or fill them in (x.filled(0))"
    )


def dtype_of(array: NDArray[Any]) -> DataType:
    """Return the dtype of an object made of an array.

    Raises InvalidValue if its elements are Python objects. Raises UnknownDtype if there is none;
    for numbers of more digits than FP64 the message says what to do.
    """
    if array.dtype.kind == "O":
        raise InvalidValue("object dtype for values is not allowed; give numbers of one dtype")
    if array.dtype.char in "gG" and array.dtype.itemsize > 8 * (1 + (array.dtype.char == "G")):
        rounded = "FP64" if array.dtype.char == "g" else "FC64"
        raise UnknownDtype(
            f"{array.dtype} has more digits than any dtype here; pass dtype={rounded!r} to round"
        )
    return lookup_dtype(array.dtype)


def as_fitting(values: Any, dtype: DataType, *, exact: bool = False) -> NDArray[Any]:
    """Return an array, or a number, cast to a built-in dtype that has room for every value.

    Floats lose their fractions on the way to integers unless it must be `exact`, and numbers become
    truth values, as in NumPy; nothing wraps around and nothing turns into infinity. Raises
    InvalidValue if a value does not fit; the message names it, its position and the limits.

    Examples
    --------
    >>> from semira.dtypes import INT8
    >>> as_fitting(np.array([1.5, 127.0]), INT8).tolist()
    [1, 127]
    """
    array, target = np.asarray(values), dtype.array_dtype
    if array.dtype.kind == "O":
        array = _of_objects(array, dtype)
    if array.dtype == target or target.kind == "b" or np.can_cast(array.dtype, target):
        return np.asarray(cast_array(array, target))
    cast = np.asarray(cast_array(array, target))
    wrong = _misfitting(array, cast, target)
    if exact and wrong is None and target.kind in "iu" and array.dtype.kind == "f":
        wrong = np.trunc(array) != array
    if wrong is None or not wrong.any():
        return cast
    place = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
    raise misfit(array[place], dtype, tuple(map(int, place)))


def _misfitting(
    array: NDArray[Any], cast: NDArray[Any], target: np.dtype[Any]
) -> NDArray[Any] | None:
    """Return where values do not fit; None if all do."""
    if array.dtype.kind == "c" and target.kind != "c":
        imaginary = np.not_equal(array.imag, 0)
        return imaginary if imaginary.any() else _misfitting(array.real, cast, target)
    if target.kind in "fc":
        lost = np.isinf(cast)
        return lost & np.isfinite(array) if lost.any() else None
    if not array.size:
        return None
    limits = np.iinfo(target)
    low, high = array.min(), array.max()
    if array.dtype.kind == "f":
        # As floats: the limits beyond those of integers are powers of two, and nan is in no range.
        least, beyond = float(limits.min), float(limits.max + 1)
        if np.trunc(low) >= least and np.trunc(high) < beyond:
            return None
        whole = np.trunc(array)
        fits: NDArray[np.bool_] = (whole >= least) & (whole < beyond)
        return ~fits
    if limits.min <= int(low) and int(high) <= limits.max:
        return None
    return np.logical_or(array < limits.min, array > limits.max)


def _of_objects(array: NDArray[Any], dtype: DataType) -> NDArray[Any]:
    """Return numbers for which NumPy has no dtype, such as 2**70 or a Fraction, in a dtype."""
    convert = {"I": int, "U": int, "F": float, "B": bool}.get(dtype.kind, complex)
    made = np.empty(array.shape, dtype.array_dtype)
    for place, value in np.ndenumerate(array):
        if not isinstance(value, (Number, Decimal, np.generic)):
            raise InvalidValue(
                f"object dtype for values is not allowed: {value!r}{_at(place)} is no number"
            )
        try:
            made[place] = convert(value)
        except (OverflowError, ValueError):
            raise misfit(value, dtype, place) from None
    return made
