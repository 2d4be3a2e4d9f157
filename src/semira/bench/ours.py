"""Semira as a library of the measurements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.bench.graphs import BenchGraph
from semira.bench.libraries import FROM_SOURCE, KERNELS, UNDIRECTED, Entry, Library, dense
from semira.bench.verify import DAMPING, TOLERANCE

#: Function in `semira.algorithms`, main field, dtype of its values, value where there is none.
_ALGORITHMS: dict[str, tuple[str, str, str, Any]] = {
    "bfs": ("bfs", "level", "INT32", -1),
    "sssp": ("sssp", "distance", "FP64", np.inf),
    "pagerank": ("pagerank", "rank", "FP64", np.nan),
    "cc": ("connected_components", "label", "INT32", -1),
    "tc": ("triangle_count", "count", "INT64", 0),
}

#: Arguments that say the same as what the peers are given.
_FIXED: dict[str, dict[str, Any]] = {
    "pagerank": {"damping": DAMPING, "tol": TOLERANCE},
    **{kernel: {"symmetric": True} for kernel in UNDIRECTED},
}


def _run(kernel: str, plan: dict[str, Any]) -> Callable[[Any, int], Any]:
    from semira import algorithms

    name, field, _, _ = _ALGORITHMS[kernel]
    function = getattr(algorithms, name)
    options = _FIXED.get(kernel, {}) | plan

    def run(matrix: Any, source: int) -> Any:
        places = (source,) if kernel in FROM_SOURCE else ()
        result = function(matrix, *places, **options)
        if kernel != "tc":
            getattr(result, field).wait()
        return result

    return run


def _answer(kernel: str) -> Callable[[Any, BenchGraph], NDArray[Any]]:
    _, field, _, missing = _ALGORITHMS[kernel]

    def answer(result: Any, graph: BenchGraph) -> NDArray[Any]:
        if kernel == "tc":
            return np.array([result.count])
        indices, values = getattr(result, field).to_coo()
        return dense(indices, values, graph.n, missing, values.dtype)

    return answer


def _inspect(result: Any) -> dict[str, Any]:
    methods = Counter(row.method for row in result.trace)
    return {"ran": dict(methods), "iterations": result.iterations}


def semira_library(device: str = "cpu", plan: dict[str, Any] | None = None) -> Library:
    """Return Semira on a device.

    Parameters
    ----------
    device : str
    plan : dict, optional
        Options of the products of every algorithm, such as ``{"direction": "push"}``; by
        default the planner chooses.
    """

    def prepare(graph: BenchGraph) -> Any:
        # A copy of its own: what one kernel's first call builds, the next one's builds again.
        return graph.matrix.to(device)

    return Library(
        "semira",
        {kernel: Entry(prepare, _run(kernel, plan or {}), _answer(kernel)) for kernel in KERNELS},
        {kernel: row[2] for kernel, row in _ALGORITHMS.items()},
        device,
        plan or {},
        _inspect,
    )
