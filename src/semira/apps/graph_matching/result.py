"""The result of a matching: partners, and what they preserve, counted from the graphs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from semira.apps.named import Named

if TYPE_CHECKING:
    from semira.io import Graph


@dataclass(frozen=True, eq=False, repr=False)
class MatchingResult(Named):
    """Result of `graph_match`.

    Attributes
    ----------
    match : ndarray of int64, shape (vertices of A,)
        The partner of each vertex in the other graph; -1 where that graph is smaller and has none
        left.
    is_seed : ndarray of bool
    objective : float
        Sum of the products of weights of edges that lie on each other: twice that of each edge of
        undirected graphs. With `similarity` also that of the pairs.
    common : int
        Entries of A on which an entry of the other graph lies.
    disagreements : int
        Entries of either graph on which none of the other lies; 0 for graphs that are the same.
    distance : float
        Sum of the squared differences of weights of entries that lie on each other.
    iterations : ndarray of int64, shape (restarts,)
        Steps of each search.
    objectives : ndarray of float64, shape (restarts,)
        What each search found; the best one is the result.
    steps : tuple of float
        Share that each step of the best search took of its permutation.
    converged : bool
        Whether the best search ended by itself.
    other : Graph or None
        The other graph; None if that was a Matrix.
    """

    vertex_columns = ("vertex", "match")

    match: NDArray[np.int64]
    is_seed: NDArray[np.bool_]
    objective: float
    common: int
    disagreements: int
    distance: float
    iterations: NDArray[np.int64]
    objectives: NDArray[np.float64]
    steps: tuple[float, ...]
    converged: bool
    other: Graph | None = field(default=None, kw_only=True)

    @property
    def pairs(self) -> NDArray[np.int64]:
        """Vertices that have a partner, and these, shape (k, 2)."""
        known = np.flatnonzero(self.match >= 0)
        return np.stack((known, self.match[known]), 1)

    def facts(self) -> dict[str, Any]:
        """Return what the matching preserves, and counts."""
        return {
            "pairs": int((self.match >= 0).sum()),
            "seeds": int(self.is_seed.sum()),
            "objective": self.objective,
            "common_edges": self.common,
            "disagreements": self.disagreements,
            "distance": self.distance,
            "iterations": int(self.iterations.sum()),
            "searches": len(self.iterations),
            "converged": self.converged,
        }

    def columns(self) -> dict[str, NDArray[np.generic]]:
        """Return a row for each vertex of A: vertex, partner, whether it is a seed."""
        return {
            "vertex": np.arange(len(self.match)), "match": self.match, "seed": self.is_seed,
        }  # fmt: skip

    def labels_of(self, column: str) -> NDArray[Any] | None:
        """Return the names of the vertices of a graph: for partners, of the other one."""
        graph = self.other if column == "match" else self.graph
        return None if graph is None else graph.labels
