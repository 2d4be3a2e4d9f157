"""Dtypes that users make of NumPy records and sub-arrays.

A record dtype keeps its values in structured arrays. A sub-array dtype such as ``INT64[3]`` keeps
them in structured arrays of one field, so that every array of values has one dimension whatever
the dtype; `encode` and `visible` convert at the boundary.
"""

from __future__ import annotations

import hashlib
import math
from ast import literal_eval
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.base.dtypes import BY_NUMPY, DataType, is_taken, lookup_dtype
from semira.base.errors import DimensionMismatch, DomainMismatch, InvalidValue, UnknownDtype

#: Name of the one field of the records that hold the values of a sub-array dtype.
FIELD = "_values"

_NAMED: dict[str, RecordType] = {}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RecordType(DataType):
    """A dtype made of a NumPy record or sub-array dtype; the only one of its layout.

    Values are copied, compared for equality and given to user-defined operators made with
    ``is_udt=True``; there is no arithmetic on them.
    """

    def __post_init__(self) -> None:
        held = self.np_type
        if held.subdtype is not None:
            leaf, shape = flattened(held)
            held = np.dtype([(FIELD, leaf, shape)])
        object.__setattr__(self, "array_dtype", held)

    def __hash__(self) -> int:
        return hash(self.np_type)

    def __reduce__(self) -> tuple[Any, ...]:
        return rebuilt, (self.name, self.np_type, self.is_anonymous)

    @property
    def gb_name(self) -> None:  # type: ignore[override]
        """None: the C API has no name for it."""

    @property
    def c_type(self) -> str:
        """So many bytes."""
        return f"uint8_t[{self.itemsize}]"

    @property
    def part(self) -> DataType:
        """The dtype itself: it has no real and imaginary part."""
        return self

    @property
    def is_anonymous(self) -> bool:
        """Whether no name was registered for it."""
        return _NAMED.get(self.name) is not self

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of one value: ``()`` for records."""
        return () if self.np_type.subdtype is None else flattened(self.np_type)[1]

    def scalar(self, value: Any) -> Any:
        """Return `value` as a record that shares memory with nothing."""
        return encode(self, value, 0)[()]


def cuda_record(itemsize: int) -> str:
    """Return the CUDA type of records of so many bytes, aligned as far as arrays of them are.

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


def name_of(dtype: np.dtype[Any]) -> str:
    """Return the name of a dtype that was given none.

    Examples
    --------
    >>> name_of(np.dtype([("x", np.int32), ("y", np.float64, 2)]))
    "{'x': INT32, 'y': FP64[2]}"
    """
    if dtype in BY_NUMPY and not isinstance(BY_NUMPY[dtype], RecordType):
        return BY_NUMPY[dtype].name
    if dtype.subdtype is not None:
        inner, shape = dtype.subdtype
        return f"{name_of(inner)}[{', '.join(map(str, shape))}]"
    if dtype.names is None or dtype.fields is None:
        return repr(dtype)
    parts = (f"{name!r}: {name_of(dtype.fields[name][0])}" for name in dtype.names)
    return f"{{{', '.join(parts)}}}"


def as_numpy(given: Any) -> np.dtype[Any]:
    """Return the NumPy dtype meant by a dtype, a dict of fields, or ``"INT64[3]"``.

    Raises
    ------
    UnknownDtype
        It means none.
    """
    if isinstance(given, DataType):
        return given.np_type
    if isinstance(given, dict):
        fields = [(name, lookup_dtype(part).np_type) for name, part in given.items()]
        return np.dtype(fields, align=True)
    if isinstance(given, str) and given.endswith("]") and "[" in given:
        inner, _, shape = given.partition("[")
        try:
            return np.dtype((lookup_dtype(inner).np_type, tuple(literal_eval(f"[{shape}"))))
        except (SyntaxError, ValueError, TypeError):
            raise UnknownDtype(
                f"Unknown dtype: {given!r}; a sub-array is written like 'INT64[3]'"
            ) from None
    try:
        made: np.dtype[Any] = np.dtype(given)
        return made
    except (TypeError, ValueError, SyntaxError):
        raise UnknownDtype(f"Unknown dtype: {given!r}") from None


def _check_leaves(dtype: np.dtype[Any], whole: np.dtype[Any]) -> None:
    if dtype.subdtype is not None:
        _check_leaves(flattened(dtype)[0], whole)
    elif dtype.fields is not None:
        for field in dtype.fields.values():
            _check_leaves(field[0], whole)
    elif dtype not in BY_NUMPY:
        raise UnknownDtype(
            f"Unknown dtype: {whole} holds {dtype}; records and sub-arrays are made of bool, "
            "integers, floats and complex numbers in this machine's byte order"
        )


def _spelled(dtype: np.dtype[Any]) -> str:
    """Return a layout as text; NumPy's own changes from release to release."""
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        return f"{_spelled(base)}*{shape}"
    if dtype.names is None:
        return dtype.str
    assert dtype.fields is not None
    rows = ((name, dtype.fields[name]) for name in dtype.names)
    fields = ",".join(f"{name!r}@{row[1]}:{_spelled(row[0])}" for name, row in rows)
    return f"{{{fields}}}{dtype.itemsize}"


def register_anonymous(dtype: Any, name: str | None = None) -> DataType:
    """Return the dtype of a NumPy record or sub-array dtype, made if there is none yet.

    Parameters
    ----------
    dtype : numpy dtype, dict of field to dtype, or str
        ``{"x": int, "y": float}`` makes an aligned record, ``"INT64[3]"`` a sub-array.
    name : str, optional
        What it is called from now on; one layout is one dtype.

    Raises
    ------
    UnknownDtype
        It is neither a record nor a sub-array, or holds something that is no number.
    InvalidValue
        It holds Python objects, or is a built-in dtype under another name.
    """
    given = as_numpy(dtype)
    is_plain = given.subdtype is None and given.fields is None
    if given.hasobject and not is_plain:
        raise InvalidValue(
            f"dtype must not allow Python objects, and {given} has some; use numbers"
        )
    known = BY_NUMPY.get(given)
    if known is not None:
        if name is not None and name != known.name:
            if not isinstance(known, RecordType):
                raise InvalidValue(f"dtype must not be a builtin type; {given} is {known}")
            object.__setattr__(known, "name", name)
        return known
    if is_plain:
        raise UnknownDtype(
            f"Unknown dtype: {dtype!r} is neither a built-in dtype nor a record or sub-array"
        )
    _check_leaves(given, given)
    if given.itemsize == 0:
        raise InvalidValue(f"dtype {given} has no bytes; give it a field")
    tag = "v" + hashlib.sha256(_spelled(given).encode()).hexdigest()[:12]
    name = name_of(given) if name is None else name
    made = RecordType(name, given, cuda_record(given.itemsize), "V", tag)
    # setdefault: threads that ask at once must get the same object.
    made = BY_NUMPY.setdefault(given, made)  # type: ignore[assignment]
    BY_NUMPY.setdefault(made.array_dtype, made)
    return made


def register_new(name: str, dtype: Any) -> DataType:
    """Make a dtype as `register_anonymous` does and keep it under `name`.

    Raises
    ------
    InvalidValue
        The name is no identifier, or taken.
    UnknownDtype
        See `register_anonymous`.
    """
    if not name.isidentifier():
        raise InvalidValue(f"`name` argument must be a valid Python identifier; got: {name!r}")
    if name in _NAMED or is_taken(name):
        raise InvalidValue(f"{name!r} name for dtype is unavailable")
    made = register_anonymous(dtype, name)
    assert isinstance(made, RecordType)
    return _NAMED.setdefault(name, made)


def registered() -> dict[str, RecordType]:
    """Return the dtypes registered by name."""
    return _NAMED


def rebuilt(name: str, dtype: np.dtype[Any], is_anonymous: bool) -> DataType:
    """Return a dtype that was pickled; one registered by name is registered here too."""
    if is_anonymous or name in _NAMED:
        return _NAMED[name] if not is_anonymous else register_anonymous(dtype, name)
    return register_new(name, dtype)


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


def encode(dtype: RecordType, values: Any, ndim: int) -> NDArray[Any]:
    """Return values as an array of ``dtype.array_dtype`` with `ndim` dimensions; a copy.

    Parameters
    ----------
    values : array_like
        Records as tuples, dicts or structured arrays; numbers fill every field. Of a sub-array
        dtype: arrays whose last dimensions are the dtype's; a single number fills a value.

    Raises
    ------
    DomainMismatch
        Values that do not fit the fields.
    DimensionMismatch
        They have another number of dimensions.
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


def _encode_arrays(dtype: RecordType, values: Any, ndim: int) -> NDArray[Any]:
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
