"""The function that Python calls: it takes arrays and numbers apart and lets go of the GIL.

It reads objects of CPython and NumPy where they lie in memory, after it has compared their types
with those that the kernel was compiled for; `is_usable` checks once that they lie so.
"""

from __future__ import annotations

import ctypes
import functools
import sys
from typing import Any

import numpy as np

from semira.backends.cpu.compiler import ir
from semira.backends.cpu.compiler.types import (
    COMPLEX128,
    FLOAT64,
    Array,
    Group,
    Scalar,
    Type,
    UnsupportedError,
    Value,
    scalar_of,
)

_BYTE, _INT, _WORD = ir.integer(8), ir.integer(32), ir.integer(64)
_OBJECT = ir.pointer(_BYTE)

#: Where parts of objects begin, in bytes: any object, a NumPy array, a number of NumPy, a float.
_TYPE_AT, _NUMBER_AT = 8, 16
_DATA_AT, _NDIM_AT, _SHAPE_AT, _STRIDES_AT, _DTYPE_AT, _FLAGS_AT = 16, 24, 32, 40, 56, 64
#: In a dtype: its byte order, and NumPy's number of it.
_ORDER_AT, _NUM_AT = 26, 28

#: Flags of an array: elements lie in C order; each at an address that suits it.
_CONTIGUOUS, _ALIGNED = 0x1, 0x100

#: Functions of Python, by result and parameters.
_PYTHON = {
    "PyEval_SaveThread": (_OBJECT, []),
    "PyEval_RestoreThread": (ir.VOID, [_OBJECT]),
    "PyLong_AsLongLong": (_WORD, [_OBJECT]),
    "PyErr_Occurred": (_OBJECT, []),
    "PyLong_FromLongLong": (_OBJECT, [_WORD]),
    "PyLong_FromUnsignedLongLong": (_OBJECT, [_WORD]),
    "PyBool_FromLong": (_OBJECT, [_WORD]),
    "PyFloat_FromDouble": (_OBJECT, [ir.DOUBLE]),
    "PyComplex_FromDoubles": (_OBJECT, [ir.DOUBLE, ir.DOUBLE]),
    "PyTuple_New": (_OBJECT, [_WORD]),
    "PyTuple_SetItem": (_INT, [_OBJECT, _WORD, _OBJECT]),
    "Py_IncRef": (ir.VOID, [_OBJECT]),
}


def type_of(argument: Any) -> Type:
    """Return the type of an argument.

    Raises UnsupportedError if no kernel takes such an argument.
    """
    if type(argument) is np.ndarray:
        flags = argument.flags
        if not flags.aligned:
            raise UnsupportedError("an array that is not aligned")
        return Array(scalar_of(argument.dtype), argument.ndim, flags.c_contiguous)
    known = _NUMBERS.get(type(argument))
    if known is None:
        raise UnsupportedError(f"an argument of type {type(argument).__name__}")
    return known


_NUMBERS: dict[type, Scalar] = {
    bool: Scalar("b", 1), np.bool_: Scalar("b", 1), int: Scalar("i", 64),
    complex: Scalar("c", 128), np.complex128: Scalar("c", 128), np.complex64: Scalar("c", 64),
    float: Scalar("f", 64), np.float64: Scalar("f", 64), np.float32: Scalar("f", 32),
    **{getattr(np, f"int{bits}"): Scalar("i", bits) for bits in (8, 16, 32, 64)},
    **{getattr(np, f"uint{bits}"): Scalar("u", bits) for bits in (8, 16, 32, 64)},
}  # fmt: skip


def imports() -> dict[str, int]:
    """Return the addresses of what an entry refers to, in this process."""
    found = {name: _address_of(name) for name in _PYTHON}
    found["type.int"], found["type.python_bool"], found["type.float"] = id(int), id(bool), id(float)
    found["type.complex"] = id(complex)
    found["value.None"], found["value.True"] = id(None), id(True)
    found["value.NotImplemented"] = id(NotImplemented)
    found["type.array"] = id(np.ndarray)
    for scalar in _NUMBERS.values():
        dtype = np.dtype(scalar.name)
        found[f"type.{scalar.name}"] = id(dtype.type)
    return found


@functools.cache
def _numbers_of(scalar: Scalar) -> list[int]:
    """Return NumPy's numbers of the dtypes of a type: 64 bits may be C's long or long long."""
    dtypes = map(np.dtype, "?bhilqBHILQfdFD")
    return sorted({dtype.num for dtype in dtypes if dtype.name == scalar.name})


def _address_of(name: str) -> int:
    address = ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value
    assert address is not None
    return address


@functools.cache
def is_usable() -> bool:
    """Return whether objects lie in memory as entries expect."""
    if sys.implementation.name != "cpython" or sys.byteorder != "little":
        return False
    if object.__basicsize__ != _NUMBER_AT or ctypes.sizeof(ctypes.c_void_p) != 8:
        return False
    # Each has a name: what is read must still be there.
    probe, swapped = np.arange(6, dtype=np.int32).reshape(2, 3), np.dtype(">i4")
    whole, real = np.int32(77), float("2.5")
    word = ctypes.c_uint64.from_address
    shape = word(id(probe) + _SHAPE_AT).value
    return (
        word(id(probe) + _TYPE_AT).value == id(np.ndarray)
        and word(id(probe) + _DATA_AT).value == probe.ctypes.data
        and ctypes.c_int32.from_address(id(probe) + _NDIM_AT).value == 2
        and (word(shape).value, word(shape + 8).value) == (2, 3)
        and word(word(id(probe) + _STRIDES_AT).value).value == 12
        and word(id(probe) + _DTYPE_AT).value == id(np.dtype(np.int32))
        and ctypes.c_int32.from_address(id(probe) + _FLAGS_AT).value & 0x101 == 0x101
        and ctypes.c_int32.from_address(id(probe.dtype) + _NUM_AT).value == probe.dtype.num
        and ctypes.c_char.from_address(id(swapped) + _ORDER_AT).value == b">"
        and ctypes.c_int32.from_address(id(whole) + _NUMBER_AT).value == 77
        and ctypes.c_double.from_address(id(real) + _NUMBER_AT).value == 2.5
    )


class Entry:
    """The function `name` that calls `kernel` with a tuple of Python's arguments.

    ``PyObject *name(PyObject *self, PyObject *const *arguments, Py_ssize_t number)``
    """

    def __init__(
        self, module: ir.Module, kernel: Any, types: tuple[Type, ...], result: Type, name: str
    ) -> None:
        self.module, self.kernel, self.types, self.result = module, kernel, types, result
        parameters = (_OBJECT, ir.pointer(_OBJECT), _WORD)
        self.function = module.function(name, parameters, _OBJECT)
        self.b = ir.Builder(module, self.function, self.function.block("entry"))
        self.mismatch, self.failed = map(self.function.block, ("mismatch", "failed"))

    def write(self) -> None:
        """Let it return ``NotImplemented`` for types that it was not compiled for."""
        _, arguments, number = self.function.args
        count = ir.constant(_WORD, len(self.types))
        self._require(self.b.icmp_signed("==", number, count))
        held: list[Any] = []
        for at, type_ in enumerate(self.types):
            given = self.b.load(self.b.gep(arguments, ir.constant(_WORD, at)))
            if isinstance(type_, Array):
                held += self._array(given, type_)
            else:
                assert isinstance(type_, Scalar)
                held.append(self._number(given, type_))
        thread = self._python("PyEval_SaveThread")
        made = self.b.call(self.kernel, held)
        self._python("PyEval_RestoreThread", thread)
        self.b.ret(self._returned(made))
        self.b.position_at_end(self.mismatch)
        self.b.ret(self._shared("value.NotImplemented"))
        self.b.position_at_end(self.failed)
        self.b.ret(ir.constant(_OBJECT, None))

    def _external(self, name: str) -> Any:
        return self.module.outside(name)

    def _python(self, name: str, *given: Any) -> Any:
        result, parameters = _PYTHON[name]
        return self.b.call(self.module.declare(name, result, parameters), given)

    def _shared(self, name: str) -> Any:
        """Return an object that lives as long as Python, with a reference of the caller's."""
        found = self._external(name)
        self._python("Py_IncRef", found)
        return found

    def _field(self, given: Any, at: int, type_: Any) -> Any:
        place = self.b.gep(given, ir.constant(_WORD, at))
        return self.b.load(self.b.bitcast(place, ir.pointer(type_)))

    def _require(self, test: Any) -> None:
        after = self.b.append_basic_block("after")
        self.b.cbranch(test, after, self.mismatch)
        self.b.position_at_end(after)

    def _is(self, given: Any, *names: str) -> Any:
        tests = [self.b.icmp_unsigned("==", given, self._external(name)) for name in names]
        return functools.reduce(self.b.or_, tests)

    def _array(self, given: Any, type_: Array) -> list[Any]:
        self._require(self._is(self._field(given, _TYPE_AT, _OBJECT), "type.array"))
        # Equal dtypes may be several objects: those of arrays that were pickled, or of C's types.
        dtype = self._field(given, _DTYPE_AT, _OBJECT)
        number, order = self._field(dtype, _NUM_AT, _INT), self._field(dtype, _ORDER_AT, _BYTE)
        tests = [
            self.b.icmp_signed("==", number, ir.constant(_INT, num))
            for num in _numbers_of(type_.item)
        ]
        self._require(functools.reduce(self.b.or_, tests))
        self._require(self.b.icmp_signed("!=", order, ir.constant(_BYTE, ord(">"))))
        ndim = self._field(given, _NDIM_AT, _INT)
        self._require(self.b.icmp_signed("==", ndim, ir.constant(_INT, type_.ndim)))
        wanted = _ALIGNED | (_CONTIGUOUS if type_.is_contiguous else 0)
        flags = self.b.and_(self._field(given, _FLAGS_AT, _INT), ir.constant(_INT, wanted))
        self._require(self.b.icmp_signed("==", flags, ir.constant(_INT, wanted)))
        parts = [self._field(given, _DATA_AT, ir.pointer(type_.item.memory))]
        for field in (_SHAPE_AT,) if type_.is_contiguous else (_SHAPE_AT, _STRIDES_AT):
            words = self._field(given, field, ir.pointer(_WORD))
            parts += [
                self.b.load(self.b.gep(words, ir.constant(_WORD, axis)))
                for axis in range(type_.ndim)
            ]
        return parts

    def _number(self, given: Any, type_: Scalar) -> Any:
        kind = self._field(given, _TYPE_AT, _OBJECT)
        if type_.kind in "fc":
            own = {FLOAT64: ("type.float",), COMPLEX128: ("type.complex",)}.get(type_, ())
            names = (*own, f"type.{type_.name}")
            self._require(self._is(kind, *names))
            return self._field(given, _NUMBER_AT, type_.register)
        if type_.kind == "b":
            return self._truth(given, kind)
        if type_ != Scalar("i", 64):
            self._require(self._is(kind, f"type.{type_.name}"))
            return self._field(given, _NUMBER_AT, type_.register)
        return self._either(
            kind, "type.int", f"type.{type_.name}", type_,
            lambda: self._python("PyLong_AsLongLong", given), given,
        )  # fmt: skip

    def _truth(self, given: Any, kind: Any) -> Any:
        byte = Scalar("u", 8)
        is_true = self._is(given, "value.True")
        held = self._either(
            kind, "type.python_bool", "type.bool", byte, lambda: self.b.zext(is_true, _BYTE), given
        )
        return self.b.icmp_signed("!=", held, ir.constant(_BYTE, 0))

    def _either(
        self, kind: Any, own: str, numpy_name: str, type_: Scalar, convert: Any, given: Any
    ) -> Any:
        """Return a number that is Python's or NumPy's."""
        blocks = [self.b.append_basic_block(part) for part in ("python", "other", "numpy", "read")]
        python, other, numpy, read = blocks
        self.b.cbranch(self._is(kind, own), python, other)
        self.b.position_at_end(python)
        converted = convert()
        if type_.kind == "i":
            minus = self.b.icmp_signed("==", converted, ir.constant(_WORD, -1))
            asked = self.b.append_basic_block("asked")
            self.b.cbranch(minus, asked, read)
            arms = [(converted, self.b.block)]
            self.b.position_at_end(asked)
            error = self._python("PyErr_Occurred")
            is_fine = self.b.icmp_unsigned("==", error, ir.constant(_OBJECT, None))
            self.b.cbranch(is_fine, read, self.failed)
            arms.append((converted, asked))
        else:
            self.b.branch(read)
            arms = [(converted, self.b.block)]
        self.b.position_at_end(other)
        self.b.cbranch(self._is(kind, numpy_name), numpy, self.mismatch)
        self.b.position_at_end(numpy)
        arms.append((self._field(given, _NUMBER_AT, type_.register), numpy))
        self.b.branch(read)
        self.b.position_at_end(read)
        return self.b.phi(type_.register, arms)

    def _returned(self, made: Any) -> Any:
        if self.result is None:
            return self._shared("value.None")
        if isinstance(self.result, Group):
            number = ir.constant(_WORD, len(self.result.items))
            group = self._python("PyTuple_New", number)
            for at, item in enumerate(self.result.items):
                part = self._object(Value(item, self.b.extract_value(made, at)))
                self._python("PyTuple_SetItem", group, ir.constant(_WORD, at), part)
            return group
        return self._object(Value(self.result, made))

    def _object(self, value: Value) -> Any:
        type_, held = value.type, value.held
        if type_.kind == "c":
            parts = [self.b.extract_value(held, at) for at in (0, 1)]
            if type_.bits == 64:
                parts = [self.b.fpext(part, ir.DOUBLE) for part in parts]
            return self._python("PyComplex_FromDoubles", *parts)
        if type_.kind == "f":
            if type_.bits == 32:
                held = self.b.fpext(held, ir.DOUBLE)
            return self._python("PyFloat_FromDouble", held)
        if type_.kind == "b":
            return self._python("PyBool_FromLong", self.b.zext(held, _WORD))
        if type_.bits < 64:
            held = (self.b.sext if type_.kind == "i" else self.b.zext)(held, _WORD)
        name = "PyLong_FromLongLong" if type_.kind == "i" else "PyLong_FromUnsignedLongLong"
        return self._python(name, held)
