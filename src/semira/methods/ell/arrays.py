"""ELL and its relatives: rows padded to one width, all of them or slice by slice.

One layout with parameters. Slices of `height` lines each are as wide as their longest line; inside
a slice entry t of its r-th line stands at ``t * height + r``, so that neighbouring lines lie in
neighbouring words, and whoever gives each line a thread reads whole rows of words. Behind the
entries of a line stand slots of padding, whose index is `PADDING`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semira.base.dtypes import DataType
from semira.base.errors import InvalidValue, OutOfMemory
from semira.formats.index import index_dtype, offset_dtype
from semira.formats.matrix import MatrixArrays

#: Index of a slot without an entry.
PADDING = -1

#: Slots for each entry that a conversion makes at most; small matrices may have `LEAST_SLOTS`.
MOST_SLOTS, LEAST_SLOTS = 8, 2**16

#: What `EllArrays.from_matrix` is told for each kind: plain, with lengths, slices for warps.
KINDS: dict[str, dict[str, Any]] = {
    "ell": {},
    "ellr": {"lengths": True},
    "pell": {"multiple": 4},
    "sell": {"slice_lines": 32},
}


def ell_bytes(
    nrows: int,
    ncols: int,
    widths: Iterable[int],
    value_bytes: int,
    *,
    slice_rows: int | None = None,
    lengths: bool = False,
    iso: bool = False,
) -> int:
    """Return the bytes of ELL: `slice_rows` times the width of each slice, an index and a value.

    Parameters
    ----------
    nrows, ncols : int
    widths : iterable of int
        Entries of the longest row of each slice, rounded up if rows are padded; whole-matrix ELL
        has one slice (none if there are no rows).
    value_bytes : int
    slice_rows : int, optional
        Rows of a slice; None: all.
    lengths : bool
        Each row's number of entries is kept (ELL-R).
    iso : bool
        All entries share one value.

    Examples
    --------
    >>> ell_bytes(1000, 1000, [12], 8), ell_bytes(64, 64, [12, 3], 8, slice_rows=32)
    (144008, 5772)
    """
    given = list(widths)
    slots = max(1, nrows if slice_rows is None else slice_rows) * sum(given)
    index = index_dtype(nrows, ncols).itemsize
    starts = (len(given) + 1) * offset_dtype(slots).itemsize
    values = value_bytes * (1 if iso else slots)
    return starts + slots * index + nrows * index * lengths + values


class EllArrays(NamedTuple):
    """The entries of a matrix in slices of equally many lines: rows of a csr, columns of a csc.

    One slice of all lines is plain ELL, with `lengths` ELL-R; more slices are sliced ELL.

    Attributes
    ----------
    height : int
        Lines of a slice, 1 or more; the last slice is filled up with lines without entries.
    starts : ndarray, shape (slices + 1,), int32 or int64
        First slot of each slice.
    indices : ndarray, shape (starts[-1],), int32 or int64
        Column (csr) or row (csc) of each entry, rising within a line; `PADDING` behind them.
    values : ndarray, shape (starts[-1],) or (1,)
        A single one if `iso`; zero in padding.
    lengths : ndarray or None, shape (lines,)
        Entries of each line.
    iso : bool
    """

    height: int
    starts: NDArray[Any]
    indices: NDArray[Any]
    values: NDArray[Any]
    lengths: NDArray[Any] | None
    iso: bool

    @classmethod
    def from_matrix(
        cls,
        matrix: MatrixArrays,
        *,
        slice_lines: int | None = None,
        multiple: int = 1,
        lengths: bool = False,
    ) -> EllArrays:
        """Return a matrix in slices; lines are the rows of a csr, the columns of a csc.

        Parameters
        ----------
        matrix : MatrixArrays
        slice_lines : int >= 1, optional
            Lines of a slice; None: all of them (plain ELL).
        multiple : int >= 1
            Widths are rounded up to a multiple of it.
        lengths : bool
            Keep the number of entries of each line (ELL-R).

        Raises
        ------
        InvalidValue
            `slice_lines` or `multiple` is less than 1.
        OutOfMemory
            Padding would take more than `MOST_SLOTS` slots an entry, or there is an offset for
            each of 2**31 lines to make. The message has the bytes and what to take instead.
        """
        for name, given in (("slice_lines", slice_lines), ("multiple", multiple)):
            if given is not None and given < 1:
                raise InvalidValue(f"{name}={given}; give 1 or more")
        matrix = matrix.ordinary()
        lines, counts = matrix.nmajor, np.diff(matrix.indptr).astype(np.int64)
        height = max(1, lines if slice_lines is None else slice_lines)
        slices = -(-lines // height)
        filled = np.zeros(slices * height, np.int64)
        filled[:lines] = counts
        widths = filled.reshape(slices, height).max(axis=1)
        widths = -(-widths // multiple) * multiple
        check_padding(
            (matrix.nrows, matrix.ncols), matrix.orientation, matrix.nvals, matrix.dtype, widths,
            slice_lines, lengths=lengths, iso=matrix.iso,
        )  # fmt: skip
        slots = int(widths.sum()) * height
        starts = np.zeros(slices + 1, offset_dtype(slots))
        np.cumsum(widths * height, out=starts[1:])
        major = matrix.entry_major().astype(np.int64)
        turn = np.arange(matrix.nvals) - matrix.indptr[major]
        places = starts[major // height] + turn * height + major % height
        indices = np.full(slots, PADDING, matrix.indices.dtype)
        indices[places] = matrix.indices
        values = matrix.values
        if not matrix.iso:
            values = np.zeros(slots, matrix.dtype.array_dtype)
            values[places] = matrix.values
        kept = counts.astype(matrix.indices.dtype) if lengths else None
        return cls(height, starts, indices, values, kept, matrix.iso)

    @property
    def widths(self) -> NDArray[Any]:
        """Slots of each line, by slice."""
        return np.diff(self.starts) // self.height

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays; `ell_bytes` says it without them."""
        parts = (self.starts, self.indices, self.values, self.lengths)
        return sum(part.nbytes for part in parts if part is not None)


def most_slots(nvals: int) -> int:
    """Return how many slots a conversion makes of `nvals` entries.

    Examples
    --------
    >>> most_slots(10), most_slots(10**6)
    (65536, 8000000)
    """
    return max(LEAST_SLOTS, MOST_SLOTS * nvals)


def check_padding(
    shape: tuple[int, int],
    orientation: str,
    nvals: int,
    dtype: DataType,
    widths: NDArray[Any],
    height: int | None = None,
    *,
    lengths: bool = False,
    iso: bool = False,
) -> None:
    """Refuse a layout that would be nearly all padding.

    Parameters
    ----------
    shape : (nrows, ncols)
    orientation : "csr" or "csc"
    nvals : int
    dtype : DataType
    widths : ndarray of int64
        Slots of a line of each slice.
    height : int, optional
        Lines of a slice; None: all.
    lengths, iso : bool
        See `EllArrays`.

    Raises
    ------
    OutOfMemory
        It would take more than `MOST_SLOTS` slots an entry. The message has the bytes and what to
        take instead.
    """
    lines, minor = shape if orientation == "csr" else shape[::-1]
    slots = int(widths.sum()) * max(1, lines if height is None else height)
    if slots <= most_slots(nvals):
        return
    taken = ell_bytes(
        lines, minor, widths.tolist(), dtype.array_dtype.itemsize, slice_rows=height,
        lengths=lengths, iso=iso,
    )  # fmt: skip
    what = "rows" if orientation == "csr" else "columns"
    name = "ELL" if height is None else f"sliced ELL with slices of {height} {what}"
    remedy = "sliced ELL (matrix_storage='sell') or " if height is None else ""
    raise OutOfMemory(
        f"{name} of a {shape[0]} x {shape[1]} matrix takes {taken} bytes: {slots} slots "
        f"for {nvals} entries, as one of its {what} has {int(widths.max())} (limit: {MOST_SLOTS} "
        f"slots an entry, or {LEAST_SLOTS} in all); use {remedy}compressed {what} "
        f"(matrix_storage={orientation!r}) or coordinate entries (matrix_storage='coo')"
    )
