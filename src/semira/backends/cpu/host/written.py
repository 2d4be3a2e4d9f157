"""Rows of a new matrix, written by chunks whose entries are only known to be at most so many."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from semira.backends.cpu import cache, threads
from semira.backends.cpu.codegen import Header
from semira.backends.cpu.compressed import Array, Compressed, offsets_from_counts
from semira.base.dtypes import DataType
from semira.base.memory import require_bytes
from semira.formats import index_dtype

#: Writes rows `lo` to `hi`: row lengths behind `counts`, entries from the start of the two
#: arrays on; returns the number of entries.
Fill = Callable[[int, int, Array, Array, Array], int]


def written_rows(
    shape: tuple[int, int],
    bounds: Sequence[int],
    room_of: Callable[[int, int], int],
    fill: Fill,
    values: DataType | Array,
    *,
    least: int = 0,
) -> Compressed:
    """Return the rows that `fill` writes; raises OutOfMemory if they do not fit.

    `bounds` are borders of the chunks of rows; `room_of` returns the most entries of rows `lo` to
    `hi`. `values` is their dtype, or the one value of every entry; there are at `least` so many
    entries.

    All chunks write into one pair of arrays, each behind the room of the chunks before; then the
    gaps are closed and the arrays cut. Pages that are never written cost nothing, while copying
    into new arrays would touch every page a second time.
    """
    pairs = list(pairwise(bounds))
    starts = np.zeros(len(pairs) + 1, np.int64)
    np.cumsum([room_of(lo, hi) for lo, hi in pairs], out=starts[1:])
    iso = isinstance(values, np.ndarray)
    value_bytes = 0 if isinstance(values, np.ndarray) else values.array_dtype.itemsize
    width = index_dtype(*shape).itemsize + value_bytes
    require_bytes(least * width, "a matrix")
    counts = np.zeros(shape[0] + 1, np.int64)
    indices = np.empty(starts[-1], index_dtype(*shape))
    entries = values if isinstance(values, np.ndarray) else np.empty(starts[-1], values.array_dtype)

    def run(part: int, lo: int, hi: int) -> int:
        piece = slice(starts[part], starts[part + 1])
        return int(fill(lo, hi, counts, indices[piece], entries if iso else entries[piece]))

    numbers = threads.run_chunks(run, bounds)
    for array in (indices,) if iso else (indices, entries):
        _close_gaps(array, starts, numbers)
    return Compressed(*shape, offsets_from_counts(counts), indices, entries, iso)


def _close_gaps(array: Array, starts: Array, numbers: list[int]) -> None:
    """Move what stands behind each start to where the chunk before ends, and cut the array."""
    end = 0
    for start, number in zip(starts[:-1].tolist(), numbers, strict=True):
        if start != end:
            cache.load("move", Header(), "entries").shift(array, start, end, number)
        end += number
    # No other view of the array is alive.
    array.resize(end, refcheck=False)
