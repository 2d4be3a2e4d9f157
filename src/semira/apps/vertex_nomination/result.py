"""What a nomination returns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira import Matrix
from semira.apps.named import Named
from semira.base.locks import cached_property
from semira.exceptions import IndexOutOfBound, InvalidValue


@dataclass(frozen=True, slots=True)
class Ranks:
    """Vertices of some sets in the order of their ranks, on the host.

    Attributes
    ----------
    indptr : ndarray
        Where the vertices of each set begin.
    vertices, scores : ndarray
    """

    indptr: NDArray[Any]
    vertices: NDArray[Any]
    scores: NDArray[Any]


def joined(parts: list[Ranks]) -> Ranks:
    """Return the ranks of several parts as one."""
    counts = np.concatenate([np.diff(each.indptr) for each in parts])
    return Ranks(
        np.concatenate([[0], np.cumsum(counts)]),
        np.concatenate([each.vertices for each in parts]),
        np.concatenate([each.scores for each in parts]),
    )


@dataclass(frozen=True, eq=False, repr=False)
class Nomination(Named):
    """Result of `nominate`.

    Attributes
    ----------
    count : int
        Rankings: one for each set of seeds, or one for all.
    seeds : int
        In all sets.
    iterations : int
        Steps of the longest search.
    """

    count: int
    seeds: int
    iterations: int
    _make: Callable[[], Matrix] | None
    _rank: Callable[[Matrix | None], Ranks]
    _check: Callable[[Matrix], int] | None

    @cached_property
    def distance(self) -> Matrix:
        """Distances from each set, shape (sets, n), seeds included; with weights one row of sums.

        Raises
        ------
        InvalidValue
            `top` was asked for, which keeps no distances.
        """
        if self._make is None:
            raise InvalidValue("this result has ranks alone; call nominate without top=")
        return self._make()

    @cached_property
    def ranks(self) -> Ranks:
        """The ranks of all sets, on the host."""
        return self._rank(None if self._make is None else self.distance)

    def __len__(self) -> int:
        return self.count

    def _part(self, number: int) -> slice:
        if not 0 <= number < len(self):
            raise IndexOutOfBound(f"ranking {number} of {len(self)}: they count from 0")
        return slice(int(self.ranks.indptr[number]), int(self.ranks.indptr[number + 1]))

    def vertices(self, number: int = 0) -> NDArray[Any]:
        """Return the vertices of a ranking, the nearest first."""
        return self.ranks.vertices[self._part(number)]

    def scores(self, number: int = 0) -> NDArray[Any]:
        """Return their distances, or sums."""
        return self.ranks.scores[self._part(number)]

    def facts(self) -> dict[str, Any]:
        """Return counts, and how many distances are wrong (0), unless only ranks were kept."""
        counts = np.diff(self.ranks.indptr)
        found: dict[str, Any] = {
            "rankings": len(self),
            "seeds": self.seeds,
            "nominated": int(counts.sum()),
            "iterations": self.iterations,
        }
        if len(self.ranks.scores):
            found["farthest"] = self.ranks.scores.max().item()
        if self._check is not None:
            found["wrong_distances"] = self._check(self.distance)
        return found

    def columns(self) -> dict[str, NDArray[np.generic]]:
        """Return a row for each nomination: ranking, rank from 1, vertex and score."""
        counts = np.diff(self.ranks.indptr)
        of = np.repeat(np.arange(len(counts)), counts)
        return {
            "ranking": of,
            "rank": np.arange(len(of)) - self.ranks.indptr[of] + 1,
            "vertex": self.ranks.vertices,
            "score": self.ranks.scores,
        }
