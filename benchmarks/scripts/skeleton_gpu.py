"""Breadth-first search through the cuda backend on kron21 and on the 4900 x 4900 grid.

Run on a machine with a GPU from the repository's root::

    python -m benchmarks.scripts.skeleton_gpu --out skeleton_gpu.json

Three times, each the median of 5 after a warm-up: `kernel` between events around the launch,
`device` between events around one `execute` (including the host's preparation and the upload of
the table), `wall` by the host's clock around the same calls; `call` is the public
`semira.algorithms.bfs`, from Python to Python.
Levels are checked by their properties: 0 at the source only, at most 1 apart along every edge,
a neighbour one lower for every other vertex, and no edge between reached and unreached.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import statistics
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import cupy as cp
import numpy as np
from tests.helpers.bfs_program import LEVEL, bfs_bindings, bfs_program, iso_graph

from semira.backends.cuda.lower import LaunchShape
from semira.backends.registry import backend_for

#: Predicted before the first run, in ms.
PREDICTED = {"kron21": 1.0, "grid4900": 100.0, "grid50": 0.6}


def compress(size: int, rows: Any, cols: Any) -> tuple[Any, Any]:
    """Return indptr and indices of the symmetric graph with these edges, without self-loops."""
    keep = rows != cols
    rows, cols = rows[keep], cols[keep]
    keys = cp.concatenate([rows * size + cols, cols * size + rows])
    del rows, cols, keep
    keys.sort()
    fresh = cp.ones(len(keys), bool)
    fresh[1:] = keys[1:] != keys[:-1]
    keys = keys[fresh]
    counts = cp.bincount(keys // size, minlength=size)
    indptr = cp.zeros(size + 1, cp.int32)
    indptr[1:] = cp.cumsum(counts).astype(cp.int32)
    return indptr, (keys % size).astype(cp.int32)


def kronecker(scale: int, edge_factor: int, seed: int) -> tuple[Any, Any]:
    """Return an R-MAT graph with a, b, c = 0.57, 0.19, 0.19 and permuted vertices."""
    cp.random.seed(seed)
    size, count = 1 << scale, edge_factor << scale
    rows, cols = cp.zeros(count, cp.int64), cp.zeros(count, cp.int64)
    for _ in range(scale):
        draw = cp.random.random(count, dtype=cp.float32)
        rows = 2 * rows + (draw >= 0.76)
        cols = 2 * cols + (((draw >= 0.57) & (draw < 0.76)) | (draw >= 0.95))
    order = cp.random.permutation(size)
    return compress(size, order[rows], order[cols])


def grid(side: int) -> tuple[Any, Any]:
    """Return a square grid with 4 neighbours."""
    at = cp.arange(side * side, dtype=cp.int64).reshape(side, side)
    rows = cp.concatenate([at[:, :-1].ravel(), at[:-1].ravel()])
    cols = cp.concatenate([at[:, 1:].ravel(), at[1:].ravel()])
    return compress(side * side, rows, cols)


def check(indptr: Any, indices: Any, level: np.ndarray, source: int) -> list[str]:
    """Return what is wrong with the levels; -1 stands for unreached."""
    level = cp.asarray(level)
    wrong = []
    if int(level[source]) != 0 or int((level == 0).sum()) != 1:
        wrong.append("level 0 is not the source alone")
    # Row of each entry: a running count of the rows that start at or before it.
    starts = cp.bincount(indptr[1:-1], minlength=len(indices) + 1)[: len(indices)]
    rows = cp.cumsum(starts).astype(cp.int32)
    here, there = level[rows], level[indices]
    if bool(((here < 0) != (there < 0)).any()):
        wrong.append("an edge joins a reached and an unreached vertex")
    if bool((cp.abs(here - there) > 1).any()):
        wrong.append("levels differ by more than 1 along an edge")
    parents = cp.zeros(len(level), bool)
    parents[rows[there == here - 1]] = True
    if bool(((level > 0) & ~parents).any()):
        wrong.append("a vertex has no neighbour one level lower")
    return wrong


def dense(level: Any) -> np.ndarray:
    """Return levels as an array, -1 where there is no entry."""
    found = np.full(level.size, -1, np.int64)
    found[level.entry_indices()] = level.entry_values()
    return found


def measure(
    backend: Any, name: str, graph: tuple[Any, Any], matrix: Any, source: int
) -> dict[str, Any]:
    """Time one graph and check its levels."""
    indptr, indices = graph
    size = len(indptr) - 1
    executable = backend.prepare(bfs_program(backend.capabilities()))
    samples, kernels, walls, waits = [], [], [], []
    for _ in range(6):
        bindings = bfs_bindings(backend, matrix, size, source, 1_000_000)
        backend.synchronise()
        before = backend.statistics()
        start, end = (cp.cuda.Event() for _ in range(2))
        stream = cp.cuda.Stream.from_external(backend.runtime.stream)
        start.record(stream)
        clock = time.perf_counter()
        with backend.profiled() as profile:
            outcome = backend.execute(executable, bindings)
        walls.append(1e3 * (time.perf_counter() - clock))
        end.record(stream)
        end.synchronize()
        kernels.append(profile.device_ms)
        samples.append(cp.cuda.get_elapsed_time(start, end))
        waits.append(backend.statistics().synchronisations - before.synchronisations)
    level = dense(backend.get(bindings[LEVEL]))
    wrong = check(indptr, indices, level, source)
    median = statistics.median(samples[1:])
    levels = outcome.loops[0].iterations
    methods = [row.method for row in outcome.trace]
    record = {
        "graph": name, "threads": backend.shape.threads,
        "blocks_per_sm": backend.shape.blocks_per_sm,
        "n": size, "entries": len(indices), "source": source,
        "levels": levels, "depth": int(level.max()), "reached": int((level >= 0).sum()),
        "device_ms": median, "device_ms_samples": samples[1:], "first_ms": samples[0],
        "kernel_ms": statistics.median(kernels[1:]), "kernel_ms_samples": kernels[1:],
        "wall_ms": statistics.median(walls[1:]),
        "us_per_level": 1e3 * statistics.median(kernels[1:]) / levels,
        "host_synchronisations": max(waits), "predicted_ms": PREDICTED.get(name),
        "push": methods.count("push"), "pull": methods.count("pull"),
        "verified": not wrong, "wrong": wrong,
        "first_rows": [
            [r.iteration, r.method, r.frontier, r.touched, r.produced] for r in outcome.trace[:12]
        ],
    }  # fmt: skip
    print(
        f"{name:8} {backend.shape.threads:>4}x{backend.shape.blocks_per_sm} "
        f"n={size:>10,} nnz={len(indices):>12,} levels={levels:>6} "
        f"kernel={record['kernel_ms']:9.3f} device={median:9.3f} wall={record['wall_ms']:9.3f} ms "
        f"{record['us_per_level']:8.2f} us/level waits={max(waits)} "
        f"push/pull={record['push']}/{record['pull']} verified={record['verified']} {wrong}",
        flush=True,
    )
    if levels < 12:
        for row in record["first_rows"]:
            print("   ", *row)
    return record


def measure_call(name: str, graph: tuple[Any, Any], source: int) -> dict[str, Any]:
    """Time the public function on a matrix made through the public API."""
    import semira as gb

    indptr, indices = (part.get() for part in graph)
    matrix = gb.Matrix.from_csr(indptr, indices, True, ncols=len(indptr) - 1).to("cuda")
    backend, walls, waits = backend_for("cuda"), [], []
    for _ in range(6):
        backend.synchronise()
        before = backend.statistics()
        clock = time.perf_counter()
        found = gb.algorithms.bfs(matrix, source)
        walls.append(1e3 * (time.perf_counter() - clock))
        waits.append(backend.statistics().synchronisations - before.synchronisations)
    level = found.level.to_dense(-1).astype(np.int64)
    wrong = check(*graph, level, source)
    record = {
        "graph": name, "function": "semira.algorithms.bfs", "call_ms": statistics.median(walls[1:]),
        "call_ms_samples": walls[1:], "first_call_ms": walls[0],
        "host_synchronisations": max(waits[1:]), "verified": not wrong, "wrong": wrong,
    }  # fmt: skip
    print(
        f"{name:8} semira.algorithms.bfs call={record['call_ms']:9.3f} ms "
        f"first={walls[0]:9.3f} ms waits={waits} verified={not wrong} {wrong}",
        flush=True,
    )
    return record


def environment(backend: Any) -> dict[str, Any]:
    """Return the environment of the figures."""

    def version(name: str) -> str | None:
        try:
            return importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            return None

    commit = subprocess.run(
        ["git", "rev-parse", "--verify", "--quiet", "HEAD"],  # noqa: S607 - git from PATH
        capture_output=True,
        text=True,
        check=False,
    ).stdout.strip()
    names = ("numpy", "cupy-cuda13x", "cuda-core", "cuda-bindings", "nvidia-cuda-nvrtc")
    return {
        "schema": 1, "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": os.environ.get("SEMIRA_COMMIT") or commit or "unknown",
        "command": " ".join(sys.argv),
        "gpu": backend.runtime.device.name, "driver": cp.cuda.runtime.driverGetVersion(),
        "python": sys.version.split()[0], "versions": {name: version(name) for name in names},
    }  # fmt: skip


def main() -> int:
    """Measure, print, write the record; 1 if any answer is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--shapes", default="256x4", help="block x blocks per SM, ...")
    parser.add_argument("--small", action="store_true", help="skip the two big graphs")
    options = parser.parse_args()
    backend = backend_for("cuda")
    record = environment(backend) | {"results": []}
    cases = [("grid50", lambda: grid(50)), ("kron14", lambda: kronecker(14, 16, 1))]
    if not options.small:
        cases += [("kron21", lambda: kronecker(21, 44, 1)), ("grid4900", lambda: grid(4900))]
    for name, make in cases:
        graph = make()
        source = int(cp.argmax(cp.diff(graph[0]))) if name.startswith("kron") else 0
        matrix = backend.put(iso_graph(graph[0].get(), graph[1].get()))
        for shape in options.shapes.split(","):
            backend.shape = LaunchShape(*map(int, shape.split("x")))
            record["results"].append(measure(backend, name, graph, matrix, source))
        backend.release(matrix)
        backend.shape = None
        record["results"].append(measure_call(name, graph, source))
        del graph
        cp.get_default_memory_pool().free_all_blocks()
    if options.out:
        options.out.write_text(json.dumps(record, indent=1) + "\n")
    return 0 if all(result["verified"] for result in record["results"]) else 1


if __name__ == "__main__":
    raise SystemExit(main())
