"""Tiles of bits on the GPU: made there; the host waits for their number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from semira.backends.cuda.lower.context import Made
from semira.backends.cuda.lower.walks import PullWalk
from semira.backends.cuda.runtime.objects import CudaMatrix
from semira.backends.cuda.runtime.primitives import module_of, primitives_of
from semira.backends.cuda.runtime.room import require
from semira.methods.b2sr.arrays import SIZES, tile_dtype
from semira.methods.b2sr.cuda_products import ROOT, dot_kernels, dot_launches, multiply, text
from semira.methods.b2sr.pairs import kind_of, named

__all__ = [
    "DESCRIPTOR", "HAS_VALUES", "HEADERS", "NEEDS_LINES", "ROOT", "dot_kernels", "dot_launches",
    "make", "multiply", "opened", "pull", "text",
]  # fmt: skip

DESCRIPTOR = ("TilesDescriptor", 11)
HEADERS = ("pull.cuh",)
NEEDS_LINES = True

#: Tiles have no values: products read the one that all entries share.
HAS_VALUES = False

#: Tiles of a line that a thread walks for its row; rows of longer ones have a warp each.
LONGEST = 64

#: Kernels that make them.
_MAKE = "semira.methods.b2sr.kernels:make.cuh"


@dataclass(frozen=True, slots=True)
class CudaTiles:
    """One orientation as lines of tiles; see `semira.methods.b2sr.arrays`.

    Attributes
    ----------
    indptr, tiles, words : buffer
    bits, tile_lines : int
    narrow : bool
        Whether positions of tiles have 16 bits.
    long_lines : buffer or None
        Numbers of the lines of more than `LONGEST` tiles, in any order.
    num_long : int
    slots, positions : int
        See `semira.backends.cuda.runtime.made.DeviceArrays`.
    """

    indptr: Any
    tiles: Any
    words: Any
    bits: int
    tile_lines: int
    narrow: bool
    long_lines: Any
    num_long: int
    slots: int
    positions: int = 0

    @property
    def nbytes(self) -> int:
        """Bytes of its buffers."""
        parts = self.indptr, self.tiles, self.words, self.long_lines
        return sum(int(part.size) for part in parts if part is not None)

    def describe(self, matrix: CudaMatrix) -> list[int]:
        """Return the words of its TilesDescriptor."""
        _, _, values = next(iter(matrix.orientations.values()))
        parts = (self.indptr, self.tiles, self.words, values)
        shift = self.bits.bit_length() - 1
        sizes = shift, self.tile_lines, int(self.narrow), matrix.nvals
        long_lines = 0 if self.long_lines is None else int(self.long_lines.handle)
        return [
            *(int(part.handle) for part in parts), *sizes, long_lines, self.num_long, LONGEST
        ]  # fmt: skip


def opened(a_type: str, place: str, made: Made) -> tuple[str, str]:
    """Return the C++ type of what is walked, and the arguments that make it."""
    del made
    return f"BitTiles<{a_type}>", place


def pull(walk: PullWalk) -> None:
    """Write the pull."""
    ring = walk.semiring
    # The first entry that meets ends it, whether it decides or any one will do.
    is_any = walk.exits and ring.monoid.is_any
    walk.call("spmv_pull_tiles", named("" if is_any else kind_of(ring.monoid, ring.binaryop)))


def make(matrix: CudaMatrix, made: Made) -> CudaTiles:
    """Return an orientation as lines of tiles; waits for their number.

    ``bits="auto"`` takes the size of the fewest bytes, for which all are counted.
    """
    bits = dict(made.parameters)["bits"]
    sizes = SIZES if bits == "auto" else (bits,)
    counted = [(*_starts(matrix, made.orientation, size), size) for size in sizes]
    starts, tiles, bits = min(counted, key=lambda each: each[1] * (4 + each[2] ** 2 // 8))
    runtime, (lines, positions) = matrix.runtime, matrix.sides(made.orientation)
    indptr, indices, _ = matrix.orientations[made.orientation]
    place = tile_dtype(positions, bits).itemsize
    # Read by words of 32 bits.
    nbytes = -(-tiles * bits * bits // 32) * 4
    require(runtime, place * tiles + nbytes, f"tiles of {bits} x {bits} bits of a matrix")
    found, words = runtime.allocate(place * tiles), runtime.zeroed(nbytes)
    if tiles:
        module_of(runtime, _MAKE).launch(
            matrix.c_offset, "semira_fill_tiles", lines, indptr, indices, lines,
            bits.bit_length() - 1, starts, int(place == 2), found, words,
        )  # fmt: skip
    tile_lines = -(-lines // bits)
    longs = _long_lines(matrix, starts, tile_lines, tiles)
    return CudaTiles(starts, found, words, bits, tile_lines, place == 2, *longs, tiles)


def _long_lines(matrix: CudaMatrix, starts: Any, tile_lines: int, tiles: int) -> tuple[Any, int]:
    """Return the lines of more than `LONGEST` tiles, and how many there are; waits."""
    runtime, most = matrix.runtime, tiles // (LONGEST + 1)
    if not most:
        return None, 0
    found, count = runtime.allocate(4 * min(most, tile_lines)), runtime.zeroed(4)
    module_of(runtime, _MAKE).launch(
        matrix.c_offset, "semira_list_long_lines", tile_lines, starts, tile_lines, LONGEST, found,
        count,
    )  # fmt: skip
    number = primitives_of(runtime).read("int", count, 0)
    return (found, number) if number else (None, 0)


def _starts(matrix: CudaMatrix, orientation: str, bits: int) -> tuple[Any, int]:
    """Return the first tile of each line of tiles, and how many there are; waits."""
    runtime, primitives = matrix.runtime, primitives_of(matrix.runtime)
    lines = matrix.sides(orientation)[0]
    indptr, indices, _ = matrix.orientations[orientation]
    tile_lines = -(-lines // bits)
    starts = runtime.zeroed(4 * (tile_lines + 1))
    if not lines:
        return starts, 0
    module_of(runtime, _MAKE).launch(
        matrix.c_offset, "semira_count_tiles", lines, indptr, indices, lines,
        bits.bit_length() - 1, starts,
    )  # fmt: skip
    primitives.scan("int", starts, tile_lines)
    return starts, primitives.read("int", starts, tile_lines)
