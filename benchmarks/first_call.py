"""The first call of an algorithm in this process; `benchmarks.studies.first_calls` starts it.

    python -m benchmarks.first_call ALGORITHM DEVICE GRAPH

prints one JSON object: seconds of the first call and of the next one. Before the clock starts,
NumPy is loaded, the graph is on the device, and so is CUDA's context; Numba is not imported.
"""

from __future__ import annotations

import json
import sys
import time

from semira.algorithms.registry import REGISTRY
from semira.bench.graphs import load_bench_graph
from semira.cli.ahead import first_call_of, wait


def main(name: str, device: str, graph: str) -> dict[str, float]:
    """Return the seconds of two calls.

    Parameters
    ----------
    name : str
        Of the function.
    device, graph : str
    """
    row, loaded = REGISTRY[name], load_bench_graph(graph)
    matrix = (loaded if row.directed else loaded.undirected).matrix.to(device)
    places, options = first_call_of(row)
    taken_s = []
    for _ in range(2):
        started = time.perf_counter()
        wait(row, row.function(matrix, *places, **options))
        taken_s.append(time.perf_counter() - started)
    return {"first_s": taken_s[0], "warm_s": taken_s[1]}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(*sys.argv[1:])) + "\n")
