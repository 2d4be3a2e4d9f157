"""What a library must offer to take part in a measurement."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.bench.graphs import BenchGraph

#: The algorithms that are measured, in this order.
KERNELS = ("bfs", "sssp", "pagerank", "cc", "tc")

#: Those that start from a vertex.
FROM_SOURCE = ("bfs", "sssp")

#: Those that need every edge in both directions.
UNDIRECTED = ("cc", "tc")


def never(_graph: BenchGraph) -> str | None:
    """Refuse no graph."""
    return None


@dataclass(frozen=True, slots=True)
class Entry:
    """One algorithm of one library."""

    #: Graph to the library's own objects: everything a user of it would have at hand. For
    #: `UNDIRECTED` kernels it is given the undirected graph.
    prepare: Callable[[BenchGraph], Any]
    #: (objects, source) to a complete result.
    run: Callable[[Any, int], Any]
    #: (result, graph) to an array in the form that `semira.bench.verify` checks.
    answer: Callable[[Any, BenchGraph], NDArray[Any]]
    #: Graph to a reason not to try, or None.
    refuse: Callable[[BenchGraph], str | None] = never
    #: Longest call.
    limit_s: float | None = None


@dataclass(frozen=True, slots=True)
class Library:
    """A library and its algorithms."""

    name: str
    #: By kernel; absent: the library has no such algorithm.
    entries: Mapping[str, Entry]
    #: Of the results, by kernel.
    dtypes: Mapping[str, str]
    #: Device; "" for peers.
    backend: str = ""
    #: Options that were pinned for every product.
    plan: Mapping[str, Any] = field(default_factory=dict)
    #: By kernel: arguments that are not the usual ones.
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    #: (kernel, result, objects, edges) to facts for the record (``ran``, ``iterations``, ...);
    #: edges as in `Record.edges`.
    inspect: Callable[[str, Any, Any, int], dict[str, Any]] = lambda _kernel, *_found: {}
    #: A call to what the device's clock says of it; {} without one.
    profile: Callable[[Callable[[], Any]], dict[str, Any]] = lambda _call: {}
    #: (kernel, graph, source) to facts about another first call; {}: nobody asked.
    fresh: Callable[[str, BenchGraph, int], dict[str, Any]] = lambda _kernel, _graph, _source: {}


def dense(indices: Any, values: Any, size: int, missing: Any, dtype: Any) -> NDArray[Any]:
    """Return a sparse result as an array with `missing` where there is no entry."""
    made = np.full(size, missing, dtype)
    made[indices] = values
    return made
