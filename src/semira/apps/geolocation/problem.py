"""What geolocation is given: checked, and as arrays of the device."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from semira.algorithms.checks import check_square
from semira.apps.arrays import check_room, on_host, per_vertex
from semira.apps.geolocation import kernels
from semira.exceptions import InvalidValue

#: Iteration of vertices that have no location.
NOWHERE = 2**31 - 1


class Hidden(NamedTuple):
    """Known locations that are put aside: arrays of vertices, latitudes and longitudes."""

    vertices: Any
    latitude: Any
    longitude: Any


class Places(NamedTuple):
    """Locations while they are found, in arrays of the device with an element for each vertex.

    Attributes
    ----------
    latitude, longitude : array of float64
        NaN: unknown.
    located : array of int32
        Iteration that located the vertex; 0 of those given, `NOWHERE` of others.
    hidden : Hidden
    """

    latitude: Any
    longitude: Any
    located: Any
    hidden: Hidden


def memory(vertices: int, *, hide: float = 0.0) -> int:
    """Return the bytes that `geolocate` takes on the device beside the graph and what it is given.

    Parameters
    ----------
    vertices : int
    hide : float

    Returns
    -------
    int
        Two coordinates and an iteration for each vertex, copies of what was given, lists of
        vertices, and what is hidden.

    Examples
    --------
    >>> memory(1000)
    52000
    >>> memory(1000, hide=0.25)
    60000
    """
    return round(vertices * (2 * 8 + 4 + 2 * 8 + 2 * 8 + 32 * hide))


def check(A: Any, iterations: Any, spatial_iterations: Any, hide: Any, tolerance: Any) -> None:
    """Check the arguments that are no locations.

    Raises
    ------
    DomainMismatch, DimensionMismatch, InvalidValue, OutOfMemory
        As `geolocate`.
    """
    n = check_square(A, "geolocate")
    for name, value in (("iterations", iterations), ("spatial_iterations", spatial_iterations)):
        if value != int(value) or not 1 <= value < NOWHERE:
            raise InvalidValue(f"geolocate: {name} is {value}; pass an integer of at least 1")
    if not 0 <= hide < 1:
        raise InvalidValue(f"geolocate: hide is {hide}; pass a share in [0, 1)")
    if not 0 <= tolerance < 360:
        raise InvalidValue(f"geolocate: tolerance is {tolerance}; pass degrees in [0, 360)")
    remedy = "use a smaller graph or a device with more memory"
    check_room(memory(n, hide=hide), A.device, f"geolocate: {n} vertices", remedy, least=0)


def places(A: Any, latitude: Any, longitude: Any, hide: float, seed: int, xp: Any) -> Places:
    """Return where the search begins; call inside of `array_module`.

    Raises
    ------
    DimensionMismatch, DomainMismatch, InvalidValue
        As `geolocate`.
    """
    n = A.nrows
    given = [
        per_vertex(values, n, f"geolocate: {name}", xp, A.device, kinds="iuf", missing=np.nan)
        for name, values in (("latitude", latitude), ("longitude", longitude))
    ]
    lat, lon, located = xp.empty(n), xp.empty(n), xp.empty(n, xp.int32)
    bad = xp.zeros(1, xp.int64)
    kernels.begin(n, *given, seed, float(hide), lat, lon, located, bad, device=A.device)
    if n and bad[0]:
        _refuse(*map(on_host, given))
    return Places(lat, lon, located, _hidden(given, located, hide, xp))


def _hidden(given: list[Any], located: Any, hide: float, xp: Any) -> Hidden:
    if not hide:
        return Hidden(xp.empty(0, xp.int64), xp.empty(0), xp.empty(0))
    at = xp.flatnonzero((located == NOWHERE) & ~xp.isnan(given[0]))
    return Hidden(at, given[0][at], given[1][at])


def _refuse(lat: Any, lon: Any) -> None:
    """Say which location is none."""
    half = np.flatnonzero(np.isnan(lat) != np.isnan(lon))
    if len(half):
        there = "latitude" if np.isnan(lon[half[0]]) else "longitude"
        other = "longitude" if there == "latitude" else "latitude"
        raise InvalidValue(
            f"geolocate: vertex {half[0]} has a {there} but no {other} ({len(half)} such "
            "vertices); give both or neither"
        )
    for name, values, limit in (("latitude", lat, 90), ("longitude", lon, 180)):
        wrong = np.flatnonzero(np.abs(values) > limit)
        if len(wrong):
            advice = "subtract 360 from those above" if limit == 180 else "are they swapped?"
            raise InvalidValue(
                f"geolocate: {name} {values[wrong[0]]} of vertex {wrong[0]} is outside "
                f"[-{limit}, {limit}] degrees; {advice}"
            )
