"""LLVM's language: instructions become lines of text as they are built.

The methods of llvmlite's `ir`, whose objects take several times as long to make, name and print.
Types are their text; pointers tell what they point to, as LLVM before version 17 wants to know.
"""

from __future__ import annotations

import struct as bits_of
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

VOID, FLOAT, DOUBLE = "void", "float", "double"

_SIGNED = {"==": "eq", "!=": "ne", "<": "slt", "<=": "sle", ">": "sgt", ">=": "sge"}
_UNSIGNED = {"==": "eq", "!=": "ne", "<": "ult", "<=": "ule", ">": "ugt", ">=": "uge"}
_ORDERED = {"==": "oeq", "!=": "one", "<": "olt", "<=": "ole", ">": "ogt", ">=": "oge"}
_UNORDERED = {"!=": "une", "uno": "uno"}


#: Types of several values, and those of their parts.
_PARTS: dict[str, tuple[str, ...]] = {}


def struct(parts: Iterable[str]) -> str:
    """Return the type of several values."""
    types = tuple(parts)
    made = f"{{{', '.join(types)}}}"
    _PARTS[made] = types
    return made


def packed(parts: Iterable[str]) -> str:
    """Return the type of several values that lie one behind the other, at any address."""
    plain = struct(parts)
    made = f"<{plain}>"
    _PARTS[made] = _PARTS[plain]
    return made


def integer(bits: int) -> str:
    """Return the type of an integer."""
    return f"i{bits}"


def pointer(type_: str) -> str:
    """Return the type of an address."""
    return f"{type_}*"


class Held(NamedTuple):
    """A value: its type, and its name or number."""

    type: str
    text: str

    def __str__(self) -> str:
        return f"{self.type} {self.text}"


_new = tuple.__new__


def constant(type_: str, value: Any) -> Held:
    """Return a number, or zeros of a struct; None: nowhere."""
    if value is None:
        return Held(type_, "null")
    if type_ in _PARTS:
        return Held(type_, "zeroinitializer")
    if type_ == FLOAT:
        (value,) = bits_of.unpack("f", bits_of.pack("f", value))
    if type_ in (FLOAT, DOUBLE):
        return Held(type_, f"0x{bits_of.pack('>d', value).hex()}")
    return Held(type_, str(int(value)))


def undefined(type_: str) -> Held:
    """Return a value whose parts are inserted."""
    return Held(type_, "undef")


class Block:
    """Instructions one after the other."""

    __slots__ = ("is_terminated", "lines", "name")

    def __init__(self, name: str) -> None:
        self.name, self.lines, self.is_terminated = name, [f"{name}:"], False


class Function:
    """A function; without blocks it is one of another library."""

    def __init__(self, name: str, result: str, parameters: Sequence[str], how: str = "") -> None:
        self.name, self.result, self.how = name, result, how
        self.args = [Held(type_, f"%a{at}") for at, type_ in enumerate(parameters)]
        self.blocks: list[Block] = []
        self.names = 0

    def block(self, name: str) -> Block:
        """Return a new block at the end."""
        self.blocks.append(Block(f"{name}{len(self.blocks)}"))
        return self.blocks[-1]

    def __str__(self) -> str:
        if not self.blocks:
            return f'declare {self.result} @"{self.name}"({", ".join(a.type for a in self.args)})'
        linkage, attributes = ("internal ", self.how) if self.how else ("", "")
        given = ", ".join(map(str, self.args))
        lines = [f'define {linkage}{self.result} @"{self.name}"({given}) {attributes} {{']
        for block in self.blocks:
            lines += block.lines
        return "\n".join((*lines, "}"))


class Module:
    """Functions, and names of other libraries."""

    def __init__(self) -> None:
        self.functions: list[Function] = []
        self.declared: dict[str, Function] = {}
        self.external: dict[str, Held] = {}
        self.numbers: list[str] = []
        self.names = 0

    def function(self, name: str, parameters: Sequence[str], result: str | None = None) -> Function:
        """Return a new function; of one that only this module calls, the result is set later."""
        if result is None:
            self.names += 1
            made = Function(f"{name}.{self.names}", VOID, parameters, "alwaysinline nounwind")
        else:
            made = Function(name, result, parameters)
        self.functions.append(made)
        return made

    def declare(self, name: str, result: str, parameters: Sequence[str]) -> Function:
        """Return a function of another library."""
        if name not in self.declared:
            self.declared[name] = Function(name, result, parameters)
        return self.declared[name]

    def outside(self, name: str) -> Held:
        """Return the address of something of another library."""
        return self.external.setdefault(name, Held("i8*", f'@"{name}"'))

    def words(self, name: str, numbers: Sequence[int], addresses: Sequence[Held] = ()) -> Held:
        """Return the address of integers of 64 bits, and addresses behind them."""
        type_ = f"[{len(numbers) + len(addresses)} x i64]"
        parts = [str(number) for number in numbers]
        parts += [f"ptrtoint ({address} to i64)" for address in addresses]
        told = ", ".join(f"i64 {part}" for part in parts)
        self.numbers.append(f'@"{name}" = internal constant {type_} [{told}]')
        return Held("i64*", f'bitcast ({type_}* @"{name}" to i64*)')

    def __str__(self) -> str:
        names = [f'@"{name}" = external global i8' for name in self.external]
        functions = map(str, (*self.declared.values(), *self.functions))
        return "\n".join((*names, *self.numbers, *functions, ""))


def _binary(name: str) -> Callable[..., Held]:
    def build(self: Builder, a: Held, b: Held, flags: str = "") -> Held:
        return self.made(a.type, f"{name}{flags} {a.type} {a.text}, {b.text}")

    return build


def _cast(name: str) -> Callable[..., Held]:
    def build(self: Builder, value: Held, type_: str) -> Held:
        if value.type == type_:
            return value
        return self.made(type_, f"{name} {value.type} {value.text} to {type_}")

    return build


def _compare(name: str, words: dict[str, str]) -> Callable[..., Held]:
    def build(self: Builder, op: str, a: Held, b: Held) -> Held:
        return self.made("i1", f"{name} {words[op]} {a.type} {a.text}, {b.text}")

    return build


class Builder:
    """Adds instructions to the end of a block."""

    def __init__(self, module: Module, function: Function, block: Block) -> None:
        self.module, self.function, self.block = module, function, block

    def made(self, type_: str, line: str) -> Held:
        """Return what an instruction makes."""
        function = self.function
        function.names = number = function.names + 1
        self.block.lines.append(f"%v{number} = {line}")
        return _new(Held, (type_, f"%v{number}"))

    def _last(self, line: str) -> None:
        self.block.lines.append(line)
        self.block.is_terminated = True

    def append_basic_block(self, name: str) -> Block:
        """Return a new block at the end of the function."""
        return self.function.block(name)

    def position_at_end(self, block: Block) -> None:
        """Add to this block from now on."""
        self.block = block

    @contextmanager
    def goto_block(self, block: Block) -> Iterator[None]:
        """Add to another block for a while."""
        before, self.block = self.block, block
        yield
        self.block = before

    add, sub, mul = _binary("add"), _binary("sub"), _binary("mul")
    sdiv, srem, udiv, urem = _binary("sdiv"), _binary("srem"), _binary("udiv"), _binary("urem")
    and_, or_, xor = _binary("and"), _binary("or"), _binary("xor")
    shl, ashr, lshr = _binary("shl"), _binary("ashr"), _binary("lshr")
    fadd, fsub, fmul = _binary("fadd"), _binary("fsub"), _binary("fmul")
    fdiv, frem = _binary("fdiv"), _binary("frem")

    trunc, sext, zext = _cast("trunc"), _cast("sext"), _cast("zext")
    fptrunc, fpext = _cast("fptrunc"), _cast("fpext")
    fptosi, fptoui, sitofp, uitofp = map(_cast, ("fptosi", "fptoui", "sitofp", "uitofp"))
    bitcast, ptrtoint, inttoptr = _cast("bitcast"), _cast("ptrtoint"), _cast("inttoptr")

    icmp_signed, icmp_unsigned = _compare("icmp", _SIGNED), _compare("icmp", _UNSIGNED)
    fcmp_ordered, fcmp_unordered = _compare("fcmp", _ORDERED), _compare("fcmp", _UNORDERED)

    def neg(self, value: Held) -> Held:
        return self.made(value.type, f"sub {value.type} 0, {value.text}")

    def not_(self, value: Held) -> Held:
        return self.made(value.type, f"xor {value.type} {value.text}, -1")

    def fneg(self, value: Held) -> Held:
        return self.made(value.type, f"fneg {value}")

    def select(self, test: Held, then: Held, other: Held) -> Held:
        return self.made(then.type, f"select {test}, {then}, {other}")

    def phi(self, type_: str, arms: Iterable[tuple[Held, Block]]) -> Held:
        """Return the value that comes from one of several blocks."""
        told = ", ".join(f"[{held.text}, %{block.name}]" for held, block in arms)
        return self.made(type_, f"phi {type_} {told}")

    def alloca(self, type_: str, number: int = 1) -> Held:
        return self.made(pointer(type_), f"alloca {type_}, i64 {number}")

    def load(self, place: Held) -> Held:
        type_, text = place
        return self.made(type_[:-1], f"load {type_[:-1]}, {type_} {text}")

    def store(self, value: Held, place: Held) -> None:
        self.block.lines.append(f"store {value.type} {value.text}, {place.type} {place.text}")

    def gep(self, place: Held, at: Held, how: str = "") -> Held:
        """Return the address of an element."""
        type_, text = place
        line = f"getelementptr{how} {type_[:-1]}, {type_} {text}, {at.type} {at.text}"
        return self.made(type_, line)

    def atomic_rmw(self, op: str, place: Held, value: Held) -> Held:
        return self.made(value.type, f"atomicrmw {op} {place}, {value} monotonic")

    def extract_value(self, group: Held, at: int) -> Held:
        return self.made(_PARTS[group.type][at], f"extractvalue {group}, {at}")

    def insert_value(self, group: Held, value: Held, at: int) -> Held:
        return self.made(group.type, f"insertvalue {group}, {value}, {at}")

    def call(self, function: Function, given: Iterable[Held]) -> Held:
        line = f'call {function.result} @"{function.name}"({", ".join(map(str, given))})'
        if function.result != VOID:
            return self.made(function.result, line)
        self.block.lines.append(line)
        return Held(VOID, "")

    def branch(self, block: Block) -> None:
        self._last(f"br label %{block.name}")

    def cbranch(self, test: Held, then: Block, other: Block) -> None:
        self._last(f"br {test}, label %{then.name}, label %{other.name}")

    def ret(self, value: Held) -> None:
        self._last(f"ret {value}")

    def ret_void(self) -> None:
        self._last("ret void")

    def unreachable(self) -> None:
        self._last("unreachable")
