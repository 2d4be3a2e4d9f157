"""B2SR in NumPy, by sorting a key for each entry: what the kernels of the back ends must make.

Besides it has tiles packed the other way, and transposes either level alone, as the paper does.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.base.dtypes import BOOL
from semira.base.errors import InvalidObject
from semira.formats.index import index_dtype, offset_dtype
from semira.formats.matrix import MatrixArrays
from semira.methods.b2sr.arrays import check_size, tile_dtype, word_dtype, words_per_tile

#: Which bits of a tile lie together: those of a line, or those of a position across the lines.
PACKINGS = ("lines", "across")

_FLIPPED = {"csr": "csc", "csc": "csr", "lines": "across", "across": "lines"}


@dataclass(frozen=True, slots=True, eq=False)
class B2srArrays:
    """The pattern of a matrix as tiles of bits: rows (``csr``) or columns (``csc``) of tiles.

    Attributes
    ----------
    nrows, ncols : int
    orientation : {"csr", "csc"}
        Whether lines are rows or columns; see `MatrixArrays`.
    bits : 4, 8, 16 or 32
        Side of a tile.
    indptr : ndarray, shape (ceil(lines / bits) + 1,), int32 or int64
        First tile of each line of tiles.
    indices : ndarray, shape (tiles,), uint16 or int32
        Position of each tile in its line of tiles, rising.
    words : ndarray, shape (tiles * words_per_tile(bits),), uint16 or uint64
        Bits of the tiles, see the module. Those behind the last line or position are 0.
    packing : {"lines", "across"}
    """

    nrows: int
    ncols: int
    orientation: str
    bits: int
    indptr: NDArray[Any]
    indices: NDArray[Any]
    words: NDArray[Any]
    packing: str = "lines"

    @classmethod
    def from_matrix(cls, matrix: MatrixArrays, bits: int) -> B2srArrays:
        """Return the pattern of a matrix in tiles; lines are the rows of a csr, columns of a csc.

        Parameters
        ----------
        matrix : MatrixArrays
        bits : 4, 8, 16 or 32

        Raises
        ------
        InvalidValue
            There are no tiles of this size.

        Notes
        -----
        Sorts a key for each entry: O(nvals log nvals) time, 24 bytes an entry. The back ends have
        kernels that make the same arrays in linear time.

        Examples
        --------
        >>> indptr, indices = np.array([0, 1, 2, 3], np.int32), np.array([1, 2, 0], np.int32)
        >>> ring = MatrixArrays(3, 3, BOOL, "csr", indptr, indices, np.ones(1, bool), iso=True)
        >>> made = B2srArrays.from_matrix(ring, 4)
        >>> made.indices.tolist(), [f"{word:016b}" for word in made.words]
        ([0], ['0000000101000010'])
        """
        check_size(bits)
        matrix = matrix.ordinary()
        tile_lines, across = -(-matrix.nmajor // bits), -(-matrix.nminor // bits)
        major, minor = matrix.entry_major().astype(np.int64), matrix.indices.astype(np.int64)
        place = major % bits * bits + minor % bits
        tile = major // bits * max(1, across) + minor // bits
        per_tile = words_per_tile(bits)
        key = tile * per_tile + place // 64
        order = np.argsort(key, kind="stable")
        key, place = key[order], place[order]
        starts = np.flatnonzero(np.diff(key, prepend=-1))
        bit = np.left_shift(np.uint64(1), (place % 64).astype(np.uint64))
        found = np.bitwise_or.reduceat(bit, starts) if len(starts) else bit
        key = key[starts]
        tile, slot = np.unique(key // per_tile, return_inverse=True)
        words = np.zeros(len(tile) * per_tile, word_dtype(bits))
        words[slot * per_tile + key % per_tile] = found
        indptr = np.zeros(tile_lines + 1, offset_dtype(len(tile)))
        np.cumsum(np.bincount(tile // max(1, across), minlength=tile_lines), out=indptr[1:])
        indices = (tile % max(1, across)).astype(tile_dtype(matrix.nminor, bits))
        return cls(matrix.nrows, matrix.ncols, matrix.orientation, bits, indptr, indices, words)

    @property
    def lines(self) -> int:
        """Rows of a csr, columns of a csc."""
        return self.nrows if self.orientation == "csr" else self.ncols

    @property
    def positions(self) -> int:
        """Columns of a csr, rows of a csc."""
        return self.ncols if self.orientation == "csr" else self.nrows

    @property
    def tiles(self) -> int:
        """Tiles with an entry."""
        return len(self.indices)

    @property
    def nvals(self) -> int:
        """Entries; counts bits."""
        return int(np.bitwise_count(self.words).sum(dtype=np.int64))

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays; `b2sr_bytes` says it without them."""
        return self.indptr.nbytes + self.indices.nbytes + self.words.nbytes

    def cells(self) -> NDArray[np.bool_]:
        """Return the tiles as Booleans, shape (tiles, bits, bits), by line and position."""
        raw = self.words.astype(self.words.dtype.newbyteorder("<"), copy=False).view(np.uint8)
        held = np.unpackbits(raw, bitorder="little").reshape(-1, self.bits, self.bits)
        cells = held.view(np.bool_)
        return cells if self.packing == "lines" else cells.transpose(0, 2, 1)

    def to_matrix(self) -> MatrixArrays:
        """Return the pattern in compressed form, of the same orientation and dtype BOOL."""
        which, line, place = np.nonzero(self.cells())
        owner = np.repeat(np.arange(len(self.indptr) - 1), np.diff(self.indptr))
        line = owner[which] * self.bits + line
        minor = self.indices[which].astype(np.int64) * self.bits + place
        order = np.lexsort((minor, line))
        indptr = np.zeros(self.lines + 1, offset_dtype(len(order)))
        np.cumsum(np.bincount(line, minlength=self.lines), out=indptr[1:])
        minor = minor[order].astype(index_dtype(self.nrows, self.ncols))
        one = np.ones(1, BOOL.array_dtype)
        return MatrixArrays(
            self.nrows, self.ncols, BOOL, self.orientation, indptr, minor, one, iso=True
        )

    def turned(self) -> B2srArrays:
        """Return the same matrix with the other lines compressed; bits stay where they are.

        Tiles move as wholes: only the upper level is transposed, as entries of CSR are for CSC.
        What lay along the lines lies across them afterwards, so that the packing changes.
        """
        across = -(-self.positions // self.bits)
        owner = np.repeat(np.arange(len(self.indptr) - 1), np.diff(self.indptr))
        order = np.argsort(self.indices, kind="stable")
        indptr = np.zeros(across + 1, self.indptr.dtype)
        np.cumsum(np.bincount(self.indices, minlength=across), out=indptr[1:])
        words = self.words.reshape(-1, words_per_tile(self.bits))[order].ravel()
        return replace(
            self,
            orientation=_FLIPPED[self.orientation],
            indptr=indptr,
            indices=owner[order].astype(tile_dtype(self.lines, self.bits)),
            words=words,
            packing=_FLIPPED[self.packing],
        )

    def transposed(self) -> B2srArrays:
        """Return the transpose; nothing is moved."""
        return replace(
            self, nrows=self.ncols, ncols=self.nrows, orientation=_FLIPPED[self.orientation]
        )

    def repacked(self) -> B2srArrays:
        """Return the same matrix with each tile packed the other way."""
        words = transpose_tiles(self.words, self.bits)
        return replace(self, words=words, packing=_FLIPPED[self.packing])

    def validate(self) -> None:
        """Check every invariant.

        Raises
        ------
        InvalidObject
            An invariant is broken; the message names it.
        """
        check_size(self.bits)
        if self.packing not in PACKINGS:
            raise InvalidObject(f"packing={self.packing!r}; choose one of {', '.join(PACKINGS)}")
        if self.words.dtype != word_dtype(self.bits):
            raise InvalidObject(f"words are {self.words.dtype}, not {word_dtype(self.bits)}")
        wanted = tile_dtype(self.positions, self.bits)
        if self.indices.dtype != wanted:
            raise InvalidObject(f"indices are {self.indices.dtype}, not {wanted}")
        if len(self.words) != self.tiles * words_per_tile(self.bits):
            raise InvalidObject(f"{len(self.words)} words for {self.tiles} tiles")
        tile_lines, across = -(-self.lines // self.bits), -(-self.positions // self.bits)
        if len(self.indptr) != tile_lines + 1 or self.indptr[0] != 0:
            raise InvalidObject(f"indptr must begin at 0 and hold {tile_lines + 1} offsets")
        if bool(np.any(np.diff(self.indptr) < 0)) or self.indptr[-1] != self.tiles:
            raise InvalidObject(f"indptr must not fall, and end at {self.tiles}, the tiles")
        if self.tiles and not 0 <= int(self.indices.min()) <= int(self.indices.max()) < across:
            raise InvalidObject(f"a tile lies outside of [0, {across})")
        inner = np.ones(self.tiles, np.bool_)
        inner[self.indptr[:-1][np.diff(self.indptr) > 0]] = False
        steps = np.diff(self.indices.astype(np.int64), prepend=-1)
        if bool(np.any(steps[inner] <= 0)):
            raise InvalidObject("tiles must rise within their line of tiles")
        self._validate_bits(tile_lines, across)

    def _validate_bits(self, tile_lines: int, across: int) -> None:
        cells = self.cells()
        if not bool(np.all(cells.any(axis=(1, 2)))):
            raise InvalidObject("a tile has no entry")
        last = np.arange(self.indptr[-2] if tile_lines else 0, self.tiles)
        lines_left = self.lines - (tile_lines - 1) * self.bits
        places_left = self.positions - (across - 1) * self.bits
        behind = cells[self.indices == across - 1][:, :, places_left:]
        if bool(np.any(cells[last][:, lines_left:])) or bool(np.any(behind)):
            raise InvalidObject("padding bits behind the last line or position must be 0")


def transpose_tiles(words: NDArray[Any], bits: int) -> NDArray[Any]:
    """Return the words of every tile transposed: blocks of halving size change places.

    Parameters
    ----------
    words : ndarray
        See `B2srArrays`.
    bits : 4, 8, 16 or 32

    Examples
    --------
    >>> [hex(word) for word in transpose_tiles(np.array([0x00F1], np.uint16), 4)]
    ['0x2223']
    """
    if bits == 4:
        lines = (words[:, None] >> np.arange(0, 16, 4, dtype=np.uint16) & 15).astype(np.uint32)
    else:
        lines = words.view(_LINE[bits]).reshape(-1, bits).astype(np.uint32)
    step = bits // 2
    while step:
        mask = sum(1 << c for c in range(bits) if not c & step)
        upper = np.flatnonzero(np.arange(bits) & step == 0)
        lower = upper + step
        moved = (lines[:, upper] >> np.uint32(step) ^ lines[:, lower]) & np.uint32(mask)
        lines[:, lower] ^= moved
        lines[:, upper] ^= moved << np.uint32(step)
        step //= 2
    if bits == 4:
        joined: NDArray[Any] = np.bitwise_or.reduce(
            lines << np.arange(0, 16, 4, dtype=np.uint32), axis=1
        )
        return joined.astype(np.uint16)
    return lines.astype(_LINE[bits]).reshape(-1).view(np.uint64)


#: Dtype of a line of a tile in memory, lowest line first.
_LINE: dict[int, Any] = {8: np.uint8, 16: np.uint16, 32: np.uint32}
