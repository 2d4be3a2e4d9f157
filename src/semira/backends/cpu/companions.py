"""What is kept beside an orientation of a matrix: derived arrays, padded lines, every position."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.backends.companions import Companions, Kind
from semira.base.dtypes import DataType
from semira.formats import DenseArrays, EllArrays, MatrixArrays
from semira.formats.ell import KINDS
from semira.ops.meaning import cast_array

#: Values in another dtype, which is the variant.
CASTS = Kind("casts", lambda held, dtype: cast_array(held.values, dtype.array_dtype))

#: Entries of each run; the run of each entry.
DEGREES = Kind("degrees", lambda runs, _: np.diff(runs.indptr), depends_on="pattern")
ENTRY_ROWS = Kind("entry_rows", lambda runs, _: runs.entry_majors(), depends_on="pattern")

#: Stand for arrays that a kernel is told not to read.
_NONE, _EVERYWHERE = np.zeros(1, np.int32), np.ones(1, np.bool_)


class Valued:
    """Values of entries, or of slots, with casts that are made once and kept."""

    __slots__ = ()

    values: NDArray[Any]
    iso: bool
    companions: Companions

    @property
    def stride(self) -> int:
        """Step from one value to the next."""
        return 0 if self.iso else 1

    def values_as(self, dtype: DataType) -> NDArray[Any]:
        """Return the values in `dtype`; a cast is made once and kept."""
        if self.values.dtype == dtype.array_dtype:
            return self.values
        made: NDArray[Any] = self.companions.need(CASTS, self, dtype)
        return made


@dataclass(slots=True, eq=False)
class Padded(Valued):
    """One orientation with its lines padded: `semira.formats.EllArrays` with casts of its values.

    Attributes
    ----------
    height : int
    starts, indices, values : ndarray
    lengths : ndarray or None
    iso : bool
    """

    template = "padded"

    height: int
    starts: NDArray[Any]
    indices: NDArray[Any]
    values: NDArray[Any]
    lengths: NDArray[Any] | None
    iso: bool
    companions: Companions = field(default_factory=Companions)

    @property
    def flag(self) -> tuple[str, bool]:
        """What its kernels are told of the layout."""
        return "LENGTHS", self.lengths is not None

    def describe(self) -> tuple[Any, ...]:
        """Return the arguments by which a kernel finds the entries."""
        lengths = _NONE if self.lengths is None else self.lengths
        return self.height, self.starts, lengths, self.indices

    @property
    def nbytes(self) -> int:
        """Bytes of its arrays; a single value is the orientation's own."""
        parts = (self.starts, self.indices, self.lengths, None if self.iso else self.values)
        return sum(part.nbytes for part in parts if part is not None) + self.companions.nbytes


@dataclass(slots=True, eq=False)
class Dense(Valued):
    """One orientation line by line with a place for every position, with casts of its values.

    Attributes
    ----------
    width : int
        Positions of a line.
    values : ndarray, shape (lines * width,) or (1,)
    present : ndarray of bool or None, shape (lines * width,)
        None: every entry is there.
    iso : bool
    """

    template = "dense"

    width: int
    values: NDArray[Any]
    present: NDArray[Any] | None
    iso: bool
    companions: Companions = field(default_factory=Companions)

    @property
    def flag(self) -> tuple[str, bool]:
        """What its kernels are told of the layout."""
        return "GAPS_E", self.present is not None

    def describe(self) -> tuple[Any, ...]:
        """Return the arguments by which a kernel finds the entries."""
        return self.width, _EVERYWHERE if self.present is None else self.present

    @property
    def nbytes(self) -> int:
        """Bytes of its arrays; a single value is the orientation's own."""
        held = 0 if self.present is None else self.present.nbytes
        return held + (0 if self.iso else self.values.nbytes) + self.companions.nbytes


def _pad(runs: Any, _: str, orientation: str, dtype: DataType, *, storage: str) -> Padded:
    """Return runs with their lines padded, as a storage says."""
    arrays = _arrays(runs, orientation, dtype)
    made = EllArrays.from_matrix(arrays, **KINDS[storage])
    return Padded(made.height, made.starts, made.indices, made.values, made.lengths, made.iso)


def _spread(runs: Any, variant: str, dtype: DataType) -> Dense:
    """Return a place for every position, run by run or (`ACROSS`) across the runs."""
    made = DenseArrays.from_matrix(_arrays(runs, "csc" if variant == ACROSS else "csr", dtype))
    present = None if made.present is None else made.present.ravel()
    values = runs.values if made.iso else made.values.ravel()
    return Dense(runs.nmajor if variant == ACROSS else runs.nminor, values, present, made.iso)


def _arrays(runs: Any, orientation: str, dtype: DataType) -> MatrixArrays:
    """Return runs as the matrix whose rows, or columns, they are."""
    shape = (runs.nmajor, runs.nminor)
    nrows, ncols = shape if orientation == "csr" else shape[::-1]
    return MatrixArrays(
        nrows, ncols, dtype, orientation, runs.indptr, runs.indices, runs.values, runs.iso
    )


#: Variants of `DENSE`: run by run, or the other way.
ALONG, ACROSS = "", "across"
DENSE = Kind("dense", _spread)
PADDED = {storage: Kind(storage, partial(_pad, storage=storage)) for storage in KINDS}
