"""Bounds of eccentricities by compiled loops of the host, without products."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira import Matrix, Vector
from semira.algorithms.neighbours import undirected
from semira.kernels import ArrayKernel, rows_of, vector_of

_BOUND = ArrayKernel("semira.algorithms.kernels:bounds", "bound_by_searches")
_MEASURE = ArrayKernel("semira.algorithms.kernels:bounds", "measure_trees")


class HostBounds:
    """Lower and upper bounds that searches bring together. O(n + nvals) a search.

    They begin at the vertices, and give the bounds, that products of `eccentricity` do.

    Parameters
    ----------
    A : Matrix, shape (n, n), n > 0
    symmetric : bool
        Whether the entries of `A` are.
    label, degree : array, shape (n,)
        The smallest vertex of each one's component, and the numbers of edges.
    number : DataType
        Of the bounds.
    diameter_only : bool
        Whether the largest eccentricity alone is asked for.

    References
    ----------
    F. Takes, W. Kosters, *Computing the eccentricity distribution of large graphs*, Algorithms
    6, 2013.
    """

    def __init__(
        self, A: Matrix, symmetric: bool, label: NDArray[Any], degree: NDArray[Any], number: Any,
        diameter_only: bool,
    ) -> None:  # fmt: skip
        n, dtype = A.nrows, number.np_type
        self._device, self._edges = A.device, undirected(A, symmetric)
        self._label, self._degree, self._diameter_only = label, degree, diameter_only
        self.lower, self.upper = np.zeros(n, dtype), np.full(n, 2 * n, dtype)
        self._level, self._queue, self._first, self._far = (np.empty(n, dtype) for _ in range(4))
        self._best, self._state = np.empty(n, np.int64), np.zeros(4, np.int64)

    @property
    def made(self) -> int:
        """Searches from a vertex of each component."""
        return int(self._state[1])

    @property
    def levels(self) -> int:
        """Levels of all searches."""
        return int(self._state[2])

    def search(self, most: int) -> tuple[int, bool]:
        """Search until all is known, or so often; return how often, and whether all is known."""
        before = int(self._state[1])
        rows = rows_of(self._edges, values=False)
        _BOUND(
            1, most, self._diameter_only, rows.indptr, rows.indices, self._label, self._degree,
            self.lower, self.upper, self._level, self._queue, self._first, self._far, self._best,
            self._state, device=self._device, work=most * (self._edges.nvals + len(self._label)),
            stops=True,
        )  # fmt: skip
        return int(self._state[1]) - before, bool(self._state[0])

    def search_trees(self) -> None:
        """Search three times, after which all is known of a graph without cycles."""
        rows = rows_of(self._edges, values=False)
        _MEASURE(
            1, rows.indptr, rows.indices, self._label, self.lower, self.upper, self._level,
            self._queue, self._first, self._far, self._state, device=self._device,
            work=3 * len(self._label), stops=True,
        )  # fmt: skip

    def vectors(self) -> tuple[Vector, Vector]:
        """Return both bounds, of which it has no others from then on."""
        n = len(self._label)
        lower, upper = (
            vector_of(bound, size=n, device=self._device) for bound in (self.lower, self.upper)
        )
        self.lower, self.upper = self.lower.copy(), self.upper.copy()
        return lower, upper
