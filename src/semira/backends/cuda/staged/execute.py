"""Executing a staged statement: the result of the operation first, then the output."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from semira.backends.cuda.runtime.blocks import Block
from semira.backends.cuda.runtime.device import Runtime
from semira.backends.cuda.runtime.launch import bind
from semira.backends.cuda.runtime.objects import CudaMatrix
from semira.backends.cuda.runtime.parts import MadeRows
from semira.backends.cuda.runtime.primitives import offset_type_of, primitives_of
from semira.backends.cuda.runtime.regions import check_regions
from semira.backends.cuda.runtime.shapes import check_shapes
from semira.backends.cuda.staged import products, regions
from semira.backends.cuda.staged.executable import StagedExecutable
from semira.backends.cuda.staged.job import Job
from semira.backends.cuda.staged.pieces import Pieces, Stage
from semira.backends.cuda.staged.text import result_dtype
from semira.backends.renumbering.positions import looks_at_positions
from semira.base.dtypes import BOOL
from semira.base.errors import IndexOutOfBound
from semira.contract import Statement
from semira.contract.backend import Binding, Outcome

#: Threads for each row whose largest entries are kept.
_WARP = 32


def execute_staged(
    runtime: Runtime, executable: StagedExecutable, bindings: list[Binding]
) -> Outcome:
    """Run a statement that writes a matrix, or the sum of one that nobody else sees.

    It waits where the size of the result has no small bound: for products without a mask, regions,
    second orientations, and large results. The output is replaced at the end: before that,
    nothing of it has changed.
    """
    if executable.total is not None:
        return _execute_sum(runtime, executable, executable.total, bindings)
    things = bind(runtime, executable.program, bindings)
    matrices = [thing for thing in things if isinstance(thing, CudaMatrix)]
    job = _open(runtime, executable, things)
    statement = job.statement
    result = _OPERATIONS[statement.op](job)
    if isinstance(result, Block):
        if job.writes_all and result_dtype(executable.program, statement) is job.out.dtype:
            job.out.take_block(result)
            return Outcome((), job.trace)
        result = job.spelled(result)
    made = job.finish(result)
    base = max(matrix.known_entries() for matrix in matrices)
    job.out.take(
        MadeRows(
            (made.indptr, made.indices, made.values), made.rows, made.most, made.is_exact, base,
            made.iso, job.stage.offset_type != "int",
        )
    )  # fmt: skip
    return Outcome((), job.trace)


def _execute_sum(
    runtime: Runtime, executable: StagedExecutable, total: Statement, bindings: list[Binding]
) -> Outcome:
    """Run a masked product of which only the sum is written; nothing is waited for.

    What is kept for the next time (`replay`, `table`, `sums`, `tallies`) needs no lock of its own:
    every call of the backend holds the backend's. Only a `Tally` is given back by whichever thread
    forgets its row, by one append to a list.
    """
    # None meanwhile: what raises leaves nothing behind that was half changed.
    replay, executable.replay = executable.replay, None
    if replay is not None and replay.holds(bindings):
        outcome: Outcome = replay.again(bindings)
        executable.replay = replay
        return outcome
    program, product = executable.program, executable.statement
    things = bind(runtime, program, bindings)
    assert product.mask is not None
    mask = things[product.mask.slot]
    # Never made: a shape that the operands are checked against.
    things[product.out] = CudaMatrix(
        runtime, mask.nrows, mask.ncols, 0, program.slots[product.out].dtype, False, None, None,
        np.dtype(np.int32),
    )  # fmt: skip
    job = _open(runtime, executable, things)
    products.mxm_sum(job, total, things[total.out])
    return Outcome((), job.trace)


def _open(runtime: Runtime, executable: StagedExecutable, things: list[Any]) -> Job:
    program = executable.program
    check_shapes(program, things)
    check_regions(program, things)
    matrices = [thing for thing in things if isinstance(thing, CudaMatrix)]
    wide = any(matrix.is_wide for matrix in matrices)
    kind = "long long" if wide else offset_type_of(sum(matrix.most for matrix in matrices))
    primitives = primitives_of(runtime)
    primitives.scratch.begin()
    stage = Stage(runtime, primitives, executable, kind)
    return Job(stage, executable.statement, things)


# operations --------------------------------------------------------------------------------------
def _ewise(job: Job) -> Pieces:
    a, b = job.operand(0, "a"), job.operand(1, "b")
    if a.indptr is b.indptr and a.indices is b.indices and job.statement.op == "ewise_mult":
        # One was made of the other's values: nobody has to be looked for.
        values = job.stage.runtime.allocate(job.dtype.itemsize * a.most)
        job.stage.launch("t_pairs", a.most, a.most, values)
        return replace(a, dtype=job.dtype, values=values, iso=False)
    if job.statement.op == "ewise_mult":
        return job.stage.merged("t", a, None, job.dtype)
    if job.statement.op == "ewise_union":
        job.scalar(2, "x")
        job.scalar(3, "y")
    return job.stage.merged("t", a, b, job.dtype)


def _apply(job: Job) -> Pieces:
    statement = job.statement
    left = (
        len(statement.args) > 1
        and job.stage.executable.program.slots[statement.args[0].slot].kind == "scalar"
    )
    a = job.operand(1 if left else 0, "a")
    if len(statement.args) > 1:
        job.scalar(0 if left else 1, "x")
    iso = a.iso and a.most > 0 and not looks_at_positions(statement.operator)
    count = 1 if iso else a.most
    values = job.stage.runtime.allocate(job.dtype.itemsize * max(1, count))
    job.stage.launch("t_map", count, count, values)
    return replace(a, dtype=job.dtype, values=values, iso=iso)


def _select(job: Job) -> Pieces:
    a = job.operand(0, "a")
    if job.statement.op == "select":
        job.scalar(1, "x")
    return job.stage.merged("t", a, None, a.dtype, shared=a.values if a.iso else None)


def _cut_rows(job: Job) -> Pieces:
    """Return the first entries of each row, or the largest; nothing is waited for.

    For the first ones, rows are looked at, not all of their entries.
    """
    a, stage = job.operand(0, "a", with_rows=False), job.stage
    nrows, k = a.shape[0], int(job.statement.param("k"))
    runtime, primitives, kind = stage.runtime, stage.primitives, stage.offset_type
    most = min(k * nrows, a.most)
    indptr = stage.offsets(nrows + 1)
    launch = primitives.module.launch
    launch(kind, "semira_first_counts", nrows, a.indptr, nrows, k, indptr)
    stage.scan(indptr, nrows)
    # Behind the last entry, whose number only the device knows, any place may be read.
    places, rows = stage.scratch.zeros(8 * max(1, most)), runtime.allocate(4 * max(1, most))
    if job.statement.param("largest") and not a.iso:
        values = a.values, a.dtype.itemsize, "BUIF".index(a.dtype.kind)
        given = a.indptr, *values, nrows, indptr, places, rows
        launch(kind, "semira_largest_places", _WARP * nrows, *given)
    else:
        launch(kind, "semira_first_places", nrows, a.indptr, nrows, indptr, places, rows)
    indices = primitives.reorder(a.indices, places, most, 4)
    values = a.values if a.iso else primitives.reorder(a.values, places, most, a.dtype.itemsize)
    return Pieces(a.shape, most, a.dtype, indptr, indices, rows, values, a.iso, is_exact=False)


def _copy(job: Job) -> Pieces:
    return job.operand(0, "a")


def _diag(job: Job) -> Pieces:
    """Vector to diagonal: entry i goes to (i + down, i + right), or to the column that it names."""
    stage, k = job.stage, int(job.statement.param("k", 0))
    vector = job.things[job.statement.args[0].slot]
    nvals, plane = vector.read_state()
    positions, wide = stage.primitives.positions(plane[1], vector.size, nvals)
    if job.statement.param("by_value"):
        return _by_value(job, nvals, positions, wide)
    shifted = []
    for by in (max(-k, 0), max(k, 0)):
        target = stage.runtime.allocate(4 * nvals)
        stage.primitives.module.launch("int", "semira_shift", nvals, positions, nvals, by, target)
        shifted.append(target)
    rows, indices = shifted
    values = stage.primitives.reorder(plane[0], wide, nvals, vector.dtype.itemsize)
    indptr = stage.primitives.row_offsets(stage.offset_type, rows, nvals, job.shape[0])
    return Pieces(job.shape, nvals, vector.dtype, indptr, indices, rows, values)


def _by_value(job: Job, nvals: int, positions: Any, wide: Any) -> Pieces:
    """Return the matrix with an entry in each row, at the column that is the vector's value."""
    stage, vector = job.stage, job.things[job.statement.args[0].slot]
    runtime, size = stage.runtime, vector.dtype.itemsize
    values = stage.primitives.reorder(vector.read_state()[1][0], wide, nvals, size)
    indices, beyond = runtime.allocate(4 * max(1, nvals)), stage.scratch.zeros(8)
    stage.primitives.module.launch(
        "int", "semira_value_positions", nvals, values, size, nvals, job.shape[1], indices, beyond
    )
    place = int.from_bytes(runtime.read_short(beyond, 8), "little")
    if place:
        raise IndexOutOfBound(
            f"one_hot value of entry {place - 1} is outside [0, {job.shape[1]}); "
            "nothing was written"
        )
    rows = runtime.allocate(4 * max(1, nvals))
    stage.primitives.module.launch("int", "semira_shift", nvals, positions, nvals, 0, rows)
    indptr = stage.primitives.row_offsets(stage.offset_type, rows, nvals, job.shape[0])
    true = runtime.upload(np.ones(1, np.bool_))
    return Pieces(job.shape, nvals, BOOL, indptr, indices, rows, true, iso=True)


_OPERATIONS: dict[str, Callable[[Job], Pieces | Block]] = {
    "ewise_add": _ewise, "ewise_mult": _ewise, "ewise_union": _ewise, "apply": _apply,
    "select": _select, "select_k": _cut_rows, "copy": _copy, "diag": _diag,
    "extract": regions.extract, "assign": regions.assign, "mxm": products.mxm,
}  # fmt: skip
