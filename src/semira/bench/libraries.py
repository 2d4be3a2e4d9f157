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
    """One algorithm of one library.

    Attributes
    ----------
    prepare : callable
        Graph to the library's own objects: everything a user of it would have at hand. For
        `UNDIRECTED` kernels it is given the undirected graph.
    run : callable
        (objects, source) to a complete result.
    answer : callable
        (result, graph) to an array in the form that `semira.bench.verify` checks.
    refuse : callable
        Graph to a reason not to try, or None.
    limit_s : float or None
        Longest call.
    """

    prepare: Callable[[BenchGraph], Any]
    run: Callable[[Any, int], Any]
    answer: Callable[[Any, BenchGraph], NDArray[Any]]
    refuse: Callable[[BenchGraph], str | None] = never
    limit_s: float | None = None


@dataclass(frozen=True, slots=True)
class Library:
    """A library and its algorithms.

    Attributes
    ----------
    name : str
    entries : mapping of str to Entry
        By kernel; absent: the library has no such algorithm.
    dtypes : mapping of str to str
        Of the results, by kernel.
    backend : str
        Device; "" for peers.
    plan : mapping
        Options that were pinned for every product.
    options : mapping of str to mapping
        By kernel: arguments that are not the usual ones.
    inspect : callable
        (kernel, result, objects, edges) to facts for the record (``ran``, ``iterations``, ...);
        edges as in `Record.edges`.
    profile : callable
        A call to what the device's clock says of it; {} without one.
    fresh : callable
        (kernel, graph, source) to facts about another first call; {}: nobody asked.
    """

    name: str
    entries: Mapping[str, Entry]
    dtypes: Mapping[str, str]
    backend: str = ""
    plan: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    inspect: Callable[[str, Any, Any, int], dict[str, Any]] = lambda _kernel, *_found: {}
    profile: Callable[[Callable[[], Any]], dict[str, Any]] = lambda _call: {}
    fresh: Callable[[str, BenchGraph, int], dict[str, Any]] = lambda _kernel, _graph, _source: {}


def dense(indices: Any, values: Any, size: int, missing: Any, dtype: Any) -> NDArray[Any]:
    """Return a sparse result as an array with `missing` where there is no entry."""
    made = np.full(size, missing, dtype)
    made[indices] = values
    return made
