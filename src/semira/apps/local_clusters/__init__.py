"""Clusters around seeds, found without a look at the rest of the graph."""

from __future__ import annotations

from typing import Any

from semira import Matrix
from semira.algorithms.checks import check_count
from semira.apps.local_clusters.problem import Method, checked
from semira.apps.local_clusters.result import LocalClusters
from semira.apps.local_clusters.solve import Progress, Solver, memory
from semira.apps.local_clusters.sweeping import Sweeper
from semira.exceptions import Panic
from semira.kernels import array_module, rows_of

__all__ = ["LocalClusters", "local_clusters", "memory"]


def local_clusters(
    A: Matrix,
    /,
    seeds: Any,
    *,
    method: Method = "fista",
    alpha: float | None = None,
    rho: float | None = None,
    phi: float | None = None,
    volume: float | None = None,
    tolerance: float = 1e-2,
    max_iterations: int = 10_000,
    sweep: bool = True,
    top: int | None = None,
    symmetric: bool = False,
    progress: Progress | None = None,
) -> LocalClusters:
    """TODO"""
    problem = checked(
        A, seeds, method, alpha, rho, phi, volume, tolerance, max_iterations, symmetric
    )
    top = None if top is None else check_count(top, "top", 1)
    device = A.device
    with array_module(device) as xp:
        rows = rows_of(problem.graph, values=False)
        found = Solver(problem, rows, xp).run(progress)
        sweeper = Sweeper(found, rows, device, xp)
        vertices, values = sweeper.ordered(by_degree=True)
        arrays = {"vertices": vertices, "values": values}
        if top is not None:
            arrays["top_vertices"], arrays["top_values"] = sweeper.top(top)
        swept = sweeper.swept(vertices) if sweep else None
    made: dict[str, Any] = {}
    if swept is not None:
        arrays["profile"] = swept.profile
        if (swept.cuts != swept.cuts_again).any():
            raise Panic("local_clusters: the cut of a cluster differs from that of its prefix")
        made = {"sizes": swept.sizes, "volumes": swept.volumes, "cuts": swept.cuts}
    converged = found.proof > 0
    return LocalClusters(
        found.ptr, found.iterations, found.edges, found.residual, converged, problem.method,
        problem.alpha, problem.rho, **made, _n=rows.shape[0], _device=device,
        _total=len(rows.indices), _arrays=arrays,
    )  # fmt: skip
