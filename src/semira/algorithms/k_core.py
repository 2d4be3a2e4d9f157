"""Core numbers and k-cores: vertices of small degree are peeled off until the rest holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

from semira import (
    Matrix,
    ProductOptions,
    Scalar,
    TraceRow,
    Vector,
    binary,
    device,
    fused,
    monoid,
    repeat,
    select,
    semiring,
    unary,
)
from semira.algorithms.checks import check_count, check_square, vertex_dtype
from semira.algorithms.connected_components import connected_components
from semira.algorithms.naming import takes_graph
from semira.algorithms.neighbours import undirected
from semira.algorithms.results import Chained, finished
from semira.algorithms.run import Layout, Run
from semira.algorithms.sequential import cores, is_sequential

#: Iterations to begin with, whose pace is not asked for: many vertices may fall at once. Iterations
#: to come, at the pace of four times as many, from which on whole components fall; again as long as
#: that takes this share of all vertices.
_PATIENCE, _MANY, _SHARE = 32, 1024, 64

_ALGORITHMS = ("auto", "peel", "buckets")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CoreNumberResult(Run):
    """Result of `core_number`.

    Attributes
    ----------
    core : Vector, shape (n,)
        Core number of each vertex: the largest k of which it is in the k-core.
    """

    layout = Layout("core", answer=("degeneracy",))

    core: Vector

    @property
    def degeneracy(self) -> int:
        """Largest core number. Synchronises."""
        return int(self.core.reduce(monoid.max).get(0))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class KCoreResult(Run):
    """Result of `k_core`.

    Attributes
    ----------
    degree : Vector, shape (n,)
        Neighbours inside of the core, at the vertices of the core; no entry elsewhere.
    """

    layout = Layout("degree", answer=("count",))

    degree: Vector

    @property
    def count(self) -> int:
        """Number of vertices of the core. Synchronises."""
        return int(self.degree.nvals)


@takes_graph()
def core_number(
    A: Matrix,
    /,
    *,
    symmetric: bool = False,
    algorithm: str = "auto",
    **opts: Unpack[ProductOptions],
) -> CoreNumberResult:
    """Return the core number of every vertex.

    The k-core is the largest set of vertices of which each has k neighbours inside of it. Vertices
    i and j are connected if entry (i, j) or (j, i) is stored, whatever its value; self-loops
    are ignored.

    Parameters
    ----------
    A : Matrix or Graph, shape (n, n), any dtype
        Not modified.
    symmetric : bool
        The caller knows that the entries of `A` are symmetric.
    algorithm : {"auto", "peel", "buckets"}
        ``peel`` takes off all vertices of least degree at once. ``buckets`` takes one after the
        other, on devices in the host's memory. ``auto``: ``buckets`` there, unless there are
        options; else ``peel``.
    **opts
        Options of the products.

    Returns
    -------
    CoreNumberResult
        ``core``: INT32 (INT64 from 2**31 vertices), an entry for each vertex; ``degeneracy``,
        ``iterations``, ``trace`` (1 and empty for ``buckets``).

    Raises
    ------
    DimensionMismatch
        `A` is not square.
    InvalidValue
        Unknown `algorithm`, or ``buckets`` with options or in memory of a device.

    Notes
    -----
    O(n + nvals) to begin with. Each iteration peels off all vertices of the smallest degree left,
    or of no more than an earlier one, and costs O(vertices left + edges of those peeled off);
    each edge is looked at once or twice in all. It waits for the end of its loop.

    A path would lose two vertices an iteration. So where 128 iterations, after 32 others, leave
    work for 1,024 more, connected vertices of degree k + 1 or less fall together if one of them has
    no more than k: each that falls takes an edge from the next. Their components are found in a
    logarithmic number of iterations (`connected_components`), of O(n + their edges) each.
    ``buckets`` is O(n + nvals).

    References
    ----------
    S. Seidman, *Network structure and minimum degree*, Social Networks 5, 1983; N. Dasari,
    D. Ranjan, M. Zubair, *ParK: an efficient algorithm for k-core decomposition on multicore
    processors*, IEEE Big Data 2014; V. Batagelj, M. Zaversnik, *An O(m) algorithm for cores
    decomposition of networks*, 2003 (``buckets``).

    Examples
    --------
    >>> A = Matrix.from_coo([0, 1, 2, 2], [1, 2, 0, 3], nrows=5, ncols=5)
    >>> core_number(A).core.to_dense().tolist()
    [2, 2, 2, 1, 0]
    """
    n = check_square(A, "core_number", opts)
    if is_sequential(A, algorithm, _ALGORITHMS, opts):
        return CoreNumberResult(1, (), cores(undirected(A, symmetric)))
    edges, degree = _degrees(A, symmetric)
    core, k = Vector(degree.dtype, n), Scalar.from_value(0, degree.dtype)

    def peel() -> Any:
        # k = max(k, least degree left); those of no more have core number k
        k(accum=binary.max) << degree.reduce(monoid.min)
        shell = degree.select(select.valuele, k).new()
        core(shell.S) << k
        _take_off(shell, edges, degree, opts)
        return degree.nvals > 0

    def fall() -> None:
        _fall_together(int(k.get(0)), edges, degree, opts, core)

    return CoreNumberResult(*_run(peel, fall, degree), core)


@takes_graph()
def k_core(
    A: Matrix,
    /,
    k: int,
    *,
    symmetric: bool = False,
    algorithm: str = "auto",
    **opts: Unpack[ProductOptions],
) -> KCoreResult:
    """Return the largest set of vertices of which each has `k` neighbours inside of it.

    Connected is as for `core_number`.

    Parameters
    ----------
    A : Matrix or Graph, shape (n, n), any dtype
        Not modified.
    k : int >= 0
        Neighbours that each vertex of the core has inside of it.
    symmetric : bool
        The caller knows that the entries of `A` are symmetric.
    algorithm : {"auto", "peel", "buckets"}
        As of `core_number`.
    **opts
        Options of the products.

    Returns
    -------
    KCoreResult
        ``degree``: INT32 (INT64 from 2**31 vertices), entries at the vertices of the core;
        ``count``, ``iterations``, ``trace``.

    Raises
    ------
    DimensionMismatch
        `A` is not square.
    InvalidValue
        `k` is negative or no integer, or as of `core_number`.

    Notes
    -----
    As `core_number`, which finds the cores of all k with one loop. ``buckets`` finds them all, and
    counts the neighbours inside of one.

    References
    ----------
    S. Seidman, *Network structure and minimum degree*, Social Networks 5, 1983.

    Examples
    --------
    >>> A = Matrix.from_coo([0, 1, 2, 2], [1, 2, 0, 3], nrows=5, ncols=5)
    >>> k_core(A, 2).degree.to_dict()
    {0: 2, 1: 2, 2: 2}
    """
    n = check_square(A, "k_core", opts)
    # Nobody has n neighbours: a larger k asks for no less.
    k = min(check_count(k, "k"), n)
    if is_sequential(A, algorithm, _ALGORITHMS, opts):
        return KCoreResult(1, (), _degrees_inside(undirected(A, symmetric), k))
    edges, degree = _degrees(A, symmetric)

    def peel() -> Any:
        shell = degree.select(select.valuelt, k).new()
        _take_off(shell, edges, degree, opts)
        return shell.nvals > 0

    def fall() -> None:
        _fall_together(k - 1, edges, degree, opts)

    return KCoreResult(*_run(peel, fall, degree), degree)


def _degrees(A: Matrix, symmetric: bool) -> tuple[Matrix, Vector]:
    """Return the edges in both directions without self-loops, and how many each vertex has."""
    edges: Matrix = undirected(A, symmetric).select(select.offdiag).new()
    number = vertex_dtype(A.nrows)
    with device(A.device):
        ones, degree = (Vector(number, A.nrows) for _ in range(2))

    def count() -> None:
        ones << 1
        degree << 0
        degree(accum=binary.plus) << edges.mxv(ones, semiring.plus_second[number])

    # Recorded like a loop: one launch, which nothing waits for.
    fused(count)
    return edges, degree


def _degrees_inside(edges: Matrix, k: int) -> Vector:
    """Return the degrees of the vertices of a core inside of it, from their core numbers."""
    degree: Vector = cores(edges).select(select.valuege, k).new()
    inside = degree.dup()
    degree << degree.apply(binary.times, right=0)
    others: Matrix = edges.select(select.offdiag).new()
    # degree<degree> += edges plus.pair inside
    count = semiring.plus_pair[degree.dtype]
    degree(mask=degree.S, accum=binary.plus) << others.mxv(inside, count)
    return degree


def _run(
    peel: Callable[[], Any], fall: Callable[[], None], degree: Vector
) -> tuple[int, Sequence[TraceRow]]:
    """Repeat `peel` to its end, with `fall` in between; return the iterations and their trace."""
    patience = _PATIENCE
    loop = finished(repeat(peel, max_iterations=patience))
    iterations, trace = loop.iterations, loop.trace
    before = int(degree.nvals) if loop.stopped_by == "limit" else 0
    while loop.stopped_by == "limit":
        # Where falling does not help, it costs little beside the iterations.
        patience *= 4
        loop = finished(repeat(peel, max_iterations=patience))
        iterations, trace = iterations + loop.iterations, Chained(trace, loop.trace)
        left = int(degree.nvals) if loop.stopped_by == "limit" else 0
        if left * patience > _MANY * (before - left):
            fall()
            left = int(degree.nvals)
        before = left
    return iterations, trace


def _fall_together(
    k: int, edges: Matrix, degree: Vector, opts: ProductOptions, core: Vector | None = None
) -> None:
    """Remove components of vertices of degree k + 1 or less that have one of degree k or less.

    Their core number is k. It goes on with what is left, while that takes off many.
    """
    n = degree.size
    fallen = n
    while fallen * _SHARE >= max(n, 1):
        thin, first = (degree.select(select.valuele, most).new() for most in (k + 1, k))
        # The edges among the thin ones: diag(thin) edges diag(thin)
        only = thin.diag()
        among = only.mxm(edges, semiring.any_pair).new().mxm(only, semiring.any_pair).new()
        label = connected_components(among, symmetric=True).label
        falls = Vector(bool, n)
        falls.scatter(label, first.apply(unary.one["BOOL"]).new())
        shell = falls.gather(label).new()
        fallen = int(shell.nvals)
        if core is not None:
            core(shell.S) << k
        _take_off(shell, edges, degree, opts)


def _take_off(shell: Vector, edges: Matrix, degree: Vector, opts: ProductOptions) -> None:
    """Remove vertices, and lower the degrees of the others by the edges to them."""
    degree(~shell.S, replace=True) << degree
    # degree<degree> -= shell plus.pair edges
    lost = shell.vxm(edges, semiring.plus_pair[degree.dtype])
    degree(mask=degree.S, accum=binary.minus, **opts) << lost
