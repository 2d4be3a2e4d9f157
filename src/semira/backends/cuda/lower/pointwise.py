"""Position-by-position statements on vectors: element-wise, apply, select, assign, copy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from semira.backends.cuda.lower.context import Context, Workspace, last_turn, unsupported
from semira.contract import Mask, Statement
from semira.ops import TypedMonoid


@dataclass(frozen=True, slots=True)
class Source:
    """What a statement computes at a position.

    Attributes
    ----------
    text : str
        The C++ object.
    reads : set of str
        Vectors it reads.
    support : str or None
        A vector that holds every position with a result, if there is one.
    """

    text: str
    reads: frozenset[str] = frozenset()
    support: str | None = None


def mask_text(ctx: Context, mask: Mask | None) -> str:
    """Return the C++ object of a mask."""
    if mask is None:
        return "NoMask{}"
    flags = f"{str(mask.structural).lower()}, {str(mask.complement).lower()}"
    return f"Mask<{ctx.ctype(mask.slot)}, {flags}>(v{mask.slot})"


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
    ctx: Context, number: int, statement: Statement, source: Source, suffix: str
) -> None:
    """Append ``out<mask, replace> accum= source``.

    Where only the positions of one vector can change, that vector drives the work: the mask if
    nothing outside of it may change, the operand if the result is accumulated.
    """
    out = f"v{statement.out}"
    is_new = bool(statement.param("new"))
    accum = None if is_new else statement.accum
    replace = is_new or (statement.replace and statement.mask is not None)
    mask = statement.mask
    driver, tested = None, mask
    if not replace:
        if accum is not None and source.support is not None:
            driver = source.support
        elif mask is not None and not mask.complement:
            driver = f"v{mask.slot}"
            # Walking the entries of a structural mask is testing it.
            tested = None if mask.structural else mask
    ctx.touch(set(source.reads) | mask_reads(mask) | ({driver} if driver else set()), {out})
    if driver is None:
        ctx.work.walks(f"{out}.size")
    else:
        ctx.work.walks_entries(driver)
    appends = str(statement.out in ctx.list_readers).lower()
    flags = f"{accum_text(ctx, accum)}, {str(replace).lower()}"
    rest = f"{source.text}, {out}, {mask_text(ctx, tested)}, &sums);"
    if driver is None:
        counted_write(ctx, number, suffix, statement.out, f"pointwise_words<{flags}>(team, {rest}")
    else:
        call = f"pointwise_driven<{flags}, {appends}>(team, {driver}, {rest}"
        counted_write(ctx, number, suffix, statement.out, call, appends)


def accum_text(ctx: Context, accum: Any) -> str:
    """Return the struct's name of an accumulator."""
    return "NoAccum" if accum is None else ctx.operator(accum)


def counted_write(
    ctx: Context, number: int, suffix: str, slot: int, call: str, appended: str = "false"
) -> None:
    """Append a phase that writes vector `slot` and counts its changes in ``sums``."""
    name, turn = ctx.counters(number, suffix)
    with ctx.block(""):
        ctx.emit(
            f"Counters& sums = table->{name}[{turn}];",
            f"zero_next(team, table->{name}, {turn});",
            call,
        )
    ctx.next_turn(turn)
    ctx.after_barrier(f"refresh(v{slot}, table->{name}[{last_turn(turn)}], {appended});")
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
        "copy": _copy,
        "assign": _assign,
        "apply": _apply,
        "select": _select,
        "ewise_mult": _ewise,
        "ewise_add": _ewise,
        "ewise_union": _ewise,
    }
    if statement.op not in rows:
        unsupported(f"{statement.op} to a vector")
    return rows[statement.op](ctx, statement)


def _plane(ctx: Context, slot: int) -> tuple[str, str]:
    if ctx.kind(slot) != "vector":
        unsupported(f"a {ctx.kind(slot)} operand of an element-wise statement")
    return f"v{slot}.here", ctx.ctype(slot)


def _of_vector(text: str, slot: int) -> Source:
    return Source(text, frozenset({f"v{slot}"}), f"v{slot}")


def _copy(ctx: Context, statement: Statement) -> Source:
    slot = statement.args[0].slot
    plane, ctype = _plane(ctx, slot)
    return _of_vector(f"VectorSource<{ctype}>{{{plane}}}", slot)


def _assign(ctx: Context, statement: Statement) -> Source:
    # Over the whole axis a mask of the region is a mask of the vector.
    slot = statement.args[0].slot
    if ctx.kind(slot) == "scalar":
        return Source(f"ScalarSource<{ctx.ctype(slot)}>{{x{slot}}}")
    return _copy(ctx, statement)


def _apply(ctx: Context, statement: Statement) -> Source:
    op = ctx.operator(statement.operator)
    if len(statement.args) == 1:
        slot = statement.args[0].slot
        plane, ctype = _plane(ctx, slot)
        return _of_vector(f"UnarySource<{op}, {ctype}>{{{plane}}}", slot)
    first, second = (arg.slot for arg in statement.args)
    left = ctx.kind(first) == "scalar"
    scalar, slot = (first, second) if left else (second, first)
    plane, ctype = _plane(ctx, slot)
    types = f"{ctype}, {ctx.ctype(scalar)}"
    opclass = statement.operator.parent.opclass
    if opclass in ("IndexUnaryOp", "SelectOp"):
        return _of_vector(f"IndexSource<{op}, {types}>{{{plane}, x{scalar}}}", slot)
    side = str(left).lower()
    return _of_vector(f"BoundSource<{op}, {side}, {types}>{{{plane}, x{scalar}}}", slot)


def _select(ctx: Context, statement: Statement) -> Source:
    op = ctx.operator(statement.operator)
    slot, thunk = (arg.slot for arg in statement.args)
    plane, ctype = _plane(ctx, slot)
    types = f"{ctype}, {ctx.ctype(thunk)}"
    return _of_vector(f"SelectSource<{op}, {types}>{{{plane}, x{thunk}}}", slot)


def _ewise(ctx: Context, statement: Statement) -> Source:
    operator = statement.operator
    op = ctx.operator(operator.op if isinstance(operator, TypedMonoid) else operator)
    left, right, *defaults = (arg.slot for arg in statement.args)
    (u, u_type), (v, v_type) = _plane(ctx, left), _plane(ctx, right)
    reads = frozenset({f"v{left}", f"v{right}"})
    if statement.op == "ewise_mult":
        return Source(
            f"IntersectionSource<{op}, {u_type}, {v_type}>{{{u}, {v}}}", reads, f"v{left}"
        )
    if defaults:
        types = ", ".join([u_type, v_type, *map(ctx.ctype, defaults)])
        scalars = ", ".join(f"x{slot}" for slot in defaults)
        return Source(f"FilledSource<{op}, {types}>{{{u}, {v}, {scalars}}}", reads)
    return Source(f"UnionSource<{op}, {u_type}, {v_type}>{{{u}, {v}}}", reads)
