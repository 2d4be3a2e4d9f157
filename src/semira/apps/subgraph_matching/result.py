"""What subgraph matching returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.apps.named import Named
from semira.apps.subgraph_matching.problem import MOST


@dataclass(frozen=True, eq=False, repr=False)
class SubgraphMatches(Named):
    """Where a pattern lies in a graph.

    Attributes
    ----------
    matches : ndarray of int64, shape (listed, vertices of the pattern)
        Row i: the vertices of match i, by vertex of the pattern.
    count : int
        Matches that there are, or that were met before the search stopped.
    complete : bool
        Whether all matches were counted.
    automorphisms : int
        Ways to match the pattern with itself. With ``distinct=False`` each place in the graph is
        counted so often.
    distinct : bool
    """

    vertex_columns = tuple(f"vertex_{j}" for j in range(MOST))

    matches: NDArray[np.int64]
    count: int
    complete: bool
    automorphisms: int
    distinct: bool

    @property
    def places(self) -> int:
        """Number of different places: matches that differ by more than a symmetry."""
        return self.count if self.distinct else self.count // self.automorphisms

    def facts(self) -> dict[str, Any]:
        """Return the counts."""
        return {
            "matches": self.count,
            "places": self.places,
            "automorphisms": self.automorphisms,
            "listed": len(self.matches),
            "complete": self.complete,
        }

    def columns(self) -> dict[str, NDArray[np.generic]]:
        """Return a column for each vertex of the pattern, with a row for each match listed."""
        columns: dict[str, NDArray[np.generic]] = {"match": np.arange(len(self.matches))}
        return columns | {f"vertex_{j}": column for j, column in enumerate(self.matches.T)}
