"""Matrix-vector products: push and pull in one statement, chosen on the device by its rule."""

from __future__ import annotations

from functools import partial

from semira.backends.cuda.jit.accumulation import accumulation
from semira.backends.cuda.lower.context import Context, Workspace, unsupported
from semira.backends.cuda.lower.pointwise import mask_text, open_plane
from semira.backends.cuda.lower.product_parts import (
    Product,
    counts_entries,
    note_variants,
    walks_by_merge,
)
from semira.backends.cuda.lower.pruning import Pruning
from semira.backends.cuda.lower.solo import Edges
from semira.backends.cuda.lower.variants import SharesWalk
from semira.backends.cuda.lower.walks import PullWalk, PushWalk
from semira.backends.rules import render_cuda_choice
from semira.contract import (
    Choose,
    Compare,
    Count,
    Method,
    Previous,
    Program,
    Rule,
    Why,
    part_of,
    row_of,
)
from semira.ops import TypedMonoid, TypedSemiring

#: Rows that a warp pulls side by side, by balance (kernels/vxm/pull.cuh).
_SIDE_BY_SIDE = {"thread": "kAlone", "warp": "1"}
#: Threads that push a vertex together, by balance; 0: a block (kernels/vxm/push.cuh).
_GROUPS = {"thread": 1, "warp": 32, "block": 0}


def counts_in(rule: Rule) -> set[str]:
    """Return the names of the counts a rule reads, ``previous`` among them."""
    if isinstance(rule, Count):
        return {rule.name}
    if isinstance(rule, Previous):
        return {"previous"}
    if isinstance(rule, Compare):
        return counts_in(rule.left) | counts_in(rule.right)
    if isinstance(rule, Choose):
        return counts_in(rule.test) | counts_in(rule.then) | counts_in(rule.other)
    return set()


def counts_edges(product: Product) -> bool:
    """Return whether the product's choice needs the sum of the frontier's degrees."""
    return len(product.methods) > 1 and "frontier_edges" in counts_in(product.rule)


def note_work(ctx: Context, product: Product) -> None:
    """Note what the product walks: the edges of its driver if they are counted, else all edges."""
    driver, rows = f"v{product.driver}", f"v{product.statement.out}.size"
    matrix = product.stored(product.methods[0])
    ctx.work.walks_entries(driver)
    if not counts_edges(product):
        ctx.work.walks(f"{matrix}.nvals", rows)
        return
    # A pull looks at the mask of every row. Whether it will be one is not known yet.
    pulls = [i for i, method in enumerate(product.methods) if method.name == "pull"]
    tests = " || ".join(f"previous{product.number} == {i}" for i in pulls)
    knows = bool(tests) and "previous" in counts_in(product.rule)
    scan = (f"({tests} ? {rows} : 0)",) if knows else (rows,)
    edges = Edges(driver, driven_degrees(product), scan, (f"{matrix}.nvals", rows))
    ctx.work.walks_edges(product.number, edges)


def need_matrix(ctx: Context, product: Product, method: Method) -> None:
    """Ask for the matrix as a method walks it."""
    slot, orientation = product.matrix, product.orientation(method)
    if method.storage == "compressed":
        ctx.orientations.add((slot, orientation))
        return
    made, row = product.made(method), row_of(product.statement.op, method.storage)
    if row is not None and not row.fused:
        unsupported(f"{product.statement.op} by {row.name} beside other statements")
    name, place = f"m{made.label}", ctx.place_of(made)
    struct, given = part_of(made.name, "cuda").opened(ctx.ctype(slot), place, made)
    ctx.shared[name] = (f"__shared__ {struct} {name};", f"{name} = {struct}({given});")


def _may_replace(program: Program, product: Product) -> bool:
    """Whether nothing of the old output survives, and the dtypes agree."""
    statement = product.statement
    is_new = bool(statement.param("new"))
    keeps_old = statement.mask is not None and not statement.replace and not is_new
    accumulates = statement.accum is not None and not is_new
    fits = program.slots[statement.out].dtype is statement.operator.monoid.type
    # Every method has to look at the mask before it multiplies.
    masked_first = all(method.mask_order != "after" for method in product.methods)
    return fits and masked_first and not (keeps_old or accumulates)


def _needs_identity(product: Product) -> bool:
    """Whether a push adds to the identity, which no vector keeps in its spare plane."""
    monoid = product.statement.operator.monoid
    return product.push is not None and accumulation(monoid).adds_to_identity


def swaps(program: Program, product: Product) -> bool:
    """Whether the result may simply take the output's place.

    Nothing of the old output may survive, the dtypes must agree, and push must not rely on
    identities in the output's spare plane.
    """
    return _may_replace(program, product) and not _needs_identity(product)


def swaps_if_pulled(program: Program, product: Product) -> bool:
    """Whether a pulled result may take the output's place though a pushed one may not.

    What the device chooses is known to all blocks alike; but what others fill meanwhile would be
    merged in one case only. A temporary is not asked: statements that read it where it is made need
    it in no plane of its own.
    """
    return (
        product.alone
        and len(product.methods) > 1
        and any(method.name == "pull" for method in product.methods)
        and program.slots[product.statement.out].role != "temp"
        and _may_replace(program, product)
        and _needs_identity(product)
    )


def target_of(program: Program, product: Product, method: str) -> str:
    """Return the plane that a method, ``push`` or ``pull``, fills."""
    is_spare = swaps(program, product) or (method == "pull" and swaps_if_pulled(program, product))
    return f"v{product.statement.out}.spare" if is_spare else f"w{product.number}"


def own_plane(ctx: Context, number: int, monoid: TypedMonoid, slot: int) -> str:
    """Reserve an empty plane of the size of vector `slot`; absent values hold the identity."""
    spec = Workspace(f"w{number}", "plane", monoid.type, slot, accumulation(monoid).identity)
    return open_plane(ctx, spec)


def choose(ctx: Context, product: Product) -> None:
    """Append the choice of a method."""
    number = product.number
    outside = ctx.iteration == "0"
    state = f"table->s{product.driver}.state->"
    for name, member in (("previous", "method"), ("previous_frontier", "frontier")):
        if not outside and name not in counts_in(product.rule):
            # Nobody reads it; and what a loop carries costs a register.
            continue
        start = f"{state}{member}" if outside else "-1"
        ctx.registers[f"{name}{number}"] = f"long long {name}{number} = {start};"
        if outside:
            written = {product.driver, product.statement.out}
            ctx.epilogue += [f"table->s{s}.state->{member} = {name}{number};" for s in written]
    if len(product.methods) == 1:
        ctx.emit(f"const int {product.chosen} = 0;")
        return
    if counts_edges(product):
        ctx.registers[f"edges{number}"] = f"Count edges{number} = 0;"
        ctx.registers[f"edges_known{number}"] = f"bool edges_known{number} = false;"
        with ctx.block(f"if (!edges_known{number})"):
            _count_edges(ctx, product)
            ctx.emit(f"edges_known{number} = true;")
    names = {name: _count(product, name) for name in counts_in(product.rule)}
    ctx.emit(f"const int {product.chosen} = {render_cuda_choice(product.rule, names)};")


def _count_edges(ctx: Context, product: Product) -> None:
    """Append the count of the edges that the driver has.

    All of them, if it has all entries; a small one is counted by every block for itself, which
    costs less than to wait for each other.
    """
    driver, edges = f"v{product.driver}", f"edges{product.number}"
    push = product.push or Method("push")
    matrix, degrees = f"m{product.matrix}_{product.orientation(push)}", driven_degrees(product)
    with ctx.block(f"if ({driver}.nvals == {driver}.size)"):
        ctx.emit(f"{edges} = static_cast<Count>({matrix}.nvals);")
    with ctx.block(f"else if (is_counted_alone({driver}))"):
        ctx.emit(f"{edges} = count_degrees({driver}, {degrees});")
    with ctx.block("else"):
        ctx.emit(f"sum_degrees(team, {driver}, {degrees}, &{product.sums}.driver_edges);")
        ctx.wait(Why.COUNTS_EDGES, conditional=True)
        ctx.emit(f"{edges} = {product.sums}.driver_edges;")


def _count(product: Product, name: str) -> str:
    """Return the C++ expression of a named count; masked rows are counted by the mask's nvals."""
    mask, number = product.statement.mask, product.number
    rows = f"v{product.statement.out}.size"
    nnz = f"{product.stored(product.methods[0])}.nvals"
    open_rows = rows
    if mask is not None:
        entries = f"v{mask.slot}.nvals"
        open_rows = f"({rows} - {entries})" if mask.complement else entries
    return {
        "n": f"v{product.driver}.size", "rows": rows, "nnz": nnz,
        "frontier": f"v{product.driver}.nvals", "frontier_edges": f"edges{number}",
        "open_rows": open_rows,
        "open_edges": f"(static_cast<double>({nnz}) * {open_rows} / ({rows} > 0 ? {rows} : 1))",
        "previous": f"previous{number}", "previous_frontier": f"previous_frontier{number}",
    }[name]  # fmt: skip


def driven_degrees(product: Product) -> str:
    """Return the C++ object that counts the edges an entry of the driver has."""
    push = product.push or Method("push")
    return f"DrivenDegrees{{m{product.matrix}_{product.orientation(push)}.indptr}}"


def next_degrees(ctx: Context, product: Product) -> tuple[str, str]:
    """Return type and object that count what the result will drive in this very product."""
    driven = [number for number, _ in ctx.driven.get(product.driver, ())]
    if product.driver == product.statement.out and product.number in driven:
        return "DrivenDegrees", driven_degrees(product)
    return "NoDegrees", "NoDegrees{}"


def fill(ctx: Context, product: Product) -> None:
    """Append the phases of every method: what they find is in its target after a barrier."""
    statement = product.statement
    semiring = ctx.semiring(statement.operator, vector_first=statement.op == "vxm")
    degrees = next_degrees(ctx, product)
    if product.push is not None:
        _open_push(ctx, product, semiring, degrees)
    for index, method in enumerate(product.methods):
        with ctx.block(f"if ({product.chosen} == {index})"):
            if method.name == "push":
                _push(ctx, product, method)
            else:
                _pull(ctx, product, method, semiring, degrees[1])


def rests(ctx: Context, product: Product) -> list[str]:
    """Return the lines that finish what the methods queued; none if they never do."""
    degrees = next_degrees(ctx, product)[1]
    calls = [_rest(ctx, product, method, degrees) for method in product.methods]
    queued = f"now{product.number}.queued != 0"
    return [
        f"if ({queued} && {product.chosen} == {index}) {call}"
        for index, call in enumerate(calls)
        if call
    ]


def _rest(ctx: Context, product: Product, method: Method, degrees: str) -> str:
    """Return the call that finishes what a method queued; empty if it never does."""
    if method.name == "push":
        number = product.number
        call = (
            f"spmspv_push_chunks(team, open_scatter{number}(), queue{number}, now{number}.queued);"
        )
        if ctx.ahead is not None:
            call = f"{{ {call}{ctx.ahead.summed} }}"
        return call if _queues(method) else ""
    if not (ctx.carries and walks_by_merge(method.balance, product.statement.operator.monoid)):
        return ""
    matrix = f"m{product.matrix}_{product.orientation(method)}"
    monoid, target = product.statement.operator.monoid, target_of(ctx.program, product, "pull")
    return carries_call(ctx, product.number, monoid, matrix, target, degrees)


def _queues(method: Method) -> bool:
    """Return whether a push cuts long rows into chunks that it leaves for later."""
    return method.storage == "compressed" and method.balance not in (*_GROUPS, "positions")


def reserve_shares(ctx: Context, number: int, monoid: TypedMonoid, matrix: int) -> None:
    """Reserve what shares of a pull pass on: all kernels of a program have one table."""
    for kind in ("Carries", "Handed"):
        spec = Workspace(f"{kind.lower()}{number}", kind.lower(), monoid.type, matrix)
        ctx.workspace(spec, f"{kind}Descriptor")


def pull_by_shares(
    ctx: Context, number: int, monoid: TypedMonoid, matrix: int, flags: str, given: str
) -> str:
    """Reserve what shares pass on, in kernels of any shape, and return the call that pulls them."""
    reserve_shares(ctx, number, monoid, matrix)
    if ctx.short:
        return f"spmv_pull_short<{ctx.short}>({given}, &sums{number});"
    name, kind = ("merge", "Carries") if ctx.is_tight else ("tiles", "Handed")
    return f"spmv_pull_{name}<{flags}>({given}, {passed_on(kind, number, monoid)}, &sums{number});"


def passed_on(kind: str, number: int, monoid: TypedMonoid) -> str:
    """Return what shares carry to the phase behind theirs, or hand over to each other."""
    return f"{kind}<{monoid.type.cuda_type}>(table->{kind.lower()}{number})"


def carries_call(
    ctx: Context, number: int, monoid: TypedMonoid, matrix: str, target: str, degrees: str
) -> str:
    """Return the call that adds the carries up."""
    return (
        f"add_carries<{ctx.monoid(monoid)}>(team, {matrix}.num_slices, "
        f"{passed_on('Carries', number, monoid)}, {target}, {degrees}, &sums{number});"
    )


def open_counters(ctx: Context, number: int) -> None:
    """Append the start of a statement's counters of this turn: ``sums<number>``."""
    name, turn = ctx.counters(number)
    ctx.emit(
        f"Counters& sums{number} = table->{name}[{turn}];",
        f"zero_next(team, table->{name}, {turn});",
    )


def take_counters(ctx: Context, numbers: list[int]) -> None:
    """Append the lines that copy statements' sums to ``now<number>`` after a barrier."""
    for number in numbers:
        ctx.shared[f"now{number}"] = (f"__shared__ Counters now{number};", "")
        ctx.emit(f"if (threadIdx.x == 0) now{number} = sums{number};")
    ctx.emit("__syncthreads();")


def _mask_of(ctx: Context, product: Product, method: Method) -> str:
    before = method.mask_order != "after"
    return mask_text(ctx, product.statement.mask if before else None)


def _open_push(ctx: Context, product: Product, semiring: str, degrees: tuple[str, str]) -> None:
    push, target = product.push, target_of(ctx.program, product, "push")
    assert push is not None
    if _queues(push):
        queue = ctx.workspace(
            Workspace(f"q{product.number}", "queue", None, product.matrix), "QueueDescriptor"
        )
        ctx.emit(f"const ChunkQueue queue{product.number} = open_queue(table->{queue});")
    u_type, a_type = ctx.ctype(product.driver), ctx.ctype(product.matrix)
    matrix = product.stored(push)
    mask, keep = _mask_of(ctx, product, push), _keep_text(ctx, product.pruning)
    types = f"{semiring}, {u_type}, {a_type}, {_type_of(mask)}, {_type_of(keep)}, {degrees[0]}"
    epilogue = ""
    if ctx.ahead is not None:
        types, epilogue = f"{types}, decltype(claimed)", ", claimed"
    found, most = ctx.block_list(0), "~0u"
    if accumulation(product.statement.operator.monoid).method != "any":
        ctx.scattered.add(product.matrix)
    if not (swaps(ctx.program, product) or swaps_if_pulled(ctx.program, product)):
        most = f"most_listed(team, v{product.statement.out}.size)"
    if push.queue == "global":
        found = ctx.block_list()
        types += f"{', NoEpilogue' * (ctx.ahead is None)}, decltype({found})"
    ctx.emit(
        f"auto open_scatter{product.number} = [&]() {{",
        f"  return Scatter<{types}>{{",
        f"      v{product.driver}.here.values, {matrix}, {mask}, {keep}, {target},",
        f"      {degrees[1]}, &{product.sums}, {found}, {most}, 0{epilogue}}};",
        "};",
    )


def _keep_text(ctx: Context, pruning: Pruning | None) -> str:
    """Return the C++ object that says which products are worth keeping."""
    if pruning is None:
        return "KeepAll{}"
    op, held = ctx.operator(pruning.comparison.operator), f"v{pruning.held}"
    types = f"{op}, {str(pruning.product_first).lower()}, {ctx.ctype(pruning.held)}"
    given = f"{held}.here.values" if pruning.blank else f"{held}.here, {held}.nvals == {held}.size"
    return f"KeepUnless{'Blank' * pruning.blank}<{types}>({given})"


def _type_of(made: str) -> str:
    """Return the type of a C++ object that is made of its type's name and arguments."""
    return made.partition("(")[0].removesuffix("{}")


def _push(ctx: Context, product: Product, method: Method) -> None:
    driver, scatter = f"v{product.driver}", f"open_scatter{product.number}()"
    if method.storage != "compressed":
        made = product.made(method)
        push = PushWalk(made, ctx.emit, driver=driver, scatter=scatter)
        part_of(made.name, "cuda").push(push)
        return
    if method.balance == "positions":
        ctx.emit(f"spmspv_push_positions(team, {driver}, {scatter});")
        return
    build = f"build_list(team, {driver}, &{product.sums}.listed);"
    unready, lines = f"!{driver}.listed", [build]
    if ctx.ahead is not None and product.prepares_by_rows:
        # What a pull left. Its result has no list, unless somebody else has built one since.
        lines = [f"if ({unready}) {build}", f"if ({ctx.ahead.stale}) clear_spare(team, {driver});"]
        unready = f"{unready} || {ctx.ahead.stale}"
    with ctx.block(f"if ({unready})"):
        ctx.emit(*lines)
        ctx.wait(Why.BUILDS_LIST, conditional=True)
        ctx.emit(f"if (threadIdx.x == 0) {driver}.listed = true;", "__syncthreads();")
    empties = ctx.ahead is not None
    if method.balance in _GROUPS:
        types = f"{_GROUPS[method.balance]}{', true' if empties else ''}"
        ctx.emit(f"spmspv_push_rows<{types}>(team, {driver}, {scatter});")
    else:
        types = "<true>" if empties else ""
        # One for all products: no two push at the same time.
        ctx.shared["pieces"] = ("__shared__ BlockPieces pieces;", "pieces.count = 0;")
        queue = f"queue{product.number}"
        edges = f", edges{product.number}" if counts_edges(product) else ""
        ctx.emit(f"spmspv_push_block{types}(team, {driver}, {scatter}, pieces, {queue}{edges});")
    if ctx.ahead is not None and ctx.ahead.summed:
        ctx.emit(ctx.ahead.summed.strip())


def _pull(ctx: Context, product: Product, method: Method, semiring: str, degrees: str) -> None:
    target, matrix = target_of(ctx.program, product, "pull"), product.stored(method)
    ctx.emit(gather_line(ctx, product, method, semiring))
    given = f"{pulled_rows(ctx, product, method)}, {target}, {degrees}"
    if method.storage == "compressed" and counts_entries(product.statement.operator):
        counted = f"{given.replace('gather', matrix, 1)}, &{product.sums}"
        lengths = f"spmv_pull_lengths<{ctx.monoid(product.statement.operator.monoid)}>"
        ctx.emit(f"if (gather.present == nullptr) {lengths}({counted});")
        with ctx.block("else"):
            _pull_by(ctx, product, method, given, degrees)
    else:
        _pull_by(ctx, product, method, given, degrees)


def gather_line(ctx: Context, product: Product, method: Method, semiring: str) -> str:
    """Return the line that makes ``gather``, which a pull reads."""
    driver, mask = f"v{product.driver}", product.statement.mask
    present = f"{driver}.nvals == {driver}.size ? nullptr : {driver}.here.words"
    if method.operand_reuse:
        if mask is None:
            unsupported("operand reuse without a mask")
        present = f"v{mask.slot}.here.words"
        if ctx.ahead is not None and product.pulls_by_rows(method):
            # The mask changes under it.
            present = f"prepares ? {driver}.here.words : {present}"
    types = f"{semiring}, {ctx.ctype(product.driver)}, {ctx.ctype(product.matrix)}"
    merges = walks_by_merge(method.balance, product.statement.operator.monoid)
    gather = "SharedGather" if merges else "Gather"
    matrix = product.stored(method)
    return f"const {gather}<{types}> gather{{{present}, {driver}.here.values, {matrix}}};"


def pulled_rows(ctx: Context, product: Product, method: Method) -> str:
    """Return the first arguments of a pull: who, from what, which rows."""
    return f"team, gather, v{product.statement.out}.size, {_mask_of(ctx, product, method)}"


def asks_owner(semiring: TypedSemiring) -> str:
    """Return, as C++ has it, whether a product depends on where its entry stands."""
    return str(semiring.binaryop.is_positional).lower()


def _pull_by(ctx: Context, product: Product, method: Method, given: str, degrees: str) -> None:
    operator, orientation = product.statement.operator, product.orientation(method)
    exits = str(method.early_exit).lower()
    if method.storage != "compressed":
        made = product.made(method)
        walk = PullWalk(
            made, ctx.emit, exits=method.early_exit, rows=f"v{product.statement.out}.size",
            mask=_mask_of(ctx, product, method), target=target_of(ctx.program, product, "pull"),
            degrees=degrees, counters=f"&{product.sums}", semiring=operator,
        )  # fmt: skip
        part_of(made.name, "cuda").pull(walk)
    elif walks_by_merge(method.balance, operator.monoid):
        ctx.sliced.add((product.matrix, orientation))
        _pull_shares(ctx, product, method, given)
    elif method.balance == "block":
        ctx.emit(f"spmv_pull_block<{exits}>({given}, &{product.sums});")
    else:
        types = f"{exits}, {_SIDE_BY_SIDE.get(method.balance, 'kSideBySide')}"
        more = ""
        if ctx.ahead is not None:
            more = f", claimed, {ctx.ahead.stale}"
            _make_room(ctx, product, types)
        ctx.emit(f"spmv_pull_masked<{types}>({given}, &{product.sums}{more});")
        if ctx.ahead is not None and ctx.ahead.summed:
            ctx.emit(ctx.ahead.summed.strip())


def _pull_shares(ctx: Context, product: Product, method: Method, given: str) -> None:
    operator, number = product.statement.operator, product.number

    def pull(more: str) -> None:
        flags = f"{asks_owner(operator)}{more}"
        ctx.emit(pull_by_shares(ctx, number, operator.monoid, product.matrix, flags, given))

    variant = note_variants(ctx, product, method)
    if variant is None:
        pull(", false, true" if ctx.is_tight and ctx.is_alone else "")
        return
    reserve_shares(ctx, number, operator.monoid, product.matrix)
    fill = partial(ctx.fill_table, conditional=len(product.methods) > 1)
    lines, counters = product.stored(method), f"&{product.sums}"
    variant.write(SharesWalk(lines, given, counters, ctx.short, ctx.emit, fill, pull))


def _make_room(ctx: Context, product: Product, types: str) -> None:
    """Append what empties the room of a pull of which several warps fill the same word."""
    assert ctx.ahead is not None
    stale, out = ctx.ahead.stale, f"v{product.statement.out}"
    with ctx.block(f"if ({stale} && !pulls_words<{types}>(team, {out}.size))"):
        ctx.emit(f"clear_spare(team, {out});")
        ctx.wait(Why.EMPTIES, conditional=True)
        ctx.emit(f"{stale} = false;")
