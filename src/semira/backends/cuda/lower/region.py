"""Statements whose positions come from indices: extract, assign to a part, gather, scatter, lines.

Kernels of this family read or write at other positions than their own; where they would also
change what they read, the source is copied to a plane first.
"""

from __future__ import annotations

from collections.abc import Iterable

from semira.backends.cuda.lower.context import Context, Workspace, unsupported
from semira.backends.cuda.lower.fills import finish_by_merge
from semira.backends.cuda.lower.members import Check, Write
from semira.backends.cuda.lower.pointwise import (
    accum_text,
    copy_of,
    counted_write,
    mask_reads,
    mask_text,
    masking,
    open_plane,
    scalar_source,
    vector_operand,
    write_pointwise,
)
from semira.backends.cuda.lower.product import (
    carries_call,
    open_counters,
    own_plane,
    pull_by_shares,
    take_counters,
)
from semira.backends.cuda.lower.product_parts import walks_by_merge
from semira.backends.cuda.lower.sends import check_along, join_scatter, lands_in_place, note_moved
from semira.backends.cuda.lower.sources import Driver, Masking, Operand, Source
from semira.base.dtypes import BOOL
from semira.contract import Arg, IndexSpec, Statement, Why
from semira.ops import TypedMonoid
from semira.ops.registry import binary
from semira.ops.registry import monoid as known_monoids


def is_partial_assign(statement: Statement) -> bool:
    """Return whether an assign names a part of its output."""
    return statement.op == "assign" and any(spec.kind != "all" for spec in statement.indices)


def lower_region(ctx: Context, number: int, statement: Statement) -> None:
    """Lower a statement of this family whose output is a vector."""
    rows = {
        "extract": _extract, "gather": _gather, "scatter": _scatter, "diag": _diagonal,
        "reduce_rows": _reduce_rows, "mode_rows": _mode_rows, "assign": _assign,
    }  # fmt: skip
    rows[statement.op](ctx, number, statement)


#: Operations lowered here; `assign` only to a part of a vector.
OPERATIONS = frozenset({"extract", "gather", "scatter", "diag", "reduce_rows", "mode_rows"})


def region_text(spec: IndexSpec) -> str:
    """Return the C++ object of the positions along one axis."""
    if spec.slot is None:
        return "WholeAxis{}"
    return f"r{spec.slot}"


def line_of(ctx: Context, arg: Arg, *, by_columns: bool) -> str:
    """Return the orientation of a matrix operand along its rows or columns, made resident."""
    orientation = "csc" if by_columns != arg.transposed else "csr"
    ctx.orientations.add((arg.slot, orientation))
    return f"m{arg.slot}_{orientation}"


# sources -----------------------------------------------------------------------------------------
def _extract(ctx: Context, number: int, statement: Statement) -> None:
    arg = statement.args[0]
    if ctx.kind(arg.slot) == "matrix":
        write_pointwise(ctx, number, statement, _line_source(ctx, statement), "")
        return
    (spec,) = statement.indices
    name, ctype = f"v{arg.slot}", ctx.ctype(arg.slot)
    if spec.slot is None:
        source = copy_of(vector_operand(ctx, arg.slot))
    else:
        extras = ((ctype, f"{name}.here"), ("", region_text(spec)))
        source = Source("RegionSource", extras=extras, elsewhere=frozenset({name}))
    _write_safely(ctx, number, statement, source)


def _line_source(ctx: Context, statement: Statement) -> Source:
    """Return the source of ``A[i, columns]`` or ``A[rows, j]``."""
    (arg,) = statement.args
    kinds = [spec.kind for spec in statement.indices]
    if kinds.count("one") != 1:
        unsupported("extract of a region of a matrix into a vector")
    axis = kinds.index("one")
    line, along = statement.indices[axis], statement.indices[1 - axis]
    matrix = line_of(ctx, arg, by_columns=axis == 1)
    region = region_text(along)
    kind = "WholeAxis" if along.slot is None else "Region"
    extras = ((ctx.ctype(arg.slot), matrix), ("", f"r{line.slot}.at(0)"), (kind, region))
    return Source("LineSource", extras=extras)


def _diagonal(ctx: Context, number: int, statement: Statement) -> None:
    (arg,) = statement.args
    if ctx.kind(arg.slot) != "matrix":
        unsupported("diag to a matrix")
    k = int(statement.param("k", 0))
    matrix = line_of(ctx, arg, by_columns=False)
    extras = ((ctx.ctype(arg.slot), matrix), ("", str(max(-k, 0))), ("", str(max(k, 0))))
    write_pointwise(ctx, number, statement, Source("DiagonalSource", extras=extras), "")


def _gather(ctx: Context, number: int, statement: Statement) -> None:
    u, index = (arg.slot for arg in statement.args)
    name, places = f"v{u}", vector_operand(ctx, index)
    rides = ctx.undoes_errors() and u != statement.out
    if rides:
        check_along(ctx, number, index, u)
    else:
        _need_positions(ctx, number, index, f"{name}.size")
    source = Source(
        "GatherSource", (str(rides).lower(),), operands=(places,),
        extras=((ctx.ctype(u), f"{name}.here"), ("", f"{name}.nvals"), ("", f"{name}.size")),
        elsewhere=frozenset({name}), support=frozenset({places.name}),
    )  # fmt: skip
    _write_safely(ctx, number, statement, source)
    if rides:
        note_moved(ctx, statement, u)


def _write_safely(ctx: Context, number: int, statement: Statement, source: Source) -> None:
    """Append the write of a source; if it reads the output elsewhere, a copy of that is read."""
    if f"v{statement.out}" in source.elsewhere:
        dtype = ctx.program.slots[statement.out].dtype
        spec = Workspace(f"w{number}", "plane", dtype, statement.out, dtype.scalar(0))
        source = copy_of(_copied(ctx, source, spec))
    write_pointwise(ctx, number, statement, source, "")


def _copied(ctx: Context, source: Source, spec: Workspace) -> Operand:
    """Append the copy of a source to a plane of its own; return the plane."""
    assert spec.dtype is not None
    plane = open_plane(ctx, spec)
    ctx.work.walks(f"v{spec.slot}.size")
    ctx.touch(source.reads, {plane})
    ctx.notes.phase(ctx.statements - 1, "fill")
    ctx.emit(f"fill_plane(team, {source.text()}, {plane}, v{spec.slot}.size);")
    return Operand(plane, spec.dtype.cuda_type)


def _need_positions(ctx: Context, number: int, index: int, size: str) -> None:
    """End the program before the statement if an index vector points outside."""
    ctx.may_fail = True
    ctx.may_end()
    name, turn = ctx.counters(number, "c")
    places = ctx.operand(index)
    ctx.join(Check(number, places, size, name, turn), index, Driver.of_vector(places))
    checked = ctx.cause(Why.CHECKED, f"v{index}")
    ctx.flush(checked)
    ctx.barrier(checked)
    with ctx.block(f"if (table->{name}[{turn}].queued != 0)"):
        ctx.emit(f"journal.bad_index(team, {number});", "return;")
    ctx.next_turn(turn)


# sums --------------------------------------------------------------------------------------------
def _scatter(ctx: Context, number: int, statement: Statement) -> None:
    u, index = (arg.slot for arg in statement.args)
    dup: TypedMonoid = statement.param("dup")
    if statement.plan is not None and statement.plan.ordered:
        unsupported(f"a scatter that adds up by {dup!r} in a fixed order (deterministic=True)")
    if join_scatter(ctx, number, statement, dup):
        own_plane(ctx, number, dup, statement.out)
        return
    _need_positions(ctx, number, index, f"v{statement.out}.size")
    reads = {f"v{u}", f"v{index}"}
    ctx.work.walks_entries(f"v{index}")
    plane, writes = "{plane}", set()
    if lands_in_place(ctx, statement, dup):
        out = f"v{statement.out}"
        plane, writes = f"{out}.nvals == {out}.size ? {out}.here : {{plane}}", {out}
    given = f"team, v{u}.here, v{index}, {plane}, &sums{number}"
    call = f"scatter_entries<{ctx.monoid(dup)}>({given});"
    _sum_and_merge(ctx, number, statement, dup, reads, call, writes=writes)


def _reduce_rows(ctx: Context, number: int, statement: Statement) -> None:
    monoid: TypedMonoid = statement.operator
    (arg,) = statement.args
    matrix, ctype = line_of(ctx, arg, by_columns=False), ctx.ctype(arg.slot)
    semiring = _row_sum(ctx, monoid)
    types = f"{semiring}, {monoid.type.cuda_type}, {ctype}"
    mask = mask_text(ctx, statement.mask)
    soon_stops = monoid.is_any or (monoid.terminal is not None and monoid.type is BOOL)
    merges = walks_by_merge("rows" if soon_stops else "edges", monoid)
    gather = "SharedGather" if merges else "Gather"
    given = (
        f"team, {gather}<{types}>{{nullptr, nullptr, {matrix}}}, v{statement.out}.size, {mask}, "
        "{plane}, NoDegrees{}"
    )
    reads, rest = mask_reads(statement.mask), ""
    ctx.work.walks(f"{matrix}.nvals", f"v{statement.out}.size")
    if merges:
        ctx.sliced.add((arg.slot, matrix.rpartition("_")[2]))
        call = pull_by_shares(ctx, number, monoid, arg.slot, "false", given)
        if ctx.carries:
            rest = carries_call(ctx, number, monoid, matrix, "{plane}", "NoDegrees{}")
    else:
        call = f"spmv_pull_masked<true, kSideBySide>({given}, &sums{number});"
    _sum_and_merge(ctx, number, statement, monoid, reads, call, rest)


def _mode_rows(ctx: Context, number: int, statement: Statement) -> None:
    total: TypedMonoid = statement.operator
    if statement.plan is not None and statement.plan.ordered:
        unsupported(f"mode_rowwise that adds up by {total!r} in a fixed order (deterministic=True)")
    arg, keys, *others = statement.args
    ctype, key, u = ctx.ctype(arg.slot), ctx.ctype(keys.slot), f"v{keys.slot}"
    matrix = line_of(ctx, arg, by_columns=False)
    prefers, draws = (bool(statement.param(name)) for name in ("prefers", "draws"))
    preferred, seed = f"Plane<{key}>()", "0"
    reads = {u, *mask_reads(statement.mask)}
    if prefers:
        slot = others.pop(0).slot
        preferred = f"v{slot}.here"
        reads.add(f"v{slot}")
    if draws:
        slot = others.pop(0).slot
        ctx.need_value(slot, number)
        seed = f"cast<long long>(x{slot}.value)"
    ties = f"Ties<{key}, {str(prefers).lower()}, {str(draws).lower()}>{{{preferred}, {seed}}}"
    present = f"{u}.nvals == {u}.size ? nullptr : {u}.here.words"
    counts = str(bool(statement.param("counts"))).lower()
    rows = f"KeyedRows<{key}, {ctype}, {counts}>{{{matrix}, {u}.here.values, {present}}}"
    ctx.headers["reduce/mode.cuh"] = None
    ctx.work.walks(f"{matrix}.nvals", f"v{statement.out}.size")
    spec = Workspace(f"q{number}", "queue", None, arg.slot)
    queue = f"open_queue(table->{ctx.workspace(spec, 'QueueDescriptor')})"
    size, mask = f"v{statement.out}.size", mask_text(ctx, statement.mask)
    name = f"<{total.type.cuda_type}>(team, {rows}, {ties}, "
    call = f"mode_rows{name}{size}, {mask}, {{plane}}, {queue}, &sums{number});"
    rest = f"mode_long_rows{name}{{plane}}, {queue}, now{number}.queued, &sums{number});"
    dtype = ctx.program.slots[keys.slot].dtype
    _sum_and_merge(ctx, number, statement, known_monoids["max"].typed(dtype), reads, call, rest)


def _row_sum(ctx: Context, monoid: TypedMonoid) -> str:
    """Return the name of the semiring that adds a row up: its multiply is the matrix value."""
    first = ctx.operator(binary["first"].typed(monoid.type))
    add = ctx.monoid(monoid)
    name = f"row_sum_{add}"
    ctx.structs[name] = (
        f"struct {name} {{\n  using Add = {add};\n  using Multiply = {first};\n"
        "  static constexpr bool kVectorFirst = false;\n};\n"
    )
    return name


def _sum_and_merge(
    ctx: Context, number: int, statement: Statement, monoid: TypedMonoid, reads: set[str],
    call: str, rest: str = "", writes: Iterable[str] = (),
) -> None:  # fmt: skip
    """Append a phase that fills a plane, and the merge of the plane with the output.

    `rest` finishes the plane if the phase queued something; `writes` is what the phase may write
    besides.
    """
    plane = own_plane(ctx, number, monoid, statement.out)
    ctx.touch(reads, {plane, *writes})
    ctx.notes.phase(number, "fill")
    with ctx.block(""):
        open_counters(ctx, number)
        ctx.emit(call.replace("{plane}", plane))
        ctx.wait(Why.FILLED)
        if rest:
            take_counters(ctx, [number])
            with ctx.block(f"if (now{number}.queued != 0)"):
                ctx.emit(rest.replace("{plane}", plane))
                ctx.wait(Why.LONG_ROWS, conditional=True)
        ctx.settled()
        finish_by_merge(ctx, number, statement, monoid, plane)
        ctx.next_turn(f"turn{number}")


# assign ------------------------------------------------------------------------------------------
def _assign(ctx: Context, number: int, statement: Statement) -> None:
    (spec,) = statement.indices
    slot, out = statement.args[0].slot, statement.out
    assert spec.slot is not None
    submask, replaces = bool(statement.param("submask")), statement.replace
    mask = _mask_kept(ctx, number, statement)
    reads = set() if mask is None else {mask.operand.name}
    text = "NoMask{}" if mask is None else mask.text()
    if ctx.kind(slot) == "scalar":
        source = scalar_source(ctx, slot)
    else:
        source = copy_of(vector_operand(ctx, slot))
        if slot == out:
            dtype = ctx.program.slots[slot].dtype
            copy = Workspace(f"w{number}", "plane", dtype, slot, dtype.scalar(0))
            source = copy_of(_copied(ctx, source, copy))
    flags = ", ".join(
        [accum_text(ctx, statement.accum), *(str(f).lower() for f in (replaces, submask))]
    )
    ctx.work.walks(f"r{spec.slot}.count")
    ctx.touch(source.reads | reads, {f"v{out}"})
    ctx.notes.phase(number, "whole")
    call = f"assign_region<{flags}>(team, r{spec.slot}, {source.text()}, v{out}, {text}, &sums);"
    counted_write(ctx, number, "", out, call)
    if mask is not None and replaces and not submask:
        # What the mask does not let through goes.
        whole = ctx.operand(out)
        ctx.join(Write(number, "p", whole, copy_of(whole), mask, replace=True), out)


def _mask_kept(ctx: Context, number: int, statement: Statement) -> Masking | None:
    """Return a mask that the statement's own writes do not change."""
    out, mask = statement.out, masking(ctx, statement.mask)
    if mask is None or mask.operand != ctx.operand(out):
        return mask
    if not (statement.replace or statement.param("submask")):
        return mask
    dtype = ctx.program.slots[out].dtype
    spec = Workspace(f"w{number}m", "plane", dtype, out, dtype.scalar(0))
    kept = _copied(ctx, copy_of(ctx.operand(out)), spec)
    return Masking(kept, mask.structural, mask.complement)
