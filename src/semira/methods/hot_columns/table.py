"""Hot columns: copies of a matrix' columns that name frequent ones, or all, by their rank."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from semira.backends.companions import Kind
from semira.backends.cuda.lower.variants import VariantPull
from semira.backends.cuda.runtime.device import Runtime
from semira.backends.cuda.runtime.kernel_choice import require_spare
from semira.backends.cuda.runtime.objects import CudaMatrix
from semira.backends.cuda.runtime.primitives import module_of, primitives_of
from semira.base.errors import OutOfMemory
from semira.base.log import logger
from semira.methods.hot_columns.plan import ROW, Figures

#: What a matrix keeps.
HOT = Kind(ROW.name, depends_on="pattern")

#: File of the kernels that make the table.
MAKE = "semira.methods.hot_columns.kernels:rank.cuh"

#: Shared memory of a multiprocessor that a table leaves to L1, to the driver (of a block), and to
#: the program's own variables. With 28 KB of L1 in place of 60 an H200 took 642 us for what takes
#: 523 (bench/notes/spmv.md); the hardware parts the two in steps, of which this is the next.
LEFT_TO_L1, OF_DRIVER, OF_PROGRAM = 32 << 10, 1 << 10, 8 << 10

#: The number of values of a table is a multiple of this.
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
    """Return the bytes of a table: values, then presence words (``kernels/pull.cuh``)."""
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

    def serves(self, pull: VariantPull) -> bool:
        """Whether there is a copy for values as large as a pull's."""
        return self.width >= pull.width

    def answers(self, pull: VariantPull) -> bool:
        """Whether nothing is left to find out for a pull."""
        return self.serves(pull) or (pull.width, Figures(*pull.figures).share) in self.refused


def make_hot(runtime: Runtime, matrix: CudaMatrix, pull: VariantPull) -> Hot:
    """Ask a matrix for its hot columns, make the copy if it pays, and keep the answer."""
    before = matrix.companion(HOT, pull.orientation) or Hot()
    try:
        made = _built(runtime, matrix, pull)
    except OutOfMemory as error:
        logger.warning("hot columns are left out: %s", error)
        made = None
    if made is None:
        refused = before.refused | {(pull.width, Figures(*pull.figures).share)}
        found = replace(before, refused=refused)
    else:
        found = replace(made, refused=before.refused)
    matrix.keep_companion(HOT, pull.orientation, found)
    return found


def _built(runtime: Runtime, matrix: CudaMatrix, pull: VariantPull) -> Hot | None:
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
    covered, near_by, occupied = _count_hot(runtime, lengths, order, lines, count, cached)
    is_ordered = is_large and near_by >= CACHED_SHARE * nvals and occupied > count
    if is_ordered:
        is_ordered = _count_near(runtime, indices, nvals, NEAR) <= NEAR_SHARE * nvals
    share, listed = covered / nvals, occupied if is_ordered else count
    logger.debug("%d of %d columns cover %.3f of %d entries", count, listed, share, nvals)
    if share < Figures(*pull.figures).share and not is_ordered:
        return None
    # Zeros, so that what nobody has written yet is copied as such.
    columns = runtime.zeroed(_whole(4 * listed) + table_bytes(listed, pull.width))
    slots = _hot_slots(runtime, order, lines, count, listed, columns)
    coded = _recode(runtime, indices, nvals, slots)
    return Hot(pull.width, count, listed, share, columns, coded)


# Kernels of kernels/rank.cuh.
def _count_hot(
    runtime: Runtime, lengths: Any, order: Any, lines: int, count: int, cached: int
) -> tuple[int, int, int]:
    """Return entries of the `count` and `cached` longest lines, and lines with any; waits.

    Parameters
    ----------
    lengths, order : memory
        Entries of each line, and the lines by rising numbers of them.
    """
    found = runtime.zeroed(24)
    _launch(runtime, "semira_count_hot", lines, lengths, order, lines, count, cached, found)
    first, second, third = runtime.download(found, np.int64, 3)
    return int(first), int(second), int(third)


def _count_near(runtime: Runtime, indices: Any, nvals: int, within: int) -> int:
    """Return how many entries' indices are closer than `within` to the next one's; waits."""
    found = runtime.zeroed(8)
    _launch(runtime, "semira_count_near", nvals, indices, nvals, within, found)
    return int(runtime.download(found, np.int64, 1)[0])


def _hot_slots(
    runtime: Runtime, order: Any, lines: int, count: int, listed: int, columns: Any
) -> Any:
    """List the longest lines in `columns`, the longest first.

    Returns
    -------
    buffer
        ``~k`` for line ``columns[k]`` with k below `count`, k for those listed after them, each
        other line's own number.
    """
    slots = runtime.allocate(4 * lines)
    _launch(runtime, "semira_hot_slots", lines, order, lines, count, listed, columns, slots)
    return slots


def _recode(runtime: Runtime, indices: Any, nvals: int, slots: Any) -> Any:
    """Return ``slots[indices]``."""
    coded = runtime.allocate(4 * nvals)
    _launch(runtime, "semira_recode", nvals, indices, nvals, slots, coded)
    return coded


def _launch(runtime: Runtime, kernel: str, count: int, *given: Any) -> None:
    module_of(runtime, MAKE).launch("int", kernel, count, *given)
