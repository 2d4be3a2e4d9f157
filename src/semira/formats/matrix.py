"""Compressed sparse rows and columns; of a huge, nearly empty shape only the lines with entries."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.base.dtypes import DataType
from semira.base.errors import InvalidObject, OutOfMemory
from semira.base.memory import repeated, require_bytes
from semira.formats.index import WIDE, index_dtype, offset_dtype

ORIENTATIONS = ("csr", "csc")

#: Below this many rows (columns) the offsets take at most 64 MiB, and one pass over them less than
#: the sorting that their absence costs.
HYPER_MAJOR = 2**24

#: From there on, fewer entries than rows / this make a matrix hypersparse: the offsets would
#: take several times the room of the entries. (SuiteSparse:GraphBLAS switches at 1/16 as well.)
HYPER_SHARE = 16


def is_hypersparse(nmajor: int, nvals: int) -> bool:
    """Whether a matrix of `nmajor` rows (columns) lists those that have entries.

    Always from 2**31 on: nothing may be allocated per row there.
    """
    return nmajor >= WIDE or (nmajor >= HYPER_MAJOR and nvals * HYPER_SHARE < nmajor)


@dataclass(frozen=True, slots=True, eq=False)
class MatrixArrays:
    """The arrays of one sparse matrix, by rows (``csr``) or by columns (``csc``).

    With `majors` it is hypersparse (DCSR, DCSC): O(nvals) memory whatever the shape.

    Attributes
    ----------
    nrows, ncols : int
    dtype : DataType
    orientation : {"csr", "csc"}
    indptr : ndarray, shape (major + 1,) or (len(majors) + 1,), int32 or int64
        Offsets of each row (csr) or column (csc), of each listed one if there are `majors`.
    indices : ndarray, shape (nvals,), int32 or int64
        Column (csr) or row (csc) of each entry, strictly increasing within a row (column).
    values : ndarray, shape (nvals,) or (1,)
        Values; a single one if `iso`. A graph without weights is an iso matrix of value 1.
    iso : bool
        Whether all entries share ``values[0]``.
    symmetric : bool or None
        Whether the matrix equals its transpose, values included; None if nobody has looked.
    majors : ndarray or None
        The rows (csr) or columns (csc) that have entries, strictly increasing; None lists all.
    lean : bool
        A device is to keep this orientation and no other.
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
    majors: NDArray[Any] | None = None
    lean: bool = False

    @classmethod
    def empty(cls, nrows: int, ncols: int, dtype: DataType) -> MatrixArrays:
        """Return a matrix without entries."""
        indices = np.empty(0, index_dtype(nrows, ncols))
        is_hyper = is_hypersparse(nrows, 0)
        return cls(
            nrows,
            ncols,
            dtype,
            "csr",
            np.zeros(1 if is_hyper else nrows + 1, offset_dtype(0)),
            indices,
            np.empty(0, dtype.array_dtype),
            majors=indices if is_hyper else None,
        )

    @property
    def nvals(self) -> int:
        """Number of entries."""
        return len(self.indices)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return self.nrows, self.ncols

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
        parts = (self.indptr, self.indices, self.values, self.majors)
        return sum(part.nbytes for part in parts if part is not None)

    @property
    def is_hyper(self) -> bool:
        """Whether only the rows (columns) with entries are listed."""
        return self.majors is not None

    def hyper(self) -> MatrixArrays:
        """Return the matrix listing only rows (columns) with entries; shares its entries."""
        if self.majors is not None:
            return self
        majors = np.flatnonzero(self.indptr[1:] > self.indptr[:-1])
        indptr = np.append(self.indptr[majors], self.indptr[-1:])
        majors = majors.astype(self.indices.dtype, copy=False)
        return replace(self, indptr=indptr, majors=majors)

    def ordinary(self) -> MatrixArrays:
        """Return the matrix with offsets of every row (column); shares its entries.

        Raises
        ------
        OutOfMemory
            It has 2**31 rows (columns) or more, or their offsets do not fit.
        """
        if self.majors is None:
            return self
        if self.nmajor >= WIDE:
            what = "rows" if self.orientation == "csr" else "columns"
            raise OutOfMemory(
                f"{self.nmajor} {what} with an offset each (limit: fewer than 2**31); use the "
                "hypersparse form (to_dcsr, to_dcsc) or entries (to_coo)"
            )
        require_bytes(
            self.nmajor * self.indptr.itemsize,
            f"an offset for each of {self.nmajor} rows or columns",
            "use the hypersparse form (to_dcsr, to_dcsc) or entries (to_coo)",
        )
        indptr = np.zeros(self.nmajor + 1, self.indptr.dtype)
        indptr[self.majors + 1] = np.diff(self.indptr)
        return replace(self, indptr=np.cumsum(indptr, out=indptr), majors=None)

    def entry_values(self) -> NDArray[Any]:
        """Return one value per entry (expanded if `iso`)."""
        return repeated(self.values, self.nvals) if self.iso else self.values

    def entry_major(self) -> NDArray[Any]:
        """Return the row (csr) or column (csc) of each entry."""
        majors = self.majors
        if majors is None:
            majors = np.arange(self.nmajor, dtype=self.indices.dtype)
        require_bytes(self.nvals * majors.itemsize, "a list of entries")
        return np.repeat(majors, np.diff(self.indptr))

    def to_coo(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Return rows, columns and values of the entries, in stored order."""
        major, minor = self.entry_major(), self.indices
        rows, cols = (major, minor) if self.orientation == "csr" else (minor, major)
        return rows, cols, self.entry_values()

    def flipped(self) -> MatrixArrays:
        """Return the same arrays read as the transpose: csr of A is csc of A'. Copies nothing."""
        other = "csc" if self.orientation == "csr" else "csr"
        return replace(self, nrows=self.ncols, ncols=self.nrows, orientation=other)

    def validate(self) -> None:
        """Check every invariant.

        Raises
        ------
        InvalidObject
            An invariant is broken; the message names it.
        """
        if self.orientation not in ORIENTATIONS:
            raise InvalidObject(f"orientation {self.orientation!r} is none of {ORIENTATIONS}")
        listed = self.nmajor if self.majors is None else len(self.majors)
        if len(self.indptr) != listed + 1 or self.indptr[0] != 0:
            raise InvalidObject(f"indptr must start at 0 and hold {listed + 1} offsets")
        # Compared, not subtracted: a difference may wrap.
        if self.indptr[-1] != self.nvals or bool(np.any(self.indptr[1:] < self.indptr[:-1])):
            raise InvalidObject(f"indptr must rise to the number of entries, {self.nvals}")
        if len(self.values) != (1 if self.iso else self.nvals):
            raise InvalidObject(
                f"{len(self.values)} values for {self.nvals} entries (iso={self.iso})"
            )
        if self.values.dtype != self.dtype.array_dtype:
            raise InvalidObject(f"values are {self.values.dtype}, the dtype is {self.dtype}")
        self._validate_majors()
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

    def _validate_majors(self) -> None:
        majors = self.majors
        if majors is None or len(majors) == 0:
            return
        if int(majors[0]) < 0 or int(majors[-1]) >= self.nmajor:
            raise InvalidObject(f"a listed row (column) lies outside [0, {self.nmajor})")
        if not bool(np.all(majors[1:] > majors[:-1])):
            raise InvalidObject("listed rows (columns) must be strictly increasing")
