"""NetworkX: pure Python, for small graphs."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from semira.bench.graphs import BenchGraph
from semira.bench.libraries import Entry, Library, dense
from semira.bench.verify import DAMPING, TOLERANCE

#: Beyond, making the graph alone takes many seconds and gigabytes.
_MAX_ENTRIES = 1_000_000

#: Longest call.
_LIMIT_S = 10.0


def _refuse(graph: BenchGraph) -> str | None:
    return f"over {_MAX_ENTRIES:,} entries" if graph.arrays.nvals > _MAX_ENTRIES else None


def _directed(graph: BenchGraph) -> Any:
    return nx.from_scipy_sparse_array(graph.weighted, create_using=nx.DiGraph)


def _undirected(graph: BenchGraph) -> Any:
    return nx.from_scipy_sparse_array(graph.weighted, create_using=nx.Graph)


def _bfs(made: Any, source: int) -> Any:
    return nx.single_source_shortest_path_length(made, source)


def _sssp(made: Any, source: int) -> Any:
    return nx.single_source_dijkstra_path_length(made, source)


def _pagerank(made: Any, _source: int) -> Any:
    # Its tolerance is per vertex.
    tol = TOLERANCE / made.number_of_nodes()
    return nx.pagerank(made, alpha=DAMPING, tol=tol, weight=None)


def _components(made: Any, _source: int) -> Any:
    return list(nx.connected_components(made))


def _triangles(made: Any, _source: int) -> Any:
    return sum(nx.triangles(made).values()) // 3


def _from_dict(missing: Any, dtype: Any) -> Any:
    def answer(result: dict[int, Any], graph: BenchGraph) -> NDArray[Any]:
        return dense(list(result), list(result.values()), graph.n, missing, dtype)

    return answer


def _labels(result: Any, graph: BenchGraph) -> NDArray[Any]:
    label = np.full(graph.n, -1, np.int64)
    for members in result:
        label[list(members)] = min(members)
    return label


def _count(result: Any, _graph: BenchGraph) -> NDArray[Any]:
    return np.array([result])


def open_library(_threads: int) -> Library:
    """Return NetworkX."""
    rows = {
        "bfs": (_directed, _bfs, _from_dict(-1, np.int64)),
        "sssp": (_directed, _sssp, _from_dict(np.inf, np.float64)),
        "pagerank": (_directed, _pagerank, _from_dict(np.nan, np.float64)),
        "cc": (_undirected, _components, _labels),
        "tc": (_undirected, _triangles, _count),
    }
    return Library(
        "networkx",
        {kernel: Entry(*row, _refuse, _LIMIT_S) for kernel, row in rows.items()},
        {"bfs": "int", "sssp": "float", "pagerank": "FP64", "cc": "int", "tc": "int"},
    )
