"""How the rows of a product are shared out: bins of rows by size, and the launch of each."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from semira.backends.cuda.runtime.parts import Buffer
from semira.backends.cuda.runtime.primitives import BLOCKS_PER_SM, Primitives

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

#: Words of a Ledger that the host reads, and all (kernels/mxm/rows.cuh).
TALLIED, LEDGER_WORDS = 9, 11

#: Bytes that the lists of all bins take for each row: two bins share room for all of them.
LIST_BYTES = 16

#: Threads of a block that counts (kScanThreads in kernels/matrix/scan.cuh).
COUNTING_THREADS = 256


@dataclass(frozen=True, slots=True)
class Bin:
    """Rows that are treated alike."""

    number: int
    #: Threads of a row; 0: a block.
    lanes: int
    #: Of a block.
    threads: int
    #: Of a row's table; 0: rows of any size, without a table.
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
        """Return how many blocks are worth starting for `rows` rows."""
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


@lru_cache(maxsize=1024)
def worthwhile_bins(itemsize: int, nrows: int, ncols: int, multiprocessors: int) -> tuple[Bin, ...]:
    """Return the bins of tables that get a launch.

    Not those with fewer lanes a row than leave threads of the device idle: their rows go to the
    next one. Nor those for rows longer than any.

    Examples
    --------
    >>> [[one.limit for one in worthwhile_bins(4, n, n, 132)] for n in (900, 3_000, 20_000)]
    [[512, 1024], [512, 1024, 4096], [256, 512, 1024, 4096]]
    >>> [one.limit for one in worthwhile_bins(4, 1_000_000, 1_000_000, 132)]
    [32, 256, 512, 1024, 4096]
    """
    found: list[Bin] = []
    for one in table_bins(itemsize):
        leaves_idle = one.lanes and nrows * one.lanes < THREADS_OF_SM * multiprocessors
        if not leaves_idle and not (found and found[-1].limit >= ncols):
            found.append(one)
    return tuple(found)


def merges_few(nrows: int, multiprocessors: int) -> bool:
    """Return whether lanes merge short rows: not where there are threads for more lanes a row.

    Examples
    --------
    >>> merges_few(20_000, 132), merges_few(1_000_000, 132)
    (False, True)
    """
    return nrows * TABLES[0][0] >= THREADS_OF_SM * multiprocessors


def rows_of_warp(nrows: int, multiprocessors: int) -> int:
    """Return how many rows a warp counts at a time: fewer where there are warps for all.

    Examples
    --------
    >>> [rows_of_warp(n, 132) for n in (1000, 10_000, 1_000_000)]
    [1, 2, 32]
    """
    warps = THREADS_OF_SM // 32 * multiprocessors
    return int(min(32, 1 << max(0, -(-nrows // warps) - 1).bit_length()))


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
    """Rows in bins, on the device."""

    #: Those with tables.
    bins: tuple[Bin, ...]
    #: Rows of each bin, and how many there are of each.
    lists: Buffer
    ledger: Buffer

    def read(self, primitives: Primitives) -> list[int]:
        """Return sum of the sizes, sum of the cut sizes, rows of each bin; waits."""
        words = primitives.runtime.read_short(self.ledger, 8 * TALLIED)
        return [*array("q", words)]


def put_in_bins(
    primitives: Primitives, kernel: str, offset_type: str, shape: tuple[int, int], few: Any,
    to: Binned, *given: Any,
) -> None:  # fmt: skip
    """Start a kernel that lists rows by size, no size counted above the number of columns.

    `few` are the offsets of A where lanes may make rows by themselves. The ledger holds zeros.
    """
    (nrows, ncols), multiprocessors = shape, primitives.runtime.multiprocessors
    per_warp = rows_of_warp(nrows, multiprocessors)
    most = BLOCKS_PER_SM * multiprocessors
    blocks = max(1, min(most, -(-nrows // (COUNTING_THREADS // 32 * per_warp))))
    primitives.module.launch_blocks(
        offset_type, kernel, blocks, nrows, per_warp, ncols, *limits_of(to.bins), few, to.ledger,
        to.lists, *given, threads=COUNTING_THREADS,
    )  # fmt: skip


def bin_rows(
    primitives: Primitives, sizes: Any, shape: tuple[int, int], bins: tuple[Bin, ...],
    lists: Any = None, few: tuple[str, Any, Any] = ("int", None, None),
) -> Binned:  # fmt: skip
    """Sort rows by size, no size counted above the number of columns.

    `lists`: memory for them, if there is some already. `few`: the type of A's offsets, these, and
    partial products of each row, where lanes may make rows by themselves.
    """
    scratch, (offset_type, indptr, products) = primitives.scratch, few
    lists = scratch.take(LIST_BYTES * shape[0]) if lists is None else lists
    found = Binned(bins, lists, scratch.zeros(8 * LEDGER_WORDS))
    put_in_bins(primitives, "semira_bin_rows", offset_type, shape, indptr, found, sizes, products)
    return found
