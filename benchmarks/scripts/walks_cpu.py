"""Steps a second of random walks on one thread, beside igraph and fastnode2vec if installed.

Examples
--------
python -m benchmarks.scripts.walks_cpu kron:14
"""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import semira as gb
from semira.base import settings
from semira.bench.graphs import load_bench_graph

#: Walkers of Semira, of its peers, and vertices of a walk.
WALKERS, FEW, LENGTH = 20_000, 2_000, 81


def rate(call: Callable[[], Any], walks: int) -> float:
    """Return million steps a second of processor time: the best of three, after one to compile."""
    call()
    best = float("inf")
    for _ in range(3):
        begin = time.process_time()
        call()
        best = min(best, time.process_time() - begin)
    return walks * (LENGTH - 1) / best / 1e6


def peers(pairs: Any, weights: Any, n: int, starts: Any) -> None:
    """Print what others take."""
    i, j = pairs
    try:
        igraph = importlib.import_module("igraph")
        once = i < j
        graph = igraph.Graph(n=n, edges=np.stack([i[once], j[once]], axis=1))
        found = rate(lambda: [graph.random_walk(int(v), LENGTH - 1) for v in starts], len(starts))
        print(f"igraph, uniform {found:.2f}")
    except ImportError as error:
        print(f"igraph: {error}")
    try:
        fast = importlib.import_module("fastnode2vec")
        edges = zip(i.tolist(), j.tolist(), weights.tolist(), strict=True)
        walks = fast.Graph(list(edges), directed=True, weighted=True)
        for p, q in ((1.0, 1.0), (0.5, 2.0)):
            walk = walks.generate_random_walk
            found = rate(lambda: [walk(LENGTH, p, q, int(v)) for v in starts], len(starts))  # noqa: B023
            print(f"fastnode2vec, weighted, p = {p}, q = {q}: {found:.2f}")
    except ImportError as error:
        print(f"fastnode2vec: {error}")


def main(name: str) -> None:
    """Print million steps a second of processor time."""
    settings.override(threads=1)
    matrix = load_bench_graph(name).undirected.matrix
    n = matrix.nrows
    i, j, _ = matrix.to_coo(values=False)
    i, j = i.astype(np.int64), j.astype(np.int64)
    weights = ((i * 7 + j * 7) % 64 + 1).astype(np.float32)
    with gb.device("cpu"):
        matrix = gb.Matrix.from_coo(i, j, weights, nrows=n, ncols=n)
    starts = np.random.default_rng(1).choice(np.unique(i), WALKERS)
    for label, options in (
        ("uniform", {}),
        ("biased", {"kind": "biased"}),
        ("node2vec, weighted", {"kind": "node2vec", "p": 0.5, "q": 2.0}),
        ("node2vec", {"kind": "node2vec", "p": 0.5, "q": 2.0, "weighted": False}),
    ):
        found = rate(lambda: gb.apps.random_walks(matrix, starts, LENGTH, **options), WALKERS)  # noqa: B023
        print(f"Semira, {label} {found:.2f}")
    peers((i, j), weights, n, starts[:FEW])


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "kron:14")
