"""Values and layouts of dtypes that users make of NumPy records and sub-arrays.

A record dtype keeps its values in structured arrays. A sub-array dtype such as ``INT64[3]`` keeps
them in structured arrays of one field, so that every array of values has one dimension whatever
the dtype; `encode` and `visible` convert at the boundary.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.base.errors import DimensionMismatch, DomainMismatch, InvalidValue

#: Name of the one field of the records that hold the values of a sub-array dtype.
FIELD = "_values"


def cuda_record(itemsize: int) -> str:
    """Return the CUDA type of records of `itemsize` bytes, aligned as far as arrays of them are.

    Examples
    --------
    >>> cuda_record(24), cuda_record(12)
    ('Record<24, 8>', 'Record<12, 4>')
    """
    return f"Record<{itemsize}, {math.gcd(itemsize, 8)}>"


def flattened(dtype: np.dtype[Any]) -> tuple[np.dtype[Any], tuple[int, ...]]:
    """Return the innermost dtype of a sub-array dtype, and the shape of one value.

    Examples
    --------
    >>> flattened(np.dtype("(3,)int16"))
    (dtype('int16'), (3,))
    """
    shape: tuple[int, ...] = ()
    while dtype.subdtype is not None:
        dtype, outer = dtype.subdtype
        shape += outer
    return dtype, shape


def layout(dtype: np.dtype[Any]) -> Any:
    """Return a NumPy dtype as a str, a pair or a dict that `of_layout` (or NumPy) turns back.

    Examples
    --------
    >>> layout(np.dtype("(3,)int16"))
    ('<i2', (3,))
    """
    if dtype.subdtype is not None:
        inner, shape = dtype.subdtype
        return layout(inner), tuple(shape)
    if dtype.fields is None or dtype.names is None:
        return dtype.str
    fields = [dtype.fields[name] for name in dtype.names]
    return {
        "names": list(dtype.names),
        "formats": [layout(field[0]) for field in fields],
        "offsets": [int(field[1]) for field in fields],
        "itemsize": dtype.itemsize,
        "aligned": dtype.isalignedstruct,
    }


def of_layout(given: Any) -> np.dtype[Any]:
    """Return the NumPy dtype that `layout` described, also after a passage through JSON."""
    if isinstance(given, (list, tuple)):
        inner, shape = given
        nested: np.dtype[Any] = np.dtype((of_layout(inner), tuple(shape)))
        return nested
    if isinstance(given, dict):
        fields: Any = {**given, "formats": [of_layout(part) for part in given["formats"]]}
        record: np.dtype[Any] = np.dtype(fields)
        return record
    plain: np.dtype[Any] = np.dtype(given)
    return plain


# --- values -----------------------------------------------------------------------------------


def _as_tuples(value: Any, dtype: np.dtype[Any]) -> Any:
    """Return dicts as tuples in the order of the fields, at any depth."""
    if value is None:
        raise InvalidValue("None is no value of a record; to delete entries write `del x[...]`")
    if dtype.fields is None or dtype.names is None:
        return value
    if isinstance(value, dict):
        if set(value) != set(dtype.names):
            raise InvalidValue(f"fields {sorted(value)} for a record of {list(dtype.names)}")
        parts = [value[name] for name in dtype.names]
    elif isinstance(value, tuple) and len(value) == len(dtype.names):
        parts = list(value)
    elif isinstance(value, list):
        return [_as_tuples(one, dtype) for one in value]
    else:
        return value
    fields = (dtype.fields[name][0] for name in dtype.names)
    return tuple(_as_tuples(part, field) for part, field in zip(parts, fields, strict=True))


def encode(dtype: Any, values: Any, ndim: int) -> NDArray[Any]:
    """Return values as an array of ``dtype.array_dtype`` with `ndim` dimensions; a copy.

    Records are tuples, dicts or structured arrays; numbers fill every field. Values of a sub-array
    dtype are arrays whose last dimensions are the dtype's; a single number fills one. Raises
    DomainMismatch if they do not fit the fields, DimensionMismatch for other dimensions.
    """
    try:
        if dtype.shape:
            return _encode_arrays(dtype, values, ndim)
        raw = values if isinstance(values, (np.ndarray, np.void)) else None
        if raw is None:
            raw = np.array(_as_tuples(values, dtype.array_dtype), dtype.array_dtype)
        made = np.array(raw).astype(dtype.array_dtype)
    except (TypeError, ValueError, OverflowError) as error:
        if isinstance(error, DimensionMismatch):
            raise
        raise DomainMismatch(f"{values!r} is no value of dtype {dtype}: {error}") from None
    if made.ndim != ndim:
        raise DimensionMismatch(f"values of {made.ndim} dimensions, expected {ndim}")
    return made


def _encode_arrays(dtype: Any, values: Any, ndim: int) -> NDArray[Any]:
    leaf, shape = flattened(dtype.np_type)
    raw = np.asarray(values)
    if raw.dtype == dtype.array_dtype:
        return np.array(raw)
    raw = raw.astype(leaf)
    outer = raw.shape[: raw.ndim - len(shape)]
    if ndim == 0 and raw.ndim <= len(shape):
        outer, raw = (), np.broadcast_to(raw, shape)
    elif len(outer) != ndim or raw.shape[len(outer) :] != shape:
        raise DimensionMismatch(
            f"values of shape {raw.shape} do not include dtype shape {shape} of {dtype}"
        )
    made = np.zeros(outer, dtype.array_dtype)
    made[FIELD] = raw
    return made


def visible(values: Any) -> Any:
    """Return stored values, an array or one of them, as users see them; may share memory."""
    return values[FIELD] if values.dtype.names == (FIELD,) else values
