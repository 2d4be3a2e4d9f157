"""The dtypes: one row per type, shared by every backend."""

from __future__ import annotations

import hashlib
from ast import literal_eval
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from semira.base.errors import DomainMismatch, InvalidValue, UnknownDtype
from semira.base.optional import need
from semira.base.record_dtypes import FIELD, cuda_record, encode, flattened


@dataclass(frozen=True, slots=True, eq=False)
class DataType:
    """A GraphBLAS domain.

    Attributes
    ----------
    name : str
        GraphBLAS name, such as ``"FP64"``.
    np_type : numpy.dtype
        Type of one value as users see it.
    cuda_type : str
        Type in generated CUDA C++.
    kind : str
        ``B`` bool, ``I`` signed, ``U`` unsigned, ``F`` floating point, ``C`` complex,
        ``V`` made by the user (`RecordType`).
    tag : str
        Short name used in kernel names.
    array_dtype : numpy.dtype
        Type of the one-dimensional arrays that hold values; another than `np_type` for
        sub-arrays only, which are kept as records of one field.
    """

    name: str
    np_type: np.dtype[Any]
    cuda_type: str
    kind: str
    tag: str
    array_dtype: np.dtype[Any] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "array_dtype", self.np_type)

    def scalar(self, value: Any) -> Any:
        """Return `value` as a NumPy scalar of the dtype."""
        return self.array_dtype.type(value)

    def __repr__(self) -> str:
        return self.name

    def __eq__(self, other: object) -> bool:
        if isinstance(other, DataType):
            return self is other
        try:
            return self is lookup_dtype(other)
        except DomainMismatch:
            return NotImplemented

    def __hash__(self) -> int:
        return hash(self.name)

    def __lt__(self, other: object) -> bool:
        """Order by kind, then size: BOOL, FC32, FC64, FP32, FP64, INT8, ..., UINT64."""
        second = lookup_dtype(other)
        mine, theirs = self.name.rstrip("0123456789"), second.name.rstrip("0123456789")
        return (mine, self.itemsize) < (theirs, second.itemsize)

    def __reduce__(self) -> tuple[Any, ...]:
        return lookup_dtype, (self.name,)

    @property
    def itemsize(self) -> int:
        """Bytes per value."""
        return self.np_type.itemsize

    @property
    def gb_name(self) -> str:
        """Name in the GraphBLAS C API; complex dtypes are extensions there."""
        return f"{'GxB' if self.is_complex else 'GrB'}_{self.name}"

    @property
    def c_type(self) -> str:
        """Type in C, such as ``"int32_t"``."""
        if self.kind in "IU":
            return f"{'u' if self.kind == 'U' else ''}int{8 * self.itemsize}_t"
        if self.kind == "B":
            return "_Bool"
        return f"{self.part.c_type} _Complex" if self.is_complex else self.cuda_type

    @property
    def numba_type(self) -> Any:
        """Numba's type of the scalars that hold a value."""
        return need("numba", "numba_type", "cpu").from_dtype(self.array_dtype)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of one value: ``()`` but for sub-arrays."""
        return ()

    @property
    def is_anonymous(self) -> bool:
        """Whether no name was registered for it: never for built-in dtypes."""
        return False

    @property
    def is_float(self) -> bool:
        """Whether values are real floating-point numbers."""
        return self.kind == "F"

    @property
    def is_complex(self) -> bool:
        """Whether values are complex numbers."""
        return self.kind == "C"

    @property
    def part(self) -> DataType:
        """Dtype of the real and of the imaginary part; the dtype itself if not complex."""
        return BY_NUMPY[self.np_type.type(0).real.dtype]

    @property
    def is_integer(self) -> bool:
        """Whether values are signed or unsigned integers (not BOOL)."""
        return self.kind in "IU"

    @property
    def smallest(self) -> Any:
        """Least value, ``-inf`` for floats; of complex numbers both parts are."""
        if self.kind in "FC":
            return self.np_type.type(-np.inf if self.is_float else complex(-np.inf, -np.inf))
        if self.kind == "B":
            return self.np_type.type(False)
        return self.np_type.type(np.iinfo(self.np_type).min)

    @property
    def largest(self) -> Any:
        """Greatest value, ``inf`` for floats, both parts ``inf`` for complex numbers."""
        if self.kind in "FC":
            return self.np_type.type(np.inf if self.is_float else complex(np.inf, np.inf))
        if self.kind == "B":
            return self.np_type.type(True)
        return self.np_type.type(np.iinfo(self.np_type).max)


BOOL = DataType("BOOL", np.dtype(np.bool_), "bool", "B", "b1")
INT8 = DataType("INT8", np.dtype(np.int8), "signed char", "I", "i8")
INT16 = DataType("INT16", np.dtype(np.int16), "short", "I", "i16")
INT32 = DataType("INT32", np.dtype(np.int32), "int", "I", "i32")
INT64 = DataType("INT64", np.dtype(np.int64), "long long", "I", "i64")
UINT8 = DataType("UINT8", np.dtype(np.uint8), "unsigned char", "U", "u8")
UINT16 = DataType("UINT16", np.dtype(np.uint16), "unsigned short", "U", "u16")
UINT32 = DataType("UINT32", np.dtype(np.uint32), "unsigned int", "U", "u32")
UINT64 = DataType("UINT64", np.dtype(np.uint64), "unsigned long long", "U", "u64")
FP32 = DataType("FP32", np.dtype(np.float32), "float", "F", "f32")
FP64 = DataType("FP64", np.dtype(np.float64), "double", "F", "f64")
FC32 = DataType("FC32", np.dtype(np.complex64), "Complex<float>", "C", "c32")
FC64 = DataType("FC64", np.dtype(np.complex128), "Complex<double>", "C", "c64")

ALL_DTYPES = (
    BOOL, INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64, FP32, FP64, FC32, FC64,
)  # fmt: skip

_BY_NAME = {dtype.name: dtype for dtype in ALL_DTYPES}
#: Dtypes by the NumPy dtype of a value; those that users make are added.
BY_NUMPY: dict[np.dtype[Any], DataType] = {dtype.np_type: dtype for dtype in ALL_DTYPES}
_BY_PYTHON: dict[Any, DataType] = {bool: BOOL, int: INT64, float: FP64, complex: FC64}

# Python's meaning of "float" wins over C's.
_BY_WORD: dict[str, DataType] = (
    {dtype.c_type: dtype for dtype in ALL_DTYPES}
    | {dtype.gb_name: dtype for dtype in ALL_DTYPES}
    | {python.__name__: dtype for python, dtype in _BY_PYTHON.items()}
)


def lookup_dtype(key: Any, value: Any = None) -> DataType:
    """Return the dtype named by `key`.

    Parameters
    ----------
    key : DataType, str, numpy dtype or Python type
        ``"INT32"``, ``"int32"``, ``np.int32``, ``int`` (INT64), ``float`` (FP64), ``bool``,
        ``complex`` (FC64); also C's names, ``"int32_t"`` and ``"GrB_INT32"``. NumPy records and
        sub-arrays, dicts of fields and ``"INT64[3]"`` make dtypes of their own.
    value : object, optional
        Ignored; kept for python-graphblas' signature.

    Raises
    ------
    UnknownDtype
        No such dtype.

    Examples
    --------
    >>> lookup_dtype(float), lookup_dtype("int32")
    (FP64, INT32)
    """
    if isinstance(key, DataType):
        return key
    if isinstance(key, np.dtype) and key in BY_NUMPY:
        return BY_NUMPY[key]
    if key is None:
        # NumPy would take it for float64.
        raise DomainMismatch("Bad dtype: None; name a dtype such as 'FP64'")
    if isinstance(key, str) and key.upper() in _BY_NAME:
        return _BY_NAME[key.upper()]
    if isinstance(key, type) and key in _BY_PYTHON:
        return _BY_PYTHON[key]
    if isinstance(key, str) and key in _BY_WORD:
        return _BY_WORD[key]
    try:
        return BY_NUMPY[key if isinstance(key, np.dtype) else np.dtype(key)]
    except (TypeError, KeyError, ValueError, SyntaxError):
        return _made_of(key)


def _made_of(key: Any) -> DataType:
    """Return the dtype of a record or sub-array, or of a name that users registered."""
    if isinstance(key, np.dtype) and not key.isnative and key.names is None:
        # Values come in another byte order; objects hold this machine's.
        return lookup_dtype(key.newbyteorder("="))
    if isinstance(key, str) and key in _NAMED:
        return _NAMED[key]
    try:
        return register_anonymous(key)
    except UnknownDtype as error:
        if not isinstance(key, (str, type, np.dtype, dict)):
            raise UnknownDtype(
                f"a dtype was expected, got {type(key).__name__}; Matrix.from_dense and "
                "Vector.from_dense make objects of values, .dup copies one"
            ) from None
        names = ", ".join(_BY_NAME)
        raise UnknownDtype(f"{error}; known dtypes: {names}") from None


# --- made by the user --------------------------------------------------------------------------


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
        """An array of `itemsize` bytes."""
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


_NAMED: dict[str, RecordType] = {}


def is_taken(name: str) -> bool:
    """Return whether a name means a built-in dtype."""
    return name.upper() in _BY_NAME or name in _BY_WORD


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


# --- of several values -------------------------------------------------------------------------


def unify(
    type1: Any, type2: Any, *, is_left_scalar: bool = False, is_right_scalar: bool = False
) -> DataType:
    """Return the dtype both operands are cast to.

    NumPy promotion of the two types. A scalar takes the record dtype of its partner; the flags
    change nothing else.

    Raises
    ------
    DomainMismatch
        There is none: record dtypes are cast to nothing else.

    Examples
    --------
    >>> unify(INT8, UINT8), unify(INT64, UINT64), unify(INT16, FP32), unify(INT32, FC32)
    (INT16, FP64, FP32, FC64)
    """
    left, right = lookup_dtype(type1), lookup_dtype(type2)
    if left is right:
        return left
    if "V" in (left.kind, right.kind):
        if right.kind != "V" and is_right_scalar:
            return left
        if left.kind != "V" and is_left_scalar:
            return right
        raise DomainMismatch(f"{left} and {right} have no common dtype; use fields of one dtype")
    return BY_NUMPY[np.promote_types(left.np_type, right.np_type)]


def infer_dtype(values: Any) -> DataType:
    """Return the dtype of a Python scalar or an array of values."""
    if isinstance(values, (bool, np.bool_)):
        return BOOL
    if isinstance(values, int):
        if not -(2**63) <= values < 2**64:
            raise InvalidValue(
                f"{values} is beyond 64 bits (limits {-(2**63)} .. {2**64 - 1}); write it as a "
                "float"
            )
        return INT64 if values < 2**63 else UINT64
    if type(values) in (float, complex):
        return _BY_PYTHON[type(values)]
    found = np.asarray(values).dtype
    # Numbers of 16 bits are computed with in the smallest dtype that has all of them.
    return FP32 if found == np.float16 else lookup_dtype(found)
