"""Position-by-position statements on vectors: element-wise, apply, select, assign, copy."""

from __future__ import annotations

from typing import Any

from semira.backends.cuda.lower.context import Context, Workspace, last_turn, unsupported
from semira.backends.cuda.lower.members import NO_ACCUM, Write
from semira.backends.cuda.lower.sends import join_accumulation
from semira.backends.cuda.lower.sources import Driver, Masking, Operand, Source
from semira.contract import Mask, Statement
from semira.ops import TypedMonoid


def masking(ctx: Context, mask: Mask | None) -> Masking | None:
    """Return a mask over its vector."""
    if mask is None:
        return None
    return Masking(ctx.operand(mask.slot), mask.structural, mask.complement)


def mask_text(ctx: Context, mask: Mask | None) -> str:
    """Return the C++ object of a mask."""
    found = masking(ctx, mask)
    return "NoMask{}" if found is None else found.text()


def mask_reads(mask: Mask | None) -> set[str]:
    """Return the vector a mask reads."""
    return set() if mask is None else {f"v{mask.slot}"}


def lower_pointwise(ctx: Context, number: int, statement: Statement) -> None:
    """Lower a statement whose output is a vector, except products."""
    if statement.op in ("apply", "select", "ewise_union"):
        for arg in statement.args:
            if ctx.kind(arg.slot) == "scalar":
                ctx.need_value(arg.slot, number)
    write_pointwise(ctx, number, statement, _source(ctx, statement), "")


def write_pointwise(
    ctx: Context, number: int, statement: Statement, source: Source, suffix: str,
    driver: Driver | None = None,
) -> None:  # fmt: skip
    """Add ``out<mask, replace> accum= source`` to the statements that share a phase.

    Where only the positions of one vector can change, that vector drives the work: the mask if
    nothing outside of it may change, the operand if the result is accumulated. `driver` is a
    workspace that holds the whole source and may have a list.
    """
    write = pointwise_write(ctx, number, statement, source, suffix)
    if join_accumulation(ctx, write, statement.out):
        return
    if driver is not None and driver.operand.name not in write.bounds():
        driver = None
    if driver is None and not write.replaces_all:
        driver = _driving_vector(write)
    ctx.join(write, statement.out, driver)


def pointwise_write(
    ctx: Context, number: int, statement: Statement, source: Source | None = None, suffix: str = ""
) -> Write:
    """Return what a statement that cannot fail writes at a position."""
    source = _source(ctx, statement) if source is None else source
    is_new = bool(statement.param("new"))
    accum = None if is_new else statement.accum
    mask = masking(ctx, statement.mask)
    replace = is_new or (statement.replace and mask is not None)
    out = ctx.operand(statement.out)
    return Write(number, suffix, out, source, mask, accum_text(ctx, accum), replace)


def _driving_vector(write: Write) -> Driver | None:
    """Return a vector of the statement outside of which nothing changes."""
    bounds = write.bounds()
    found = (each for each in write.operands if each.is_vector and each.name in bounds)
    return next(map(Driver.of_vector, found), None)


def accum_text(ctx: Context, accum: Any) -> str:
    """Return the struct's name of an accumulator."""
    return NO_ACCUM if accum is None else ctx.operator(accum)


def counted_write(ctx: Context, number: int, suffix: str, slot: int, call: str) -> None:
    """Append a phase that writes vector `slot` and counts its changes in ``sums``."""
    name, turn = ctx.counters(number, suffix)
    with ctx.block(""):
        ctx.emit(
            f"Counters& sums = table->{name}[{turn}];",
            f"zero_next(team, table->{name}, {turn});",
            call,
        )
    ctx.next_turn(turn)
    ctx.after_barrier(f"refresh(v{slot}, table->{name}[{last_turn(turn)}], false);")
    ctx.forget_edges(slot)


def open_plane(ctx: Context, spec: Workspace) -> str:
    """Reserve a plane; return the name of its shared `Plane`."""
    assert spec.dtype is not None
    name, ctype = ctx.workspace(spec, "PlaneDescriptor"), spec.dtype.cuda_type
    ctx.shared[name] = (
        f"__shared__ Plane<{ctype}> {name};",
        f"{name} = Plane<{ctype}>(table->{name});",
    )
    return name


def _source(ctx: Context, statement: Statement) -> Source:
    rows = {
        "copy": _copy, "assign": _assign, "apply": _apply, "select": _select, "ewise_mult": _ewise,
        "ewise_add": _ewise, "ewise_union": _ewise,
    }  # fmt: skip
    if statement.op not in rows:
        unsupported(f"{statement.op} to a vector")
    return rows[statement.op](ctx, statement)


def vector_operand(ctx: Context, slot: int) -> Operand:
    """Return the operand of an element-wise statement."""
    if ctx.kind(slot) != "vector":
        unsupported(f"a {ctx.kind(slot)} operand of an element-wise statement")
    return ctx.operand(slot)


def copy_of(operand: Operand) -> Source:
    """Return the source that is an operand's entries."""
    return Source("VectorSource", (), (operand,), support=frozenset({operand.name}))


def scalar_source(ctx: Context, slot: int) -> Source:
    """Return the source that is a scalar everywhere."""
    return Source(
        "ScalarSource", extras=((ctx.ctype(slot), f"x{slot}"),), scalars=frozenset({slot})
    )


def _copy(ctx: Context, statement: Statement) -> Source:
    return copy_of(vector_operand(ctx, statement.args[0].slot))


def _assign(ctx: Context, statement: Statement) -> Source:
    # Over the whole axis a mask of the region is a mask of the vector.
    slot = statement.args[0].slot
    return scalar_source(ctx, slot) if ctx.kind(slot) == "scalar" else _copy(ctx, statement)


def _apply(ctx: Context, statement: Statement) -> Source:
    op = ctx.operator(statement.operator)
    if len(statement.args) == 1:
        operand = vector_operand(ctx, statement.args[0].slot)
        return Source("UnarySource", (op,), (operand,), support=frozenset({operand.name}))
    first, second = (arg.slot for arg in statement.args)
    left = ctx.kind(first) == "scalar"
    scalar, slot = (first, second) if left else (second, first)
    if statement.operator.parent.opclass in ("IndexUnaryOp", "SelectOp"):
        return _bound(ctx, "IndexSource", (op,), slot, scalar)
    return _bound(ctx, "BoundSource", (op, str(left).lower()), slot, scalar)


def _select(ctx: Context, statement: Statement) -> Source:
    slot, thunk = (arg.slot for arg in statement.args)
    return _bound(ctx, "SelectSource", (ctx.operator(statement.operator),), slot, thunk)


def _bound(ctx: Context, head: str, types: tuple[str, ...], slot: int, scalar: int) -> Source:
    operand = vector_operand(ctx, slot)
    extras = ((ctx.ctype(scalar), f"x{scalar}"),)
    name, scalars = frozenset({operand.name}), frozenset({scalar})
    return Source(head, types, (operand,), extras, scalars=scalars, support=name)


def _ewise(ctx: Context, statement: Statement) -> Source:
    operator = statement.operator
    op = ctx.operator(operator.op if isinstance(operator, TypedMonoid) else operator)
    left, right, *defaults = (arg.slot for arg in statement.args)
    operands = (vector_operand(ctx, left), vector_operand(ctx, right))
    if statement.op == "ewise_mult":
        names = frozenset(operand.name for operand in operands)
        return Source("IntersectionSource", (op,), operands, support=names)
    if defaults:
        extras = tuple((ctx.ctype(slot), f"x{slot}") for slot in defaults)
        return Source("FilledSource", (op,), operands, extras, scalars=frozenset(defaults))
    return Source("UnionSource", (op,), operands)
