"""Expressions: every node becomes instructions, and a value with its type."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from typing import Any

from semira.backends.cpu.compiler import ir
from semira.backends.cpu.compiler.types import (
    BOOL,
    FLOAT64,
    INT64,
    UINT64,
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

_COMPARISONS = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
}  # fmt: skip

_CONSTANTS = {
    "np.inf": math.inf, "np.nan": math.nan, "math.inf": math.inf, "math.nan": math.nan,
    "math.pi": math.pi, "np.pi": math.pi,
}  # fmt: skip


def method_of(node: ast.AST) -> str:
    """Return the name of the method that writes a node."""
    kind = type(node)
    if kind not in _METHODS:
        _METHODS[kind] = f"_on_{kind.__name__.lower()}"
    return _METHODS[kind]


_METHODS: dict[type[ast.AST], str] = {}


def dotted(node: ast.expr) -> str:
    """Return the text of a name, or of another expression."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"{node.value.id}.{node.attr}"
    return ast.unparse(node)


class Expressions:
    """Writes the expressions of one function; `functions` writes the statements around them.

    `call_helper` is called with a name and values, and returns the value of a function of the
    module, which also has the `constants`.
    """

    def __init__(
        self,
        builder: ir.Builder,
        call_helper: Callable[[str, list[Value]], Value],
        constants: dict[str, ast.expr],
    ) -> None:
        self.b = builder
        self.call_helper = call_helper
        self.constants = constants
        self.variables: dict[str, Value] = {}

    # Values -------------------------------------------------------------------------------------

    def number(self, type_: Scalar, value: Any) -> Value:
        """Return a constant."""
        return Value(type_, ir.constant(type_.register, value))

    def cast(self, value: Value, target: Scalar) -> Any:
        """Return LLVM's value of a number in another type: integers wrap."""
        source, held = value.type, value.held
        if not isinstance(source, Scalar):
            raise UnsupportedError("an array where a number is expected")
        if source == target:
            return held
        if target.kind == "b":
            return self.truth(value)
        if target.kind == "c":
            real, imaginary = self.parts(value)
            return self.joined_parts(
                target, self.cast(real, target.part), self.cast(imaginary, target.part)
            )
        if source.kind in "cV" or target.kind == "V":
            raise UnsupportedError(f"{source.name} where {target.name} is expected")
        if source.kind == "f":
            if target.kind == "f":
                convert = self.b.fpext if target.bits > source.bits else self.b.fptrunc
            else:
                convert = self.b.fptosi if target.kind == "i" else self.b.fptoui
            return convert(held, target.register)
        if target.kind == "f":
            convert = self.b.sitofp if source.kind == "i" else self.b.uitofp
            return convert(held, target.register)
        if target.bits > source.bits:
            convert = self.b.sext if source.kind == "i" else self.b.zext
            return convert(held, target.register)
        return self.b.trunc(held, target.register) if target.bits < source.bits else held

    def truth(self, value: Value) -> Any:
        """Return whether a number is not 0."""
        if not isinstance(value.type, Scalar) or value.type.kind == "V":
            raise UnsupportedError("the truth of an array or a record")
        if value.type == BOOL:
            return value.held
        if value.type.kind == "c":
            return self.b.or_(*(self.truth(part) for part in self.parts(value)))
        zero = ir.constant(value.type.register, 0)
        if value.type.kind == "f":
            return self.b.fcmp_unordered("!=", value.held, zero)
        return self.b.icmp_signed("!=", value.held, zero)

    def parts(self, value: Value) -> tuple[Value, Value]:
        """Return the real and the imaginary part of a number."""
        if value.type.kind != "c":
            return value, self.number(value.type, 0)
        part = value.type.part
        real, imaginary = (Value(part, self.b.extract_value(value.held, at)) for at in (0, 1))
        return real, imaginary

    def joined_parts(self, type_: Scalar, real: Any, imaginary: Any) -> Any:
        """Return LLVM's value of a complex number."""
        held = self.b.insert_value(ir.undefined(type_.register), real, 0)
        return self.b.insert_value(held, imaginary, 1)

    def load(self, array: Value, index: list[Value]) -> Value:
        """Return an element."""
        loaded = self.b.load(self.place(array, index))
        item = array.type.item
        if item.kind == "b":
            loaded = self.b.icmp_signed("!=", loaded, ir.constant(item.memory, 0))
        return Value(item, loaded)

    def store(self, array: Value, index: list[Value], value: Value) -> None:
        """Write an element."""
        item = array.type.item
        held = self.cast(value, item)
        if item.kind == "b":
            held = self.b.zext(held, item.memory)
        self.b.store(held, self.place(array, index))

    def place(self, array: Value, index: list[Value]) -> Any:
        """Return the address of an element; positions do not count from the end."""
        if not isinstance(array.type, Array):
            raise UnsupportedError("an index into a number")
        ndim = array.type.ndim
        if len(index) != ndim:
            raise UnsupportedError("part of an array")
        address, *words = array.held
        if any(not at.type.is_integer for at in index):
            raise UnsupportedError("an index that is not an integer")
        at = [self.cast(part, Scalar(part.type.kind, 64)) for part in index]
        if not array.type.is_contiguous:
            start = self.b.ptrtoint(address, _WORD)
            for part, stride in zip(at, words[ndim:], strict=True):
                start = self.b.add(start, self.b.mul(part, stride))
            return self.b.inttoptr(start, address.type)
        offset = at[0]
        for part, length in zip(at[1:], words[1:ndim], strict=True):
            offset = self.b.add(self.b.mul(offset, length), part)
        return self.b.gep(address, offset, " inbounds")

    # Nodes --------------------------------------------------------------------------------------

    def value(self, node: ast.expr) -> Value:
        """Return the value of an expression."""
        method = getattr(self, method_of(node), None)
        if method is None:
            raise UnsupportedError(f"{type(node).__name__}: {ast.unparse(node)}")
        made: Value = method(node)
        return made

    def _on_constant(self, node: ast.Constant) -> Value:
        value = node.value
        if isinstance(value, bool):
            return self.number(BOOL, int(value))
        if isinstance(value, int) and value < 2**64:
            type_ = INT64 if value < 2**63 else UINT64
            return Value(type_, ir.constant(_WORD, value), value)
        if isinstance(value, float):
            return self.number(FLOAT64, value)
        raise UnsupportedError(f"the constant {value!r}")

    def _on_name(self, node: ast.Name) -> Value:
        found = self.variables.get(node.id)
        if found is not None:
            if isinstance(found.type, Scalar):
                return Value(found.type, self.b.load(found.held))
            return found
        if node.id in self.constants:
            return self.value(self.constants[node.id])
        raise UnsupportedError(f"the name {node.id}")

    def _on_attribute(self, node: ast.Attribute) -> Value:
        text = dotted(node)
        if text in _CONSTANTS:
            return self.number(FLOAT64, _CONSTANTS[text])
        if node.attr in ("real", "imag"):
            value = self.value(node.value)
            if isinstance(value.type, Scalar):
                return self.parts(value)[node.attr == "imag"]
        raise UnsupportedError(text)

    def _on_subscript(self, node: ast.Subscript) -> Value:
        if isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
            array = self.value(node.value.value)
            axis = node.slice.value if isinstance(node.slice, ast.Constant) else None
            if isinstance(axis, int) and isinstance(array.type, Array):
                return Value(INT64, array.held[1 + axis])
            raise UnsupportedError("an axis that is not a number")
        if isinstance(node.value, ast.Call) and isinstance(node.slice, ast.Constant):
            group = self.value(node.value)
            if isinstance(group.type, Group) and isinstance(node.slice.value, int):
                return Value(group.type.items[node.slice.value], group.held[node.slice.value])
        return self.load(self.value(node.value), self.indices(node.slice))

    def indices(self, node: ast.expr) -> list[Value]:
        """Return the positions between brackets."""
        return [self.value(part) for part in (node.elts if isinstance(node, ast.Tuple) else [node])]

    def _on_tuple(self, node: ast.Tuple) -> Value:
        values = [self.value(part) for part in node.elts]
        if not all(isinstance(value.type, Scalar) for value in values):
            raise UnsupportedError("a tuple of arrays")
        return Value(Group(tuple(value.type for value in values)), [v.held for v in values])

    def _on_unaryop(self, node: ast.UnaryOp) -> Value:
        whole = node.operand.value if isinstance(node.operand, ast.Constant) else None
        if isinstance(node.op, ast.USub) and type(whole) is int and whole <= 2**63:
            # The least number of 64 bits has no positive one.
            return Value(INT64, ir.constant(_WORD, -whole), -whole)
        value = self.value(node.operand)
        if isinstance(node.op, ast.Not):
            return Value(BOOL, self.b.not_(self.truth(value)))
        if not isinstance(value.type, Scalar):
            raise UnsupportedError(ast.unparse(node))
        type_ = wide(value.type)
        held = self.cast(value, type_)
        if isinstance(node.op, ast.USub):
            if type_.kind == "f":
                return Value(type_, self.b.fneg(held))
            if type_.kind == "c":
                parts = [self.b.fneg(part.held) for part in self.parts(value)]
                return Value(type_, self.joined_parts(type_, *parts))
            literal = None if value.literal is None else -value.literal
            return Value(type_, self.b.neg(held), literal)
        if isinstance(node.op, ast.Invert) and value.type.is_integer:
            return Value(type_, self.b.not_(held))
        raise UnsupportedError(ast.unparse(node))

    def _on_binop(self, node: ast.BinOp) -> Value:
        return self.binary(node.op, self.value(node.left), self.value(node.right))

    def binary(self, op: ast.operator, a: Value, b: Value) -> Value:
        """Return what an operator makes of two numbers."""
        if not (isinstance(a.type, Scalar) and isinstance(b.type, Scalar)):
            raise UnsupportedError("arithmetic of arrays")
        name = type(op).__name__
        if name in ("BitAnd", "BitOr", "BitXor") and a.type == b.type == BOOL:
            return Value(BOOL, _BITS[name](self.b, a.held, b.held))
        if "c" in (a.type.kind, b.type.kind):
            return self._complex(name, a, b)
        if name == "Div":
            type_ = arithmetic(a.type, b.type)
            type_ = type_ if type_.kind == "f" else FLOAT64
            return Value(type_, self.b.fdiv(self.cast(a, type_), self.cast(b, type_)))
        if name in ("LShift", "RShift"):
            return self._shift(name, a, b)
        type_ = arithmetic(a.type, b.type)
        left, right = self.cast(a, type_), self.cast(b, type_)
        if name in _BITS and type_.is_integer:
            return Value(type_, _BITS[name](self.b, left, right))
        if name in _SUMS:
            whole, real = _SUMS[name]
            return Value(type_, (real if type_.kind == "f" else whole)(self.b, left, right))
        if name in ("FloorDiv", "Mod") and type_.is_integer:
            return Value(type_, self._divided(type_, left, right, rest=name == "Mod"))
        if name == "Pow" and type_.kind == "f":
            return self.intrinsic("llvm.pow", type_, [left, right])
        raise UnsupportedError(f"{name} of {a.type.name} and {b.type.name}")

    def _complex(self, name: str, a: Value, b: Value) -> Value:
        """Return a sum, difference or product; other operators have functions that name them."""
        type_ = arithmetic(a.type, b.type)
        (ar, ai), (br, bi) = (
            [part.held for part in self.parts(Value(type_, self.cast(value, type_)))]
            for value in (a, b)
        )
        if name == "Mult":
            real = self.b.fsub(self.b.fmul(ar, br), self.b.fmul(ai, bi))
            imaginary = self.b.fadd(self.b.fmul(ar, bi), self.b.fmul(ai, br))
        elif name in ("Add", "Sub"):
            _, operation = _SUMS[name]
            real, imaginary = operation(self.b, ar, br), operation(self.b, ai, bi)
        else:
            raise UnsupportedError(f"{name} of complex numbers")
        return Value(type_, self.joined_parts(type_, real, imaginary))

    def _shift(self, name: str, a: Value, b: Value) -> Value:
        if not (a.type.is_integer and b.type.is_integer):
            raise UnsupportedError("a shift of what is not an integer")
        type_ = wide(a.type)
        left, by = self.cast(a, type_), self.cast(b, Scalar(b.type.kind, 64))
        if name == "LShift":
            return Value(type_, self.b.shl(left, by))
        right = self.b.ashr if type_.kind == "i" else self.b.lshr
        return Value(type_, right(left, by))

    def _divided(self, type_: Scalar, a: Any, b: Any, *, rest: bool) -> Any:
        """Return a quotient rounded down, or its remainder; 0 where the divisor is 0."""
        zero, one = ir.constant(_WORD, 0), ir.constant(_WORD, 1)
        is_zero = self.b.icmp_signed("==", b, zero)
        if type_.kind == "u":
            safe = self.b.select(is_zero, one, b)
            made = self.b.urem(a, safe) if rest else self.b.udiv(a, safe)
            return self.b.select(is_zero, zero, made)
        # The smallest number divided by -1 does not fit; processors stop there.
        minus = self.b.icmp_signed("==", b, ir.constant(_WORD, -1))
        safe = self.b.select(self.b.or_(is_zero, minus), one, b)
        quotient, left = self.b.sdiv(a, safe), self.b.srem(a, safe)
        differ = self.b.icmp_signed("<", self.b.xor(left, safe), zero)
        below = self.b.and_(self.b.icmp_signed("!=", left, zero), differ)
        if rest:
            made = self.b.select(below, self.b.add(left, safe), left)
            return self.b.select(self.b.or_(is_zero, minus), zero, made)
        made = self.b.select(below, self.b.sub(quotient, one), quotient)
        return self.b.select(is_zero, zero, self.b.select(minus, self.b.neg(a), made))

    def _on_boolop(self, node: ast.BoolOp) -> Value:
        """Evaluate operands until one decides; they must be truth values."""
        decides = isinstance(node.op, ast.Or)
        end = self.b.append_basic_block("decided")
        arms = []
        for at, part in enumerate(node.values):
            value = self.value(part)
            if value.type != BOOL:
                raise UnsupportedError(f"{ast.unparse(node)} of numbers")
            arms.append((value.held, self.b.block))
            if at + 1 == len(node.values):
                self.b.branch(end)
                break
            other = self.b.append_basic_block("next")
            paths = (end, other) if decides else (other, end)
            self.b.cbranch(value.held, *paths)
            self.b.position_at_end(other)
        return Value(BOOL, self._joined(end, BOOL, arms))

    def _joined(self, end: Any, type_: Scalar, arms: list[tuple[Any, Any]]) -> Any:
        self.b.position_at_end(end)
        return self.b.phi(type_.register, arms)

    def _on_ifexp(self, node: ast.IfExp) -> Value:
        test = self.truth(self.value(node.test))
        blocks = [self.b.append_basic_block(name) for name in ("then", "else")]
        end = self.b.append_basic_block("end")
        self.b.cbranch(test, *blocks)
        made = []
        for block, part in zip(blocks, (node.body, node.orelse), strict=True):
            self.b.position_at_end(block)
            made.append((self.value(part), self.b.block))
        (then, _), (other, _) = made
        if not (isinstance(then.type, Scalar) and isinstance(other.type, Scalar)):
            raise UnsupportedError(ast.unparse(node))
        type_ = unified(then.type, other.type)
        arms = []
        for value, block in made:
            self.b.position_at_end(block)
            arms.append((self.cast(value, type_), block))
            self.b.branch(end)
        return Value(type_, self._joined(end, type_, arms))

    def _on_compare(self, node: ast.Compare) -> Value:
        if len(node.ops) != 1:
            return self._chain(node)
        op, other = node.ops[0], node.comparators[0]
        left = self.value(node.left)
        if isinstance(op, ast.In) and isinstance(other, ast.Tuple):
            found: Any = ir.constant(ir.integer(1), 0)
            for part in other.elts:
                found = self.b.or_(found, self.compared("==", left, self.value(part)))
            return Value(BOOL, found)
        if type(op) not in _COMPARISONS:
            raise UnsupportedError(ast.unparse(node))
        return Value(BOOL, self.compared(_COMPARISONS[type(op)], left, self.value(other)))

    def _chain(self, node: ast.Compare) -> Value:
        """Return whether all of several comparisons hold: operands have no effects."""
        if any(type(op) not in _COMPARISONS for op in node.ops):
            raise UnsupportedError(ast.unparse(node))
        values = [self.value(part) for part in (node.left, *node.comparators)]
        found: Any = ir.constant(ir.integer(1), 1)
        for op, left, right in zip(node.ops, values[:-1], values[1:], strict=True):
            found = self.b.and_(found, self.compared(_COMPARISONS[type(op)], left, right))
        return Value(BOOL, found)

    def compared(self, op: str, a: Value, b: Value) -> Any:
        """Return whether two numbers compare so, whatever their signs."""
        if not (isinstance(a.type, Scalar) and isinstance(b.type, Scalar)):
            raise UnsupportedError("a comparison of arrays")
        if "c" in (a.type.kind, b.type.kind):
            if op not in ("==", "!="):
                raise UnsupportedError("an order of complex numbers")
            pairs = zip(self.parts(a), self.parts(b), strict=True)
            tests = [self.compared(op, x, y) for x, y in pairs]
            return (self.b.and_ if op == "==" else self.b.or_)(*tests)
        if "f" in (a.type.kind, b.type.kind):
            type_ = a.type if a.type == b.type else FLOAT64
            compare = self.b.fcmp_unordered if op == "!=" else self.b.fcmp_ordered
            return compare(op, self.cast(a, type_), self.cast(b, type_))
        left, right = wide(a.type), wide(b.type)
        held = self.cast(a, left), self.cast(b, right)
        if left == right:
            compare = self.b.icmp_signed if left.kind == "i" else self.b.icmp_unsigned
            return compare(op, *held)
        signed = 0 if left.kind == "i" else 1
        same = self.b.icmp_unsigned(op, *held)
        # A negative number is below every unsigned one.
        is_negative = self.b.icmp_signed("<", held[signed], ir.constant(_WORD, 0))
        below = op in (("<", "<=", "!=") if signed == 0 else (">", ">=", "!="))
        return self.b.select(is_negative, ir.constant(ir.integer(1), int(below)), same)

    def intrinsic(self, name: str, type_: Scalar, held: list[Any]) -> Value:
        """Return the value of a function of floating-point numbers."""
        parameters = [type_.register] * len(held)
        function = self.b.module.declare(f"{name}.f{type_.bits}", type_.register, parameters)
        return Value(type_, self.b.call(function, held))


_BITS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "BitAnd": lambda b, x, y: b.and_(x, y),
    "BitOr": lambda b, x, y: b.or_(x, y),
    "BitXor": lambda b, x, y: b.xor(x, y),
}

_SUMS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "Add": (lambda b, x, y: b.add(x, y), lambda b, x, y: b.fadd(x, y)),
    "Sub": (lambda b, x, y: b.sub(x, y), lambda b, x, y: b.fsub(x, y)),
    "Mult": (lambda b, x, y: b.mul(x, y), lambda b, x, y: b.fmul(x, y)),
}
