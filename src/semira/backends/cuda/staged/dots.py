"""Dot products, one for each entry of a mask: kept as a matrix, or summed up at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from semira.backends.cuda.runtime.primitives import BLOCKS_PER_SM, THREADS
from semira.backends.cuda.staged.bins import (
    LAST,
    SHARED,
    bin_rows,
    worthwhile_bins,
)
from semira.backends.cuda.staged.full import is_full, masked_full
from semira.backends.cuda.staged.job import Job
from semira.backends.cuda.staged.pieces import Launch, Pieces
from semira.backends.cuda.staged.product_source import SETS
from semira.backends.cuda.staged.replay import Tally, take_tally
from semira.backends.cuda.staged.rowwise import operands
from semira.base.errors import PlanError
from semira.contract import SEARCH_AMONG_MERGES, SEARCH_LOOKS

#: Bytes beside the column in a slot of a table that dot products look up: a place in the row.
_PLACE = 4

#: Where tables are pinned, the mean length of both operands' lines up to which those of a warp are
#: large enough; and the bytes that each warp has for a set: 32 KB a block.
SHORT_LINES, WARP_BYTES = 24, 4096

#: Times that the lines of one operand are as long as those of the other, on average, from which on
#: nearly all lanes search. Else those that do hold up those that merge. Measured: decision 39.
UNLIKE = 4


def dot_launches(job: Job) -> list[Launch]:
    """Enter the operands, and return the launches that compute every dot product.

    Nothing is waited for: how many rows a bin has is known on the device, and enough there.

    Raises
    ------
    PlanError
        Bits are pinned, and those of a row do not fit the memory of a block.
    """
    stage, pin = job.stage, job.statement.hints.intersect
    if pin is None and is_full(job, 1):
        return [masked_full(job)]
    a, b = operands(job, by_columns=True)
    mask: Pieces = stage.operands["mask"]
    sets = _Sets.of(job, a.shape[1])
    if pin in SETS and not has_room(sets, max(_mean(a), _mean(b))):
        return list(_by_rows(job, a, b, mask, sets))
    return [_by_entry(job, mask, sets, search_cost(_mean(a), _mean(b)))]


def search_cost(mean: int, other: int) -> int:
    """Return for how many merged entries a search counts, by the mean lengths of both lines.

    Examples
    --------
    >>> search_cost(30, 30), search_cost(1000, 8)
    (32, 8)
    """
    is_alike = max(mean, other) < UNLIKE * min(mean, other)
    return SEARCH_AMONG_MERGES if is_alike else SEARCH_LOOKS


def has_room(sets: _Sets, mean: int) -> bool:
    """Return whether the memory of a warp has room for a set of most rows."""
    return sets.fits_warp or (mean <= SHORT_LINES and not sets.is_pinned)


@dataclass(frozen=True, slots=True)
class _Sets:
    """What the columns of a row are looked up in.

    Attributes
    ----------
    slot_bytes : int
        Of a table.
    words : int
        Of 32 bits, one bit for each column; 0: a bit does not tell enough, or tables are pinned.
    is_pinned : bool
        Nothing but bits will do.
    """

    slot_bytes: int
    words: int
    is_pinned: bool

    @classmethod
    def of(cls, job: Job, columns: int) -> _Sets:
        pin = job.statement.hints.intersect
        are_bits = not job.statement.operator.binaryop.reads_a
        words = -(-columns // 32) if are_bits and pin == "bitmap" else 0
        if pin == "bitmap" and 4 * words > SHARED:
            raise PlanError(
                f"mxm: intersect='bitmap' needs {4 * words} bytes of shared memory for a row of "
                f"{columns} columns, a block has {SHARED}; choose 'hash', or leave the pin out"
            )
        return cls(4 if are_bits else 4 + _PLACE, words, pin == "bitmap")

    @property
    def fits_warp(self) -> bool:
        """Whether a row of any length has its bits in the memory of a warp."""
        return 0 < 4 * self.words <= WARP_BYTES

    def words_in(self, nbytes: int) -> int:
        """Return the words of a row's bits if they fit so many bytes, else 0."""
        return self.words if 4 * self.words <= nbytes else 0


def _by_entry(job: Job, mask: Pieces, sets: _Sets, cost: int) -> Launch:
    """Return the launch in which each warp takes 32 entries of the mask at a time."""
    multiprocessors = job.stage.runtime.multiprocessors
    blocks = max(1, min(BLOCKS_PER_SM * multiprocessors, -(-mask.most // THREADS)))
    words = slots = 0
    if job.statement.hints.intersect in SETS:
        words = sets.words_in(WARP_BYTES)
        slots = 0 if words else WARP_BYTES // sets.slot_bytes
    shared = THREADS // 32 * (4 * words + sets.slot_bytes * slots)
    given = (words, slots, cost)
    return Launch("t_dots_by_entry", blocks, THREADS, shared, given, is_lasting=True)


def _mean(pieces: Pieces) -> int:
    return -(-pieces.most // max(1, pieces.shape[0]))


def _by_rows(job: Job, a: Pieces, b: Pieces, mask: Pieces, sets: _Sets) -> Iterator[Launch]:
    """Yield a launch for every bin of rows; those in none have nothing to multiply."""
    stage, nrows = job.stage, job.shape[0]
    sizes = stage.counts(nrows)
    stage.primitives.module.launch(
        stage.offset_type, "semira_count_looked_up", nrows, a.indptr, mask.indptr, nrows, sizes
    )
    multiprocessors = stage.runtime.multiprocessors
    bins = () if sets.is_pinned else worthwhile_bins(_PLACE, nrows, a.shape[1], multiprocessors)
    binned = bin_rows(stage.primitives, sizes, (nrows, a.shape[1]), bins)
    rest = () if bins and bins[-1].limit >= a.shape[1] else (LAST,)
    for one in (*rest, *reversed(bins)):
        blocks = one.blocks(min(nrows, mask.most), multiprocessors)
        tables = one.table_bytes(sets.slot_bytes - 4)
        # A block for each row: bits in its table's place, or wherever there is no table.
        words = 0 if one.lanes else sets.words_in(tables or SHARED)
        given = (binned.lists, binned.ledger, one.number, one.slots, _mean(b), words)
        yield Launch(f"t_dots{one.lanes}", blocks, one.threads, tables or 4 * words, given)


def dots(job: Job) -> tuple[Pieces, Callable[[], int]]:
    """Return ``C<M> = A (+).(*) B``, and what tells how many entries were touched."""
    stage, scratch = job.stage, job.stage.scratch
    launches = dot_launches(job)
    mask: Pieces = stage.operands["mask"]
    # What no launch comes to has no product.
    width = 4 if stage.offset_type == "int" else 8
    flags = scratch.zeros(width * (mask.most + 1))
    found = scratch.take(job.dtype.itemsize * mask.most)
    for one in launches:
        stage.start(one, found, flags)
    result = stage.filled("t", mask, None, job.dtype, flags, None, found)
    return result, lambda: stage.count(mask)


@dataclass(frozen=True, slots=True)
class Sums:
    """What sums of blocks are kept in; statement after statement uses it.

    Attributes
    ----------
    parts : int
        Blocks there is room for.
    values, counts : buffers
    ticket : buffer
        Zero between statements.
    """

    parts: int
    values: Any
    counts: Any
    ticket: Any


@dataclass(frozen=True, slots=True)
class Summed:
    """What was started for a sum.

    Attributes
    ----------
    tally : Tally
    lone : Launch or None
        The launch with all that it was given but the tally, if there is one and it lasts.
    """

    tally: Tally
    lone: Launch | None


def summed_dots(job: Job, out: Sequence[int], itemsize: int) -> Summed:
    """Launch the dot products and their sum.

    Parameters
    ----------
    out : sequence of int
        Words of the scalar's descriptor.
    itemsize : int
        Bytes of a sum.
    """
    stage = job.stage
    launches = dot_launches(job)
    stage.enter("x", out)
    parts = sum(one.blocks for one in launches)
    sums = _room(job, parts, itemsize)
    tally, first = take_tally(stage.runtime, stage.executable), 0
    given: tuple[Any, ...] = ()
    for number, one in enumerate(launches):
        all_parts = parts if number == len(launches) - 1 else 0
        given = (sums.values, sums.counts, first, all_parts, sums.ticket)
        stage.start(one, *given, tally.buffer)
        first += one.blocks
    lone = launches[0] if len(launches) == 1 and launches[0].is_lasting else None
    return Summed(tally, lone and replace(lone, given=(*lone.given, *given)))


def _room(job: Job, parts: int, itemsize: int) -> Sums:
    runtime, executable = job.stage.runtime, job.stage.executable
    have = executable.sums
    if have is None or have.parts < parts:
        allocate = runtime.allocate
        have = Sums(parts, allocate(itemsize * parts), allocate(8 * parts), runtime.zeroed(8))
        executable.sums = have
    return have
