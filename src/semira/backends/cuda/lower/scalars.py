"""Statements whose output is a scalar: every thread computes it for itself."""

from __future__ import annotations

from semira.backends.cuda.jit.literals import literal
from semira.backends.cuda.lower.context import Context, Workspace, unsupported
from semira.backends.cuda.lower.groups import LARGEST_SHARED
from semira.backends.cuda.lower.members import Sum
from semira.contract import Statement, Why


def lower_scalar(ctx: Context, number: int, statement: Statement) -> None:
    """Lower a statement that writes a scalar slot."""
    if statement.mask is not None:
        unsupported("a masked scalar")
    ctx.resolve(statement.out)
    if ctx.group is not None and statement.out in ctx.group.scalars:
        ctx.flush(ctx.cause(Why.OVERWRITES_SCALAR, f"x{statement.out}"))
    if statement.op == "reduce":
        _reduce(ctx, number, statement)
        return
    if statement.op == "nvals":
        result = _nvals(ctx, statement)
    elif statement.op == "extract":
        result = _extract(ctx, number, statement)
    else:
        result = _compute(ctx, number, statement)
    ctx.emit(_write(ctx, statement, result))


def _write(ctx: Context, statement: Statement, result: str) -> str:
    out = f"x{statement.out}"
    if statement.accum is not None and not statement.param("new"):
        return f"scalar_accumulate<{ctx.operator(statement.accum)}>({out}, {result});"
    return f"scalar_write({out}, {result});"


def _nvals(ctx: Context, statement: Statement) -> str:
    slot = statement.args[0].slot
    if ctx.kind(slot) == "vector":
        # The number is known after the barrier that ends the last change, and changes only behind
        # the next one: who writes entries need not wait for who has read it.
        ctx.meet({f"v{slot}"}, set())
        return f"Scalar<long long>(v{slot}.nvals, true)"
    if ctx.kind(slot) == "matrix":
        return f"Scalar<long long>(entries_in(table->s{slot}), true)"
    return f"Scalar<long long>(x{slot}.has ? 1 : 0, true)"


def _extract(ctx: Context, number: int, statement: Statement) -> str:
    """Return ``u[i]`` or ``A[i, j]``: every thread looks it up."""
    (arg,) = statement.args
    places = [f"r{spec.slot}.at(0)" for spec in statement.indices]
    if any(spec.kind != "one" for spec in statement.indices):
        unsupported("extract of a region to a scalar")
    found = f"found{number}"
    if ctx.kind(arg.slot) == "vector":
        ctx.touch({f"v{arg.slot}"}, set())
        look = f"scalar_at(v{arg.slot}.here, {places[0]})"
    else:
        orientation = "csc" if arg.transposed else "csr"
        ctx.orientations.add((arg.slot, orientation))
        look = f"scalar_at(m{arg.slot}_{orientation}, {places[0]}, {places[1]})"
    ctx.emit(f"const Scalar<{ctx.ctype(arg.slot)}> {found} = {look};")
    return found


def _reduce(ctx: Context, number: int, statement: Statement) -> None:
    """Append partial sums; their total follows the next barrier.

    The sum of a vector shares a phase with the statements round it, unless its order is fixed or
    its values are long: what warps have of it lies in shared memory until the phase ends.
    """
    slot = statement.args[0].slot
    if ctx.kind(slot) == "scalar":
        unsupported("reduce of a scalar")
    monoid = statement.operator
    add = ctx.monoid(monoid)
    name = ctx.workspace(
        Workspace(f"p{number}", "partials", monoid.type, slot), "PartialsDescriptor"
    )
    turn = f"turn{number}"
    ctx.registers[turn] = f"int {turn} = 0;"
    is_ordered = statement.plan is not None and statement.plan.ordered
    ordered = str(is_ordered).lower()
    where = f"table->{name}, {turn});"
    if ctx.kind(slot) == "vector" and not is_ordered and monoid.type.itemsize <= LARGEST_SHARED:
        ctx.totals[number] = _total(ctx, number, statement, f"found{number}")
        ctx.awaited[statement.out] = number
        ctx.join(Sum(number, ctx.operand(slot), add, name, turn), slot)
        return
    if is_ordered:
        ctx.work.walks("kOrderedBlocks * blockDim.x")
    if ctx.kind(slot) == "matrix":
        types = f"{ordered}, {add}, {ctx.ctype(slot)}"
        if is_ordered:
            # Both orientations may be there, or one: the order must not depend on it.
            ctx.orientations.add((slot, "csr"))
        ctx.work.walks(f"entries_in(table->s{slot})")
        ctx.notes.phase(number, "sum")
        ctx.emit(f"reduce_matrix_partials<{types}>(team, table->s{slot}, {where}")
    else:
        ctx.touch({f"v{slot}"}, set())
        ctx.notes.phase(number, "sum")
        ctx.work.walks(f"v{slot}.size")
        ctx.emit(f"reduce_partials<{ordered}, {add}>(team, v{slot}, {where}")
    ctx.barrier(ctx.cause(Why.SUMMED))
    found = f"reduce_total<{ordered}, {add}>(team, {where.removesuffix(';')}"
    ctx.emit(*_total(ctx, number, statement, found))


def _total(ctx: Context, number: int, statement: Statement, call: str) -> list[str]:
    monoid, total, turn = statement.operator, f"total{number}", f"turn{number}"
    kind = f"Scalar<{monoid.type.cuda_type}>"
    lines = [f"{kind} {total} = {call};", *ctx.turn_lines(turn)]
    if statement.param("identity"):
        whole = f"{kind}({literal(monoid.type, monoid.identity)}, true)"
        lines.append(f"if (!{total}.has) {total} = {whole};")
    return [*lines, _write(ctx, statement, total)]


def _compute(ctx: Context, number: int, statement: Statement) -> str:
    slots = [arg.slot for arg in statement.args]
    if any(ctx.kind(slot) != "scalar" for slot in slots):
        unsupported(f"{statement.op} from a {ctx.kind(slots[0])} to a scalar")
    names = [f"x{slot}" for slot in slots]
    if statement.op in ("copy", "assign"):
        return names[0]
    if statement.op not in ("apply", "select", "ewise_mult", "ewise_add", "ewise_union"):
        unsupported(f"{statement.op} on scalars")
    op = ctx.operator(statement.operator)
    if statement.operator.opclass in ("IndexUnaryOp", "SelectOp"):
        ctx.need_value(slots[1], number)
        function = "scalar_select" if statement.op == "select" else "scalar_index"
        return f"{function}<{op}>({names[0]}, {names[1]})"
    if statement.op == "ewise_union":
        for slot in slots[2:]:
            ctx.need_value(slot, number)
        return f"scalar_filled<{op}>({', '.join(names)})"
    if len(names) == 1:
        return f"scalar_unary<{op}>({names[0]})"
    if statement.op == "apply":
        ctx.need_value(slots[0] if statement.param("side") == "left" else slots[1], number)
    function = "scalar_union" if statement.op == "ewise_add" else "scalar_binary"
    return f"{function}<{op}>({names[0]}, {names[1]})"
