"""Dense matrices: a value for each position, and where entries are missing a byte of presence."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semira.base.dtypes import DataType
from semira.base.errors import OutOfMemory
from semira.formats.matrix import MatrixArrays

#: Positions for each entry that a conversion makes at most; small matrices may have `LEAST_CELLS`.
MOST_CELLS, LEAST_CELLS = 64, 2**20


def dense_bytes(
    nrows: int,
    ncols: int,
    value_bytes: int,
    *,
    full: bool = True,
    iso: bool = False,
    bits: bool = False,
) -> int:
    """Return the bytes of a dense matrix: a value for each position, and its presence.

    Parameters
    ----------
    nrows, ncols : int
    value_bytes : int
    full : bool
        Every entry is there: presence is not kept.
    iso : bool
        All entries share one value.
    bits : bool
        Presence is a bit each, of every row in words of 32, as on the GPU; else a byte.

    Examples
    --------
    >>> dense_bytes(1000, 1000, 8), dense_bytes(1000, 1000, 8, full=False)
    (8000000, 9000000)
    >>> dense_bytes(1000, 1000, 8, full=False, bits=True)
    8128000
    """
    presence = 4 * nrows * -(-ncols // 32) if bits else nrows * ncols
    return value_bytes * (1 if iso else nrows * ncols) + (0 if full else presence)


class DenseArrays(NamedTuple):
    """The entries of a matrix at a place for every position, row by row.

    Attributes
    ----------
    values : ndarray, shape (nrows, ncols) or (1, 1)
        Zero where there is no entry; a single one if `iso`.
    present : ndarray of bool or None, shape (nrows, ncols)
        Where there are entries; None: everywhere.
    iso : bool
        Whether all entries share one value.
    """

    values: NDArray[Any]
    present: NDArray[np.bool_] | None
    iso: bool

    @classmethod
    def from_matrix(cls, matrix: MatrixArrays) -> DenseArrays:
        """Return a matrix with a place for every position.

        Raises
        ------
        OutOfMemory
            Nearly all positions would be empty: more than `MOST_CELLS` for each entry.
        """
        shape = (matrix.nrows, matrix.ncols)
        check_positions(shape, matrix.nvals, matrix.dtype, iso=matrix.iso)
        rows, cols, given = matrix.to_coo()
        if matrix.iso:
            values = matrix.values.reshape(1, 1)
        else:
            values = np.zeros(shape, matrix.dtype.array_dtype)
            values[rows, cols] = given
        present = None
        if matrix.nvals != shape[0] * shape[1]:
            present = np.zeros(shape, np.bool_)
            present[rows, cols] = True
        return cls(values, present, matrix.iso)

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays; `dense_bytes` says it without them."""
        return self.values.nbytes + (0 if self.present is None else self.present.nbytes)


def check_positions(
    shape: tuple[int, int], nvals: int, dtype: DataType, *, iso: bool = False, bits: bool = False
) -> None:
    """Refuse a dense matrix of which nearly all positions would be empty.

    Parameters
    ----------
    shape : (nrows, ncols)
    nvals : int
    dtype : DataType
    iso, bits : bool
        See `dense_bytes`.

    Raises
    ------
    OutOfMemory
        There would be more than `MOST_CELLS` positions for each entry. The message has the bytes
        and what to take instead.
    """
    cells = shape[0] * shape[1]
    if cells <= max(LEAST_CELLS, MOST_CELLS * nvals):
        return
    size = dtype.array_dtype.itemsize
    taken = dense_bytes(*shape, size, full=False, iso=iso, bits=bits)
    raise OutOfMemory(
        f"a dense {shape[0]} x {shape[1]} matrix takes {taken} bytes: {cells} positions for "
        f"{nvals} entries (limit: {MOST_CELLS} an entry, or {LEAST_CELLS} in all); use compressed "
        "rows (no pin, or matrix_storage='csr') or coordinate entries (matrix_storage='coo')"
    )
