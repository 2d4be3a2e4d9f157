"""The function that Python calls: it has its arguments read, and lets go of the GIL."""

from __future__ import annotations

from typing import Any

from semira.backends.cpu.compiler import ir
from semira.backends.cpu.compiler.arguments import (
    FAILED,
    FINE,
    INT,
    OBJECT,
    PYTHON,
    READ,
    WORD,
    descriptions,
    own_addresses,
)
from semira.backends.cpu.compiler.types import (
    COMPLEX128,
    Array,
    Group,
    Scalar,
    Type,
    UnsupportedError,
    Value,
)


class Entry:
    """The function `name` that calls `kernel` with a tuple of Python's arguments.

    ``PyObject *name(PyObject *self, PyObject *const *arguments, Py_ssize_t number)``
    """

    def __init__(
        self, module: ir.Module, kernel: Any, types: tuple[Type, ...], result: Type, name: str
    ) -> None:
        self.module, self.kernel, self.types, self.result = module, kernel, types, result
        parameters = (OBJECT, ir.pointer(OBJECT), WORD)
        self.function = module.function(name, parameters, OBJECT)
        self.b = ir.Builder(module, self.function, self.function.block("entry"))

    def write(self) -> None:
        """Let it return ``NotImplemented`` for types that it was not compiled for."""
        held: list[Any] = []
        place = self._read()
        for type_ in self.types:
            kinds = type_.parts if isinstance(type_, Array) else [_in_words(type_)]
            for kind in kinds:
                held.append(self.b.load(self.b.bitcast(place, ir.pointer(kind))))
                place = self.b.gep(place, ir.constant(WORD, _words(type_) // len(kinds)))
            if isinstance(type_, Scalar) and type_.kind == "b":
                held[-1] = self.b.icmp_signed("!=", held[-1], ir.constant(type_.memory, 0))
            elif isinstance(type_, Scalar) and type_.kind == "V":
                held[-1] = self.b.load(held[-1])
        thread = self._python("PyEval_SaveThread")
        made = self.b.call(self.kernel, held)
        self._python("PyEval_RestoreThread", thread)
        self.b.ret(self._returned(made))

    def _read(self) -> Any:
        """Have the arguments read; return the address of their words."""
        _, arguments, number = self.function.args
        addresses = [self.module.outside(name) for name in own_addresses(self.types)]
        wanted = self.module.words("wanted", descriptions(self.types), addresses)
        given = (arguments, number, wanted, self.b.alloca(WORD, sum(map(_words, self.types))))
        outcome = self.b.call(self.module.declare(READ, INT, [a.type for a in given]), given)
        fine, other, failed, mismatch = map(
            self.function.block, ("fine", "other", "failed", "mismatch")
        )
        self.b.cbranch(self.b.icmp_signed("==", outcome, ir.constant(INT, FINE)), fine, other)
        self.b.position_at_end(other)
        is_error = self.b.icmp_signed("==", outcome, ir.constant(INT, FAILED))
        self.b.cbranch(is_error, failed, mismatch)
        self.b.position_at_end(failed)
        self.b.ret(ir.constant(OBJECT, None))
        self.b.position_at_end(mismatch)
        self.b.ret(self._shared("value.NotImplemented"))
        self.b.position_at_end(fine)
        return given[-1]

    def _python(self, name: str, *given: Any) -> Any:
        result, parameters = PYTHON[name]
        return self.b.call(self.module.declare(name, result, parameters), given)

    def _shared(self, name: str) -> Any:
        """Return an object that lives as long as Python, with a reference of the caller's."""
        found = self.module.outside(name)
        self._python("Py_IncRef", found)
        return found

    def _returned(self, made: Any) -> Any:
        if self.result is None:
            return self._shared("value.None")
        if isinstance(self.result, Group):
            number = ir.constant(WORD, len(self.result.items))
            group = self._python("PyTuple_New", number)
            for at, item in enumerate(self.result.items):
                part = self._object(Value(item, self.b.extract_value(made, at)))
                self._python("PyTuple_SetItem", group, ir.constant(WORD, at), part)
            return group
        return self._object(Value(self.result, made))

    def _object(self, value: Value) -> Any:
        type_, held = value.type, value.held
        if type_.kind == "V":
            raise UnsupportedError("a record as a result")
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
            return self._python("PyBool_FromLong", self.b.zext(held, WORD))
        if type_.bits < 64:
            held = (self.b.sext if type_.kind == "i" else self.b.zext)(held, WORD)
        name = "PyLong_FromLongLong" if type_.kind == "i" else "PyLong_FromUnsignedLongLong"
        return self._python(name, held)


def _in_words(type_: Type) -> Any:
    """Return LLVM's type of what the words of a number hold; of a record they hold the address."""
    assert isinstance(type_, Scalar)
    return ir.pointer(type_.memory) if type_.kind == "V" else type_.memory


def _words(type_: Type) -> int:
    """Return how many words an argument takes."""
    if isinstance(type_, Array):
        return len(type_.parts)
    return 2 if type_ == COMPLEX128 else 1
