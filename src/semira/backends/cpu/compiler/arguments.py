"""The function that reads the arguments of a call from Python: one for all kernels of a process.

It reads objects of CPython and NumPy where they lie in memory, after it has compared their types
with those that a kernel was compiled for; `is_usable` checks once that they lie so.
"""

from __future__ import annotations

import ctypes
import functools
import sys
from typing import Any

import numpy as np

from semira.backends.cpu.compiler import ir
from semira.backends.cpu.compiler.types import Array, Scalar, Type, UnsupportedError, scalar_of

BYTE, INT, WORD = ir.integer(8), ir.integer(32), ir.integer(64)
OBJECT = ir.pointer(BYTE)

#: What kernels call it: ``int read(PyObject *const *arguments, Py_ssize_t number, const int64_t
#: *wanted, int64_t *words)``, with `descriptions` as `wanted`. It returns one of the numbers below.
READ = "semira_read"
FINE, MISMATCH, FAILED = range(3)

#: Where parts of objects begin, in bytes: any object, a number of NumPy or a float, a record, a
#: NumPy array.
_TYPE_AT, _NUMBER_AT = 8, 16
_RECORD_AT, _RECORD_DTYPE_AT = 24, 32
_DATA_AT, _NDIM_AT, _SHAPE_AT, _STRIDES_AT, _DTYPE_AT, _FLAGS_AT = 16, 24, 32, 40, 56, 64
#: In a dtype: its byte order, and NumPy's number of it.
_ORDER_AT, _NUM_AT = 26, 28
_OTHER_ORDER = ir.constant(BYTE, ord(">"))

#: Flags of an array: elements lie in C order; each at an address that suits it.
_CONTIGUOUS, _ALIGNED = 0x1, 0x100

#: How the words of an argument are found.
_ARRAY, _RECORDS, _RECORD, _ONE_WORD, _TWO_WORDS, _INT64, _BOOL = range(7)

#: Where a description tells the rank, the flags and the numbers of the dtype of an array; of
#: records, where among the descriptions the address of the dtype is.
_NDIM_BIT, _FLAGS_BIT, _DTYPES_BIT = 8, 16, 32

#: Functions of Python, by result and parameters.
PYTHON = {
    "PyEval_SaveThread": (OBJECT, []),
    "PyEval_RestoreThread": (ir.VOID, [OBJECT]),
    "PyLong_AsLongLong": (WORD, [OBJECT]),
    "PyErr_Occurred": (OBJECT, []),
    "PyLong_FromLongLong": (OBJECT, [WORD]),
    "PyLong_FromUnsignedLongLong": (OBJECT, [WORD]),
    "PyBool_FromLong": (OBJECT, [WORD]),
    "PyFloat_FromDouble": (OBJECT, [ir.DOUBLE]),
    "PyComplex_FromDoubles": (OBJECT, [ir.DOUBLE, ir.DOUBLE]),
    "PyTuple_New": (OBJECT, [WORD]),
    "PyTuple_SetItem": (INT, [OBJECT, WORD, OBJECT]),
    "Py_IncRef": (ir.VOID, [OBJECT]),
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
    if type(argument) is np.void:
        known = scalar_of(argument.dtype)
    if known is None:
        raise UnsupportedError(f"an argument of type {type(argument).__name__}")
    return known


def alike(argument: Any) -> Any:
    """Return an argument, records with the dtype object whose address machine code compares."""
    if not isinstance(argument, np.ndarray | np.void) or argument.dtype.names is None:
        return argument
    try:
        dtype = scalar_of(argument.dtype).dtype
    except UnsupportedError:
        return argument
    return argument if argument.dtype is dtype else np.asarray(argument).view(dtype)[()]


_NUMBERS: dict[type, Scalar] = {
    bool: Scalar("b", 1), np.bool_: Scalar("b", 1), int: Scalar("i", 64),
    complex: Scalar("c", 128), np.complex128: Scalar("c", 128), np.complex64: Scalar("c", 64),
    float: Scalar("f", 64), np.float64: Scalar("f", 64), np.float32: Scalar("f", 32),
    **{getattr(np, f"int{bits}"): Scalar("i", bits) for bits in (8, 16, 32, 64)},
    **{getattr(np, f"uint{bits}"): Scalar("u", bits) for bits in (8, 16, 32, 64)},
}  # fmt: skip

#: Types of numbers, those of NumPy and of Python, by the number that descriptions have for them.
_KINDS = {scalar: at for at, scalar in enumerate(dict.fromkeys(_NUMBERS.values()))}


@functools.cache
def _addresses_of_types() -> Any:
    """Return an array of the addresses of NumPy's and Python's type of each number."""
    found = (ctypes.c_uint64 * (2 * len(_KINDS)))()
    for type_, scalar in _NUMBERS.items():
        found[2 * _KINDS[scalar] + (type_.__module__ != "numpy")] = id(type_)
    return found


def addresses() -> dict[str, int]:
    """Return the addresses of what machine code refers to, in this process."""
    found = {name: _address_of(name) for name in PYTHON}
    found["value.None"], found["value.True"] = id(None), id(True)
    found["value.NotImplemented"] = id(NotImplemented)
    found["type.array"], found["type.record"] = id(np.ndarray), id(np.void)
    found["types"] = ctypes.addressof(_addresses_of_types())
    return found


def reader() -> str:
    """Return `READ` in LLVM IR."""
    module = ir.Module()
    _Reader(module).write()
    return str(module)


def _address_of(name: str) -> int:
    address = ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value
    assert address is not None
    return address


def descriptions(types: tuple[Type, ...]) -> list[int]:
    """Return how many arguments `READ` expects, and numbers that describe them.

    The `own_addresses` follow them.
    """
    places = {dtype: len(types) + at for at, dtype in enumerate(own_addresses(types).values(), 1)}
    return [len(types), *(_description(type_, places) for type_ in types)]


def own_addresses(types: tuple[Type, ...]) -> dict[str, Any]:
    """Return the dtypes of records whose addresses the code for some arguments holds, by name."""
    items = (type_.item if isinstance(type_, Array) else type_ for type_ in types)
    records = [item.dtype for item in items if isinstance(item, Scalar) and item.kind == "V"]
    return {f"record{at}": dtype for at, dtype in enumerate(dict.fromkeys(records))}


def _description(type_: Type, places: dict[Any, int]) -> int:
    if isinstance(type_, Array):
        flags = _ALIGNED | (_CONTIGUOUS if type_.is_contiguous else 0)
        told = type_.ndim << _NDIM_BIT | flags << _FLAGS_BIT
        if type_.item.kind == "V":
            return _RECORDS | told | places[type_.item.dtype] << _DTYPES_BIT
        numbers = sum(1 << number for number in _numbers_of(type_.item))
        return _ARRAY | told | numbers << _DTYPES_BIT
    assert isinstance(type_, Scalar)
    if type_.kind == "V":
        return _RECORD | places[type_.dtype] << _DTYPES_BIT
    how = _TWO_WORDS if type_.bits == 128 else _ONE_WORD
    how = {"int64": _INT64, "bool": _BOOL}.get(type_.name, how)
    return how | _KINDS[type_] << _NDIM_BIT


@functools.cache
def _numbers_of(scalar: Scalar) -> list[int]:
    """Return NumPy's numbers of the dtypes of a type: 64 bits may be C's long or long long."""
    dtypes = map(np.dtype, "?bhilqBHILQfdFD")
    return sorted({dtype.num for dtype in dtypes if dtype.name == scalar.name})


@functools.cache
def is_usable() -> bool:
    """Return whether objects lie in memory as `READ` expects."""
    if sys.implementation.name != "cpython" or sys.byteorder != "little":
        return False
    if object.__basicsize__ != _NUMBER_AT or ctypes.sizeof(ctypes.c_void_p) != 8:
        return False
    # Each has a name: what is read must still be there.
    probe, swapped = np.arange(6, dtype=np.int32).reshape(2, 3), np.dtype(">i4")
    whole, real = np.int32(77), float("2.5")
    record = np.array([(7, 8)], "i8, i8")[0]
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
        # A word of a number may be longer than the number.
        and all(np.dtype(scalar.name).type.__basicsize__ >= _NUMBER_AT + 8 for scalar in _KINDS)
        and word(id(record) + _RECORD_DTYPE_AT).value == id(record.dtype)
        and word(word(id(record) + _RECORD_AT).value + 8).value == 8
        and ctypes.c_double.from_address(id(real) + _NUMBER_AT).value == 2.5
    )


class _Reader:
    """Writes `READ`."""

    def __init__(self, module: ir.Module) -> None:
        self.module = module
        parameters = (ir.pointer(OBJECT), WORD, ir.pointer(WORD), ir.pointer(WORD))
        self.function = module.function(READ, parameters, INT)
        self.b = ir.Builder(module, self.function, self.function.block("entry"))
        self.mismatch, self.head = map(self.function.block, ("mismatch", "head"))
        #: The next argument, the next axis of an array, where the next word goes.
        self.at, self.axis, self.to = map(self.b.alloca, (WORD, WORD, ir.pointer(WORD)))

    def write(self) -> None:
        arguments, number, wanted, words = self.function.args
        self._require(self.b.icmp_signed("==", number, self.b.load(wanted)))
        self.b.store(ir.constant(WORD, 0), self.at)
        self.b.store(words, self.to)
        self.b.branch(self.head)
        self.b.position_at_end(self.head)
        at = self.b.load(self.at)
        self._unless(self.b.icmp_signed("<", at, number), "done", FINE)
        given = self.b.load(self.b.gep(arguments, at))
        later = self.b.add(at, ir.constant(WORD, 1))
        self.b.store(later, self.at)
        told = self.b.load(self.b.gep(wanted, later))
        how, type_ = self._bits(told, 0, 8), self._field(given, _TYPE_AT, OBJECT)
        is_array = self._branch(self._equal(how, _ARRAY), "array")
        are_records = self._branch(self._equal(how, _RECORDS), "records")
        is_record = self._branch(self._equal(how, _RECORD), "record")
        self._number(given, type_, how, self._bits(told, _NDIM_BIT, 8))
        alike = self.b.append_basic_block("alike")
        self.b.position_at_end(is_array)
        self._require(self._same(type_, self.module.outside("type.array")))
        self._require(self._has_number(given, told))
        self.b.branch(alike)
        self.b.position_at_end(are_records)
        self._require(self._same(type_, self.module.outside("type.array")))
        self._require(self._same(self._field(given, _DTYPE_AT, WORD), self._address(told)))
        self.b.branch(alike)
        self.b.position_at_end(alike)
        self._array(given, told)
        self.b.position_at_end(is_record)
        self._require(self._same(type_, self.module.outside("type.record")))
        self._require(self._same(self._field(given, _RECORD_DTYPE_AT, WORD), self._address(told)))
        self._put(self._field(given, _RECORD_AT, WORD))
        self.b.branch(self.head)
        self.b.position_at_end(self.mismatch)
        self.b.ret(ir.constant(INT, MISMATCH))

    def _address(self, told: Any) -> Any:
        """Return the address of the dtype of a record."""
        _, _, wanted, _ = self.function.args
        place = self._bits(told, _DTYPES_BIT, 64 - _DTYPES_BIT)
        return self.b.load(self.b.gep(wanted, place))

    def _has_number(self, given: Any, told: Any) -> Any:
        """Return whether the dtype of an array has one of some numbers, and our byte order.

        Equal dtypes may be several objects: those of arrays that were pickled, or of C's types.
        """
        dtype = self._field(given, _DTYPE_AT, OBJECT)
        number = self.b.zext(self._field(dtype, _NUM_AT, INT), WORD)
        numbers = self._bits(told, _DTYPES_BIT, 64 - _DTYPES_BIT)
        # Numbers of users' dtypes are larger than words are long.
        bit = self.b.lshr(numbers, self.b.and_(number, ir.constant(WORD, 63)))
        tests = (
            self.b.trunc(bit, "i1"),
            self.b.icmp_unsigned("<", number, ir.constant(WORD, 64)),
            self.b.icmp_signed("!=", self._field(dtype, _ORDER_AT, BYTE), _OTHER_ORDER),
        )
        return functools.reduce(self.b.and_, tests)

    def _array(self, given: Any, told: Any) -> None:
        ndim = self.b.zext(self._field(given, _NDIM_AT, INT), WORD)
        flags = self._bits(told, _FLAGS_BIT, 16)
        found = self.b.zext(self._field(given, _FLAGS_AT, INT), WORD)
        has_rank = self._same(ndim, self._bits(told, _NDIM_BIT, 8))
        has_flags = self._same(self.b.and_(found, flags), flags)
        self._require(self.b.and_(has_rank, has_flags))
        self._put(self._field(given, _DATA_AT, WORD))
        self._copy(self._field(given, _SHAPE_AT, ir.pointer(WORD)), ndim)
        contiguous = self.b.trunc(flags, "i1")
        strides = self.b.append_basic_block("strides")
        self.b.cbranch(contiguous, self.head, strides)
        self.b.position_at_end(strides)
        self._copy(self._field(given, _STRIDES_AT, ir.pointer(WORD)), ndim)
        self.b.branch(self.head)

    def _number(self, given: Any, type_: Any, how: Any, kind: Any) -> None:
        """Read a number of NumPy or of Python."""
        types = self.b.bitcast(self.module.outside("types"), ir.pointer(OBJECT))
        place = self.b.gep(types, self.b.add(kind, kind))
        numpy, read = self.b.append_basic_block("numpy"), self.b.append_basic_block("read")
        self.b.cbranch(self._same(type_, self.b.load(place)), read, numpy)
        self.b.position_at_end(numpy)
        own = self.b.load(self.b.gep(place, ir.constant(WORD, 1)))
        self._require(self._same(type_, own))
        is_int = self._branch(self._equal(how, _INT64), "int")
        is_bool = self._branch(self._equal(how, _BOOL), "bool")
        self.b.branch(read)
        self.b.position_at_end(is_bool)
        self._put(self.b.zext(self._same(given, self.module.outside("value.True")), WORD))
        self.b.branch(self.head)
        self.b.position_at_end(is_int)
        self._python_int(given)
        self.b.position_at_end(read)
        self._put(self._field(given, _NUMBER_AT, WORD))
        more = self.b.append_basic_block("more")
        self.b.cbranch(self._equal(how, _TWO_WORDS), more, self.head)
        self.b.position_at_end(more)
        self._put(self._field(given, _NUMBER_AT + 8, WORD))
        self.b.branch(self.head)

    def _python_int(self, given: Any) -> None:
        converted = self._python("PyLong_AsLongLong", given)
        self._put(converted)
        asked = self.b.append_basic_block("asked")
        self.b.cbranch(self._equal(converted, -1), asked, self.head)
        self.b.position_at_end(asked)
        nothing = ir.constant(OBJECT, None)
        self._unless(self._same(self._python("PyErr_Occurred"), nothing), "failed", FAILED)
        self.b.branch(self.head)

    def _python(self, name: str, *given: Any) -> Any:
        result, parameters = PYTHON[name]
        return self.b.call(self.module.declare(name, result, parameters), given)

    def _field(self, given: Any, at: int, type_: Any) -> Any:
        place = self.b.gep(given, ir.constant(WORD, at))
        return self.b.load(self.b.bitcast(place, ir.pointer(type_)))

    def _bits(self, told: Any, first: int, number: int) -> Any:
        moved = self.b.lshr(told, ir.constant(WORD, first))
        return self.b.and_(moved, ir.constant(WORD, (1 << number) - 1))

    def _same(self, one: Any, other: Any) -> Any:
        return self.b.icmp_unsigned("==", one, other)

    def _equal(self, one: Any, number: int) -> Any:
        return self._same(one, ir.constant(one.type, number))

    def _branch(self, test: Any, name: str) -> Any:
        """Go on if a test fails; return the block for the other case."""
        block, after = self.b.append_basic_block(name), self.b.append_basic_block("after")
        self.b.cbranch(test, block, after)
        self.b.position_at_end(after)
        return block

    def _require(self, test: Any) -> None:
        after = self.b.append_basic_block("after")
        self.b.cbranch(test, after, self.mismatch)
        self.b.position_at_end(after)

    def _unless(self, test: Any, name: str, result: int) -> None:
        """Return a number if a test fails."""
        end, after = self.b.append_basic_block(name), self.b.append_basic_block("after")
        self.b.cbranch(test, after, end)
        self.b.position_at_end(end)
        self.b.ret(ir.constant(INT, result))
        self.b.position_at_end(after)

    def _put(self, word: Any) -> None:
        to = self.b.load(self.to)
        self.b.store(word, to)
        self.b.store(self.b.gep(to, ir.constant(WORD, 1)), self.to)

    def _copy(self, words: Any, number: Any) -> None:
        """Put some words."""
        names = ("copy", "each", "copied")
        head, body, end = (self.b.append_basic_block(name) for name in names)
        self.b.store(ir.constant(WORD, 0), self.axis)
        self.b.branch(head)
        self.b.position_at_end(head)
        axis = self.b.load(self.axis)
        self.b.cbranch(self.b.icmp_signed("<", axis, number), body, end)
        self.b.position_at_end(body)
        self._put(self.b.load(self.b.gep(words, axis)))
        self.b.store(self.b.add(axis, ir.constant(WORD, 1)), self.axis)
        self.b.branch(head)
        self.b.position_at_end(end)
