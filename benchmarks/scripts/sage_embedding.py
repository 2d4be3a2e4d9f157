"""GraphSAGE's embedding of a random graph of the size of pokec, degrees as skewed, by batch size.

Run from the repository's root::

    python -m benchmarks.scripts.sage_embedding --device cuda
    python -m benchmarks.scripts.sage_embedding --vertices 20000
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

import semira as gb
from semira.kernels import array_module

#: Vertices and entries of pokec, columns of the features and of each layer.
VERTICES, ENTRIES, FEATURES, WIDTH = 1_632_803, 44_603_928, 64, 128


def graph_of(vertices: int, device: str) -> Any:
    """Return a symmetric graph whose ends are drawn by log-normal weights."""
    rng = np.random.default_rng(5)
    count = ENTRIES * vertices // VERTICES // 2
    total = np.cumsum(np.exp(rng.standard_normal(vertices) * 1.2))
    i, j = (np.searchsorted(total, rng.random(count) * total[-1]) for _ in range(2))
    ends = np.concatenate([i, j]), np.concatenate([j, i])
    with gb.device(device):
        return gb.Matrix.from_coo(*ends, True, nrows=vertices, ncols=vertices, dup_op=gb.binary.any)


def main() -> None:
    """Print the least time of three calls for each batch size."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--vertices", type=int, default=VERTICES)
    parser.add_argument("--device", default="cpu")
    given = parser.parse_args()
    graph, rng = graph_of(given.vertices, given.device), np.random.default_rng(1)
    shapes = {
        "Wf1": (FEATURES, WIDTH), "Wa1": (FEATURES, WIDTH),
        "Wf2": (2 * WIDTH, WIDTH), "Wa2": (2 * WIDTH, WIDTH),
    }  # fmt: skip
    with array_module(given.device) as xp:
        features = xp.asarray(rng.random((given.vertices, FEATURES), np.float32))
        weights = {
            name: xp.asarray(rng.uniform(-0.1, 0.1, shape).astype(np.float32))
            for name, shape in shapes.items()
        }
    print(f"{graph.nrows:,} vertices, {graph.nvals:,} entries, {FEATURES} features")
    for batch in (16_384, 65_536, 262_144):
        times = []
        for _ in range(4):
            begin = time.perf_counter()
            kept = gb.apps.sage_embedding(graph, features, **weights, batch=batch)
            if given.device == "cuda":
                xp.cuda.Device().synchronize()
            times.append(time.perf_counter() - begin)
            del kept
        print(f"batch {batch:,}: {1e3 * min(times[1:]):.1f} ms")


if __name__ == "__main__":
    main()
