"""Triangles on a GPU by rows of bits, of a graph whose vertices are numbered by falling degree.

Most edges lead to few vertices then, and rows of these are dense (decision 65).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from semira import Matrix
from semira.algorithms.oriented_edges import Oriented
from semira.algorithms.triangle_kernels import degrees_of, listed_rows
from semira.kernels import ArrayKernel, array_module

_BITMAPS = "semira.algorithms.kernels:bitmaps"
_FILL = ArrayKernel(_BITMAPS, "fill_rows", lanes=32)
_COUNT = ArrayKernel(_BITMAPS, "count_ranked", lanes=256)
_COUNT_SHORT = ArrayKernel(_BITMAPS, "count_short", lanes=256)

#: Edges for each vertex from which on rows of bits pay: a block takes a row, whose lists must keep
#: its warps busy. Measured: decision 65.
_LEAST_MEAN = 12

#: Bits of a row in the memory of a block, at most; bytes that rows of bits may take though edges
#: take less; bits that are read at once.
_NEAR, _SPARE_BYTES, _UNIT = 1 << 18, 1 << 25, 128

#: Columns up to which rows of bits are short.
_SHORT = 1 << 13


class RankedRows(NamedTuple):
    """Rows of the oriented edges of a graph whose vertices are numbered by falling degree."""

    #: Offsets and, in rising order, smaller numbers of neighbours.
    indptr: Any
    indices: Any
    #: Words of 32 bits, of the rows that have bits.
    words: Any
    #: Between calls 0 and 0; then the triangles.
    state: Any
    #: Rows up to the last one with two entries.
    items: int
    #: Rows that have bits.
    dense: int
    #: Bits of a row in the memory of a block.
    near: int


def has_long_rows(graph: Oriented) -> bool:
    """Return whether rows of bits take less time than products."""
    edges = graph.edges
    return graph.by_degree and int(edges.nvals) >= _LEAST_MEAN * edges.nrows


def triangles_by_bits(edges: Matrix) -> int:
    """Return the number of triangles of a GPU's edges, which lead to vertices of higher degree.

    For each edge the fewest of these: the entries of one row before the edge, those of the other
    row, a 32nd of its columns. 4 bytes for each edge and at most as many for bits stay with
    `edges`, 24 for a while when they are made.
    """
    where = edges.device
    with array_module(where) as xp:
        rows: RankedRows = edges.derived("rows by rank", lambda: _ranked(edges, xp))
        count = _COUNT_SHORT if rows.near <= _SHORT else _COUNT
        count(
            rows.items, rows.indptr, rows.indices, rows.words, rows.dense, rows.near, rows.state,
            device=where, shared=rows.near // 8,
        )  # fmt: skip
        return int(rows.state.get()[2])


def _ranked(edges: Matrix, xp: Any) -> RankedRows:
    n, degrees = edges.nrows, degrees_of(edges, xp)
    rows, heads = listed_rows(edges)
    # Edges lead to the higher degree, among equal ones to the greater number. CuPy's operators on
    # numbers import half of SciPy; its functions do not.
    order = xp.argsort(xp.multiply(degrees, n) + xp.arange(n))[::-1]
    ranks = xp.empty(n, xp.int64)
    ranks[order] = xp.arange(n)
    keys = xp.multiply(ranks[heads], n) + ranks[rows.indices]
    keys.sort()
    lengths = xp.bincount(xp.floor_divide(keys, n), minlength=n)
    indptr = xp.zeros(n + 1, rows.indptr.dtype)
    indptr[1:] = xp.cumsum(lengths)
    indices = xp.remainder(keys, n).astype(rows.indices.dtype)
    most = min(n, math.isqrt(16 * max(indices.nbytes, _SPARE_BYTES)))
    dense = _last(xp.multiply(lengths[:most], 32) >= xp.arange(most), xp)
    items = _last(xp.greater(lengths, 1), xp)
    words = xp.zeros(_UNIT // 32 * _units_before(dense), xp.uint32)
    _FILL(dense, indptr, indices, words, device=edges.device)
    near = min(-(-items // _UNIT) * _UNIT, _NEAR)
    return RankedRows(indptr, indices, words, xp.zeros(3, xp.int64), items, dense, near)


def _last(found: Any, xp: Any) -> int:
    """Return the number of items up to the last one that is True."""
    places = xp.flatnonzero(found)
    return int(places[-1]) + 1 if len(places) else 0


def _units_before(row: int) -> int:
    """Return the units of `_UNIT` bits in the rows before one: row v has bits for v columns.

    Examples
    --------
    >>> [_units_before(row) for row in (0, 1, 2, 129, 130)]
    [0, 0, 1, 128, 130]
    """
    wholes, rest = divmod(max(row - 1, 0), _UNIT)
    return _UNIT * wholes * (wholes + 1) // 2 + rest * (wholes + 1)
