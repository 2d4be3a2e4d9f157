"""Functions: statements become blocks; writing is repeated until types of variables stay."""

from __future__ import annotations

import ast
import functools
import re
from dataclasses import dataclass, field
from typing import Any, cast

from semira.backends.cpu.compiler import ir
from semira.backends.cpu.compiler.calls import Calls
from semira.backends.cpu.compiler.expressions import dotted, method_of
from semira.backends.cpu.compiler.types import (
    INT64,
    UINT64,
    Array,
    Group,
    Scalar,
    Type,
    UnsupportedError,
    Value,
    unified,
)
from semira.backends.cpu.compiler.users import is_of_library, user_function

#: Most rewritings of one function until the types of its variables settle.
_MOST_PASSES = 8


#: The beginnings of functions, constants and imports, and decorators, which say nothing here.
_PART, _DECORATOR = re.compile(r"^(?=\w)", re.MULTILINE), re.compile(r"^@.*\n", re.MULTILINE)


@functools.lru_cache(maxsize=64)
def _parsed(text: str) -> ast.stmt:
    """Return a function or a constant; most are the same in many texts."""
    return ast.parse(text).body[0]


@dataclass(slots=True)
class Unit:
    """A module of a kernel, as text and as LLVM."""

    #: The texts of its functions, by name.
    texts: dict[str, str]
    constants: dict[str, ast.expr]
    module: ir.Module
    #: Functions by name and types of the arguments: LLVM's function and its result; None while it
    #: is being written.
    made: dict[tuple[Any, ...], tuple[Any, Type] | None] = field(default_factory=dict)
    #: LLVM IR of the functions of users, by their names there.
    users: dict[str, str] = field(default_factory=dict)

    def function(self, name: str) -> ast.FunctionDef:
        """Return a function."""
        if name not in self.texts:
            raise UnsupportedError(f"the function {name}")
        return cast("ast.FunctionDef", _parsed(self.texts[name]))


def unit_of(text: str) -> Unit:
    """Return the unit of a rendered text; it must hold functions, constants and imports alone."""
    texts: dict[str, str] = {}
    constants: dict[str, ast.expr] = {}
    for part in _PART.split(_DECORATOR.sub("", text)):
        word, _, rest = part.partition(" ")
        if word == "def":
            texts[rest.partition("(")[0]] = part
        elif rest.startswith("="):
            constants[word] = cast("ast.Assign", _parsed(part)).value
    return Unit(texts, constants, ir.Module())


def write_function(unit: Unit, name: str, types: tuple[Type, ...]) -> tuple[Any, Type]:
    """Write a function for given types of its arguments; return it and the type of its result.

    Raises UnsupportedError if it uses what this compiler does not know.
    """
    alias = unit.constants.get(name)
    if isinstance(alias, ast.Name):
        return write_function(unit, alias.id, types)
    if isinstance(alias, ast.Call) or is_of_library(name):
        return _write_user_function(unit, name, types)
    key = (name, types)
    if key in unit.made:
        known = unit.made[key]
        if known is None:
            raise UnsupportedError(f"{name} calls itself for a result")
        return known
    node = unit.function(name)
    if len(node.args.args) != len(types):
        raise UnsupportedError(f"the parameters of {name}")
    returns = (part for part in ast.walk(node) if isinstance(part, ast.Return))
    if any(part.value is not None for part in returns):
        unit.made[key] = None  # only a function that returns nothing may call itself
    variables: dict[str, Scalar] = {}
    for _ in range(_MOST_PASSES):
        writer = _Writer(unit, node, types, variables)
        if unit.made.get(key, ()) is not None:
            unit.made[key] = (writer.function, None)
        writer.write()
        if not writer.widened:
            break
        unit.module.functions.remove(writer.function)
        variables = writer.variable_types
    else:
        raise UnsupportedError(f"types of variables of {name} do not settle")
    made = unit.made[key] = (writer.function, writer.result())
    return made


def _write_user_function(unit: Unit, name: str, types: tuple[Type, ...]) -> tuple[Any, Type]:
    """Write a function that calls one of a user, or of NumPy, which Numba has compiled."""
    if (name, types) in unit.made:
        known = unit.made[name, types]
        assert known is not None
        return known
    scalars = tuple(type_ for type_ in types if isinstance(type_, Scalar))
    if len(scalars) < len(types):
        raise UnsupportedError(f"{name} takes what is no number")
    user = user_function(name, scalars)
    unit.users[user.name] = user.text
    function = unit.module.function(name, flat(types), user.result.register)
    b = ir.Builder(unit.module, function, function.block("entry"))
    # Of a record the function writes the address.
    is_record = user.result.kind == "V"
    room = b.alloca(ir.pointer(user.result.memory) if is_record else user.result.memory)
    place, exception, *_ = user.parameters
    given = [b.bitcast(room, place), ir.constant(exception, None)]
    for type_, held in zip(scalars, function.args, strict=True):
        if type_.kind == "V":
            copied = b.alloca(ir.integer(64), -(-type_.bits // 64))
            b.store(held, b.bitcast(copied, ir.pointer(type_.memory)))
            given.append(b.bitcast(copied, user.parameters[len(given)]))
        elif type_.kind == "c":
            given += [b.extract_value(held, at) for at in (0, 1)]
        else:
            given.append(b.zext(held, type_.memory))
    # The status is not read: such a function cannot raise.
    b.call(unit.module.declare(user.name, "i32", user.parameters), given)
    made = b.load(b.load(room)) if is_record else b.load(room)
    if user.result.kind == "b":
        made = b.icmp_signed("!=", made, ir.constant(user.result.memory, 0))
    b.ret(made)
    unit.made[name, types] = function, user.result
    return function, user.result


def flat(types: tuple[Type, ...]) -> list[Any]:
    """Return LLVM's types of arguments; an array takes several."""
    found: list[Any] = []
    for type_ in types:
        if isinstance(type_, Array):
            found += type_.parts
        elif isinstance(type_, Scalar):
            found.append(type_.register)
        else:
            raise UnsupportedError("a tuple as an argument")
    return found


class _Writer:
    """Writes one function, once; `variables` are the types that they had in the last pass."""

    def __init__(
        self,
        unit: Unit,
        node: ast.FunctionDef,
        types: tuple[Type, ...],
        variables: dict[str, Scalar],
    ) -> None:
        self.unit, self.node, self.types = unit, node, types
        self.variable_types = dict(variables)
        self.results: list[Type] = []
        #: Values that are returned, and the ends of the blocks that return them.
        self.returned: list[tuple[ir.Block, Value]] = []
        self.function = unit.module.function(node.name, flat(types))
        self.entry, self.body = self.function.block("entry"), self.function.block("body")
        self.b = ir.Builder(unit.module, self.function, self.body)
        self.e = Calls(self.b, self._call, unit.constants)
        self.loops: list[tuple[Any, Any]] = []
        self.depth = 0
        self.parameters: dict[str, Scalar] = {}
        self.widened = False  # a variable was used as another type than it has at the end
        self.keys: dict[str, str] = {}

    def result(self) -> Type:
        found: Type = self.results[0] if self.results else None
        for other in self.results[1:]:
            if isinstance(found, Scalar) and isinstance(other, Scalar):
                found = unified(found, other)
            elif isinstance(found, Group) and isinstance(other, Group):
                found = Group(tuple(map(unified, found.items, other.items)))
            elif found != other:
                raise UnsupportedError("results of different kinds")
        return found

    def write(self) -> None:
        given = list(self.function.args)
        for arg, type_ in zip(self.node.args.args, self.types, strict=True):
            if isinstance(type_, Array):
                parts, given = given[: len(type_.parts)], given[len(type_.parts) :]
                self.e.variables[arg.arg] = Value(type_, parts)
            else:
                assert isinstance(type_, Scalar)
                self._assign(arg.arg, Value(type_, given.pop(0)))
                self.parameters[arg.arg] = type_
        self._block(self.node.body)
        if not self.b.block.is_terminated:
            if self.returned:
                # Behind a loop that never ends, or the end of a function that always returns.
                self.b.unreachable()
            else:
                self.b.ret_void()
        self.b.position_at_end(self.entry)
        self.b.branch(self.body)
        if self.returned and not self.widened:
            self._return()
        # It refers back: the collector would have to find all that was written.
        del self.e

    def _call(self, name: str, values: list[Value]) -> Value:
        function, result = write_function(self.unit, name, tuple(v.type for v in values))
        held: list[Any] = []
        for value in values:
            held += value.held if isinstance(value.type, Array) else [value.held]
        if function is None:
            return Value(None, None)
        made = self.b.call(function, held)
        if isinstance(result, Group):
            return Value(
                result, [self.b.extract_value(made, at) for at in range(len(result.items))]
            )
        return Value(result, made)

    # Statements ---------------------------------------------------------------------------------

    def _block(self, body: list[ast.stmt]) -> None:
        self.depth += 1
        for node in body:
            if self.b.block.is_terminated:
                break
            method = getattr(self, method_of(node), None)
            if method is None:
                raise UnsupportedError(f"{type(node).__name__}: {ast.unparse(node)[:60]}")
            method(node)
        self.depth -= 1

    def _on_pass(self, node: ast.Pass) -> None:
        del node

    def _on_expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):
            self.e.value(node.value)

    def _on_assign(self, node: ast.Assign) -> None:
        if len(node.targets) != 1:
            raise UnsupportedError(ast.unparse(node))
        self._write(node.targets[0], self.e.value(node.value))

    def _write(self, target: ast.expr, value: Value) -> None:
        if isinstance(target, ast.Name):
            self._assign(target.id, value)
        elif isinstance(target, ast.Subscript):
            self.e.store(self.e.value(target.value), self.e.indices(target.slice), value)
        elif isinstance(target, ast.Tuple) and isinstance(value.type, Group):
            for part, type_, held in zip(target.elts, value.type.items, value.held, strict=True):
                self._write(part, Value(type_, held))
        else:
            raise UnsupportedError(ast.unparse(target))

    def _assign(self, name: str, value: Value) -> None:
        if not isinstance(value.type, Scalar):
            raise UnsupportedError(f"{name} is not a number")
        if isinstance(self.e.variables.get(name, value).type, Array):
            raise UnsupportedError(f"the array {name} is assigned")
        key = self._key_of(name, value.type)
        known = self.variable_types.get(key)
        type_ = value.type if known is None else unified(known, value.type)
        self.widened |= known is not None and known != type_
        self.variable_types[key] = type_
        place = self.e.variables.get(name)
        if place is None or place.type != type_:
            place = self.e.variables[name] = Value(type_, self._room(type_))
        self.b.store(self.e.cast(value, type_), place.held)

    def _key_of(self, name: str, type_: Scalar) -> str:
        """Return under what key the type of a variable is kept.

        A parameter that the function itself, and no block in it, assigns another type is another
        variable from then on.
        """
        at = self.parameters.get(name)
        if at is not None and self.depth == 1 and at != type_:
            del self.parameters[name], self.e.variables[name]
            self.keys[name] = f"{name} again"
        return self.keys.get(name, name)

    def _room(self, type_: Scalar) -> Any:
        register = type_.register
        with self.b.goto_block(self.entry):
            room = self.b.alloca(register)
            self.b.store(ir.constant(register, 0), room)
        return room

    def _on_augassign(self, node: ast.AugAssign) -> None:
        target = node.target
        if isinstance(target, ast.Subscript):
            array, index = self.e.value(target.value), self.e.indices(target.slice)
            old = self.e.load(array, index)
            self.e.store(array, index, self.e.binary(node.op, old, self.e.value(node.value)))
        elif isinstance(target, ast.Name):
            old = self.e.value(ast.Name(target.id, ast.Load()))
            self._assign(target.id, self.e.binary(node.op, old, self.e.value(node.value)))
        else:
            raise UnsupportedError(ast.unparse(node))

    def _on_return(self, node: ast.Return) -> None:
        if node.value is None:
            self.results.append(None)
            self.b.ret_void()
            return
        value = self.e.value(node.value)
        self.results.append(value.type)
        self.returned.append((self.b.block, value))
        self.b.block.is_terminated = True  # by `_return`, once all results are known

    def _return(self) -> None:
        """Return the values, in the type of all of them."""
        type_ = self.result()
        if not isinstance(type_, Scalar | Group):
            raise UnsupportedError("an array as a result")
        self.function.result = type_.register
        for block, value in self.returned:
            self.b.position_at_end(block)
            if isinstance(type_, Scalar):
                self.b.ret(self.e.cast(value, type_))
                continue
            made = ir.undefined(type_.register)
            for at, (source, item, held) in enumerate(
                zip(value.type.items, type_.items, value.held, strict=True)
            ):
                made = self.b.insert_value(made, self.e.cast(Value(source, held), item), at)
            self.b.ret(made)

    def _on_if(self, node: ast.If) -> None:
        test = self.e.truth(self.e.value(node.test))
        then, end = self.b.append_basic_block("then"), self.b.append_basic_block("end")
        other = self.b.append_basic_block("else") if node.orelse else end
        self.b.cbranch(test, then, other)
        for block, body in ((then, node.body), (other, node.orelse)):
            if block is end:
                continue
            self.b.position_at_end(block)
            self._block(body)
            if not self.b.block.is_terminated:
                self.b.branch(end)
        self.b.position_at_end(end)

    def _on_while(self, node: ast.While) -> None:
        if node.orelse:
            raise UnsupportedError("else of a loop")
        head, body, end = (self.b.append_basic_block(name) for name in ("while", "do", "done"))
        self.b.branch(head)
        self.b.position_at_end(head)
        self.b.cbranch(self.e.truth(self.e.value(node.test)), body, end)
        self._loop(node.body, body, head, end)

    def _loop(self, statements: list[ast.stmt], body: Any, again: Any, end: Any) -> None:
        self.b.position_at_end(body)
        self.loops.append((again, end))
        self._block(statements)
        self.loops.pop()
        if not self.b.block.is_terminated:
            self.b.branch(again)
        self.b.position_at_end(end)

    def _on_for(self, node: ast.For) -> None:
        walked = node.iter
        is_range = isinstance(walked, ast.Call) and dotted(walked.func) == "range"
        if not is_range or node.orelse or not isinstance(node.target, ast.Name):
            raise UnsupportedError(f"a loop over {ast.unparse(walked)}")
        assert isinstance(walked, ast.Call)
        bounds = [self.e.value(part) for part in walked.args]
        if len(bounds) > 2 or any(not b.type.is_integer for b in bounds):
            raise UnsupportedError(ast.unparse(walked))
        first = self.e.number(INT64, 0) if len(bounds) == 1 else bounds[0]
        type_ = UINT64 if any(b.type == UINT64 for b in bounds) else INT64
        if type_ == UINT64 and any(b.type != UINT64 and b.literal is None for b in bounds):
            raise UnsupportedError("a range of signed and unsigned positions")
        start, stop = self.e.cast(first, type_), self.e.cast(bounds[-1], type_)
        counter = self._room(type_)
        self.b.store(start, counter)
        names = ("for", "each", "step", "done")
        head, body, step, end = (self.b.append_basic_block(name) for name in names)
        self.b.branch(head)
        self.b.position_at_end(head)
        compare = self.b.icmp_signed if type_ == INT64 else self.b.icmp_unsigned
        self.b.cbranch(compare("<", self.b.load(counter), stop), body, end)
        self.b.position_at_end(step)
        flags = " nsw" if type_ == INT64 else " nuw"
        more = self.b.add(self.b.load(counter), ir.constant(ir.integer(64), 1), flags)
        self.b.store(more, counter)
        self.b.branch(head)
        self.b.position_at_end(body)
        self._assign(node.target.id, Value(type_, self.b.load(counter)))
        self._loop(node.body, self.b.block, step, end)

    def _on_continue(self, node: ast.Continue) -> None:
        del node
        self.b.branch(self.loops[-1][0])

    def _on_break(self, node: ast.Break) -> None:
        del node
        self.b.branch(self.loops[-1][1])
