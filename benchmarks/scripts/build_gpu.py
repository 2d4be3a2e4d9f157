"""Building matrices on the GPU: random edges to rows, and conversions, against the memory's speed.

Run on a machine with a GPU from the repository's root::

    python -m benchmarks.scripts.build_gpu --out build_gpu.json

Random pairs of 32 bits are drawn on the device (scale 24: 2**28 of them, as many as a Kronecker
graph of edge factor 16). Times are medians of several calls after a warm-up, by the host's clock
from the call to an idle device. `bytes` counts the input and output arrays of a case once;
`floor_ms` is their time at the device's copy speed, `share` the part of that speed reached.
Results are checked by counts and by the sum of x_i A_ij y_j.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cupy as cp
import numpy as np

import semira as gb
from semira.backends.registry import backend_for
from semira.bench.environment import describe_environment

#: Bytes per second that a copy on an H200 reads and writes.
COPY_SPEED = 4.2e12

#: Goals for the build, in ms.
GOALS = {"build pattern": 300.0}


class Suite:
    """Edges, the matrix built from them, and its known properties."""

    def __init__(self, scale: int, edge_factor: int, seed: int) -> None:
        self.size, self.count = 1 << scale, edge_factor << scale
        draw = cp.random.default_rng(seed)
        self.rows, self.cols = (
            draw.integers(0, self.size, self.count, dtype=cp.int32) for _ in range(2)
        )
        self.values = draw.random(self.count, dtype=cp.float32)
        order = np.random.default_rng(seed).permutation(self.size)
        self.order = order
        self.x, self.y = (
            np.random.default_rng(seed + k).integers(0, 1000, self.size) for k in (1, 2)
        )
        self.matrix = self.build()
        self.nvals = int(self.matrix.nvals)
        self.form = form(self.matrix, self.x, self.y)

    def build(self) -> gb.Matrix:
        """Return the pattern of the edges."""
        return gb.Matrix.from_coo(self.rows, self.cols, True, nrows=self.size, ncols=self.size)

    def fresh(self) -> gb.Matrix:
        """Return the matrix without its other orientation; its arrays are shared."""
        return self.matrix.dup()

    def folded(self) -> gb.Matrix:
        """Return the edges with values; values of duplicates are summed."""
        return gb.Matrix.from_coo(
            self.rows, self.cols, self.values, nrows=self.size, ncols=self.size, dup_op="plus"
        )

    def transposed(self) -> gb.Matrix:
        """Return a newly computed transpose."""
        return self.fresh().T.new()

    def symmetrised(self) -> gb.Matrix:
        """Return the union of the pattern and its transpose."""
        matrix = self.fresh()
        return matrix.ewise_add(matrix.T, "lor").new()

    def permuted(self) -> gb.Matrix:
        """Return the matrix with rows and columns in a random order."""
        return self.fresh()[self.order, self.order].new()

    def lower(self) -> gb.Matrix:
        """Return the entries below the diagonal."""
        return self.fresh().select("tril", -1).new()

    def has_form(self, matrix: gb.Matrix) -> bool:
        """Whether a matrix has the same sum of x_i A_ij y_j as the first one built."""
        return form(matrix, self.x, self.y) == self.form

    def arrays(self, nvals: int, value_bytes: int = 0) -> int:
        """Return the bytes of a matrix: offsets, indices, values."""
        width = 4 if nvals < 2**31 else 8
        return width * (self.size + 1) + (4 + value_bytes) * nvals


def form(matrix: gb.Matrix, x: Any, y: Any) -> int:
    """Return the sum of x_i y_j over the entries of a pattern, exact modulo 2**64."""
    left, right = (gb.Vector.from_dense(part, device="cuda") for part in (x, y))
    return int(left.inner(matrix.mxv(right, "plus_second").new(), "plus_times").new().value)


def distinct(suite: Suite) -> int:
    """Return the number of distinct edges, by CuPy alone."""
    keys = suite.rows.astype(cp.int64) * suite.size + suite.cols
    keys.sort()
    different = 1 + int(cp.count_nonzero(keys[1:] != keys[:-1]))
    del keys
    cp.get_default_memory_pool().free_all_blocks()
    return different


# cases: name -> (call, bytes in and out, check of the result) -----------------------------------
Case = tuple[Callable[[], Any], int, Callable[[Any], bool]]


def builds(suite: Suite) -> dict[str, Case]:
    """Return the cases that build from edges."""
    one, count = suite.arrays(suite.nvals), suite.count
    valued = suite.arrays(suite.nvals, 4)

    def has_total(matrix: gb.Matrix) -> bool:
        found = float(matrix.reduce_scalar("plus").new().value)
        return bool(np.isclose(found, float(suite.values.sum(dtype=cp.float64)), rtol=1e-3))

    return {
        "build pattern": (suite.build, 8 * count + one, suite.has_form),
        "build FP32, plus": (suite.folded, 12 * count + valued, has_total),
        "build vector": (
            lambda: gb.Vector.from_coo(suite.rows, True, size=suite.size),
            4 * count + suite.size // 8 + suite.size,
            lambda vector: int(vector.nvals) == len(cp.unique(suite.rows)),
        ),
    }


def formats(suite: Suite) -> dict[str, Case]:
    """Return the cases that convert between formats."""
    size, one = suite.size, suite.arrays(suite.nvals)
    csr, csc, coo = (
        getattr(suite.fresh(), f"to_{layout}")(device="cuda") for layout in ("csr", "csc", "coo")
    )

    def same(parts: Any, wanted: Any) -> bool:
        return all(bool((a == b).all()) for a, b in zip(parts[:2], wanted[:2], strict=True))

    return {
        "from csr": (
            lambda: gb.Matrix.from_csr(*csr[:2], True, ncols=size), 2 * one, suite.has_form,
        ),
        "csr to coo": (
            lambda: suite.fresh().to_coo(values=False, device="cuda"),
            one + 8 * suite.nvals,
            lambda parts: same(parts, coo),
        ),
        "csc to csr": (
            lambda: gb.Matrix.from_csc(*csc[:2], True, nrows=size).to_csr(device="cuda"),
            2 * one,
            lambda parts: same(parts, csr),
        ),
    }  # fmt: skip


def conversions(suite: Suite) -> dict[str, Case]:
    """Return the cases that make one matrix from another."""
    x, y, order, nvals = suite.x, suite.y, suite.order, suite.nvals
    one = suite.arrays(nvals)

    def is_symmetric(matrix: gb.Matrix) -> bool:
        return form(matrix, x, y) == form(matrix, y, x) and nvals <= matrix.nvals <= 2 * nvals

    def is_lower(matrix: gb.Matrix) -> bool:
        return bool(matrix.nvals + suite.fresh().select("triu", 0).new().nvals == nvals)

    return {
        "transpose": (suite.transposed, 2 * one, lambda made: form(made, y, x) == suite.form),
        "symmetrise": (suite.symmetrised, 3 * one, is_symmetric),
        "permute": (
            suite.permuted,
            2 * one + 8 * suite.size,
            lambda made: form(made, x[order], y[order]) == suite.form,
        ),
        "lower triangle": (suite.lower, one + suite.arrays(suite.lower().nvals), is_lower),
    }


def measure(name: str, case: Case, repeats: int) -> dict[str, Any]:
    """Time one case and check its result."""
    call, moved, check = case
    backend, samples, made = backend_for("cuda"), [], None
    for _ in range(repeats + 1):
        del made
        backend.synchronise()
        cp.cuda.runtime.deviceSynchronize()
        start = time.perf_counter()
        made = call()
        backend.synchronise()
        cp.cuda.runtime.deviceSynchronize()
        samples.append(1e3 * (time.perf_counter() - start))
    right = check(made)
    median, floor = statistics.median(samples[1:]), 1e3 * moved / COPY_SPEED
    goal = GOALS.get(name)
    print(
        f"{name:18} {median:9.2f} ms, first {samples[0]:9.2f}; floor {floor:7.2f} ms, "
        f"{floor / median:6.1%} of it; verified={right}"
        + ("" if goal is None else f"; goal {goal:g} ms, met={median <= goal}"),
        flush=True,
    )
    return {
        "case": name, "ms": median, "first_ms": samples[0], "samples_ms": samples[1:],
        "bytes": moved, "floor_ms": floor, "share": floor / median, "goal_ms": goal,
        "verified": right,
    }  # fmt: skip


def main() -> int:
    """Measure and write the record."""
    parser = argparse.ArgumentParser(description="Building matrices on the GPU.")
    parser.add_argument("--scale", type=int, default=24)
    parser.add_argument("--edge-factor", type=int, default=16)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--only", nargs="*", help="names of cases")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    suite = Suite(options.scale, options.edge_factor, options.seed)
    is_right = suite.nvals == distinct(suite)
    print(f"{suite.count:,} pairs, {suite.nvals:,} different, verified={is_right}", flush=True)
    results = [
        measure(name, case, options.repeats)
        for group in (builds, formats, conversions)
        for name, case in group(suite).items()
        if not options.only or name in options.only
    ]
    record = {
        "schema": "semira-build/1",
        "environment": describe_environment("cuda"),
        "scale": options.scale, "pairs": suite.count, "entries": suite.nvals,
        "seed": options.seed, "copy_speed": COPY_SPEED, "results": results,
    }  # fmt: skip
    if options.out is not None:
        options.out.write_text(json.dumps(record, indent=1) + "\n")
    return 0 if is_right and all(result["verified"] for result in results) else 1


if __name__ == "__main__":
    sys.exit(main())
