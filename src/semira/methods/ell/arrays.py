"""ELL and its relatives: rows padded to one width, all of them or slice by slice.

One layout with parameters. Slices of `height` lines each are as wide as their longest line; inside
a slice entry t of its r-th line stands at ``t * height + r``, so that neighbouring lines lie in
neighbouring words, and whoever gives each line a thread reads whole rows of words. Behind the
entries of a line stand slots of padding, whose index is `PADDING`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.base.dtypes import DataType
from semira.base.errors import InvalidObject, InvalidValue, OutOfMemory
from semira.formats.index import offset_dtype
from semira.formats.matrix import MatrixArrays
from semira.formats.sizes import index_bytes, values_bytes

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
    index = index_bytes(nrows, ncols)
    starts = (len(given) + 1) * offset_dtype(slots).itemsize
    return starts + slots * index + nrows * index * lengths + values_bytes(slots, value_bytes, iso)


@dataclass(frozen=True, slots=True, eq=False)
class EllArrays:
    """A matrix in slices of equally many lines: rows (``csr``) or columns (``csc``).

    One slice of all lines is plain ELL, with `lengths` ELL-R; more slices are sliced ELL.

    Attributes
    ----------
    nrows, ncols : int
    dtype : DataType
    orientation : "csr" or "csc"
        Whether lines are rows or columns; see `MatrixArrays`.
    height : int
        Lines of a slice, 1 or more; the last slice is filled up with lines without entries.
    starts : ndarray, shape (slices + 1,), int32 or int64
        First slot of each slice.
    indices : ndarray, shape (starts[-1],), int32 or int64
        Column (csr) or row (csc) of each entry, rising within a line; `PADDING` behind them.
    values : ndarray, shape (starts[-1],) or (1,)
        A single one if `iso`; zero in padding.
    nvals : int
    lengths : ndarray or None, shape (lines,)
        Entries of each line.
    multiple : int
        Widths are multiples of it.
    iso : bool
    symmetric : bool or None
        Whether the matrix equals its transpose; None if nobody has looked.
    """

    nrows: int
    ncols: int
    dtype: DataType
    orientation: str
    height: int
    starts: NDArray[Any]
    indices: NDArray[Any]
    values: NDArray[Any]
    nvals: int
    lengths: NDArray[Any] | None = None
    multiple: int = 1
    iso: bool = False
    symmetric: bool | None = None

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
        return cls(
            matrix.nrows, matrix.ncols, matrix.dtype, matrix.orientation, height, starts, indices,
            values, matrix.nvals, kept, multiple, matrix.iso, matrix.symmetric,
        )  # fmt: skip

    @property
    def lines(self) -> int:
        """Rows of a csr, columns of a csc."""
        return self.nrows if self.orientation == "csr" else self.ncols

    @property
    def slots(self) -> int:
        """Entries and padding together."""
        return len(self.indices)

    @property
    def widths(self) -> NDArray[Any]:
        """Slots of each line, by slice."""
        return np.diff(self.starts) // self.height

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays; `ell_bytes` says it without them."""
        parts = (self.starts, self.indices, self.values, self.lengths)
        return sum(part.nbytes for part in parts if part is not None)

    def to_matrix(self) -> MatrixArrays:
        """Return the matrix in compressed form, of the same orientation."""
        places = np.flatnonzero(self.indices != PADDING)
        line, turn = self._line_and_turn(places)
        order = np.lexsort((turn, line))
        places = places[order]
        counts = np.bincount(line, minlength=self.lines)
        indptr = np.zeros(self.lines + 1, offset_dtype(len(places)))
        np.cumsum(counts, out=indptr[1:])
        values = self.values if self.iso else self.values[places]
        return MatrixArrays(
            self.nrows, self.ncols, self.dtype, self.orientation, indptr, self.indices[places],
            values, self.iso, self.symmetric,
        )  # fmt: skip

    def _line_and_turn(self, places: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the line of each slot, and its number in the line."""
        which = np.searchsorted(self.starts, places, side="right") - 1
        inside = places - self.starts[which]
        return which * self.height + inside % self.height, inside // self.height

    def validate(self) -> None:
        """Check every invariant.

        Raises
        ------
        InvalidObject
            An invariant is broken; the message names it.
        """
        self._validate_shape()
        places = np.flatnonzero(self.indices != PADDING)
        if len(places) != self.nvals:
            raise InvalidObject(f"{len(places)} slots have an index, nvals is {self.nvals}")
        line, turn = self._line_and_turn(places)
        if len(line) and int(line.max()) >= self.lines:
            raise InvalidObject(f"a line behind the last one, {self.lines - 1}, has an entry")
        counts = np.bincount(line, minlength=self.lines)
        if bool(np.any(turn >= counts[line])):
            raise InvalidObject("padding must stand behind the entries of its line")
        if self.lengths is not None and not np.array_equal(self.lengths, counts):
            raise InvalidObject("lengths must be the numbers of entries of the lines")
        filled = np.zeros(len(self.widths) * self.height, np.int64)
        filled[: self.lines] = counts
        longest = filled.reshape(len(self.widths), self.height).max(axis=1)
        if not np.array_equal(-(-longest // self.multiple) * self.multiple, self.widths):
            raise InvalidObject(
                f"a slice must be as wide as its longest line, rounded up to {self.multiple}"
            )
        self.to_matrix().validate()

    def _validate_shape(self) -> None:
        slices = -(-self.lines // max(1, self.height))
        if self.height < 1 or self.multiple < 1:
            raise InvalidObject(f"height {self.height} and multiple {self.multiple} must be >= 1")
        if len(self.starts) != slices + 1 or self.starts[0] != 0:
            raise InvalidObject(f"starts must begin at 0 and hold {slices + 1} offsets")
        steps = np.diff(self.starts)
        if bool(np.any(steps < 0)) or bool(np.any(steps % self.height)):
            raise InvalidObject(f"starts must rise by multiples of the height, {self.height}")
        if self.starts[-1] != self.slots:
            raise InvalidObject(f"starts must end at the number of slots, {self.slots}")
        if len(self.values) != (1 if self.iso else self.slots):
            raise InvalidObject(f"{len(self.values)} values for {self.slots} slots")
        if self.values.dtype != self.dtype.array_dtype:
            raise InvalidObject(f"values are {self.values.dtype}, the dtype is {self.dtype}")


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
