"""Iterations of geolocation: each locates the vertices that have a located neighbour."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import semira as gb
from semira.apps.geolocation import kernels
from semira.apps.geolocation.problem import NOWHERE, Places
from semira.kernels import rows_of

#: With fewer new locations than this share of the vertices, only neighbours of these are visited.
_FEW = 1 / 32


def iterate(
    A: Any,
    places: Places,
    xp: Any,
    *,
    limit: int | None,
    tolerance: float,
    steps: int,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[int, bool]:
    """Locate vertices until nothing is new, or `limit` iterations are done.

    Returns
    -------
    (int, bool)
        Iterations that located a vertex, and whether another one would locate none.
    """
    rows = rows_of(A, values=False)
    degrees = rows.indptr[1:] - rows.indptr[:-1]
    longest = int(degrees.max()) if A.nrows else 0
    # On a GPU threads keep what they need themselves.
    room = 1 if gb.device_traits(A.device).own_memory else 3 * longest
    known = int(xp.count_nonzero(places.located == 0))
    everyone = vertices = xp.zeros(1, xp.int64)
    done = 0
    while known < A.nrows and done != limit:
        is_listed = vertices is not everyone
        kernels.locate(
            len(vertices) if is_listed else A.nrows,
            is_listed, vertices, rows.indptr, rows.indices, done + 1, tolerance, steps,
            places.latitude, places.longitude, places.located,
            device=A.device, scratch=[("float64", room, None)],
            work=A.nvals if is_listed else rows.indptr,
        )  # fmt: skip
        looked_at = places.located[vertices] if is_listed else places.located
        new = xp.flatnonzero(looked_at == done + 1)
        if not len(new):
            return done, True
        done, known = done + 1, known + len(new)
        if progress is not None:
            progress(known, A.nrows)
        if len(new) <= _FEW * A.nrows:
            vertices = _next(A, places, vertices[new] if is_listed else new, xp)
        else:
            vertices = everyone
    return done, known == A.nrows


def _next(A: Any, places: Places, new: Any, xp: Any) -> Any:
    """Return the vertices without a location that have a new one among their neighbours."""
    # reach = A any.pair new
    frontier = gb.Vector.from_coo(new, True, size=A.nrows, device=A.device)
    reach = A.mxv(frontier, gb.semiring.any_pair).new()
    lends = gb.device_traits(A.device).lends_arrays
    reached, _ = reach.to_coo(values=False, device=A.device if lends else None)
    reached = xp.asarray(reached).astype(xp.int64)
    return reached[places.located[reached] == NOWHERE]
