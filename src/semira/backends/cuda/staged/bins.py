"""How the rows of a product are shared out: bins of rows by size, and the launch of each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from semira.backends.cuda.runtime.primitives import Primitives

#: (threads of a row, 0 for the whole block; threads of a block; slots of a row's table). A table
#: is at most half full, so that a probe meets 1.5 slots on average and an insertion 2.5 (Knuth,
#: linear probing), and what is cleared and moved of it follows the row. 48 KB a block of 256
#: threads with 8-byte values leave as many blocks as the registers do, four; 96 KB is what every
#: GPU from sm_80 on grants a block on request.
TABLES = ((8, 256, 64), (32, 256, 512), (0, 128, 1024), (0, 256, 2048), (0, 512, 8192))

#: Threads of a block at most (the kernels' launch bounds), and of one that takes a row window by
#: window.
MOST_THREADS = WINDOW_THREADS = 512

#: Threads that live on a multiprocessor at most.
THREADS_OF_SM = 2048

#: Shared memory of one block at most, of the sums of one window, and of a bitmap of columns. 64 KB
#: let three blocks live on a multiprocessor of 227 KB.
SHARED = 96 << 10
WINDOW = BITMAP = 64 << 10

#: Words of a Ledger before and with what `fill_bins` adds (kernels/mxm/rows.cuh).
TALLIED, LEDGER_WORDS = 9, 16


@dataclass(frozen=True, slots=True)
class Bin:
    """Rows that are treated alike.

    Attributes
    ----------
    number : int
    lanes : int
        Threads of a row; 0: a block.
    threads : int
        Of a block.
    slots : int
        Of a row's table; 0: rows of any size, without a table.
    """

    number: int
    lanes: int
    threads: int
    slots: int

    @property
    def groups(self) -> int:
        """Rows that a block works on at once."""
        return self.threads // self.lanes if self.lanes else 1

    @property
    def limit(self) -> int:
        """Largest row."""
        return self.slots // 2

    def table_bytes(self, itemsize: int) -> int:
        """Return the bytes of a block's tables: a column and a value in each slot."""
        return self.groups * self.slots * (4 + itemsize)

    def blocks(self, rows: int, multiprocessors: int) -> int:
        """Return how many blocks are worth starting for so many rows."""
        most = THREADS_OF_SM // self.threads * multiprocessors
        return max(1, min(most, -(-rows // self.groups)))


LAST = Bin(len(TABLES), 0, WINDOW_THREADS, 0)

#: Rows that a lane merges (kernels/mxm/few.cuh), whatever their size.
FEW = Bin(len(TABLES) + 1, 1, 256, 0)


@cache
def table_bins(itemsize: int) -> tuple[Bin, ...]:
    """Return the bins whose tables fit, for values of `itemsize` bytes.

    Examples
    --------
    >>> [found.limit for found in table_bins(8)], [found.limit for found in table_bins(16)]
    ([32, 256, 512, 1024, 4096], [32, 512, 1024])
    """
    bins = (Bin(number, *given) for number, given in enumerate(TABLES))
    # Several rows in a block: not so large that hardly any block has room beside it.
    rooms = ((found, SHARED // 2 if found.lanes else SHARED) for found in bins)
    return tuple(found for found, room in rooms if found.table_bytes(itemsize) <= room)


@cache
def limits_of(bins: tuple[Bin, ...]) -> list[int]:
    """Return the limits the kernels are given; a bin that is left out gets no rows.

    Examples
    --------
    >>> limits_of(table_bins(16))
    [32, 32, 512, 1024, 1024]
    """
    limits, most = [], 0
    for number in range(len(TABLES)):
        most = max([most, *(found.limit for found in bins if found.number == number)])
        limits.append(most)
    return limits


def window_columns(itemsize: int) -> int:
    """Return how many columns a window of sums has: a power of two, whole words of a bitmap.

    Examples
    --------
    >>> window_columns(8), window_columns(1), window_columns(12)
    (8192, 65536, 4096)
    """
    columns = 32
    while 2 * columns * itemsize <= WINDOW:
        columns *= 2
    return columns


@dataclass(frozen=True, slots=True)
class Binned:
    """Rows in bins, on the device.

    Attributes
    ----------
    lists, ledger : buffers
        Rows, bin after bin, and how many there are of each.
    """

    lists: Any
    ledger: Any

    def read(self, primitives: Primitives) -> list[int]:
        """Return sum of the sizes, sum of the cut sizes, rows of each bin; waits."""
        return [int(n) for n in primitives.runtime.download(self.ledger, np.int64, TALLIED)]


def bin_rows(
    primitives: Primitives,
    sizes: Any,
    nrows: int,
    most: int,
    bins: tuple[Bin, ...],
    few: tuple[str, Any, Any] = ("int", None, None),
) -> Binned:
    """Sort rows by size, no size counted above `most`.

    `few`: the type of A's offsets, these, and partial products of each row, where lanes may make
    rows by themselves.
    """
    scratch, (offset_type, indptr, products) = primitives.scratch, few
    found = Binned(scratch.take(4 * nrows), scratch.zeros(8 * LEDGER_WORDS))
    given = (sizes, nrows, most, *limits_of(bins), indptr, products, found.ledger)
    primitives.module.launch(offset_type, "semira_count_bins", nrows, *given)
    primitives.module.launch(offset_type, "semira_fill_bins", nrows, *given, found.lists)
    return found
