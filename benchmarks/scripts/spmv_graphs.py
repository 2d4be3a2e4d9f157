"""The graphs of `spmv_study`, generated on the GPU: patterns in compressed rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import cupy as cp
import numpy as np


@dataclass
class Graph:
    """A pattern in compressed rows, with the properties that variants need."""

    name: str
    size: int
    indptr: Any
    indices: Any
    skewed: bool
    keys: Any = None
    build: dict[str, Any] = field(default_factory=dict)

    @property
    def nvals(self) -> int:
        """Entries."""
        return int(self.indices.size)

    @property
    def mean(self) -> float:
        """Entries of a row."""
        return self.nvals / self.size

    @property
    def floor(self) -> float:
        """Microseconds at 4.2 TB/s for columns, offsets, vector and result."""
        return (4 * self.nvals + 12 * self.size) / 4.2e6


def graph_of(name: str, size: int, keys: Any, skewed: bool, keep: bool = False) -> Graph:
    """Return the graph of keys row << 32 | column."""
    keys.sort()
    fresh = cp.ones(len(keys), bool)
    fresh[1:] = keys[1:] != keys[:-1]
    keys = keys[fresh]
    del fresh
    counts = cp.bincount((keys >> cp.uint64(32)).astype(cp.int32), minlength=size)
    indptr = cp.zeros(size + 1, cp.int32)
    indptr[1:] = cp.cumsum(counts).astype(cp.int32)
    indices = (keys & cp.uint64(0xFFFFFFFF)).astype(cp.int32)
    return Graph(name, size, indptr, indices, skewed, keys if keep else None)


def packed(rows: Any, columns: Any) -> Any:
    """Return keys."""
    return rows.astype(cp.uint64) << cp.uint64(32) | columns.astype(cp.uint64)


def kronecker(library: Any, name: str, scale: int, factor: int, keep: bool = False) -> Graph:
    """Return a symmetric R-MAT graph with permuted vertices."""
    count, size = factor << scale, 1 << scale
    keys = cp.empty(count, cp.uint64)
    library["rmat"]((1056,), (256,), (keys, np.int64(count), np.int32(scale), np.uint64(7)))
    order = cp.argsort(cp.random.random(size, dtype=cp.float32)).astype(cp.uint32)
    rows = order[(keys >> cp.uint64(32)).astype(cp.int32)]
    columns = order[(keys & cp.uint64(0xFFFFFFFF)).astype(cp.int32)]
    del keys
    apart = rows != columns
    rows, columns = rows[apart], columns[apart]
    keys = cp.concatenate([packed(rows, columns), packed(columns, rows)])
    del rows, columns, apart
    return graph_of(name, size, keys, skewed=True, keep=keep)


def by_degree(graph: Graph | None, name: str) -> Graph:
    """Return the graph with its vertices ordered by decreasing degree."""
    if graph is None or graph.keys is None:
        raise ValueError(f"{name} is made from the graph before: name both")
    degrees = cp.diff(graph.indptr)
    rank = cp.empty(graph.size, cp.uint32)
    rank[cp.argsort(-degrees)] = cp.arange(graph.size, dtype=cp.uint32)
    rows = rank[(graph.keys >> cp.uint64(32)).astype(cp.int32)]
    columns = rank[graph.indices]
    graph.keys = None
    return graph_of(name, graph.size, packed(rows, columns), skewed=True)


def grid(name: str, side: int, share: float) -> Graph:
    """Return a grid that keeps a share of its edges: 1 keeps all, 0.63 resembles roads."""
    at = cp.arange(side * side, dtype=cp.int64)
    right, down = at[at % side < side - 1], at[: side * (side - 1)]
    rows = cp.concatenate([right, down])
    columns = cp.concatenate([right + 1, down + side])
    kept = cp.random.random(len(rows), dtype=cp.float32) < share
    rows, columns = rows[kept], columns[kept]
    keys = cp.concatenate([packed(rows, columns), packed(columns, rows)])
    return graph_of(name, side * side, keys, skewed=False)


def mesh(name: str, size: int, degree: int, reach: int) -> Graph:
    """Return rows of `degree` entries at most `reach` away, like a mesh in some order."""
    rows = cp.repeat(cp.arange(size, dtype=cp.int64), degree)
    away = cp.random.randint(-reach, reach + 1, size * degree)
    return graph_of(name, size, packed(rows, (rows + away) % size), skewed=False)


def web(name: str, size: int, mean: int) -> Graph:
    """Return rows of very different lengths, most entries near the diagonal, some in hubs."""
    draws = cp.random.random(size, dtype=cp.float64)
    lengths = cp.minimum(0.4 * mean * (1 - draws) ** -0.6, 500_000).astype(cp.int64)
    ends = cp.cumsum(lengths)
    total = int(ends[-1])
    rows = cp.searchsorted(ends, cp.arange(total), side="right")
    near = rows + cp.random.randint(-200, 201, total)
    far = (size * cp.random.random(total, dtype=cp.float64) ** 4).astype(cp.int64)
    far = far * 7919 % size
    is_near = cp.random.random(total, dtype=cp.float32) < 0.7
    return graph_of(name, size, packed(rows, cp.where(is_near, near % size, far)), skewed=True)
