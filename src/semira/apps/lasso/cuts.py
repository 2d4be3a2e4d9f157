"""Exact solution by minimum cuts: parts split around their means until none does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from semira.algorithms.flows.drain import choose, drain
from semira.algorithms.flows.network import Network
from semira.apps.lasso.problem import Problem
from semira.kernels import ArrayKernel

_PLACE = "semira.apps.lasso.kernels:trend"
_TALLY = ArrayKernel(_PLACE, "tally")
_CLOSE = ArrayKernel(_PLACE, "close_arcs")
_SHIFT = ArrayKernel(_PLACE, "shift")
_CARRIED = ArrayKernel(_PLACE, "carried")

#: Deviations from the mean have so many bits together, in units.
_BITS = 58


@dataclass(frozen=True, slots=True)
class Levels:
    """What the cuts found."""

    #: Array of float64, shape (n,). What the vertices of each part have in common, before
    #: ``lambda1`` draws it to 0.
    x: Any
    #: Array of float64. What each arc carries away from its row.
    flow: Any
    #: Maximum flows.
    levels: int
    #: Relabels, or rounds, of all of them.
    rounds: int
    algorithm: str


def split(problem: Problem, progress: Callable[[int, int], None] | None = None) -> Levels:
    """Return the flow of an exact solution.

    All vertices are one part at first. What they exceed the mean of their part by is to flow to
    those below it, over edges with room for ``lambda2`` times their weight. What cannot get there
    splits a part in two: edges between them are full, and each half goes on around its own mean.
    All parts of a level share one flow.
    """
    xp, n, device = problem.xp, problem.n, problem.device
    network, rest, middle, unit = _in_units(problem)
    algorithm, _ = choose("auto", device, n, len(problem.indices))
    room = network.capacity.copy()
    value, units = xp.full(n, middle, xp.int64), xp.zeros(len(room), xp.int64)
    key, active = xp.zeros(n, xp.int32), xp.ones(n, xp.int8)
    closed = xp.zeros(len(room), xp.int8)
    parts, levels, rounds = min(n, 1), 0, 0
    while parts:
        found = drain(network, room, rest, algorithm)
        levels, rounds = levels + 1, rounds + found.rounds
        # Above the mean is who cannot reach anybody below it.
        key += (parts * ((found.height >= n) & (active != 0))).astype(xp.int32)
        sums, counts = xp.zeros(2 * parts, xp.int64), xp.zeros(2 * parts, xp.int64)
        _TALLY(n, active, key, rest, sums, counts, device=device)
        is_split = (counts[:parts] > 0) & (counts[parts:] > 0)
        means = xp.where(xp.concatenate([is_split, is_split]), sums // xp.maximum(counts, 1), 0)
        goes_on = means != 0
        fresh = xp.where(goes_on, xp.cumsum(goes_on) - 1, -1)
        _CLOSE(
            n, problem.indptr, problem.indices, active, key, network.capacity, room, closed, units,
            device=device, work=len(room),
        )  # fmt: skip
        _SHIFT(n, key, means, fresh, active, rest, value, device=device)
        parts = int(xp.count_nonzero(goes_on))
        if progress is not None:
            progress(n - int(xp.count_nonzero(active)), n)
    flow = xp.empty(len(room))
    _CARRIED(
        n, problem.indptr, network.capacity, room, closed, problem.limit, unit, flow, units,
        device=device, work=len(room),
    )  # fmt: skip
    x = value.astype(xp.float64) * unit
    return Levels(x, flow, levels, rounds, algorithm)


def _in_units(problem: Problem) -> tuple[Network, Any, int, float]:
    """Return the network, what vertices exceed the mean by, the mean, and the size of a unit."""
    xp, y = problem.xp, problem.y
    mean = float(y.mean()) if problem.n else 0.0
    most, size = float(abs(y - mean).sum()), float(abs(y).max()) if problem.n else 0.0
    shift = min(_BITS - int(np.frexp(max(most, size))[1]), 1100) if size else 0
    middle = round(float(np.ldexp(mean, shift)))
    rest = xp.rint(xp.ldexp(y, xp.int32(shift))).astype(xp.int64) - middle
    # No edge carries more than all deviations together.
    clip = float(np.ldexp(most, shift) + 2.0 * (problem.n + 1))
    limit = xp.minimum(problem.limit, 2.0 * float(np.ldexp(clip, -shift)))
    capacity = xp.minimum(xp.rint(xp.ldexp(limit, xp.int32(shift))), clip).astype(xp.int64)
    network = Network(
        xp, problem.device, problem.n, problem.indptr, problem.indices, problem.back, problem.limit,
        capacity, int(clip), shift, False,
    )  # fmt: skip
    return network, rest, middle, float(np.ldexp(1.0, -shift))
