"""What community detection returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

import semira as gb
from semira.apps.arrays import on_host
from semira.apps.named import Named
from semira.base.locks import cached_property


@dataclass(frozen=True, eq=False, repr=False)
class Communities(Named):
    """Communities of a graph, and what proves how good they are.

    Attributes
    ----------
    labels : Vector, shape (n,), int32
        The community of each vertex: 0, 1, 2, ..., on the device of the matrix.
    num_communities : int
    modularity : float
        Computed from `labels` and the matrix after the run.
    resolution : float
    scale : float
        What weights were multiplied by before they were rounded to integers; 1: no rounding.
    num_levels, rounds, moves : int
        Levels of the (last) run; rounds of all local moves, and vertices that they moved.
    is_split : bool
        Whether communities that were not connected were split at the end (Leiden only).
    """

    labels: gb.Vector
    num_communities: int
    modularity: float
    resolution: float
    scale: float
    num_levels: int
    rounds: int
    moves: int
    is_split: bool
    _levels: tuple[Any, ...] = field(repr=False, default=())

    @cached_property
    def host_labels(self) -> NDArray[np.int32]:
        """The labels as a NumPy array, shape (n,)."""
        found: NDArray[np.int32] = on_host(self.labels.to_dense())
        return found

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Vertices of each community, shape (num_communities,)."""
        return np.bincount(self.host_labels, minlength=self.num_communities)

    @cached_property
    def levels(self) -> tuple[NDArray[np.int32], ...]:
        """The dendrogram: ``levels[k]`` maps the vertices of level k to those of level k + 1.

        The vertices of level 0 are those of the graph, of the last one the communities. Vertices
        that moved when communities were taken apart again are groups of their own below.
        """
        maps, below = [], np.arange(len(self.host_labels))
        reached = below
        for numbers in map(on_host, self._levels):
            reached = numbers[reached]
            pairs = reached.astype(np.int64) * self.num_communities + self.host_labels
            _, group = np.unique(pairs, return_inverse=True)
            above = np.empty(int(below.max(initial=-1)) + 1, np.int32)
            above[below] = group
            maps.append(above)
            below = group
        top = np.empty(int(below.max(initial=-1)) + 1, np.int32)
        top[below] = self.host_labels
        return (*maps, top)

    def facts(self) -> dict[str, Any]:
        """Return counts, and the modularity that proves the result."""
        sizes = self.sizes
        return {
            "communities": self.num_communities,
            "modularity": self.modularity,
            "resolution": self.resolution,
            "largest": int(sizes.max(initial=0)),
            "alone": int((sizes == 1).sum()),
            "levels": self.num_levels,
            "rounds": self.rounds,
            "moves": self.moves,
        }

    def columns(self) -> dict[str, NDArray[np.generic]]:
        """Return columns ``vertex`` and ``community``."""
        return {"vertex": np.arange(len(self.host_labels)), "community": self.host_labels}
