"""What is kept beside an orientation of a matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.backends.companions import Companions, Kind
from semira.base.dtypes import DataType
from semira.ops.meaning import cast_array

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
