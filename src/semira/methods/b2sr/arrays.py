"""B2SR: the pattern of a matrix as tiles of k x k bits, in compressed lines of tiles.

The upper level is CSR (or CSC) over the tiles that hold an entry; the lower level is a dense bit
tile. Bit number ``r * k + c`` of a tile, counted from the least significant of its first word, is
the entry in line r and position c of the tile. The format is that of Chen et al., Bit-GraphBLAS
(2022), with words of 64 bits, 4 x 4 tiles in 16 bits, and positions of tiles in 16 bits while they
fit: ``indptr`` has the first tile of each line of tiles, ``indices`` the position of each tile in
its line, rising, and ``words`` has 0 behind the last line and position.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from semira.base.errors import InvalidValue
from semira.formats.index import offset_dtype

#: Sides of a tile.
SIZES = (4, 8, 16, 32)

#: The side that products of matrices take with ``bits="auto"``: the fewest tiles meet, once for the
#: most results.
WIDEST = 32


def check_size(bits: int) -> None:
    """Check the side of a tile.

    Raises
    ------
    InvalidValue
        It is none of `SIZES`.
    """
    if bits not in SIZES:
        raise InvalidValue(f"bits={bits!r}; choose one of {', '.join(map(str, SIZES))}")


def word_dtype(bits: int) -> np.dtype[Any]:
    """Return the dtype of a tile's words: 16 bits hold a 4 x 4 tile, others are of 64-bit words.

    Examples
    --------
    >>> word_dtype(4).name, word_dtype(8).name
    ('uint16', 'uint64')
    """
    return np.dtype(np.uint16 if bits == 4 else np.uint64)


def words_per_tile(bits: int) -> int:
    """Return the words of a tile.

    Examples
    --------
    >>> [words_per_tile(bits) for bits in SIZES]
    [1, 1, 4, 16]
    """
    return max(1, bits * bits // 64)


def tile_dtype(positions: int, bits: int) -> np.dtype[Any]:
    """Return the dtype of the positions of tiles in their line.

    Examples
    --------
    >>> tile_dtype(262144, 4).name, tile_dtype(262145, 4).name
    ('uint16', 'int32')
    """
    return np.dtype(np.uint16 if -(-positions // bits) <= 2**16 else np.int32)


def b2sr_bytes(
    lines: int, positions: int, tiles: int, bits: int, *, published: bool = False
) -> int:
    """Return the bytes of B2SR: offsets of lines of tiles, a position and the bits of each tile.

    Parameters
    ----------
    lines, positions : int
        Rows and columns of the matrix, if tiles are compressed along rows.
    tiles : int
        Tiles with an entry.
    bits : 4, 8, 16 or 32
    published : bool
        As in the paper: positions in 32 bits, and a byte for each line of a 4 x 4 tile.

    Examples
    --------
    >>> b2sr_bytes(3071, 3071, 30716, 8), b2sr_bytes(3071, 3071, 30716, 8, published=True)
    (308700, 370132)
    """
    check_size(bits)
    word = offset_dtype(tiles).itemsize
    place = 4 if published else tile_dtype(positions, bits).itemsize
    tile = bits if bits == 4 and published else bits * bits // 8
    return (-(-lines // bits) + 1) * word + tiles * (place + tile)
