"""Accumulations that meet at places other threads write too, as members of a group.

``w.scatter(index, u, min)`` sends each value of ``u`` to a place of ``w``. Where the result is
accumulated by the operator that joins the values, an atomic at the place itself does both, and
order does not matter. So a scatter may share the phase of the statements that make its values,
and ``w(accum=min) << v`` may follow it there: its values are sent too, each to its own position.
What the group has sent is complete behind the next barrier; nobody in the group looks at it.

An output that lacks entries cannot be accumulated into: what is sent then goes to a plane, which
is merged behind a barrier that other iterations do not have.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from semira.backends.cuda.jit.accumulation import accumulation
from semira.backends.cuda.lower.members import NO_ACCUM, Check, Send, Write
from semira.backends.cuda.lower.sources import Source
from semira.contract import Part, Phase, Statement, Why
from semira.ops import TypedMonoid

if TYPE_CHECKING:
    from semira.backends.cuda.lower.context import Context


def lands_in_place(ctx: Context, statement: Statement, dup: TypedMonoid) -> bool:
    """Whether values may go to an output that has all entries, without a plane in between.

    They are accumulated by the very operator that joins them, nothing is masked, and each is
    compared with what is there before it is sent: most are no better.
    """
    accum = statement.accum
    return (
        accumulation(dup).method in ("least", "greatest")
        and not statement.param("new")
        and statement.mask is None
        and accum is not None
        and accum == dup.op
        and ctx.program.slots[statement.out].dtype is dup.type
        and statement.out not in {arg.slot for arg in statement.args}
    )


def join_scatter(ctx: Context, number: int, statement: Statement, dup: TypedMonoid) -> bool:
    """Add a scatter to the group that makes its operands; whether it could join.

    It is worth it only where the scatter would have to wait for the group. All positions are
    walked then: a driver of the group is given up. The scatter's own plane, ``w<number>``, is
    needed where the output lacks entries.
    """
    group = ctx.group
    u, index = (arg.slot for arg in statement.args)
    if group is None or not {f"v{u}", f"v{index}"} & group.writes:
        return False
    if not (lands_in_place(ctx, statement, dup) and ctx.undoes_errors()):
        return False
    places, values, out = (ctx.operand(slot) for slot in (index, u, statement.out))
    source = Source("VectorSource", (), (values,), support=frozenset({values.name}))
    send = Send(number, out, source, places, ctx.monoid(dup), ctx.operator(dup), f"w{number}")
    opened = replace(group, driver=None, within=set())
    if ctx.refusal(send, index, opened) is not None:
        return False
    ctx.group = opened
    check_along(ctx, number, index, statement.out)
    ctx.join(send, index)
    return True


def check_along(ctx: Context, number: int, index: int, sized: int) -> None:
    """Check positions in the phase that uses them; the program ends behind it if one is bad.

    Not where they are values of a vector that is checked there, all of it.
    """
    places, axis = ctx.operand(index), ctx.axes[sized]
    if ctx.group is not None and ctx.group.valid.get(places.name) == axis:
        return
    name, turn = ctx.counters(number, "c")
    ctx.may_fail = True
    ctx.may_end()
    ctx.join(Check(number, places, f"v{sized}.size", name, turn, rides=True), index)
    assert ctx.group is not None
    if ctx.group.driver is None:
        ctx.group.valid[places.name] = axis


def note_moved(ctx: Context, statement: Statement, origin: int) -> None:
    """Note that a statement, which has joined, only moves values of one vector to another."""
    group, slots = ctx.group, ctx.program.slots
    out = f"v{statement.out}"
    is_all = bool(statement.param("new")) and slots[statement.out].dtype is slots[origin].dtype
    if group is None or not is_all or f"v{origin}" not in group.valid:
        return
    group.valid[out] = group.valid[f"v{origin}"]


def join_accumulation(ctx: Context, write: Write, slot: int) -> bool:
    """Add ``out accum= source`` to a group that sends to ``out``; whether it could join."""
    if ctx.group is None or write.mask is not None or write.accum == NO_ACCUM:
        return False
    sent = ctx.group.sends.get(write.out.name)
    if sent is None or sent.op != write.accum:
        return False
    send = Send(write.number, write.out, write.source, None, sent.monoid, sent.op, sent.plane)
    if ctx.refusal(send, slot) is not None:
        return False
    ctx.join(send, slot)
    return True


def open_sends(ctx: Context, sends: dict[str, Send]) -> None:
    """Append where the values go that a group sends."""
    for name, send in sends.items():
        ctx.emit(
            f"const bool whole_{name} = {name}.nvals == {name}.size;",
            f"const Plane<{send.out.ctype}> to_{name} = whole_{name} ? {name}.here : {send.plane};",
        )


def merge_sends(ctx: Context, sends: dict[str, Send]) -> None:
    """Append the merge of what could not be accumulated in place, and its barriers."""
    for name, send in sends.items():
        number, slot = send.number, int(name[1:])
        counters, turn = ctx.counters(number, "f")
        with ctx.block(f"if ({name}.nvals != {name}.size)"):
            ctx.wait(Why.NOT_IN_PLACE, name, conditional=True)
            ctx.notes.steps.append(Phase((Part(number, "merge"),), conditional=True))
            ctx.emit(
                f"zero_next(team, table->{counters}, {turn});",
                f"merge_sent<{send.monoid}, {send.op}>"
                f"(team, {name}, {send.plane}, &table->{counters}[{turn}]);",
            )
            ctx.wait(Why.NOT_IN_PLACE, name, conditional=True)
            ctx.emit(
                f"if (threadIdx.x == 0) refresh({name}, table->{counters}[{turn}], false);",
                "__syncthreads();",
            )
            ctx.next_turn(turn)
            ctx.forget_edges(slot)
