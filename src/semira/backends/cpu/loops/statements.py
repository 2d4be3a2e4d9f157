"""Statements over vectors and scalars, as text of a loop's kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from semira.backends.cpu.host.apply import position_names
from semira.backends.cpu.host.update import define_accumulate
from semira.backends.cpu.loops.source import Scope, UnsupportedLoopError, UnsureError, finish
from semira.base.dtypes import INT64, DataType
from semira.contract import Statement
from semira.ops import IndexUnaryOp, TypedMonoid, TypedOp


def write_statement(scope: Scope, statement: Statement) -> None:
    """Write one statement that is no product.

    Raises UnsupportedLoopError if it is not written natively.
    """
    kinds = [scope.slot(arg.slot).kind for arg in statement.args]
    if scope.slot(statement.out).kind == "matrix" or "matrix" in kinds:
        raise UnsupportedLoopError(f"{statement.op} of matrices")
    if any(user for user in getattr(statement.operator, "functions", ())):
        raise UnsupportedLoopError("a function of the user")
    write = _WRITERS.get(statement.op)
    if write is None:
        raise UnsupportedLoopError(statement.op)
    if scope.slot(statement.out).kind == "vector":
        scope.out.add("tn = np.int64(0)")
    write(scope, statement)


def value_of(scope: Scope, s: int, dtype: DataType) -> str:
    """Return the value of a scalar in a dtype; an empty one fails."""
    if scope.scalar(s) in scope.unsure:
        with scope.out.block(f"if not h{s}:"):
            scope.fail()
    return scope.header.cast(scope.slot(s).dtype, dtype, f"s{s}")


def set_scalar(scope: Scope, statement: Statement, has: str, value: str, dtype: DataType) -> None:
    """Write a scalar: ``has`` and ``value`` are expressions."""
    s = scope.scalar(statement.out)
    if statement.mask is not None:
        raise UnsupportedLoopError("a masked scalar")
    scope.source.written.add(s)
    if has != "True" and s not in scope.unsure:
        raise UnsureError(s)
    target = scope.slot(s).dtype
    t = f"t{scope.count}"
    stored = scope.header.cast(dtype, target, t)
    accum = None if statement.param("new") else statement.accum
    if statement.param("new"):
        scope.out.add(f"h{s} = False")
    if accum is None:
        with scope.out.block(f"if {has}:"):
            scope.out.add(f"{t} = {value}", f"s{s} = {stored}", f"h{s} = True")
        with scope.out.block("else:"):
            scope.out.add(f"h{s} = False")
        return
    name = f"into{scope.count}"
    define_accumulate(scope.header, accum, dtype, target, name)
    with scope.out.block(f"if {has}:"):
        scope.out.add(f"{t} = {value}")
        with scope.out.block(f"if h{s}:"):
            scope.out.add(f"s{s} = {name}(s{s}, {t})")
        with scope.out.block("else:"):
            scope.out.add(f"s{s} = {stored}", f"h{s} = True")


def _has(scope: Scope, s: int) -> str:
    """Return whether a scalar holds a value."""
    return f"h{s}" if scope.scalar(s) in scope.unsure else "True"


def _element(scope: Scope, number: int, dtype: DataType) -> str:
    """Return the value of an operand at position ``i`` in a dtype."""
    slot = scope.slot(number)
    name = f"x{scope.vector(number)}[i]" if slot.kind == "vector" else f"s{scope.scalar(number)}"
    return scope.header.cast(slot.dtype, dtype, name)


# Statements ---------------------------------------------------------------------------------------


def _assign(scope: Scope, statement: Statement) -> None:
    if any(index.kind != "all" for index in statement.indices) or statement.param("submask"):
        raise UnsupportedLoopError("an assignment to a region")
    source = statement.args[0].slot
    if scope.slot(statement.out).kind != "vector":
        raise UnsupportedLoopError("an assignment to a scalar")
    if scope.slot(source).kind == "vector":
        _copy(scope, statement)
        return
    v, mask = scope.vector(statement.out), statement.mask
    dtype = scope.slot(source).dtype
    if _is_plain(scope, statement):
        _fill(scope, statement)
        return
    values = scope.values(dtype)
    with scope.out.block(f"if {_has(scope, source)}:"):
        if mask is not None and not mask.complement:
            with scope.entries(scope.vector(mask.slot)):
                scope.put(mask, values, f"s{source}")
        else:
            with scope.out.block(f"for i in range(z{v}):"):
                scope.put(mask, values, f"s{source}")
            scope.out.add(f"work += z{v}")
    with scope.out.block("else:"):
        # Nothing is assigned, which deletes: the interpreter does that.
        scope.fail()
    finish(scope, statement, dtype, covers=True)


def _is_plain(scope: Scope, statement: Statement) -> bool:
    """Return whether a scalar with a value goes where a structural mask has entries."""
    mask = statement.mask
    return (
        mask is not None
        and mask.structural
        and not mask.complement
        and mask.slot != statement.out
        and not statement.replace
        and statement.accum is None
        and scope.scalar(statement.args[0].slot) not in scope.unsure
    )


def _fill(scope: Scope, statement: Statement) -> None:
    """Write a scalar at once, without a list of what is written: the level of a frontier."""
    assert statement.mask is not None
    v, source, out = scope.vector(statement.out), statement.args[0].slot, scope.out
    scope.source.written.add(v)
    value = scope.header.cast(scope.slot(source).dtype, scope.slot(v).dtype, f"s{source}")
    with scope.entries(scope.vector(statement.mask.slot)):
        out.add(f"x{v}[i] = {value}")
        with out.block(f"if not p{v}[i]:"):
            out.add(f"p{v}[i] = True")
            scope.listed(v)


def _copy(scope: Scope, statement: Statement) -> None:
    source = statement.args[0].slot
    dtype = scope.slot(source).dtype
    if scope.slot(source).kind == "scalar":
        scope.scalar(source)
        set_scalar(scope, statement, _has(scope, source), f"s{source}", dtype)
        return
    with scope.entries(scope.vector(source)):
        scope.put(statement.mask, scope.values(dtype), f"x{source}[i]")
    mask = statement.mask
    covers = mask is not None and mask.slot == source and not mask.complement
    finish(scope, statement, dtype, covers=covers)


def _nvals(scope: Scope, statement: Statement) -> None:
    source = statement.args[0].slot
    count = f"n{source}"
    if scope.slot(source).kind == "scalar":
        count = f"np.int64({_has(scope, source)})"
    else:
        scope.vector(source)
    set_scalar(scope, statement, "True", count, INT64)


def _ewise(scope: Scope, statement: Statement) -> None:
    op: TypedOp = statement.operator
    a, b = (arg.slot for arg in statement.args[:2])
    name, dtype = f"f{scope.count}", op.return_type
    scope.header.function(name, ("a", "b", "i", "j"), op, position_names(op))
    left, right = _element(scope, a, op.type), _element(scope, b, op.type2)
    both = f"{name}({left}, {right}, i, 0)"
    defaults = ["", ""]
    if statement.op == "ewise_union":
        defaults = [
            value_of(scope, arg.slot, part)
            for arg, part in zip(statement.args[2:], (op.type, op.type2), strict=True)
        ]
    only = (
        f"{name}({left}, {defaults[1]}, i, 0)"
        if defaults[1]
        else scope.header.cast(op.type, dtype, _element(scope, a, op.type)),
        f"{name}({defaults[0]}, {right}, i, 0)"
        if defaults[0]
        else scope.header.cast(op.type, dtype, _element(scope, b, op.type)),
    )
    if scope.slot(statement.out).kind == "scalar":
        _ewise_scalars(scope, statement, (both, *only))
        return
    values = scope.values(dtype)
    scope.vector(a)
    scope.vector(b)
    if statement.op == "ewise_mult":
        # The operand that has fewer positions to look at.
        scope.out.add(*(f"w{v} = n{v} if c{v} else z{v}" for v in (a, b)))
        for first, other, head in ((a, b, f"if w{a} <= w{b}:"), (b, a, "else:")):
            with scope.out.block(head), scope.entries(first), scope.out.block(f"if p{other}[i]:"):
                scope.put(statement.mask, values, both)
    else:
        with scope.entries(a):
            with scope.out.block(f"if p{b}[i]:"):
                scope.put(statement.mask, values, both)
            with scope.out.block("else:"):
                scope.put(statement.mask, values, only[0])
        with scope.entries(b), scope.out.block(f"if not p{a}[i]:"):
            scope.put(statement.mask, values, only[1])
    finish(scope, statement, dtype)


def _ewise_scalars(scope: Scope, statement: Statement, texts: tuple[str, str, str]) -> None:
    a, b = (scope.scalar(arg.slot) for arg in statement.args[:2])
    dtype: DataType = statement.operator.return_type
    scope.out.add("i = np.int64(0)", "here = False")
    if scope.unsure.isdisjoint({a, b}):
        set_scalar(scope, statement, "True", texts[0], dtype)
        return
    cases = [(f"h{a} and h{b}", texts[0])]
    if statement.op != "ewise_mult":
        cases += [(f"h{a} and not h{b}", texts[1]), (f"h{b} and not h{a}", texts[2])]
    for test, text in cases:
        with scope.out.block(f"if not here and {test}:"):
            scope.out.add("here = True")
            set_scalar(scope, statement, "True", text, dtype)
    with scope.out.block("if not here:"):
        set_scalar(scope, statement, "False", scope.header.cast(INT64, dtype, "0"), dtype)


def _apply(scope: Scope, statement: Statement) -> None:
    op: TypedOp = statement.operator
    opclass, at = op.parent.opclass, 0
    given: dict[str, str] = dict(position_names(op))
    if opclass == "UnaryOp":
        read = op.reads_a
        given["a"] = "value"
        dtype = op.type
    elif opclass == "BinaryOp":
        at = 1 if statement.param("side") == "left" else 0
        read = op.reads_b if at else op.reads_a
        dtype = op.type2 if at else op.type
        bound_dtype, bound_read = (op.type, op.reads_a) if at else (op.type2, op.reads_b)
        given |= {"a": "bound", "b": "value"} if at else {"a": "value", "b": "bound"}
    else:
        read, dtype, bound_read = True, op.type, True
        is_value = isinstance(op.parent, IndexUnaryOp) and op.parent.thunk_is_value
        bound_dtype = op.type if is_value else INT64
        given |= {"a": "value", "t": "bound"}
    name = f"f{scope.count}"
    scope.header.function(name, ("value", "i", "j", "bound"), op, given)
    bound = "0"
    if opclass != "UnaryOp":
        s = statement.args[1 - at].slot
        bound = value_of(scope, s, bound_dtype if bound_read else scope.slot(s).dtype)
    x = statement.args[at].slot
    element = _element(scope, x, dtype) if read else "0"
    text = f"{name}({element}, i, 0, {bound})"
    if scope.slot(statement.out).kind == "scalar":
        scope.out.add("i = np.int64(0)")
        set_scalar(scope, statement, _has(scope, x), text, op.return_type)
        return
    with scope.entries(scope.vector(x)):
        scope.put(statement.mask, scope.values(op.return_type), text)
    finish(scope, statement, op.return_type)


def _select(scope: Scope, statement: Statement) -> None:
    op: TypedOp = statement.operator
    x = statement.args[0].slot
    source = scope.slot(x).dtype
    if scope.slot(statement.out).kind == "scalar":
        raise UnsupportedLoopError("a scalar that is selected")
    is_value = isinstance(op.parent, IndexUnaryOp) and op.parent.thunk_is_value
    thunk = value_of(scope, statement.args[1].slot, op.type if is_value else INT64)
    name = f"f{scope.count}"
    given = {"a": scope.header.cast(source, op.type, "a"), "t": "t"} | position_names(op)
    scope.header.function(name, ("a", "i", "j", "t"), op, given)
    with scope.entries(scope.vector(x)), scope.out.block(f"if {name}(x{x}[i], i, 0, {thunk}):"):
        scope.put(statement.mask, scope.values(source), f"x{x}[i]")
    finish(scope, statement, source)


def _gather(scope: Scope, statement: Statement) -> None:
    u, index = (scope.vector(arg.slot) for arg in statement.args)
    dtype = scope.slot(u).dtype
    if not scope.slot(index).dtype.is_integer:
        raise UnsupportedLoopError("positions that are not integers")
    with scope.entries(index):
        _position(scope, index, f"z{u}")
        with scope.out.block(f"if p{u}[k]:"):
            scope.put(statement.mask, scope.values(dtype), f"x{u}[k]")
    finish(scope, statement, dtype)


def _position(scope: Scope, index: int, size: str) -> None:
    """Write ``k``, a position that a vector names."""
    scope.out.add(f"k = np.int64(x{index}[i])")
    with scope.out.block(f"if k < 0 or k >= {size}:"):
        scope.fail()
        scope.out.add("k = np.int64(0)")


def _scatter(scope: Scope, statement: Statement) -> None:
    u, index = (scope.vector(arg.slot) for arg in statement.args)
    dup: TypedMonoid = statement.param("dup")
    v, dtype, name = scope.vector(statement.out), dup.type, f"f{scope.count}"
    if not scope.slot(index).dtype.is_integer:
        raise UnsupportedLoopError("positions that are not integers")
    scope.header.function(name, ("a", "b"), dup.op, {})
    values = scope.values(dtype)
    element = scope.header.cast(scope.slot(u).dtype, dtype, f"x{u}[i]")
    with scope.entries(index):
        _position(scope, index, f"z{v}")
        with scope.out.block(f"if p{u}[i] and {scope.allowed(statement.mask, 'k')}:"):
            fold_at(scope, values, "k", element, name)
    finish(scope, statement, dtype)


def fold_at(scope: Scope, values: str, at: str, value: str, add: str) -> None:
    """Write a result for a position that may have one already; without `add` that stays."""
    if not add:
        with scope.out.block(f"if not tp[{at}]:"):
            scope.out.add(f"{values}[{at}] = {value}", f"tp[{at}] = True")
            scope.out.add(f"tl[tn] = {at}", "tn += 1")
        return
    with scope.out.block(f"if tp[{at}]:"):
        scope.out.add(f"{values}[{at}] = {add}({values}[{at}], {value})")
    with scope.out.block("else:"):
        scope.out.add(f"{values}[{at}] = {value}", f"tp[{at}] = True", f"tl[tn] = {at}", "tn += 1")


def _reduce(scope: Scope, statement: Statement) -> None:
    monoid: TypedMonoid = statement.operator
    x = scope.vector(statement.args[0].slot)
    dtype, name = monoid.type, f"f{scope.count}"
    scope.header.function(name, ("a", "b"), monoid.op, {})
    element = scope.header.cast(scope.slot(x).dtype, dtype, f"x{x}[i]")
    identity = monoid.identity if statement.param("identity") else None
    begin = 0 if identity is None else identity
    scope.header.constant(f"begin{scope.count}", dtype, begin)
    total = f"total{scope.count}"
    scope.out.add(f"{total} = begin{scope.count}", "here = False")
    with scope.entries(x):
        scope.out.add(f"{total} = {name}({total}, {element}) if here else {element}", "here = True")
    has = "True" if identity is not None else "here"
    set_scalar(scope, statement, has, total, dtype)


_WRITERS: dict[str, Callable[[Scope, Statement], Any]] = {
    "assign": _assign, "apply": _apply, "copy": _copy, "ewise_add": _ewise, "ewise_mult": _ewise,
    "ewise_union": _ewise, "gather": _gather, "nvals": _nvals, "reduce": _reduce,
    "scatter": _scatter, "select": _select,
}  # fmt: skip
