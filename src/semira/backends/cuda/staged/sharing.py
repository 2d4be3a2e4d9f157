"""How threads share out the rows and columns of a product with a full operand.

Measured: docs/decisions/0031.
"""

from __future__ import annotations

from semira.backends.cuda.runtime.primitives import THREADS
from semira.contract import packs_of

#: Entries of a row that one thread walks at most: few, so that nobody waits for who walks a long
#: row, and more where columns alone keep all threads busy.
PIECE, LONG_PIECE, _MANY_PACKS = 32, 64, 256

#: Lanes that share out a row, at most, and entries for which two take the place of one.
_MOST_LANES, _LANE_ENTRIES = 8, 8

#: Bytes of a load, and loads of a row of the full operand that a band has: 512 bytes if each is of
#: 16, and 1 KB if each is of 8.
_LOAD, _BAND_LOADS = 16, 32

#: Blocks that a multiprocessor has at a time, with 40 registers each thread; with offsets of 64
#: bits and 48 registers.
RESIDENT, RESIDENT_WIDE = 6, 5

#: Blocks that follow each other in one place, and turns that each thread of more takes.
_WAVES, _IN_A_ROW = 4, 4


def band_of(ncols: int, itemsize: int) -> int:
    """Return how many columns of a full operand all rows read before they read the next ones.

    The fewer, the more rows of it stay in L2; but each band walks all entries once more.

    Examples
    --------
    >>> band_of(64, 4), band_of(256, 4), band_of(1250, 4), band_of(256, 8)
    (64, 128, 256, 64)
    """
    most, across = max(1, _LOAD // itemsize), ncols // packs_of(ncols, itemsize)
    return min(ncols, _BAND_LOADS * most * max(1, most // across))


def lanes_of(lines: int, nvals: int, packs: int) -> int:
    """Return how many threads share out a row that has `packs` packs of columns.

    Few where packs lie side by side, so that a warp reads whole cache lines for each entry, and
    where rows are short.

    Examples
    --------
    >>> lanes_of(1000, 31_000, 1), lanes_of(1000, 7_000, 1), lanes_of(1000, 31_000, 16)
    (4, 1, 1)
    """
    lanes = 1
    while lanes * packs < _MOST_LANES and lanes * _LANE_ENTRIES * lines <= nvals:
        lanes *= 2
    return lanes


def piece_of(packs: int) -> int:
    """Return how many entries of a row one thread walks at most.

    Examples
    --------
    >>> piece_of(16), piece_of(625)
    (32, 64)
    """
    return PIECE if packs < _MANY_PACKS else LONG_PIECE


def blocks_of(turns: int, multiprocessors: int) -> int:
    """Return how many blocks take `turns` turns.

    Many, so that short turns make up for long ones; from some number on each for a few turns, so
    that not too many are started.

    Examples
    --------
    >>> blocks_of(1000, 132), blocks_of(1 << 19, 132), blocks_of(1 << 24, 132)
    (4, 2048, 16384)
    """
    needed = -(-turns // THREADS)
    return max(1, min(needed, _WAVES * RESIDENT * multiprocessors), -(-needed // _IN_A_ROW))
