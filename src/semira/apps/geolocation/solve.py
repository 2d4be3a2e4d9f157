"""Iterations of geolocation: each locates the vertices that have a located neighbour."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import semira as gb
from semira.apps.geolocation import kernels
from semira.apps.geolocation.problem import NOWHERE, Places
from semira.kernels import Rows, rows_of

#: A host visits only the neighbours of new locations if these are fewer than this share of the
#: vertices. A GPU looks at all vertices sooner than it lists some.
_FEW = 1 / 32

#: Steps of a median in the launches of a GPU; a last launch takes all others. Threads that are done
#: wait for those of their warp: the medians of the geometric graph of docs/apps/geolocation.md take
#: 4.2 times the steps of an ideal machine in one launch, and 1.5 times with these.
_CAPS = (8, 8, 16, 16, 32, 64, 128)

#: Vertices without a location up to which one launch is enough.
_SMALL = 2**17


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
    finder = _Finder(A, places, xp, tolerance, steps)
    known = int(xp.count_nonzero(places.located == 0))
    vertices = None  # all
    done = 0
    while known < A.nrows and done != limit:
        finder.locate(vertices, done + 1, A.nrows - known)
        is_new = (places.located if vertices is None else places.located[vertices]) == done + 1
        count = int(xp.count_nonzero(is_new))
        if not count:
            return done, True
        done, known = done + 1, known + count
        if progress is not None:
            progress(known, A.nrows)
        if finder.is_gpu or count > _FEW * A.nrows:
            vertices = None
        else:
            new = xp.flatnonzero(is_new)
            vertices = _next(A, places, new if vertices is None else vertices[new])
    return done, known == A.nrows


class _Finder:
    """The kernel that locates vertices, and what its launches share."""

    def __init__(self, A: Any, places: Places, xp: Any, tolerance: float, steps: int) -> None:
        self.is_gpu = gb.device_traits(A.device).own_memory
        self._graph, self._places, self._xp = A, places, xp
        self._rows = rows_of(A, values=False)
        self._tolerance, self._steps = tolerance, steps
        self._lists = [xp.empty(A.nrows if self.is_gpu else 1, xp.int64) for _ in range(2)]
        # Threads of a GPU keep the neighbours themselves.
        self._room = 1 if self.is_gpu else 3 * _longest(self._rows)

    def locate(self, vertices: Any, now: int, unknown: int) -> None:
        """Locate those of some vertices, or of all, that have a neighbour located before."""
        rows, places = self._rows, self._places
        is_listed = vertices is not None
        caps = _CAPS if self.is_gpu and unknown > _SMALL else ()
        lengths = self._xp.zeros(2 * (len(caps) + 1), self._xp.int64)
        walked = 0
        # Launches know from the one before how many are left to them: the host does not wait.
        for level, cap in enumerate((*caps, self._steps)):
            kernels.locate(
                len(vertices if is_listed else places.located),
                is_listed, vertices if is_listed else lengths, rows.indptr, rows.indices, now,
                self._tolerance, self._steps, *places[:3],
                level, walked, cap, self._lists[level % 2], self._lists[1 - level % 2], lengths,
                device=self._graph.device, scratch=[("float64", self._room, None)],
                work=self._graph.nvals if is_listed else rows.indptr,
            )  # fmt: skip
            walked += cap
            if walked >= self._steps:
                break


def _longest(rows: Rows) -> int:
    lengths = rows.indptr[1:] - rows.indptr[:-1]
    return int(lengths.max()) if len(lengths) else 0


def _next(A: Any, places: Places, new: Any) -> Any:
    """Return the vertices without a location that have a new one among their neighbours."""
    # reach = A any.pair new
    frontier = gb.Vector.from_coo(new, True, size=A.nrows, device=A.device)
    reach = A.mxv(frontier, gb.semiring.any_pair).new()
    reached = reach.to_coo(values=False)[0].astype(np.int64)
    return reached[places.located[reached] == NOWHERE]
