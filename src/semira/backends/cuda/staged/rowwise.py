"""Products row by row: the rows' sizes first, then their entries, both by tables of columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from semira.backends.cuda.runtime.primitives import OFFSET_BYTES, offset_type_of
from semira.backends.cuda.runtime.room import fits, require, spendable
from semira.backends.cuda.staged.bins import (
    BITMAP,
    FEW,
    LAST,
    Bin,
    Binned,
    bin_rows,
    table_bins,
    window_columns,
)
from semira.backends.cuda.staged.pieces import Pieces
from semira.backends.cuda.staged.text import masks_rows

if TYPE_CHECKING:
    from semira.backends.cuda.staged.run import Job


#: What to do where a product does not fit.
REMEDY = (
    "release objects, name the wanted entries by a mask, multiply some of the rows at a time, or "
    "use device='cpu' (gb.estimate says beforehand what a product may take)"
)


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of a product.

    Attributes
    ----------
    a, b : Pieces
    work : buffer
        Partial products of each row.
    """

    a: Pieces
    b: Pieces
    work: Any


def operands(job: Job, *, by_columns: bool = False) -> tuple[Pieces, Pieces]:
    """Enter A and B in the table, B by its rows or by its columns."""
    a = job.operand(0, "a", with_rows=False)
    return a, job.operand(1, "b", flipped=by_columns, with_rows=False)


@dataclass(frozen=True, slots=True)
class Measured:
    """The rows of a product by their partial products.

    Attributes
    ----------
    rows : Rows
    binned : Binned
    products : int
        Of all rows.
    counts : list of int
        Rows of each bin.
    """

    rows: Rows
    binned: Binned
    products: int
    counts: list[int]


def row_bytes(nrows: int) -> int:
    """Return the bytes that the rows of a product take beside operands and result.

    Partial products, sizes and two lists; then ledgers, and sums of tiles of the sizes.

    Examples
    --------
    >>> row_bytes(1000)
    26024
    """
    return 25 * nrows + 1024


def measure(job: Job) -> Measured:
    """Count the partial products of every row; waits.

    Raises
    ------
    OutOfMemory
        What the rows take does not fit; nothing was launched.
    """
    stage, (nrows, ncols) = job.stage, job.shape
    require(stage.runtime, row_bytes(nrows), f"a product of {nrows} rows", REMEDY)
    a, b = operands(job)
    work = stage.counts(nrows)
    patterns = (a.indptr, a.indices, b.indptr, b.indices)
    stage.primitives.module.launch(
        stage.offset_type, "semira_count_products", nrows, *patterns, nrows, work
    )
    few = stage.offset_type, a.indptr, work
    binned = bin_rows(stage.primitives, work, nrows, ncols, table_bins(0), few)
    total, _, *counts = binned.read(stage.primitives)
    return Measured(Rows(a, b, work), binned, total, counts)


def rowwise(job: Job, measured: Measured | None = None) -> tuple[Pieces, Callable[[], int]]:
    """Return the product and the number of its partial products; waits for two sizes.

    `measured` are its rows, if somebody has counted them already.

    Raises
    ------
    OutOfMemory
        Rows, or the result, do not fit. Nothing of the result was computed then.
    """
    stage, (nrows, ncols) = job.stage, job.shape
    if measured is None:
        measured = measure(job)
    else:
        # Other orientations may have been counted since.
        stage.enter("a", measured.rows.a)
        stage.enter("b", measured.rows.b)
    rows, total, work = measured.rows, measured.products, measured.rows.work
    if total == 0:
        return job.nothing(job.dtype), lambda: 0
    sizes = stage.scratch.zeros(8 * (nrows + 1))
    _count(job, rows, measured.binned, measured.counts, sizes)
    few = stage.offset_type, rows.a.indptr, work
    binned = bin_rows(stage.primitives, sizes, nrows, ncols, table_bins(job.dtype.itemsize), few)
    stage.primitives.scan("long long", sizes, nrows)
    nvals, _, *counts = binned.read(stage.primitives)
    if stage.offset_type == "int" and offset_type_of(nvals) != "int":
        job.widen()
        rows = Rows(*operands(job), work)
    made = new_result(job, nvals)
    stage.primitives.module.launch(
        stage.offset_type, "semira_offsets", nrows + 1, sizes, nrows + 1, made.indptr
    )
    _fill(job, rows, binned, counts, sizes, made)
    job.is_masked = masks_here(job)
    return made, lambda: total


def result_bytes(job: Job, nvals: int) -> int:
    """Return the bytes of a result of so many entries."""
    return job.stage.blank_bytes(job.shape, nvals, job.dtype)


def new_result(job: Job, nvals: int) -> Pieces:
    """Return memory for a result.

    Raises
    ------
    OutOfMemory
        It does not fit; none of it is taken.
    """
    stage = job.stage
    require(stage.runtime, result_bytes(job, nvals), f"a product of {nvals} entries", REMEDY)
    return stage.blank(job.shape, nvals, job.dtype, None)


@dataclass(frozen=True, slots=True)
class Windows:
    """How rows go window by window.

    Attributes
    ----------
    blocks : int
    cursors : buffer
        How far the rows of B were read.
    room : int
        Numbers that each block has for itself; 0: there is one for each entry of A.
    """

    blocks: int
    cursors: Any
    room: int


def plan_windows(job: Job, rows: Rows, count: int) -> Windows:
    """Return how `count` rows go window by window in the memory there is.

    With a cursor for each entry of A any number of blocks works. If that does not fit, each block
    has as many as the longest row can need, and so many blocks as fit take the rows in rounds.

    Raises
    ------
    OutOfMemory
        Not even one block can work.
    """
    stage, a = job.stage, rows.a
    runtime, size = stage.runtime, OFFSET_BYTES[stage.offset_type]
    blocks, longest = LAST.blocks(count, runtime.multiprocessors), min(a.shape[1], a.most)
    if fits(runtime, size * a.most):
        return Windows(blocks, stage.scratch.take(size * a.most), 0)
    require(runtime, size * longest, f"a product with rows of {longest} entries", REMEDY)
    blocks = max(1, min(blocks, spendable(runtime) // (size * longest)))
    return Windows(blocks, stage.scratch.take(size * longest * blocks), longest)


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


def _count(job: Job, rows: Rows, binned: Binned, counts: list[int], sizes: Any) -> None:
    """Count the entries of every row."""
    stage, a, b = job.stage, rows.a, rows.b
    patterns = (a.indptr, a.indices, b.indptr, b.indices, *row_mask(job))

    def start(name: str, one: Bin, shared: int, *rest: Any, blocks: int = 0) -> None:
        blocks = blocks or one.blocks(counts[one.number], stage.runtime.multiprocessors)
        stage.primitives.module.launch_blocks(
            stage.offset_type, f"semira_count_by_{name}", blocks, *patterns, binned.lists,
            binned.ledger, one.number, rows.work, *rest, sizes, threads=one.threads, shared=shared,
        )  # fmt: skip

    if counts[FEW.number]:
        start("lane", FEW, 0)
    for one in table_bins(0):
        if counts[one.number]:
            start(f"table{one.lanes}", one, one.table_bytes(0), job.shape[1], one.slots)
    if counts[LAST.number]:
        windows = plan_windows(job, rows, counts[LAST.number])
        start(
            "window", LAST, BITMAP, 8 * BITMAP, windows.cursors, windows.room,
            blocks=windows.blocks,
        )  # fmt: skip


def _fill(
    job: Job, rows: Rows, binned: Binned, counts: list[int], starts: Any, made: Pieces
) -> None:
    """Compute the entries of every row; the largest rows go first."""
    size = job.dtype.itemsize
    out = (made.indptr, made.indices, made.rows, made.values)

    def start(name: str, one: Bin, shared: int, *rest: Any, blocks: int = 0) -> None:
        blocks = blocks or one.blocks(counts[one.number], job.stage.runtime.multiprocessors)
        job.stage.launch_blocks(
            f"t_by_{name}", blocks, binned.lists, binned.ledger, one.number, rows.work, starts,
            *rest, *out, threads=one.threads, shared=shared,
        )  # fmt: skip

    if counts[LAST.number]:
        columns = window_columns(size)
        windows = plan_windows(job, rows, counts[LAST.number])
        start(
            "window", LAST, columns * size + columns // 8, columns, windows.cursors, windows.room,
            blocks=windows.blocks,
        )  # fmt: skip
    for one in reversed(table_bins(size)):
        if counts[one.number]:
            start(f"table{one.lanes}", one, one.table_bytes(size), one.slots)
    if counts[FEW.number]:
        start("lane", FEW, 0)
