"""cuGraph through pylibcugraph, the thin layer of its Python package: the graph is on the device.

Written after its documented interface (26.10) and tested against a stand-in: no machine with
cuGraph was at hand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.bench.graphs import BenchGraph
from semira.bench.libraries import Entry, Library, dense
from semira.bench.verify import DAMPING, TOLERANCE

_MAX_ITERATIONS = 100


@dataclass(frozen=True, slots=True)
class _Graph:
    """A graph of cuGraph's, what it belongs to, and whether every edge goes both ways."""

    handle: Any
    graph: Any
    is_symmetric: bool


def _prepare(graph: BenchGraph, *, is_weighted: bool = False, is_pulled: bool = False) -> _Graph:
    """Return the edges on the device; `is_pulled`: by their heads, as PageRank wants them."""
    import cupy
    import pylibcugraph

    handle = pylibcugraph.ResourceHandle()
    # FP64, as ours: ranks take the dtype of the weights as well.
    weights = cupy.asarray(graph.lengths) if is_weighted else None
    if is_pulled:
        weights = cupy.ones(graph.arrays.nvals, np.float64)
    made = pylibcugraph.SGGraph(
        resource_handle=handle,
        graph_properties=pylibcugraph.GraphProperties(
            is_symmetric=graph.is_symmetric, is_multigraph=False
        ),
        src_or_offset_array=cupy.asarray(graph.tails),
        dst_or_index_array=cupy.asarray(graph.heads),
        # Vertices without edges are in no list of edges.
        vertices_array=cupy.arange(graph.n, dtype=np.int32),
        weight_array=weights,
        store_transposed=is_pulled,
        renumber=True,
        do_expensive_check=False,
    )
    return _Graph(handle, made, graph.is_symmetric)


def _finished(result: Any) -> Any:
    import cupy

    cupy.cuda.Device().synchronize()
    return result


def _bfs(made: _Graph, source: int) -> Any:
    import cupy
    import pylibcugraph

    sources = cupy.asarray(np.array([source], np.int32))
    levels, _, vertices = pylibcugraph.bfs(
        made.handle, made.graph, sources, made.is_symmetric, -1, False, False
    )
    return _finished((vertices, levels))


def _sssp(made: _Graph, source: int) -> Any:
    import pylibcugraph

    found = pylibcugraph.sssp(made.handle, made.graph, source, float("inf"), True, False)
    return _finished(found[:2])


def _pagerank(made: _Graph, _source: int) -> Any:
    import pylibcugraph

    found = pylibcugraph.pagerank(
        made.handle, made.graph, None, None, None, None, DAMPING, TOLERANCE, _MAX_ITERATIONS,
        False, fail_on_nonconvergence=False,
    )  # fmt: skip
    return _finished(found[:2])


def _components(made: _Graph, _source: int) -> Any:
    import pylibcugraph

    arguments = made.handle, made.graph, None, None, None, None, False
    return _finished(pylibcugraph.weakly_connected_components(*arguments))


def _triangles(made: _Graph, _source: int) -> Any:
    import pylibcugraph

    return _finished(pylibcugraph.triangle_count(made.handle, made.graph, None, False))


def _on_host(result: Any, graph: BenchGraph, missing: Any) -> NDArray[Any]:
    import cupy

    vertices, values = (cupy.asnumpy(each) for each in result)
    return dense(vertices, values, graph.n, missing, values.dtype)


def _levels(result: Any, graph: BenchGraph) -> NDArray[Any]:
    """Return levels; what was not reached has the largest number of its dtype."""
    found = _on_host(result, graph, -1)
    return np.where(found == np.iinfo(found.dtype).max, -1, found)


def _distances(result: Any, graph: BenchGraph) -> NDArray[Any]:
    found = _on_host(result, graph, np.inf)
    return np.where(found == np.finfo(found.dtype).max, np.inf, found)


def _values(result: Any, graph: BenchGraph) -> NDArray[Any]:
    return _on_host(result, graph, -1)


def _count(result: Any, graph: BenchGraph) -> NDArray[Any]:
    """Return the triangles: each is counted at its three corners."""
    return np.array([int(_on_host(result, graph, 0).astype(np.int64).sum()) // 3])


def open_library(_threads: int) -> Library:
    """Return cuGraph."""
    return Library(
        "cugraph",
        {
            "bfs": Entry(_prepare, _bfs, _levels),
            "sssp": Entry(lambda graph: _prepare(graph, is_weighted=True), _sssp, _distances),
            "pagerank": Entry(lambda graph: _prepare(graph, is_pulled=True), _pagerank, _values),
            "cc": Entry(_prepare, _components, _values),
            "tc": Entry(_prepare, _triangles, _count),
        },
        {"bfs": "INT32", "sssp": "FP64", "pagerank": "FP64", "cc": "INT32", "tc": "INT64"},
    )
