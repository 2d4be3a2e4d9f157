"""Iterations of geolocation: each locates the vertices that have a located neighbour."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import semira as gb
from semira.apps.geolocation import kernels
from semira.apps.geolocation.problem import NOWHERE, Places
from semira.kernels import Rows, rows_of

#: With fewer new locations than this share of the vertices, only neighbours of these are visited.
_FEW = 1 / 32

#: Steps of a median in the launches of a GPU; a last launch takes all others. Threads that are done
#: wait for those of their warp: the medians of the geometric graph of docs/apps/geolocation.md take
#: 4.2 times the steps of an ideal machine in one launch, and 1.5 times with these.
_CAPS = (8, 8, 16, 16, 32, 64, 128)


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
    finder = _Finder(A, places, rows, xp, tolerance, steps)
    known = int(xp.count_nonzero(places.located == 0))
    vertices = None  # all
    done = 0
    while known < A.nrows and done != limit:
        finder.locate(vertices, done + 1)
        looked_at = places.located if vertices is None else places.located[vertices]
        new = xp.flatnonzero(looked_at == done + 1)
        if not len(new):
            return done, True
        done, known = done + 1, known + len(new)
        if progress is not None:
            progress(known, A.nrows)
        if len(new) <= _FEW * A.nrows:
            vertices = _next(A, places, new if vertices is None else vertices[new], xp)
        else:
            vertices = None
    return done, known == A.nrows


class _Finder:
    """The kernel that locates vertices, and what its launches share."""

    def __init__(
        self, A: Any, places: Places, rows: Rows, xp: Any, tolerance: float, steps: int
    ) -> None:
        self._graph, self._places, self._rows, self._xp = A, places, rows, xp
        self._tolerance, self._steps = tolerance, steps
        self._everyone = xp.zeros(1, xp.int64)
        self._caps = _CAPS if gb.device_traits(A.device).own_memory else ()
        lists = A.nrows if self._caps else 1
        self._lists = [xp.empty(lists, rows.indices.dtype) for _ in range(2)]
        # Threads of a GPU keep the neighbours themselves.
        degrees = rows.indptr[1:] - rows.indptr[:-1]
        self._room = 1 if self._caps or not A.nrows else 3 * int(degrees.max())

    def locate(self, vertices: Any, now: int) -> None:
        """Locate those of some vertices, or of all, that have a neighbour located before."""
        rows, places = self._rows, self._places
        is_listed = vertices is not None
        items = len(vertices) if is_listed else len(places.located)
        listed = vertices if is_listed else self._everyone
        lengths = self._xp.zeros(len(self._caps) + 1, self._xp.int64)
        walked = 0
        # Launches know from the one before how many are left to them: the host does not wait.
        for level, cap in enumerate((*self._caps, self._steps)):
            kernels.locate(
                items, is_listed, listed, rows.indptr, rows.indices, now,
                self._tolerance, self._steps, *places[:3],
                level, walked, cap, self._lists[level % 2], self._lists[1 - level % 2], lengths,
                device=self._graph.device, scratch=[("float64", self._room, None)],
                work=self._graph.nvals if is_listed else rows.indptr,
            )  # fmt: skip
            walked += cap
            if walked >= self._steps:
                break


def _next(A: Any, places: Places, new: Any, xp: Any) -> Any:
    """Return the vertices without a location that have a new one among their neighbours."""
    # reach = A any.pair new
    frontier = gb.Vector.from_coo(new, True, size=A.nrows, device=A.device)
    reach = A.mxv(frontier, gb.semiring.any_pair).new()
    lends = gb.device_traits(A.device).lends_arrays
    reached, _ = reach.to_coo(values=False, device=A.device if lends else None)
    reached = xp.asarray(reached).astype(xp.int64)
    return reached[places.located[reached] == NOWHERE]
