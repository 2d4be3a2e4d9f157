"""The result of an assignment: pairs of rows and columns, and the proof that no sum is better."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.apps.named import Named


@dataclass(frozen=True, eq=False, repr=False)
class AssignmentResult(Named):
    """Result of `linear_sum_assignment`; it unpacks into ``row_ind, col_ind``, as SciPy's.

    Attributes
    ----------
    row_ind : ndarray of int64, shape (min(rows, columns),)
        Rows that are assigned, in rising order.
    col_ind : ndarray of int64
        Their columns.
    costs : ndarray of float64
        Their costs.
    u, v : ndarray of float64, shape (rows,) and (columns,)
        Dual values of rows and columns: ``u[i] + v[j]`` is at most the cost of (i, j) (at least,
        if the greatest sum was asked for), up to rounding. Those of what is left over are 0.
    method : {"paths", "auction"}
        What ran.
    steps : int
        Rows that searches looked at, or bids of the auction.
    """

    vertex_columns = ("row", "column")

    row_ind: NDArray[np.int64]
    col_ind: NDArray[np.int64]
    costs: NDArray[np.float64]
    u: NDArray[np.float64]
    v: NDArray[np.float64]
    method: str
    steps: int

    @property
    def cost(self) -> float:
        """Sum of the costs of the pairs."""
        return float(self.costs.sum())

    @property
    def bound(self) -> float:
        """Sum of the dual values: no assignment is better than this."""
        return float(self.u.sum() + self.v.sum())

    @property
    def gap(self) -> float:
        """How far the cost is from the bound; 0 up to rounding."""
        return abs(self.cost - self.bound)

    def facts(self) -> dict[str, Any]:
        """Return the sum, its proof, and counts."""
        return {
            "pairs": len(self), "cost": self.cost, "gap": self.gap, "method": self.method,
            "steps": self.steps,
        }  # fmt: skip

    def columns(self) -> dict[str, NDArray[np.generic]]:
        """Return a row for each pair: row, column, cost."""
        return {"row": self.row_ind, "column": self.col_ind, "cost": self.costs}

    def __iter__(self) -> Iterator[NDArray[np.int64]]:
        return iter((self.row_ind, self.col_ind))

    def __len__(self) -> int:
        return len(self.row_ind)

    def __getitem__(self, part: int) -> NDArray[np.int64]:
        return (self.row_ind, self.col_ind)[part]
