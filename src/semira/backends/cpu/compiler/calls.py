"""Calls: conversions, functions of the language, of LLVM and of C's library."""

from __future__ import annotations

import ast
import math
import time
from typing import Any

from semira.backends.cpu.compiler import ir
from semira.backends.cpu.compiler.expressions import Expressions, dotted
from semira.backends.cpu.compiler.types import (
    BOOL,
    FLOAT64,
    INT64,
    SCALARS,
    Array,
    Group,
    Scalar,
    UnsupportedError,
    Value,
    arithmetic,
    unified,
    wide,
)

_WORD = ir.integer(64)

#: Functions of a floating-point number that LLVM knows, by their names there.
_INTRINSICS = {
    "np.sqrt": "sqrt", "np.floor": "floor", "np.ceil": "ceil", "np.trunc": "trunc",
    "np.exp": "exp", "np.exp2": "exp2", "np.log": "log", "np.log2": "log2", "np.log10": "log10",
    "np.sin": "sin", "np.cos": "cos",
}  # fmt: skip

#: Functions of one or two floating-point numbers of C's library.
_LIBRARY = {
    "np.tan": "tan", "np.arcsin": "asin", "np.arccos": "acos", "np.arctan": "atan",
    "np.sinh": "sinh", "np.cosh": "cosh", "np.tanh": "tanh", "np.arcsinh": "asinh",
    "np.arccosh": "acosh", "np.arctanh": "atanh", "np.expm1": "expm1", "np.log1p": "log1p",
    "np.cbrt": "cbrt", "math.erf": "erf", "math.erfc": "erfc", "math.lgamma": "lgamma",
    "math.gamma": "tgamma", "np.hypot": "hypot", "np.arctan2": "atan2", "math.atan2": "atan2",
}  # fmt: skip


class Calls(Expressions):
    """Writes expressions, calls included."""

    def _on_call(self, node: ast.Call) -> Value:
        if node.keywords:
            raise UnsupportedError(ast.unparse(node))
        name = dotted(node.func)
        if name == "float" and isinstance(node.args[0], ast.Constant):
            return self.number(FLOAT64, float(str(node.args[0].value)))
        if isinstance(node.func, ast.Attribute) and node.func.attr == "conjugate":
            return self._conjugate(self.value(node.func.value))
        values = [self.value(part) for part in node.args]
        target = {"int": INT64, "float": FLOAT64, "bool": BOOL, "np.bool_": BOOL}.get(name)
        if target is None and name.startswith("np."):
            target = SCALARS.get(name.removeprefix("np."))
        if target is not None and len(values) == 1:
            return self._converted(values[0], target)
        known = getattr(self, f"_call_{name.replace('.', '_')}", None)
        if known is not None:
            made: Value = known(*values)
            return made
        if name in _INTRINSICS and len(values) == 1 and _is_real(values[0]):
            (value,) = values
            return self.intrinsic(f"llvm.{_INTRINSICS[name]}", value.type, [value.held])
        if name in _LIBRARY and all(map(_is_real, values)) and len({v.type for v in values}) == 1:
            return self._library(_LIBRARY[name], values[0].type, [v.held for v in values])
        return self.call_helper(name, [Value(v.type, v.held) for v in values])

    def _converted(self, value: Value, target: Scalar) -> Value:
        if value.literal is not None and target.is_integer:
            return self.number(target, value.literal % 2**target.bits)
        return Value(target, self.cast(value, target))

    def _library(self, name: str, type_: Scalar, held: list[Any]) -> Value:
        name = name if type_.bits == 64 else f"{name}f"
        function = self.b.module.declare(name, type_.register, [type_.register] * len(held))
        return Value(type_, self.b.call(function, held))

    def _call_math_frexp(self, value: Value) -> Value:
        """Return a fraction and an exponent, of C's library."""
        type_, part = _real("frexp", value), ir.integer(32)
        name, given = "frexp" if type_.bits == 64 else "frexpf", [type_.register, ir.pointer(part)]
        function = self.b.module.declare(name, type_.register, given)
        with self.b.goto_block(self.b.function.blocks[0]):
            room = self.b.alloca(part)
        fraction = self.b.call(function, [value.held, room])
        exponent = self.b.sext(self.b.load(room), _WORD)
        return Value(Group((type_, INT64)), [fraction, exponent])

    def _conjugate(self, value: Value) -> Value:
        real, imaginary = self.parts(value)
        if value.type.kind != "c":
            return value
        minus = self.b.fneg(imaginary.held)
        return Value(value.type, self.joined_parts(value.type, real.held, minus))

    def _call_complex(self, real: Value, imaginary: Value) -> Value:
        # As Numba does: two single numbers are a complex64.
        both = arithmetic(real.type, imaginary.type)
        part = both if both.kind == "f" else FLOAT64
        type_ = Scalar("c", 2 * part.bits)
        held = self.joined_parts(type_, self.cast(real, part), self.cast(imaginary, part))
        return Value(type_, held)

    def _call_atomic_add(self, array: Value, index: Value, value: Value) -> Value:
        return self._atomic("add", array, index, value)

    def _call_atomic_min(self, array: Value, index: Value, value: Value) -> Value:
        return self._atomic("min", array, index, value)

    def _call_atomic_max(self, array: Value, index: Value, value: Value) -> Value:
        return self._atomic("max", array, index, value)

    def _atomic(self, op: str, array: Value, index: Value, value: Value) -> Value:
        """Change an element that other threads change too; return what it was before."""
        if not (isinstance(array.type, Array) and array.type.item.kind in "iu"):
            raise UnsupportedError(f"atomic_{op} on what is no array of integers")
        type_ = array.type.item
        word = "u" * (type_.kind == "u" and op != "add") + op
        place = self.place(array, [index])
        old = self.b.atomic_rmw(word, place, self.cast(value, type_))
        return Value(type_, old)

    def _call_prefetch(self, array: Value, index: Value) -> Value:
        """Fetch an element into the caches, to be read soon."""
        place = self.b.bitcast(self.place(array, [index]), ir.pointer(ir.integer(8)))
        word, name = ir.integer(32), "llvm.prefetch.p0i8"
        given = [place.type, word, word, word]
        function = self.b.module.declare(name, ir.VOID, given)
        # For reading, for all levels, of data.
        self.b.call(function, [place, *(ir.constant(word, each) for each in (0, 3, 1))])
        return self.number(INT64, 0)

    def _call_len(self, value: Value) -> Value:
        if not isinstance(value.type, Array):
            raise UnsupportedError("len of a number")
        return Value(INT64, value.held[1])

    def _call_abs(self, value: Value) -> Value:
        if not isinstance(value.type, Scalar) or value.type.kind == "b":
            raise UnsupportedError("abs")
        if value.type.kind == "f":
            return self.intrinsic("llvm.fabs", value.type, [value.held])
        if value.type.kind == "c":
            real, imaginary = self.parts(value)
            return self._library("hypot", real.type, [real.held, imaginary.held])
        type_ = wide(value.type)
        held = self.cast(value, type_)
        if type_.kind == "u":
            return Value(type_, held)
        is_negative = self.b.icmp_signed("<", held, ir.constant(_WORD, 0))
        return Value(type_, self.b.select(is_negative, self.b.neg(held), held))

    def _call_min(self, a: Value, b: Value) -> Value:
        return self._extreme("<", a, b)

    def _call_max(self, a: Value, b: Value) -> Value:
        return self._extreme(">", a, b)

    def _extreme(self, op: str, a: Value, b: Value) -> Value:
        if a.type == b.type and _is_real(a):
            # As in Python: of equal ones, and beside what is not a number, the first.
            better = self.compared(op, b, a)
            return Value(a.type, self.b.select(better, b.held, a.held))
        type_ = unified(a.type, b.type)
        if not type_.is_integer:
            raise UnsupportedError("min and max of numbers of two kinds")
        left, right = Value(type_, self.cast(a, type_)), Value(type_, self.cast(b, type_))
        return Value(type_, self.b.select(self.compared(op, right, left), right.held, left.held))

    def _call_np_copysign(self, a: Value, b: Value) -> Value:
        type_ = arithmetic(a.type, b.type)
        if type_.kind != "f":
            raise UnsupportedError("copysign of integers")
        return self.intrinsic("llvm.copysign", type_, [self.cast(a, type_), self.cast(b, type_)])

    def _call_now(self) -> Value:
        """Return the nanoseconds of the clock of `time.perf_counter_ns`."""
        clock_id = getattr(time, "CLOCK_UPTIME_RAW", getattr(time, "CLOCK_MONOTONIC", None))
        if clock_id is None:
            raise UnsupportedError("a system without clock_gettime")
        word, part = ir.integer(64), ir.integer(32)
        parts = ir.struct([word, word])
        given = [part, ir.pointer(parts)]
        clock = self.b.module.declare("clock_gettime", part, given)
        with self.b.goto_block(self.b.function.blocks[0]):
            room = self.b.alloca(parts)
        self.b.call(clock, [ir.constant(part, clock_id), room])
        seconds, rest = (self.b.extract_value(self.b.load(room), at) for at in (0, 1))
        billion = ir.constant(word, 10**9)
        return Value(INT64, self.b.add(self.b.mul(seconds, billion), rest))

    def _call_np_sign(self, value: Value) -> Value:
        zero, one = (ir.constant(_real("sign", value).register, number) for number in (0, 1))
        size = self.b.select(self.b.fcmp_ordered("==", value.held, zero), zero, one)
        signed = self.intrinsic("llvm.copysign", value.type, [size, value.held]).held
        # What is not a number stays as it is; so does a zero.
        is_plain = self.b.fcmp_ordered("!=", value.held, zero)
        return Value(value.type, self.b.select(is_plain, signed, value.held))

    def _call_np_signbit(self, value: Value) -> Value:
        one = ir.constant(_real("signbit", value).register, 1)
        signed = self.intrinsic("llvm.copysign", value.type, [one, value.held]).held
        return Value(BOOL, self.b.fcmp_ordered("<", signed, ir.constant(value.type.register, 0)))

    def _call_np_isnan(self, value: Value) -> Value:
        if isinstance(value.type, Scalar) and value.type.kind == "c":
            real, imaginary = map(self._call_np_isnan, self.parts(value))
            return Value(BOOL, self.b.or_(real.held, imaginary.held))
        _real("isnan", value)
        return Value(BOOL, self.b.fcmp_unordered("uno", value.held, value.held))

    def _call_np_isfinite(self, value: Value) -> Value:
        return self._beside_infinity("isfinite", "<", value)

    def _call_np_isinf(self, value: Value) -> Value:
        return self._beside_infinity("isinf", "==", value)

    def _beside_infinity(self, name: str, op: str, value: Value) -> Value:
        type_ = _real(name, value)
        size = self.intrinsic("llvm.fabs", type_, [value.held])
        return Value(BOOL, self.compared(op, size, self.number(type_, math.inf)))

    def _call_np_fmod(self, a: Value, b: Value) -> Value:
        if not (_is_real(a) and a.type == b.type):
            raise UnsupportedError("fmod of what are not floating-point numbers")
        return Value(a.type, self.b.frem(a.held, b.held))


def _is_real(value: Value) -> bool:
    return isinstance(value.type, Scalar) and value.type.kind == "f"


def _real(name: str, value: Value) -> Scalar:
    if not _is_real(value):
        raise UnsupportedError(f"{name} of what is not a floating-point number")
    type_: Scalar = value.type
    return type_
