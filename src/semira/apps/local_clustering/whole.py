"""One large diffusion on the whole device: products of the matrix with full vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira import Matrix, Vector, device, device_traits, dtypes, semiring
from semira.apps.arrays import on_host
from semira.apps.local_clustering.problem import Problem
from semira.kernels import ArrayKernel, Rows, run_loop

_PLACE = "semira.apps.local_clustering.kernels:whole"
_TAKE = ArrayKernel(_PLACE, "take_all")
_SLOPES = ArrayKernel(_PLACE, "slopes_all")
_STEP = ArrayKernel(_PLACE, "step_all")
_SUMS = ArrayKernel(_PLACE, "sums_all", lanes=8)
_COUNT = ArrayKernel(_PLACE, "count_step")

#: Longer rows are summed by a block of a GPU each; `kLong` in the kernel.
_LONG = 2048

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
    """Minimise by accelerated proximal gradients, as the kernel `fista` does, in one launch."""
    graph, n, nvals = problem.graph, rows.shape[0], len(rows.indices)
    alpha, threshold = problem.alpha, problem.rho * problem.alpha
    bound = threshold * (1.0 + problem.tolerance)
    x, y, slopes, shared = xp.zeros(n), xp.zeros(n), xp.zeros(n), xp.zeros(n)
    shared[xp.asarray(seeds)] = alpha / len(seeds)
    units, sums, state = xp.zeros(n, xp.int64), xp.zeros(n, xp.int64), xp.zeros(5, xp.int64)
    degrees = xp.diff(rows.indptr).astype(xp.int64)
    long = xp.append(xp.flatnonzero(degrees > _LONG), 0).astype(xp.int64)
    most = problem.max_iterations
    run_loop(
        state,
        _SLOPES.launch(n, rows.indptr, sums, y, shared, alpha, bound, slopes, state),
        _STEP.launch(n, rows.indptr, slopes, most, threshold, alpha, x, y, units, state),
        _SUMS.launch(
            n, rows.indptr, rows.indices, units, long, len(long) - 1, sums, work=nvals
        ),
        _COUNT.launch(1, most, state),
        device=graph.device,
    )  # fmt: skip
    _SLOPES(n, rows.indptr, sums, x, shared, alpha, bound, slopes, state, device=graph.device)
    off = xp.where(x > 0, abs(slopes + threshold), abs(slopes) - threshold)
    off = xp.where(x < 0, abs(slopes - threshold), off)
    vertices = xp.flatnonzero(x).astype(xp.int32)
    values = abs(x[vertices]) * degrees[vertices].astype(xp.float64)
    worst = max(float(off.max()), 0.0) / threshold
    return vertices, values, on_host(state)[[1, 4, 2]], worst
