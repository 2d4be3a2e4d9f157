"""Scan statistics: by the triangles of oriented edges, or neighbourhood by neighbourhood."""

from __future__ import annotations

from typing import Any

import numpy as np

from semira import Matrix, Vector, binary, device, dtypes, free_memory, select, semiring
from semira.algorithms.neighbours import by_rows
from semira.algorithms.oriented_edges import Oriented, oriented_edges, rising
from semira.algorithms.triangle_kernels import add_corners, at_vertices
from semira.apps.scan_statistics.problem import Problem, shift_of, units_of
from semira.kernels import ArrayKernel, array_module, rows_of

_THREADS = 256
_scan = ArrayKernel(
    "semira.apps.scan_statistics.kernels:scan", "scan", lanes=_THREADS, threads=_THREADS
)
_row_work = ArrayKernel("semira.apps.products.kernels:rows", "row_work", lanes=32)

#: Most blocks of threads on a GPU.
_MOST = 1056

_INT = dtypes.INT64


def worker_bytes(n: int) -> int:
    """Return the bytes of a thread of the host, or a block of a GPU: a list and a mark a vertex."""
    return 9 * n


def solved(problem: Problem) -> tuple[Vector, int]:
    """Return the statistic of each vertex in units, and how many times these were doubled."""
    shift = shift_of(problem.edges) if problem.weighted else 0
    if problem.k == 0 and not problem.is_given:
        return _at_vertices(problem, shift), shift
    if problem.is_own and not problem.is_given and problem.is_undirected and problem.k == 1:
        return _by_triangles(problem, shift), shift
    return _by_neighbourhoods(problem, shift), shift


def _edges_of(problem: Problem, shift: int) -> Matrix:
    """Return what is counted, with integers as weights if they are."""
    return units_of(problem.edges, shift) if problem.weighted else problem.edges


def _sums(problem: Problem) -> tuple[Any, Any]:
    """Return the semirings that add up the values of rows, and of columns."""
    if problem.weighted:
        return semiring.plus_first[_INT], semiring.plus_second[_INT]
    return semiring.plus_pair[_INT], semiring.plus_pair[_INT]


def _at_vertices(problem: Problem, shift: int) -> Vector:
    """Return the weights of the edges at each vertex, of another graph those that both have."""
    edges = _edges_of(problem, shift)
    if not problem.is_own:
        edges = edges.dup(mask=problem.us.S)
    of_rows, of_columns = _sums(problem)
    with device(edges.device):
        found, ones = Vector(_INT, edges.nrows), Vector.from_scalar(1, edges.nrows, _INT)
    found << 0
    if problem.mode != "in":
        found(binary.plus, **by_rows(edges, "pull")) << edges.mxv(ones, of_rows)
    if problem.mode in ("in", "all"):
        found(binary.plus, **by_rows(edges, "push")) << ones.vxm(edges, of_columns)
    if problem.mode == "all":
        # A loop is one edge, and was met at both ends.
        loops = edges.select(select.diag).new()
        found(binary.minus, **by_rows(loops, "pull")) << loops.mxv(ones, of_rows)
    return found


def _by_triangles(problem: Problem, shift: int) -> Vector:
    """Return the edges at each vertex, and those opposite to it in a triangle."""
    edges, weighted, where = problem.edges, problem.weighted, problem.edges.device
    if weighted:
        rising = edges.derived("rising units", lambda: _rising(units_of(edges, shift)))
        graph = Oriented(rising, by_degree=True)
    else:
        graph = oriented_edges(problem.us, symmetric=True, order="auto")
    with device(where), array_module(where) as xp:
        total = xp.zeros(edges.nrows, xp.int64)
        add_corners(graph.edges, total, times=1, weighted=weighted)
        found = Vector.from_dense(at_vertices(graph, total))
    _add_loops(problem, shift, found)
    return found


def _rising(edges: Matrix) -> Matrix:
    """Return each edge once, towards its end of higher degree."""
    with device(edges.device):
        ones = Vector.from_scalar(1, edges.nrows, _INT)
    degrees = edges.mxv(ones, semiring.plus_pair[_INT]).new()
    return edges.dup(mask=rising(edges, degrees).S)


def _add_loops(problem: Problem, shift: int, found: Vector) -> None:
    """Add the loops of neighbours; a vertex with a loop is its own neighbour."""
    edges = problem.edges
    loops: Matrix = edges.derived("loops", lambda: edges.select(select.diag).new())
    if loops.nvals == 0:
        return
    if problem.weighted:
        loops = units_of(loops, shift)
    with device(edges.device):
        ones = Vector.from_scalar(1, edges.nrows, _INT)
    mine = loops.mxv(ones, _sums(problem)[0]).new()
    found(binary.plus) << edges.mxv(mine, semiring.plus_second[_INT])


def _by_neighbourhoods(problem: Problem, shift: int) -> Vector:
    """Return the weight of the edges within each neighbourhood, a list of vertices at a time."""
    near, edges, n = problem.near, _edges_of(problem, shift), problem.edges.nrows
    with array_module(near.device) as xp:
        lists, rows = rows_of(near, values=False), rows_of(edges, values=problem.weighted)
        count = near.nrows
        out, sizes, work = (xp.empty(count, xp.int64) for _ in range(3))
        given = (lists.indptr, lists.indices, rows.indptr)
        _row_work(count, *given, work, device=near.device, work=lists.indptr)
        values = rows.values if problem.weighted and len(rows.indices) else xp.ones(1, xp.int64)
        arguments = (
            lists.indptr, lists.indices, min(problem.k, n), not problem.is_given, rows.indptr,
            rows.indices, values, int(len(values) > 1), problem.is_undirected, out, sizes, n,
        )  # fmt: skip
        if near.device == "cuda":
            free = free_memory(near.device) or 1 << 34
            workers = max(1, min(_MOST, count, free // 4 // max(worker_bytes(n), 1)))
            order = xp.ascontiguousarray(xp.argsort(-work))
            room = xp.empty(max(workers * n, 1), xp.int32)
            bits = xp.zeros(1 + workers * ((n + 31) // 32), xp.uint32)
            _scan(count, order, *arguments, workers, room, bits, device=near.device)
            return Vector.from_dense(out, device=near.device)
        totals = np.zeros(count + 1, np.int64)
        np.cumsum(work, out=totals[1:])
        scratch = [(np.uint8, n, 0), (np.int64, n, None)]
        _scan(
            count, work, *arguments, 0, work, work, device=near.device, work=totals,
            host_scratch=lambda: scratch, stops=True,
        )  # fmt: skip
        return Vector.from_dense(out, device=near.device)
