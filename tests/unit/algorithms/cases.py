"""Small graphs for the algorithm tests, and answers by brute force."""

from __future__ import annotations

import importlib
import pkgutil
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from tests.helpers import emulated
from tests.helpers.data import load_graph
from tests.helpers.every import every
from tests.helpers.hidden_sizes import hidden_sizes

import semira as gb
from semira import algorithms

#: Modules of the algorithms: what hides host reads watches the loops of all of them.
MODULES = tuple(found.name for found in pkgutil.iter_modules(algorithms.__path__))

#: Examples on the emulated GPU, at most: each launch takes a millisecond.
EMULATED = 20


def examples(max_examples: int) -> settings:
    """Return settings; a fixture that only names a device may serve every example."""
    return settings(
        max_examples=min(max_examples, EMULATED) if emulated.is_installed else max_examples,
        deadline=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture],
    )


@dataclass(frozen=True)
class Graph:
    """`edges` holds (from, to, weight); positions are distinct."""

    n: int
    edges: tuple[tuple[int, int, float], ...]

    def matrix(self, device: str, dtype: str = "FP64") -> gb.Matrix:
        """Return the adjacency matrix on `device`."""
        if device == "suitesparse":
            pytest.importorskip("graphblas")
        columns = list(zip(*self.edges, strict=True)) or [(), (), ()]
        rows, cols = (np.array(part, np.int64) for part in columns[:2])
        values = np.array(columns[2], np.float64)
        with gb.device(device):
            made = gb.Matrix.from_coo(rows, cols, values, nrows=self.n, ncols=self.n)
            return made if dtype == "FP64" else made.dup(dtype)

    def both_ways(self) -> Graph:
        """Return the graph with every edge in both directions."""
        found = {(i, j): w for i, j, w in self.edges}
        found |= {(j, i): w for (i, j), w in found.items()}
        return Graph(self.n, tuple((i, j, w) for (i, j), w in sorted(found.items())))


def unweighted(n: int, pairs: Any) -> Graph:
    return Graph(n, tuple((int(i), int(j), 1.0) for i, j in pairs))


def random_graph(n: int, count: int, seed: int) -> Graph:
    rng = np.random.default_rng(seed)
    cells = rng.choice(n * n, count, replace=False)
    weights = rng.integers(0, 9, count)
    return Graph(
        n, tuple((int(c) // n, int(c) % n, float(w)) for c, w in zip(cells, weights, strict=True))
    )


SHAPES = {
    "one vertex": Graph(1, ()),
    "one loop": unweighted(1, [(0, 0)]),
    "no edges": Graph(5, ()),
    "path": unweighted(6, [(i, i + 1) for i in range(5)]),
    "backward path": unweighted(6, [(i + 1, i) for i in range(5)]),
    "cycle": unweighted(5, [(i, (i + 1) % 5) for i in range(5)]),
    "star": unweighted(6, [(0, i) for i in range(1, 6)]),
    "star inwards": unweighted(6, [(i, 5) for i in range(5)]),
    "complete": unweighted(5, [(i, j) for i in range(5) for j in range(5) if i != j]),
    "two triangles": unweighted(7, [(0, 2), (2, 4), (4, 0), (1, 3), (3, 5), (5, 1)]),
    "loops only": unweighted(4, [(i, i) for i in range(4)]),
    "grid": unweighted(
        9,
        [(3 * r + c, 3 * r + c + 1) for r in range(3) for c in range(2)]
        + [(3 * r + c, 3 * r + c + 3) for r in range(2) for c in range(3)],
    ),
    "random": random_graph(30, 90, seed=3),
    "random dense": random_graph(12, 100, seed=4),
}

shapes = every("graph", SHAPES.values(), ids=SHAPES)


@st.composite
def graphs(draw: st.DrawFn, lightest: int = 0) -> Graph:
    """Draw a graph of 1 to 9 vertices with whole weights from `lightest` to 8."""
    weights = st.integers(lightest, 8)
    n = draw(st.integers(1, 9))
    vertex = st.integers(0, n - 1)
    found = draw(st.dictionaries(st.tuples(vertex, vertex), weights, max_size=24))
    return Graph(n, tuple((i, j, float(w)) for (i, j), w in sorted(found.items())))


def levels(graph: Graph, source: int) -> dict[int, int]:
    """Return the hops from `source`, by a queue."""
    found, queue = {source: 0}, deque([source])
    while queue:
        at = queue.popleft()
        for i, j, _ in graph.edges:
            if i == at and j not in found:
                found[j] = found[at] + 1
                queue.append(j)
    return found


def distances(graph: Graph, source: int) -> dict[int, float] | None:
    """Return shortest-path lengths, by n rounds over all edges; None if a cycle is negative."""
    found = {source: 0.0}
    for _ in range(graph.n):
        before = dict(found)
        for i, j, w in graph.edges:
            if i in before and before[i] + w < found.get(j, np.inf):
                found[j] = before[i] + w
        if found == before:
            return found
    return None


def components(graph: Graph) -> list[int]:
    """Return the smallest vertex of each vertex' weak component."""
    both = graph.both_ways()
    return [min(levels(both, vertex)) for vertex in range(graph.n)]


def triangles(graph: Graph) -> int:
    """Count triples of mutually connected vertices."""
    pairs = {frozenset((i, j)) for i, j, _ in graph.edges if i != j}
    return sum(
        {frozenset(two) for two in combinations(three, 2)} <= pairs
        for three in combinations(range(graph.n), 3)
    )


@contextmanager
def loops_without_host_reads(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Hide sizes while an algorithm's loop runs on the reference device; yields loops run."""
    ran: list[int] = []

    def hide(repeat: Callable[..., Any]) -> Callable[..., Any]:
        def hidden(*args: Any, **kwargs: Any) -> Any:
            ran.append(1)
            with hidden_sizes():
                return repeat(*args, **kwargs)

        return hidden

    with monkeypatch.context() as patch:
        for name in MODULES:
            module = importlib.import_module(f"semira.algorithms.{name}")
            for recorder in {"fused", "kept_loop", "repeat"} & vars(module).keys():
                patch.setattr(module, recorder, hide(getattr(module, recorder)))
        yield ran


def neighbours(graph: Graph) -> list[set[int]]:
    """Return the vertices connected to each vertex, in either direction, without itself."""
    near: list[set[int]] = [set() for _ in range(graph.n)]
    for i, j, _ in graph.edges:
        if i != j:
            near[i].add(j)
            near[j].add(i)
    return near


def hashes(n: int, seed: int) -> list[int]:
    """Return the priorities of vertices, by Python's integers."""
    start = int(np.random.SeedSequence(seed).generate_state(1)[0])
    return [_hash(vertex ^ start) for vertex in range(n)]


def _hash(h: int) -> int:
    h = (h ^ h >> 16) * 0x85EBCA6B & 0xFFFFFFFF
    h = (h ^ h >> 13) * 0xC2B2AE35 & 0xFFFFFFFF
    return h ^ h >> 16


def scan_order(n: int, seed: int) -> list[int]:
    """Return the vertices in falling order of their priorities."""
    numbers = hashes(n, seed)
    return sorted(range(n), key=lambda vertex: -numbers[vertex])


def real_matrix(name: str, device: str) -> gb.Matrix:
    """Return a real graph on `device`; skips where it is absent, or the device too slow."""
    if device == "reference":
        pytest.skip("the reference would take hours")
    return gb.io.from_edges(load_graph(name)).to(device)
