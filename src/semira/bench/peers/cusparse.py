"""cuSPARSE through CuPy: algorithms that are products with a sparse matrix and no mask."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from semira.bench.graphs import BenchGraph
from semira.bench.libraries import Entry, Library
from semira.bench.peers.scipy import power_iteration, reversed_pattern


def _prepare(graph: BenchGraph) -> Any:
    import cupy
    from cupyx.scipy import sparse

    return sparse.csr_matrix(reversed_pattern(graph)), cupy.asarray(graph.degrees)


def _pagerank(objects: Any, _source: int) -> Any:
    import cupy

    pulled, out = objects
    rank = power_iteration(pulled, out, cupy)
    cupy.cuda.Device().synchronize()
    return rank


def _on_host(result: Any, _graph: BenchGraph) -> NDArray[Any]:
    import cupy

    found: NDArray[Any] = cupy.asnumpy(result)
    return found


def open_library(_threads: int) -> Library:
    """Return cuSPARSE."""
    return Library(
        "cusparse", {"pagerank": Entry(_prepare, _pagerank, _on_host)}, {"pagerank": "FP64"}
    )
