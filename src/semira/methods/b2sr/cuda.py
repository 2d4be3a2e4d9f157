"""Tiles of bits on the GPU: made there; the host waits for their number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from semira.backends.cuda.lower.context import Made
from semira.backends.cuda.lower.walks import PullWalk
from semira.backends.cuda.runtime.made import need_made
from semira.backends.cuda.runtime.objects import CudaMatrix
from semira.backends.cuda.runtime.primitives import (
    BLOCKS_PER_SM,
    THREADS,
    module_of,
    primitives_of,
)
from semira.backends.cuda.runtime.room import require
from semira.backends.cuda.staged.dot_walks import DotText
from semira.backends.cuda.staged.job import Job
from semira.backends.cuda.staged.pieces import Launch, Pieces
from semira.backends.cuda.staged.text import kernel
from semira.methods.b2sr.arrays import SIZES, WIDEST, tile_dtype

DESCRIPTOR = ("TilesDescriptor", 8)
HEADERS = ("pull.cuh",)
NEEDS_LINES = True

#: Tiles have no values: products read the one that all entries share.
HAS_VALUES = False

#: Kernels that make them.
_MAKE = "semira.methods.b2sr.kernels:make.cuh"


@dataclass(frozen=True, slots=True)
class CudaTiles:
    """One orientation as lines of tiles; see `semira.methods.b2sr.arrays.B2srArrays`.

    Attributes
    ----------
    indptr, tiles, words : buffer
    bits, tile_lines : int
    narrow : bool
        Whether positions of tiles have 16 bits.
    slots, positions : int
        See `semira.backends.cuda.runtime.made.DeviceArrays`.
    """

    indptr: Any
    tiles: Any
    words: Any
    bits: int
    tile_lines: int
    narrow: bool
    slots: int
    positions: int = 0

    @property
    def nbytes(self) -> int:
        """Bytes of its buffers."""
        return sum(int(part.size) for part in (self.indptr, self.tiles, self.words))

    def describe(self, matrix: CudaMatrix) -> list[int]:
        """Return the words of its TilesDescriptor."""
        _, _, values = next(iter(matrix.orientations.values()))
        parts = (self.indptr, self.tiles, self.words, values)
        shift = self.bits.bit_length() - 1
        sizes = shift, self.tile_lines, int(self.narrow), matrix.nvals
        return [*(int(part.handle) for part in parts), *sizes]


def opened(a_type: str, place: str, made: Made) -> tuple[str, str]:
    """Return the C++ type of what is walked, and the arguments that make it."""
    del made
    return f"BitTiles<{a_type}>", place


def pull(walk: PullWalk) -> None:
    """Write the pull."""
    walk.call("spmv_pull_tiles", walk.counts)


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
    return CudaTiles(starts, found, words, bits, -(-lines // bits), place == 2, tiles)


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


def dot_kernels(text: DotText) -> list[str]:
    """Return the kernel of dot products: by tiles of the mask."""
    counts = str(text.statement.operator.monoid.name == "plus").lower()
    given = ", ".join(
        f"const int* {x}_starts, const void* {x}_tiles, const unsigned* {x}_words, "
        f"long long {x}_narrow"
        for x in "abm"
    )
    operands = ", ".join(
        f"TileLines{{{x}_starts, {x}_tiles, {x}_words, static_cast<unsigned>(shift), "
        f"{x}_narrow != 0}}"
        for x in "abm"
    )
    made = kernel(
        "t_dots_by_tile",
        f"{given}, long long shift, long long tile_rows, {text.parameters}",
        *text.lines,
        f"dot_tiles<{counts}, {text.semiring}, {text.structural}>(",
        f"    {operands}, tile_rows, mask, {text.emit});",
        *text.after,
        threads=THREADS,
    )
    return [f'#include "semira.methods.b2sr.kernels:dot.cuh"\n{made}']


def dot_launches(job: Job, a: Pieces, b: Pieces) -> list[Launch]:
    """Return the launch that computes every dot product; tiles of all operands are made first."""
    del a, b
    statement = job.statement
    assert statement.plan is not None
    assert statement.mask is not None
    bits = dict(statement.plan.methods[0].parameters)["bits"]
    left, right = statement.args
    walked = (left.slot, left.transposed), (right.slot, not right.transposed)
    given: list[Any] = []
    for slot, by_columns in (*walked, (statement.mask.slot, False)):
        made = Made(
            slot, "b2sr", "csc" if by_columns else "csr",
            (("bits", WIDEST if bits == "auto" else bits),),
        )  # fmt: skip
        held: Any = need_made(job.things[slot], made)
        given += [held.indptr, held.tiles, held.words, int(held.narrow)]
    blocks = -(-held.slots * 32 // THREADS)
    blocks = max(1, min(BLOCKS_PER_SM * job.stage.runtime.multiprocessors, blocks))
    given += [held.bits.bit_length() - 1, held.tile_lines]
    return [Launch("t_dots_by_tile", blocks, THREADS, 0, tuple(given), is_lasting=True)]
