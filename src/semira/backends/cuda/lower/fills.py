"""Statements that fill a plane at other positions than they read, and what follows the barrier.

Products of which none reads what another makes fill their planes between the same barriers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from semira.backends.cuda.lower.context import Context, Hazards
from semira.backends.cuda.lower.epilogue import conditional
from semira.backends.cuda.lower.joined import Joinable
from semira.backends.cuda.lower.members import Reset
from semira.backends.cuda.lower.notes import clash
from semira.backends.cuda.lower.pointwise import copy_of, write_pointwise
from semira.backends.cuda.lower.product import (
    asks_owner,
    choose,
    driven_degrees,
    fill,
    gather_line,
    handed,
    need_matrix,
    next_degrees,
    note_work,
    open_counters,
    own_plane,
    pulled_rows,
    rests,
    swaps,
    swaps_if_pulled,
    take_counters,
    target_of,
)
from semira.backends.cuda.lower.product_parts import (
    Product,
    counts_entries,
    open_product,
    variant_in,
    walks_by_merge,
)
from semira.backends.cuda.lower.pruning import pruning_of
from semira.backends.cuda.lower.sources import Driver, Operand
from semira.contract import Loop, Phase, Program, Statement, Why
from semira.ops import TypedMonoid


def products_together(ctx: Context, body: Sequence[Statement | Loop]) -> list[Product]:
    """Return the products at the start of a body that need nothing of each other."""
    program, number = ctx.program, ctx.statements
    found: list[Product] = []
    for item in body:
        if isinstance(item, Loop) or item.op not in ("vxm", "mxv"):
            break
        product = open_product(number + len(found), item)
        if product.push is not None:
            product = replace(product, pruning=pruning_of(program, product.number, ctx.uses))
        if any(_needs(program, product, earlier) for earlier in found):
            break
        found.append(product)
    return [replace(found[0], alone=True)] if len(found) == 1 else found


def _needs(program: Program, product: Product, earlier: Product) -> bool:
    """Return whether a product has to wait for the end of an earlier one.

    Outputs that are merged in order, after the barrier, may be one; a swap changes its output for
    whoever looks at it.
    """
    written = _targets(program, earlier) | {f"v{earlier.statement.out}"}
    writes = _targets(program, product) | _swapped(program, product)
    return clash(product.operands, writes, earlier.operands, written) is not None


def _targets(program: Program, product: Product) -> set[str]:
    """Return the planes that a product fills, one or the other."""
    return {target_of(program, product, method.name) for method in product.methods}


def _swapped(program: Program, product: Product) -> set[str]:
    """Return the vector that takes another plane at the end of a product, if one may."""
    may_swap = swaps(program, product) or swaps_if_pulled(program, product)
    return {f"v{product.statement.out}"} if may_swap else set()


def lower_products(ctx: Context, products: list[Product]) -> None:
    """Lower statements ``out<mask, replace> accum= u (+).(*) A`` that fill together."""
    for product in products:
        _open(ctx, product)
    joinable = _joinable(ctx, products)
    with ctx.block(""):
        for product in products:
            open_counters(ctx, product.number)
            ctx.emit(f"const Index frontier{product.number} = v{product.driver}.nvals;")
        for product in products:
            choose(ctx, product)
        if ctx.ahead is not None:
            ctx.ahead.open(ctx, f"turn{ctx.ahead.number}")
        ctx.has_table = False
        for k, product in enumerate(products):
            # Phases between the same barriers gather in the same shared memory, and a push ends
            # with reading what it gathered there.
            if k:
                ctx.emit("__syncthreads();")
            fill(ctx, product)
        _meet(ctx, products)
        _finish(ctx, products)
        for product in products:
            number, now = product.number, f"now{product.number}"
            ctx.emit(
                f"journal.row(team, {ctx.iteration}, {number}, {product.chosen}, "
                f"frontier{number}, {now}.touched, static_cast<Index>({now}.inserted));"
            )
            ctx.next_turn(f"turn{number}")
    if joinable is not None:
        begin, end = joinable.steps[0], len(ctx.notes.steps)
        joinable.lines, joinable.steps = (joinable.lines[0], len(ctx.lines)), (begin, end)
        # A phase by position in between is one that the group itself did not fit.
        if not any(isinstance(s, Phase) and s.by_position for s in ctx.notes.steps[begin:end]):
            ctx.joinable = joinable


def _joinable(ctx: Context, products: list[Product]) -> Joinable | None:
    """Return how a pull whose block is to begin now may run elsewhere; None if it may not."""
    if len(products) > 1 or ctx.carries or ctx.iteration == "0":
        return None
    (product,), method = products, products[0].methods[0]
    statement, number = product.statement, product.number
    untouched = Hazards(frozenset(product.operands), frozenset({f"w{number}"}))
    if (
        len(product.methods) > 1
        or method.name != "pull"
        or method.storage != "compressed"
        or not walks_by_merge(method.balance, statement.operator.monoid)
        or swaps(ctx.program, product)
        # Something else would be waited for, and be done, at the barrier that is spared.
        or ctx.hazards != untouched
    ):
        return None
    semiring = ctx.semiring(statement.operator, vector_first=statement.op == "vxm")
    name, turn = ctx.counters(number)
    given, tally = pulled_rows(ctx, product, method), f"tally{number}"
    call, full = _walks_of_rows(ctx, product, given, tally)
    return Joinable(
        number, product.driver, None if statement.mask is None else statement.mask.slot,
        (gather_line(ctx, product, method, semiring),), call, full, name, turn, (len(ctx.lines), 0),
        (len(ctx.notes.steps) - 1, 0),
    )  # fmt: skip


def _walks_of_rows(
    ctx: Context, product: Product, given: str, tally: str
) -> tuple[str, tuple[str, ...]]:
    """Return the C++ of the walk over a pull's rows, and of that for operands without gaps."""
    operator, size = product.statement.operator, f"v{product.statement.out}.size"
    counts = counts_entries(operator)
    full: tuple[str, ...]
    if ctx.short:
        name = f"{'count_short_rows' if counts else 'sum_short_rows'}<{ctx.short}"
        variant = variant_in(ctx, product, product.methods[0])
        if variant is not None and variant.ROWS:
            name = f"{variant.ROWS}<{ctx.short}"
        whole = given.replace("gather", "gather.of_full()")
        done = f"done = static_cast<unsigned>({size}) / kWarp;"
        full = (f"{name}, true>({whole}, begin, {tally});", done)
        return f"{name}>({given}, begin, {tally});", () if counts else full
    owners, monoid = asks_owner(operator), operator.monoid
    rest = f"begin, {handed(product.number, monoid)}, {tally});"
    call = f"{'count' if counts else 'sum'}_all_rows<{owners}>({given}, {rest}"
    # A block's shared memory has room for those of one walk.
    rows = f"rows{product.number}"
    if all(name == rows for name in ctx.shared if name.startswith("rows")):
        rest = f"{rest[:-2]}, &{rows}, &has_{rows});"
    full = (f"done = sum_full_rows<{owners}>(team, gather, {size}, {rest}",)
    return call, () if counts else full


def _open(ctx: Context, product: Product) -> None:
    number, statement = product.number, product.statement
    ctx.begin(statement)
    for method in product.methods:
        need_matrix(ctx, product, method)
    ctx.products[number] = (statement.op, tuple(method.name for method in product.methods))
    note_work(ctx, product)
    targets, out = _targets(ctx.program, product), f"v{statement.out}"
    if not swaps(ctx.program, product):
        own_plane(ctx, number, statement.operator.monoid, statement.out)
    if swaps_if_pulled(ctx.program, product):
        # Nothing else may be written where only a pushed result is.
        ctx.flush(ctx.cause(Why.FILLED))
    elif swaps(ctx.program, product) and ctx.group and out in ctx.group.reads | ctx.group.writes:
        # What waits means the output as it is now.
        ctx.flush(ctx.cause(Why.WRITES_READ, out))
    if ctx.ahead is None:
        ctx.touch(product.operands, targets)
        ctx.notes.phase(number, "product")
    else:
        more, written = ctx.ahead.touched(f"{out}.spare")
        ctx.touch(product.operands | more, written)
        ctx.ahead.note(ctx)
    ctx.work.written.add(out)


def _meet(ctx: Context, products: list[Product]) -> None:
    """Append the barrier, the sums, and what one block's share of a row leaves to do."""
    numbers = [product.number for product in products]
    ctx.wait(Why.FILLED)
    ahead = () if ctx.ahead is None else ctx.ahead.taken
    ctx.emit(*ahead)
    take_counters(ctx, numbers)
    rest = {product.number: rests(ctx, product) for product in products}
    queued = [number for number in numbers if rest[number]]
    if queued:
        with ctx.block(f"if ({' || '.join(f'now{number}.queued != 0' for number in queued)})"):
            for k, number in enumerate(queued):
                if k:
                    ctx.emit("__syncthreads();")
                ctx.emit(*rest[number])
            ctx.wait(Why.LONG_ROWS, conditional=True)
            ctx.emit(*ahead)
            take_counters(ctx, queued)


def _finish(ctx: Context, products: list[Product]) -> None:
    drivers = {}
    for product in products:
        number, slot, out = product.number, product.statement.out, f"v{product.statement.out}"
        taken = f"{out}.take_spare(static_cast<Index>(now{number}.inserted), "
        if swaps(ctx.program, product):
            ctx.swapped.add(slot)
            if ctx.ahead is not None:
                # The methods that may have done the next iteration's writes.
                may = [product.pulls_by_rows(one) or one.name == "push" for one in product.methods]
                ctx.ahead.close(ctx, "true" if all(may) else _one_of(product.chosen, may))
            ctx.after_barrier(f"{taken}{_is_listed(product)});")
        elif swaps_if_pulled(ctx.program, product):
            ctx.swapped.add(slot)
            ctx.after_barrier(f"if (!({_is_listed(product)})) {taken}false);")
        else:
            drivers[number] = _driver_of(ctx, product)
        for register, value in (
            (f"previous{number}", product.chosen),
            (f"previous_frontier{number}", f"frontier{number}"),
        ):
            if register in ctx.registers:
                ctx.emit(f"{register} = {value};")
    ctx.settled()
    for product in products:
        number = product.number
        if number in drivers:
            _merge(ctx, product, drivers[number])
        elif swaps(ctx.program, product):
            _clear(ctx, product)
        else:
            _merge_or_clear(ctx, product)


def _merge(ctx: Context, product: Product, driver: Driver | None) -> None:
    monoid, plane = product.statement.operator.monoid, f"w{product.number}"
    finish_by_merge(ctx, product.number, product.statement, monoid, plane, driver)


def _merge_or_clear(ctx: Context, product: Product) -> None:
    """Append what follows a swap if it pulled, and the merge of its own if it pushed."""
    filled = Operand(f"w{product.number}", product.statement.operator.monoid.type.cuda_type)
    inserted = f"static_cast<Index>(now{product.number}.inserted)"
    before, cause = ctx.hazards, ctx.cause(Why.PUSHED)
    steps, turns = len(ctx.notes.steps), len(ctx.work.turns)
    with ctx.block(f"if ({_is_listed(product)})"):
        _merge(ctx, product, Driver(filled, "true", inserted))
        ctx.flush(cause)
        ctx.barrier(cause)
    # They do not pass on in every iteration.
    del ctx.work.turns[turns:]
    ctx.notes.steps[steps:] = [conditional(step, Why.PUSHED) for step in ctx.notes.steps[steps:]]
    pushed, ctx.hazards = ctx.hazards, before
    with ctx.block("else"):
        _clear(ctx, product)
    ctx.hazards = ctx.hazards.merged(pushed)


def _one_of(method: str, these: list[bool]) -> str:
    return " || ".join(f"{method} == {i}" for i, one in enumerate(these) if one) or "false"


def _is_listed(product: Product, method: str | None = None) -> str:
    method = method or product.chosen
    return _one_of(method, [each.name == "push" for each in product.methods])


def _driver_of(ctx: Context, product: Product) -> Driver | None:
    """Return the result's plane with its list; None if no method makes one."""
    if product.push is None:
        return None
    number, monoid = product.number, product.statement.operator.monoid
    method = f"previous{number}"
    if len(product.methods) > 1:
        ctx.registers.setdefault(method, f"long long {method} = -1;")
    pushed = f"({_is_listed(product, method)}) && " if len(product.methods) > 1 else ""
    return Driver(
        Operand(f"w{number}", monoid.type.cuda_type),
        f"{pushed}now{number}.unlisted == 0",
        f"static_cast<Index>(now{number}.inserted)",
    )


def _clear(ctx: Context, product: Product) -> None:
    """Empty the old output, which is the spare now; say what is known of the new one."""
    slot, number = product.statement.out, product.number
    out = f"v{slot}"
    ctx.touch(set(), {f"{out}.spare"})
    if ctx.ahead is None:
        ctx.emit(f"clear_spare(team, {out});")
    else:
        # A push that runs the next iteration's head has emptied what it walked; a pull that does
        # leaves it to the next product.
        pulled, done = f"!({_is_listed(product)})", ""
        if product.prepares_by_rows:
            ctx.emit(f"{ctx.ahead.stale} = {ctx.ahead.flag} && {pulled};")
            done = f" && !{ctx.ahead.flag}"
        ctx.emit(f"if ({pulled}{done}) clear_spare(team, {out});")
    ctx.forget_edges(slot)
    if next_degrees(ctx, product) == ("DrivenDegrees", driven_degrees(product)):
        ctx.emit(f"edges{number} = now{number}.edges;", f"edges_known{number} = true;")


def finish_by_merge(
    ctx: Context, number: int, statement: Statement, monoid: TypedMonoid, plane: str,
    driver: Driver | None = None,
) -> None:  # fmt: skip
    """Accumulate, mask and replace from a plane the statement filled, then empty it.

    `driver` is the plane with its list, if it may have one.
    """
    filled = Operand(plane, monoid.type.cuda_type)
    write_pointwise(ctx, number, statement, copy_of(filled), "f", driver)
    ctx.join(Reset(number, filled, f"{ctx.monoid(monoid)}::identity()"), statement.out)
