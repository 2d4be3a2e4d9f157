"""Dot products by tiles of bits on the cpu: how much lines share, at the entries of a mask."""

from __future__ import annotations

import functools
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.backends.cpu import cache, threads, workspace
from semira.backends.cpu.codegen import Header
from semira.backends.cpu.compressed import Array, Compressed
from semira.backends.cpu.host.mxm_operands import Operands
from semira.base.memory import require_bytes
from semira.contract import Method
from semira.formats import offset_dtype
from semira.methods.b2sr.tiles import TILES, Tiles

_KERNELS = "semira.methods.b2sr.kernels:"
_DOT = f"{_KERNELS}words+{_KERNELS}dot"

#: The side that ``bits="auto"`` takes: the fewest tiles meet, once for the most results.
WIDEST = 32

#: A line of a tile in memory.
_LINE: dict[int, Any] = {8: np.uint8, 16: np.uint16, 32: np.uint32}


@functools.cache
def _kernels() -> ModuleType:
    """Return the kernels: rendering their module takes 10 ms."""
    return cache.load(_DOT, Header(), "b2sr_dot")


def dot(method: Method, operands: Operands) -> tuple[Compressed, int]:
    """Return the rows of a masked product of pairs, and the pairs of tiles that met.

    Tiles of the mask are made as well: they are kept if it is structural.
    """
    mask = operands.mask
    assert mask is not None
    bits = dict(method.parameters)["bits"]
    bits = WIDEST if bits == "auto" else bits
    a, b, m = (each.companions.need(TILES, each, bits) for each in (operands.a, operands.b, mask))
    require_bytes(8 * mask.nvals, "the results of a product", "use method='dot'")
    totals = np.zeros(mask.nvals, np.int64)
    touched = _count(bits, (m, a, b), mask, totals)
    found = totals != 0
    before = np.zeros(mask.nvals + 1, offset_dtype(mask.nvals))
    np.cumsum(found, out=before[1:])
    dtype, iso = operands.add.type.array_dtype, operands.iso is not None
    values = np.array([operands.iso], dtype) if iso else totals[found].astype(dtype)
    rows = Compressed(
        mask.nmajor, mask.nminor, before[mask.indptr], mask.indices[found], values, iso
    )
    return rows, touched


def _count(
    bits: int, tiles: tuple[Tiles, Tiles, Tiles], mask: Compressed, totals: NDArray[Any]
) -> int:
    m, a, b = tiles
    longest = int(min(_longest(a.indptr), _longest(b.indptr)))
    room = longest // 2 + 1
    arrays: list[Array] = []
    for each in tiles:
        arrays += [each.indptr, each.indices, each.words.view(_LINE[bits])]

    def count(part: int, lo: int, hi: int) -> int:
        del part
        lists = [workspace.buffer(np.int64, longest + 1) for _ in range(2)]
        # Lines of the tiles that meet, two of them to a word; those of B for each line of a tile.
        pairs = [workspace.buffer(np.uint64, room * lines) for lines in (1, bits)]
        views = [array for each in pairs for array in (each.view(np.uint32), each)]
        cursor = np.zeros(bits, np.int64)
        work = _kernels().dot_tiles(
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
