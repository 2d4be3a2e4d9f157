"""Dot products, one for each entry of a mask: kept as a matrix, or summed up at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from semira.backends.cuda.runtime.parts import Buffer
from semira.backends.cuda.runtime.primitives import BLOCKS_PER_SM, THREADS
from semira.backends.cuda.staged.full import is_full, masked_full
from semira.backends.cuda.staged.job import Job
from semira.backends.cuda.staged.method_parts import dots_part
from semira.backends.cuda.staged.pieces import Launch, Pieces
from semira.backends.cuda.staged.replay import Tally, take_tally
from semira.backends.cuda.staged.rowwise import operands
from semira.contract import SEARCH_AMONG_MERGES, SEARCH_LOOKS

#: Times that the lines of one operand are as long as those of the other, on average, from which on
#: nearly all lanes search. Else those that do hold up those that merge. Measured: decision 39.
UNLIKE = 4


def dot_launches(job: Job) -> list[Launch]:
    """Enter the operands, and return the launches that compute every dot product.

    Nothing is waited for.
    """
    part = dots_part(job.statement)
    if part is None and job.statement.hints.intersect is None and is_full(job, 1):
        return [masked_full(job)]
    a, b = operands(job, by_columns=True)
    if part is not None:
        launches: list[Launch] = part.dot_launches(job, a, b)
        return launches
    return [_by_entry(job, job.stage.operands["mask"], search_cost(a.mean, b.mean))]


def search_cost(mean: int, other: int) -> int:
    """Return for how many merged entries a search counts, by the mean lengths of both lines.

    Examples
    --------
    >>> search_cost(30, 30), search_cost(1000, 8)
    (32, 8)
    """
    is_alike = max(mean, other) < UNLIKE * min(mean, other)
    return SEARCH_AMONG_MERGES if is_alike else SEARCH_LOOKS


def _by_entry(job: Job, mask: Pieces, cost: int) -> Launch:
    """Return the launch in which each warp takes 32 entries of the mask at a time."""
    multiprocessors = job.stage.runtime.multiprocessors
    blocks = max(1, min(BLOCKS_PER_SM * multiprocessors, -(-mask.most // THREADS)))
    return Launch("t_dots_by_entry", blocks, THREADS, 0, (cost,), is_lasting=True)


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
    """What sums of blocks are kept in; statement after statement uses it."""

    #: Blocks there is room for.
    parts: int
    values: Buffer
    counts: Buffer
    #: Zero between statements.
    ticket: Buffer


def summed_dots(job: Job, out: Sequence[int], itemsize: int) -> tuple[Tally, Launch | None]:
    """Launch the dot products and their sum of `itemsize` bytes; `out` describes the scalar.

    Return with the tally the launch with all that it was given but that, if it is one and lasts.
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
    return tally, lone and replace(lone, given=(*lone.given, *given))


def _room(job: Job, parts: int, itemsize: int) -> Sums:
    runtime, executable = job.stage.runtime, job.stage.executable
    have = executable.sums
    if have is None or have.parts < parts:
        allocate = runtime.allocate
        have = Sums(parts, allocate(itemsize * parts), allocate(8 * parts), runtime.zeroed(8))
        executable.sums = have
    return have
