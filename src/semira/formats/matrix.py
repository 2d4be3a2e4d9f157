"""Compressed sparse rows and columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.base.dtypes import DataType
from semira.base.errors import InvalidObject
from semira.formats.index import index_dtype, offset_dtype

ORIENTATIONS = ("csr", "csc")


@dataclass(frozen=True, slots=True, eq=False)
class MatrixArrays:
    """The arrays of one sparse matrix, by rows (``csr``) or by columns (``csc``).

    Attributes
    ----------
    nrows, ncols : int
    dtype : DataType
    orientation : {"csr", "csc"}
    indptr : ndarray, shape (major + 1,), int32 or int64
        Offsets of each row (csr) or column (csc).
    indices : ndarray, shape (nvals,), int32 or int64
        Column (csr) or row (csc) of each entry, strictly increasing within a row (column).
    values : ndarray, shape (nvals,) or (1,)
        Values; a single one if `iso`. A graph without weights is an iso matrix of value 1.
    iso : bool
        Whether all entries share ``values[0]``.
    symmetric : bool or None
        Whether the matrix equals its transpose, values included; None if nobody has looked.
    """

    nrows: int
    ncols: int
    dtype: DataType
    orientation: str
    indptr: NDArray[Any]
    indices: NDArray[Any]
    values: NDArray[Any]
    iso: bool = False
    symmetric: bool | None = None

    @classmethod
    def empty(cls, nrows: int, ncols: int, dtype: DataType) -> MatrixArrays:
        """Return a matrix without entries."""
        return cls(
            nrows,
            ncols,
            dtype,
            "csr",
            np.zeros(nrows + 1, offset_dtype(0)),
            np.empty(0, index_dtype(nrows, ncols)),
            np.empty(0, dtype.np_type),
        )

    @property
    def nvals(self) -> int:
        """Number of entries."""
        return len(self.indices)

    @property
    def nmajor(self) -> int:
        """Rows of a csr, columns of a csc."""
        return self.nrows if self.orientation == "csr" else self.ncols

    @property
    def nminor(self) -> int:
        """Columns of a csr, rows of a csc."""
        return self.ncols if self.orientation == "csr" else self.nrows

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        return self.indptr.nbytes + self.indices.nbytes + self.values.nbytes

    def entry_values(self) -> NDArray[Any]:
        """Return one value per entry (expanded if `iso`)."""
        return np.repeat(self.values[:1], self.nvals) if self.iso else self.values

    def entry_major(self) -> NDArray[Any]:
        """Return the row (csr) or column (csc) of each entry."""
        majors = np.arange(self.nmajor, dtype=self.indices.dtype)
        return np.repeat(majors, np.diff(self.indptr))

    def to_coo(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Return rows, columns and values of the entries, in stored order."""
        major, minor = self.entry_major(), self.indices
        rows, cols = (major, minor) if self.orientation == "csr" else (minor, major)
        return rows, cols, self.entry_values()

    def flipped(self) -> MatrixArrays:
        """Return the same arrays read as the transpose: csr of A is csc of A'. Copies nothing."""
        other = "csc" if self.orientation == "csr" else "csr"
        return MatrixArrays(
            self.ncols, self.nrows, self.dtype, other,
            self.indptr, self.indices, self.values, self.iso, self.symmetric,
        )  # fmt: skip

    def validate(self) -> None:
        """Check every invariant.

        Raises
        ------
        InvalidObject
            An invariant is broken; the message names it.
        """
        if self.orientation not in ORIENTATIONS:
            raise InvalidObject(f"orientation {self.orientation!r} is none of {ORIENTATIONS}")
        if len(self.indptr) != self.nmajor + 1 or self.indptr[0] != 0:
            raise InvalidObject(f"indptr must start at 0 and hold {self.nmajor + 1} offsets")
        if self.indptr[-1] != self.nvals or bool(np.any(np.diff(self.indptr) < 0)):
            raise InvalidObject(f"indptr must rise to the number of entries, {self.nvals}")
        if len(self.values) != (1 if self.iso else self.nvals):
            raise InvalidObject(
                f"{len(self.values)} values for {self.nvals} entries (iso={self.iso})"
            )
        if self.values.dtype != self.dtype.np_type:
            raise InvalidObject(f"values are {self.values.dtype}, the dtype is {self.dtype}")
        if self.nvals == 0:
            return
        if int(self.indices.min()) < 0 or int(self.indices.max()) >= self.nminor:
            raise InvalidObject(f"an index lies outside [0, {self.nminor})")
        rising = np.ones(self.nvals, bool)
        rising[1:] = self.indices[1:] > self.indices[:-1]
        starts = self.indptr[:-1][np.diff(self.indptr) > 0]
        rising[starts] = True
        if not bool(rising.all()):
            raise InvalidObject("indices must be strictly increasing within each row (column)")
