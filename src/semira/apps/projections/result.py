"""What a projection returns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira import Matrix
from semira.apps.named import Named


@dataclass(frozen=True, eq=False, repr=False)
class Projection(Named):
    """Result of `project`.

    Attributes
    ----------
    matrix : Matrix, shape (n, n)
        Entry (u, v) is the weight of u and v, on the device of the bipartite matrix.
    onto : {"columns", "rows"}
    weight : str
        ``"function"`` of one that was given as such.
    """

    vertex_columns = ("vertex", "neighbour")

    matrix: Matrix
    onto: str
    weight: str
    _nvals: int
    _lost: Callable[[], int] | None

    def facts(self) -> dict[str, Any]:
        """Return counts; of whole projections by ``count``, also the pairs that were lost: 0."""
        n, nvals = self.matrix.nrows, self.matrix.nvals
        found: dict[str, Any] = {
            "vertices": n,
            "edges": nvals,
            "density": nvals / max(n * n, 1),
            "entries_of_bipartite": self._nvals,
        }
        if self._lost is not None:
            found["lost_pairs"] = self._lost()
        return found

    def columns(self) -> dict[str, NDArray[np.generic]]:
        """Return a row for each entry: vertex, neighbour, and weight unless there is none."""
        rows, columns, values = self.matrix.to_coo()
        found: dict[str, NDArray[np.generic]] = {"vertex": rows, "neighbour": columns}
        return found if self.weight == "none" else found | {"weight": values}
