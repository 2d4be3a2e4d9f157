"""Types of values in kernels, and what arithmetic makes of two of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from semira.backends.cpu.compiler import ir


class UnsupportedError(Exception):
    """A kernel is outside of what this compiler knows; the message says where."""


#: Longest record in bytes: longer ones are no values for LLVM.
_LONGEST = 256

_KINDS = {"i": "int", "u": "uint", "f": "float", "c": "complex"}


class Scalar(NamedTuple):
    """A number or a record."""

    #: One of "b", "i", "u", "f", "c", "V", as NumPy's ``dtype.kind``.
    kind: str
    #: 1 for booleans, which take a byte in arrays.
    bits: int
    #: Of a record.
    dtype: Any = None

    @property
    def name(self) -> str:
        """NumPy's name of the type."""
        if self.kind == "V":
            return str(self.dtype)
        if self.kind == "b":
            return "bool"
        return _KINDS[self.kind] + str(self.bits)

    @property
    def is_integer(self) -> bool:
        """Whether it is an integer, signed or not."""
        return self.kind in "iu"

    @property
    def part(self) -> Scalar:
        """The type of the real part; of what is not complex the type itself."""
        return Scalar("f", self.bits // 2) if self.kind == "c" else self

    @property
    def register(self) -> Any:
        """LLVM's type of a value."""
        if self.kind == "c":
            return ir.struct([self.part.register] * 2)
        if self.kind == "V":
            words, rest = divmod(self.bits, 64)
            sizes = [64] * words + [bits for bits in (32, 16, 8) if rest & bits]
            return ir.packed(map(ir.integer, sizes))
        if self.kind == "f":
            return ir.FLOAT if self.bits == 32 else ir.DOUBLE
        return ir.integer(self.bits)

    @property
    def memory(self) -> Any:
        """LLVM's type of an element of an array."""
        return ir.integer(8) if self.kind == "b" else self.register


class Array(NamedTuple):
    """A NumPy array."""

    item: Scalar
    ndim: int
    #: In C order; else elements are found by strides.
    is_contiguous: bool

    @property
    def name(self) -> str:
        """Readable name."""
        return f"{self.item.name}[{self.ndim}{'' if self.is_contiguous else ' strided'}]"

    @property
    def parts(self) -> list[Any]:
        """LLVM's types of what describes it: address, shape and, if it needs them, strides."""
        words = self.ndim if self.is_contiguous else 2 * self.ndim
        return [ir.pointer(self.item.memory), *[ir.integer(64)] * words]


class Group(NamedTuple):
    """Several values that a function returns."""

    items: tuple[Scalar, ...]

    @property
    def register(self) -> Any:
        """LLVM's type."""
        return ir.struct([item.register for item in self.items])


Type = Scalar | Array | Group | None

BOOL = Scalar("b", 1)
INT64, UINT64 = Scalar("i", 64), Scalar("u", 64)
FLOAT32, FLOAT64 = Scalar("f", 32), Scalar("f", 64)
COMPLEX64, COMPLEX128 = Scalar("c", 64), Scalar("c", 128)

#: By NumPy's name.
SCALARS = {
    scalar.name: scalar
    for scalar in (
        BOOL, FLOAT32, FLOAT64, COMPLEX64, COMPLEX128,
        *(Scalar(kind, bits) for kind in "iu" for bits in (8, 16, 32, 64)),
    )
}  # fmt: skip


#: Dtypes of records, of equal ones the first: machine code compares its address.
_records: dict[Any, Any] = {}


def scalar_of(dtype: Any) -> Scalar:
    """Return the type of a NumPy dtype."""
    dtype = np.dtype(dtype)
    if dtype.names is not None and 0 < dtype.itemsize <= _LONGEST and not dtype.hasobject:
        return Scalar("V", 8 * dtype.itemsize, _records.setdefault(dtype, dtype))
    if dtype.names is not None or not dtype.isnative or dtype.name not in SCALARS:
        raise UnsupportedError(f"dtype {dtype}")
    return SCALARS[dtype.name]


class Value(NamedTuple):
    """A value in the function that is being written."""

    type: Any
    #: LLVM's value; of an array the list of its parts.
    held: Any
    #: The number, if it is written in the text.
    literal: int | None = None


def wide(type_: Scalar) -> Scalar:
    """Return the type in which integers are added and multiplied: 64 bits."""
    if type_.kind == "V":
        raise UnsupportedError("arithmetic of records")
    if type_.kind == "b":
        return INT64
    return Scalar(type_.kind, 64) if type_.is_integer else type_


def arithmetic(a: Scalar, b: Scalar) -> Scalar:
    """Return the type of a sum or product, by the rules of Numba."""
    if "c" in (a.kind, b.kind):
        return _complex_of(_with_float(a.part, b.part))
    if "f" in (a.kind, b.kind):
        return _with_float(a, b)
    left, right = wide(a), wide(b)
    if left == right:
        return left
    unsigned = a if left.kind == "u" else b
    if unsigned.bits == 64:
        raise UnsupportedError("arithmetic of signed and unsigned 64-bit integers")
    return INT64


def _with_float(a: Scalar, b: Scalar) -> Scalar:
    if a.kind == b.kind:
        return a if a.bits >= b.bits else b
    number, whole = (a, b) if a.kind == "f" else (b, a)
    return number if whole.bits <= 16 else FLOAT64


def _complex_of(part: Scalar) -> Scalar:
    return Scalar("c", 2 * part.bits)


def unified(a: Scalar, b: Scalar) -> Scalar:
    """Return the type of a variable that is assigned values of two types."""
    if a == b:
        return a
    if "c" in (a.kind, b.kind):
        return _complex_of(_with_float(a.part, b.part))
    if "f" in (a.kind, b.kind):
        return _with_float(a, b)
    if a.kind == b.kind == "V":
        raise UnsupportedError("a variable is one of two records")
    if "b" in (a.kind, b.kind):
        return wide(b if a.kind == "b" else a)
    if a.kind == b.kind:
        return a if a.bits > b.bits else b
    signed, unsigned = (a, b) if a.kind == "i" else (b, a)
    if unsigned.bits == 64:
        raise UnsupportedError("a variable is a signed and an unsigned 64-bit integer")
    return signed if unsigned.bits < signed.bits else INT64
