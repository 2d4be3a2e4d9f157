"""Products in equal shares: as many partial products for each block, whatever rows they are of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from semira.backends.cuda.runtime.primitives import BLOCKS_PER_SM, THREADS, address
from semira.backends.cuda.runtime.room import fits, require, spendable
from semira.backends.cuda.staged.job import Job
from semira.backends.cuda.staged.pieces import Pieces
from semira.backends.cuda.staged.rowwise import (
    REMEDY,
    masks_here,
    new_result,
    result_bytes,
    row_mask,
)
from semira.base.errors import PlanError
from semira.methods.equal_shares.text import text

__all__ = ["ROOT", "multiply", "text"]

ROOT = "semira.methods.equal_shares.kernels:product.cuh"

#: Partial products of a share, which may have twice as many, and of the longest row that lies in
#: one share (kernels/shares.cuh).
SHARE = 1024

#: Bytes that each row takes: products, sizes, numbers and lists of long rows, sums of tiles.
ROW_BYTES = 25

#: Bytes of the widest values that two shares have room for beside their order.
SHARED_BYTES = 16


@dataclass(frozen=True, slots=True)
class Counted:
    """All products of A B, numbered.

    Attributes
    ----------
    patterns : tuple
        What kernels are told of A and B.
    before : buffer
        How many products come before those of each entry of A.
    entries, total : int
        Entries of A, products.
    """

    patterns: tuple[Any, ...]
    before: Any
    entries: int
    total: int

    @property
    def words(self) -> tuple[Any, ...]:
        """What a kernel is given."""
        return (*self.patterns, self.before, self.entries, self.total)

    @property
    def shares(self) -> int:
        """How many shares there are."""
        return -(-self.total // SHARE)


@dataclass(frozen=True, slots=True)
class LongRows:
    """The rows that several shares add to.

    Attributes
    ----------
    numbers, listed : buffers
        How many of them come before each row; which they are.
    count, words : int
        How many there are; words of a bitmap of columns.
    """

    numbers: Any
    listed: Any
    count: int
    words: int

    @property
    def nbytes(self) -> int:
        """Bytes that one of them takes in a round: bits, ranks, bits of the columns with a sum."""
        return 3 * 4 * self.words


@dataclass(frozen=True, slots=True)
class Rounds:
    """Memory for the columns of several long rows at a time.

    Attributes
    ----------
    rows : LongRows
    each : int
        Rows of a round.
    bits, ranks, taken : buffers
        Columns with an entry, how many come before each word, and columns with a sum.
    """

    rows: LongRows
    each: int
    bits: Any
    ranks: Any
    taken: Any

    @property
    def firsts(self) -> range:
        """Number of each round's first row; one round if there is none."""
        return range(0, max(1, self.rows.count), self.each)

    def describe(self, first: int) -> tuple[Any, ...]:
        """Return what kernels are told of the round that begins with a row."""
        rows = self.rows
        count = min(self.each, rows.count - first)
        return rows.numbers, address(rows.listed) + 4 * first, first, count, self.bits, rows.words


def multiply(job: Job) -> tuple[Pieces, Callable[[], int]]:
    """Return the product and the number of its partial products; waits for three sizes.

    Raises
    ------
    PlanError
        Sums must have a fixed order, or the values are too wide.
    OutOfMemory
        The columns of not even one long row, or the result, do not fit.
    """
    _check(job)
    stage, (nrows, _) = job.stage, job.shape
    a, b = job.operand(0, "a"), job.operand(1, "b", with_rows=False)
    require(
        stage.runtime, 8 * a.most + ROW_BYTES * nrows + 1024, f"a product of {nrows} rows", REMEDY
    )
    module = stage.own_module()
    patterns = (a.indptr, a.indices, b.indptr, b.indices)
    before = stage.counts(a.most + 1)
    module.launch(stage.offset_type, "t_entry_products", a.most, *patterns, nrows, a.most, before)
    total = stage.sum_up(before, a.most)
    if total == 0:
        return job.nothing(job.dtype), lambda: 0
    products = Counted((*patterns, a.rows), before, a.most, total)
    rows = _long_rows(job, products)
    sizes = stage.scratch.zeros(8 * (nrows + 1))
    rounds: Rounds | None = plan_rounds(job, rows)
    assert rounds is not None
    for first in rounds.firsts:
        _list_columns(job, products, rounds, first, sizes)
    if rounds.each < rows.count:
        rounds = None
    nvals = stage.sum_up(sizes, nrows)
    if job.widens(nvals):
        a, b = job.operand(0, "a"), job.operand(1, "b", with_rows=False)
        products = replace(products, patterns=(a.indptr, a.indices, b.indptr, b.indices, a.rows))
    if not fits(stage.runtime, result_bytes(job, nvals)):
        rounds = None
    made = new_result(job, nvals)
    base = stage.primitives.module
    base.launch(stage.offset_type, "semira_offsets", nrows + 1, sizes, nrows + 1, made.indptr)
    _fill(job, products, rows, rounds, sizes, made)
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
    return int(max(1, min(items, BLOCKS_PER_SM * job.stage.runtime.multiprocessors)))


def _long_rows(job: Job, products: Counted) -> LongRows:
    """Find the rows that are longer than a share; waits."""
    stage, (nrows, ncols) = job.stage, job.shape
    take = stage.scratch.take
    numbers = take(4 * (nrows + 1))
    stage.own_module().launch(
        stage.offset_type, "t_flag_long_rows", nrows, *products.words, nrows, numbers
    )
    stage.primitives.scan("int", numbers, nrows)
    count = stage.primitives.read("int", numbers, nrows)
    listed = take(4 * max(1, count))
    stage.primitives.module.launch("int", "semira_positions", nrows, numbers, nrows, listed, None)
    return LongRows(numbers, listed, count, -(-ncols // 32))


def plan_rounds(job: Job, rows: LongRows) -> Rounds:
    """Return memory for the columns of long rows, of all of them if that fits.

    Raises
    ------
    OutOfMemory
        One row's columns do not fit.
    """
    runtime, each = job.stage.runtime, max(1, rows.count)
    if rows.count and not fits(runtime, rows.nbytes * rows.count):
        require(runtime, rows.nbytes, "the columns of a long row", REMEDY)
        each = max(1, min(rows.count, spendable(runtime) // rows.nbytes))
    nbytes = 4 * rows.words * (each if rows.count else 0)
    bits, ranks, taken = (job.stage.scratch.take(max(1, nbytes)) for _ in range(3))
    return Rounds(rows, each, bits, ranks, taken)


def _list_columns(job: Job, products: Counted, rounds: Rounds, first: int, sizes: Any) -> None:
    """Find the columns of a round's long rows, and their number if `sizes` are given."""
    stage, round_words = job.stage, rounds.describe(first)
    start = stage.own_module().launch_blocks
    stage.runtime.clear(rounds.bits)
    start(
        stage.offset_type, "t_count_by_share", _blocks(job, products.shares), *products.words,
        *row_mask(job), *round_words, products.shares, sizes,
    )  # fmt: skip
    if rounds.rows.count:
        start(
            stage.offset_type, "t_rank_long_rows", _blocks(job, rounds.each), *round_words,
            rounds.ranks, sizes,
        )  # fmt: skip


def _fill(
    job: Job, products: Counted, rows: LongRows, rounds: Rounds | None, starts: Any, made: Pieces
) -> None:
    """Compute the entries of every row; `rounds` has the columns already if it is one round."""
    stage, is_listed = job.stage, rounds is not None
    if rounds is None:
        rounds = plan_rounds(job, rows)
    out = (made.indptr, made.indices, made.rows, made.values)
    shared = 2 * SHARE * (8 + job.dtype.itemsize)
    for first in rounds.firsts:
        if not is_listed and rows.count:
            _list_columns(job, products, rounds, first, None)
        to = (*rounds.describe(first), rounds.ranks, rounds.taken, starts)
        stage.runtime.clear(rounds.taken)
        if rows.count:
            blocks = _blocks(job, -(-rounds.each * rows.words // THREADS))
            stage.launch_blocks("t_open_long_rows", blocks, *to, *out, of="own")
        stage.launch_blocks(
            "t_by_share", _blocks(job, products.shares), *to, products.before, products.total,
            products.shares, *out, of="own", shared=shared,
        )  # fmt: skip
