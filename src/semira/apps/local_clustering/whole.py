"""One large diffusion on the whole device: products of the matrix with full vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira import Matrix, Vector, device, device_traits, dtypes, semiring
from semira.apps.local_clustering.problem import Problem
from semira.kernels import ArrayKernel, Rows

_PLACE = "semira.apps.local_clustering.kernels:whole"
_TAKE = ArrayKernel(_PLACE, "take_all")
_SLOPES = ArrayKernel(_PLACE, "slopes_all")
_STEP = ArrayKernel(_PLACE, "step_all")

_PLUS_SECOND = semiring.plus_second[dtypes.INT64]

#: Fewer than one in so many vertices are multiplied as a sparse vector.
_FEW = 16

#: Vertices, values, (iterations, edges, proof), residual.
Found = tuple[Any, Any, NDArray[np.int64], float]


def _sums(graph: Matrix, units: Any, few: bool) -> Any:
    """Return the sum of the units of the neighbours of each vertex."""
    with device(graph.device):
        given = Vector.from_dense(units, 0 if few else None)
        made: Vector = graph.mxv(given, _PLUS_SECOND).new()
    lends = device_traits(graph.device).lends_arrays
    return made.to_dense(0, device=graph.device if lends else None)


def push_everywhere(problem: Problem, seeds: NDArray[np.int64], rows: Rows, xp: Any) -> Found:
    """Push residual mass in rounds, as the kernel `push` does: the same integers."""
    graph, n = problem.graph, rows.shape[0]
    keep, least = 2 * problem.alpha / (1 + problem.alpha), problem.rho * 2.0**61
    one = 1 << 61
    masses = np.full(len(seeds), one // len(seeds))
    masses[: one % len(seeds)] += 1
    rest, kept, share = xp.zeros(n, xp.int64), xp.zeros(n, xp.int64), xp.zeros(n, xp.int64)
    rest[xp.asarray(seeds)] = xp.asarray(masses)
    degrees = xp.diff(rows.indptr).astype(xp.int64)
    rounds, edges = 0, xp.zeros((), xp.int64)
    while True:
        _TAKE(n, rows.indptr, keep, least, rest, kept, share, device=graph.device)
        pushing = int(xp.count_nonzero(share))
        if not pushing:
            break
        rounds += 1
        edges += xp.where(share > 0, degrees, 0).sum()
        rest += _sums(graph, share, pushing < n // _FEW)
    vertices = xp.flatnonzero(kept).astype(xp.int32)
    values = kept[vertices].astype(xp.float64) * 2.0**-61
    ratios = rest / (least * xp.maximum(degrees, 1))
    told = np.array([rounds, int(edges), int(rest.sum() + kept.sum())])
    return vertices, values, told, float(ratios.max())


def fista_everywhere(problem: Problem, seeds: NDArray[np.int64], rows: Rows, xp: Any) -> Found:
    """Minimise by accelerated proximal gradients, as the kernel `fista` does."""
    graph, n = problem.graph, rows.shape[0]
    alpha, threshold = problem.alpha, problem.rho * problem.alpha
    shared = xp.zeros(n)
    shared[xp.asarray(seeds)] = alpha / len(seeds)
    x, y, slopes = xp.zeros(n), xp.zeros(n), xp.zeros(n)
    units, sums = xp.zeros(n, xp.int64), xp.zeros(n, xp.int64)
    degrees = xp.diff(rows.indptr).astype(xp.int64)
    edges, stopped, steps = xp.zeros((), xp.int64), 0, 0
    while True:
        _SLOPES(n, rows.indptr, sums, y, shared, alpha, slopes, device=graph.device)
        if steps > 1 and float(abs(slopes).max()) <= threshold * (1.0 + problem.tolerance):
            stopped = 1
        ends = bool(stopped) or steps == problem.max_iterations
        _STEP(n, slopes, steps, ends, threshold, alpha, x, y, units, device=graph.device)
        edges += xp.where(units != 0, degrees, 0).sum()
        sums = _sums(graph, units, int(xp.count_nonzero(units)) < n // _FEW)
        if ends:
            break
        steps += 1
    _SLOPES(n, rows.indptr, sums, x, shared, alpha, slopes, device=graph.device)
    off = xp.where(x > 0, abs(slopes + threshold), abs(slopes) - threshold)
    off = xp.where(x < 0, abs(slopes - threshold), off)
    vertices = xp.flatnonzero(x).astype(xp.int32)
    values = abs(x[vertices]) * degrees[vertices].astype(xp.float64)
    told = np.array([steps, int(edges), stopped])
    return vertices, values, told, max(float(off.max()), 0.0) / threshold
