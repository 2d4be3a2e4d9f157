"""SuiteSparse:GraphBLAS through python-graphblas: the same formulas as ours.

Breadth-first search switches between push and pull by the size of the frontier, as LAGraph does
where it knows no degrees; everything else is left to SuiteSparse. Components are FastSV without
the sampling that LAGraph (and ours) put before it.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.bench.graphs import BenchGraph
from semira.bench.libraries import Entry, Library, dense
from semira.bench.verify import DAMPING, TOLERANCE

#: Pull while a growing frontier exceeds n / 8, push again once a shrinking one is below n / 512
#: (LAGraph's constants).
_TO_PULL = 8
_TO_PUSH = 512

_MAX_ITERATIONS = 100

#: Triangles: as ours, sort by degree from this mean degree and skew on.
_MEAN_DEGREE = 10
_SKEW = 1.3


def open_graphblas(threads: int) -> Any:
    """Return python-graphblas with so many threads."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import graphblas as gb

        try:
            gb.init("suitesparse", blocking=False)
        except gb.exceptions.GraphblasException:
            # Whoever used it before in this process has started it.
            if gb.backend != "suitesparse":
                raise
        gb.ss.config["nthreads"] = threads
    return gb


def _matrix(graph: BenchGraph, dtype: str = "BOOL") -> Any:
    import graphblas as gb

    arrays = graph.arrays.ordinary()
    values = 1 if dtype == "BOOL" else arrays.entry_values()
    return gb.Matrix.from_csr(
        arrays.indptr, arrays.indices, values, dtype, nrows=arrays.nrows, ncols=arrays.ncols
    )


def _both_ways(graph: BenchGraph) -> Any:
    made = _matrix(graph)
    return made, made if graph.is_symmetric else made.T.new().wait()


def _bfs(objects: Any, source: int) -> Any:
    import graphblas as gb

    pushed, pulled = objects
    n = pushed.nrows
    level = gb.Vector("INT32", n)
    frontier = gb.Vector.from_coo([source], True, size=n)
    any_pair = gb.semiring.any_pair["BOOL"]
    depth, size, is_pulling = 0, 1, False
    while size:
        level(frontier.S) << depth
        depth += 1
        # Dot products look the frontier up by index: without this they search in a list.
        frontier.ss.config["sparsity_control"] = "bitmap" if is_pulling else "sparse"
        product = pulled.mxv(frontier, any_pair) if is_pulling else frontier.vxm(pushed, any_pair)
        frontier(~level.S, replace=True) << product
        before, size = size, frontier.nvals
        if size > before:
            is_pulling = is_pulling or size > n / _TO_PULL
        else:
            is_pulling = is_pulling and size > n / _TO_PUSH
    return level.wait()


def _sssp(matrix: Any, source: int) -> Any:
    import graphblas as gb

    active = gb.Vector.from_coo([source], 0.0, "FP64", size=matrix.nrows)
    distance = active.dup()
    min_plus, ge = gb.semiring.min_plus["FP64"], gb.binary.ge["FP64"]
    while active.nvals:
        reached = active.vxm(matrix, min_plus).new()
        worse = reached.ewise_mult(distance, ge).new()
        active(~worse.V, replace=True) << reached
        distance(active.S) << active
    return distance.wait()


def _pagerank(objects: Any, _source: int) -> Any:
    import graphblas as gb

    matrix, pulled = objects
    n = matrix.nrows
    plus_second, plus = gb.semiring.plus_second["FP64"], gb.monoid.plus["FP64"]
    out = matrix.mxv(gb.Vector.from_scalar(1.0, n), plus_second).new()
    scale = out.apply(gb.binary.truediv, left=DAMPING).new()
    sinks = gb.Vector("FP64", n)
    sinks(~out.S) << 1
    # No edge reads the share of a sink; with an entry there, every vector below is full.
    scale(~out.S) << 1
    rank = gb.Vector.from_scalar(1 / n, n)
    for _ in range(_MAX_ITERATIONS):
        lost = rank.ewise_mult(sinks, gb.binary.first).reduce(plus).get(0.0)
        fresh = gb.Vector.from_scalar((DAMPING * lost + 1 - DAMPING) / n, n)
        share = rank.ewise_mult(scale, gb.binary.times).new()
        fresh(accum=gb.binary.plus) << pulled.mxv(share, plus_second)
        change = fresh.ewise_mult(rank, gb.binary.minus).apply(gb.unary.abs).reduce(plus).get(0.0)
        rank = fresh
        if change <= TOLERANCE:
            break
    return rank.wait()


def _components(matrix: Any, _source: int) -> Any:
    import graphblas as gb

    n = matrix.nrows
    offsets = np.arange(n + 1, dtype=np.uint64)
    parents = np.arange(n, dtype=np.uint64)
    parent = gb.Vector.from_dense(np.arange(n, dtype=np.int32))
    grand, offer = parent.dup(), parent.dup()
    min_second, least = gb.semiring.min_second["INT32"], gb.binary.min["INT32"]
    while True:
        # offer = min(offer, A min.second grand): the least grandparent among the neighbours
        offer(least) << matrix.mxv(grand, min_second)
        # Hook parents onto offers: entry (parent of i, i) of a matrix adds up by parent.
        hooks = gb.Matrix.from_csc(offsets, parents, True, nrows=n, ncols=n)
        parent(least) << hooks.mxv(offer, min_second)
        parent(least) << offer
        parent(least) << grand
        parents = parent.to_dense().astype(np.uint64)
        fresh = parent[parents].new()
        is_changed = fresh.ewise_mult(grand, gb.binary.ne).reduce(gb.monoid.lor).get(False)
        grand = fresh
        if not is_changed:
            return parent.wait()


def _triangles(matrix: Any, _source: int) -> Any:
    import graphblas as gb

    lower = gb.select.tril(matrix, -1).new()
    degree = matrix.reduce_rowwise(gb.agg.count).new().to_dense(0)
    if degree.mean() >= _MEAN_DEGREE and degree.mean() > _SKEW * np.median(degree):
        order = np.argsort(-degree, kind="stable")
        lower = gb.select.tril(matrix[order, order].new(), -1).new()
    found = gb.Matrix("INT64", matrix.nrows, matrix.ncols)
    found(lower.S) << lower.mxm(lower.T, gb.semiring.plus_pair["INT64"])
    return found.reduce_scalar(gb.monoid.plus).get(0)


def _from_vector(missing: Any) -> Any:
    def answer(result: Any, graph: BenchGraph) -> NDArray[Any]:
        indices, values = result.to_coo()
        return dense(indices, values, graph.n, missing, values.dtype)

    return answer


def _count(result: Any, _graph: BenchGraph) -> NDArray[Any]:
    return np.array([result])


def open_library(threads: int) -> Library:
    """Return SuiteSparse."""
    open_graphblas(threads)
    return Library(
        "suitesparse",
        {
            "bfs": Entry(_both_ways, _bfs, _from_vector(-1)),
            "sssp": Entry(lambda graph: _matrix(graph, "FP64"), _sssp, _from_vector(np.inf)),
            "pagerank": Entry(_both_ways, _pagerank, _from_vector(np.nan)),
            "cc": Entry(_matrix, _components, _from_vector(-1)),
            "tc": Entry(_matrix, _triangles, _count),
        },
        {"bfs": "INT32", "sssp": "FP64", "pagerank": "FP64", "cc": "INT32", "tc": "INT64"},
    )
