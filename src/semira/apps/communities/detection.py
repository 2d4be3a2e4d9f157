"""The functions of the package."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from semira import Matrix, Vector
from semira.algorithms.checks import check_count, check_every, check_number, check_square
from semira.algorithms.naming import values_of
from semira.apps.arrays import check_room, on_host
from semira.apps.communities import problem
from semira.apps.communities.graph import Graph, Workspace, grouped, numbering
from semira.apps.communities.moving import components
from semira.apps.communities.result import Communities
from semira.apps.communities.solve import Run, modularity_of, run_leiden, run_louvain
from semira.apps.named import takes_graph
from semira.exceptions import InvalidValue
from semira.kernels import array_module, rows_of

#: Pairs of rounds that move a smaller share of the vertices end the moves of a level: of `louvain`,
#: and of `leiden`, whose runs come back to it.
_SHARE, _LEIDEN_SHARE = 1e-2, 2e-2
_LEVELS, _ROUNDS = 64, 128

#: Numbers are finite.
_MOST = sys.float_info.max


@takes_graph(initial=values_of)
def louvain(
    A: Matrix,
    *,
    resolution: float = 1.0,
    threshold: float = 0.0,
    max_level: int = _LEVELS,
    max_iterations: int = _ROUNDS,
    seed: int = 0,
    initial: Any = None,
    directed: bool = False,
    weighted: bool = True,
    refine: bool = True,
    order: str = "halves",
    progress: Callable[[int, int], None] | None = None,
) -> Communities:
    """Find communities of high modularity by the Louvain method.

    ``Q = (W_in - resolution * sum_c K_c^2 / m) / m``: W_in are the weights of entries within
    communities, K_c sums of weighted degrees, m the sum of all weights.

    Parameters
    ----------
    A : Matrix or Graph, shape (n, n)
        Adjacency, symmetric unless `directed`. An entry (v, v) counts with the value it has.
    resolution : float
        Larger: more and smaller communities.
    threshold : float
        A level that gains less modularity is the last one; 0: as long as vertices move.
    max_level : int
        Levels at most.
    max_iterations : int
        Rounds of each level at most.
    seed : int
        Labels are a function of matrix, options and seed, on every device.
    initial : Vector or array of integers, shape (n,), or mapping from names, optional
        Labels to start from, such as those of the graph before it changed.
    directed : bool
        Use the modularity of directed graphs (Leicht and Newman).
    weighted : bool
        Read the values of edges; else every edge counts 1.
    refine : bool
        Move vertices again while communities are taken apart, level by level.
    order : {"halves", "serial"}
        Half of the vertices move at once, or one after the other: the order of the publication, on
        hosts by one thread, without random numbers.
    progress : callable, optional
        Called with the level and its number of vertices when a level begins.

    Returns
    -------
    Communities

    Raises
    ------
    DimensionMismatch
        The matrix is not square, or `initial` has another length.
    InvalidValue
        A weight is negative or not finite, the matrix is not symmetric, an option is out of range,
        or the order is serial and the matrix in a GPU's memory.
    OutOfMemory
        The run does not fit into memory; see `memory`.

    Notes
    -----
    All vertices of a round move at once, half of them in each round, chosen by the bits of a random
    number (Philox) of each vertex. Sums are integers, so their order does not matter. A round costs
    the entries of vertices that have a neighbour which moved. The result is never worse than what
    the run starts from. In serial order a round visits every
    vertex in turn, moves count at once, and a round that gains less than 1e-6 is the last one.
    Communities need not be connected: use `leiden` for that.

    References
    ----------
    Blondel, Guillaume, Lambiotte, Lefebvre, "Fast unfolding of communities in large networks",
    2008. Rotta and Noack, "Multilevel local search algorithms for modularity clustering", 2011, for
    `refine`.

    Examples
    --------
    >>> import semira as gb
    >>> tails, heads = [0, 0, 1, 2, 3, 3, 4], [1, 2, 2, 3, 4, 5, 5]
    >>> A = gb.Matrix.from_coo(tails + heads, heads + tails, True)
    >>> found = gb.apps.louvain(A)
    >>> found.num_communities, round(found.modularity, 4)
    (2, 0.3571)
    """
    run = _run(
        A, "louvain", resolution, threshold, max_level, max_iterations, seed, refine, progress
    )
    run.in_order = problem.is_serial(A, order)
    with array_module(A.device) as xp:
        given, graph, scale = _graphs(xp, A, "louvain", weighted=weighted, directed=directed)
        run.pull = run.resolution / max(1, graph.total)
        space, start = Workspace(graph), _start(xp, graph, initial)
        levels: list[Any] = []
        labels = None if initial is None else start.copy()
        if graph.total:
            labels, levels = run_louvain(run, space, labels)
        return _result(run, space, given, (start, labels), levels, scale, is_split=False)


@takes_graph(initial=values_of)
def leiden(
    A: Matrix,
    *,
    resolution: float = 1.0,
    iterations: int = 3,
    max_level: int = _LEVELS,
    max_iterations: int = _ROUNDS,
    seed: int = 0,
    initial: Any = None,
    directed: bool = False,
    weighted: bool = True,
    refine: bool = True,
    progress: Callable[[int, int], None] | None = None,
) -> Communities:
    """Find connected communities of high modularity by the Leiden method.

    The parameters are those of `louvain`; see there for the formula.

    Parameters
    ----------
    A : Matrix or Graph, shape (n, n)
    resolution : float
    iterations : int
        Runs of all levels, each from the communities of the run before.
    max_level, max_iterations, seed : int
    initial : Vector or array of integers, shape (n,), optional
    directed, weighted, refine : bool
    progress : callable, optional

    Returns
    -------
    Communities
        Every community is connected.

    Raises
    ------
    DimensionMismatch, InvalidValue, OutOfMemory
        As `louvain`.

    Notes
    -----
    Before communities are contracted, each is divided into parts: vertices that are alone merge
    along edges into well connected parts, greedily; half of them may merge in a round, and join
    only parts that do not move in it. What is contracted are the parts, until less than half of the
    vertices with neighbours in their community merge. At the end communities that are not connected
    are split, which never lowers the modularity.

    References
    ----------
    Traag, Waltman, van Eck, "From Louvain to Leiden: guaranteeing well-connected communities",
    2019.

    Examples
    --------
    >>> import semira as gb
    >>> tails, heads = [0, 0, 1, 2, 3, 3, 4], [1, 2, 2, 3, 4, 5, 5]
    >>> A = gb.Matrix.from_coo(tails + heads, heads + tails, True)
    >>> found = gb.apps.leiden(A)
    >>> found.host_labels.tolist()
    [0, 0, 0, 1, 1, 1]
    """
    run = _run(A, "leiden", resolution, 0.0, max_level, max_iterations, seed, refine, progress)
    run.share = _LEIDEN_SHARE
    iterations = check_count(iterations, "iterations", 1)
    with array_module(A.device) as xp:
        given, graph, scale = _graphs(xp, A, "leiden", weighted=weighted, directed=directed)
        run.pull = run.resolution / max(1, graph.total)
        space, start = Workspace(graph), _start(xp, graph, initial)
        levels: list[Any] = []
        labels = None if initial is None else start.copy()
        for rest in range(iterations - 1 if graph.total else -1, -1, -1):
            labels, levels = run_leiden(run, space, labels, again=rest > 0)
        labels = None if labels is None else components(graph, labels)
        return _result(run, space, given, (start, labels), levels, scale, is_split=True)


@takes_graph(labels=values_of)
def modularity(
    A: Matrix,
    labels: Any,
    *,
    resolution: float = 1.0,
    directed: bool = False,
    weighted: bool = True,
) -> float:
    """Return the modularity of labels.

    Parameters
    ----------
    A : Matrix or Graph, shape (n, n)
        Adjacency, symmetric unless `directed`.
    labels : Vector or array of integers, shape (n,), or mapping from names
        Vertices of equal labels are a community.
    resolution : float
    directed, weighted : bool

    Returns
    -------
    float
        0 if there are no edges.

    Raises
    ------
    DimensionMismatch, DomainMismatch, InvalidValue
        As `louvain`, or the labels are no integers.

    Notes
    -----
    Costs a pass over the entries. Weights that are no integers are rounded as for `louvain`.

    References
    ----------
    Newman and Girvan, "Finding and evaluating community structure in networks", 2004; Reichardt and
    Bornholdt, 2006, for the resolution; Leicht and Newman, 2008, for directed graphs.

    Examples
    --------
    >>> import semira as gb
    >>> A = gb.Matrix.from_coo([0, 1, 2, 3], [1, 0, 3, 2], True)
    >>> gb.apps.modularity(A, [0, 0, 1, 1])
    0.5
    """
    _check_graph(A, "modularity")
    resolution = check_number(resolution, "resolution", _MOST)
    with array_module(A.device) as xp:
        given, _, _ = problem.graph_of(xp, A, weighted=weighted, directed=directed, for_moves=False)
        return modularity_of(given, *problem.numbered(xp, given, labels, "labels"), resolution)


@takes_graph(labels=values_of)
def contract(A: Matrix, labels: Any) -> Matrix:
    """Return the matrix of communities: ``S' A S``, where S has the label of each vertex.

    Parameters
    ----------
    A : Matrix or Graph, shape (n, n)
    labels : Vector or array of integers, shape (n,), or mapping from names
        Communities are numbered by their labels, in order.

    Returns
    -------
    Matrix, shape (c, c)
        Entry (a, b) is the sum of the values of entries from community a to b: INT64 for booleans
        and integers, else FP64.

    Raises
    ------
    DimensionMismatch, DomainMismatch, InvalidValue
        There is not a label for each vertex, or labels are no integers.

    Notes
    -----
    One sort of the entries by pairs of labels; S is not built. Floats are summed in the order of
    the entries of A.

    Examples
    --------
    >>> import semira as gb
    >>> A = gb.Matrix.from_coo([0, 1, 2], [1, 2, 0], [1, 2, 4])
    >>> gb.apps.contract(A, [0, 0, 1]).to_dense(fill_value=0).tolist()
    [[1, 2], [4, 0]]
    """
    _check_graph(A, "contract")
    with array_module(A.device) as xp:
        rows = rows_of(A)
        weights, scale, _ = problem.integer_weights(xp, rows.values, A.nvals, signed=True)
        is_float = rows.values.dtype.kind == "f"
        graph = Graph(
            xp, A.device, A.nrows, rows.indptr, rows.indices, weights, len(weights) == 1,
            None, None, False, 0,
        )  # fmt: skip
        numbers, count = problem.numbered(xp, graph, labels, "labels")
        keys = graph.keys(numbers, count, keeps_own=True)
        if len(weights) == 1:
            weights = xp.full(len(keys), weights[0])
        indptr, indices, sums = grouped(graph, keys, weights, count, xp.int64)
        sums = sums / scale if is_float else sums
        return Matrix.from_csr(indptr, indices, sums, nrows=count, ncols=count)


def memory(n: int, nvals: int) -> int:
    """Return the bytes that `louvain` or `leiden` takes at most, beside the matrix.

    Parameters
    ----------
    n, nvals : int
        Vertices and entries.

    Examples
    --------
    >>> import semira as gb
    >>> gb.apps.communities.memory(1000, 10_000) < 2_000_000
    True
    """
    # Of vertices: labels, totals, strengths, ranks, targets, marks, numbers, parts. Of entries: the
    # contraction's keys, order, weights and their copies, and the graphs of all levels.
    return 128 * n + 72 * nvals + (1 << 20)


def _check_graph(A: Any, name: str) -> None:
    check_every(check_square(A, name), f"{name}: a label for every vertex")


def _run(
    A: Any,
    name: str,
    resolution: Any,
    threshold: Any,
    max_level: Any,
    rounds: Any,
    seed: Any,
    refine: bool,
    progress: Any,
) -> Run:
    """Return checked options."""
    _check_graph(A, name)
    if isinstance(seed, bool) or int(seed) != seed or not -(1 << 63) <= seed < 1 << 63:
        raise InvalidValue(f"seed={seed!r}: an integer of 64 bits")
    return Run(
        resolution=check_number(resolution, "resolution", _MOST),
        seed=int(seed),
        share=_SHARE,
        max_level=check_count(max_level, "max_level", 1),
        max_rounds=check_count(rounds, "max_iterations", 1),
        threshold=check_number(threshold, "threshold", _MOST),
        refined=bool(refine),
        progress=progress,
    )


def _graphs(
    xp: Any, A: Any, name: str, *, weighted: bool, directed: bool
) -> tuple[Graph, Graph, float]:
    needed = memory(A.nrows, A.nvals * (1 + directed))
    remedy = "release objects, or use another device"
    check_room(needed, A.device, f"{name}: arrays beside the matrix", remedy, least=0)
    return problem.graph_of(xp, A, weighted=weighted, directed=directed)


def _start(xp: Any, graph: Graph, initial: Any) -> Any:
    """Return the labels that a run starts from: each vertex is alone, unless others are given."""
    if initial is None:
        return xp.arange(graph.n, dtype=xp.int32)
    return problem.labels_of(xp, graph, initial, "initial")


def _result(
    run: Run, space: Workspace, given: Graph, labels: tuple[Any, Any], levels: Any, scale: float,
    *, is_split: bool,
) -> Communities:  # fmt: skip
    """Return the labels at the end, or those at the start if they are better.

    Of moves at once each gains, and all together may lose, on graphs of few vertices.
    """
    start, end = labels
    found = numbering(space, given, start if end is None else end)
    quality = modularity_of(given, found.labels, found.count, run.resolution)
    if modularity_of(given, start, given.n, run.resolution) > quality:
        start = components(space.graph, start) if is_split else start
        found, levels = numbering(space, given, start), []
        quality = modularity_of(given, found.labels, found.count, run.resolution)
    states = [on_host(each) for each in space.states]
    return Communities(
        labels=Vector.from_dense(found.labels) if given.n else Vector("int32", 0),
        num_communities=found.count,
        modularity=quality,
        resolution=run.resolution,
        scale=scale,
        num_levels=len(levels),
        rounds=int(sum(each[:, 1].sum() for each in states)),
        moves=int(sum(each[:, 3].sum() for each in states)),
        is_split=is_split,
        _levels=tuple(levels),
    )
