"""Rows as bits on and off: PageRank, components, one product, cost of the copy, equal results.

Run on a machine with a GPU from the repository's root::

    python -m benchmarks.scripts.diagonals_gpu --out bench/results/diagonals_gpu.json
    python -m benchmarks.scripts.diagonals_gpu --graphs grid:1000x3000

Device milliseconds by events, medians of `REPEATS` warm calls, on and off in turn.
`pagerank` is the public call, 20 iterations, `cc` the public call, `mxv` one eager
``w << A.mxv(u, plus_second)``. `build_ms` is the host's time of the first call that makes the copy,
over that of a warm one; everything is compiled before. Results are compared bit by bit, under
``deterministic`` (runs of their own, not timed).

Predicted before the first run, one H200, off and on, in ms, grid:4900x4900:

    pagerank  FP32 8.2, 4.0 to 4.8    FP64 10.8, 7 to 8     cc  5.5, 4 to 4.5
    mxv       FP32 0.24, 0.10 to 0.13    copy 24 MB in 0.25 to 0.4
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import semira as gb
from semira.backends.registry import backend_for
from semira.bench.environment import describe_environment
from semira.generators import generate

REPEATS, ITERATIONS, GRAPHS = 9, 20, ("grid:4900x4900",)

#: A grid large enough for the measured kernel shape.
LEAST = "grid:1000x1000"


def calls_on(matrix: gb.Matrix) -> dict[str, Callable[[], gb.Vector]]:
    """Return the measured calls; each returns its result vector."""
    found: dict[str, Callable[[], gb.Vector]] = {}
    for dtype, width in (("FP32", 4), ("FP64", 8)):
        dense = np.random.default_rng(0).random(matrix.ncols).astype(f"f{width}")
        u, w = gb.Vector.from_dense(dense).to("cuda"), gb.Vector(dtype, matrix.nrows).to("cuda")

        def pagerank(dtype: str = dtype) -> gb.Vector:
            given = {"tol": 0, "max_iterations": ITERATIONS, "dtype": dtype}
            return gb.algorithms.pagerank(matrix, **given).rank

        def mxv(u: gb.Vector = u, w: gb.Vector = w, dtype: str = dtype) -> gb.Vector:
            w << matrix.mxv(u, gb.semiring.plus_second[dtype])
            return w

        found |= {f"pagerank {dtype}": pagerank, f"mxv {dtype}": mxv}
    return found | {"cc": lambda: gb.algorithms.connected_components(matrix, symmetric=True).label}


def wall_ms(call: Callable[[], Any]) -> float:
    """Return the host's milliseconds until the device has finished a call."""
    backend = backend_for("cuda")
    backend.synchronise()
    start = time.perf_counter()
    call()
    backend.synchronise()
    return 1e3 * (time.perf_counter() - start)


def measure(spec: str) -> list[dict[str, Any]]:
    """Return a record for each call."""
    graph, records = generate(spec), []
    for name in calls_on(gb.Matrix(gb.dtypes.BOOL, 1, 1).to("cuda")):
        # Each call gets a fresh matrix, with nothing cached.
        matrix = gb.io.from_edges(graph).to("cuda")
        call, samples, results = calls_on(matrix)[name], {"off": [], "on": []}, {}
        record: dict[str, Any] = {"graph": spec, "call": name}
        with gb.config.set(diagonals="off"):
            call()
        with gb.config.set(diagonals="on"):
            first, warm = wall_ms(call), wall_ms(call)
        for _ in range(REPEATS):
            for chosen, taken in samples.items():
                with gb.config.set(diagonals=chosen), backend_for("cuda").profiled() as profile:
                    call()
                taken.append(profile.device_ms)
                use = profile.kernels()[0]
                record[f"{chosen}_kernel"] = use.name
                record[f"{chosen}_registers"] = use.registers
                record[f"{chosen}_local_bytes"] = use.local_bytes
        for chosen in samples:
            with gb.config.set(diagonals=chosen, deterministic=True):
                results[chosen] = call().to_dense(fill_value=0).tobytes()
        record |= {f"{chosen}_ms": statistics.median(taken) for chosen, taken in samples.items()}
        record |= {f"{chosen}_least_ms": min(taken) for chosen, taken in samples.items()}
        record |= {
            "build_ms": first - warm, "copy_bytes": matrix.memory_usage()["diagonals"],
            "ran": record["on_kernel"].endswith("-diagonals"),
            "same": results["off"] == results["on"],
        }  # fmt: skip
        records.append(record)
        report(record)
    return records


def report(record: dict[str, Any]) -> None:
    """Print a record as a line."""
    off, on = record["off_ms"], record["on_ms"]
    line = (
        f"{record['graph']:16} {record['call']:14} off {off:7.3f}  on {on:7.3f} ({off / on:.2f}x)  "
        f"first {record['build_ms']:6.1f} more  copy {record['copy_bytes'] / 1e6:5.1f} MB  "
        f"{record['on_registers']} registers, {record['on_local_bytes']} B  "
        f"{'' if record['ran'] else 'NO BITS '}{'same' if record['same'] else 'DIFFERENT'}"
    )
    print(line, flush=True)


def main() -> int:
    """Measure, print, write the record; 1 if results differ or no bits were read."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--graphs", nargs="*", default=GRAPHS)
    options = parser.parse_args()
    # Compile first, so that no call below waits for the compiler.
    for chosen in ("off", "on"):
        for fixed in (False, True):
            with gb.config.set(diagonals=chosen, deterministic=fixed):
                for call in calls_on(gb.io.from_edges(generate(LEAST)).to("cuda")).values():
                    call()
    records: list[dict[str, Any]] = []
    for spec in options.graphs:
        records += measure(spec)
        if options.out:
            found = {"environment": describe_environment("cuda"), "results": records}
            part = options.out.with_suffix(".part")
            part.write_text(json.dumps(found, indent=1) + "\n")
            part.replace(options.out)
    return 0 if all(record["same"] and record["ran"] for record in records) else 1


if __name__ == "__main__":
    raise SystemExit(main())
