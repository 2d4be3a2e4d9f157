"""Matrix-vector products: push and pull in one statement, chosen on the device by its rule."""

from __future__ import annotations

from dataclasses import dataclass

from semira.backends.cuda.jit.accumulation import accumulation
from semira.backends.cuda.lower.context import Context, Workspace, unsupported
from semira.backends.cuda.lower.members import Reset
from semira.backends.cuda.lower.pointwise import (
    copy_of,
    mask_reads,
    mask_text,
    open_plane,
    write_pointwise,
)
from semira.backends.cuda.lower.solo import Edges
from semira.backends.cuda.lower.sources import Driver, Operand
from semira.backends.rules import render_cuda
from semira.contract import (
    Choose,
    Compare,
    Count,
    Method,
    Plan,
    Previous,
    Program,
    Rule,
    Statement,
    Why,
)
from semira.ops import TypedMonoid

_DEFAULT = Plan("vxm", (Method("push", balance="edges"),))

#: Orientation of the stored matrix that a method walks if its plan does not say.
_ORIENTATION = {
    ("vxm", "push"): "csr",
    ("vxm", "pull"): "csc",
    ("mxv", "push"): "csc",
    ("mxv", "pull"): "csr",
}
_OTHER = {"csr": "csc", "csc": "csr"}

#: Bytes of the largest products that a pull by equal shares keeps in registers.
MOST_SHARED_OUT = 16

#: Edges of its row that a lane pulls before its warp helps, by balance (kernels/vxm/pull.cuh).
_LANE_EDGES = {"thread": "kAlone", "warp": "0"}
#: Threads that push a vertex together, by balance; 0: a block (kernels/vxm/push.cuh).
_GROUPS = {"thread": 1, "warp": 32, "block": 0}


@dataclass(frozen=True, slots=True)
class Product:
    """A product's parts, named.

    Attributes
    ----------
    number : int
    statement : Statement
    methods : tuple of Method
    driver, matrix : int
        Slots of the vector and of the matrix.
    transposed : bool
    """

    number: int
    statement: Statement
    methods: tuple[Method, ...]
    rule: Rule
    driver: int
    matrix: int
    transposed: bool

    def orientation(self, method: Method) -> str:
        """Return which orientation of the stored matrix `method` walks."""
        if method.orientation != "none":
            return method.orientation
        found = _ORIENTATION[self.statement.op, method.name]
        return _OTHER[found] if self.transposed else found

    @property
    def push(self) -> Method | None:
        """The method that pushes, if there is one."""
        return next((method for method in self.methods if method.name == "push"), None)

    @property
    def masked_first(self) -> bool:
        """Whether every method looks at the mask before it multiplies."""
        return all(method.mask_order != "after" for method in self.methods)


def open_product(number: int, statement: Statement) -> Product:
    """Return the parts of a product statement."""
    plan = statement.plan or _DEFAULT
    methods = _DEFAULT.methods if plan.methods[0].name == "direct" else plan.methods
    vector, matrix = statement.args if statement.op == "vxm" else statement.args[::-1]
    for method in methods:
        if method.name not in ("push", "pull"):
            unsupported(f"method {method.name!r} of {statement.op}")
    if sum(method.name == "push" for method in methods) > 1:
        unsupported(f"{statement.op} with two push methods")
    return Product(
        number, statement, methods, plan.rule, vector.slot, matrix.slot, matrix.transposed
    )


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


def lower_product(ctx: Context, number: int, statement: Statement) -> None:
    """Lower ``out<mask, replace> accum= u (+).(*) A``."""
    product = open_product(number, statement)
    for method in product.methods:
        ctx.orientations.add((product.matrix, product.orientation(method)))
    ctx.products[number] = (statement.op, tuple(method.name for method in product.methods))
    _note_work(ctx, product)
    by_swap = swaps(ctx.program, product)
    monoid = statement.operator.monoid
    if by_swap:
        # They are to see the old entries.
        ctx.flush_users(f"v{statement.out}")
    target = f"v{statement.out}.spare" if by_swap else own_plane(ctx, number, monoid, statement.out)
    _touch(ctx, product, target)
    name, turn = ctx.counters(number)
    with ctx.block(""):
        ctx.emit(
            f"Counters& sums = table->{name}[{turn}];",
            f"zero_next(team, table->{name}, {turn});",
            f"const Index frontier = v{product.driver}.nvals;",
        )
        _choose(ctx, product)
        if ctx.ahead is not None:
            ctx.ahead.open(ctx, turn)
        _run_methods(ctx, product, target)
        driver = None if by_swap else _driver_of(ctx, product, target)
        for register, value in (("previous", "method"), ("previous_frontier", "frontier")):
            if f"{register}{number}" in ctx.registers:
                ctx.emit(f"{register}{number} = {value};")
        if by_swap:
            _finish_by_swap(ctx, product)
        else:
            finish_by_merge(ctx, number, statement, monoid, target, driver)
        ctx.emit(
            f"journal.row(team, {ctx.iteration}, {number}, method, frontier, now{number}.touched, "
            f"static_cast<Index>(now{number}.inserted));",
        )
        ctx.next_turn(turn)


def _touch(ctx: Context, product: Product, target: str) -> None:
    """Note what the product's phase accesses, and the phase."""
    reads, writes = {f"v{product.driver}"} | mask_reads(product.statement.mask), {target}
    if ctx.ahead is None:
        ctx.touch(reads, writes)
        ctx.notes.phase(product.number, "product")
        return
    more, written = ctx.ahead.touched(target)
    ctx.touch(reads | more, written)
    ctx.ahead.note(ctx)


def _note_work(ctx: Context, product: Product) -> None:
    """Note what the product walks: the edges of its driver if they are counted, else all edges."""
    driver, rows = f"v{product.driver}", f"v{product.statement.out}.size"
    matrix = f"m{product.matrix}_{product.orientation(product.methods[0])}"
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


def swaps(program: Program, product: Product) -> bool:
    """Whether the result may simply take the output's place.

    Nothing of the old output may survive, the dtypes must agree, and push must not rely on
    identities in the output's spare plane.
    """
    statement = product.statement
    monoid = statement.operator.monoid
    is_new = bool(statement.param("new"))
    keeps_old = statement.mask is not None and not statement.replace and not is_new
    accumulates = statement.accum is not None and not is_new
    fits = program.slots[statement.out].dtype is monoid.type
    needs_identity = product.push is not None and accumulation(monoid).adds_to_identity
    return fits and product.masked_first and not (keeps_old or accumulates or needs_identity)


def own_plane(ctx: Context, number: int, monoid: TypedMonoid, slot: int) -> str:
    """Reserve an empty plane of the size of vector `slot`; absent values hold the identity."""
    spec = Workspace(f"w{number}", "plane", monoid.type, slot, accumulation(monoid).identity)
    return open_plane(ctx, spec)


def _choose(ctx: Context, product: Product) -> None:
    """Append the choice of a method: ``const int method``."""
    number, driver = product.number, f"v{product.driver}"
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
        ctx.emit("const int method = 0;")
        return
    if counts_edges(product):
        ctx.registers[f"edges{number}"] = f"Count edges{number} = 0;"
        ctx.registers[f"edges_known{number}"] = f"bool edges_known{number} = false;"
        with ctx.block(f"if (!edges_known{number})"):
            ctx.emit(
                f"sum_degrees(team, {driver}, {driven_degrees(product)}, &sums.driver_edges);",
            )
            ctx.wait(Why.COUNTS_EDGES, conditional=True)
            ctx.emit(
                f"edges{number} = sums.driver_edges;",
                f"edges_known{number} = true;",
            )
    names = {name: _count(product, name) for name in counts_in(product.rule)}
    ctx.emit(f"const int method = static_cast<int>({render_cuda(product.rule, names)});")


def _count(product: Product, name: str) -> str:
    """Return the C++ expression of a named count; masked rows are counted by the mask's nvals."""
    mask, number = product.statement.mask, product.number
    rows = f"v{product.statement.out}.size"
    nnz = f"m{product.matrix}_{product.orientation(product.methods[0])}.nvals"
    open_rows = rows
    if mask is not None:
        entries = f"v{mask.slot}.nvals"
        open_rows = f"({rows} - {entries})" if mask.complement else entries
    return {
        "n": f"v{product.driver}.size",
        "rows": rows,
        "nnz": nnz,
        "frontier": f"v{product.driver}.nvals",
        "frontier_edges": f"edges{number}",
        "open_rows": open_rows,
        "open_edges": f"(static_cast<double>({nnz}) * {open_rows} / ({rows} > 0 ? {rows} : 1))",
        "previous": f"previous{number}",
        "previous_frontier": f"previous_frontier{number}",
    }[name]


def driven_degrees(product: Product) -> str:
    """Return the C++ object that counts the edges an entry of the driver has."""
    push = product.push or Method("push")
    return f"DrivenDegrees{{m{product.matrix}_{product.orientation(push)}.indptr}}"


def _next_degrees(ctx: Context, product: Product) -> tuple[str, str]:
    """Return type and object that count what the result will drive in this very product."""
    driven = [number for number, _ in ctx.driven.get(product.driver, ())]
    if product.driver == product.statement.out and product.number in driven:
        return "DrivenDegrees", driven_degrees(product)
    return "NoDegrees", "NoDegrees{}"


def _run_methods(ctx: Context, product: Product, target: str) -> None:
    """Append the phases of every method, the barrier, and the sums: ``now``."""
    statement, now = product.statement, f"now{product.number}"
    take = take_counters(ctx, product.number)
    if ctx.ahead is not None:
        take = (*ctx.ahead.taken, *take)
    semiring = ctx.semiring(statement.operator, vector_first=statement.op == "vxm")
    degrees = _next_degrees(ctx, product)
    if product.push is not None:
        _open_push(ctx, product, semiring, target, degrees)
    for index, method in enumerate(product.methods):
        with ctx.block(f"if (method == {index})"):
            if method.name == "push":
                _push(ctx, product, method)
            else:
                _pull(ctx, product, method, semiring, target, degrees[1])
    ctx.wait(Why.FILLED)
    ctx.emit(*take)
    rest = {
        i: _rest(ctx, product, method, target, degrees[1])
        for i, method in enumerate(product.methods)
    }
    if any(rest.values()):
        with ctx.block(f"if ({now}.queued != 0)"):
            for index, call in rest.items():
                if call:
                    ctx.emit(f"if (method == {index}) {call}")
            ctx.wait(Why.LONG_ROWS, conditional=True)
            ctx.emit(*take)


def _rest(ctx: Context, product: Product, method: Method, target: str, degrees: str) -> str:
    """Return the call that finishes what a method queued; empty if it never does."""
    if method.name == "push":
        queues = method.balance not in _GROUPS
        call = f"spmspv_push_chunks(team, open_scatter(), queue, now{product.number}.queued);"
        call = f"{{ {call}{ctx.ahead.summed} }}" if ctx.ahead is not None else call
        return call if queues else ""
    if not walks_by_merge(method.balance, product.statement.operator.monoid):
        return ""
    matrix = f"m{product.matrix}_{product.orientation(method)}"
    monoid = product.statement.operator.monoid
    return carries_call(ctx, product.number, monoid, matrix, target, degrees)


def walks_by_merge(balance: str, monoid: TypedMonoid) -> bool:
    """Return whether a pull takes equal shares; rows of large products go to a warp each."""
    return balance == "edges" and monoid.type.itemsize <= MOST_SHARED_OUT


def own_carries(ctx: Context, number: int, monoid: TypedMonoid, matrix: int) -> str:
    """Reserve the carries of a statement that walks equal shares; return them as an object."""
    spec = Workspace(f"carries{number}", "carries", monoid.type, matrix)
    name = ctx.workspace(spec, "CarriesDescriptor")
    return f"Carries<{monoid.type.cuda_type}>(table->{name})"


def carries_call(
    ctx: Context, number: int, monoid: TypedMonoid, matrix: str, target: str, degrees: str
) -> str:
    """Return the call that adds the carries up."""
    carries = f"Carries<{monoid.type.cuda_type}>(table->carries{number})"
    return (
        f"add_carries<{ctx.monoid(monoid)}>(team, {matrix}.num_slices, {carries}, {target}, "
        f"{degrees}, &sums);"
    )


def take_counters(ctx: Context, number: int) -> tuple[str, ...]:
    """Return the lines that copy a statement's sums to ``now<number>`` after a barrier."""
    ctx.shared[f"now{number}"] = (f"__shared__ Counters now{number};", "")
    return f"if (threadIdx.x == 0) now{number} = sums;", "__syncthreads();"


def _mask_of(ctx: Context, product: Product, method: Method) -> str:
    before = method.mask_order != "after"
    return mask_text(ctx, product.statement.mask if before else None)


def _open_push(
    ctx: Context, product: Product, semiring: str, target: str, degrees: tuple[str, str]
) -> None:
    push = product.push
    assert push is not None
    queue = ctx.workspace(
        Workspace(f"q{product.number}", "queue", None, product.matrix), "QueueDescriptor"
    )
    u_type, a_type = ctx.ctype(product.driver), ctx.ctype(product.matrix)
    matrix = f"m{product.matrix}_{product.orientation(push)}"
    mask = _mask_of(ctx, product, push)
    types, epilogue = f"{u_type}, {a_type}, {_type_of(mask)}, {degrees[0]}", ""
    if ctx.ahead is not None:
        types, epilogue = f"{types}, decltype(claimed)", ", claimed"
    ctx.emit(
        f"const ChunkQueue queue = open_queue(table->{queue});",
        "auto open_scatter = [&]() {",
        f"  return Scatter<{semiring}, {types}>{{",
        f"      v{product.driver}.here.values, {matrix}, {mask}, {target},",
        f"      {degrees[1]}, &sums, 0{epilogue}}};",
        "};",
    )


def _type_of(mask: str) -> str:
    return mask.partition("(")[0].removesuffix("{}")


def _push(ctx: Context, product: Product, method: Method) -> None:
    driver = f"v{product.driver}"
    with ctx.block(f"if (!{driver}.listed)"):
        ctx.emit(f"build_list(team, {driver}, &sums.listed);")
        ctx.wait(Why.BUILDS_LIST, conditional=True)
        ctx.emit(
            f"if (threadIdx.x == 0) {driver}.listed = true;",
            "__syncthreads();",
        )
    empties = ctx.ahead is not None
    if method.balance in _GROUPS:
        types = f"{_GROUPS[method.balance]}{', true' if empties else ''}"
        ctx.emit(f"spmspv_push_rows<{types}>(team, {driver}, open_scatter());")
    else:
        types = "<true>" if empties else ""
        ctx.emit(f"spmspv_push_block{types}(team, {driver}, open_scatter(), queue);")
    if ctx.ahead is not None and ctx.ahead.summed:
        ctx.emit(ctx.ahead.summed.strip())


def _pull(
    ctx: Context, product: Product, method: Method, semiring: str, target: str, degrees: str
) -> None:
    driver, statement = f"v{product.driver}", product.statement
    present = f"{driver}.nvals == {driver}.size ? nullptr : {driver}.here.words"
    if method.operand_reuse:
        if statement.mask is None:
            unsupported("operand reuse without a mask")
        present = f"v{statement.mask.slot}.here.words"
    types = f"{semiring}, {ctx.ctype(product.driver)}, {ctx.ctype(product.matrix)}"
    orientation = product.orientation(method)
    matrix = f"m{product.matrix}_{orientation}"
    operator, mask = statement.operator, _mask_of(ctx, product, method)
    merges = walks_by_merge(method.balance, operator.monoid)
    gather = "SharedGather" if merges else "Gather"
    ctx.emit(f"const {gather}<{types}> gather{{{present}, {driver}.here.values, {matrix}}};")
    given = f"team, gather, v{statement.out}.size, {mask}, {target}, {degrees}"
    exits = str(method.early_exit).lower()
    if merges:
        ctx.sliced.add((product.matrix, orientation))
        carries = own_carries(ctx, product.number, operator.monoid, product.matrix)
        asks_owner = str(operator.binaryop.is_positional).lower()
        ctx.emit(f"spmv_pull_merge<{asks_owner}>({given}, {carries}, &sums);")
    elif method.balance == "block":
        ctx.emit(f"spmv_pull_block<{exits}>({given}, &sums);")
    else:
        lane_edges = _LANE_EDGES.get(method.balance, "kLaneEdges")
        ctx.emit(f"spmv_pull_masked<{exits}, {lane_edges}>({given}, &sums);")


def _is_listed(product: Product, method: str = "method") -> str:
    pushes = [str(i) for i, each in enumerate(product.methods) if each.name == "push"]
    return " || ".join(f"{method} == {i}" for i in pushes) or "false"


def _driver_of(ctx: Context, product: Product, plane: str) -> Driver | None:
    """Return the result's plane with its list; None if no method makes one."""
    if product.push is None:
        return None
    number, monoid = product.number, product.statement.operator.monoid
    method = f"previous{number}"
    if len(product.methods) > 1:
        ctx.registers.setdefault(method, f"long long {method} = -1;")
    return Driver(
        Operand(plane, monoid.type.cuda_type),
        _is_listed(product, method) if len(product.methods) > 1 else "true",
        f"static_cast<Index>(now{number}.inserted)",
    )


def _finish_by_swap(ctx: Context, product: Product) -> None:
    """Make the result the output, and the old output the empty spare."""
    slot, number = product.statement.out, product.number
    out = f"v{slot}"
    ctx.swapped.add(slot)
    pushed, emptied = _is_listed(product), ""
    if ctx.ahead is not None:
        ctx.ahead.close(ctx, pushed)
        emptied = f"if (!({pushed})) "
    ctx.after_barrier(f"{out}.take_spare(static_cast<Index>(now{number}.inserted), {pushed});")
    ctx.settled()
    ctx.touch(set(), {f"{out}.spare"})
    ctx.emit(f"{emptied}clear_spare(team, {out});")
    ctx.forget_edges(slot)
    if _next_degrees(ctx, product)[0] == "DrivenDegrees":
        ctx.emit(f"edges{number} = now{number}.edges;", f"edges_known{number} = true;")


def finish_by_merge(
    ctx: Context,
    number: int,
    statement: Statement,
    monoid: TypedMonoid,
    plane: str,
    driver: Driver | None = None,
) -> None:
    """Accumulate, mask and replace from a plane the statement filled, then empty it.

    `driver` is the plane with its list, if it may have one.
    """
    ctx.settled()
    filled = Operand(plane, monoid.type.cuda_type)
    write_pointwise(ctx, number, statement, copy_of(filled), "f", driver)
    ctx.join(Reset(number, filled, f"{ctx.monoid(monoid)}::identity()"), statement.out)
