"""Compare products with a full matrix on the cpu with SciPy: plus_times in FP64.

Run from the repository's root::

    python -m benchmarks.scripts.full_cpu
    python -m benchmarks.scripts.full_cpu --graphs kron:13 --columns 1,4,16

Calls of both alternate, so that other load slows both. The table has medians, with minima in
brackets. SciPy has one thread. Decision 31 has the figures.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.sparse import csr_array

import semira as gb

#: Name of a product, and the call of each side.
Pair = tuple[str, Callable[[], Any], Callable[[], Any]]


def pairs(graph: str, columns: int) -> Iterator[Pair]:
    """Return the products of a randomly weighted graph with full matrices."""
    rng, given = np.random.default_rng(0), gb.io.read(graph)
    rows, cols, _ = given.to_coo()
    weights, n = rng.random(len(rows)), given.nrows
    theirs = csr_array((weights, (rows, cols)), shape=(n, n))
    dense = rng.random((n, columns))
    turned = np.asfortranarray(dense)
    at = rng.integers(0, n, n), rng.integers(0, columns, n)
    named = np.zeros(dense.shape, bool)
    named[at] = True
    ring = gb.semiring.plus_times["FP64"]
    with gb.device("cpu"):
        ours = gb.Matrix.from_coo(rows, cols, weights, nrows=n, ncols=n)
        right, left = gb.Matrix.from_dense(dense), gb.Matrix.from_dense(dense.T)
        mask = gb.Matrix.from_coo(*at, True, nrows=n, ncols=columns).S
    yield "A X", lambda: ours.mxm(right, ring).new(), lambda: theirs @ dense
    yield "A X, by columns", lambda: ours.mxm(left.T, ring).new(), lambda: theirs @ turned
    yield "A' X", lambda: ours.T.mxm(right, ring).new(), lambda: theirs.T @ dense
    yield "X' A", lambda: left.mxm(ours, ring).new(), lambda: dense.T @ theirs
    yield (
        "A X, n named", lambda: ours.mxm(right, ring).new(mask=mask),
        lambda: (theirs @ dense) * named,
    )  # fmt: skip


def timed(calls: tuple[Callable[[], Any], ...], trials: int) -> list[str]:
    """Return the median and minimum ms of each call, as text."""
    taken: list[list[float]] = [[] for _ in calls]
    for _ in range(trials):
        for call, samples in zip(calls, taken, strict=True):
            start = time.perf_counter()
            call()
            samples.append(1e3 * (time.perf_counter() - start))
    return [f"{statistics.median(found):.3g} ({min(found):.3g})" for found in taken]


def main() -> None:
    """Print a row for each product."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", default="road:200x200,grid:200x200,kron:13")
    parser.add_argument("--columns", default="1,64")
    parser.add_argument("--trials", type=int, default=31)
    options = parser.parse_args()
    say = sys.stdout.write
    say("| graph | columns | product | ms (least) | SciPy ms (least) |\n|---|---|---|---|---|\n")
    for graph in options.graphs.split(","):
        for columns in map(int, options.columns.split(",")):
            for name, ours, theirs in pairs(graph, columns):
                np.testing.assert_allclose(ours().to_dense(0), theirs())
                ours_ms, theirs_ms = timed((ours, theirs), options.trials)
                say(f"| {graph} | {columns} | {name} | {ours_ms} | {theirs_ms} |\n")


if __name__ == "__main__":
    main()
