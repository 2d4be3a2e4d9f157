"""What scan statistics return."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira import Vector
from semira.apps.named import Named
from semira.base.locks import cached_property


@dataclass(frozen=True, eq=False, repr=False)
class LocalScan(Named):
    """Result of `local_scan`.

    Attributes
    ----------
    statistic : Vector, shape (n,), INT64 or FP64
        The edges, or their weight, within each neighbourhood; every vertex has an entry.
    k : int
    mode : str
    """

    statistic: Vector
    k: int
    mode: str

    @cached_property
    def values(self) -> NDArray[Any]:
        """The statistic as an array on the host."""
        found: NDArray[Any] = self.statistic.to_dense()
        return found

    @property
    def vertex(self) -> int:
        """The vertex of greatest statistic, the first of several; -1 if there is none."""
        return int(np.argmax(self.values)) if len(self.values) else -1

    @property
    def greatest(self) -> int | float:
        """The greatest statistic; 0 without vertices."""
        found: int | float = self.values.max().item() if len(self.values) else 0
        return found

    def facts(self) -> dict[str, Any]:
        """Return the greatest statistic and its vertex, and the mean."""
        mean = float(self.values.mean()) if len(self.values) else 0.0
        return {
            "vertices": len(self.values),
            "greatest": self.greatest,
            "at_vertex": self.vertex,
            "mean": mean,
            "radius": self.k,
        }

    def columns(self) -> dict[str, NDArray[np.generic]]:
        """Return a row for each vertex: its statistic."""
        return {"vertex": np.arange(len(self.values)), "statistic": self.values}


@dataclass(frozen=True, eq=False, repr=False)
class ScanSeries(Named):
    """Result of `scan_series`; times count from 0.

    Attributes
    ----------
    statistic : ndarray of float64, shape (times,)
        The greatest standardised statistic of each time, normalised over time; NaN before
        ``tau + ell``.
    greatest : ndarray of float64, shape (times,)
        The same, not normalised over time; NaN before `tau`.
    vertices : ndarray of int64, shape (times,)
        The vertex of it, the first of several; -1 before `tau`.
    locality : str
    tau, ell : int
    """

    statistic: NDArray[np.float64]
    greatest: NDArray[np.float64]
    vertices: NDArray[np.int64]
    locality: str
    tau: int
    ell: int

    @property
    def time(self) -> int:
        """The time of greatest statistic, the first of several; -1 if none has one."""
        known = np.flatnonzero(~np.isnan(self.statistic))
        return int(known[np.argmax(self.statistic[known])]) if len(known) else -1

    def facts(self) -> dict[str, Any]:
        """Return the time and the vertex that stand out most."""
        time = self.time
        found: dict[str, Any] = {"times": len(self.statistic), "time": time}
        if time >= 0:
            found["statistic"] = float(self.statistic[time])
            found["at_vertex"] = int(self.vertices[time])
        return found

    def columns(self) -> dict[str, NDArray[np.generic]]:
        """Return a row for each time."""
        return {
            "time": np.arange(len(self.statistic)),
            "statistic": self.statistic,
            "greatest": self.greatest,
            "vertex": self.vertices,
        }
