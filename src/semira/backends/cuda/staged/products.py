"""Products of two matrices: dot products under a mask, row by row, or pulled into a block."""

from __future__ import annotations

from collections.abc import Callable

from semira.backends.cuda.runtime.blocks import Block
from semira.backends.cuda.runtime.objects import CudaMatrix
from semira.backends.cuda.runtime.scalars import CudaScalar
from semira.backends.cuda.staged.blocks import Weighing, pull
from semira.backends.cuda.staged.choice import chosen_method
from semira.backends.cuda.staged.dots import dots, summed_dots
from semira.backends.cuda.staged.full import full_times, is_full, storage_of, times_full
from semira.backends.cuda.staged.job import Job
from semira.backends.cuda.staged.method_parts import own_part
from semira.backends.cuda.staged.pieces import Pieces
from semira.backends.cuda.staged.replay import Replay, row_of_sum
from semira.backends.cuda.staged.rowwise import rowwise
from semira.backends.cuda.staged.text import has_dots
from semira.contract import LateRows, Statement, TraceRow
from semira.formats.full import check_full_operand


def mxm(job: Job) -> Pieces | Block:
    """Return ``A (+).(*) B``; under a plain mask only what the mask lets through."""
    # The rule of a plain mask leaves nothing open; others are weighed below.
    if has_dots(job.statement):
        chosen = chosen_method(job)
        if chosen:
            # The first one is there already.
            job.stage.executable = job.stage.executable.by_method(job.stage.runtime, chosen)
            job.statement = job.stage.executable.statement
    if has_dots(job.statement):
        result, touched = dots(job)
        job.is_masked = True
        _note(job, "dot", touched, lambda: job.stage.count(result))
        return result
    plan = job.statement.plan
    names = ["hash"] if plan is None else [method.name for method in plan.methods]
    is_own = own_part(job.statement, sparse=False) is not None
    if names[0] != "pull" and not is_own and is_full(job, 1):
        result, touched = times_full(job)
        _note(job, "hash", touched, lambda: job.stage.count(result))
        return result
    weighing = Weighing(job)
    if names[0] == "pull" or ("pull" in names and weighing.choose() == "pull"):
        made, touched = pull(weighing)
        _note_block(job, weighing.driver, made, touched)
        return made
    result, touched = _expanded(job, weighing)
    _note(job, "hash", touched, lambda: job.stage.count(result))
    return result


def _expanded(job: Job, weighing: Weighing) -> tuple[Pieces, Callable[[], int]]:
    """Return the product of a right operand that is not full, without pulling."""
    part = own_part(job.statement)
    if part is not None:
        found: tuple[Pieces, Callable[[], int]] = part.multiply(job)
        return found
    hints, storage = job.statement.hints, storage_of(job)
    pins: dict[str, str | None] = {}
    if hints.balance not in (None, "rows"):
        pins["balance"] = hints.balance
    if storage != "compressed":
        pins["matrix_storage"] = hints.matrix_storage
    for pin, value in pins.items():
        right = weighing.matrix
        check_full_operand(pin, str(value), right.nvals, (right.nrows, right.ncols))
    return full_times(job) if is_full(job, 0) else rowwise(job, weighing.measured)


def mxm_sum(job: Job, total: Statement, out: CudaScalar) -> None:
    """Sum up ``A (+).(*) B`` under a plain mask, without a matrix in between."""
    reads = total.accum is not None and not total.param("new")
    words = out.describe() if reads else (int(out.cell.handle), 0, 0)
    tally, lone = summed_dots(job, words, total.operator.type.itemsize)
    job.trace = row_of_sum(job.things, job.statement, tally)
    is_sure = bool(total.param("identity"))
    out.know(is_sure or (reads and out.has_value))
    if lone is not None and not reads:
        job.stage.executable.replay = Replay.of(job, total.out, lone, is_sure)


def _note_block(
    job: Job, driver: CudaMatrix, made: Pieces | Block, touched: Callable[[], int]
) -> None:
    frontier, looked = driver.duplicate(), touched()
    produced = made.nvals if isinstance(made, Block) else 0
    job.trace = LateRows(1, lambda: [TraceRow(0, "mxm", "pull", frontier.nvals, looked, produced)])


def _note(job: Job, method: str, touched: Callable[[], int], made: Callable[[], int]) -> None:
    stage, a = job.stage, job.stage.operands["a"]
    # What only the device knows is read when somebody reads the row.
    row = lambda: TraceRow(0, "mxm", method, stage.count(a), touched(), made())  # noqa: E731
    job.trace = LateRows(1, lambda: [row()])
