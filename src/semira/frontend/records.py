"""Values of user-defined dtypes as callers pass and read them, and where they may be written."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from semira.base.dtypes import DataType, RecordType, lookup_dtype
from semira.base.errors import DimensionMismatch, DomainMismatch, DtypeUnsupported
from semira.base.record_dtypes import encode, visible
from semira.engine.calls import Literal
from semira.frontend.range_check import as_array

#: Operations that write their first argument as it is.
_WRITES = ("assign", "copy")


def is_record(dtype: DataType) -> bool:
    """Whether a dtype was made by the user."""
    return dtype.kind == "V"


def fitted_source(template: Any, out: DataType) -> Any:
    """Return an operation whose result can be written into `out`; scalars become records.

    Raises DomainMismatch if its result has another dtype, and one of both is user-defined.
    """
    source: Any = template.args[0] if template.op in _WRITES else None
    if template.dtype is out:
        return template
    is_scalar = isinstance(source, Literal) or getattr(source, "kind", "") == "scalar"
    if is_record(template.dtype) or not is_scalar:
        raise DomainMismatch(
            f"{template.dtype} cannot be written into {out}: user-defined dtypes are cast to "
            "nothing else; take a field with an operator made with is_udt=True"
        )
    if isinstance(source, Literal):
        source = Literal(out, None if source.value is None else out.scalar(source.value))
    elif template.kind != "scalar":
        source = source.dup(out)
    return replace(template, args=(source, *template.args[1:]), dtype=out)


def bound_scalar(given: Any, dtype: DataType) -> Any:
    """Return a scalar operand of an operator on records: numbers become records."""
    if isinstance(given, Literal):
        return given if is_record(given.dtype) else Literal(dtype, dtype.scalar(given.value))
    if given is not None and getattr(given, "kind", None) == "scalar":
        return given if is_record(given.dtype) else given.dup(dtype)
    return given if hasattr(given, "_operand") else Literal(dtype, dtype.scalar(given))


def region_value(dtype: RecordType, given: Any, region: tuple[int, ...]) -> Any:
    """Return what is written into a region: one value, or an array of values of its shape.

    Raises DomainMismatch if `given` is no value of the dtype, and DimensionMismatch for an array of
    another shape.
    """
    is_array = bool(region) and isinstance(given, (list, np.ndarray))
    is_one = bool(dtype.shape) and is_array and np.shape(given) == dtype.shape
    if not is_array or np.ndim(given) == 0 or is_one:
        return Literal(dtype, dtype.scalar(given))
    try:
        array = encode(dtype, given, len(region))
    except DimensionMismatch as error:
        raise DimensionMismatch(f"shape mismatch: {error}") from None
    if array.shape != region:
        raise DimensionMismatch(
            f"shape mismatch: values of shape {array.shape} for a region of shape {region}"
        )
    return array


def prepared(values: Any, dtype: Any, ndim: int = 1) -> Any:
    """Return values for an object of a user-defined dtype as records; other values as an array.

    Without `dtype`, structured arrays name theirs, and of arrays with more than `ndim` dimensions
    those in excess make a sub-array dtype.
    """
    wanted = None if dtype is None else lookup_dtype(dtype)
    if getattr(values, "kind", None) == "scalar":
        if not is_record(wanted or values.dtype):
            return np.asarray(values)
        return np.asarray(bound_scalar(values.value, wanted or values.dtype).value)
    if wanted is None:
        array = as_array(values)
        if array.dtype.names is not None:
            wanted = lookup_dtype(array.dtype)
        elif array.ndim > ndim and array.dtype.kind in "biufc":
            wanted = lookup_dtype(np.dtype((array.dtype, array.shape[ndim:])))
        else:
            return array
        values = array
    if not isinstance(wanted, RecordType):
        return as_array(values)
    is_one = isinstance(values, tuple) or np.ndim(values) == 0 or isinstance(values, dict)
    if is_one and wanted.shape and np.shape(values) != wanted.shape and np.ndim(values):
        is_one = False
    return encode(wanted, values, 0 if is_one else ndim)


def read(values: Any, dtype: Any) -> Any:
    """Return a copy of stored records as users see them.

    Raises DomainMismatch if another dtype is asked for: records are cast to nothing else.
    """
    if dtype is not None and lookup_dtype(dtype).array_dtype != values.dtype:
        raise DomainMismatch(
            f"{lookup_dtype(values.dtype)} cannot be read as {lookup_dtype(dtype)}; read it as it "
            "is and take a field of the array"
        )
    return np.array(visible(values))


def same_values(left: Any, right: Any, *, is_close: bool) -> bool:
    """Whether two arrays of records are equal.

    Raises DomainMismatch if their dtypes differ. Raises DtypeUnsupported if they are to be compared
    by closeness.
    """
    if is_close:
        raise DtypeUnsupported("isclose does not work with user-defined dtypes; use isequal")
    if left.dtype != right.dtype:
        raise DomainMismatch(
            f"{lookup_dtype(left.dtype)} and {lookup_dtype(right.dtype)} cannot be compared"
        )
    return bool(np.all(left == right))
