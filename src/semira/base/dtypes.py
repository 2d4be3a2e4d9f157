"""The dtypes: one row per type, shared by every backend."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from semira.base.errors import DomainMismatch, InvalidValue, UnknownDtype
from semira.base.optional import need


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
        ``V`` made by the user (see `semira.base.record_dtypes`).
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
    from semira.base.record_dtypes import register_anonymous, registered

    if isinstance(key, np.dtype) and not key.isnative and key.names is None:
        # Values come in another byte order; objects hold this machine's.
        return lookup_dtype(key.newbyteorder("="))
    if isinstance(key, str) and key in registered():
        return registered()[key]
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


def is_taken(name: str) -> bool:
    """Return whether a name means a built-in dtype."""
    return name.upper() in _BY_NAME or name in _BY_WORD


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
