"""Tiles of bits on the cpu: how they are made, and kept with an orientation."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.backends.companions import Kind
from semira.backends.cpu import cache, threads, workspace
from semira.backends.cpu.codegen import Header
from semira.backends.cpu.compressed import Array, Compressed
from semira.base.memory import require_bytes
from semira.formats import offset_dtype
from semira.methods.b2sr.arrays import b2sr_bytes, tile_dtype, word_dtype, words_per_tile

_KERNELS = "semira.methods.b2sr.kernels:"
_BUILD = f"{_KERNELS}words+{_KERNELS}build"


@dataclass(slots=True, eq=False)
class Tiles:
    """One orientation as lines of tiles; see `semira.methods.b2sr.arrays`.

    Attributes
    ----------
    bits : int
        Side of a tile.
    indptr, indices, words : ndarray
    """

    bits: int
    indptr: NDArray[Any]
    indices: NDArray[Any]
    words: NDArray[Any]

    @property
    def nbytes(self) -> int:
        """Bytes of its arrays."""
        return self.indptr.nbytes + self.indices.nbytes + self.words.nbytes


@functools.cache
def _build() -> ModuleType:
    """Return the kernels that make tiles: rendering their module takes 10 ms."""
    return cache.load(_BUILD, Header(), "b2sr_build")


def count_tiles(edges: Compressed, bits: int) -> NDArray[Any]:
    """Return the first tile of each line of tiles, and behind them how many there are."""
    kernels = _build()
    shift, tile_lines, across = _sides(edges, bits)
    counts = np.zeros(tile_lines + 1, np.int64)

    def count(_part: int, lo: int, hi: int) -> None:
        seen = workspace.zeros(np.uint64, across // 64 + 1)
        kernels.count_tiles(lo, hi, edges.indptr, edges.indices, edges.nmajor, shift, counts, seen)
        workspace.give_zeros(seen)

    threads.run_chunks(count, tile_bounds(edges.indptr[:: 1 << shift], tile_lines, edges.nvals))
    np.cumsum(counts, out=counts)
    return counts.astype(offset_dtype(int(counts[-1])), copy=False)


def tiles_of(edges: Compressed, bits: int) -> Tiles:
    """Return an orientation as lines of tiles: its entries are read twice, nothing is sorted.

    Raises
    ------
    OutOfMemory
        They do not fit.
    """
    kernels = _build()
    shift, tile_lines, across = _sides(edges, bits)
    indptr = count_tiles(edges, bits)
    tiles, per_tile = int(indptr[-1]), words_per_tile(bits)
    require_bytes(
        b2sr_bytes(edges.nmajor, edges.nminor, tiles, bits),
        f"tiles of {bits} x {bits} bits of a matrix",
        "use compressed rows (no pin)",
    )
    indices = np.empty(tiles, tile_dtype(edges.nminor, bits))
    words = np.zeros(tiles * per_tile, word_dtype(bits))

    def fill(_part: int, lo: int, hi: int) -> None:
        seen = workspace.zeros(np.uint64, across // 64 + 1)
        summary = workspace.zeros(np.uint64, across // 4096 + 1)
        slots = workspace.buffer(indptr.dtype, across)
        kernels.fill_tiles(
            lo, hi, edges.indptr, edges.indices, edges.nmajor, shift, per_tile, indptr, indices,
            words, seen, summary, slots,
        )  # fmt: skip
        workspace.give_zeros(seen)
        workspace.give_zeros(summary)
        workspace.give_buffer(slots)

    threads.run_chunks(fill, tile_bounds(indptr, tile_lines, edges.nvals))
    return Tiles(bits, indptr, indices, words)


def _sides(edges: Compressed, bits: int) -> tuple[int, int, int]:
    """Return the binary logarithm of a tile's side, and the tiles down and across."""
    return bits.bit_length() - 1, -(-edges.nmajor // bits), max(1, -(-edges.nminor // bits))


def tile_bounds(offsets: Array, length: int, entries: int) -> list[int]:
    """Return borders of chunks of lines of tiles; `offsets` are running totals of their work."""
    chunks = min(threads.num_chunks(entries), max(1, length))
    if len(offsets) <= length:
        return threads.even_bounds(length, chunks)
    return threads.bounds_by_work(offsets[: length + 1], chunks)


def _make(edges: Compressed, bits: int) -> Tiles:
    return tiles_of(edges, bits)


#: Tiles, by their side; a copy of the matrix with other values shares them.
TILES = Kind("b2sr", _make, depends_on="pattern")
