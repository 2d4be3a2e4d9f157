"""The first call of an algorithm in this process; `benchmarks.studies.first_calls` starts it.

    python -m benchmarks.first_call ALGORITHM DEVICE GRAPH

prints one JSON object: seconds of the first call and of the next one, and of the processor during
the first. Before the clock starts, NumPy is loaded, the graph is on the device, and so is CUDA's
context; Numba is not imported.
"""

from __future__ import annotations

import json
import os
import sys
import time

from semira.algorithms.registry import REGISTRY
from semira.backends.cuda.jit.apart import wait_for_all
from semira.bench.graphs import load_bench_graph
from semira.cli.ahead import calls_of, options_of, wait


def main(name: str, device: str, graph: str) -> dict[str, float]:
    """Return the seconds of two calls, and the processor's of the first, over all threads.

    Parameters
    ----------
    name : str
        Of the function.
    device, graph : str
    """
    row, loaded = REGISTRY[name], load_bench_graph(graph)
    matrix = (loaded if row.directed else loaded.undirected).matrix.to(device)
    places, options = next(calls_of(row))
    options = options_of(row, options, symmetric=False)
    taken_s, busy_s = [], []
    for _ in range(2):
        started, busy = time.perf_counter(), _busy_s()
        wait(row, row.function(matrix, *places, **options))
        taken_s.append(time.perf_counter() - started)
        busy_s.append(_busy_s() - busy)
    return {"first_s": taken_s[0], "warm_s": taken_s[1], "cpu_s": busy_s[0]}


def _busy_s() -> float:
    """Return the processor's seconds of this process and of those it has waited for."""
    return sum(os.times()[:4])


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(*sys.argv[1:])) + "\n")
    # The next process is measured with a filled cache.
    wait_for_all()
