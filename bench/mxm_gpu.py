"""Products of matrices on the GPU: A A beside cuSPARSE, and triangles under a mask.

Run on a machine with a GPU from the repository's root::

    PYTHONPATH=src:. python bench/mxm_gpu.py --out mxm_gpu.json

Kronecker graphs, edge factor 16, seed 0. `square` is ``C << A plus.times A`` in FP32, from call to
a finished device, against the same product by `cupyx.scipy.sparse` (cuSPARSE), which is sorted
afterwards as ours is; entries and sums are compared. `triangles` is the public `triangle_count`,
`dots` the product alone: ``C<L> = L plus.pair L'`` of the degree-ordered lower triangle; both
must count alike. `spmm` is A times a full matrix of 64 columns. Medians of 5 after a warm-up.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cupy as cp
import cupyx.scipy.sparse as cs
import numpy as np
from bench.skeleton_gpu import environment

import semira as gb
from semira.backends.registry import backend_for
from semira.generators import generate_kronecker

REPEATS = 5
SPMM_COLUMNS = 64


def timed(work: Callable[[], Any]) -> dict[str, Any]:
    """Return what a call gives and its milliseconds until the device has finished."""
    samples = []
    for _ in range(REPEATS + 1):
        cp.cuda.Device().synchronize()
        clock = time.perf_counter()
        found = work()
        cp.cuda.Device().synchronize()
        samples.append(1e3 * (time.perf_counter() - clock))
    return {"found": found, "first_ms": samples[0], "ms": statistics.median(samples[1:])}


def kronecker(scale: int, weights: str | None = None) -> gb.Matrix:
    """Return a graph on the GPU."""
    matrix = gb.io.from_edges(generate_kronecker(scale, weights=weights), dup_op="min")
    return matrix.to("cuda")


def as_cupy(matrix: gb.Matrix) -> Any:
    """Return a copy for cuSPARSE."""
    indptr, indices, values = matrix.to_csr()
    parts = (np.asarray(values, np.float32), indices.astype(np.int32), indptr.astype(np.int32))
    return cs.csr_matrix(tuple(map(cp.asarray, parts)), shape=(matrix.nrows, matrix.ncols))


def sorted_square(matrix: Any) -> Any:
    """Return the product of cuSPARSE with sorted rows."""
    product = matrix @ matrix
    product.sort_indices()
    return product


def measure_square(scale: int) -> dict[str, Any]:
    """Time A A."""
    matrix = kronecker(scale, "uniform").apply("identity").new("FP32").to("cuda")
    theirs_of = as_cupy(matrix)
    ours = timed(lambda: matrix.mxm(matrix, gb.semiring.plus_times).new())
    product = ours.pop("found")
    nvals, total = product.nvals, float(product.reduce_scalar("plus").new("FP64").value)
    del product
    record = {"case": "square", "scale": scale, "nvals": matrix.nvals, "result": nvals, **ours}
    try:
        theirs = timed(lambda: sorted_square(theirs_of))
        unsorted = timed(lambda: theirs_of @ theirs_of)
    except (cp.cuda.memory.OutOfMemoryError, cp.cuda.runtime.CUDARuntimeError, ValueError,
            RuntimeError) as error:  # fmt: skip
        return record | {"cusparse_error": str(error)[:200], "verified": None}
    found = theirs.pop("found")
    unsorted.pop("found")
    same = found.nnz == nvals and abs(float(found.data.astype(cp.float64).sum()) - total) <= (
        1e-4 * abs(total)
    )
    return record | {
        "cusparse_sorted_ms": theirs["ms"], "cusparse_ms": unsorted["ms"], "verified": bool(same)
    }  # fmt: skip


def ordered_triangle(matrix: gb.Matrix) -> gb.Matrix:
    """Return the lower triangle, vertices by falling degree."""
    degrees = np.diff(matrix.to_csr()[0])
    order = np.argsort(-degrees, kind="stable")
    return matrix[order, order].new().select(gb.select.tril, -1).new()


def measure_triangles(scale: int) -> dict[str, Any]:
    """Time the public function, and its product alone."""
    matrix = kronecker(scale)
    call = timed(lambda: gb.algorithms.triangle_count(matrix, symmetric=True).count)
    lower = ordered_triangle(matrix)
    count = gb.Matrix("INT64", matrix.nrows, matrix.ncols).to("cuda")

    def dots() -> None:
        count(lower.S, replace=True) << lower.mxm(lower.T, gb.semiring.plus_pair["INT64"])

    product = timed(dots)
    total = int(count.reduce_scalar("plus").new().value)
    return {
        "case": "triangles", "scale": scale, "nvals": matrix.nvals, "result": total,
        "ms": call["ms"], "first_ms": call["first_ms"], "dots_ms": product["ms"],
        "verified": total == call["found"],
    }  # fmt: skip


def measure_spmm(scale: int) -> dict[str, Any]:
    """Time A times a full matrix."""
    matrix = kronecker(scale, "uniform").apply("identity").new("FP32").to("cuda")
    dense = np.random.default_rng(0).random((matrix.ncols, SPMM_COLUMNS), np.float32)
    full = gb.Matrix.from_dense(dense).to("cuda")
    ours = timed(lambda: matrix.mxm(full, gb.semiring.plus_times).new())
    sparse, there = as_cupy(matrix), cp.asarray(dense)
    theirs = timed(lambda: sparse @ there)
    expected = float(theirs["found"].astype(cp.float64).sum())
    total = float(ours.pop("found").reduce_scalar("plus").new("FP64").value)
    return {
        "case": "spmm", "scale": scale, "nvals": matrix.nvals, **ours, "cusparse_ms": theirs["ms"],
        "verified": abs(total - expected) <= 1e-3 * abs(expected),
    }  # fmt: skip


CASES = {"square": measure_square, "triangles": measure_triangles, "spmm": measure_spmm}


def main() -> int:
    """Measure, print, write the record; 1 if any answer is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--square", default="10,12,14,15,16", help="scales of A A")
    parser.add_argument("--triangles", default="16,18,20", help="scales")
    parser.add_argument("--spmm", default="16,18,20", help="scales")
    options = parser.parse_args()
    record = environment(backend_for("cuda")) | {"results": []}
    for case, measure in CASES.items():
        for scale in filter(None, getattr(options, case).split(",")):
            found = measure(int(scale))
            record["results"].append(found)
            figures = {name: value for name, value in found.items() if name != "case"}
            shown = "  ".join(
                f"{name}={value:.3f}" if isinstance(value, float) else f"{name}={value}"
                for name, value in figures.items()
            )
            print(f"{case:10} {shown}", flush=True)  # noqa: T201 - the report
            cp.get_default_memory_pool().free_all_blocks()
            if options.out:
                options.out.write_text(json.dumps(record, indent=1) + "\n")
    return 1 if any(found["verified"] is False for found in record["results"]) else 0


if __name__ == "__main__":
    raise SystemExit(main())
