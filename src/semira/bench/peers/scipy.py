"""SciPy's graph routines (single-threaded), and its products where it has no routine."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components, dijkstra

from semira.bench.graphs import BenchGraph
from semira.bench.libraries import Entry, Library
from semira.bench.triangles import MAX_FLOPS, count_flops, orient
from semira.bench.verify import DAMPING, TOLERANCE

#: Dijkstra's heap needs minutes beyond.
_MAX_SSSP_ENTRIES = 100_000_000

#: Iterations of PageRank, as ours.
_MAX_ITERATIONS = 100


def _bfs(matrix: Any, source: int) -> Any:
    return breadth_first_order(matrix, source)


def _levels(result: Any, graph: BenchGraph) -> NDArray[Any]:
    """Return levels from the order and the predecessors."""
    order, predecessors = result
    place = np.zeros(graph.n, np.int64)
    place[order] = np.arange(len(order))
    # In this order the places of the parents rise: a level ends where they leave the one before.
    parents = place[predecessors[order[1:]]]
    level = np.full(graph.n, -1, np.int64)
    start, stop, depth = 0, 1, 0
    while start < stop:
        level[order[start:stop]] = depth
        start, stop = stop, 1 + int(np.searchsorted(parents, stop, side="left"))
        depth += 1
    return level


def _sssp(matrix: Any, source: int) -> Any:
    return dijkstra(matrix, indices=source)


def _refuse_sssp(graph: BenchGraph) -> str | None:
    too_many = graph.arrays.nvals > _MAX_SSSP_ENTRIES
    return f"over {_MAX_SSSP_ENTRIES:,} entries" if too_many else None


def reversed_pattern(graph: BenchGraph) -> Any:
    """Return ones at the entries of the transpose, a SciPy array."""
    pattern = csr_array(graph.weighted.transpose())
    pattern.data[:] = 1
    return pattern


def power_iteration(pulled: Any, out: Any, xp: Any) -> Any:
    """Return PageRank by products with a sparse matrix, everything by `xp`."""
    n = len(out)
    scale = xp.where(out > 0, DAMPING / xp.maximum(out, 1), 0)
    sinks = out == 0
    rank = xp.full(n, 1 / n)
    for _ in range(_MAX_ITERATIONS):
        base = (DAMPING * rank[sinks].sum() + 1 - DAMPING) / n
        fresh = pulled @ (rank * scale) + base
        change = xp.abs(fresh - rank).sum()
        rank = fresh
        if change <= TOLERANCE:
            break
    return rank


def _pagerank(objects: Any, _source: int) -> Any:
    pulled, out = objects
    return power_iteration(pulled, out, np)


def _components(matrix: Any, _source: int) -> Any:
    return connected_components(matrix, directed=False)[1]


def _triangles(lower: Any, _source: int) -> Any:
    return (lower @ lower).multiply(lower).sum()


def _refuse_triangles(graph: BenchGraph) -> str | None:
    flops = count_flops(orient(graph))
    return f"{flops:,} multiplications without a mask" if flops > MAX_FLOPS else None


def _itself(result: Any, _graph: BenchGraph) -> NDArray[Any]:
    return np.atleast_1d(result)


def _weighted(graph: BenchGraph) -> Any:
    return graph.weighted.copy()


def open_library(_threads: int) -> Library:
    """Return SciPy."""
    return Library(
        "scipy",
        {
            "bfs": Entry(_weighted, _bfs, _levels),
            "sssp": Entry(_weighted, _sssp, _itself, _refuse_sssp),
            "pagerank": Entry(
                lambda graph: (reversed_pattern(graph), graph.degrees), _pagerank, _itself
            ),
            "cc": Entry(_weighted, _components, _itself),
            "tc": Entry(orient, _triangles, _itself, _refuse_triangles),
        },
        {"bfs": "INT32", "sssp": "FP64", "pagerank": "FP64", "cc": "INT32", "tc": "INT64"},
    )
