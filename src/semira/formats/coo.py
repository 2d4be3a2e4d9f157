"""Edge lists: what readers and generators produce before a matrix is built."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.base.errors import InvalidObject


@dataclass(frozen=True, slots=True, eq=False)
class EdgeList:
    """Entries in any order, repeated positions allowed.

    Attributes
    ----------
    nrows, ncols : int
        Shape of the matrix it describes.
    rows, cols : ndarray of integers, shape (nnz,)
        0-based positions.
    values : ndarray, shape (nnz,), or None
        None: a pattern (every value is 1).
    symmetric : bool
        The producer guarantees that the entries, as they stand, form a symmetric matrix.
    labels : ndarray or None
        Original name of each vertex, if the source had names of its own.
    meta : dict
        What the source said about itself (name, comments, ``directed``).
    """

    nrows: int
    ncols: int
    rows: NDArray[Any]
    cols: NDArray[Any]
    values: NDArray[Any] | None = None
    symmetric: bool = False
    labels: NDArray[Any] | None = None
    meta: dict[str, Any] = field(default_factory=dict)

    @property
    def nnz(self) -> int:
        """Number of listed entries, repeats included."""
        return len(self.rows)

    def validate(self) -> None:
        """Check lengths and bounds.

        Raises
        ------
        InvalidObject
            Lengths differ or a position lies outside the shape.
        """
        if len(self.rows) != len(self.cols):
            raise InvalidObject(f"{len(self.rows)} rows for {len(self.cols)} columns")
        if self.values is not None and len(self.values) != len(self.rows):
            raise InvalidObject(f"{len(self.values)} values for {len(self.rows)} entries")
        for name, part, limit in (
            ("row", self.rows, self.nrows),
            ("column", self.cols, self.ncols),
        ):
            if len(part) and (int(np.min(part)) < 0 or int(np.max(part)) >= limit):
                raise InvalidObject(f"a {name} index lies outside [0, {limit})")
