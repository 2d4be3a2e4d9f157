"""Executing a prepared Program: bind, check, allocate, one launch."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.backends.cuda.layout import PROGRESS_WORDS, TURNS
from semira.backends.cuda.lower import Lowered
from semira.backends.cuda.lower.context import Workspace
from semira.backends.cuda.lower.solo import ALONE_ENTRIES, ALONE_POSITIONS, FEW_THREADS, FEW_WORK
from semira.backends.cuda.runtime.companion_kinds import SLICES
from semira.backends.cuda.runtime.device import Runtime
from semira.backends.cuda.runtime.executable import (
    COMPLETED,
    REPORTS,
    RESULT_WORDS,
    ROW_WORDS,
    ROWS,
    CudaExecutable,
    reset_result,
)
from semira.backends.cuda.runtime.frame import Frame
from semira.backends.cuda.runtime.kernel import Kernel
from semira.backends.cuda.runtime.kernel_choice import choose_kernel
from semira.backends.cuda.runtime.made import describe_made, need_made, positions_walked
from semira.backends.cuda.runtime.objects import CudaMatrix, CudaVector, check_alive
from semira.backends.cuda.runtime.outcome import EMPTY, DeviceTrace, has_broken, read_outcome
from semira.backends.cuda.runtime.regions import BoundRegion, bind_regions, check_regions
from semira.backends.cuda.runtime.savepoint import Savepoint
from semira.backends.cuda.runtime.scalars import CudaScalar, Literal
from semira.backends.cuda.runtime.shapes import check_shapes
from semira.backends.cuda.runtime.shares import MOST_SLICES, gathers_many
from semira.backends.cuda.runtime.transfer import put_vector
from semira.backends.cuda.runtime.vector_memory import empty_plane
from semira.backends.cuda.runtime.waiting import Interrupt, Stop, wait
from semira.base.errors import EmptyObject, GraphblasException, NotImplementedException
from semira.contract import LoopReport, Program, Statement, walk_statements
from semira.contract.backend import Binding, Outcome
from semira.formats import VectorArrays

_NOTHING = Outcome()

#: The report of a loop whose only iteration is not waited for.
_ONCE = (LoopReport(1, "limit"),)

#: The longest row that push never puts into its queue (kernels/vxm/push.cuh).
CHUNK_EDGES = 256

#: Partial sums of a reduction in a fixed order (kernels/reduce/reduce.cuh).
ORDERED_BLOCKS = 128

#: Matrix entries that are worth a thread; small graphs get few blocks.
ENTRIES_PER_THREAD = 8


def execute(
    runtime: Runtime, executable: CudaExecutable, bindings: list[Binding], blocks: int | None
) -> Outcome:
    """Run an executable: everything is checked and allocated before the one launch.

    With the same objects as last time nothing is checked, allocated or written again.
    """
    frame = executable.frame
    if not frame.holds(bindings, blocks):
        _prepare(runtime, executable, bindings, blocks)
    if executable.lowered.has_loop and (frame.waits or not _runs_once(executable, bindings)):
        with Interrupt() as interrupt:
            return _run(runtime, executable, bindings, Stop(runtime, executable, interrupt))
    return _run(runtime, executable, bindings, None)


def _runs_once(executable: CudaExecutable, bindings: list[Binding]) -> bool:
    """Return whether the program is a loop that ends after its first iteration, whatever it does.

    Then its end is known beforehand, and Ctrl-C could not end it earlier.
    """
    slot = executable.once
    if slot is None:
        return False
    limit = bindings[slot]
    return isinstance(limit, (int, np.integer)) and limit == 1


def _prepare(
    runtime: Runtime, executable: CudaExecutable, bindings: list[Binding], blocks: int | None
) -> None:
    """Check what is bound, allocate what is needed, and fill the table."""
    frame, lowered = executable.frame, executable.lowered
    frame.forget()
    things = _bind(runtime, executable, bindings)
    lengths = check_regions(executable.program, things) if executable.has_regions else {}
    sizes = tuple([_sizes(thing) for thing in things])
    if sizes not in executable.checked:
        check_shapes(executable.program, things)
        executable.checked[sizes] = None
    frame.waits = lowered.may_fail or _may_miss_value(executable, things)
    wide = _need_matrices(lowered, things)
    for slot in lowered.swapped:
        things[slot].add_spare()
    frame.kernel, frame.shared, is_open = choose_kernel(
        runtime, executable, things, "long long" if wide else "int"
    )
    frame.blocks, frame.threads = _grid_size(runtime, frame.kernel, things, lowered, blocks)
    _reserve(runtime, executable, things, frame.blocks)
    frame.known = values_known(executable.program, things)
    frame.fill(bindings, things, lengths, blocks)
    for made in lowered.made:
        frame.enter(lowered.table.offsets[f"s{made.label}"], describe_made(things[made.slot], made))
    if is_open:
        frame.expire()


def _need_matrices(lowered: Lowered, things: list[Any]) -> bool:
    """Make resident what is walked of each matrix; return whether offsets have 64 bits."""
    for made in lowered.made:
        need_made(things[made.slot], made)
    wide = any(isinstance(t, CudaMatrix) and t.offset_type == np.int64 for t in things)
    for slot, orientation in lowered.orientations:
        things[slot].need(orientation)
    if wide:
        walked = {slot for slot, _ in lowered.orientations}
        for slot in walked | {made.slot for made in lowered.made}:
            things[slot].widen()
    for slot, orientation in lowered.sliced:
        things[slot].need_slices(orientation)
    return wide


def _run(
    runtime: Runtime, executable: CudaExecutable, bindings: list[Binding], stop: Stop | None
) -> Outcome:
    """Launch what the frame holds; wait if the program says so."""
    frame, has_loop = executable.frame, executable.lowered.has_loop
    waits = frame.waits or stop is not None
    result = executable.take_result(runtime, waits)
    alive = _set_savepoint(runtime, executable, bindings)
    _launch(runtime, executable, frame)
    trace = DeviceTrace(runtime, executable, result) if executable.lowered.products else None
    if not waits:
        _learn(frame, bindings)
        if has_loop:
            return Outcome(_ONCE, () if trace is None else trace)
        return _NOTHING if trace is None else Outcome((), trace)
    try:
        wait(runtime, stop)
        # With the report of one loop: most programs have one.
        words = result[: RESULT_WORDS + 2].tolist()
        if stop is not None:
            stop.interrupt.completed = words[COMPLETED]
        try:
            outcome = read_outcome(words, result, trace)
        except GraphblasException:
            executable.empty_planes(runtime)
            if stop is not None and executable.savepoint is not None:
                _undo(runtime, executable, result, stop.interrupt)
            raise
    except BaseException:
        _learn(frame, bindings, fails=True)
        raise
    finally:
        if alive is not None and executable.savepoint is not None:
            executable.savepoint.drop()
    _learn(frame, bindings)
    return outcome


def _set_savepoint(
    runtime: Runtime, executable: CudaExecutable, bindings: list[Binding]
) -> list[Any] | None:
    """Copy what an error may change; return what a second launch needs besides, None without."""
    kept = executable.lowered.kept
    if not (kept and executable.keeps):
        return None
    if executable.savepoint is None:
        executable.savepoint = Savepoint(runtime)
    executable.savepoint.set([bindings[slot] for slot in kept])
    return executable.frame.alive


def _undo(
    runtime: Runtime, executable: CudaExecutable, result: NDArray[np.int64], interrupt: Interrupt
) -> None:
    """Take a broken iteration back: to the start, and from there the complete ones again.

    Where results differ from run to run, the second one may break earlier. Then it was one
    iteration less at the least, so this comes to an end.
    """
    table, words, savepoint = executable.lowered.table, executable.frame.words, executable.savepoint
    assert savepoint is not None
    while has_broken(result):
        done = int(result[COMPLETED])
        savepoint.restore()
        reset_result(result)
        interrupt.completed = 0
        if done == 0:
            break
        # Ctrl-C has been heard; pressed again, it ends this run at an earlier iteration.
        interrupt.seen = False
        _reserve_state(runtime, executable)
        words[table.offsets["redo"]] = done
        try:
            _launch(runtime, executable, executable.frame)
        finally:
            words[table.offsets["redo"]] = 0
        wait(runtime, Stop(runtime, executable, interrupt))
        interrupt.completed = int(result[COMPLETED])
        if has_broken(result):
            executable.empty_planes(runtime)


def _learn(frame: Frame, bindings: list[Binding], *, fails: bool = False) -> None:
    """Note which of the scalars that were written have a value for sure."""
    for slot, is_sure in frame.known:
        scalar: Any = bindings[slot]
        scalar.know(is_sure and not fails)


# binding -----------------------------------------------------------------------------------------
def bind(runtime: Runtime, program: Program, bindings: list[Binding]) -> list[Any]:
    """Return the objects, literals and regions of the slots; temporaries stay None."""
    things: list[Any] = []
    for slot, given in zip(program.slots, bindings, strict=True):
        if isinstance(given, (CudaVector, CudaMatrix, CudaScalar)):
            check_alive(given)
            things.append(given)
        elif slot.kind == "scalar":
            things.append(Literal.bound(runtime, slot.dtype, given))
        else:
            things.append(given)
    bind_regions(runtime, program, things)
    return things


def _bind(runtime: Runtime, executable: CudaExecutable, bindings: list[Binding]) -> list[Any]:
    things = bind(runtime, executable.program, bindings)
    bound = [id(thing) for thing in things if thing is not None]
    if len(set(bound)) < len(bound) and any(
        bound.count(id(things[slot])) > 1 for slot in executable.lowered.written
    ):
        raise NotImplementedException(
            "one object is bound to two slots of a program that writes it; the cuda backend needs "
            "one slot per object"
        )
    for number, slot in enumerate(executable.program.slots):
        if slot.kind == "vector" and things[number] is None:
            things[number] = _temporary(runtime, executable, things, number)
    return things


def _temporary(
    runtime: Runtime, executable: CudaExecutable, things: list[Any], number: int
) -> CudaVector:
    slot = executable.program.slots[number]
    size = resolve_side(executable.program, things, number)
    made = executable.temporaries.get(number)
    if made is None or made.size != size:
        made = put_vector(runtime, VectorArrays.empty(size, slot.dtype))
        executable.temporaries[number] = made
    return made


def resolve_side(program: Program, things: list[Any], number: int, axis: int = 0) -> int:
    """Return one dimension of a temporary: a number, or an axis of what is bound elsewhere."""
    shape = program.slots[number].shape
    assert shape is not None, "a temporary without a shape"
    part = shape[axis]
    if isinstance(part, int):
        return part
    source, along = part
    thing = things[source]
    if thing is None:
        return resolve_side(program, things, source, along)
    if isinstance(thing, BoundRegion):
        return thing.count
    if isinstance(thing, CudaMatrix):
        return thing.shape[along]
    if program.slots[source].kind == "index":
        return len(range(*thing)) if isinstance(thing, tuple) else len(thing)
    return int(thing.size)


def _sizes(thing: Any) -> tuple[int, ...]:
    if isinstance(thing, (CudaVector, CudaMatrix)):
        return thing.shape
    return (thing.count,) if isinstance(thing, BoundRegion) else ()


# memory ------------------------------------------------------------------------------------------
def _grid_size(
    runtime: Runtime, kernel: Kernel, things: list[Any], lowered: Lowered, blocks: int | None
) -> tuple[int, int]:
    """Return the blocks, all that fit at once, and their threads; fewer for little to do."""
    most = kernel.fitting * runtime.multiprocessors
    if blocks is not None:
        return max(1, min(blocks, most)), kernel.threads
    positions = sum(positions_walked(things[made.slot], made) for made in lowered.made)
    is_small = positions <= ALONE_ENTRIES and all(map(_is_small, things))
    if is_small and not lowered.has_many_parts:
        return 1, _threads(kernel, lowered, 0)
    work = positions // ENTRIES_PER_THREAD
    for thing in things:
        if isinstance(thing, CudaVector):
            work += thing.size
        elif isinstance(thing, CudaMatrix):
            work += thing.most // ENTRIES_PER_THREAD
    threads = _threads(kernel, lowered, work)
    return max(1, min(most, -(-work // threads))), threads


def _threads(kernel: Kernel, lowered: Lowered, work: int) -> int:
    """Return the threads of a block: few where the first one will do most of the work alone.

    Sums in a fixed order are those of so many threads.
    """
    is_slight = lowered.goes_alone and not lowered.has_many_parts and work <= FEW_WORK
    return min(FEW_THREADS, kernel.threads) if is_slight else kernel.threads


def _is_small(thing: Any) -> bool:
    """Return whether one block walks a thing about as fast as many; the table holds the rest."""
    if isinstance(thing, CudaVector):
        return thing.size <= ALONE_POSITIONS
    if isinstance(thing, CudaMatrix):
        lines = max(thing.nrows, thing.ncols)
        return lines <= ALONE_POSITIONS and thing.most <= ALONE_ENTRIES
    return not isinstance(thing, BoundRegion) or thing.count <= ALONE_POSITIONS


def _reserve(runtime: Runtime, executable: CudaExecutable, things: list[Any], grid: int) -> None:
    """Make the memory the program works in, and enter it in the table."""
    frame, table = executable.frame, executable.lowered.table
    for spec in executable.lowered.workspaces:
        need = _capacity(spec, things, grid)
        have = executable.memory.get(spec.name)
        if have is None or have[0] < need:
            made = _make(runtime, spec, need)
            executable.memory[spec.name] = (need, made)
            frame.enter(table.offsets[spec.name], [int(buffer.handle) for buffer in made])
    if executable.rows is None:
        executable.rows = runtime.allocate(8 * ROW_WORDS * executable.row_capacity)
        frame.words[table.offsets["control"] + ROWS] = int(executable.rows.handle)
        frame.words[table.offsets["control"] + ROWS + 2] = executable.row_capacity
        frame.words[table.offsets["control"] + ROWS + 3] = REPORTS
    _reserve_state(runtime, executable)
    if not table.is_parameter and executable.table is None:
        executable.table = runtime.allocate(8 * table.size)
        frame.point_to(int(executable.table.handle))


def _reserve_state(runtime: Runtime, executable: CudaExecutable) -> None:
    """Make the memory that a launch writes for itself, unless it is there."""
    if executable.state is not None:
        return
    frame, table = executable.frame, executable.lowered.table
    state = runtime.zeroed(8 * table.state_size)
    place = int(state.handle)
    frame.enter(table.offsets["control"], [place, table.state_size - PROGRESS_WORDS])
    for name, word in table.counters.items():
        frame.words[table.offsets[name]] = place + 8 * word
    executable.state = state


def _capacity(spec: Workspace, things: list[Any], grid: int) -> int:
    if spec.kind == "plane":
        return int(things[spec.slot].size)
    if spec.kind == "queue":
        # Rows longer than a chunk: fewer than two chunks per CHUNK_EDGES entries.
        return int(2 * things[spec.slot].most // CHUNK_EDGES + 1)
    if spec.kind == "carries":
        return MOST_SLICES
    if spec.kind == "handed":
        matrix: CudaMatrix = things[spec.slot]
        # A larger one has a kernel that hands nothing over.
        is_large = gathers_many(matrix.nrows, matrix.most)
        return 0 if is_large else max(each.count for each in matrix.companions.of(SLICES).values())
    return TURNS * max(grid, ORDERED_BLOCKS)


def _make(runtime: Runtime, spec: Workspace, need: int) -> tuple[Any, ...]:
    if spec.kind == "queue":
        return runtime.allocate(4 * need), runtime.allocate(8 * need)
    assert spec.dtype is not None
    if spec.kind == "partials":
        return runtime.allocate(spec.dtype.itemsize * need), runtime.allocate(need)
    if spec.kind == "carries":
        return tuple(runtime.allocate(need * size) for size in (4, 1, spec.dtype.itemsize))
    if spec.kind == "handed":
        # A word for each four bytes, and each of the 32 rows of a word of presence.
        return (runtime.zeroed(32 * 8 * -(-spec.dtype.itemsize // 4) * max(need, 1)),)
    plane = empty_plane(runtime, need, spec.dtype)
    runtime.upload(np.full(need, spec.identity, spec.dtype.array_dtype), plane[0])
    return plane


# running -----------------------------------------------------------------------------------------
def _launch(runtime: Runtime, executable: CudaExecutable, frame: Frame) -> None:
    if executable.table is not None:
        runtime.upload(np.frombuffer(frame.words, np.int64), executable.table)
        runtime.statistics.uploads += 1
    kernel, shared = frame.kernel, frame.shared
    started = None if runtime.profile is None else runtime.mark()
    runtime.launch(kernel, frame.blocks, frame.threads, frame.parameters, shared)
    if started is not None:
        facts = (kernel.loaded, executable, frame.blocks, frame.threads, shared)
        runtime.note_launch(started, kernel.name, *facts)


def _may_miss_value(executable: CudaExecutable, things: list[Any]) -> bool:
    """Return whether only the device knows if scalars have a value; raise where one has none."""
    given = executable.program.slots
    for slot in executable.lowered.valued:
        thing = things[slot]
        if isinstance(thing, Literal) and given[slot].role == "input" and not thing.has:
            raise EmptyObject(EMPTY)
    has_many = len(executable.program.body) > 1 or executable.lowered.has_loop
    if has_many and executable.lowered.valued & executable.lowered.written:
        # An earlier statement may leave it empty.
        return True
    needed = [things[slot] for slot in executable.lowered.valued]
    return any(isinstance(thing, CudaScalar) and not thing.has_value for thing in needed)


#: Operations whose scalar has a value if all their scalar operands have one.
_PASSING = ("apply", "assign", "copy", "ewise_add", "ewise_mult", "ewise_union")


def values_known(program: Program, things: list[Any]) -> tuple[tuple[int, bool], ...]:
    """Return the scalar slots a program writes, and whether they have a value for sure then.

    So an eager statement that needs the value of a scalar computed before does not wait.
    """
    known: dict[int, bool] = {}
    for item in program.body:
        for statement in walk_statements((item,)):
            if isinstance(things[statement.out], CudaScalar):
                # A loop may end inside its body, at any statement.
                sure = isinstance(item, Statement) and _gives_value(statement, things, known)
                known[statement.out] = sure
    return tuple(known.items())


def _gives_value(statement: Statement, things: list[Any], known: dict[int, bool]) -> bool:
    if statement.op == "nvals" or (statement.op == "reduce" and statement.param("identity")):
        return True
    return statement.op in _PASSING and all(
        known[arg.slot] if arg.slot in known else _has_value(things[arg.slot])
        for arg in statement.args
    )


def _has_value(thing: Any) -> bool:
    """Return whether the host knows that a thing is a scalar with a value."""
    if isinstance(thing, Literal):
        return thing.has
    return isinstance(thing, CudaScalar) and thing.has_value
