"""Geolocation: where the vertices of a graph are, by the known locations of their neighbours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from semira import Matrix
from semira.algorithms.naming import values_of
from semira.apps.geolocation import problem, solve
from semira.apps.geolocation.problem import memory
from semira.apps.geolocation.result import Locations
from semira.apps.named import takes_graph
from semira.exceptions import InvalidValue
from semira.kernels import array_module

__all__ = ["Locations", "geolocate", "memory"]


@takes_graph(latitude=values_of, longitude=values_of)
def geolocate(
    A: Matrix,
    latitude: Any,
    longitude: Any,
    *,
    iterations: int = 10,
    spatial_iterations: int = 1000,
    to_completion: bool = False,
    tolerance: float = 1e-3,
    hide: float = 0.0,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Locations:
    """Return the locations of vertices, by those of their neighbours.

    In each iteration, every vertex without a location takes that of its located neighbours: of one
    its location, of two the midpoint on the great circle, of more their spatial median, the place
    with the least sum of distances to them. A location that was found, or given, stays.

    Parameters
    ----------
    A : Matrix or Graph, shape (n, n), any dtype
        Entry (i, j): j is a neighbour of i. Values are not read. Not modified.
    latitude, longitude : Vector or array of shape (n,), or mapping from names
        Known locations in degrees, in [-90, 90] and [-180, 180]. Unknown ones have no entry in a
        Vector, and are NaN in an array or in a Vector.
    iterations : int >= 1
        Most iterations. They end early if nothing new can be located.
    spatial_iterations : int >= 1
        Most iterations of a spatial median.
    to_completion : bool
        Go on until nothing new can be located, whatever `iterations` says.
    tolerance : float
        A spatial median is done when it moves by less, in degrees.
    hide : float in [0, 1)
        Share of the known locations to hide, locate, and measure the errors of.
    seed : int
        Of the choice of what to hide.
    progress : callable, optional
        Called after each iteration with the number of vertices that have a location, and n.

    Returns
    -------
    Locations
        Vectors ``latitude``, ``longitude``, ``iteration``; ``errors_km`` and ``median_error_km`` of
        what was hidden; ``facts()`` and ``table()``.

    Raises
    ------
    DimensionMismatch
        `A` is not square, or a coordinate has another number of elements.
    DomainMismatch
        `A` is no Matrix, or a coordinate is of no real dtype.
    InvalidValue
        A coordinate is out of range, one of a vertex is missing and the other is not, no location
        is known, or a parameter is out of range.
    OutOfMemory
        The device has less memory than `memory` says.

    Notes
    -----
    Vertices read what was known before the iteration, so the result does not depend on the order
    in which they are visited. Devices agree to about 1e-9 degrees.

    The median weighs neighbours by the inverse of their haversine distance and averages degrees
    (Weiszfeld's iteration as Vardi and Zhang corrected it). Where neighbours are tens of degrees
    apart this is near the least sum of distances, not exactly there. Longitudes are taken the
    shorter way round from the first neighbour, so the date line is no barrier. Vertices that no
    path leads to from a known location stay unknown.

    O(n + nvals) to visit everything once, and each vertex once more for every step of its median.
    After an iteration with few new locations a host visits their neighbours only. A GPU is waited
    for once an iteration.

    References
    ----------
    Y. Vardi, C. Zhang, *The multivariate L1-median and associated data depth*, PNAS 97(4), 2000;
    R. Compton, D. Jurgens, D. Allen, *Geotagging one hundred million Twitter accounts with total
    variation minimization*, IEEE BigData 2014; B. Johnson et al., *A commodity performance
    baseline for HIVE graph applications: year 1 report*, UC Davis, 2018.

    Examples
    --------
    >>> import semira as gb
    >>> nan = float("nan")
    >>> A = gb.Matrix.from_coo([0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2])
    >>> found = geolocate(A, [0.0, nan, 0.0, nan], [10.0, nan, 20.0, nan])
    >>> found.longitude.to_dense().round(6).tolist()
    [10.0, 15.0, 20.0, 20.0]
    >>> found.iteration.to_dict()
    {0: 0, 1: 1, 2: 0, 3: 1}
    """
    problem.check(A, iterations, spatial_iterations, hide, tolerance)
    with array_module(A.device) as xp:
        places = problem.places(A, latitude, longitude, hide, seed, xp)
        done, complete = solve.iterate(
            A,
            places,
            xp,
            limit=None if to_completion else int(iterations),
            tolerance=float(tolerance),
            steps=int(spatial_iterations),
            progress=progress,
        )
    if A.nrows and not done and not int((places.located == 0).sum()):
        raise InvalidValue(_nothing_known(len(places.hidden.vertices), hide))
    return Locations(places, A.device, done, complete)


def _nothing_known(hidden: int, hide: float) -> str:
    if hidden:
        return f"geolocate: hide={hide} hides all {hidden} known locations; hide less of them"
    return "geolocate: no vertex has a known location; give that of one at least"
