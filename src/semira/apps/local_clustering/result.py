"""What a local clustering returns: a cluster, a diffusion and their proof for each problem."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira import Vector
from semira.apps.arrays import on_host
from semira.apps.named import Named
from semira.base.locks import cached_property
from semira.exceptions import IndexOutOfBound, InvalidValue
from semira.kernels import array_module


@dataclass(frozen=True, eq=False, repr=False)
class LocalClusters(Named):
    """Result of `local_clusters`; problem i is that of seed, or set of seeds, number i.

    The entries of a problem lie in the order of the sweep: by value per degree, ties by vertex.

    Attributes
    ----------
    indptr : ndarray of int64, shape (problems + 1,)
        Where the entries of each problem begin.
    sizes, volumes, cuts : ndarray of int64, shape (problems,), or None
        Vertices of each cluster, the sum of their degrees, and the edges that leave it; None
        without a sweep.
    iterations : ndarray of int64, shape (problems,)
        Rounds of pushes, or steps of FISTA.
    edges : ndarray of int64, shape (problems,)
        Entries of the matrix that were walked.
    residual : ndarray of float64, shape (problems,)
        How far from done each diffusion is. ``push``: the greatest residual per degree over
        `rho`, below 1. ``fista``: the greatest violation of the optimality conditions, over
        ``rho * alpha``.
    converged : ndarray of bool, shape (problems,)
    method : {"fista", "push"}
    alpha, rho : float
        As used.
    """

    indptr: NDArray[np.int64]
    iterations: NDArray[np.int64]
    edges: NDArray[np.int64]
    residual: NDArray[np.float64]
    converged: NDArray[np.bool_]
    method: str
    alpha: float
    rho: float
    sizes: NDArray[np.int64] | None = None
    volumes: NDArray[np.int64] | None = None
    cuts: NDArray[np.int64] | None = None
    _n: int = 0
    _device: str = "cpu"
    _total: int = 0
    _arrays: dict[str, Any] = field(default_factory=dict)

    def _host(self, name: str) -> NDArray[Any]:
        array = self._arrays.get(name)
        if array is None:
            remedy = "top=k" if name.startswith("top") else "sweep=True"
            raise InvalidValue(f"this result has none; call local_clusters with {remedy}")
        # On the stream that computes it.
        with array_module(self._device):
            return on_host(array)

    @cached_property
    def indices(self) -> NDArray[np.int32]:
        """Vertices of all diffusions, on the host."""
        return self._host("vertices")

    @cached_property
    def values(self) -> NDArray[np.float64]:
        """Values of all diffusions, on the host: approximate personalised PageRank."""
        return self._host("values")

    @cached_property
    def profiles(self) -> NDArray[np.float64]:
        """Conductance of every prefix of every sweep; 2 for all vertices together."""
        return self._host("profile")

    @cached_property
    def top_indices(self) -> NDArray[np.int32]:
        """The vertices of greatest value of each problem, shape (problems, top); padded with -1."""
        return self._host("top_vertices")

    @cached_property
    def top_values(self) -> NDArray[np.float64]:
        """Their values, shape (problems, top); padded with 0."""
        return self._host("top_values")

    @property
    def conductance(self) -> NDArray[np.float64]:
        """Edges that leave each cluster, over the smaller volume of the two sides."""
        if self.sizes is None or self.cuts is None or self.volumes is None:
            raise InvalidValue("this result has none; call local_clusters with sweep=True")
        smaller = np.minimum(self.volumes, self._total - self.volumes)
        return np.where(smaller > 0, self.cuts / np.maximum(smaller, 1), 2.0)

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def _part(self, problem: int) -> slice:
        if not 0 <= problem < len(self):
            raise IndexOutOfBound(f"problem {problem} of {len(self)}: they count from 0")
        return slice(int(self.indptr[problem]), int(self.indptr[problem + 1]))

    def cluster(self, problem: int = 0) -> NDArray[np.int32]:
        """Return the vertices of a cluster, in the order of the sweep."""
        part = self._part(problem)
        if self.sizes is None:
            raise InvalidValue("this result has no clusters; call local_clusters with sweep=True")
        return self.indices[part][: int(self.sizes[problem])]

    def profile(self, problem: int = 0) -> NDArray[np.float64]:
        """Return the conductance of each prefix of a sweep."""
        return self.profiles[self._part(problem)]

    def diffusion(self, problem: int = 0) -> Vector:
        """Return the values of one problem as a Vector of length n, on the device of the matrix."""
        part = self._part(problem)
        return Vector.from_coo(
            self.indices[part], self.values[part], size=self._n, device=self._device
        )

    def facts(self) -> dict[str, Any]:
        """Return counts and the proof, over all problems."""
        found: dict[str, Any] = {
            "problems": len(self),
            "values": int(self.indptr[-1]),
            "iterations": int(self.iterations.max()),
            "edges_walked": int(self.edges.sum()),
            "converged": int(self.converged.sum()),
            "residual": float(self.residual.max()),
            "alpha": self.alpha,
            "rho": self.rho,
        }
        if self.sizes is not None:
            found["median_size"] = float(np.median(self.sizes))
            found["median_conductance"] = float(np.median(self.conductance))
            found["least_conductance"] = float(self.conductance.min())
        return found

    def columns(self) -> dict[str, NDArray[np.generic]]:
        """Return a row for each entry: problem, vertex, value, whether it is in the cluster."""
        counts = np.diff(self.indptr)
        problem = np.repeat(np.arange(len(self)), counts)
        columns: dict[str, NDArray[np.generic]] = {
            "problem": problem, "vertex": self.indices, "value": self.values,
        }  # fmt: skip
        if self.sizes is not None:
            place = np.arange(len(problem)) - self.indptr[problem]
            columns["conductance"] = self.profiles
            columns["in_cluster"] = place < self.sizes[problem]
        return columns
