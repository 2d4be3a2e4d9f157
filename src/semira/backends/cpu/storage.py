"""What a handle of this backend holds: scalars, vectors in three storages, matrices.

Sparse vectors and matrices never change once made, so their arrays may be shared freely, with the
host as well. The arrays of bitmap and full vectors belong to one object and are written in place.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from semira.backends.cpu import recycled
from semira.backends.cpu.compressed import EVERYWHERE, Array, Compressed
from semira.backends.cpu.whole import transpose
from semira.base.dtypes import DataType
from semira.base.log import logger
from semira.base.memory import require_bytes
from semira.formats import MatrixArrays, ScalarArrays, index_dtype, offset_dtype
from semira.ops.meaning import cast_array

#: A vector with fewer entries than size / SPARSE_SHARE is kept as a list of entries.
SPARSE_SHARE = 32


@dataclass(slots=True, eq=False)
class CpuVector:
    """A vector."""

    size: int
    dtype: DataType
    #: One of "sparse", "bitmap", "full".
    storage: str
    #: One per entry (sparse) or position (bitmap, full); a single one if `iso`.
    values: Array
    #: Sparse: sorted positions.
    indices: Array | None = None
    #: Bitmap only.
    present: Array | None = None
    #: Entries of a bitmap, shape (1,); kernels keep it in step with `present`, so that an interrupt
    #: between two lines of Python cannot tear them apart.
    count: Array | None = None
    iso: bool = False

    @property
    def nvals(self) -> int:
        """Number of entries."""
        if self.indices is not None:
            return len(self.indices)
        return self.size if self.count is None else int(self.count[0])

    @property
    def stride(self) -> int:
        """Step from one value to the next: 0 if all entries share one."""
        return 0 if self.iso else 1

    def presence(self) -> tuple[Array, int]:
        """Return a presence array and its stride; not for sparse vectors."""
        return (EVERYWHERE, 0) if self.present is None else (self.present, 1)

    def memory_usage(self) -> dict[str, int]:
        """Return the bytes of each array."""
        parts = {"indices": self.indices, "present": self.present, "values": self.values}
        return {name: part.nbytes for name, part in parts.items() if part is not None}

    def entry_indices(self) -> Array:
        """Return the positions of the entries, increasing; O(size) unless sparse."""
        if self.indices is not None:
            return self.indices
        if self.present is not None:
            return np.flatnonzero(self.present).astype(index_dtype(self.size), copy=False)
        require_bytes(self.size * index_dtype(self.size).itemsize, "a list of entries")
        return np.arange(self.size, dtype=index_dtype(self.size))

    def entry_values(self) -> tuple[Array, int]:
        """Return the values in the order of `entry_indices`, and their stride."""
        if self.iso or self.present is None:
            return self.values, self.stride
        return self.values[self.present], 1

    def entries_at(self, positions: Array) -> tuple[Array | None, Array, int]:
        """Return (which `positions` have an entry or None if all, values there, their stride)."""
        if self.indices is positions or (self.iso and self.storage == "full"):
            return None, self.values, self.stride
        if self.indices is None:
            given = None if self.present is None else self.present[positions]
            return given, self.values[positions], 1
        if self.nvals == 0:
            return np.zeros(len(positions), np.bool_), np.zeros(1, self.dtype.array_dtype), 0
        at = np.minimum(np.searchsorted(self.indices, positions), self.nvals - 1)
        given = self.indices[at] == positions
        return (given, self.values, 0) if self.iso else (given, self.values[at], 1)


def sparse_vector(
    size: int, dtype: DataType, indices: Array, values: Array, *, iso: bool = False
) -> CpuVector:
    """Return a sparse vector of sorted `indices`."""
    return CpuVector(size, dtype, "sparse", values, indices, iso=iso)


def bitmap_vector(dtype: DataType, present: Array, values: Array, nvals: int) -> CpuVector:
    """Return a bitmap vector, or a full one if every entry is there."""
    if nvals == len(present):
        return CpuVector(nvals, dtype, "full", values)
    count = np.array([nvals], np.int64)
    return CpuVector(len(present), dtype, "bitmap", values, None, present, count)


def settled(vector: CpuVector, wanted: str = "auto") -> CpuVector:
    """Return `vector` in the storage wanted; ``auto``: few entries become a list."""
    if wanted == "auto":
        few = vector.storage == "bitmap" and vector.nvals * SPARSE_SHARE <= vector.size
        wanted = "sparse" if few else vector.storage
    if wanted == "full" and vector.nvals != vector.size:
        wanted = "bitmap"
    if wanted == vector.storage:
        return vector
    return to_sparse(vector) if wanted == "sparse" else to_dense(vector, wanted)


def to_sparse(vector: CpuVector) -> CpuVector:
    """Return `vector` as a list of entries."""
    if vector.indices is not None:
        return vector
    values, _ = vector.entry_values()
    if not vector.iso and vector.present is None:
        values = values.copy()
    return sparse_vector(vector.size, vector.dtype, vector.entry_indices(), values, iso=vector.iso)


def to_dense(vector: CpuVector, storage: str = "bitmap") -> CpuVector:
    """Return a bitmap (or full) vector with values of its own at every position.

    `vector` itself if it already is one; ``full`` needs an entry everywhere.
    """
    if vector.storage == storage and not vector.iso:
        return vector
    nvals = vector.nvals
    if vector.indices is None:
        require_bytes(vector.size * (1 + vector.dtype.array_dtype.itemsize), "a vector in full")
    values = np.zeros(vector.size, vector.dtype.array_dtype)
    present = np.zeros(vector.size, np.bool_)
    if vector.indices is not None:
        values[vector.indices] = vector.values
        present[vector.indices] = True
    else:
        values[:] = vector.values
        present[:] = True if vector.present is None else vector.present
    if storage == "full" and nvals == vector.size:
        return CpuVector(vector.size, vector.dtype, "full", values)
    count = np.array([nvals], np.int64)
    return CpuVector(vector.size, vector.dtype, "bitmap", values, None, present, count)


def cast_vector(vector: CpuVector, dtype: DataType) -> CpuVector:
    """Return `vector` in another dtype; shares presence with it."""
    if vector.dtype is dtype:
        return vector
    values = cast_array(vector.values, dtype.array_dtype)
    return CpuVector(
        vector.size, dtype, vector.storage, values, vector.indices, vector.present, vector.count,
        vector.iso,
    )  # fmt: skip


def copy_vector(vector: CpuVector) -> CpuVector:
    """Return a vector that may be written without changing `vector`."""
    if vector.indices is not None:
        return vector
    present, count = vector.present, vector.count
    return CpuVector(
        vector.size, vector.dtype, vector.storage, recycled.copied(vector.values), None,
        None if present is None else recycled.copied(present),
        None if count is None else count.copy(),
        vector.iso,
    )  # fmt: skip


@dataclass(slots=True, eq=False, weakref_slot=True)
class CpuMatrix:
    """A matrix by rows, by columns, or both; the missing orientation is made when asked for.

    `symmetric` is what the caller vouches for: then one orientation serves as both. `lean` names
    the one orientation that is kept: the other is made for a call and dropped.
    """

    nrows: int
    ncols: int
    dtype: DataType
    csr: Compressed | None = None
    csc: Compressed | None = None
    symmetric: bool | None = None
    lean: str | None = None

    @property
    def nvals(self) -> int:
        """Number of entries."""
        return self.any_orientation().nvals

    def any_orientation(self) -> Compressed:
        """Return an orientation that exists, rows preferred."""
        made = self.csr if self.csr is not None else self.csc
        assert made is not None
        return made

    def rows(self) -> Compressed:
        """Return the matrix by rows; a counting sort the first time if it is by columns."""
        if self.csr is None:
            assert self.csc is not None
            made = self.csc if self.symmetric else transpose(self.csc)
            if self.lean:
                self._log_dropped("csr")
                return made
            self.csr = made
        return self.csr

    def columns(self) -> Compressed:
        """Return the matrix by columns."""
        if self.csc is None:
            assert self.csr is not None
            made = self.csr if self.symmetric else transpose(self.csr)
            if self.lean:
                self._log_dropped("csc")
                return made
            self.csc = made
        return self.csc

    def _log_dropped(self, made: str) -> None:
        if not self.symmetric:
            logger.debug(
                "%d x %d matrix with %d entries and memory='lean': its %s is made for one call",
                self.nrows, self.ncols, self.nvals, made,
            )  # fmt: skip

    def state_symmetric(self, symmetric: bool | None) -> None:
        """Believe it from now on; of two orientations the one by rows stays."""
        self.symmetric = symmetric
        if self.csr is not None:
            self.csc = None

    def arrays_of(self, lines: Compressed, *, by_columns: bool) -> MatrixArrays:
        """Return the lines of an orientation as arrays: rows of a csr, or columns of a csc."""
        return MatrixArrays(
            self.nrows, self.ncols, self.dtype, "csc" if by_columns else "csr",
            lines.indptr, lines.indices, lines.values, lines.iso,
        )  # fmt: skip

    def oriented(self, *, by_columns: bool) -> Compressed:
        """Return the matrix by columns or by rows."""
        return self.columns() if by_columns else self.rows()

    def mapped(self, function: Callable[[Compressed], Compressed], dtype: DataType) -> CpuMatrix:
        """Return a matrix of what a function makes of each orientation; a shared one stays so."""
        rows = None if self.csr is None else function(self.csr)
        columns = rows
        if self.csc is not self.csr:
            columns = None if self.csc is None else function(self.csc)
        return CpuMatrix(self.nrows, self.ncols, dtype, rows, columns, self.symmetric)

    def memory_usage(self) -> dict[str, int]:
        """Return the bytes of each array of each orientation; a shared one counts once."""
        kept = {"csr": self.csr, "csc": None if self.csc is self.csr else self.csc}
        return {
            f"{name}.{part}": size
            for name, stored in kept.items()
            if stored is not None
            for part, size in stored.memory_usage().items()
        }

    def kept_lean(self, lean: str | None) -> CpuMatrix:
        """Return the matrix with the orientation `lean` alone; itself if that is None."""
        if lean is None:
            return self
        stored = self.oriented(by_columns=lean == "csc")
        rows, columns = (None, stored) if lean == "csc" else (stored, None)
        return CpuMatrix(self.nrows, self.ncols, self.dtype, rows, columns, self.symmetric, lean)


def matrix_of(rows: Compressed, dtype: DataType) -> CpuMatrix:
    """Return the matrix of given rows."""
    return CpuMatrix(rows.nmajor, rows.nminor, dtype, csr=rows)


def empty_matrix(nrows: int, ncols: int, dtype: DataType) -> CpuMatrix:
    """Return an ordinary matrix without entries, whatever its shape."""
    indices = np.empty(0, index_dtype(nrows, ncols))
    indptr = np.zeros(nrows + 1, offset_dtype(0))
    return matrix_of(
        Compressed(nrows, ncols, indptr, indices, np.empty(0, dtype.array_dtype)), dtype
    )


def shape_of(data: ScalarArrays | CpuVector | CpuMatrix) -> tuple[int, ...]:
    """Return ``()``, ``(size,)`` or ``(nrows, ncols)``."""
    if isinstance(data, CpuVector):
        return (data.size,)
    return () if isinstance(data, ScalarArrays) else (data.nrows, data.ncols)
