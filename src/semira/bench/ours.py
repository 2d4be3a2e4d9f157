"""Semira as a library of the measurements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira import algorithms, tracing
from semira.base.dtypes import lookup_dtype
from semira.bench.device import PROFILED_S, QUEUED_S, profile_calls
from semira.bench.graphs import BenchGraph
from semira.bench.libraries import FROM_SOURCE, KERNELS, UNDIRECTED, Entry, Library, dense
from semira.bench.timer import clock
from semira.bench.traffic import ASYNCHRONOUS, least_bytes, settled_bytes, widths_of
from semira.bench.verify import DAMPING, TOLERANCE

#: Function in `semira.algorithms`, main field, dtype of its values, value where there is none.
ALGORITHMS: dict[str, tuple[str, str, str, Any]] = {
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


#: Arguments beside the usual ones that peers on the GPU are compared under: lengths and ranks in
#: 32 bits, so many iterations whatever they change, components in every way.
_TWENTY = {"tol": 0, "max_iterations": 20}
VARIANTS: dict[str, tuple[dict[str, Any], ...]] = {
    "sssp": ({"dtype": "FP32"},),
    "pagerank": (_TWENTY, {"dtype": "FP32", **_TWENTY}),
    "cc": ({"algorithm": "search"}, {"algorithm": "sample"}, {"algorithm": "spread"}),
}


#: What runs in the place of products on hosts, by kernel.
_LOOPS = {"cc": "union", "pagerank": "pass", "sssp": "dijkstra", "tc": "marks"}


def _run(kernel: str, plan: dict[str, Any]) -> Callable[[Any, int], Any]:
    name, field, _, _ = ALGORITHMS[kernel]
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
    _, field, _, missing = ALGORITHMS[kernel]

    def answer(result: Any, graph: BenchGraph) -> NDArray[Any]:
        if kernel == "tc":
            return np.array([result.count])
        indices, values = getattr(result, field).to_coo()
        return dense(indices, values, graph.n, missing, values.dtype)

    return answer


def _inspect(kernel: str, dtype: str, result: Any, matrix: Any, edges: int) -> dict[str, Any]:
    itemsize = lookup_dtype(dtype).itemsize
    widths = widths_of(kernel, matrix.dtype.itemsize, itemsize, int(matrix.nvals))
    facts = {"iterations": result.iterations}
    if kernel == "sssp" and result.method == ASYNCHRONOUS:
        # No products, so no trace of what they read; the rounds of a block are no levels either.
        moved = settled_bytes(int(result.distance.nvals), edges, widths)
        return {**facts, "ran": {ASYNCHRONOUS: 1}, "least_bytes": moved}
    if kernel in _LOOPS and not len(result.trace):
        # A loop of the host over the entries: no products either.
        moved = result.iterations * settled_bytes(matrix.nrows, int(matrix.nvals), widths)
        return {**facts, "ran": {_LOOPS[kernel]: result.iterations}, "least_bytes": moved}
    return {
        **facts,
        "ran": dict(Counter(row.method for row in result.trace)),
        "least_bytes": least_bytes(result.trace, widths),
        "touched": sum(row.touched for row in result.trace),
    }


def fresh_call(entry: Entry, graph: BenchGraph, source: int) -> dict[str, Any]:
    """Return facts about a first call on a matrix of its own, the kernels loaded.

    ``put_s`` until the matrix is on the device, ``fresh_s`` of the call, ``kept``: bytes by name
    that it left at the matrix beside its arrays, ``matrix``: the dtype of the entries, and
    ``state``: those of the vectors that its programs carry, unless the call is a long one.
    """
    matrix, put_s = clock(lambda: entry.prepare(graph))
    before = matrix.memory_usage()
    _, fresh_s = clock(lambda: entry.run(matrix, source))
    after = matrix.memory_usage()
    grown = {name: size - before.get(name, 0) for name, size in after.items()}
    facts = {
        "put_s": put_s,
        "fresh_s": fresh_s,
        "kept": {name: size for name, size in grown.items() if size},
        "matrix": matrix.dtype.name,
    }
    if fresh_s > PROFILED_S:
        # Another such call is not worth the wait.
        return facts
    with tracing() as trace:
        entry.run(matrix, source)
    slots = [slot for program in trace.programs for slot in program.slots]
    state = {slot.dtype.name for slot in slots if slot.kind == "vector" and slot.role == "inout"}
    return {**facts, "state": ", ".join(sorted(state))}


def semira_library(
    device: str = "cpu",
    plan: dict[str, Any] | None = None,
    options: dict[str, dict[str, Any]] | None = None,
    *,
    fresh: bool = False,
) -> Library:
    """Return Semira on a device.

    `plan` has options of the products of every algorithm, such as ``{"direction": "push"}``; by
    default the planner chooses. `options` has, by kernel, arguments of the algorithm that are not
    the usual ones. Shortest paths in another dtype get lengths of that dtype as well. Records have
    the facts of `fresh_call` if `fresh`.
    """
    plan, options = plan or {}, options or {}
    chosen = {kernel: options.get(kernel, {}) for kernel in KERNELS}
    dtypes = {kernel: chosen[kernel].get("dtype", row[2]) for kernel, row in ALGORITHMS.items()}

    def entry(kernel: str) -> Entry:
        def prepare(graph: BenchGraph) -> Any:
            # A copy of its own: what one kernel's first call builds, the next one's builds again.
            is_recast = kernel == "sssp" and "dtype" in chosen[kernel]
            matrix = graph.matrix_in(dtypes[kernel]) if is_recast else graph.matrix
            return matrix.to(device)

        return Entry(prepare, _run(kernel, plan | chosen[kernel]), _answer(kernel))

    entries = {kernel: entry(kernel) for kernel in KERNELS}
    asked: dict[str, Any] = {}
    if fresh:
        asked["fresh"] = lambda kernel, *given: fresh_call(entries[kernel], *given)
    return Library(
        "semira",
        entries,
        dtypes,
        device,
        plan,
        {kernel: given for kernel, given in chosen.items() if given},
        lambda kernel, *found: _inspect(kernel, dtypes[kernel], *found),
        lambda call: profile_calls(device, call, held_s=QUEUED_S),
        **asked,
    )
