"""What geolocation returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import semira as gb
from semira.apps.arrays import on_host
from semira.apps.geolocation import kernels
from semira.apps.geolocation.problem import NOWHERE, Places
from semira.apps.named import Named
from semira.base.locks import cached_property
from semira.kernels import array_module


@dataclass(frozen=True, eq=False, repr=False)
class Locations(Named):
    """Locations of vertices, and how good they are.

    Attributes
    ----------
    places : tuple
        Arrays on the device: latitudes and longitudes in degrees, NaN if unknown, and iterations.
    device : str
    iterations : int
        Iterations that located a vertex.
    complete : bool
        Whether no further iteration would locate another vertex. What is unknown then has no path
        to a known location.
    """

    places: Places
    device: str
    iterations: int
    complete: bool

    @cached_property
    def latitude(self) -> gb.Vector:
        """Latitudes in degrees, in [-90, 90]; a vertex without location has no entry."""
        return self._vector(self.places.latitude, np.nan)

    @cached_property
    def longitude(self) -> gb.Vector:
        """Longitudes in degrees, in [-180, 180]; a vertex without location has no entry."""
        return self._vector(self.places.longitude, np.nan)

    @cached_property
    def iteration(self) -> gb.Vector:
        """The iteration that located each vertex, from 1; 0 of those that were given."""
        return self._vector(self.places.located, NOWHERE)

    @cached_property
    def located(self) -> NDArray[np.bool_]:
        """Whether each vertex has a location, those that were given included; on the host."""
        found: NDArray[np.bool_] = on_host(self.places.located) != NOWHERE
        return found

    @cached_property
    def hidden(self) -> NDArray[np.int64]:
        """The vertices whose known location was hidden; on the host."""
        return on_host(self.places.hidden.vertices).astype(np.int64)

    @cached_property
    def errors_km(self) -> NDArray[np.float64]:
        """Distance in km of each hidden vertex from its true location; NaN if it has none."""
        hidden = self.places.hidden
        with array_module(self.device) as xp:
            out = xp.empty(len(hidden.vertices))
            kernels.distances(
                len(out), *hidden, self.places.latitude, self.places.longitude, out,
                device=self.device,
            )  # fmt: skip
            return on_host(out)

    @property
    def median_error_km(self) -> float | None:
        """Median distance in km of the hidden vertices that were located; None without any."""
        found = self.errors_km[~np.isnan(self.errors_km)]
        return float(np.median(found)) if len(found) else None

    def to_arrays(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return latitudes and longitudes as arrays on the host, NaN if unknown."""
        return np.array(on_host(self.places.latitude)), np.array(on_host(self.places.longitude))

    def facts(self) -> dict[str, Any]:
        """Return the counts, and the median error of what was hidden."""
        iteration = on_host(self.places.located)
        given = int(np.count_nonzero(iteration == 0))
        known = int(np.count_nonzero(self.located))
        found: dict[str, Any] = {
            "given": given,
            "located": known - given,
            "unlocated": len(iteration) - known,
            "iterations": self.iterations,
            "complete": self.complete,
        }
        if len(self.hidden):
            measured = int(np.count_nonzero(~np.isnan(self.errors_km)))
            found |= {
                "hidden": len(self.hidden),
                "hidden_located": measured,
                "median_error_km": self.median_error_km,
            }
        return found

    def columns(self) -> dict[str, NDArray[np.generic]]:
        """Return columns with a row for each vertex; iteration -1 and NaN if it has no location."""
        latitude, longitude = self.to_arrays()
        iteration = on_host(self.places.located)
        return {
            "vertex": np.arange(len(latitude)),
            "latitude": latitude,
            "longitude": longitude,
            "iteration": np.where(self.located, iteration, -1),
        }

    def _vector(self, array: Any, missing: Any) -> gb.Vector:
        with array_module(self.device):
            return gb.Vector.from_dense(array, missing, device=self.device)
