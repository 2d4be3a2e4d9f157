"""Matrices that have every entry, whose indices nobody stores; and transposing any."""

from __future__ import annotations

from types import ModuleType

import numpy as np

from semira.backends.cpu import cache, threads
from semira.backends.cpu.codegen import Header
from semira.backends.cpu.compressed import EVERYWHERE, Array, Compressed
from semira.base.memory import empty, require_bytes
from semira.formats import index_dtype, offset_dtype

_NOT_MADE = np.empty(0, np.int32)


class WholeRuns(Compressed):
    """Runs that are empty or have every index: what the indices are follows from their places.

    Statements that go by position do without `indices`; they are made when somebody asks, once.
    """

    __slots__ = ("_made",)

    _made: Array | None

    def __init__(
        self, nmajor: int, nminor: int, indptr: Array, values: Array, iso: bool = False
    ) -> None:
        super().__init__(nmajor, nminor, indptr, _NOT_MADE, values, iso)
        self._made = None

    @property
    def indices(self) -> Array:
        """Every index, once for each run that is not empty."""
        if self._made is None:
            every = np.arange(self.nminor, dtype=index_dtype(self.nmajor, self.nminor))
            require_bytes(self.nvals * every.itemsize, "a list of entries")
            self._made = np.tile(every, self.nvals // max(1, self.nminor))
        return self._made

    @indices.setter
    def indices(self, made: Array) -> None:
        self._made = made

    @property
    def nvals(self) -> int:
        """Number of entries."""
        return int(self.indptr[-1])

    def kept_indices(self) -> Array | None:
        """Return the indices if they have been made."""
        return self._made

    def replaced(self, values: Array, *, iso: bool) -> Compressed:
        """Return the same pattern with other values."""
        runs = WholeRuns(self.nmajor, self.nminor, self.indptr, values, iso)
        runs._made, runs.companions = self._made, self.companions.of_pattern()
        return runs


def whole_runs(lengths: Array, nminor: int) -> WholeRuns:
    """Return runs that have every index, or none where the length given is 0; without values."""
    nmajor, occupied = len(lengths), int(np.count_nonzero(lengths))
    dtype = offset_dtype(nminor * occupied)
    if occupied == nmajor:
        indptr = np.arange(nmajor + 1, dtype=dtype)
    else:
        indptr = np.zeros(nmajor + 1, dtype)
        np.cumsum(lengths > 0, out=indptr[1:])
    indptr *= nminor
    return WholeRuns(nmajor, nminor, indptr, EVERYWHERE)


def is_full(matrix: Compressed) -> bool:
    """Return whether every index of every run is there."""
    return matrix.nvals == matrix.nmajor * matrix.nminor


def turned(values: Array, nmajor: int, nminor: int) -> Array:
    """Return the values of a full matrix in the order of the other orientation."""
    made = empty(nminor * nmajor, values.dtype).reshape(nminor, nmajor)
    given = values.reshape(nmajor, nminor)
    # Lines a multiple of a page apart are kept in the same few places of a cache.
    together = 8 if nminor * values.itemsize % 4096 == 0 else max(1, nmajor)

    def turn(_part: int, lo: int, hi: int) -> None:
        for at in range(0, nmajor, together):
            made[lo:hi, at : at + together] = given[at : at + together, lo:hi].T

    threads.run_chunks(turn, threads.even_bounds(nminor, threads.num_chunks(made.size // 4)))
    return made.reshape(-1)


def transposed_full(matrix: Compressed) -> WholeRuns:
    """Return the other orientation of a full matrix."""
    runs = whole_runs(np.full(matrix.nminor, matrix.nmajor), matrix.nmajor)
    runs.iso = matrix.iso
    runs.values = matrix.values
    if not matrix.iso:
        runs.values = turned(matrix.values, matrix.nmajor, matrix.nminor)
    return runs


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
