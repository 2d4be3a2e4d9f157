"""A Program as the text of one cooperative kernel."""

from __future__ import annotations

import copy
import re
from dataclasses import dataclass

from semira.backends.cuda.layout import TableLayout
from semira.backends.cuda.lower.ahead import Ahead, ahead_of
from semira.backends.cuda.lower.context import (
    Context,
    Hazards,
    Made,
    Workspace,
    check_dtype,
    is_one_loop,
    last_turn,
    unsupported,
)
from semira.backends.cuda.lower.epilogue import empty_stale, epilogue_of, head_apart, open_flags
from semira.backends.cuda.lower.fills import lower_products, products_together
from semira.backends.cuda.lower.notes import Notes
from semira.backends.cuda.lower.pointwise import lower_pointwise
from semira.backends.cuda.lower.product import counts_edges, driven_degrees
from semira.backends.cuda.lower.product_parts import open_product
from semira.backends.cuda.lower.pruning import blanked
from semira.backends.cuda.lower.region import OPERATIONS, is_partial_assign, lower_region
from semira.backends.cuda.lower.rotation import Rotation, rotation_of
from semira.backends.cuda.lower.scalars import lower_scalar
from semira.backends.cuda.lower.sizes import equal_sizes
from semira.backends.cuda.lower.solo import Alike, SoloLoop, Work, goes_alone, head_of
from semira.backends.cuda.lower.uses import list_readers_of, uses_of
from semira.backends.cuda.lower.variants import VariantPull
from semira.contract import Cause, Loop, LoopPhases, Program, Statement, Step, Why, walk_statements

KERNEL = "semira_program"

#: Dynamic shared memory of pulls in tiles (kernels/vxm/tiles.cuh): 16 warps with 2 KB of sums and
#: 192 bytes of bits each.
TILE_ROOM = 16 * (2048 + 192)
#: And behind that 4 KB of columns with 128 bytes of bits each, which loops keep.
KEPT_ROOM = 16 * (4096 + 128)


@dataclass(frozen=True, slots=True)
class LaunchShape:
    """Threads of a block, and blocks that must fit on one multiprocessor.

    With `short`, so many lanes sum each row (kernels/vxm/short.cuh), which leaves registers for the
    statements behind. `variant` names what takes the place of pulls that may have it.

    More threads make a barrier dearer, which deep graphs feel, and leave fewer registers (64 in
    place of 128, of which some loops spill 400 bytes); but where every row of a large matrix is
    gathered whole, more threads are more gathers in flight: 512 x 2 did 1.3 times those of 512 x 1
    on a Kronecker graph. Hence a second shape for those, and for programs that only push into large
    matrices and add: 15.9 ms of shortest paths in place of 18.7 (docs/decisions/0037).
    """

    threads: int = 512
    blocks_per_sm: int = 1
    short: int = 0
    variant: str = ""

    @classmethod
    def for_many_gathers(cls) -> LaunchShape:
        """Return the shape of programs that read or write much at random places."""
        return cls(blocks_per_sm=2)

    @classmethod
    def for_short_rows(cls, lanes: int) -> LaunchShape:
        """Return the shape of the same if all rows are short: for one or two lanes."""
        return cls(blocks_per_sm=2, short=lanes)

    @property
    def word(self) -> str:
        """What kernels of this shape are called, where the program has another."""
        return self.variant or "many"


#: Reasons a loop ends, as the device writes them.
STOPPED_BY = {0: "condition", 1: "limit", 2: "interrupt", 3: "default limit"}

Body = tuple[Statement | Loop, ...]


@dataclass(frozen=True, slots=True)
class Lowered:
    """A Program's kernel and what its launch needs."""

    #: Generated C++: operator structs, the table, the kernel.
    source: str
    shape: LaunchShape
    table: TableLayout
    workspaces: tuple[Workspace, ...]
    #: Vector slots whose second plane is used.
    swapped: frozenset[int]
    #: Matrix slots and the orientations that are walked.
    orientations: frozenset[tuple[int, str]]
    #: Those of them that are cut into equal shares of rows and entries.
    sliced: frozenset[tuple[int, str]]
    #: Matrix slots whose rows are added to what is there, at random places.
    scattered: frozenset[int]
    #: What methods walk in the place of a matrix.
    made: tuple[Made, ...]
    #: What may take the place of pulls, at a launch that finds that it pays.
    variants: tuple[VariantPull, ...]
    #: Statement number -> operation and names of its methods.
    products: dict[int, tuple[str, tuple[str, ...]]]
    #: Slots that a statement writes.
    written: frozenset[int]
    #: Slots of the vectors among them that others see.
    outputs: tuple[int, ...]
    #: Scalar slots that must not be empty.
    valued: frozenset[int]
    #: Whether a statement may turn out to be impossible while it runs.
    may_fail: bool
    #: Slots of which a copy is needed: the program is a loop, and may end with an error inside of
    #: an iteration that has changed one of them.
    kept: tuple[int, ...]
    has_loop: bool
    #: Whether it adds up in a fixed order, in parts for as many blocks.
    has_many_parts: bool
    #: Whether one block may run iterations of a loop.
    goes_alone: bool
    #: Which statements run together, where blocks wait, and why.
    phases: tuple[Step, ...]
    #: Bytes of dynamic shared memory that a block needs.
    room: int
    #: More of it with which the kernel is faster.
    kept_room: int


def lower_program(program: Program, shape: LaunchShape | None = None) -> Lowered:
    """Return the kernel of `program`.

    Raises NotImplementedException if a statement has no kernel here; the message names it and the
    way out.
    """
    chosen = shape or LaunchShape()
    is_tight = chosen.threads * chosen.blocks_per_sm > LaunchShape().threads
    ctx = Context(program, is_tight=is_tight, short=chosen.short, variant=chosen.variant)
    ctx.table.add("control", "Control")
    for number, slot in enumerate(program.slots):
        if slot.kind == "index":
            ctx.table.add(f"s{number}", "RegionDescriptor")
            continue
        check_dtype(slot.dtype)
        ctx.table.add(f"s{number}", f"{slot.kind.capitalize()}Descriptor")
    ctx.axes, ctx.uses = equal_sizes(program), uses_of(program)
    _find_driven(ctx)
    ctx.list_readers = list_readers_of(program)
    written = frozenset(statement.out for statement in walk_statements(program.body))
    ctx.constants = frozenset(range(len(program.slots))) - written
    _blank(ctx)
    _lower_body(ctx, program.body)
    _settle(ctx)
    return Lowered(
        _assemble(ctx, chosen), chosen, ctx.table, tuple(ctx.workspaces.values()),
        frozenset(ctx.swapped), frozenset(ctx.orientations), frozenset(ctx.sliced),
        frozenset(ctx.scattered), tuple(ctx.made), tuple(ctx.variants.values()), ctx.products,
        written, _outputs(program, written), frozenset(ctx.valued), ctx.may_fail, _kept(ctx),
        any(isinstance(item, Loop) for item in program.body),
        any(s.op == "reduce" and s.plan and s.plan.ordered for s in walk_statements(program.body)),
        bool(ctx.solo_loops), tuple(ctx.notes.steps), *_rooms_of(ctx),
    )  # fmt: skip


def _outputs(program: Program, written: frozenset[int]) -> tuple[int, ...]:
    """Return the slots of the vectors among the written ones that others see."""
    slots = program.slots
    return tuple(k for k in written if slots[k].kind == "vector" and slots[k].role != "temp")


def _rooms_of(ctx: Context) -> tuple[int, int]:
    """Return the bytes that pulls in tiles need, and those in which one keeps what it walks."""
    has_tiles = any(space.kind == "handed" for space in ctx.workspaces.values())
    if ctx.is_tight or not has_tiles:
        return 0, 0
    keeps = any(text.startswith("__shared__ KeptRows ") for text, _ in ctx.shared.values())
    return TILE_ROOM, KEPT_ROOM if keeps else 0


def _agreed_rooms(ctx: Context) -> list[str]:
    """Return what stops the compiler where host and device disagree; nothing without tiles."""
    rooms = f"kTileRoom == {TILE_ROOM} && kKeptRoom == {KEPT_ROOM}"
    agreed = f'static_assert({rooms}, "host and device disagree");'
    return [agreed] if any(_rooms_of(ctx)) else []


def _blank(ctx: Context) -> None:
    """Append what makes absent values NaN, if a push wants to find them so."""
    name = ""
    for slot, least in blanked(ctx.program, ctx.uses).items():
        name = f"v{slot}"
        ctx.emit(f"fill_absent(team, {name}, {ctx.monoid(least)}::identity());")
    if name:
        ctx.emit("barrier.wait();")
        ctx.notes.barrier(Cause(Why.BLANKED, None, name))


def _kept(ctx: Context) -> tuple[int, ...]:
    """Return the slots whose first contents an error may ask for."""
    if not (ctx.may_break and is_one_loop(ctx.program)):
        return ()
    slots = enumerate(ctx.program.slots)
    return tuple(n for n, slot in slots if n not in ctx.constants and slot.role != "temp")


def _find_driven(ctx: Context) -> None:
    for number, statement in enumerate(walk_statements(ctx.program.body)):
        if statement.op in ("vxm", "mxv"):
            product = open_product(number, statement)
            if counts_edges(product):
                counted = (number, driven_degrees(product))
                ctx.driven.setdefault(product.driver, []).append(counted)


def _settle(ctx: Context) -> None:
    ctx.flush(Cause(Why.ENDS))
    if ctx.hazards.is_pending:
        ctx.barrier(Cause(Why.ENDS))


def _lower_body(ctx: Context, body: Body) -> None:
    at = 0
    while at < len(body):
        item, products = body[at], products_together(ctx, body[at:])
        if products:
            lower_products(ctx, products)
        elif isinstance(item, Loop):
            _lower_loop(ctx, item)
        else:
            _lower_statement(ctx, item)
        for statement in walk_statements(body[at : at + max(1, len(products))]):
            ctx.changes(statement.out)
        at += max(1, len(products))


def _lower_statement(ctx: Context, statement: Statement) -> None:
    number = ctx.begin(statement)
    kind = ctx.kind(statement.out)
    if kind == "matrix":
        unsupported(f"{statement.op} to a matrix")
    if kind == "scalar":
        lower_scalar(ctx, number, statement)
    elif statement.op in OPERATIONS or is_partial_assign(statement):
        lower_region(ctx, number, statement)
    else:
        lower_pointwise(ctx, number, statement)
    ctx.work.written.add(f"v{statement.out}")


def _hazards_of(ctx: Context, loop: Loop, entry: Hazards) -> Hazards:
    """Return the hazards at the head of a loop: of what comes before it, and of its own end."""
    # A copy of the text line by line would take longer than all else.
    same = {id(ctx.program): ctx.program, id(ctx.loop_heads): ctx.loop_heads}
    while True:
        trial = copy.deepcopy(ctx, {**same, id(ctx.lines): [*ctx.lines]})
        trial.hazards = entry
        _write_loop(trial, loop)
        ctx.may_break = trial.may_break
        merged = entry.merged(trial.hazards)
        if merged == entry:
            return entry
        entry = merged


def _lower_loop(ctx: Context, loop: Loop) -> None:
    """Lower a loop once for its hazards, until they hold at the back edge too, then for good."""
    _settle(ctx)
    entry = ctx.hazards
    # What a loop inside of another has found is found again in each lowering of the outer one.
    key = id(loop), entry.facts(), ctx.may_break, ctx.has_changed
    if key in ctx.loop_heads:
        entry, ctx.may_break = ctx.loop_heads[key]
    else:
        entry = _hazards_of(ctx, loop, entry)
        ctx.loop_heads[key] = entry, ctx.may_break
    ctx.hazards = entry
    _write_loop(ctx, loop)


def _write_loop(ctx: Context, loop: Loop) -> None:
    number = ctx.loops
    ctx.loops += 1
    reason, most, outer = f"reason{number}", f"most{number}", ctx.iteration
    is_outermost = outer == "0"
    # What stands in no other loop says how far it came, however it ends.
    done = "completed" if is_outermost else f"done{number}"
    ctx.registers[done] = f"long long {done} = 0;"
    ctx.registers[reason] = f"int {reason} = 0;"
    goes_on = 1 if loop.explicit_limit else 3
    ctx.emit("", f"{done} = 0;")
    is_redone = _open_limit(ctx, loop, most)
    ctx.emit(f"if ({most} == 0) return;")
    ctx.emit(f"{reason} = {goes_on};")
    first, cut = ctx.statements, _cut(ctx, loop)
    entry = ctx.hazards
    around, ctx.notes, alone = ctx.notes, Notes(), None
    holds = f"static_cast<Count>({done}) < {most} && {reason} == {goes_on}"
    with ctx.block(f"while ({holds})"):
        start = len(ctx.lines)
        if is_outermost:
            _look_for_stop(ctx)
        ctx.iteration, ctx.limits = done, (*ctx.limits, loop.limit)
        _write_bodies(ctx, loop, done, reason, cut)
        ctx.iteration, ctx.limits = outer, ctx.limits[:-1]
        # Where whole matrices are gathered, registers are for the gathers: what a loop of one block
        # carries would be spilled.
        if not ctx.sliced and goes_alone(loop, ctx.loop_work):
            ctx.lines[start - 1] = ctx.lines[start - 1].replace(f"while ({holds})", "while (true)")
            ctx.lines[start:start] = head_of(ctx, loop, entry, done, holds)
            text = "\n".join(ctx.lines[start:])
            written = frozenset(s.out for body in loop.bodies for s in walk_statements(body))
            turns = tuple(work.turns for work in ctx.loop_work)
            ctx.solo_loops.append(SoloLoop(text, written, turns))
            alone = loop.solo
        ctx.emit(f"++{done};")
        if is_outermost:
            ctx.emit(f"if ({reason} == {goes_on} && stops != 0) {reason} = 2;")
    around.steps.append(LoopPhases(tuple(ctx.notes.bodies), alone))
    ctx.notes = around
    ctx.hazards = ctx.hazards.merged(entry)
    if isinstance(cut, Ahead):
        empty_stale(ctx, first + cut.product, loop.bodies[0][cut.product])
    if is_outermost:
        ctx.emit(f"journal.loop(team, {done}, {reason});")
    if is_redone:
        ctx.emit("if (table->redo != 0) return;")
    if not loop.explicit_limit:
        if not is_outermost:
            ctx.may_end()
        ctx.emit(f"if ({reason} == 3) journal.limit_reached(team, {done});")
    ctx.emit(f"if ({reason} >= 2) return;")


def _cut(ctx: Context, loop: Loop) -> Rotation | Ahead | None:
    """Return how a body's head moves to the iteration before; append what must come first."""
    rotation = rotation_of(ctx.program, loop, ctx.uses)
    if rotation is not None:
        first = ctx.statements
        _lower_body(ctx, loop.bodies[0][: rotation.head])
        _settle(ctx)
        ctx.statements = first
        return rotation
    # Elsewhere a scalar that is empty may end the program in the middle of an iteration.
    ahead = ahead_of(ctx.program, loop, ctx.constants, ctx.list_readers) if ctx.is_certain else None
    if ahead is not None:
        open_flags(ctx, ctx.statements + ahead.product, loop.bodies[0][ahead.product])
    return ahead


def _open_limit(ctx: Context, loop: Loop, most: str) -> bool:
    """Append the largest number of iterations; return whether the host may ask for fewer.

    It does so to have the complete iterations again, after an error in a later one: see
    `runtime.launch`.
    """
    given = f"journal.limit(team, x{loop.limit})"
    is_redone = ctx.may_break and ctx.iteration == "0" and is_one_loop(ctx.program)
    if is_redone:
        ctx.table.add("redo", "long long", 1)
        given = f"table->redo != 0 ? static_cast<Count>(table->redo) : {given}"
    ctx.emit(f"const Count {most} = {given};")
    if ctx.iteration == "0":
        # The limit itself is looked at, and reached, between iterations.
        return is_redone
    ctx.may_end()
    for statement in walk_statements((loop,)):
        ctx.changes(statement.out)
    return False


def _look_for_stop(ctx: Context) -> None:
    """Append the look at the host's stop word.

    It is published in one iteration, read in the next and obeyed at its end: nobody waits for the
    loads, and every thread sees the same.
    """
    ctx.registers["stop_word"] = "long long stop_word = 0;"
    ctx.registers["stop_turn"] = "int stop_turn = 0;"
    ctx.emit(f"const long long stops = progress.stop_seen[{last_turn('stop_turn')}];")
    with ctx.block("if (team.thread == 0)"):
        ctx.emit(
            "progress.stop_seen[stop_turn] = stop_word;",
            "stop_word = *static_cast<volatile long long*>(&progress.stop);",
        )
    ctx.next_turn("stop_turn")


def _write_bodies(
    ctx: Context, loop: Loop, done: str, reason: str, cut: Rotation | Ahead | None
) -> None:
    """Append the bodies, each with its `Work`; what holds after any of them holds at the end."""
    entry, end = ctx.hazards, Hazards()
    around, ctx.loop_work = ctx.work, []
    for which, body in enumerate(loop.bodies):
        ctx.hazards, ctx.work = entry, Work()
        head = f"if ({done} % {len(loop.bodies)} == {which})" if len(loop.bodies) > 1 else ""
        # The first iteration runs the first body.
        certain, ctx.is_certain = ctx.is_certain, ctx.is_certain and which == 0
        if ctx.iteration == "completed":
            ctx.has_changed = False
        with ctx.block(head):
            start = len(ctx.lines)
            if isinstance(cut, Rotation):
                _lower_rotated(ctx, body, cut)
            elif isinstance(cut, Ahead):
                comes = f"static_cast<Count>({done}) + 1 < most{reason.removeprefix('reason')}"
                _lower_ahead(ctx, body, cut, comes)
            else:
                _lower_body(ctx, body)
            _settle(ctx)
            if not any("barrier.wait()" in line for line in ctx.lines[start:]):
                ctx.barrier(Cause(Why.ENDS))
            if (condition := loop.conditions[which]) is not None:
                ctx.emit(f"if (!x{condition}.has || !x{condition}.value) {reason} = 0;")
        ctx.is_certain = certain
        end = end.merged(ctx.hazards)
        ctx.work.settle()
        ctx.loop_work.append(ctx.work)
        ctx.notes.bodies.append(tuple(ctx.notes.steps))
        ctx.notes.steps = []
    ctx.hazards, ctx.work = end, around


def _lower_rotated(ctx: Context, body: Body, rotation: Rotation) -> None:
    """Lower an iteration whose head ran before: the rest, the head of the next one, the tail."""
    first = ctx.statements
    for begin, end in ((rotation.head, rotation.tail), (0, rotation.head)):
        ctx.statements = first + begin
        _lower_body(ctx, body[begin:end])
    ctx.statements = first + rotation.tail
    _lower_body(ctx, body[rotation.tail :])


def _lower_ahead(ctx: Context, body: Body, ahead: Ahead, comes: str) -> None:
    """Lower an iteration whose product does the head of the next one, which `comes` in C++."""
    first, product = ctx.statements, body[ahead.product]
    assert isinstance(product, Statement)
    number, head = first + ahead.product, enumerate(body[: ahead.head], first)
    with head_apart(ctx, number, product.out):
        _lower_body(ctx, body[: ahead.head])
        _settle(ctx)
    _lower_body(ctx, body[ahead.head : ahead.product])
    tests = [comes, *(["stops == 0"] if ctx.iteration == "completed" else [])]
    if ahead.bound is not None:
        tests.append(f"x{ahead.bound}.value {ahead.holds}")
    named = {at: each for at, each in head if isinstance(each, Statement)}
    ctx.ahead = epilogue_of(ctx, named, number, product, tests)
    _lower_body(ctx, (product,))
    ctx.ahead = None
    _lower_body(ctx, body[ahead.product + 1 :])


def _assemble(ctx: Context, shape: LaunchShape) -> str:
    shared, starts, stores, scalars = _declarations(ctx)
    registers = list(ctx.registers.values())
    if all(name != "completed" for name in ctx.registers):
        registers.append("long long completed = 0;")
    alike = Alike.of(ctx, shared) if ctx.solo_loops else None
    return "\n".join(
        [
            *(f'#include "{header}"' for header in ctx.headers),
            *_agreed_rooms(ctx),
            *ctx.structs.values(),
            *([alike.struct(ctx)] if alike else []),
            ctx.table.declaration(),
            'extern "C" __global__ void',
            f"__launch_bounds__({shape.threads}, {shape.blocks_per_sm})",
            f"{KERNEL}({_parameter(ctx)}",
            "  const Team team = whole_grid();",
            "  const Control& control = table->control;",
            "  Progress& progress = *control.progress;",
            "  GridBarrier barrier(&progress.barrier);",
            *_indented(shared, 1),
            "  if (threadIdx.x == 0) {",
            *_indented(starts, 2),
            *(["    start_clock(control);"] if ctx.products else []),
            "  }",
            "  __syncthreads();",
            "  Journal journal(&shared_control);",
            *_indented([*scalars, *registers], 1),
            *_indented(alike.functions() if alike else [], 1),
            "  // All threads take the same way through the phases.",
            # As a function of its own, a long one would keep what it shares with the kernel in
            # local memory.
            "  auto run = [&]() __attribute__((always_inline)) {",
            *(
                f"    if (!x{slot}.has) return journal.missing_value(team, {number});"
                for slot, number in ctx.checks.items()
            ),
            *ctx.lines,
            "  };",
            "  run();",
            *(f"  if ({flag}) wipe_spare(team, v{slot});" for slot, flag in ctx.behind.items()),
            *_indented(alike.ending() if alike else [], 1),
            "  barrier.wait();",
            "  if (team.thread == 0) {",
            *_indented([*stores, *ctx.epilogue], 2),
            "  }",
            "  journal.close(team, completed);",
            "  close_progress(team, control, barrier);",
            "}",
            "",
        ]
    )


def _parameter(ctx: Context) -> str:
    if ctx.table.is_parameter:
        return "const __grid_constant__ Table given) {\n  const Table* const table = &given;"
    return "const Table* const table) {"


def _indented(lines: list[str], depth: int) -> list[str]:
    return ["  " * depth + line for line in lines]


def _declarations(ctx: Context) -> tuple[list[str], list[str], list[str], list[str]]:
    """Return what lies in shared memory, its first values, the last stores, and the scalars."""
    shared, starts = ["__shared__ Control shared_control;"], ["shared_control = control;"]
    stores, scalars = [], []
    for number, slot in enumerate(ctx.program.slots):
        ctype = slot.dtype.cuda_type
        if slot.kind == "index":
            scalars.append(f"const Region r{number}(table->s{number});")
        elif slot.kind == "vector":
            shared.append(f"__shared__ Vector<{ctype}> v{number};")
            starts.append(f"v{number}.load(table->s{number});")
            # Inputs too: a list may have been built for them.
            stores.append(f"v{number}.store(table->s{number});")
        elif slot.kind == "scalar":
            scalars.append(f"Scalar<{ctype}> x{number}(table->s{number});")
            if number not in ctx.constants:
                stores.append(f"x{number}.store(table->s{number});")
    for number, orientation in sorted(ctx.orientations):
        name, struct = f"m{number}_{orientation}", f"Compressed<{ctx.ctype(number)}>"
        shared.append(f"__shared__ {struct} {name};")
        slot_name = f"table->s{number}"
        lines = f"{slot_name}.{'nrows' if orientation == 'csr' else 'ncols'}"
        place = f"{slot_name}.{orientation}, {slot_name}.value_stride, {lines}"
        starts.append(f"{name} = {struct}({place});")
    text = "\n".join(ctx.lines)
    for name, (declaration, start) in ctx.shared.items():
        named = re.compile(rf"\b{name}\b")
        if declaration.startswith("__shared__ Plane<") and not named.search(text):
            # The phase that reserved it was written together with another.
            continue
        shared.append(declaration)
        starts += [start] if start else []
    return shared, starts, stores, scalars
