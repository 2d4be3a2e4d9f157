"""Products row by row: the rows' sizes first, then their entries, both by tables of columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from semira.backends.cuda.runtime.parts import Buffer
from semira.backends.cuda.runtime.primitives import OFFSET_BYTES
from semira.backends.cuda.runtime.room import fit_together, fits, require, spendable
from semira.backends.cuda.staged.bins import (
    BITMAP,
    FEW,
    LAST,
    LEDGER_WORDS,
    LIST_BYTES,
    Bin,
    Binned,
    bin_rows,
    merges_few,
    put_in_bins,
    window_columns,
    worthwhile_bins,
)
from semira.backends.cuda.staged.job import Job
from semira.backends.cuda.staged.pieces import Pieces
from semira.backends.cuda.staged.replay import take_tally
from semira.backends.cuda.staged.text import masks_rows

#: What to do where a product does not fit.
REMEDY = (
    "release objects, name the wanted entries by a mask, multiply some of the rows at a time, or "
    "use device='cpu' (gb.estimate says beforehand what a product may take)"
)


#: Bytes up to which entries are made once and then moved together: rows have room for as many as
#: they may have. Above, they are counted first.
AT_ONCE = 1 << 29

#: Bytes of a result up to which its arrays may have room for more entries than there are, and how
#: many entries it may have, also for each of the operands', where nothing is read before.
LATE, UNREAD, UNREAD_GROWTH = 1 << 24, 1 << 20, 32

#: Rows of which every block that moves entries adds up the sizes itself (kernels/base/gathers.cuh).
FEW_GATHERED = 4096

#: Windows up to which rows that no table has room for are made at once. They may have few entries,
#: for which there is a table, but not yet a number.
ONE_WINDOW = 1


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of a product."""

    a: Pieces
    b: Pieces
    #: Of each row: partial products, entries once they are counted, and where there is room for as
    #: many as it may have.
    work: Buffer
    sizes: Buffer
    places: Buffer


def operands(job: Job, *, by_columns: bool = False) -> tuple[Pieces, Pieces]:
    """Enter A and B in the table, B by its rows or by its columns."""
    a = job.operand(0, "a", with_rows=False)
    return a, job.operand(1, "b", flipped=by_columns, with_rows=False)


@dataclass(frozen=True, slots=True)
class Measured:
    """The rows of a product by their partial products."""

    rows: Rows
    binned: Binned
    #: Of all rows; entries that these may have together.
    products: int
    most: int
    #: Rows of each bin.
    counts: list[int]


def row_bytes(nrows: int) -> int:
    """Return the bytes that the rows of a product take beside operands and result.

    Partial products, sizes, places and lists; then ledgers, and sums of tiles of the sizes.

    Examples
    --------
    >>> row_bytes(1000)
    42024
    """
    return (25 + LIST_BYTES) * nrows + 1024


def _start(job: Job, ledger: Any = None) -> tuple[Rows, Binned]:
    """Count the partial products of every row, and put the rows in bins by them.

    Raises OutOfMemory if what the rows take does not fit; nothing was launched.
    """
    stage, (nrows, ncols) = job.stage, job.shape
    runtime, scratch = stage.runtime, stage.scratch
    require(runtime, row_bytes(nrows), f"a product of {nrows} rows", REMEDY)
    a, b = operands(job)
    rows = Rows(a, b, stage.counts(nrows), stage.counts(nrows + 1), stage.counts(nrows))
    if ledger is None:
        ledger = scratch.take(8 * LEDGER_WORDS)
    runtime.clear(ledger, 0, 8 * LEDGER_WORDS)
    bins = worthwhile_bins(job.dtype.itemsize, nrows, ncols, runtime.multiprocessors)
    binned = Binned(bins, scratch.take(LIST_BYTES * nrows), ledger)
    put_in_bins(
        stage.primitives, "semira_count_products", stage.offset_type, job.shape, _few(job, a),
        binned, a.indptr, a.indices, b.indptr, b.indices, rows.work, rows.sizes, rows.places,
    )  # fmt: skip
    return rows, binned


def _few(job: Job, a: Pieces) -> Any:
    """Return the offsets of A where lanes merge short rows, else None."""
    return a.indptr if merges_few(job.shape[0], job.stage.runtime.multiprocessors) else None


def measure(job: Job) -> Measured:
    """Count the partial products of every row; waits.

    Raises OutOfMemory if what the rows take does not fit; nothing was launched.
    """
    rows, binned = _start(job)
    total, most, *counts = binned.read(job.stage.primitives)
    return Measured(rows, binned, total, most, counts)


def rowwise(job: Job, measured: Measured | None = None) -> tuple[Pieces, Callable[[], int]]:
    """Return the product and the number of its partial products; waits for two sizes at most.

    `measured` are its rows, if somebody has counted them already. Raises OutOfMemory if rows, or
    the result, do not fit. Nothing of the result was computed then.
    """
    if measured is None:
        most = _unread(job)
        if most is not None:
            return _made_unread(job, most)
        measured = measure(job)
    else:
        # Other orientations may have been counted since.
        job.stage.enter("a", measured.rows.a)
        job.stage.enter("b", measured.rows.b)
    total = measured.products
    if total == 0:
        return job.nothing(job.dtype), lambda: 0
    if _is_made_at_once(job, measured):
        result = _gathered(job, measured.rows, measured.binned, measured.counts, measured.most)
    else:
        result = _counted_first(job, measured)
    job.is_masked = masks_here(job)
    return result, lambda: total


# made once, then moved together -------------------------------------------------------------------
def _unread(job: Job) -> int | None:
    """Return the entries of a product whose rows are made before anything is read; else None.

    It is small, and so is what it may have: by its shape, and against its operands.
    """
    (nrows, ncols), stage = job.shape, job.stage
    a, b = (job.things[arg.slot] for arg in job.statement.args)
    most = min(nrows * ncols, a.most * min(ncols, b.most))
    known = int(a.known_entries() + b.known_entries())
    if not 0 < most <= min(UNREAD, UNREAD_GROWTH * known):
        return None
    size = job.dtype.itemsize
    bins = worthwhile_bins(size, nrows, ncols, stage.runtime.multiprocessors)
    has_tables = bool(bins) and bins[-1].limit >= ncols
    return most if has_tables and _has_room(job, most, row_bytes(nrows)) else None


def _has_room(job: Job, most: int, other: int = 0) -> bool:
    """Return whether rows of up to `most` entries can be made wherever there is room."""
    made, result = (4 + job.dtype.itemsize) * most, result_bytes(job, most)
    return made <= AT_ONCE and fit_together(job.stage.runtime, made, result, other)


def _made_unread(job: Job, most: int) -> tuple[Pieces, Callable[[], int]]:
    """Return the product and what tells the number of its partial products; waits for nothing."""
    runtime = job.stage.runtime
    tally = take_tally(runtime, job.stage.executable, 8 * LEDGER_WORDS)
    rows, binned = _start(job, tally.buffer)
    counts = [0] * (FEW.number + 1)
    for one in (*binned.bins, *((FEW,) if _few(job, rows.a) is not None else ())):
        counts[one.number] = job.shape[0]
    made = _gathered(job, rows, binned, counts, most)
    job.is_masked = masks_here(job)
    return made, lambda: int(runtime.download(tally.buffer, np.int64, 1)[0])


def _is_made_at_once(job: Job, measured: Measured) -> bool:
    """Return whether rows have room for what they may have, and are not slower for it."""
    if not measured.counts[LAST.number]:
        return _has_room(job, measured.most)
    has_windows = job.shape[1] <= ONE_WINDOW * window_columns(job.dtype.itemsize)
    cursors = OFFSET_BYTES[job.stage.offset_type] * measured.rows.a.most
    return has_windows and _has_room(job, measured.most, cursors)


def _gathered(job: Job, rows: Rows, binned: Binned, counts: list[int], most: int) -> Pieces:
    """Make the rows, which may have `most` entries, wherever there is room; move them together."""
    stage, nrows, size = job.stage, job.shape[0], job.dtype.itemsize
    indices, values = stage.scratch.take(4 * most), stage.scratch.take(size * most)
    is_late = result_bytes(job, most) <= LATE
    made = stage.blank(job.shape, most, job.dtype, None, is_exact=False) if is_late else None
    out = None, indices, None, values
    _fill(job, rows, binned, counts, (rows.places, rows.sizes, job.shape[1]), out)
    kernel = "semira_gather"
    if is_late and nrows <= FEW_GATHERED:
        kernel = "semira_gather_few"
    else:
        stage.primitives.scan("long long", rows.sizes, nrows)
    if made is None:
        # There was room for more.
        nvals = int.from_bytes(stage.runtime.read_short(rows.sizes, 8, 8 * nrows), "little")
        made = stage.blank(job.shape, nvals, job.dtype, None)
    stage.primitives.module.launch(
        stage.offset_type, kernel, made.most // 4, rows.sizes, rows.places, nrows, indices, values,
        size, made.indptr, made.indices, made.rows, made.values,
    )  # fmt: skip
    return made


# counted, then made -------------------------------------------------------------------------------
def _counted_first(job: Job, measured: Measured) -> Pieces:
    """Count the entries of every row, then make them where they belong; waits for their number."""
    stage, rows, sizes = job.stage, measured.rows, measured.rows.sizes
    _count(job, rows, measured.binned, measured.counts)
    few = stage.offset_type, _few(job, rows.a), rows.work
    # The lists are read by what was launched; what is launched now may write them.
    lists, bins = measured.binned.lists, measured.binned.bins
    binned = bin_rows(stage.primitives, sizes, job.shape, bins, lists, few)
    stage.primitives.scan("long long", sizes, job.shape[0])
    nvals, _, *counts = binned.read(stage.primitives)
    if job.widens(nvals):
        rows = replace(rows, **dict(zip("ab", operands(job), strict=True)))
    made, count = new_result(job, nvals), job.shape[0] + 1
    stage.primitives.module.launch(
        stage.offset_type, "semira_offsets", count, sizes, count, made.indptr
    )
    out = made.indptr, made.indices, made.rows, made.values
    _fill(job, rows, binned, counts, (sizes, None, 0), out)
    return made


def result_bytes(job: Job, nvals: int) -> int:
    """Return the bytes of a result with `nvals` entries."""
    return sum(job.stage.blank_sizes(job.shape, nvals, job.dtype))


def new_result(job: Job, nvals: int) -> Pieces:
    """Return memory for a result; raises OutOfMemory, with none taken, if it does not fit."""
    stage = job.stage
    require(stage.runtime, result_bytes(job, nvals), f"a product of {nvals} entries", REMEDY)
    return stage.blank(job.shape, nvals, job.dtype, None)


def plan_windows(job: Job, rows: Rows, count: int) -> tuple[int, Buffer, int]:
    """Return how `count` rows go window by window in the memory there is.

    Blocks; how far the rows of B were read; numbers that each block has of these for itself, 0 if
    there is one for each entry of A.

    With a cursor for each entry of A any number of blocks works. If that does not fit, each block
    has as many as the longest row can need, and so many blocks as fit take the rows in rounds.
    Raises OutOfMemory if not even one block can work.
    """
    stage, a = job.stage, rows.a
    runtime, size = stage.runtime, OFFSET_BYTES[stage.offset_type]
    blocks, longest = LAST.blocks(count, runtime.multiprocessors), min(a.shape[1], a.most)
    if fits(runtime, size * a.most):
        return blocks, stage.scratch.take(size * a.most), 0
    require(runtime, size * longest, f"a product with rows of {longest} entries", REMEDY)
    blocks = max(1, min(blocks, spendable(runtime) // (size * longest)))
    return blocks, stage.scratch.take(size * longest * blocks), longest


def masks_here(job: Job) -> bool:
    """Return whether nothing is left to mask once the forbidden columns are left out."""
    mask = job.statement.mask
    return mask is not None and mask.structural and masks_rows(job.statement)


def row_mask(job: Job) -> tuple[Any, Any, int]:
    """Return where the entries of a mask for rows are, and whether it is complemented."""
    mask = job.statement.mask
    if mask is None or not masks_rows(job.statement):
        return None, None, 1
    pieces: Pieces = job.stage.operands["mask"]
    return pieces.indptr, pieces.indices, int(mask.complement)


def _count(job: Job, rows: Rows, binned: Binned, counts: list[int]) -> None:
    stage, a, b = job.stage, rows.a, rows.b
    patterns = (a.indptr, a.indices, b.indptr, b.indices, *row_mask(job))

    def start(name: str, one: Bin, shared: int, *rest: Any, blocks: int = 0) -> None:
        blocks = blocks or one.blocks(counts[one.number], stage.runtime.multiprocessors)
        stage.primitives.module.launch_blocks(
            stage.offset_type, f"semira_count_by_{name}", blocks, *patterns, binned.lists,
            binned.ledger, one.number, rows.work, *rest, rows.sizes, threads=one.threads,
            shared=shared,
        )  # fmt: skip

    if counts[FEW.number]:
        start("lane", FEW, 0)
    for one in binned.bins:
        if counts[one.number]:
            start(f"table{one.lanes}", one, one.table_bytes(0), job.shape[1], one.slots)
    if counts[LAST.number]:
        blocks, *cursors = plan_windows(job, rows, counts[LAST.number])
        start("window", LAST, BITMAP, 8 * BITMAP, *cursors, blocks=blocks)


def _fill(
    job: Job, rows: Rows, binned: Binned, counts: list[int], rooms: tuple[Any, Any, int],
    out: tuple[Any, Any, Any, Any],
) -> None:  # fmt: skip
    """Compute the entries of every row; the largest rows go first.

    `rooms` says where rows begin, and where their sizes are told, with the number of columns.
    """
    size, stage = job.dtype.itemsize, job.stage

    def start(name: str, one: Bin, shared: int, *rest: Any, blocks: int = 0) -> None:
        blocks = blocks or one.blocks(counts[one.number], stage.runtime.multiprocessors)
        stage.launch_blocks(
            f"t_by_{name}", blocks, binned.lists, binned.ledger, one.number, rows.work, *rooms,
            *rest, *out, threads=one.threads, shared=shared,
        )  # fmt: skip

    if counts[LAST.number]:
        columns = window_columns(size)
        blocks, *cursors = plan_windows(job, rows, counts[LAST.number])
        shared = columns * size + columns // 8
        start("window", LAST, shared, columns, *cursors, blocks=blocks)
    for one in reversed(binned.bins):
        if counts[one.number]:
            start(f"table{one.lanes}", one, one.table_bytes(size), one.slots)
    if counts[FEW.number]:
        start("lane", FEW, 0)
