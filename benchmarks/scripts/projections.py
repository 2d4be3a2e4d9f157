"""Projections, scan statistics and nominations on a host, beside peers.

Each row gives the least CPU milliseconds of some warm calls, and those of a peer for the same
result: SciPy's whole product, its product at the places of the edges, its Dijkstra's algorithm from
several vertices; sparse_dot_topn for the greatest entries, if it is installed.

    python -m benchmarks.scripts.projections gowalla-lightgcn coAuthorsDBLP --data DIRECTORY
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import dijkstra

import semira as gb
from semira import apps

Cases = Iterator[tuple[str, Callable[[], Any], Callable[[], Any] | None]]


def least(call: Callable[[], Any], calls: int) -> float:
    """Return the least CPU seconds of some calls after a first one."""
    call()
    found = []
    for _ in range(calls):
        began = time.process_time()
        call()
        found.append(time.process_time() - began)
    return min(found)


def read(path: Path) -> sp.csr_array:
    """Return the pattern of a stored graph; an undirected one in both directions."""
    with np.load(path) as stored:
        rows, columns = (stored[name].astype(np.int64) for name in ("row", "col"))
        n = int(stored["n"]) if "n" in stored else 0
        shape = (int(stored["nrows"]), int(stored["ncols"])) if "nrows" in stored else (n, n)
        if "nrows" not in stored and not stored["directed"]:
            rows, columns = np.concatenate([rows, columns]), np.concatenate([columns, rows])
    made = sp.csr_array((np.ones(len(rows), np.int64), (rows, columns)), shape)
    made.sum_duplicates()
    made.data[:] = 1
    return made


def of_bipartite(there: sp.csr_array, matrix: Any) -> Cases:
    """Yield projections onto rows."""
    yield "projection", lambda: apps.project(matrix, "rows"), lambda: there @ there.T
    best = {"top": 10, "keep_diagonal": True}
    yield "projection, top 10", lambda: apps.project(matrix, "rows", **best), topmost(there)
    options = {"weight": "jaccard", "top": 10}
    yield "projection, jaccard, top 10", lambda: apps.project(matrix, "rows", **options), None
    yield "projection, threshold 5", lambda: apps.project(matrix, "rows", threshold=5), None


def topmost(there: sp.csr_array) -> Callable[[], Any] | None:
    """Return a call of sparse_dot_topn, if it is installed."""
    try:
        from sparse_dot_topn import sp_matmul_topn
    except ImportError:
        return None
    left, right = sp.csr_matrix(there), sp.csr_matrix(there.T)
    return lambda: sp_matmul_topn(left, right, top_n=10, n_threads=1)


def of_graph(there: sp.csr_array, matrix: Any) -> Cases:
    """Yield scans and nominations."""
    seeds = np.random.default_rng(0).choice(there.shape[0], 5, replace=False).tolist()
    yield (
        "scan statistics",
        lambda: apps.local_scan(matrix, symmetric=True),
        lambda: (there @ there).multiply(there).sum(1),
    )
    yield "scan statistics, weighted", lambda: apps.local_scan(matrix, weighted=True), None
    yield (
        "nomination, 5 seeds",
        lambda: apps.nominate(matrix, seeds).ranks,
        lambda: np.argsort(dijkstra(there, indices=seeds, min_only=True), kind="stable"),
    )
    yield (
        "nomination, 5 seeds, hops",
        lambda: apps.nominate(matrix, seeds, weighted=False).ranks,
        lambda: np.argsort(dijkstra(there, indices=seeds, min_only=True, unweighted=True)),
    )


def main() -> None:
    """Print a row for each case."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("graphs", nargs="+")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--calls", type=int, default=3)
    asked = parser.parse_args()
    print("| graph | what | CPU ms | peer, CPU ms |\n|---|---|---|---|")
    for name in asked.graphs:
        there = read(asked.data / f"{name}.npz")
        matrix = gb.Matrix.from_csr(there.indptr, there.indices, there.data, ncols=there.shape[1])
        is_square = there.shape[0] == there.shape[1]
        for what, ours, theirs in (of_graph if is_square else of_bipartite)(there, matrix):
            beside = "" if theirs is None else f"{1e3 * least(theirs, asked.calls):,.0f}"
            print(f"| {name} | {what} | {1e3 * least(ours, asked.calls):,.0f} | {beside} |")


if __name__ == "__main__":
    main()
