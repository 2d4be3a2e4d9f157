"""Compare two versions of the package on one GPU, in turn: whole calls of the five algorithms.

Run on a machine with a GPU from the repository's root, with the sources of the other version::

    python -m benchmarks.scripts.versions_gpu OLD/src --graphs kron21,minnesota --out versions.json

Each version has a process for each graph, which loads it and compiles what the algorithms need.
They then take turns: old, new, old, new, each time the minimum of `--calls` calls by the host's
clock until the result is complete. The table has both times, the ratio new/old, old/old (the
spread between two turns of one version), and new/old by the device's clock. Processes differ too:
name a graph twice to see by how much.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

ALGORITHMS = ("bfs", "sssp", "pagerank", "cc", "tc")

#: Most seconds of one turn.
TURN_S = 4.0


def serve(name: str, folder: str, calls: int) -> None:
    """Load a graph, then answer each line, an algorithm's name, with its minimum times in ms."""
    import numpy as np

    from semira.bench.graphs import load_bench_graph
    from semira.bench.libraries import UNDIRECTED
    from semira.bench.ours import semira_library

    try:
        import cupy as xp
    except ImportError:
        xp = np
    graph = load_bench_graph(name, Path(folder), xp if name.startswith(("kron", "rmat")) else np)
    library = semira_library("cuda")
    entries, matrices = library.entries, {}
    degrees = graph.matrix.reduce_rowwise("count").new()
    source = int(np.argmax(degrees.to_dense(0)))
    print("ready", flush=True)
    for line in sys.stdin:
        kernel = line.strip()
        entry = entries[kernel]
        if kernel not in matrices:
            # Free the matrix of the previous algorithm.
            matrices.clear()
            matrices[kernel] = entry.prepare(graph.undirected if kernel in UNDIRECTED else graph)
        times: list[float] = []
        begin = time.perf_counter()
        while len(times) < calls and (time.perf_counter() - begin < TURN_S or len(times) < 3):
            start = time.perf_counter()
            entry.run(matrices[kernel], source)
            times.append(time.perf_counter() - start)
        told = library.profile(partial(entry.run, matrices[kernel], source))
        print(json.dumps([1e3 * min(times), 1e3 * min(told["device_s"])]), flush=True)


class Server:
    """A process of one version that holds one graph."""

    def __init__(self, source: Path, graph: str, folder: str, calls: int) -> None:
        paths = [str(source), *filter(None, [os.environ.get("PYTHONPATH")])]
        self._process = subprocess.Popen(  # noqa: S603 - this file
            [sys.executable, __file__, "--serve", graph, "--folder", folder, "--calls", str(calls)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        )  # fmt: skip

    def line(self) -> str:
        """Return its next line of output; empty if it has ended."""
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def ask(self, text: str) -> None:
        """Ask for the time of an algorithm."""
        assert self._process.stdin is not None
        self._process.stdin.write(text + "\n")
        self._process.stdin.flush()

    def close(self) -> None:
        """End it."""
        self._process.kill()


def compare(
    graph: str, pair: tuple[Server, Server], algorithms: Sequence[str]
) -> list[dict[str, Any]]:
    """Return the times of both versions, taking turns for each algorithm."""
    if any(each.line() != "ready" for each in pair):
        return [{"graph": graph, "note": "a version did not load it"}]
    rows = []
    for kernel in algorithms:
        if kernel == "tc" and graph.startswith("rmat"):
            continue
        for each in pair:
            each.ask(kernel)
        compiled = [each.line() for each in pair]
        if not all(compiled):
            rows.append({"graph": graph, "algorithm": kernel, "note": "failed"})
            break
        turns, device = [], []
        for each in (*pair, *pair):
            each.ask(kernel)
            host, gpu = json.loads(each.line())
            turns.append(host)
            device.append(gpu)
        old, new = min(turns[0], turns[2]), min(turns[1], turns[3])
        spread = max(turns[0], turns[2]) / old
        on_device = min(device[1], device[3]) / min(device[0], device[2])
        row = {"graph": graph, "algorithm": kernel, "old_ms": old, "new_ms": new,
               "ratio": new / old, "spread": spread, "turns_ms": turns, "device_ms": device,
               "device_ratio": on_device}  # fmt: skip
        rows.append(row)
        told = f"{old:9.4f} {new:9.4f} {new / old:6.3f} {spread:6.3f} {on_device:6.3f}"
        print(f"{graph:16} {kernel:9} {told}", flush=True)
    for each in pair:
        each.close()
    return rows


def main() -> None:
    """Compare, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("old", nargs="?", help="folder of the other version's sources")
    parser.add_argument("--graphs", default="minnesota")
    parser.add_argument("--algorithms", default=",".join(ALGORITHMS))
    parser.add_argument("--folder", default=os.environ.get("SEMIRA_TEST_DATA", "../shared/data"))
    parser.add_argument("--calls", type=int, default=30)
    parser.add_argument(
        "--limit", type=float, default=400.0, help="seconds after which no graph starts"
    )
    parser.add_argument("--out")
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.serve:
        serve(asked.serve, asked.folder, asked.calls)
        return
    begin, new = time.perf_counter(), Path(__file__).resolve().parents[2] / "src"
    pairs = [
        (
            graph,
            (
                Server(Path(asked.old), graph, asked.folder, asked.calls),
                Server(new, graph, asked.folder, asked.calls),
            ),
        )
        for graph in asked.graphs.split(",")
    ]
    rows: list[dict[str, Any]] = []
    for graph, pair in pairs:
        if time.perf_counter() - begin < asked.limit:
            rows += compare(graph, pair, asked.algorithms.split(","))
        if asked.out:
            Path(asked.out).write_text(json.dumps(rows, indent=1) + "\n")
    for name in ("ratio", "device_ratio"):
        ratios = [row[name] for row in rows if name in row]
        if ratios:
            mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
            print(f"{name}: geometric mean {mean:.4f}", flush=True)


if __name__ == "__main__":
    main()
