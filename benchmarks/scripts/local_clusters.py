"""Local clusters of random seeds, beside NetworKit's PageRankNibble if it is installed.

Each row gives the least CPU and wall time of some calls for a seed, sweep included, and the median
conductance. On a GPU the wall time counts: a call returns when the clusters are known.

    python -m benchmarks.scripts.local_clusters coAuthorsDBLP.mtx --device cpu --seeds 20
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import semira as gb

_ALPHA, _RHO, _CALLS = 0.15, 1e-6, 5


def least(call: Callable[[], Any], calls: int) -> tuple[Any, float, float]:
    """Return the last result, and the least CPU and wall seconds of some calls."""
    cpu, wall, found = [], [], None
    for _ in range(calls):
        began = time.process_time(), time.perf_counter()
        found = call()
        cpu.append(time.process_time() - began[0])
        wall.append(time.perf_counter() - began[1])
    return found, min(cpu), min(wall)


def by_networkit(matrix: Any, seeds: np.ndarray) -> Callable[[], np.ndarray]:
    """Return a call that finds the conductance of NetworKit's clusters."""
    import networkit

    rows, columns, _ = matrix.to_coo()
    edges = rows < columns
    graph = networkit.GraphFromCoo(
        (rows[edges].astype(np.uint32), columns[edges].astype(np.uint32)), n=matrix.nrows
    )
    nibble = networkit.scd.PageRankNibble(graph, _ALPHA, _RHO)

    def call() -> Any:
        return [nibble.expandOneCommunity(int(seed)) for seed in seeds]

    return call


def conductance(matrix: Any, vertices: Any) -> float:
    """Return the conductance of a set."""
    indptr, indices, _ = matrix.to_csr()
    inside = np.zeros(matrix.nrows, bool)
    inside[list(vertices)] = True
    parts = [indices[indptr[v] : indptr[v + 1]] for v in vertices]
    volume = sum(map(len, parts))
    cut = sum(int((~inside[part]).sum()) for part in parts)
    return cut / min(volume, matrix.nvals - volume)


def main() -> None:
    """Print a row for each method."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("graph")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--seeds", type=int, default=20)
    asked = parser.parse_args()
    edges = gb.io.read(asked.graph)
    both = edges.ewise_add(edges.T, "any").new().select("offdiag").new()
    matrix = gb.Matrix.from_coo(*both.to_coo()[:2], True, nrows=both.nrows, device=asked.device)
    degrees = np.diff(both.to_csr()[0])
    random = np.random.default_rng(0)
    seeds = random.choice(np.flatnonzero(degrees), asked.seeds, replace=False)
    print("method     CPU ms a seed  wall ms a seed  median conductance")
    for method in ("push", "fista"):
        found, cpu, wall = least(
            lambda method=method: gb.apps.local_clusters(
                matrix, seeds, method=method, alpha=_ALPHA, rho=_RHO, symmetric=True
            ),
            _CALLS,
        )
        _print(method, cpu, wall, len(seeds), float(np.median(found.conductance)))
    try:
        call = by_networkit(both, seeds)
    except ImportError:
        return
    clusters, cpu, wall = least(call, 1)
    found = np.median([conductance(both, each) for each in clusters])
    _print("NetworKit", cpu, wall, len(seeds), float(found))


def _print(name: str, cpu: float, wall: float, seeds: int, found: float) -> None:
    print(f"{name:10} {1e3 * cpu / seeds:13.3f}  {1e3 * wall / seeds:14.3f}  {found:18.4f}")


if __name__ == "__main__":
    main()
