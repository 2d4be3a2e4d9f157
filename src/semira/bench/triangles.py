"""Counting triangles again: by a product in SciPy, or on the GPU by a search for every edge."""

from __future__ import annotations

from typing import Any

import numpy as np

from semira.bench.graphs import BenchGraph

#: Multiplications of the product that counts triangles again; more are not worth the wait.
MAX_FLOPS = 300_000_000

#: A warp an oriented edge: each vertex of the shorter list is looked up in the longer one.
SOURCE = r"""
extern "C" __global__ void count_triangles(const long long* starts, const int* tails,
                                           const int* heads, long long edges,
                                           unsigned long long* total) {
  const long long stride = static_cast<long long>(gridDim.x) * blockDim.x / 32;
  long long edge = (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
  unsigned long long found = 0;
  for (; edge < edges; edge += stride) {
    long long first = starts[tails[edge]], end = starts[tails[edge] + 1];
    long long left = starts[heads[edge]], right = starts[heads[edge] + 1];
    if (end - first > right - left) {
      const long long a = first, b = end;
      first = left, end = right, left = a, right = b;
    }
    for (long long at = first + threadIdx.x % 32; at < end; at += 32) {
      const int wanted = heads[at];
      long long low = left, high = right;
      while (low < high) {
        const long long middle = low + (high - low) / 2;
        if (heads[middle] < wanted) low = middle + 1; else high = middle;
      }
      found += low < right && heads[low] == wanted;
    }
  }
  if (found) atomicAdd(total, found);
}
"""
_THREADS, _BLOCKS = 256, 4096


def count_flops(lower: Any) -> int:
    """Return the multiplications of ``lower @ lower`` for a SciPy array by rows."""
    return int(np.diff(lower.indptr)[lower.indices].astype(np.int64).sum())


def orient(graph: BenchGraph) -> Any:
    """Return each edge of the undirected graph once, towards its end of higher degree."""
    from scipy.sparse import csr_array, tril

    whole = graph.undirected
    order = np.argsort(-whole.degrees, kind="stable")
    place = np.empty(graph.n, np.int64)
    place[order] = np.arange(graph.n)
    rows, cols = place[whole.arrays.entry_major()], place[whole.arrays.indices]
    pattern = csr_array((np.ones(len(rows), np.int64), (rows, cols)), shape=(graph.n, graph.n))
    return csr_array(tril(pattern, -1))


def oriented_lists(graph: BenchGraph) -> tuple[Any, Any, Any]:
    """Return (starts, tails, heads) of `orient`, made by and for the graph's array module."""
    xp, whole = graph.xp, graph.undirected
    place = xp.empty(graph.n, np.int64)
    place[xp.argsort(-whole.out_degrees)] = xp.arange(graph.n)
    keys = place[whole.tails] * graph.n + place[whole.heads]
    keys = xp.sort(keys[keys % graph.n < keys // graph.n])
    tails, heads = keys // graph.n, keys % graph.n
    starts = xp.zeros(graph.n + 1, np.int64)
    starts[1:] = xp.cumsum(xp.bincount(tails, minlength=graph.n))
    return starts, tails.astype(np.int32), heads.astype(np.int32)


def count_triangles(graph: BenchGraph) -> tuple[int | None, str]:
    """Return the triangles and how they were counted; None if that would take too long."""
    if graph.xp is not np:
        return _count_on_device(graph), "a search for every edge on the device"
    lower = orient(graph)
    if count_flops(lower) > MAX_FLOPS:
        return None, ""
    return int((lower @ lower).multiply(lower).sum()), "an unmasked product in SciPy"


def _count_on_device(graph: BenchGraph) -> int:
    xp = graph.xp
    starts, tails, heads = oriented_lists(graph)
    total = xp.zeros(1, np.uint64)
    kernel = xp.RawKernel(SOURCE, "count_triangles")
    kernel((_BLOCKS,), (_THREADS,), (starts, tails, heads, np.int64(len(tails)), total))
    return int(total[0])
