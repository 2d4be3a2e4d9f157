"""The other orientation of a matrix."""

from __future__ import annotations

from types import ModuleType

import numpy as np

from semira.backends.cpu import cache, threads
from semira.backends.cpu.codegen import Header
from semira.backends.cpu.compressed import Compressed
from semira.backends.cpu.whole import is_full, transposed_full
from semira.base.memory import empty
from semira.formats import index_dtype, offset_dtype

_kernels: dict[tuple[bool, bool], ModuleType] = {}


def structure_kernels(*, values: bool = False, listed: bool = False) -> ModuleType:
    """Return the kernels that move entries, with or without values, and count them."""
    key = (values, listed)
    if key not in _kernels:
        flags = {"VALUES": values, "LISTED": listed}
        _kernels[key] = cache.load("structure", Header(flags=flags), "move")
    return _kernels[key]


def transpose(matrix: Compressed) -> Compressed:
    """Return the other orientation, by a counting sort; O(nvals + nmajor + threads * nminor)."""
    if is_full(matrix) and matrix.nvals:
        return transposed_full(matrix)
    kernels = structure_kernels(values=not matrix.iso)
    # A counter per chunk and minor index: together at most half of what the entries take.
    affordable = 2 * matrix.nvals // max(matrix.nminor, 1)
    chunks = min(threads.num_chunks(matrix.nvals), threads.num_threads(), max(affordable, 1))
    bounds = threads.bounds_by_work(matrix.indptr, chunks)
    offset = offset_dtype(matrix.nvals)
    ends = np.zeros((chunks, matrix.nminor), offset)
    indices = empty(matrix.nvals, index_dtype(matrix.nmajor, matrix.nminor))
    values = matrix.values if matrix.iso else empty(matrix.nvals, matrix.values.dtype)

    def count(part: int, lo: int, hi: int) -> None:
        kernels.count(lo, hi, matrix.indptr, matrix.indices, ends[part])

    def place(part: int, lo: int, hi: int) -> None:
        kernels.place(
            lo, hi, matrix.indptr, matrix.indices, matrix.values, ends[part], indices, values
        )

    threads.run_chunks(count, bounds)
    indptr = np.zeros(matrix.nminor + 1, offset)
    np.cumsum(ends.sum(axis=0, dtype=offset), out=indptr[1:])
    # A chunk's entries go behind those of the chunks before it.
    start = indptr[:-1].copy()
    for counts in ends:
        after = start + counts
        counts[:] = start
        start = after
    threads.run_chunks(place, bounds)
    return Compressed(matrix.nminor, matrix.nmajor, indptr, indices, values, matrix.iso)
