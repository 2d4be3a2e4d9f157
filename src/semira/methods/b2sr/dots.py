"""Products of matrices by tiles of bits on the cpu: how much lines share, and where they do."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.backends.cpu import cache, threads, workspace
from semira.backends.cpu.codegen import Header
from semira.backends.cpu.compressed import Array, Compressed
from semira.backends.cpu.host.finish import joined
from semira.backends.cpu.host.mxm_operands import Operands
from semira.base.memory import require_bytes
from semira.contract import Method
from semira.formats import index_dtype, offset_dtype
from semira.methods.b2sr.arrays import WIDEST
from semira.methods.b2sr.pairs import kind_of, values_of
from semira.methods.b2sr.tiles import TILES, Tiles, tile_bounds

_KERNELS = "semira.methods.b2sr.kernels:"

#: Entries of a product that are written at a time.
_ROOM = 2**20

#: A line of a tile in memory.
_LINE: dict[int, Any] = {8: np.uint8, 16: np.uint16, 32: np.uint32}


@functools.cache
def _kernels(template: str) -> ModuleType:
    """Return the kernels: rendering their module takes 10 ms."""
    return cache.load(f"{_KERNELS}words+{_KERNELS}{template}", Header(), f"b2sr_{template}")


def mxm(
    method: Method, operands: Operands, other: Callable[[], Compressed]
) -> tuple[Compressed, int]:
    """Return the rows of a product of pairs, and the pairs of tiles that met.

    Where a mask names the results, B has columns; else rows, and `other` returns its columns.
    Tiles of the mask are made as well: they are kept if it is structural.
    """
    bits = dict(method.parameters)["bits"]
    bits = WIDEST if bits == "auto" else bits
    mask, b, work = operands.mask, operands.b, 0
    is_count = operands.iso is None
    if mask is None or operands.complement:
        mask, work = _pattern(bits, operands)
        if not is_count or not mask.nvals:
            return mask, work
        b = other()
    a, b, m = (each.companions.need(TILES, each, bits) for each in (operands.a, b, mask))
    require_bytes(8 * mask.nvals, "the results of a product", "use method='dot'")
    totals = np.zeros(mask.nvals, np.int64)
    work += _count(bits, (m, a, b), mask, totals)
    found = totals != 0
    before = np.zeros(mask.nvals + 1, offset_dtype(mask.nvals))
    np.cumsum(found, out=before[1:])
    kind = kind_of(operands.add, operands.multiply)
    values = values_of(kind, operands.add, totals[found]) if is_count else _one(operands)
    rows = Compressed(
        mask.nmajor, mask.nminor, before[mask.indptr], mask.indices[found], values, not is_count
    )
    return rows, work


def _one(operands: Operands) -> Array:
    """Return the value that all results have, as far as there is one."""
    iso = 1 if operands.iso is None else operands.iso
    return np.array([iso], operands.add.type.array_dtype)


def _pattern(bits: int, operands: Operands) -> tuple[Compressed, int]:
    """Return where a product has entries that no complemented mask names, and tiles that met."""
    a, b, mask = operands.a, operands.b, operands.mask
    across = -(-b.nminor // bits)
    given: list[Array] = []
    for lines in (a, b, mask):
        if lines is None:
            given += [np.zeros(1, np.int32), np.zeros(1, np.uint16), np.zeros(1, _LINE[bits])]
        else:
            held = lines.companions.need(TILES, lines, bits)
            given += [held.indptr, held.indices, held.words.view(_LINE[bits])]
    counts = np.zeros(a.nmajor + 1, np.int64)
    number = index_dtype(a.nmajor, b.nminor)

    def multiply(_part: int, lo: int, hi: int) -> tuple[Array, Array, int]:
        seen = workspace.zeros(np.uint64, across // 64 + 1)
        held = workspace.zeros(_LINE[bits], across * bits)
        listed = workspace.buffer(np.int64, across)
        pieces, room, work = [], _ROOM, 0
        while lo < hi:
            require_bytes(number.itemsize * room, "a product of matrices", "use a mask")
            indices = workspace.buffer(number, room)
            lo, num, more, met = map(int, _kernels("product").multiply_tiles(
                lo, hi, bits, *given, a.nmajor, seen, listed, held, counts, indices
            ))  # fmt: skip
            pieces.append(indices[:num].copy())
            workspace.give_buffer(indices)
            room, work = max(_ROOM, more), work + met
        workspace.give_zeros(seen)
        workspace.give_zeros(held)
        workspace.give_buffer(listed)
        # A chunk may have no lines of tiles.
        whole = pieces[0] if len(pieces) == 1 else np.concatenate([np.empty(0, number), *pieces])
        return whole, _one(operands), work

    bounds = tile_bounds(given[0], len(given[0]) - 1, a.nvals + b.nvals)
    parts = threads.run_chunks(multiply, bounds)
    rows = joined(a.nmajor, b.nminor, counts, [part[:2] for part in parts], iso=True)
    return rows, sum(part[2] for part in parts)


def _count(
    bits: int, tiles: tuple[Tiles, Tiles, Tiles], mask: Compressed, totals: NDArray[Any]
) -> int:
    m, a, b = tiles
    longest = int(min(_longest(a.indptr), _longest(b.indptr)))
    room = longest // 2 + 1
    arrays: list[Array] = []
    for each in tiles:
        arrays += [each.indptr, each.indices, each.words.view(_LINE[bits])]

    def count(_part: int, lo: int, hi: int) -> int:
        lists = [workspace.buffer(np.int64, longest + 1) for _ in range(2)]
        # Lines of the tiles that meet, two of them to a word; those of B for each line of a tile.
        pairs = [workspace.buffer(np.uint64, room * lines) for lines in (1, bits)]
        views = [array for each in pairs for array in (each.view(np.uint32), each)]
        cursor = np.zeros(bits, np.int64)
        work = _kernels("dot").dot_tiles(
            lo, hi, bits, *arrays, mask.indptr, mask.nmajor, *lists, *views, cursor, totals
        )
        for each in (*lists, *pairs):
            workspace.give_buffer(each)
        return int(work)

    mean = 1 + len(b.indices) // max(1, len(b.indptr) - 1)
    chunks = min(threads.num_chunks(len(m.indices) * mean), max(1, len(m.indptr) - 1))
    return sum(threads.run_chunks(count, threads.bounds_by_work(m.indptr, chunks)))


def _longest(indptr: Array) -> int:
    return int(np.diff(indptr).max(initial=0))
