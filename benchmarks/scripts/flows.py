"""Maximum flow over a grid, and a fused lasso of an image on it, beside other libraries.

The grid has k x k vertices with four neighbours, capacities 1 to 64 in both directions, a source
before the left side and a sink behind the right one, joined by 256. The image has a disc, a
rectangle and a band, with noise of 0.3. Seconds of the processor, least of some calls.

    python -m benchmarks.scripts.flows 200 --scipy --ortools
    python -m benchmarks.scripts.flows 300 --lasso 0.3,1
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import semira as gb
from semira.backends.registry import backend_for


def pairs(k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return both ends of each edge of a grid."""
    ids = np.arange(k * k).reshape(k, k)
    left = np.concatenate([ids[:, :-1].ravel(), ids[:-1].ravel()])
    return left, np.concatenate([ids[:, 1:].ravel(), ids[1:].ravel()])


def network(k: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return from, to and capacity of the arcs; source k * k, sink k * k + 1."""
    left, right = pairs(k)
    capacity = np.random.default_rng(seed).integers(1, 65, len(left))
    sides = np.arange(k) * k
    source, sink, joined = np.full(k, k * k), np.full(k, k * k + 1), np.full(k, 256)
    return (
        np.concatenate([left, right, source, sides + k - 1]),
        np.concatenate([right, left, sides, sink]),
        np.concatenate([capacity, capacity, joined, joined]).astype(np.int32),
    )


def image(k: int, seed: int = 0) -> np.ndarray:
    """Return the noisy image, row by row."""
    i, j = np.mgrid[:k, :k] / k
    found = np.where((i - 0.5) ** 2 + (j - 0.5) ** 2 < 0.1, 1.0, 0.0)
    found[(abs(i - 0.3) < 0.15) & (abs(j - 0.3) < 0.2)] = 2.0
    found += np.where(i > 0.7, 0.5, 0.0)
    return (found + np.random.default_rng(seed).normal(0, 0.3, (k, k))).ravel()


def timed(name: str, calls: int, run: Callable[[], Any], tell: Callable[[Any], str]) -> None:
    """Print the least time of some calls."""
    least, wall, found = np.inf, np.inf, None
    for _ in range(calls):
        begin, start = time.process_time(), time.perf_counter()
        found = run()
        least = min(least, time.process_time() - begin)
        wall = min(wall, time.perf_counter() - start)
    print(f"{name:28} {least:10.4f} s cpu {wall:10.4f} s wall  {tell(found)}", flush=True)


def flows(k: int, device: str, calls: int, others: argparse.Namespace) -> None:
    """Print the times of the flow."""
    rows, cols, capacity = network(k)
    n = k * k + 2
    with gb.device(device):
        matrix = gb.Matrix.from_coo(rows, cols, capacity, nrows=n, ncols=n)
    is_host = not gb.device_traits(device).own_memory
    for algorithm in ("highest_label", "push_relabel") if is_host else ("push_relabel",):

        def run(algorithm: str = algorithm) -> Any:
            found = gb.algorithms.maximum_flow(matrix, n - 2, n - 1, algorithm=algorithm)
            backend_for(device).synchronise()
            return found

        timed(algorithm, calls, run, lambda r: f"{r.value}, {r.iterations} {r.searches}")
    if others.scipy:
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import maximum_flow

        sparse = coo_array((capacity, (rows, cols)), (n, n)).tocsr()
        timed("scipy", 1, lambda: maximum_flow(sparse, n - 2, n - 1), lambda r: str(r.flow_value))
    if others.ortools:
        from ortools.graph.python.max_flow import SimpleMaxFlow

        solver = SimpleMaxFlow()
        solver.add_arcs_with_capacity(
            rows.astype(np.int32), cols.astype(np.int32), capacity.astype(np.int64)
        )
        timed(
            "ortools", 1, lambda: solver.solve(n - 2, n - 1), lambda _: str(solver.optimal_flow())
        )


def lassos(k: int, device: str, calls: int, prices: list[float]) -> None:
    """Print the times of the fits."""
    left, right = pairs(k)
    with gb.device(device):
        matrix = gb.Matrix.from_coo(left, right, 1.0, nrows=k * k, ncols=k * k)
    y = image(k)
    for price in prices:
        for solver in ("cuts", "primal_dual"):

            def run(solver: str = solver, price: float = price) -> Any:
                return gb.apps.fused_lasso(matrix, y, lambda2=price, solver=solver)

            timed(
                f"{solver}, lambda2={price:g}", calls, run,
                lambda r: f"{r.objective:.9g}, gap {r.relative_gap:.1e}, {r.iterations} steps",
            )  # fmt: skip


def main() -> None:
    """Read the command line and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("k", type=int, nargs="?", default=200)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--calls", type=int, default=3)
    parser.add_argument("--lasso", default="")
    parser.add_argument("--scipy", action="store_true")
    parser.add_argument("--ortools", action="store_true")
    given = parser.parse_args()
    if given.lasso:
        lassos(given.k, given.device, given.calls, [float(each) for each in given.lasso.split(",")])
    else:
        flows(given.k, given.device, given.calls, given)


if __name__ == "__main__":
    main()
