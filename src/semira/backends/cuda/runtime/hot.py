"""Hot columns: copies of a matrix' columns that name frequent ones, or all, by their rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from semira.backends.cuda.lower.copies import HotPull
from semira.backends.cuda.runtime.companion_kinds import HOT
from semira.backends.cuda.runtime.copies import is_early, require_spare
from semira.backends.cuda.runtime.device import Runtime
from semira.backends.cuda.runtime.objects import CudaMatrix
from semira.backends.cuda.runtime.primitives import primitives_of
from semira.backends.cuda.runtime.shares import LONGEST_MIDDLING
from semira.base.errors import OutOfMemory
from semira.base.log import logger

#: Shared memory of a multiprocessor that a table leaves to L1, to the driver (of a block), and to
#: the program's own variables. With 28 KB of L1 in place of 60 an H200 took 642 us for what takes
#: 523 (bench/notes/spmv.md); the hardware parts the two in steps, of which this is the next.
LEFT_TO_L1, OF_DRIVER, OF_PROGRAM = 32 << 10, 1 << 10, 8 << 10

#: A table has a multiple of so many values.
STEP = 512

#: All columns are named by rank where the vector has at least so many bytes, so that the L2 cache
#: would not keep it, the most frequent ones of so many bytes cover this share of the entries, and
#: at most this share of the entries lie near the next one: else the order has a use as it is.
ORDERED_BYTES, CACHED_BYTES, CACHED_SHARE, NEAR_SHARE = 32 << 20, 8 << 20, 0.6, 0.25

#: Indices that are closer have values in one line of a cache, or in the next.
NEAR = 32


def most_table_bytes(shared: int) -> int:
    """Return the bytes that a table may take of `shared` bytes of a multiprocessor.

    Examples
    --------
    >>> most_table_bytes(228 << 10)
    191488
    """
    return max(0, shared - LEFT_TO_L1 - OF_DRIVER - OF_PROGRAM)


def slots_that_fit(width: int, shared: int) -> int:
    """Return how many values of `width` bytes fit, each with a bit of presence.

    Examples
    --------
    >>> slots_that_fit(4, 228 << 10), slots_that_fit(8, 228 << 10)
    (46080, 23552)
    """
    return 8 * most_table_bytes(shared) // (8 * width + 1) // STEP * STEP


def table_bytes(count: int, width: int) -> int:
    """Return the bytes of a table: values, then presence words (``kernels/vxm/hot.cuh``)."""
    return _whole(count * width) + _whole(4 * (-(-count // 32)))


def _whole(nbytes: int) -> int:
    return -(-nbytes // 16) * 16


@dataclass(frozen=True, slots=True)
class Hot:
    """What is known of the most frequent columns (of a csc: rows) of an orientation.

    Attributes
    ----------
    width : int
        Bytes of the largest values whose table fits; 0: there is no copy.
    count : int
        Number of these columns.
    listed : int
        The same, or the number of columns that occur where all are named by rank.
    share : float
        Of the entries that the first `count` cover.
    columns : buffer or None
        Their list, the most frequent one first; then room for a table.
    coded : buffer or None
        Columns of all entries, ``~k`` in the place of ``columns[k]`` if k is below `count`, else k.
    refused : frozenset of (int, float)
        Bytes of values, and the share they asked for, that got no copy: they do not ask again.
    """

    width: int = 0
    count: int = 0
    listed: int = 0
    share: float = 0.0
    columns: Any = None
    coded: Any = None
    refused: frozenset[tuple[int, float]] = frozenset()

    def describe(self) -> list[int]:
        """Return its words in a CompressedDescriptor."""
        if self.coded is None:
            return [0, 0, 0, 0]
        return [int(self.coded.handle), int(self.columns.handle), self.count, self.listed]

    @property
    def nbytes(self) -> int:
        """Bytes of its buffers."""
        return 0 if self.coded is None else int(self.coded.size) + int(self.columns.size)

    def serves(self, pull: HotPull) -> bool:
        """Whether there is a copy for values as large as a pull's."""
        return self.width >= pull.width

    def answers(self, pull: HotPull) -> bool:
        """Whether nothing is left to find out for a pull."""
        return self.serves(pull) or (pull.width, pull.rule.share) in self.refused


def choose_hot(runtime: Runtime, pulls: Sequence[HotPull], things: list[Any]) -> tuple[int, bool]:
    """Find out what a run has of hot columns; make the copies that will pay.

    Returns
    -------
    shared : int
        Bytes of the largest table; 0: the ordinary kernel.
    is_open : bool
        Whether a later run may find more.
    """
    shared, is_open = 0, False
    for pull in pulls:
        matrix: CudaMatrix = things[pull.slot]
        if not pull.rule.asks(matrix.most, matrix.sides(pull.orientation)[0]):
            continue
        # Otherwise the order of sums would depend on whether there is a copy yet.
        if pull.alone and _is_middling(pull, matrix, runtime):
            continue
        found = matrix.companion(HOT, pull.orientation)
        if found is None or not found.answers(pull):
            if is_early("hot", pull, pull.rule.products, things) or runtime.is_capturing():
                is_open = True
                continue
            found = make_hot(runtime, matrix, pull)
        if found.serves(pull):
            shared = max(shared, table_bytes(found.count, pull.width))
    # A kernel with tables takes whatever copy there is: none may be made for smaller values.
    copies = ((things[pull.slot].companion(HOT, pull.orientation), pull) for pull in pulls)
    if any(copy and copy.coded is not None and not copy.serves(pull) for copy, pull in copies):
        shared = 0
    return shared, is_open


def _is_middling(pull: HotPull, matrix: CudaMatrix, runtime: Runtime) -> bool:
    """Return whether a product alone sums rows without the table (kernels/vxm/middling.cuh).

    The longest row is asked for once, which waits; while a graph is captured nobody waits.
    """
    if runtime.is_capturing() and not matrix.knows_longest(pull.orientation):
        return True
    return matrix.longest_line(pull.orientation) <= LONGEST_MIDDLING


def make_hot(runtime: Runtime, matrix: CudaMatrix, pull: HotPull) -> Hot:
    """Ask a matrix for its hot columns, make the copy if it pays, and keep the answer."""
    before = matrix.companion(HOT, pull.orientation) or Hot()
    try:
        made = _built(runtime, matrix, pull)
    except OutOfMemory as error:
        logger.warning("hot columns are left out: %s", error)
        made = None
    if made is None:
        refused = before.refused | {(pull.width, pull.rule.share)}
        found = replace(before, refused=refused)
    else:
        found = replace(made, refused=before.refused)
    matrix.keep_companion(HOT, pull.orientation, found)
    return found


def _built(runtime: Runtime, matrix: CudaMatrix, pull: HotPull) -> Hot | None:
    """Count the columns, and copy them if that pays; waits for their shares."""
    nvals, (_, lines) = matrix.nvals, matrix.sides(pull.orientation)
    count = min(lines, slots_that_fit(pull.width, runtime.shared))
    if not count or not nvals:
        return None
    is_large = lines * pull.width >= ORDERED_BYTES
    require_spare(runtime, 4 * nvals + (56 if is_large else 40) * lines)
    primitives, indices = primitives_of(runtime), matrix.orientations[pull.orientation][1]
    lengths = matrix.line_lengths(pull.orientation)
    order = primitives.order_of(lengths, lines, np.int32)
    cached = CACHED_BYTES // pull.width
    covered, near_by, occupied = primitives.count_hot(lengths, order, lines, count, cached)
    is_ordered = is_large and near_by >= CACHED_SHARE * nvals and occupied > count
    if is_ordered:
        is_ordered = primitives.count_near(indices, nvals, NEAR) <= NEAR_SHARE * nvals
    share, listed = covered / nvals, occupied if is_ordered else count
    logger.debug("%d of %d columns cover %.3f of %d entries", count, listed, share, nvals)
    if share < pull.rule.share and not is_ordered:
        return None
    # Zeros, so that what nobody has written yet is copied as such.
    columns = runtime.zeroed(_whole(4 * listed) + table_bytes(listed, pull.width))
    slots = primitives.hot_slots(order, lines, count, listed, columns)
    coded = primitives.recode(indices, nvals, slots)
    return Hot(pull.width, count, listed, share, columns, coded)
