"""Executing a prepared Program: bind, check, allocate, one upload, one launch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.backends.cuda.layout import TURNS, WORDS
from semira.backends.cuda.lower.context import Workspace
from semira.backends.cuda.runtime.device import Runtime
from semira.backends.cuda.runtime.errors import reported
from semira.backends.cuda.runtime.executable import (
    REPORTS,
    RESULT_WORDS,
    ROW_WORDS,
    CudaExecutable,
    load_kernel,
)
from semira.backends.cuda.runtime.objects import (
    CudaMatrix,
    CudaObject,
    CudaScalar,
    CudaVector,
    Literal,
    check_alive,
    empty_plane,
    put_vector,
    scalar_words,
)
from semira.backends.cuda.runtime.outcome import EMPTY, DeviceTrace, read_outcome
from semira.backends.cuda.runtime.regions import BoundRegion, bind_regions, check_regions
from semira.backends.cuda.runtime.shapes import check_shapes
from semira.backends.cuda.runtime.waiting import Stop, held_interrupt, wait
from semira.base.errors import EmptyObject, NotImplementedException
from semira.contract import Program, Statement, TraceRow, walk_statements
from semira.contract.backend import Binding, Outcome
from semira.formats import VectorArrays

#: The longest row that push expands without its queue (kernels/vxm/push.cuh).
CHUNK_EDGES = 256

#: Matrix entries that are worth a thread; small graphs get few blocks.
ENTRIES_PER_THREAD = 8


def execute(
    runtime: Runtime, executable: CudaExecutable, bindings: list[Binding], blocks: int | None
) -> Outcome:
    """Run an executable: everything is checked and allocated before the one launch."""
    things = _bind(runtime, executable, bindings)
    check_regions(executable.program, things)
    sizes = tuple(_sizes(thing) for thing in things)
    if sizes not in executable.checked:
        check_shapes(executable.program, things)
        executable.checked.add(sizes)
    lowered = executable.lowered
    waits = lowered.has_loop or lowered.may_fail or _may_miss_value(executable, things)
    wide = any(isinstance(t, CudaMatrix) and t.offset_type == np.int64 for t in things)
    for slot, orientation in executable.lowered.orientations:
        things[slot].need(orientation)
        if wide:
            things[slot].widen()
    kernel = load_kernel(runtime, executable, "long long" if wide else "int")
    for slot in executable.lowered.swapped:
        things[slot].add_spare()
    grid = _grid_size(runtime, kernel, things, executable.lowered.shape.threads, blocks)
    _reserve(runtime, executable, things, grid)
    result = executable.take_result(runtime)
    words = _fill_table(executable, things, result)
    known = values_known(executable.program, things)
    for slot in known:
        things[slot].has_value = False
    runtime.upload(words, executable.table)
    runtime.statistics.uploads += 1
    with held_interrupt(executable.lowered.has_loop) as interrupt:
        _launch(runtime, executable, kernel, grid)
        event = runtime.record()
        trace = DeviceTrace(runtime, executable, result, event)
        if waits:
            wait(runtime, event, Stop(runtime, executable, interrupt))
    outcome = read_outcome(result, trace) if waits else Outcome((), _shown(executable, trace))
    for slot, is_sure in known.items():
        things[slot].has_value = is_sure
    return outcome


def _shown(executable: CudaExecutable, trace: DeviceTrace) -> Sequence[TraceRow]:
    """Return the trace of a statement nobody waited for: nothing, if no product was in it."""
    return trace if executable.lowered.products else ()


# binding -----------------------------------------------------------------------------------------
def bind(runtime: Runtime, program: Program, bindings: list[Binding]) -> list[Any]:
    """Return the objects, literals and regions of the slots; temporaries stay None."""
    things: list[Any] = []
    for slot, given in zip(program.slots, bindings, strict=True):
        if isinstance(given, (CudaVector, CudaMatrix, CudaScalar)):
            check_alive(given)
            things.append(given)
        elif slot.kind == "scalar":
            value = None if given is None else slot.dtype.np_type.type(given)
            things.append(Literal(scalar_words(slot.dtype, value)))
        else:
            things.append(given)
    bind_regions(runtime, program, things)
    return things


def _bind(runtime: Runtime, executable: CudaExecutable, bindings: list[Binding]) -> list[Any]:
    things = bind(runtime, executable.program, bindings)
    bound = [id(thing) for thing in things if thing is not None]
    if any(bound.count(id(things[slot])) > 1 for slot in executable.lowered.written):
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
    size = _resolve_size(executable.program, things, number)
    made = executable.temporaries.get(number)
    if made is None or made.size != size:
        made = put_vector(runtime, VectorArrays.empty(size, slot.dtype))
        executable.temporaries[number] = made
    return made


def _resolve_size(program: Program, things: list[Any], number: int) -> int:
    shape = program.slots[number].shape
    assert shape is not None, "a temporary vector without a shape"
    if isinstance(shape[0], int):
        return shape[0]
    source, axis = shape[0]
    thing = things[source]
    if isinstance(thing, BoundRegion):
        return thing.count
    if thing is None:
        return _resolve_size(program, things, source)
    if isinstance(thing, CudaMatrix):
        return (thing.nrows, thing.ncols)[axis]
    return int(thing.size)


def _sizes(thing: Any) -> tuple[int, ...]:
    if isinstance(thing, CudaVector):
        return (thing.size,)
    if isinstance(thing, CudaMatrix):
        return (thing.nrows, thing.ncols)
    return (thing.count,) if isinstance(thing, BoundRegion) else ()


# memory ------------------------------------------------------------------------------------------
def _grid_size(
    runtime: Runtime, kernel: Any, things: list[CudaObject], threads: int, blocks: int | None
) -> int:
    """Return the number of blocks: all that fit at once, fewer where there is little to do."""
    fitting = kernel.occupancy.max_active_blocks_per_multiprocessor(threads, 0)
    most = int(fitting) * runtime.multiprocessors
    if blocks is not None:
        return max(1, min(blocks, most))
    work = sum(
        thing.size if isinstance(thing, CudaVector) else thing.nvals // ENTRIES_PER_THREAD
        for thing in things
        if isinstance(thing, (CudaVector, CudaMatrix))
    )
    return max(1, min(most, -(-work // threads)))


def _reserve(runtime: Runtime, executable: CudaExecutable, things: list[Any], grid: int) -> None:
    for spec in executable.lowered.workspaces:
        need = _capacity(spec, things, grid)
        have = executable.memory.get(spec.name)
        if have is None or have[0] < need:
            executable.memory[spec.name] = (need, _make(runtime, spec, need))
    if executable.table is None:
        # The table last: it says that both are there.
        executable.rows = runtime.allocate(8 * ROW_WORDS * executable.row_capacity)
        executable.table = runtime.allocate(8 * executable.lowered.table.size)


def _capacity(spec: Workspace, things: list[Any], grid: int) -> int:
    if spec.kind == "plane":
        return int(things[spec.slot].size)
    if spec.kind == "queue":
        # Rows longer than a chunk: fewer than two chunks per CHUNK_EDGES entries.
        return int(2 * things[spec.slot].nvals // CHUNK_EDGES + 1)
    return TURNS * grid


def _make(runtime: Runtime, spec: Workspace, need: int) -> tuple[Any, ...]:
    if spec.kind == "queue":
        return runtime.allocate(4 * need), runtime.allocate(8 * need)
    assert spec.dtype is not None
    if spec.kind == "partials":
        return runtime.allocate(spec.dtype.itemsize * need), runtime.allocate(need)
    plane = empty_plane(runtime, need, spec.dtype)
    runtime.upload(np.full(need, spec.identity, spec.dtype.np_type), plane[0])
    return plane


def _fill_table(
    executable: CudaExecutable, things: list[Any], result: NDArray[np.int64]
) -> NDArray[np.int64]:
    table = executable.lowered.table
    words = np.zeros(table.size, np.int64)
    control, place = table.offsets["control"], result.ctypes.data
    words[control + 5 : control + WORDS["Control"]] = [
        place,
        int(executable.rows.handle),
        place + 8 * (RESULT_WORDS + 2 * REPORTS),
        executable.row_capacity,
        REPORTS,
    ]
    for number, thing in enumerate(things):
        start = table.offsets.get(f"s{number}")
        if start is not None:
            described = thing.describe()
            words[start : start + len(described)] = described
    for name, (_, buffers) in executable.memory.items():
        start = table.offsets[name]
        words[start : start + len(buffers)] = [int(buffer.handle) for buffer in buffers]
    return words


# running -----------------------------------------------------------------------------------------
def _launch(runtime: Runtime, executable: CudaExecutable, kernel: Any, grid: int) -> None:
    from cuda.core import LaunchConfig, launch

    threads = executable.lowered.shape.threads
    config = LaunchConfig(grid=grid, block=threads, is_cooperative=True)
    with reported(f"starting kernel {executable.name} with {grid} blocks of {threads}"):
        started = runtime.mark()
        launch(runtime.stream, config, kernel, int(executable.table.handle))
    runtime.launched = (started, runtime.mark())
    runtime.statistics.launches += 1


def _may_miss_value(executable: CudaExecutable, things: list[Any]) -> bool:
    """Return whether only the device knows if a scalar that must have a value has one.

    Raises
    ------
    EmptyObject
        The host knows already that one is empty.
    """
    needed = [things[slot] for slot in executable.lowered.valued]
    given = executable.program.slots
    for slot in executable.lowered.valued:
        thing = things[slot]
        if isinstance(thing, Literal) and given[slot].role == "input" and not thing.words[1]:
            raise EmptyObject(EMPTY)
    return any(isinstance(thing, CudaScalar) and not thing.has_value for thing in needed)


#: Operations whose scalar has a value if all their scalar operands have one.
_PASSING = ("apply", "assign", "copy", "ewise_add", "ewise_mult", "ewise_union")


def values_known(program: Program, things: list[Any]) -> dict[int, bool]:
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
    return known


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
        return bool(thing.words[1])
    return isinstance(thing, CudaScalar) and thing.has_value
