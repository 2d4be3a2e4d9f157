"""Subgraph matching beside igraph, seconds of the processor.

The graph is an ``.npz`` with ``row``, ``col``, ``n`` and maybe ``label``; or a generated one, such
as ``er:10000``, with ten random labels. Labelled patterns have the most frequent labels.

    python -m benchmarks.scripts.subgraphs HPRD-labelled.npz --igraph
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import semira as gb

_CALLS = 3
PATTERNS = {
    "triangle": ([(0, 1), (0, 2), (1, 2)], False),
    "four, all joined": ([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)], False),
    "path of 4, labels": ([(0, 1), (1, 2), (2, 3)], True),
    "cycle of 4, labels": ([(0, 1), (1, 2), (2, 3), (3, 0)], True),
    "house of 5, labels": ([(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4)], True),
}


def both_ways(rows: Any, cols: Any, n: int) -> Any:
    """Return the symmetric matrix of some edges, without loops."""
    keep = rows != cols
    rows, cols = rows[keep].astype(np.int64), cols[keep].astype(np.int64)
    keys = np.unique(np.concatenate([rows * n + cols, cols * n + rows]))
    return gb.Matrix.from_coo(keys // n, keys % n, True, nrows=n, ncols=n)


def graph_of(name: str) -> tuple[Any, np.ndarray]:
    """Return the matrix and the labels of the vertices."""
    rng = np.random.default_rng(0)
    if not name.endswith(".npz"):
        read = gb.io.read(name)
        rows, cols, _ = read.to_coo()
        return both_ways(rows, cols, read.nrows), rng.integers(0, 10, read.nrows)
    with np.load(name) as file:
        n = int(file["n"])
        labels = file["label"] if "label" in file else rng.integers(0, 10, n)
        return both_ways(file["row"], file["col"], n), labels.astype(np.int64)


def least(run: Callable[[], Any], calls: int = _CALLS) -> tuple[Any, float]:
    """Return the result, and the least milliseconds of the processor."""
    taken = []
    for _ in range(calls):
        start = time.process_time()
        found = run()
        taken.append(1e3 * (time.process_time() - start))
    return found, min(taken)


def by_igraph(graph: Any, edges: Any, labels: np.ndarray, known: Any) -> str:
    """Return what igraph's two methods count, and their milliseconds."""
    import igraph

    pattern = igraph.Graph(1 + max(map(max, edges)), edges)
    colours = {} if known is None else {"color1": labels.tolist(), "color2": known.tolist()}
    count, taken = least(lambda: graph.count_subisomorphisms_vf2(pattern, **colours), 1)
    told = f"VF2 {count} in {taken:.4g}"
    if known is not None:
        domains = [np.flatnonzero(labels == each).tolist() for each in known]
        count, taken = least(lambda: graph.get_subisomorphisms_lad(pattern, domains=domains), 1)
        told += f", LAD {len(count)} in {taken:.4g}"
    return told


def main() -> None:
    """Measure each pattern."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("graph")
    parser.add_argument("--igraph", action="store_true")
    asked = parser.parse_args()
    A, labels = graph_of(asked.graph)  # noqa: N806
    other = None
    if asked.igraph:
        import igraph

        i, j, _ = A.to_coo()
        other = igraph.Graph(A.nrows, np.column_stack([i, j])[i < j].tolist())
    frequent = np.bincount(labels).argsort(kind="stable")[::-1]
    for name, (edges, with_labels) in PATTERNS.items():
        rows, cols = np.array(edges).T
        pattern = both_ways(rows, cols, 1 + max(map(max, edges)))
        known = frequent[: pattern.nrows] if with_labels else None
        given = {} if known is None else {"labels": labels, "pattern_labels": known}

        def run(pattern: Any = pattern, given: Any = given) -> Any:
            return gb.apps.subgraph_match(A, pattern, distinct=True, limit=0, **given)

        found, taken = least(run)
        told = f"{name}: {found.count} places in {taken:.4g} ms"
        if other is not None:
            told += f"; igraph {by_igraph(other, edges, labels, known)} ms"
        print(told, flush=True)


if __name__ == "__main__":
    main()
