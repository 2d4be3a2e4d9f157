"""One orientation of a matrix, by runs of sorted indices, with what is derived from it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.backends.companions import Companions, Kind
from semira.base.dtypes import DataType
from semira.base.memory import require_bytes
from semira.formats import offset_dtype
from semira.ops.meaning import cast_array

Array = NDArray[Any]

#: Stands for "every position is present" where a kernel strides over presence.
EVERYWHERE = np.ones(1, np.bool_)


#: Values in another dtype, which is the variant.
CASTS = Kind("casts", lambda held, dtype: cast_array(held.values, dtype.array_dtype))

#: Entries of each run; the run of each entry.
DEGREES = Kind("degrees", lambda runs, _: np.diff(runs.indptr), depends_on="pattern")
ENTRY_ROWS = Kind("entry_rows", lambda runs, _: runs.entry_majors(), depends_on="pattern")


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
class Compressed(Valued):
    """One orientation of a matrix: runs of sorted indices. Never changed once made."""

    nmajor: int
    nminor: int
    #: A single value if `iso`.
    indptr: Array
    indices: Array
    values: Array
    iso: bool = False
    #: Everything that was made of the entries so far.
    companions: Companions = field(default_factory=Companions)

    @property
    def nvals(self) -> int:
        """Number of entries."""
        return len(self.indices)

    def kept_indices(self) -> Array | None:
        """Return the indices if there are any in memory (see `semira.backends.cpu.whole`)."""
        return self.indices

    def degrees(self) -> Array:
        """Return the number of entries of each run; computed once."""
        found: Array = self.companions.need(DEGREES, self)
        return found

    def room(self, lo: int, hi: int) -> int:
        """Return the entries of the runs from `lo` to `hi`."""
        return int(self.indptr[hi] - self.indptr[lo])

    def entry_majors(self) -> Array:
        """Return the run each entry belongs to."""
        require_bytes(self.indices.nbytes, "a list of entries")
        return np.repeat(np.arange(self.nmajor, dtype=self.indices.dtype), self.degrees())

    def kept_majors(self) -> Array:
        """Return the run each entry belongs to, which with `indices` makes coordinates; kept."""
        found: Array = self.companions.need(ENTRY_ROWS, self)
        return found

    def memory_usage(self) -> dict[str, int]:
        """Return the bytes of each array, those kept beside the entries included."""
        parts = {"indptr": self.indptr, "indices": self.kept_indices(), "values": self.values}
        held = {name: part.nbytes for name, part in parts.items() if part is not None}
        return held | self.companions.memory_usage()

    def replaced(self, values: Array, *, iso: bool) -> Compressed:
        """Return the same pattern with other values."""
        kept = self.companions.of_pattern()
        return Compressed(self.nmajor, self.nminor, self.indptr, self.indices, values, iso, kept)


def offsets_from_counts(counts: Array) -> Array:
    """Turn counts in ``counts[1:]`` into offsets, in place if the dtype is wide enough."""
    total = int(np.add.reduce(counts[1:], dtype=np.int64))
    offsets = counts.astype(offset_dtype(total), copy=False)
    offsets[0] = 0
    offsets.cumsum(out=offsets)
    return offsets
