"""Application classification on graphs of the HIVE report's sizes, beside the same in NumPy.

``rmat18`` has 262,145 vertices, 2,008,660 edges, 13 and 17 features and a pattern of 10 vertices
and 21 edges; ``social`` 5,157 vertices, 186,572 edges, 12 and 16 features and a pattern of 20
vertices and 40 edges, cut out of it. Features are random: times do not depend on them. Every device
gives its least seconds of some calls, and the worst difference from the first one.

    python -m benchmarks.scripts.classification rmat18 --device cpu --numpy
"""

from __future__ import annotations

import argparse
import time
from typing import Any, NamedTuple

import numpy as np

import semira as gb

_CALLS = 3


class Case(NamedTuple):
    """What `classify` is given: edges are (sources, targets, features), sorted by rows."""

    n: int
    edges: tuple[np.ndarray, np.ndarray, np.ndarray]
    vertices: np.ndarray
    pattern_vertices: np.ndarray
    pattern_edges: tuple[np.ndarray, np.ndarray, np.ndarray]


def kronecker(scale: int, n: int, count: int, rng: np.random.Generator) -> np.ndarray:
    """Return keys ``source * n + target`` of different edges."""
    rows, cols = (np.zeros(count * 5 // 4, np.int64) for _ in range(2))
    for _ in range(scale):
        x = rng.random(len(rows))
        rows = 2 * rows + (x >= 0.76)
        cols = 2 * cols + (((x >= 0.57) & (x < 0.76)) | (x >= 0.95))
    keys = rng.choice(np.unique(rows * n + cols), count, replace=False)
    return np.sort(keys)


def rmat18() -> Case:
    """Return a graph of the size of the report's, and a random pattern of the size of its."""
    rng = np.random.default_rng(0)
    n, m = 262_145, 2_008_660
    keys = kronecker(18, n, m, rng)
    edges = keys // n, keys % n, rng.random((m, 17))
    pattern = rng.integers(0, 10, 21), rng.integers(0, 10, 21), rng.random((21, 17))
    return Case(n, edges, rng.random((n, 13)), rng.random((10, 13)), pattern)


def social() -> Case:
    """Return a graph of the size of a college's network, and a pattern that is part of it."""
    rng = np.random.default_rng(0)
    n, m = 5157, 186_572
    keys = np.sort(rng.choice(n * n, m, replace=False))
    rows, cols, features = keys // n, keys % n, rng.random((m, 16))
    vertices = rng.random((n, 12))
    chosen = rng.choice(m, 40, replace=False)
    part, ends = np.unique(np.concatenate([rows[chosen], cols[chosen]]), return_inverse=True)
    p, r = ends[:40] % 20, ends[40:] % 20
    return Case(n, (rows, cols, features), vertices, vertices[part[:20]], (p, r, features[chosen]))


def normprob(table: np.ndarray) -> np.ndarray:
    """Return the columns with the sum of exponentials made 1."""
    table = table - table.max(axis=0)
    table -= np.log(np.exp(table).sum(axis=0))
    return table


def by_numpy(case: Case) -> np.ndarray:
    """Return the log-probabilities by the steps of the report, in whole arrays."""
    (s, d, features), (p, r, more) = case.edges, case.pattern_edges
    orders = [np.argsort(each, kind="stable") for each in (d, s)]
    sorted_ends = [
        np.unique(end[at], return_index=True) for end, at in zip((d, s), orders, strict=True)
    ]

    def greatest(way: int, table: np.ndarray, null: np.ndarray) -> np.ndarray:
        owners, starts = sorted_ends[way]
        found = np.tile(null, (case.n, 1))
        most = np.maximum.reduceat(table[orders[way]], starts)
        found[owners] = np.maximum(found[owners], most)
        return found

    def apart(own: np.ndarray, other: np.ndarray) -> np.ndarray:
        return np.stack([np.sqrt(((own - row) ** 2).sum(axis=1)) for row in other], axis=1)

    DV, DE = apart(case.vertices, case.pattern_vertices), apart(features, more)  # noqa: N806
    mu, x0 = normprob(-DV), normprob(-DE)
    ahead, back = greatest(0, x0, mu[:, p].max(axis=0)), greatest(1, x0, mu[:, r].max(axis=0))
    for _ in range(len(case.pattern_vertices)):
        VF, VR = mu[:, r] - ahead, mu[:, p] - back  # noqa: N806
        ahead = greatest(0, normprob(VR[s] - DE), VR.max(axis=0))
        back = greatest(1, normprob(VF[s] - DE), VF.max(axis=0))
        mu = -DV
        for k in range(len(p)):
            mu[:, r[k]] += ahead[:, k]
            mu[:, p[k]] += back[:, k]
        mu = normprob(mu)
    return mu


def main() -> None:
    """Measure each device."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("case", choices=["rmat18", "social"])
    parser.add_argument("--device", action="append", default=[])
    parser.add_argument("--numpy", action="store_true")
    asked = parser.parse_args()
    case = {"rmat18": rmat18, "social": social}[asked.case]()
    rows, cols, features = case.edges
    first: Any = None
    for device in asked.device or ["cpu"]:
        with gb.device(device), gb.kernels.array_module(device) as xp:
            A = gb.Matrix.from_coo(rows, cols, True, nrows=case.n, ncols=case.n)  # noqa: N806
            vertices, edges = xp.asarray(case.vertices), xp.asarray(features)
            taken = []
            for _ in range(_CALLS):
                start = time.perf_counter(), time.process_time()
                found = gb.apps.classify(
                    A, vertices, edges, case.pattern_vertices, case.pattern_edges
                )
                if hasattr(xp, "cuda"):
                    xp.cuda.get_current_stream().synchronize()
                taken.append((time.perf_counter() - start[0], time.process_time() - start[1]))
            scores = found.log_probabilities
        first = scores if first is None else first
        wall, cpu = (min(each) for each in zip(*taken, strict=True))
        print(
            f"{device}: {wall:.4g} s, processor {cpu:.4g} s, "
            f"worst difference {np.abs(scores - first).max():.2g}"
        )
    if asked.numpy:
        start = time.perf_counter(), time.process_time()
        scores = by_numpy(case)
        wall, cpu = time.perf_counter() - start[0], time.process_time() - start[1]
        worst = np.abs(scores - first).max()
        print(f"NumPy: {wall:.4g} s, processor {cpu:.4g} s, worst difference {worst:.2g}")


if __name__ == "__main__":
    main()
