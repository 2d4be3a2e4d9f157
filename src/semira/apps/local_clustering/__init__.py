"""Clusters around seeds, found without a look at the rest of the graph."""

from __future__ import annotations

from typing import Any

from semira import Matrix
from semira.algorithms.checks import check_count
from semira.algorithms.naming import vertices_or_sets
from semira.apps.local_clustering.problem import check_degrees, checked
from semira.apps.local_clustering.result import LocalClusters
from semira.apps.local_clustering.solve import Progress, Solver, memory
from semira.apps.local_clustering.sweeping import Sweeper
from semira.apps.named import takes_graph
from semira.exceptions import Panic
from semira.kernels import array_module, rows_of

__all__ = ["LocalClusters", "local_clusters", "memory"]


@takes_graph(seeds=vertices_or_sets)
def local_clusters(
    A: Matrix,
    /,
    seeds: Any,
    *,
    method: str = "fista",
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
    """Return the cluster of least conductance around each seed, and what it was cut out of.

    Mass spreads from the seed and stays near it: an approximation of personalised PageRank,
    computed without a look at the rest of the graph. A sweep then orders the vertices by value
    per degree and cuts off the prefix of least conductance (edges that leave it, over the smaller
    sum of degrees of the two sides).

    Parameters
    ----------
    A : Matrix or Graph, shape (n, n), any dtype
        Entry (i, j) joins i and j, whatever its value and direction; self-loops do not count. Not
        modified.
    seeds : int or name, or several, or sets of them, 0 <= each < n
        Each item is a problem of its own: a vertex, or a list of vertices that share the mass.
    method : {"fista", "push"}
        ``"fista"`` minimises the l1-regularised PageRank objective by accelerated proximal
        gradients [1]_. ``"push"`` moves residual mass until less than `rho` per edge is left
        anywhere [2]_.
    alpha : float in (0, 1], optional
        Chance that a lazy walk returns to the seed at each step; small: the mass goes further. Give
        this or `phi`.
    rho : float in (0, 1], optional
        Resolution: vertices with less mass per degree stay out. Others call it epsilon. Give this
        or `volume`.
    phi : float in (0, 1], optional
        Target conductance: ``alpha = phi**2 / (225 ln(100 sqrt(m)))`` for m edges. Default 0.5.
    volume : float, optional
        Target sum of degrees: ``rho = 2**-min(1 + log2(volume), log2(m)) / (48 log2(m))``.
        Default 40.
    tolerance : float >= 0
        FISTA stops when no gradient per root of the degree exceeds
        ``rho * alpha * (1 + tolerance)``.
    max_iterations : int >= 1
        Steps of FISTA at most. The HIVE report runs 10; until the tolerance is met it takes some
        hundreds for a small `alpha`.
    sweep : bool
        Cut clusters off; else only the values are computed.
    top : int, optional
        Return the `top` vertices of greatest value of each problem too, as rows.
    symmetric : bool
        The caller knows that the entries of `A` are symmetric; else they are taken in both
        directions, once for a matrix.
    progress : callable, optional
        Called with the numbers of finished and of all problems, now and then.

    Returns
    -------
    LocalClusters
        ``cluster(i)``, ``conductance``, ``profile(i)``, ``diffusion(i)``, ``top_indices``, and the
        proof: ``residual``, cuts counted twice, ``facts()``.

    Raises
    ------
    DomainMismatch, DimensionMismatch
        `A` is no Matrix, or not square.
    InvalidIndex, IndexOutOfBound
        A seed is not a vertex.
    InvalidValue
        There is no seed, or one without neighbours; a parameter is out of range, or given twice.
    OutOfMemory
        One problem does not fit into the memory that is free.

    Notes
    -----
    ``push`` walks at most ``1 / (rho * alpha)`` entries a seed, whatever the size of the graph, and
    FISTA the entries of its support in each step; sorting is O(k log k) for k values. Each seed
    takes a thread of the host or a block of the GPU, with a hash table for what it touches; one
    that touches more than some 160,000 vertices takes the whole device, in O(n + nvals) a step.
    `memory` tells the bytes.

    Mass is counted in units of 2**-61 and moves in rounds, sums of FISTA in units of 2**-59, so
    that every device, and any number of threads, computes the same bits. With ``push`` the values
    p are at most PageRank, and less by at most ``rho`` times the degree.

    References
    ----------
    .. [1] K. Fountoulakis, F. Roosta-Khorasani, J. Shun, X. Cheng, M. Mahoney, *Variational
       perspective on local graph clustering*, Math. Programming 174, 2019; with the constant
       momentum of the HIVE report.
    .. [2] R. Andersen, F. Chung, K. Lang, *Local graph partitioning using PageRank vectors*, FOCS
       2006; pushed completely, as in J. Shun et al., *Parallel local graph clustering*, VLDB 2016.

    Examples
    --------
    Two triangles, joined by an edge:

    >>> from semira import Matrix
    >>> A = Matrix.from_coo([0, 0, 1, 2, 3, 3, 4], [1, 2, 2, 3, 4, 5, 5], nrows=6, ncols=6)
    >>> found = local_clusters(A, [0, 4], method="push", alpha=0.1, rho=1e-4)
    >>> found.cluster(0).tolist(), found.cluster(1).tolist()
    ([0, 1, 2], [4, 5, 3])
    >>> found.conductance.round(3).tolist()
    [0.143, 0.143]
    """
    problem = checked(
        A, seeds, method, alpha, rho, phi, volume, tolerance, max_iterations, symmetric
    )
    top = None if top is None else check_count(top, "top", 1)
    device = A.device
    with array_module(device) as xp:
        rows = rows_of(problem.graph, values=False)
        check_degrees(problem, rows, xp)
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
