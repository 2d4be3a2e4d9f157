"""Products row by row: the rows' sizes first, then their entries, both by tables of columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from semira.backends.cuda.runtime.primitives import offset_type_of
from semira.backends.cuda.staged.bins import (
    BITMAP,
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


@dataclass(slots=True)
class Rows:
    """The rows of a product.

    Attributes
    ----------
    a, b : Pieces
    work : buffer
        Partial products of each row.
    cursors : buffer or None
        How far each row of B was read, for every entry of A; made when a row needs windows.
    """

    a: Pieces
    b: Pieces
    work: Any
    cursors: Any = None


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


def measure(job: Job) -> Measured:
    """Count the partial products of every row; waits."""
    stage, (nrows, ncols) = job.stage, job.shape
    a, b = operands(job)
    work = stage.counts(nrows)
    patterns = (a.indptr, a.indices, b.indptr, b.indices)
    stage.primitives.module.launch(
        stage.offset_type, "semira_count_products", 32 * nrows, *patterns, nrows, work
    )
    binned = bin_rows(stage.primitives, work, nrows, ncols, table_bins(0))
    total, _, *counts = binned.read(stage.primitives)
    return Measured(Rows(a, b, work), binned, total, counts)


def rowwise(job: Job, measured: Measured | None = None) -> tuple[Pieces, Callable[[], int]]:
    """Return the product and the number of its partial products; waits for two sizes.

    `measured` are its rows, if somebody has counted them already.
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
    binned = bin_rows(stage.primitives, sizes, nrows, ncols, table_bins(job.dtype.itemsize))
    stage.primitives.scan("long long", sizes, nrows)
    nvals, _, *counts = binned.read(stage.primitives)
    if stage.offset_type == "int" and offset_type_of(nvals) != "int":
        job.widen()
        rows = Rows(*operands(job), work)
    made = stage.blank(job.shape, nvals, job.dtype, None)
    stage.primitives.module.launch(
        stage.offset_type, "semira_offsets", nrows + 1, sizes, nrows + 1, made.indptr
    )
    _fill(job, rows, binned, counts, sizes, made)
    job.is_masked = masks_here(job)
    return made, lambda: total


def _cursors(job: Job, rows: Rows) -> Any:
    if rows.cursors is None:
        rows.cursors = job.stage.flags(rows.a.most)
    return rows.cursors


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

    def start(name: str, one: Bin, shared: int, *rest: Any) -> None:
        stage.primitives.module.launch_blocks(
            stage.offset_type, f"semira_count_by_{name}",
            one.blocks(counts[one.number], stage.runtime.multiprocessors), *patterns,
            binned.lists, binned.ledger, one.number, rows.work, *rest, sizes,
            threads=one.threads, shared=shared,
        )  # fmt: skip

    for one in table_bins(0):
        if counts[one.number]:
            start(f"table{one.lanes}", one, one.table_bytes(0), job.shape[1], one.slots)
    if counts[LAST.number]:
        start("window", LAST, BITMAP, 8 * BITMAP, _cursors(job, rows))


def _fill(
    job: Job, rows: Rows, binned: Binned, counts: list[int], starts: Any, made: Pieces
) -> None:
    """Compute the entries of every row; the largest rows go first."""
    size = job.dtype.itemsize
    out = (made.indptr, made.indices, made.rows, made.values)

    def start(name: str, one: Bin, shared: int, *rest: Any) -> None:
        blocks = one.blocks(counts[one.number], job.stage.runtime.multiprocessors)
        job.stage.launch_blocks(
            f"t_by_{name}", blocks, binned.lists, binned.ledger, one.number, rows.work, starts,
            *rest, *out, threads=one.threads, shared=shared,
        )  # fmt: skip

    if counts[LAST.number]:
        columns = window_columns(size)
        start("window", LAST, columns * size + columns // 8, columns, _cursors(job, rows))
    for one in reversed(table_bins(size)):
        if counts[one.number]:
            start(f"table{one.lanes}", one, one.table_bytes(size), one.slots)
