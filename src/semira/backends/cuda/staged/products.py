"""Products of two matrices: dot products under a mask, else row by row."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from semira.backends.cuda.runtime.objects import CudaScalar
from semira.backends.cuda.runtime.outcome import LateTrace
from semira.backends.cuda.runtime.primitives import offset_type_of
from semira.backends.cuda.staged.dots import dots, summed_dots
from semira.backends.cuda.staged.pieces import Pieces
from semira.backends.cuda.staged.rowwise import operands, rowwise
from semira.backends.cuda.staged.source import has_dots
from semira.contract import Statement, TraceRow

if TYPE_CHECKING:
    from semira.backends.cuda.staged.run import Job


def mxm(job: Job) -> Pieces:
    """Return ``A (+).(*) B``; under a plain mask only what the mask lets through."""
    by_dots = has_dots(job.statement)
    if by_dots:
        result, touched = dots(job)
        job.is_masked = True
    else:
        left, right = (_is_full(job, which) for which in range(2))
        result, touched = _full(job, right) if left or right else rowwise(job)
    _note(job, "dot" if by_dots else "hash", touched, lambda: job.stage.count(result))
    return result


def mxm_sum(job: Job, total: Statement, out: CudaScalar) -> None:
    """Sum up ``A (+).(*) B`` under a plain mask, without a matrix in between."""
    stage = job.stage
    entries = summed_dots(job, out.describe(), total.operator.type.itemsize)
    mask: Pieces = stage.operands["mask"]

    def made() -> int:
        return int(stage.runtime.download(entries, np.int64, 1)[0])

    _note(job, "dot", lambda: stage.count(mask), made)
    has_value = total.accum is not None and not total.param("new") and out.has_value
    out.know(bool(total.param("identity")) or has_value)


def _note(job: Job, method: str, touched: Callable[[], int], made: Callable[[], int]) -> None:
    stage, a = job.stage, job.stage.operands["a"]
    job.trace = LateTrace(lambda: TraceRow(0, "mxm", method, stage.count(a), touched(), made()))


def _is_full(job: Job, which: int) -> bool:
    matrix = job.things[job.statement.args[which].slot]
    full = matrix.nrows * matrix.ncols
    # Only a bound that leaves it open is worth a wait.
    return 0 < full <= matrix.most and matrix.nvals == full


# full operands -----------------------------------------------------------------------------------
def _full(job: Job, is_right: bool) -> tuple[Pieces, Callable[[], int]]:
    """Walk the lines of the other operand: rows of A where B is full, else columns of B."""
    a, b = operands(job, by_columns=not is_right)
    walked = a if is_right else b
    lines, scan, count = _lines_with_entries(job, walked)
    nrows, ncols = job.shape
    across, nvals = (ncols, count * ncols) if is_right else (count, nrows * count)
    if nvals == 0:
        return job.nothing(job.dtype), lambda: 0
    if job.stage.offset_type == "int" and offset_type_of(nvals) != "int":
        job.widen()
        operands(job, by_columns=not is_right)
    stage = job.stage
    made = stage.blank(job.shape, nvals, job.dtype, None)
    stage.primitives.module.launch(
        stage.offset_type, "semira_even_offsets", nrows + 1, scan if is_right else None, nrows,
        across, made.indptr,
    )  # fmt: skip
    full_row = ncols if is_right else walked.shape[1]
    out = (made.indptr, made.indices, made.rows, made.values)
    given = (full_row, lines, count, nrows, ncols, *out)
    plan = job.statement.plan
    long_line = plan.methods[0].long_line if plan is not None else 0.0
    if is_right and walked.most > long_line * count:
        tiles = -(-ncols // 32)
        stage.launch("t_full_rows", 32 * count * tiles, *given)
    else:
        stage.launch("t_full_right" if is_right else "t_full_left", nvals, *given)
    return made, lambda: stage.count(walked) * (ncols if is_right else nrows)


def _lines_with_entries(job: Job, walked: Pieces) -> tuple[Any, Any, int]:
    """Return the lines that are not empty, how many lie before each, how many there are; waits."""
    stage, nlines = job.stage, walked.shape[0]
    flags = stage.primitives.offsets("int", nlines + 1)
    base = stage.primitives.module
    base.launch(stage.offset_type, "semira_nonempty", nlines, walked.indptr, nlines, flags)
    stage.primitives.scan("int", flags, nlines)
    count = stage.primitives.read("int", flags, nlines)
    lines = stage.runtime.allocate(4 * count)
    base.launch("int", "semira_positions", nlines, flags, nlines, lines, None)
    return lines, flags, count
