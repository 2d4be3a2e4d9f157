"""Tiles of bits on the cpu."""

from __future__ import annotations

from typing import Any

import numpy as np

from semira.backends.companions import Kind
from semira.backends.cpu import threads
from semira.backends.cpu.compressed import Array
from semira.backends.cpu.host.mxv import (
    DUMMY,
    Operand,
    Product,
    edge_dtype,
    empty_vector,
    exit_flags,
    kernel_of,
    looked_up,
    pull,
)
from semira.backends.cpu.host.walks import Walk
from semira.backends.cpu.masks import VectorMask
from semira.backends.cpu.storage import CpuVector
from semira.base.errors import PlanError
from semira.contract import no_values
from semira.methods.b2sr.arrays import words_per_tile
from semira.methods.b2sr.dots import mxm
from semira.methods.b2sr.pairs import kind_of, values_of
from semira.methods.b2sr.profile import auto_size, sampled_tiles
from semira.methods.b2sr.tiles import TILES, Tiles, tile_bounds

__all__ = ["NEEDS_LINES", "multiply", "mxm"]

NEEDS_LINES = True

_KERNELS = "semira.methods.b2sr.kernels:"
_PULL = f"{_KERNELS}words+{_KERNELS}pull"

#: What a bit in each line of a word is, by the side of a tile, and the lines of a word.
ONES = {4: 0x1111, 8: 0x0101010101010101, 16: 0x0001000100010001, 32: 0x0000000100000001}
LINES = {4: 4, 8: 8, 16: 4, 32: 2}

#: Tiles whose entries the lanes of a word can count before one of them overflows.
ROOM = {4: 65535 // 4, 8: 255 // 8, 16: 65535 // 16, 32: 2**32 // 32 - 1}


#: The side that ``bits="auto"`` takes.
SIZE = Kind(
    "b2sr_size",
    lambda edges, _, walk: np.int64(auto_size(sampled_tiles(walk.lines()))[0]),
    depends_on="pattern",
)


def need_tiles(walk: Walk) -> Tiles:
    """Return the lines of a product as tiles of the size that is asked for; made once."""
    bits, edges = dict(walk.method.parameters)["bits"], walk.product.edges
    if bits == "auto":
        bits = int(edges.companions.need(SIZE, edges, "", walk))
    found: Tiles = edges.companions.need(TILES, edges, bits)
    return found


def packed(present: Array, bits: int, length: int) -> Array:
    """Return Booleans as words of `bits` (bytes for 4), at least of `length` positions."""
    raw = np.packbits(present, bitorder="little")
    room = -(-max(length, 1) // 64) * 8
    if len(raw) < room:
        raw = np.concatenate([raw, np.zeros(room - len(raw), np.uint8)])
    return raw.view({4: np.uint8, 8: np.uint8, 16: np.uint16, 32: np.uint32}[bits])


def multiply(walk: Walk) -> tuple[CpuVector, int]:
    """Return the product by lines of tiles, and the tiles read.

    Raises
    ------
    PlanError
        The operator reads values of the matrix, and they differ: tiles have none.
    """
    product = walk.product
    if product.reads_edges and not product.edges.iso:
        raise PlanError(no_values(walk.method.storage))
    if vector_is_whole(product):
        # Lengths of rows tell it all.
        return pull(product, walk.mask, may_exit=walk.method.early_exit)
    held = need_tiles(walk)
    if not len(held.indices):
        return empty_vector(product.size, product.add.type), 0
    return _pull(product, held, walk.mask, may_exit=walk.method.early_exit)


def vector_is_whole(product: Product) -> bool:
    """Return whether each entry of the matrix meets one, and a sum follows from lengths of rows."""
    reads = product.reads_edges or product.reads_vector or product.multiply.is_positional
    is_parity = kind_of(product.add, product.multiply) == "parity"
    return product.vector.storage == "full" and not reads and not is_parity


def _open_lines(mask: VectorMask | None, size: int) -> Array:
    if mask is None:
        return np.ones(size, np.bool_)
    may, truth, complement = mask.open()
    is_open: Array = (may & truth) != complement
    mask.close()
    return is_open


def _pull(
    product: Product, held: Tiles, mask: VectorMask | None, *, may_exit: bool
) -> tuple[CpuVector, int]:
    add, size, bits, vector = product.add, product.size, held.bits, product.vector
    iso, operand = product.iso_value(), Operand(product)
    here = np.ones(vector.size, np.bool_) if vector.storage == "full" else operand.present
    x = packed(here[: vector.size], bits, vector.size)
    open_lines = packed(_open_lines(mask, size), bits, size)
    present, kind = np.empty(size, np.bool_), kind_of(add, product.multiply)
    counts = iso is None and bool(kind)
    values = DUMMY
    if iso is None:
        values = np.zeros(size, np.int64 if counts else add.type.array_dtype)
    flags = (
        ("ISO_RESULT", iso is not None),
        *exit_flags(add, iso, may_exit),
        *_sizes(bits),
    )
    kernels = kernel_of(_PULL, product, flags)
    edge_values = product.edges.values_as(edge_dtype(product)) if product.reads_edges else DUMMY
    given = size, held.indptr, held.indices, held.words, x, open_lines

    def look_up(_part: int, lo: int, hi: int) -> Any:
        if iso is not None:
            return kernels.pull_bits(lo, hi, *given, present)
        if counts:
            lanes = np.zeros(words_per_tile(bits), np.uint64)
            return kernels.pull_counts(lo, hi, *given, lanes, present, values)
        return kernels.pull_values(
            lo, hi, *given, edge_values, operand.values, operand.stride, present, values
        )

    bounds = tile_bounds(held.indptr, len(held.indptr) - 1, len(held.indices))
    parts = threads.run_chunks(look_up, bounds)
    operand.close()
    num, work = sum(part[0] for part in parts), sum(part[1] for part in parts)
    if counts:
        values = values_of(kind, add, values)
    return looked_up(product, None, present, values, num, iso), work


def _sizes(bits: int) -> tuple[tuple[str, int], ...]:
    """Return the numbers that a template of a tile's side is folded with."""
    return ("SIDE", bits), ("LINES", LINES[bits]), ("ONES", ONES[bits]), ("ROOM", ROOM[bits])
