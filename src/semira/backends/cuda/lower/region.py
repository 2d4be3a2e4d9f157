"""Statements whose positions come from indices: extract, assign to a part, gather, scatter, lines.

Kernels of this family read or write at other positions than their own; where they would also
change what they read, the source is copied to a plane first.
"""

from __future__ import annotations

from semira.backends.cuda.lower.context import Context, Workspace, unsupported
from semira.backends.cuda.lower.pointwise import (
    Source,
    accum_text,
    counted_write,
    mask_reads,
    mask_text,
    open_plane,
    write_pointwise,
)
from semira.backends.cuda.lower.product import (
    carries_call,
    finish_by_merge,
    own_carries,
    own_plane,
    take_counters,
    walks_by_merge,
)
from semira.base.dtypes import BOOL
from semira.contract import Arg, IndexSpec, Mask, Statement
from semira.ops import TypedMonoid
from semira.ops.registry import binary


def is_partial_assign(statement: Statement) -> bool:
    """Return whether an assign names a part of its output."""
    return statement.op == "assign" and any(spec.kind != "all" for spec in statement.indices)


def lower_region(ctx: Context, number: int, statement: Statement) -> None:
    """Lower a statement of this family whose output is a vector."""
    rows = {
        "extract": _extract,
        "gather": _gather,
        "scatter": _scatter,
        "diag": _diagonal,
        "reduce_rows": _reduce_rows,
        "assign": _assign,
    }
    rows[statement.op](ctx, number, statement)


#: Operations lowered here; `assign` only to a part of a vector.
OPERATIONS = frozenset({"extract", "gather", "scatter", "diag", "reduce_rows"})


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
        text = f"VectorSource<{ctype}>{{{name}.here}}"
    else:
        text = f"RegionSource<{ctype}>{{{name}.here, {region_text(spec)}}}"
    _write_safely(ctx, number, statement, Source(text, frozenset({name})), arg.slot)


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
    types = f"{ctx.ctype(arg.slot)}, {kind}"
    return Source(f"LineSource<{types}>{{{matrix}, r{line.slot}.at(0), {region}}}")


def _diagonal(ctx: Context, number: int, statement: Statement) -> None:
    (arg,) = statement.args
    if ctx.kind(arg.slot) != "matrix":
        unsupported("diag to a matrix")
    k = int(statement.param("k", 0))
    matrix = line_of(ctx, arg, by_columns=False)
    text = f"DiagonalSource<{ctx.ctype(arg.slot)}>{{{matrix}, {max(-k, 0)}, {max(k, 0)}}}"
    write_pointwise(ctx, number, statement, Source(text), "")


def _gather(ctx: Context, number: int, statement: Statement) -> None:
    u, index = (arg.slot for arg in statement.args)
    _need_positions(ctx, number, index, f"v{u}.size")
    types = f"{ctx.ctype(u)}, {ctx.ctype(index)}"
    text = f"GatherSource<{types}>{{v{u}.here, v{index}.here}}"
    source = Source(text, frozenset({f"v{u}", f"v{index}"}), f"v{index}")
    _write_safely(ctx, number, statement, source, u)


def _write_safely(
    ctx: Context, number: int, statement: Statement, source: Source, elsewhere: int
) -> None:
    """Append the write of a source that reads `elsewhere` at other positions than its own."""
    if elsewhere == statement.out:
        dtype = ctx.program.slots[elsewhere].dtype
        spec = Workspace(f"w{number}", "plane", dtype, statement.out, dtype.scalar(0))
        source = _copied(ctx, source, spec)
    write_pointwise(ctx, number, statement, source, "")


def _copied(ctx: Context, source: Source, spec: Workspace) -> Source:
    """Append the copy of a source to a plane of its own; return the plane as a source."""
    assert spec.dtype is not None
    plane = open_plane(ctx, spec)
    ctx.work.walks(f"v{spec.slot}.size")
    ctx.touch(set(source.reads), {plane})
    ctx.emit(f"fill_plane(team, {source.text}, {plane}, v{spec.slot}.size);")
    return Source(f"VectorSource<{spec.dtype.cuda_type}>{{{plane}}}", frozenset({plane}))


def _need_positions(ctx: Context, number: int, index: int, size: str) -> None:
    """End the program before the statement if an index vector points outside."""
    ctx.may_fail = True
    name, turn = ctx.counters(number, "c")
    ctx.work.walks_entries(f"v{index}")
    ctx.touch({f"v{index}"}, set())
    with ctx.block(""):
        ctx.emit(
            f"Counters& sums = table->{name}[{turn}];",
            f"zero_next(team, table->{name}, {turn});",
            f"check_positions(team, v{index}, {size}, control, &sums);",
        )
    ctx.barrier()
    with ctx.block(f"if (table->{name}[{turn}].queued != 0)"):
        ctx.emit(f"journal.bad_index(team, {number});", "return;")
    ctx.next_turn(turn)


# sums --------------------------------------------------------------------------------------------
def _scatter(ctx: Context, number: int, statement: Statement) -> None:
    u, index = (arg.slot for arg in statement.args)
    dup: TypedMonoid = statement.param("dup")
    if statement.plan is not None and statement.plan.ordered:
        unsupported(f"a scatter that adds up by {dup!r} in a fixed order (deterministic=True)")
    _need_positions(ctx, number, index, f"v{statement.out}.size")
    reads = {f"v{u}", f"v{index}"}
    ctx.work.walks_entries(f"v{index}")
    call = f"scatter_entries<{ctx.monoid(dup)}>(team, v{u}.here, v{index}, {{plane}}, &sums);"
    _sum_and_merge(ctx, number, statement, dup, reads, call)


def _reduce_rows(ctx: Context, number: int, statement: Statement) -> None:
    monoid: TypedMonoid = statement.operator
    (arg,) = statement.args
    matrix, ctype = line_of(ctx, arg, by_columns=False), ctx.ctype(arg.slot)
    semiring = _row_sum(ctx, monoid)
    types = f"{semiring}, {monoid.type.cuda_type}, {ctype}"
    mask = mask_text(ctx, statement.mask)
    given = (
        f"team, Gather<{types}>{{nullptr, nullptr, {matrix}}}, v{statement.out}.size, {mask}, "
        "{plane}, NoDegrees{}"
    )
    reads, rest = mask_reads(statement.mask), ""
    ctx.work.walks(f"{matrix}.nvals", f"v{statement.out}.size")
    soon_stops = monoid.is_any or (monoid.terminal is not None and monoid.type is BOOL)
    if walks_by_merge(ctx, "rows" if soon_stops else "edges", monoid):
        ctx.sliced.add((arg.slot, matrix.rpartition("_")[2]))
        carries = own_carries(ctx, number, monoid, arg.slot)
        asks_owner = str(statement.mask is not None).lower()
        call = f"spmv_pull_merge<{ctx.warps}, {asks_owner}>({given}, {carries}, &sums);"
        rest = carries_call(ctx, number, monoid, matrix, "{plane}", "NoDegrees{}")
    else:
        call = f"spmv_pull_masked<true, kLaneEdges>({given}, &sums);"
    _sum_and_merge(ctx, number, statement, monoid, reads, call, rest)


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
    ctx: Context,
    number: int,
    statement: Statement,
    monoid: TypedMonoid,
    reads: set[str],
    call: str,
    rest: str = "",
) -> None:
    """Append a phase that fills a plane, and the merge of the plane with the output.

    `rest` finishes the plane if the phase queued something.
    """
    plane = own_plane(ctx, number, monoid, statement.out)
    take = take_counters(ctx, number)
    ctx.touch(reads, {plane})
    name, turn = ctx.counters(number)
    with ctx.block(""):
        ctx.emit(
            f"Counters& sums = table->{name}[{turn}];",
            f"zero_next(team, table->{name}, {turn});",
            call.replace("{plane}", plane),
            "barrier.wait();",
            *take,
        )
        if rest:
            with ctx.block(f"if (now{number}.queued != 0)"):
                ctx.emit(rest.replace("{plane}", plane), "barrier.wait();", *take)
        finish_by_merge(ctx, number, statement, monoid, plane, "false")
        ctx.next_turn(turn)


# assign ------------------------------------------------------------------------------------------
def _assign(ctx: Context, number: int, statement: Statement) -> None:
    (spec,) = statement.indices
    slot, out = statement.args[0].slot, statement.out
    assert spec.slot is not None
    submask, replaces = bool(statement.param("submask")), statement.replace
    mask = statement.mask
    text, reads = _mask_kept(ctx, number, statement)
    if ctx.kind(slot) == "scalar":
        source = Source(f"ScalarSource<{ctx.ctype(slot)}>{{x{slot}}}")
    else:
        source = Source(f"VectorSource<{ctx.ctype(slot)}>{{v{slot}.here}}", frozenset({f"v{slot}"}))
        if slot == out:
            dtype = ctx.program.slots[slot].dtype
            copy = Workspace(f"w{number}", "plane", dtype, slot, dtype.scalar(0))
            source = _copied(ctx, source, copy)
    flags = ", ".join(
        [accum_text(ctx, statement.accum), *(str(f).lower() for f in (replaces, submask))]
    )
    ctx.work.walks(f"r{spec.slot}.count")
    ctx.touch(set(source.reads) | reads, {f"v{out}"})
    call = f"assign_region<{flags}>(team, r{spec.slot}, {source.text}, v{out}, {text}, &sums);"
    counted_write(ctx, number, "", out, call)
    if mask is not None and replaces and not submask:
        _prune(ctx, number, out, text, reads)


def _mask_kept(ctx: Context, number: int, statement: Statement) -> tuple[str, set[str]]:
    """Return a mask that the statement's own writes do not change, and what it reads."""
    mask, out = statement.mask, statement.out
    if mask is None or mask.slot != out or not (statement.replace or statement.param("submask")):
        return mask_text(ctx, mask), mask_reads(mask)
    dtype = ctx.program.slots[out].dtype
    spec = Workspace(f"w{number}m", "plane", dtype, out, dtype.scalar(0))
    source = Source(f"VectorSource<{dtype.cuda_type}>{{v{out}.here}}", frozenset({f"v{out}"}))
    kept = _copied(ctx, source, spec)
    return mask_over(ctx, mask, spec.name), set(kept.reads)


def mask_over(ctx: Context, mask: Mask, plane: str) -> str:
    """Return the C++ object of a mask whose entries were copied to a plane."""
    return mask_text(ctx, mask).partition("(")[0] + f"({plane})"


def _prune(ctx: Context, number: int, out: int, mask: str, reads: set[str]) -> None:
    """Append the phase that deletes what the mask does not let through."""
    ctx.work.walks(f"v{out}.size")
    ctx.touch(reads, {f"v{out}"})
    source = f"VectorSource<{ctx.ctype(out)}>{{v{out}.here}}"
    call = f"pointwise_words<NoAccum, true>(team, {source}, v{out}, {mask}, &sums);"
    counted_write(ctx, number, "p", out, call)
