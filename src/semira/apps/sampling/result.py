"""Results of sampling."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira import Matrix
from semira.apps.arrays import on_host
from semira.apps.named import Named
from semira.kernels import array_module


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NeighbourSample(Named):
    """Entries drawn from rows, by `sample_neighbours`.

    The arrays are those of the device (NumPy, or CuPy on ``cuda``); both export DLPack.

    Attributes
    ----------
    vertices : array of int, shape (m,)
        The rows. -1 in samples of samples: there was nothing to draw.
    neighbours : array of int, shape (m, k)
        The columns of the entries drawn, then -1.
    entries : array of int, shape (m, k)
        Their positions among the stored entries, by row and column; then -1.
    """

    vertex_columns = ("vertex", "neighbour")

    vertices: Any
    neighbours: Any
    entries: Any
    matrix: Any = field(kw_only=True)

    def __repr__(self) -> str:
        m, k = self.neighbours.shape
        return f"NeighbourSample({m} rows, up to {k} entries each)"

    def edges(self) -> tuple[Any, Any, Any]:
        """Return the entries drawn as (position in `vertices`, column, position of the entry).

        Waits for the device. O(m k).

        Examples
        --------
        >>> import semira as gb
        >>> A = gb.Matrix.from_coo([0, 0, 1], [1, 2, 0])
        >>> found = gb.apps.sample_neighbours(A, [0, 1], 2)
        >>> [part.tolist() for part in found.edges()]
        [[0, 0, 1], [1, 2, 0], [0, 1, 2]]
        """
        with array_module(self.matrix.device) as xp:
            flat = self.neighbours.reshape(-1)
            places = xp.flatnonzero(flat >= 0)
            rows = places // self.neighbours.shape[1]
            return rows, flat[places], self.entries.reshape(-1)[places]

    def to_matrix(self) -> Matrix:
        """Return a matrix with the entries drawn, of the shape and values of the one sampled.

        An entry that was drawn several times, with replacement or because its row was listed
        several times, is there once.
        """
        rows, columns, entries = (on_host(part) for part in self.edges())
        where = on_host(self.vertices)[rows]
        unique = np.unique(entries, return_index=True)[1]
        values = self.matrix.to_csr()[2][entries[unique].astype(np.int64)]
        return Matrix.from_coo(
            where[unique].astype(np.uint64),
            columns[unique].astype(np.uint64),
            values,
            nrows=self.matrix.nrows,
            ncols=self.matrix.ncols,
        )

    def facts(self) -> dict[str, Any]:
        """Return numbers of rows and of entries drawn. Waits for the device."""
        m, k = self.neighbours.shape
        drawn = int((self.neighbours >= 0).sum())
        return {"rows": m, "k": k, "drawn": drawn}

    def columns(self) -> dict[str, NDArray[np.generic]]:
        """Return the entries drawn as columns on the host."""
        rows, columns, entries = (on_host(part) for part in self.edges())
        return {"vertex": on_host(self.vertices)[rows], "neighbour": columns, "entry": entries}
