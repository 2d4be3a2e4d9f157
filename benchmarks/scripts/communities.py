"""Times and modularity of Louvain and Leiden, beside igraph's Leiden where it is installed.

Run from the repository's root::

    python -m benchmarks.scripts.communities coAuthorsDBLP cnr-2000
    python -m benchmarks.scripts.communities --device cuda coAuthorsDBLP

Graphs are names that `semira.bench` knows; edges go both ways and have no weights. A time is the
least of some warm calls, from call to labels on the device; ``cpu ms`` is processor time of all
threads, which other programs on the machine change less.
"""

from __future__ import annotations

import argparse
import functools
import time
from collections.abc import Callable
from typing import Any

import semira as gb
from semira.bench.graphs import load_bench_graph


def measured(run: Callable[[], Any], repetitions: int) -> tuple[Any, float, float]:
    """Return the result, and the least wall and processor time."""
    found, walls, processors = run(), [], []
    for _ in range(repetitions):
        wall, processor = time.perf_counter(), time.process_time()
        found = run()
        walls.append(time.perf_counter() - wall)
        processors.append(time.process_time() - processor)
    return found, min(walls), min(processors)


def main() -> None:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("graphs", nargs="+")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    line = "{:16} {:16} {:9.5f} {:9} {:10.2f} {:10.2f}"
    print("graph            method           modularity  groups    wall ms     cpu ms")
    for name in given.graphs:
        rows, columns, _ = load_bench_graph(name, weights=False).matrix.to_coo()
        n = int(max(rows.max(), columns.max())) + 1
        apart = rows != columns
        rows, columns = rows[apart], columns[apart]
        with gb.device(given.device):
            one_way = gb.Matrix.from_coo(rows, columns, True, nrows=n, ncols=n)
            matrix = one_way.ewise_add(one_way.T, gb.monoid.lor).new()
        methods = {"louvain": gb.apps.louvain, "leiden": gb.apps.leiden}
        if not gb.device_traits(given.device).own_memory:
            methods["louvain serial"] = functools.partial(gb.apps.louvain, order="serial")
        for title, method in methods.items():
            found, wall, processor = measured(
                lambda matrix=matrix, method=method: method(matrix, seed=given.seed),
                given.repetitions,
            )
            times = 1e3 * wall, 1e3 * processor
            counts = found.modularity, found.num_communities
            print(line.format(name, title, *counts, *times))
        _igraph(line, name, matrix, given.repetitions)


def _igraph(line: str, name: str, matrix: Any, repetitions: int) -> None:
    try:
        import igraph
    except ImportError:
        return
    rows, columns, _ = matrix.to_coo()
    once = rows < columns
    graph = igraph.Graph(n=matrix.nrows, edges=list(zip(rows[once], columns[once], strict=True)))
    found, wall, processor = measured(
        lambda: graph.community_leiden("modularity", n_iterations=2), repetitions
    )
    times = 1e3 * wall, 1e3 * processor
    print(line.format(name, "igraph leiden(2)", found.modularity, len(found), *times))


if __name__ == "__main__":
    main()
