"""Coordinate entries (COO): a row, a column and a value each, in row order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.base.dtypes import DataType
from semira.base.errors import InvalidObject
from semira.formats.index import offset_dtype
from semira.formats.matrix import MatrixArrays, is_hypersparse
from semira.formats.sizes import index_bytes, values_bytes


def coo_bytes(nrows: int, ncols: int, nvals: int, value_bytes: int, *, iso: bool = False) -> int:
    """Return the bytes of coordinate entries: two indices and a value each.

    Examples
    --------
    >>> coo_bytes(1000, 1000, 5000, 8)
    80000
    """
    return 2 * nvals * index_bytes(nrows, ncols) + values_bytes(nvals, value_bytes, iso)


@dataclass(frozen=True, slots=True, eq=False)
class CoordinateArrays:
    """The entries of a matrix, sorted by row and in each row by column, none twice.

    (`EdgeList` is what comes before: any order, repeats allowed.)

    Attributes
    ----------
    nrows, ncols : int
    dtype : DataType
    rows, cols : ndarray, shape (nvals,), int32 or int64
    values : ndarray, shape (nvals,) or (1,)
        Values; a single one if `iso`.
    iso : bool
        Whether all entries share ``values[0]``.
    symmetric : bool or None
        Whether the matrix equals its transpose; None if nobody has looked.
    """

    nrows: int
    ncols: int
    dtype: DataType
    rows: NDArray[Any]
    cols: NDArray[Any]
    values: NDArray[Any]
    iso: bool = False
    symmetric: bool | None = None

    @classmethod
    def from_matrix(cls, matrix: MatrixArrays) -> CoordinateArrays:
        """Return the entries of a matrix; those of compressed columns are sorted first."""
        rows, cols = matrix.entry_major(), matrix.indices
        values = matrix.values
        if matrix.orientation == "csc":
            # Stable: the columns of a row stay in order.
            order = np.argsort(cols, kind="stable")
            rows, cols = cols[order], rows[order]
            values = values if matrix.iso else values[order]
        return cls(
            matrix.nrows, matrix.ncols, matrix.dtype, rows, cols, values, matrix.iso,
            matrix.symmetric,
        )  # fmt: skip

    @property
    def nvals(self) -> int:
        """Number of entries."""
        return len(self.rows)

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays; `coo_bytes` says it without them."""
        return self.rows.nbytes + self.cols.nbytes + self.values.nbytes

    def to_matrix(self) -> MatrixArrays:
        """Return the matrix by rows; shares the columns and the values."""
        majors = None
        if is_hypersparse(self.nrows, self.nvals):
            majors, starts = np.unique(self.rows, return_index=True)
            indptr = np.append(starts, self.nvals)
        else:
            bounds = np.arange(self.nrows + 1, dtype=np.int64)
            indptr = np.searchsorted(self.rows, bounds)
        return MatrixArrays(
            self.nrows,
            self.ncols,
            self.dtype,
            "csr",
            indptr.astype(offset_dtype(self.nvals)),
            self.cols,
            self.values,
            self.iso,
            self.symmetric,
            majors,
        )

    def validate(self) -> None:
        """Check every invariant.

        Raises
        ------
        InvalidObject
            An invariant is broken; the message names it.
        """
        if len(self.rows) != len(self.cols):
            raise InvalidObject(f"{len(self.rows)} rows for {len(self.cols)} columns")
        if len(self.values) != (1 if self.iso else self.nvals):
            raise InvalidObject(
                f"{len(self.values)} values for {self.nvals} entries (iso={self.iso})"
            )
        if self.values.dtype != self.dtype.array_dtype:
            raise InvalidObject(f"values are {self.values.dtype}, the dtype is {self.dtype}")
        for name, part, limit in (
            ("row", self.rows, self.nrows),
            ("column", self.cols, self.ncols),
        ):
            if len(part) and (int(part.min()) < 0 or int(part.max()) >= limit):
                raise InvalidObject(f"a {name} index lies outside [0, {limit})")
        same = self.rows[1:] == self.rows[:-1]
        rises = (self.rows[1:] > self.rows[:-1]) | (same & (self.cols[1:] > self.cols[:-1]))
        if not bool(rises.all()):
            raise InvalidObject("entries must be in row order, in each row by rising columns")
