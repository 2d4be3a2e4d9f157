"""Hot columns on and off: PageRank, one product, cost of the copy, and whether results agree.

Run on a machine with a GPU from the repository's root::

    python -m benchmarks.scripts.hot_gpu --out bench/results/hot_gpu.json
    python -m benchmarks.scripts.hot_gpu --graphs kron:20

Device milliseconds by events, medians of `REPEATS` warm calls. `pagerank` is the public
call, 20 iterations; `mxv` one eager ``w << A.mxv(u, plus_second)``. `build_ms` is the host's time
of the first call, which makes a missing copy, minus that of a warm one; everything is compiled
before. Results are compared bit by bit, under ``deterministic`` (in separate runs, not timed).

Predicted before the first run, one H200, off and on, in ms:

    kron:21,ef=44  pagerank  FP32 22.5, 12    FP64 24, 15     mxv  FP32 1.07, 0.54  FP64 1.10, 0.66
    kron:20        pagerank  FP32 6.1, 4.2    FP64 6.6, 5.0   mxv  FP32 0.21, 0.11  FP64 0.22, 0.14
    copy           kron:21 668 MB in 4, kron:20 126 MB in 2
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

REPEATS, ITERATIONS, GRAPHS = 7, 20, ("kron:21,ef=44", "kron:20")

#: Eager products needed before hot columns may be used, and one more.
COLD = 5


def wall_ms(call: Callable[[], Any]) -> float:
    """Return the host's milliseconds until the device has finished a call."""
    backend = backend_for("cuda")
    backend.synchronise()
    start = time.perf_counter()
    call()
    backend.synchronise()
    return 1e3 * (time.perf_counter() - start)


def measured(call: Callable[[], Any]) -> dict[str, Any]:
    """Return the device's milliseconds of warm calls, and the longest kernel."""
    backend, samples = backend_for("cuda"), []
    for _ in range(REPEATS):
        with backend.profiled() as profile:
            call()
        samples.append(profile.device_ms)
    first = profile.kernels()[0]
    return {
        "ms": statistics.median(samples), "least_ms": min(samples), "kernel": first.name,
        "threads": first.threads, "blocks": first.blocks, "registers": first.registers,
        "shared_bytes": first.shared_bytes, "local_bytes": first.local_bytes,
    }  # fmt: skip


def calls_on(matrix: gb.Matrix, dtype: str) -> dict[str, Callable[[], Any]]:
    """Return the measured calls; each returns its result vector."""
    dense = np.random.default_rng(0).random(matrix.ncols).astype(f"f{4 if dtype == 'FP32' else 8}")
    u, w = gb.Vector.from_dense(dense).to("cuda"), gb.Vector(dtype, matrix.nrows).to("cuda")
    second = gb.semiring.plus_second[dtype]

    def pagerank() -> gb.Vector:
        given = {"tol": 0, "max_iterations": ITERATIONS, "dtype": dtype}
        return gb.algorithms.pagerank(matrix, **given).rank

    def mxv() -> gb.Vector:
        w << matrix.mxv(u, second)
        return w

    return {"pagerank": pagerank, "mxv": mxv}


def compile_all() -> None:
    """Compile every kernel on a small graph, so that no call below waits for the compiler."""
    for chosen in ("off", "on"):
        for fixed in (False, True):
            with gb.config.set(hot_columns=chosen, deterministic=fixed):
                small = gb.io.from_edges(generate("kron:10")).to("cuda")
                for dtype in ("FP32", "FP64"):
                    for call in calls_on(small, dtype).values():
                        call()


def measure(spec: str) -> list[dict[str, Any]]:
    """Return a record for each call and dtype."""
    matrix = gb.io.from_edges(generate(spec)).to("cuda")
    records = []
    for dtype in ("FP32", "FP64"):
        for name, call in calls_on(matrix, dtype).items():
            record: dict[str, Any] = {"graph": spec, "call": name, "dtype": dtype}
            results = {}
            for chosen in ("off", "auto"):
                with gb.config.set(hot_columns=chosen):
                    walls = [wall_ms(call) for _ in range(COLD)]
                    record[chosen] = measured(call) | {"first_wall_ms": walls[0]}
                    record[chosen]["wall_ms"] = walls[-1]
                fixed = {"hot_columns": chosen, "deterministic": True}
                with gb.config.set(fixed):
                    for _ in range(COLD):
                        found = call()
                    results[chosen] = found.to_dense(fill_value=0).tobytes()
            record["build_ms"] = record["auto"]["first_wall_ms"] - record["auto"]["wall_ms"]
            record["copy_bytes"] = matrix.memory_usage()["hot_columns"]
            record["hot_ran"] = record["auto"]["kernel"].endswith("-hot_columns")
            record["same"] = results["off"] == results["auto"]
            records.append(record)
            report(record)
    return records


def report(record: dict[str, Any]) -> None:
    """Print a record as a line."""
    off, on = record["off"], record["auto"]
    line = (
        f"{record['graph']:14} {record['call']:8} {record['dtype']}  off {off['ms']:8.3f}  "
        f"auto {on['ms']:8.3f} ({off['ms'] / on['ms']:.2f}x)  "
        f"first {record['build_ms']:7.1f} more  copy {record['copy_bytes'] / 1e6:6.1f} MB  "
        f"{on['threads']}x{on['blocks']} "
        f"{on['shared_bytes']} B shared, {on['registers']} registers  "
        f"{'' if record['hot_ran'] else 'NOT HOT '}{'same' if record['same'] else 'DIFFERENT'}"
    )
    print(line, flush=True)


def main() -> int:
    """Measure, print, write the record; 1 if results differ or no hot columns were used."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--graphs", nargs="*", default=GRAPHS)
    options = parser.parse_args()
    compile_all()
    records = []
    for spec in options.graphs:
        records += measure(spec)
        if options.out:
            found = {"environment": describe_environment("cuda"), "results": records}
            part = options.out.with_suffix(".part")
            part.write_text(json.dumps(found, indent=1) + "\n")
            part.replace(options.out)
    return 0 if all(record["same"] and record["hot_ran"] for record in records) else 1


if __name__ == "__main__":
    raise SystemExit(main())
