"""Products of matrices on the GPU: triangles under a mask, shares of rows, methods under masks.

Run on a machine with a GPU from the repository's root::

    PYTHONPATH=src:. python bench/mxm_gpu.py --out mxm_gpu.json

``semira bench mxm`` and ``spmm`` measure products beside cuSPARSE. Here `triangles` is the public
`triangle_count`, `dots` the product alone: ``C<L> = L plus.pair L'`` of the degree-ordered lower
triangle of a Kronecker graph, edge factor 16, seed 0; both must count alike. `balance` is A A by
the bins of rows and in equal shares of the products, on graphs of four kinds; ``rows.LENGTH`` are
200,000 rows of 4 entries and 8 of LENGTH, times rows of 4 entries. `masked` is ``C<M> = A B`` by
dots, row by row, and by the planner's choice, where A has one entry a row and M more and more.
Medians of 5 after a warm-up.
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
import numpy as np
from bench.skeleton_gpu import environment

import semira as gb
from semira.backends.registry import backend_for
from semira.bench.graphs import load_bench_graph
from semira.generators import generate_kronecker

REPEATS = 5


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


def total_of(matrix: gb.Matrix, dtype: str) -> Any:
    """Return the sum of all values."""
    found = gb.Scalar(dtype)
    found << matrix.reduce_scalar("plus")
    return found.value


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
    total = int(total_of(count, "INT64"))
    return {
        "case": "triangles", "scale": scale, "nvals": matrix.nvals, "result": total,
        "ms": call["ms"], "first_ms": call["first_ms"], "dots_ms": product["ms"],
        "verified": total == call["found"],
    }  # fmt: skip


def few_long_rows(length: int) -> gb.Matrix:
    """Return a matrix of short rows, of which 8 are long."""
    rng, n = np.random.default_rng(0), 200_000
    rows = [np.repeat(np.arange(n), 4), np.repeat(np.arange(8) * (n // 8), length)]
    columns = rng.integers(0, n, 4 * n + 8 * length)
    made = gb.Matrix.from_coo(
        np.concatenate(rows), columns, np.float32(1), nrows=n, ncols=n, dup_op="any"
    )
    return made.to("cuda")


def measure_balance(name: str) -> dict[str, Any]:
    """Time A A (of a few long rows: A B) by bins of rows and in equal shares of the products."""
    if name.startswith("rows."):
        left = few_long_rows(int(name.removeprefix("rows.")))
        right = few_long_rows(0)
    else:
        graph = load_bench_graph(name, None, cp, weights=False)
        left = right = graph.matrix.apply("one").new("FP32").to("cuda")
    found: dict[str, Any] = {"case": "balance", "graph": name, "nvals": left.nvals}
    results = {}
    for balance in ("rows", "edges"):
        made = gb.Matrix("FP32", left.nrows, right.ncols).to("cuda")

        def call(made: gb.Matrix = made, balance: str = balance) -> gb.Matrix:
            made(balance=balance) << left.mxm(right, gb.semiring.plus_times["FP32"])
            return made

        took = timed(call)
        results[balance] = took.pop("found")
        found |= {f"{balance}_{key}": value for key, value in took.items()}
    same = results["rows"].isclose(results["edges"], rel_tol=1e-4)
    return found | {"result": results["rows"].nvals, "verified": bool(same)}


def measure_masked(per_row: str) -> dict[str, Any]:
    """Time a product of short rows under a mask of `per_row` entries a row, by each method."""
    rng = np.random.default_rng(0)
    right = kronecker(16).dup("INT64").to("cuda")
    n = right.nrows
    left = gb.Matrix.from_coo(np.arange(n), rng.permutation(n), 1, dtype="INT64").to("cuda")
    named = np.repeat(np.arange(n), int(per_row))
    columns = rng.integers(0, n, len(named))
    mask = gb.Matrix.from_coo(named, columns, True, nrows=n, ncols=n, dup_op="any").to("cuda")
    product = left.mxm(right, gb.semiring.plus_times["INT64"])
    found: dict[str, Any] = {"case": "masked", "per_row": int(per_row), "nvals": mask.nvals}
    results = []
    for method in ("dot", "hash", None):
        made = gb.Matrix("INT64", n, n).to("cuda")

        def call(made: gb.Matrix = made, method: str | None = method) -> gb.Matrix:
            made(mask.S, replace=True, method=method) << product
            return made

        took = timed(call)
        results.append(took.pop("found"))
        found[f"{method or 'chosen'}_ms"] = took["ms"]
    chosen = gb.explain(product, mask=mask.S).chosen.name
    same = all(one.isequal(results[0]) for one in results)
    return found | {"chosen": chosen, "verified": same}


CASES = {
    "balance": measure_balance,
    "masked": measure_masked,
    "triangles": measure_triangles,
}


#: Cases that are given scales.
SCALED = ("triangles",)


def main() -> int:
    """Measure, print, write the record; 1 if any answer is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    parser.add_argument(
        "--balance", default="kron:12;kron:14;kron:16;rgg:18;road:1000x1000;rows.1000;rows.100000",
        help="graphs, and rows.LENGTH; between semicolons",
    )  # fmt: skip
    parser.add_argument("--masked", default="1,16,256,1024", help="entries of the mask's rows")
    parser.add_argument("--triangles", default="16,18,20", help="scales")
    options = parser.parse_args()
    record = environment(backend_for("cuda")) | {"results": []}
    for case, measure in CASES.items():
        for scale in filter(None, getattr(options, case).split(";" if case == "balance" else ",")):
            found = measure(int(scale) if case in SCALED else scale)
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
