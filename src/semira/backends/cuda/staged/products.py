"""Products of two matrices: dot products under a mask, else row by row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, overload

from semira.backends.cuda.runtime.primitives import offset_type_of
from semira.backends.cuda.staged.bins import LAST, bin_rows, table_bins
from semira.backends.cuda.staged.pieces import Pieces, Stage
from semira.backends.cuda.staged.rowwise import operands, rowwise
from semira.backends.cuda.staged.source import has_dots
from semira.contract import TraceRow

if TYPE_CHECKING:
    from semira.backends.cuda.staged.run import Job

#: Bytes beside the column in a slot of a table that dot products look up: a place in the row.
_PLACE = 4


def mxm(job: Job) -> Pieces:
    """Return ``A (+).(*) B``; under a plain mask only what the mask lets through."""
    by_dots = has_dots(job.statement)
    left, right = (_is_full(job, which) for which in range(2))
    if by_dots:
        result, touched = _dots(job)
        job.is_masked = True
    else:
        result, touched = _full(job, right) if left or right else rowwise(job)
    method = "dot" if by_dots else "hash"
    job.trace = LateTrace(job.stage, method, job.stage.operands["a"], touched, result)
    return result


class LateTrace(Sequence[TraceRow]):
    """The row of a product; what only the device knows is read when somebody reads the row."""

    def __init__(
        self, stage: Stage, method: str, a: Pieces, touched: Callable[[], int], made: Pieces
    ) -> None:
        self._stage, self._method, self._touched = stage, method, touched
        self._a, self._made = a, made

    def __len__(self) -> int:
        return 1

    @overload
    def __getitem__(self, index: int) -> TraceRow: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[TraceRow]: ...

    def __getitem__(self, index: int | slice) -> TraceRow | Sequence[TraceRow]:
        sizes = self._stage.count(self._a), self._stage.count(self._made)
        row = TraceRow(0, "mxm", self._method, sizes[0], self._touched(), sizes[1])
        return (row,)[index]


def _is_full(job: Job, which: int) -> bool:
    matrix = job.things[job.statement.args[which].slot]
    full = matrix.nrows * matrix.ncols
    # Only a bound that leaves it open is worth a wait.
    return 0 < full <= matrix.most and matrix.nvals == full


# dot products ------------------------------------------------------------------------------------
def _dots(job: Job) -> tuple[Pieces, Callable[[], int]]:
    """Launch every bin: how many rows it has is known on the device, and enough there."""
    stage, runtime, nrows = job.stage, job.stage.runtime, job.shape[0]
    a, b = operands(job, by_columns=True)
    mask: Pieces = stage.operands["mask"]
    sizes = stage.counts(nrows)
    stage.primitives.module.launch(
        stage.offset_type, "semira_count_looked_up", nrows, a.indptr, mask.indptr, nrows, sizes
    )
    bins = table_bins(_PLACE)
    binned = bin_rows(stage.primitives, sizes, nrows, a.shape[1], bins)
    # Rows in no bin have nothing to multiply: their flags stay zero.
    width = 4 if stage.offset_type == "int" else 8
    flags = runtime.zeroed(width * (mask.most + 1))
    found = runtime.allocate(job.dtype.itemsize * mask.most)
    mean = -(-b.most // max(1, b.shape[0]))
    for one in (LAST, *reversed(bins)):
        blocks = one.blocks(min(nrows, mask.most), runtime.multiprocessors)
        stage.launch_blocks(
            f"t_dots{one.lanes}", blocks, binned.lists, binned.ledger, one.number, one.slots, mean,
            found, flags, threads=one.threads, shared=one.table_bytes(_PLACE),
        )  # fmt: skip
    result = stage.filled("t", mask, None, job.dtype, flags, None, found)
    return result, lambda: stage.count(mask)


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
