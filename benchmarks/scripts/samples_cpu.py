"""Sampled neighbourhoods and GraphSAGE on the host, beside DGL and PyTorch if installed.

Both libraries sample 10 neighbours of 1,024 vertices and 25 of each of those in one batch, and
embed all vertices by two hops of 10 neighbours. PyTorch computes the same formulas from the
samples of DGL. Times are of the processor, the least of some calls after one to compile.

Examples
--------
python -m benchmarks.scripts.samples_cpu coAuthorsDBLP
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

import semira as gb
from semira.bench.graphs import load_bench_graph

#: Vertices of a batch, batches, neighbours of both hops; columns of features and of weights.
SEEDS, BATCHES, FANOUTS = 1_024, 20, (10, 25)
FEATURES, WIDTH, CHILDREN, EMBEDDED = 64, 128, 10, 16_384


def least_ms(call: Callable[[], Any], repetitions: int = 3) -> float:
    """Return milliseconds of processor time."""
    call()
    times = []
    for _ in range(repetitions):
        begin = time.process_time()
        call()
        times.append(time.process_time() - begin)
    return 1e3 * min(times)


def installed() -> tuple[ModuleType, ModuleType] | None:
    """Return PyTorch and DGL, without the part of DGL that asks for a certain PyTorch."""
    sys.modules.setdefault("dgl.graphbolt", ModuleType("dgl.graphbolt"))
    try:
        import dgl
        import torch
    except ImportError as error:
        print(f"no peer: {error}")
        return None
    return torch, dgl


def embed(torch: Any, near: Any, far: Any, tables: list[Any], weights: dict[str, Any]) -> Any:
    """Return embeddings by samples (b, C) and (b, C, L) of the first b vertices."""

    def unit(*parts: Any) -> Any:
        return torch.nn.functional.normalize(torch.cat(parts, -1).relu(), dim=-1)

    first, features, own, others = tables
    around = unit(own[near], features[far].mean(2) @ weights["Wa1"]).mean(1)
    mine = unit(own[first : first + len(near)], others[near].mean(1))
    return unit(mine @ weights["Wf2"], around @ weights["Wa2"])


def embed_all(libraries: Any, graph: Any, features: Any, weights: dict[str, Any]) -> None:
    """Embed all vertices by PyTorch, in batches, from samples of DGL."""
    torch, dgl = libraries
    n = len(features)

    def drawn(vertices: Any) -> Any:
        found = dgl.sampling.sample_neighbors(graph, vertices, CHILDREN, replace=True)
        return found.edges()[0].reshape(-1, CHILDREN)

    own, others = features @ weights["Wf1"], features @ weights["Wa1"]
    for first in range(0, n, EMBEDDED):
        near = drawn(torch.arange(first, min(n, first + EMBEDDED)))
        far = drawn(near.reshape(-1)).reshape(*near.shape, CHILDREN)
        embed(torch, near, far, [first, features, own, others], weights)


def main(name: str) -> None:
    """Print a line for each library and task."""
    rng = np.random.default_rng(0)
    matrix = load_bench_graph(name, weights=False).undirected.matrix.to("cpu")
    n = matrix.nrows
    seeds = rng.permutation(np.unique(matrix.to_coo(values=False)[0]).astype(np.int64))
    seeds = seeds[: SEEDS * BATCHES]
    loader = gb.apps.neighbour_loader(
        matrix, FANOUTS, seeds=seeds, batch_size=SEEDS, output="arrays"
    )
    batches = -(-len(seeds) // SEEDS)
    print(f"semira, batch {least_ms(lambda: [*loader]) / batches:.2f} ms")
    features = rng.random((n, FEATURES), np.float32)
    shapes = {
        "Wf1": (FEATURES, WIDTH), "Wa1": (FEATURES, WIDTH),
        "Wf2": (2 * WIDTH, WIDTH), "Wa2": (2 * WIDTH, WIDTH),
    }  # fmt: skip
    weights = {
        key: rng.uniform(-0.1, 0.1, shape).astype(np.float32) for key, shape in shapes.items()
    }
    mine = least_ms(lambda: gb.apps.sage_embedding(matrix, features, **weights, children=CHILDREN))
    print(f"semira, embedding {mine:.0f} ms")
    peer = installed()
    if peer is None:
        return
    torch, dgl = peer
    rows, cols, _ = matrix.to_coo(values=False)
    ends = torch.tensor(rows.astype(np.int64)), torch.tensor(cols.astype(np.int64))
    graph = dgl.graph(ends, num_nodes=n).formats("csc")
    sampler = dgl.dataloading.NeighborSampler([*reversed(FANOUTS)])
    parts = torch.tensor(seeds).split(SEEDS)
    theirs = least_ms(lambda: [sampler.sample_blocks(graph, part) for part in parts])
    print(f"DGL {dgl.__version__}, batch {theirs / batches:.2f} ms")
    given = torch.tensor(features), {key: torch.tensor(each) for key, each in weights.items()}
    theirs = least_ms(lambda: embed_all(peer, graph, *given))
    print(f"PyTorch {torch.__version__} with DGL, embedding {theirs:.0f} ms")


if __name__ == "__main__":
    main(sys.argv[1])
