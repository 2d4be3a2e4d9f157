"""Products in equal shares: as many partial products for each block, whatever rows they are of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from semira.backends.cuda.runtime.primitives import BLOCKS_PER_SM, THREADS, offset_type_of
from semira.backends.cuda.runtime.room import require
from semira.backends.cuda.staged.pieces import Pieces
from semira.backends.cuda.staged.rowwise import masks_here, row_mask
from semira.base.errors import PlanError

if TYPE_CHECKING:
    from semira.backends.cuda.staged.run import Job

#: Partial products of a share, which may have twice as many, and of the longest row that lies in
#: one share (kernels/mxm/shares.cuh).
SHARE = 1024

#: Bytes of the widest values that two shares have room for beside their order.
SHARED_BYTES = 16


@dataclass(frozen=True, slots=True)
class LongRows:
    """The rows that several shares add to.

    Attributes
    ----------
    numbers, listed : buffers
        How many of them come before each row; which they are.
    count, words : int
        How many there are; words of a bitmap of columns.
    bits, ranks, taken : buffers
        Columns with an entry, how many come before each word, and columns with a sum.
    """

    numbers: Any
    listed: Any
    count: int
    words: int
    bits: Any
    ranks: Any
    taken: Any


def by_shares(job: Job) -> tuple[Pieces, Callable[[], int]]:
    """Return the product and the number of its partial products; waits for three sizes.

    Raises
    ------
    PlanError
        Sums must have a fixed order, or the values are too wide.
    """
    _check(job)
    stage, (nrows, _) = job.stage, job.shape
    a, b = job.operand(0, "a"), job.operand(1, "b", with_rows=False)
    module = stage.executable.shares_module(stage.runtime)
    patterns = (a.indptr, a.indices, b.indptr, b.indices)
    before = stage.counts(a.most + 1)
    module.launch(stage.offset_type, "t_entry_products", a.most, *patterns, nrows, a.most, before)
    total = stage.sum_up(before, a.most)
    if total == 0:
        return job.nothing(job.dtype), lambda: 0
    products = (*patterns, a.rows, before, a.most, total)
    rows = _long_rows(job, products)
    shares, sizes = -(-total // SHARE), stage.scratch.zeros(8 * (nrows + 1))
    module.launch_blocks(
        stage.offset_type, "t_count_by_share", _blocks(job, shares), *products,
        *row_mask(job), rows.numbers, rows.bits, rows.words, shares, sizes,
    )  # fmt: skip
    if rows.count:
        module.launch_blocks(
            stage.offset_type, "t_rank_long_rows", _blocks(job, rows.count), rows.listed,
            rows.count, rows.bits, rows.words, rows.ranks, sizes,
        )  # fmt: skip
    nvals = stage.sum_up(sizes, nrows)
    if stage.offset_type == "int" and offset_type_of(nvals) != "int":
        job.widen()
        job.operand(0, "a")
        job.operand(1, "b", with_rows=False)
    made = stage.blank(job.shape, nvals, job.dtype, None)
    base = stage.primitives.module
    base.launch(stage.offset_type, "semira_offsets", nrows + 1, sizes, nrows + 1, made.indptr)
    _fill(job, rows, before, total, sizes, made)
    job.is_masked = masks_here(job)
    return made, lambda: total


def _check(job: Job) -> None:
    plan = job.statement.plan
    if plan is not None and plan.ordered:
        raise PlanError(
            "mxm: balance='edges' adds up long rows as the shares come, and deterministic=True "
            "asks for a fixed order; leave one of them out"
        )
    if job.dtype.itemsize > SHARED_BYTES:
        raise PlanError(
            f"mxm: balance='edges' has no room for values of {job.dtype.itemsize} bytes, "
            f"{SHARED_BYTES} at most; leave the pin out"
        )


def _blocks(job: Job, items: int) -> int:
    return max(1, min(items, BLOCKS_PER_SM * job.stage.runtime.multiprocessors))


def _long_rows(job: Job, products: tuple[Any, ...]) -> LongRows:
    """Find the rows that are longer than a share, and take memory for their columns; waits."""
    stage, (nrows, ncols) = job.stage, job.shape
    runtime, take = stage.runtime, stage.scratch.take
    numbers = take(4 * (nrows + 1))
    stage.executable.shares_module(runtime).launch(
        stage.offset_type, "t_flag_long_rows", nrows, *products, nrows, numbers
    )
    stage.primitives.scan("int", numbers, nrows)
    count, words = stage.primitives.read("int", numbers, nrows), -(-ncols // 32)
    nbytes = 4 * count * words
    require(runtime, 3 * nbytes, f"the columns of {count} long rows; without balance='edges': none")
    listed = take(4 * max(1, count))
    stage.primitives.module.launch("int", "semira_positions", nrows, numbers, nrows, listed, None)
    bits, taken = (stage.scratch.zeros(max(1, nbytes)) for _ in range(2))
    return LongRows(numbers, listed, count, words, bits, take(max(1, nbytes)), taken)


def _fill(job: Job, rows: LongRows, before: Any, total: int, starts: Any, made: Pieces) -> None:
    """Compute the entries of every row."""
    stage, shares = job.stage, -(-total // SHARE)
    to = (rows.numbers, rows.bits, rows.words, rows.ranks, rows.taken, starts)
    out = (made.indptr, made.indices, made.rows, made.values)
    if rows.count:
        blocks = _blocks(job, -(-rows.count * rows.words // THREADS))
        stage.launch_shares("t_open_long_rows", blocks, *to, rows.listed, rows.count, *out)
    shared = 2 * SHARE * (8 + job.dtype.itemsize)
    stage.launch_shares(
        "t_by_share", _blocks(job, shares), *to, before, total, shares, *out, shared=shared
    )
