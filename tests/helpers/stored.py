"""Operands of drawn cases: entries from a seed, built alike in two libraries, ours in any storage.

The storage (sparse, bitmap, full; csr, csc, hypersparse; one value for all) is chosen here, which
the public constructors leave to the library.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from tests.helpers.strategies import draw_values

import semira as gb
from semira.base.dtypes import lookup_dtype
from semira.engine.values import Value
from semira.formats import MatrixArrays, VectorArrays, index_dtype, offset_dtype

VECTOR_STORAGES = ("sparse", "bitmap", "full", "iso")
#: Whether matrices can be kept with their non-empty rows alone.
HAS_HYPER = "majors" in {field.name for field in fields(MatrixArrays)}
MATRIX_STORAGES = ("csr", "csc", "full", "iso", *(("hyper",) if HAS_HYPER else ()))

#: Sides from here on hold few entries at drawn positions.
WIDE = 2**31
_WIDE_ENTRIES = 12


@dataclass(frozen=True)
class Operand:
    """An object as it was drawn; its entries follow from `seed`.

    Attributes
    ----------
    shape : tuple of int
    dtype : str
    storage : str
        One of `VECTOR_STORAGES` or `MATRIX_STORAGES`.
    density : float
    seed : int
    empty_rows, dense_row : bool
        Shape of the pattern (matrices).
    special : bool
        Values may be infinite, NaN, or the limits of an integer dtype.
    """

    shape: tuple[int, ...]
    dtype: str
    storage: str
    density: float
    seed: int
    empty_rows: bool = False
    dense_row: bool = False
    special: bool = False

    def positions(self, rng: np.random.Generator) -> tuple[Any, ...]:
        """Return the indices of the entries, by row, then column."""
        if max(self.shape) >= WIDE:
            return self._wide_positions(rng)
        if self.storage == "full":
            return np.nonzero(np.ones(self.shape, bool))
        chances = rng.random(self.shape)
        if self.empty_rows:
            chances[rng.random(self.shape[0]) < 0.6] = 1
        if self.dense_row and self.shape[0]:
            chances[rng.integers(self.shape[0])] = 0
        return np.nonzero(chances < self.density)

    def _wide_positions(self, rng: np.random.Generator) -> tuple[Any, ...]:
        # Low ones, high ones and some between, so that operands meet.
        axes = []
        for size in self.shape:
            pool = np.unique(np.array([0, 1, 5, size // 3, size - 2, size - 1]) % max(size, 1))
            axes.append(rng.choice(pool, _WIDE_ENTRIES))
        distinct = np.unique(np.stack(axes, axis=1), axis=0)
        # Beside an empty side there is no place for them.
        return tuple(distinct[: 0 if 0 in self.shape else None].T)

    def entries(self) -> tuple[tuple[Any, ...], Any]:
        """Return positions and one value for each."""
        rng = np.random.default_rng([self.seed, *self.shape])
        at = self.positions(rng)
        count = len(at[0])
        iso = self.storage == "iso"
        dtype = lookup_dtype(self.dtype)
        values = draw_values(dtype, rng, 1 if iso else count, special=self.special)
        return at, np.full(count, values[0]) if iso else values

    def build(self, library: Any) -> Any:
        """Return the object in `library` (for ours: in `storage`)."""
        at, values = self.entries()
        if library is gb:
            return self._ours(at, values)
        if len(self.shape) == 1:
            return library.Vector.from_coo(*at, values, dtype=self.dtype, size=self.shape[0])
        nrows, ncols = self.shape
        return library.Matrix.from_coo(*at, values, dtype=self.dtype, nrows=nrows, ncols=ncols)

    def _ours(self, at: tuple[Any, ...], values: Any) -> Any:
        if self.storage == "iso" and len(values):
            values = values[:1]
        iso = self.storage == "iso" and len(values) > 0
        if len(self.shape) == 1:
            arrays: Any = self._vector(at[0], values, iso)
            made = gb.Vector._wrap(Value.of(arrays))
        else:
            arrays = self._matrix(*at, values, iso)
            made = gb.Matrix._wrap(Value.of(arrays))
        arrays.validate()
        return made

    def _vector(self, indices: Any, values: Any, iso: bool) -> VectorArrays:
        (size,) = self.shape
        dtype = lookup_dtype(self.dtype)
        if size < WIDE and self.storage == "full":
            return VectorArrays.full(dtype, values)
        if size >= WIDE or self.storage != "bitmap":
            return VectorArrays.sparse(
                size, dtype, indices.astype(index_dtype(size)), values, iso=iso
            )
        dense = np.zeros(size, dtype.np_type)
        present = np.zeros(size, bool)
        dense[indices], present[indices] = values, True
        return VectorArrays(size, dtype, "bitmap", dense, None, present, len(indices))

    def _matrix(self, rows: Any, cols: Any, values: Any, iso: bool) -> MatrixArrays:
        nrows, ncols = self.shape
        by_columns = self.storage == "csc"
        major, minor, nmajor = (cols, rows, ncols) if by_columns else (rows, cols, nrows)
        if by_columns:
            order = np.lexsort((minor, major))
            major, minor, values = major[order], minor[order], values[order]
        wanted = index_dtype(nrows, ncols)
        more: dict[str, Any] = {}
        if self.storage == "hyper" or max(self.shape) >= WIDE:
            majors, counts = np.unique(major, return_counts=True)
            more["majors"] = majors.astype(wanted)
        else:
            counts = np.bincount(major, minlength=nmajor)
        indptr = np.concatenate(([0], np.cumsum(counts))).astype(offset_dtype(len(minor)))
        return MatrixArrays(
            nrows, ncols, lookup_dtype(self.dtype), "csc" if by_columns else "csr",
            indptr, minor.astype(wanted), values, iso, **more,
        )  # fmt: skip
