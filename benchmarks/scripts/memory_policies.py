"""Policies of device memory on the same work: cost of a buffer, cost of the work, peak bytes.

Run on a machine with a GPU from the repository's root::

    python -m benchmarks.scripts.memory_policies --out bench/results/memory_policies.json

Each policy runs in a fresh process. A buffer is allocated and freed `CALLS` times at three sizes;
the work is a body of breadth-first search statement by statement, element-wise operations on
matrices, and PageRank. Host time of the submissions and time until the device has finished are
recorded separately. Decision 16 reads the record.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.scripts.device_memory import MemoryPolicy, open_memory, peak_bytes

import semira as gb
from semira.backends.registry import backend_for
from semira.bench.environment import describe_environment

#: Allocations averaged in one sample; samples.
CALLS, SAMPLES = 1_000, 5

#: Bytes of the buffers: a scalar, a small vector, a large one.
SIZES = (16, 64 << 10, 64 << 20)

#: Rounds of each piece of work averaged in one sample.
ROUNDS = {"bfs body": 200, "ewise matrix": 20, "pagerank": 3}


def work(graph: str) -> dict[str, Callable[[], Any]]:
    """Return the pieces of work; each call submits one round."""
    matrix = gb.io.read(graph, dtype="FP32").to("cuda")
    other = matrix.apply(gb.unary.ainv).new()
    n = matrix.nrows
    level = gb.Vector("INT32", n).to("cuda")
    start = gb.Vector.from_coo([0], True, size=n).to("cuda")

    def bfs_body() -> None:
        frontier = start.dup()
        level(frontier.S) << 1
        found = gb.Vector("BOOL", n).to("cuda")
        found(~level.S, replace=True) << frontier.vxm(matrix, gb.semiring.any_pair)

    def ewise() -> None:
        matrix.ewise_add(other, gb.binary.plus).new()
        matrix.ewise_mult(other, gb.binary.times).new()

    def ranks() -> None:
        gb.algorithms.pagerank(matrix, tol=0, max_iterations=20, dtype="FP32")

    return {"bfs body": bfs_body, "ewise matrix": ewise, "pagerank": ranks}


def measure(run: Callable[[], Any], rounds: int, wait: Callable[[], None]) -> dict[str, float]:
    """Return microseconds of a round: until submitted, and until finished."""
    run()
    wait()
    submitted, finished = [], []
    for _ in range(SAMPLES):
        start = time.perf_counter()
        for _ in range(rounds):
            run()
        submitted.append((time.perf_counter() - start) / rounds)
        wait()
        finished.append((time.perf_counter() - start) / rounds)
    return {
        "submitted_us": 1e6 * statistics.median(submitted),
        "finished_us": 1e6 * statistics.median(finished),
    }


def measure_policy(policy: MemoryPolicy, graph: str) -> dict[str, Any]:
    """Return the figures of one policy; runs in a separate process."""
    backend: Any = backend_for("cuda")
    runtime = backend.runtime
    runtime.memory = open_memory(runtime, policy)

    def take(size: int) -> None:
        runtime.allocate(size).close(runtime.stream)

    buffers = {
        str(size): measure(lambda size=size: take(size), CALLS, backend.synchronise)  # type: ignore[misc]
        for size in SIZES
    }
    pieces = {
        name: measure(run, ROUNDS[name], backend.synchronise) for name, run in work(graph).items()
    }
    return {
        "policy": policy.value, "graph": graph, "buffers": buffers, "work": pieces,
        "peak_bytes": peak_bytes(runtime.memory),
        "release_threshold": threshold(runtime.memory),
    }  # fmt: skip


def threshold(resource: Any) -> int | None:
    """Return the free bytes that a pool keeps; None if it is not a pool."""
    attributes = getattr(resource, "attributes", None)
    return None if attributes is None else int(attributes.release_threshold)


def main() -> int:
    """Measure every policy, print a table, write the record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graph", default="kron:18")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--policy", choices=[each.value for each in MemoryPolicy])
    options = parser.parse_args()
    if options.policy is not None:
        print(json.dumps(measure_policy(MemoryPolicy(options.policy), options.graph)))
        return 0
    record = {"schema": 1, **describe_environment("cuda"), "results": []}
    for policy in MemoryPolicy:
        command = [
            sys.executable,
            "-m",
            "benchmarks.scripts.memory_policies",
            "--graph",
            options.graph,
            "--policy",
            policy.value,
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
        if done.returncode:
            sys.stderr.write(f"{policy.value}: {done.stderr}\n")
            return 1
        found = json.loads(done.stdout.splitlines()[-1])
        record["results"].append(found)
        show(found)
    if options.out:
        options.out.write_text(json.dumps(record, indent=1) + "\n")
    return 0


def show(found: dict[str, Any]) -> None:
    """Print one line for a policy."""
    parts = [f"{size} B {row['submitted_us']:.2f}" for size, row in found["buffers"].items()]
    parts += [
        f"{name} {row['submitted_us']:.0f}/{row['finished_us']:.0f}"
        for name, row in found["work"].items()
    ]
    peak = found["peak_bytes"] / 2**20
    print(f"{found['policy']:10} us: {', '.join(parts)}; peak {peak:,.0f} MiB", flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
