"""What classification returns."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.apps.arrays import on_host
from semira.apps.named import Named
from semira.base.locks import cached_property
from semira.exceptions import InvalidValue
from semira.kernels import array_module


@dataclass(frozen=True, eq=False, repr=False)
class Classification(Named):
    """How likely each vertex of a graph is to be each vertex of a pattern.

    Attributes
    ----------
    scores : array of float64, shape (n, pattern vertices)
        Logarithms of the probabilities, on the device; each column of their exponentials sums to 1.
    device : str
    iterations : int
    edges, pattern_edges : int
        Edges of the graph and of the pattern.
    """

    scores: Any
    device: str
    iterations: int
    edges: int
    pattern_edges: int

    @cached_property
    def log_probabilities(self) -> NDArray[np.float64]:
        """The scores on the host, shape (n, pattern vertices)."""
        return on_host(self.scores)

    @property
    def probabilities(self) -> NDArray[np.float64]:
        """The probabilities on the host, shape (n, pattern vertices)."""
        found: NDArray[np.float64] = np.exp(self.log_probabilities)
        return found

    @cached_property
    def best(self) -> NDArray[np.int64]:
        """The most likely vertex for each vertex of the pattern; the smallest of equals."""
        with array_module(self.device):
            return on_host(self.scores.argmax(axis=0)).astype(np.int64)

    def top(self, k: int) -> NDArray[np.int64]:
        """Return the `k` most likely vertices for each vertex of the pattern, best first.

        Parameters
        ----------
        k : int, 1 <= k <= n

        Returns
        -------
        ndarray, shape (pattern vertices, k)
            Equals are in the order of their numbers.

        Raises
        ------
        InvalidValue
            There are not `k` vertices.
        """
        if k != int(k) or not 1 <= k <= len(self.scores):
            raise InvalidValue(f"top: k is {k}; pass an integer from 1 to {len(self.scores)}")
        order = np.argsort(-self.log_probabilities, axis=0, kind="stable")
        return order[: int(k)].T.astype(np.int64)

    def facts(self) -> dict[str, Any]:
        """Return counts, and how far the sum of the probabilities of a column is from 1."""
        n, count = self.scores.shape
        sums = self.probabilities.sum(axis=0) if n else np.ones(count)
        return {
            "vertices": n,
            "edges": self.edges,
            "pattern_vertices": count,
            "pattern_edges": self.pattern_edges,
            "iterations": self.iterations,
            "deviation_of_sums": float(np.abs(sums - 1).max()),
        }

    def columns(self) -> dict[str, NDArray[np.generic]]:
        """Return columns with a row for each vertex: a log-probability for each of the pattern."""
        found: dict[str, NDArray[np.generic]] = {"vertex": np.arange(len(self.scores))}
        for j, column in enumerate(self.log_probabilities.T):
            found[f"log_probability_{j}"] = column
        return found

    def write(self, path: str | Path) -> None:
        """Write the log-probabilities by rows, one a line as ``%e``: the format of the report."""
        np.savetxt(path, self.log_probabilities.ravel(), fmt="%e")
