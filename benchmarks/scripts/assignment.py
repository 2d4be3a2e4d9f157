"""Linear assignment beside SciPy, and seeded graph matching beside graspologic if it is installed.

A row gives the least CPU and wall time of some whole calls. Graphs are G(n, 0.05); the other one
has other numbers, and 2 % of the vertices are seeds.

    python -m benchmarks.scripts.assignment --device cpu --sizes 1000,5000 --graphs 500,1000,2000
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from benchmarks.scripts.local_clusters import least
from scipy.optimize import linear_sum_assignment as by_scipy

import semira as gb
from semira.algorithms import linear_sum_assignment


def costs_of(n: int) -> Iterator[tuple[str, np.ndarray]]:
    """Yield costs by name."""
    random = np.random.default_rng(0)
    yield "uniform", random.random((n, n))
    yield "integers 1..100", random.integers(1, 101, (n, n)).astype(float)
    yield "integers 0..999", random.integers(0, 1000, (n, n)).astype(float)
    yield "Euclidean", np.hypot(*(random.random((2, n, 1)) - random.random((2, 1, n))))
    yield "uniform, n x 2n", random.random((n, 2 * n))
    if n <= 1000:
        yield "uniform, n x 10n", random.random((n, 10 * n))


def graphs_of(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a graph, the same with other numbers, and the number of each vertex there."""
    random = np.random.default_rng(1)
    upper = np.triu(random.random((n, n)) < 0.05, 1)
    dense = (upper | upper.T).astype(float)
    order = random.permutation(n)
    return dense, dense[np.ix_(order, order)], np.argsort(order)


def assignments(n: int, device: str, calls: int) -> None:
    """Print a row for each kind of costs."""
    for name, costs in costs_of(n):
        given: Any = costs
        if device == "cuda":
            import cupy

            given = cupy.asarray(costs)
        with gb.device(device):
            linear_sum_assignment(given)
            found, *ours = least(partial(linear_sum_assignment, given), calls)
        pairs, *peers = least(partial(by_scipy, costs), min(calls, 3))
        assert abs(found.cost - costs[pairs].sum()) <= 1e-9 * np.abs(costs[pairs]).sum()
        _print(f"assignment, {name}", n, "semira", ours)
        _print(f"assignment, {name}", n, "SciPy", peers)


def matchings(n: int, device: str, calls: int) -> None:
    """Print a row for each start, and for graspologic."""
    one_dense, two_dense, number = graphs_of(n)
    seeds = np.stack((np.arange(n // 50), number[: n // 50]), 1)
    with gb.device(device):
        one, two = (
            gb.Matrix.from_coo(rows, columns, 1.0, nrows=n, ncols=n)
            for rows, columns in (np.nonzero(one_dense), np.nonzero(two_dense))
        )
    for start in ("barycentre", "seeds"):

        def match(start: str = start) -> Any:
            return gb.apps.graph_match(one, two, seeds=seeds, initial=start)

        match()
        found, *times = least(match, calls)
        _print(f"matching from {start}", n, "semira", times)
        assert (found.match == number).all()
    try:
        peer = importlib.import_module("graspologic.match").graph_match
    except ImportError:
        return
    _, *times = least(lambda: peer(one_dense, two_dense, partial_match=seeds, rng=0), 1)
    _print("matching", n, "graspologic", times)


def _print(what: str, n: int, who: str, times: Sequence[float]) -> None:
    print(f"{what:28} {n:6} {who:12} {1e3 * times[0]:10.1f} {1e3 * times[1]:10.1f}", flush=True)


def main() -> None:
    """Print the rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--sizes", default="1000,5000")
    parser.add_argument("--graphs", default="500,1000,2000")
    parser.add_argument("--calls", type=int, default=5)
    asked = parser.parse_args()
    print(f"{'':28} {'n':>6} {'':12} {'CPU ms':>10} {'wall ms':>10}")
    for n in filter(None, asked.sizes.split(",")):
        assignments(int(n), asked.device, asked.calls)
    for n in filter(None, asked.graphs.split(",")):
        matchings(int(n), asked.device, asked.calls)


if __name__ == "__main__":
    main()
