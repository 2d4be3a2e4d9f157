"""Scan statistics: how many edges lie near each vertex, and when that stands out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from semira import Matrix, binary, dtypes, unary
from semira.algorithms.checks import check_count
from semira.apps.named import takes_graph
from semira.apps.scan_statistics.problem import checked
from semira.apps.scan_statistics.result import LocalScan, ScanSeries
from semira.apps.scan_statistics.series import over_time
from semira.apps.scan_statistics.solve import solved, worker_bytes
from semira.apps.scan_statistics.subgraphs import by_function
from semira.apps.scan_statistics.vertices import among, joined
from semira.exceptions import DimensionMismatch, InvalidValue

if TYPE_CHECKING:
    from semira.io import Graph

__all__ = ["LocalScan", "ScanSeries", "local_scan", "memory", "scan_series"]


def memory(A: Matrix) -> int:
    """Return the bytes that each thread of a host, or block of a GPU, takes for neighbourhoods.

    Of undirected graphs and ``k=1``, each thread of a host takes 12 bytes a vertex, by weight 16; a
    GPU takes 4 an edge.

    Examples
    --------
    >>> memory(Matrix(bool, 1000, 1000))
    9000
    """
    return worker_bytes(A.nrows)


@takes_graph(them=among)
def local_scan(
    A: Matrix,
    /,
    them: Matrix | Graph | None = None,
    k: int = 1,
    *,
    mode: str = "undirected",
    weighted: bool = False,
    neighbourhoods: Matrix | None = None,
    symmetric: bool = False,
    function: Callable[[Matrix], Any] | None = None,
) -> LocalScan:
    """Return how many edges lie within the neighbourhood of each vertex.

    The neighbourhood of v is v and what is within `k` steps; with ``k=0`` the edges are those at v,
    its degree. Each edge counts once. With ``k=1`` of an undirected graph that is the degree of v
    and the triangles at v.

    Parameters
    ----------
    A : Matrix or Graph, shape (n, n), any dtype
        Entry (i, j) is the edge from i to j. Not modified.
    them : Matrix or Graph, shape (n, n), optional
        Another graph of the same vertices, by name if both have names: its edges are counted, in
        neighbourhoods of `A`. With ``k=0`` those that both graphs have.
    k : int >= 0
        Radius, in steps.
    mode : {"undirected", "out", "in", "all"}
        ``undirected``: entries (i, j) and (j, i) are one edge. Else each entry is an edge, and
        steps go along it, against it, or both ways.
    weighted : bool
        Add up the values of the edges; of an undirected graph both entries have the same.
    neighbourhoods : Matrix, shape (r, n), optional
        In place of `k` steps: the entries of row i are the vertices of set i.
    symmetric : bool
        The caller knows that `A` is symmetric: its entries are not taken in both directions.
    function : callable of a Matrix, optional
        In place of the edges: a real number for each neighbourhood, from the Matrix of the edges
        within it. Vertices keep their order; undirected edges are two entries, which are True
        unless `weighted`. With ``k=0`` that is the vertex and its loop. It must not be NaN.

    Returns
    -------
    LocalScan
        ``statistic``: INT64, FP64 for weights that are floats, and for a function; ``greatest``
        and its ``vertex``.

    Raises
    ------
    DomainMismatch, DimensionMismatch
        A graph is no square Matrix, or has other vertices; `function` returns no number.
    InvalidValue
        A parameter is out of range; `function` returns NaN.
    InvalidWeight
        A weight is not finite, or an undirected edge has two weights.

    Notes
    -----
    Of an undirected graph, with ``k=1``: each triangle is found once, along edges that lead to
    their end of higher degree, and its sides are added to the opposite corners, in O(nvals ** 1.5).
    What orients the edges stays with `A` (`Matrix.derived`). Everything else:
    a thread of the host, or a block of a GPU, lists one neighbourhood at a time and walks the rows
    of all its vertices. Floats are rounded to multiples of 2**-61 of (greatest weight x entries),
    and added as integers: the same bits on every device. A function is called once for each
    neighbourhood: calls of Python, and a small matrix for each.

    References
    ----------
    C. Priebe, J. Conroy, D. Marchette, Y. Park, *Scan statistics on Enron graphs*, Computational &
    Mathematical Organization Theory 11, 2005; ``local_scan`` of igraph for R.

    Examples
    --------
    >>> A = Matrix.from_coo([0, 0, 1, 2], [1, 2, 2, 3], nrows=4, ncols=4)
    >>> local_scan(A).values.tolist()
    [3, 3, 4, 1]
    >>> local_scan(A, mode="out").values.tolist()
    [3, 1, 1, 0]
    >>> local_scan(A, function=lambda near: near.nrows).values.tolist()
    [3.0, 3.0, 4.0, 2.0]
    """
    problem = checked(A, them, k, mode, weighted, neighbourhoods, symmetric)
    if function is not None:
        return LocalScan(by_function(problem, function), problem.k, mode)
    found, shift = solved(problem)
    if problem.weighted and problem.edges.dtype.kind == "F":
        whole = found.apply(unary.identity).new(dtypes.FP64)
        found = whole.apply(binary.times, right=2.0**-shift).new()
    return LocalScan(found, problem.k, mode)


def scan_series(
    graphs: Iterable[Matrix | Graph],
    /,
    tau: int = 1,
    ell: int = 0,
    *,
    locality: str = "us",
    k: int = 1,
    mode: str = "undirected",
    weighted: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> ScanSeries:
    """Return when, and where, the neighbourhood of a vertex has more edges than before.

    The local scan of each vertex is standardised by its mean and standard deviation (if it is above
    1) at the `tau` times before. The greatest over all vertices is standardised in the same way by
    those of the `ell` times before.

    Parameters
    ----------
    graphs : iterable of Matrix or Graph, each of shape (n, n)
        One for each time, in their order. Not modified. Of graphs that have names, the vertices are
        all names that one of them has.
    tau : int >= 0
        Times before by which vertices are standardised; 0: they are not.
    ell : int >= 0
        Times before by which the greatest value is; 0: it is not.
    locality : {"us", "them"}
        What is taken of the times before: the neighbourhoods and edges of each, or its edges in
        the neighbourhoods of the present time.
    k, mode, weighted
        As `local_scan`.
    progress : callable of (done, total), optional

    Returns
    -------
    ScanSeries
        ``statistic``, ``greatest`` and ``vertices`` of each time; ``time``.

    Raises
    ------
    InvalidValue
        A parameter is out of range, there is no graph, or only some have names.
    DimensionMismatch
        Graphs have other vertices than the first.

    Notes
    -----
    A local scan for each time, with ``locality="them"`` `tau` more. Standard deviations are those
    of samples; with one value it is 1.

    References
    ----------
    C. Priebe et al., *Scan statistics on Enron graphs*, 2005; H. Wang, M. Tang, Y. Park, C. Priebe,
    *Locality statistics for anomaly detection in time series of graphs*, IEEE Trans. Signal
    Processing 62, 2014; ``scan_stat`` of igraph for R.

    Examples
    --------
    A triangle appears at time 3:

    >>> quiet = Matrix.from_coo([0], [1], nrows=4, ncols=4)
    >>> loud = Matrix.from_coo([0, 0, 1], [1, 2, 2], nrows=4, ncols=4)
    >>> found = scan_series([quiet, quiet, quiet, loud], tau=2)
    >>> found.time, found.statistic.tolist()
    (3, [nan, nan, 0.0, 3.0])
    """
    listed, named = joined(list(graphs))
    if not listed:
        raise InvalidValue("scan_series: there is no graph; give one for each time")
    if locality not in ("us", "them"):
        raise InvalidValue(f"locality={locality!r} must be 'us' or 'them'")
    for number, each in enumerate(listed):
        if getattr(each, "shape", None) != getattr(listed[0], "shape", None):
            raise DimensionMismatch(
                f"graph {number} has shape {getattr(each, 'shape', None)}, the first one "
                f"{listed[0].shape}; all have the same vertices"
            )

    def scan(us: Matrix, them: Matrix | None) -> NDArray[np.float64]:
        found = local_scan(us, them, k, mode=mode, weighted=weighted)
        return found.values.astype(np.float64)

    steps = check_count(tau, "tau"), check_count(ell, "ell")
    made = over_time(listed, scan, *steps, locality, progress)
    return replace(made, graph=named)
