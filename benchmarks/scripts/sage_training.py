"""Accuracy of GraphSAGE with and without the graph, and of PyTorch Geometric's SAGEConv.

The graph is a generated block model with noisy features, or Cora's files ``cora.content`` and
``cora.cites`` in a folder. Needs PyTorch; torch_geometric is optional.

Examples
--------
python -m benchmarks.scripts.sage_training --device cuda
python -m benchmarks.scripts.sage_training --cora ~/cora
"""

from __future__ import annotations

import argparse
import importlib
from pathlib import Path
from typing import Any

import numpy as np

import semira as gb
from semira.apps.sage.train import train_sage

EPOCHS, BATCH, FANOUTS, HIDDEN, RATE = 20, 512, (10, 10), 64, 0.01


def blocks(n: int = 20_000, classes: int = 5, degree: int = 12) -> tuple[Any, Any, Any]:
    """Return pairs, features and labels: 6 in 10 edges, and some, end in the vertex's own block."""
    rng = np.random.default_rng(1)
    labels = rng.integers(0, classes, n)
    order = np.argsort(labels, kind="stable")
    begin = np.searchsorted(labels[order], np.arange(classes + 1))
    edges = n * degree // 2
    i = rng.integers(0, n, edges)
    low, high = begin[labels[i]], begin[labels[i] + 1]
    own = order[low + (rng.random(edges) * (high - low)).astype(int)]
    j = np.where(rng.random(edges) < 0.6, own, rng.integers(0, n, edges))
    features = np.eye(16)[labels] * 0.9 + rng.normal(size=(n, 16))
    return _both_ways(i, j, n), features.astype(np.float32), labels


def cora(folder: Path) -> tuple[Any, Any, Any]:
    """Return pairs, features and labels of Cora's files."""
    rows = [line.split() for line in (folder / "cora.content").read_text().splitlines()]
    place = {row[0]: number for number, row in enumerate(rows)}
    cites = [line.split() for line in (folder / "cora.cites").read_text().splitlines()]
    i, j = np.array([[place[a], place[b]] for a, b in cites if a in place and b in place]).T
    features = np.array([row[1:-1] for row in rows], np.float32)
    labels = np.unique([row[-1] for row in rows], return_inverse=True)[1]
    return _both_ways(i, j, len(rows)), features, labels


def _both_ways(i: Any, j: Any, n: int) -> Any:
    keys = np.unique(np.concatenate([i * n + j, j * n + i]))
    return keys // n, keys % n


def sage_conv(matrix: Any, pairs: Any, features: Any, labels: Any, train: Any) -> Any:
    """Return the classes that SAGEConv gives, trained on batches of our loader."""
    torch = importlib.import_module("torch")
    layer = importlib.import_module("torch_geometric.nn").SAGEConv
    where = "cuda" if matrix.device == "cuda" else "cpu"
    torch.manual_seed(1)
    first = layer(features.shape[1], HIDDEN).to(where)
    second = layer(HIDDEN, int(labels.max()) + 1).to(where)
    optimiser = torch.optim.Adam([*first.parameters(), *second.parameters()], lr=RATE)
    x, y = torch.as_tensor(features, device=where), torch.as_tensor(labels, device=where)
    loader = gb.apps.neighbour_loader(
        matrix, FANOUTS, seeds=train, batch_size=BATCH, x=x, y=y, shuffle=True, incoming=False
    )
    for _ in range(EPOCHS):
        for batch in loader:
            optimiser.zero_grad()
            scores = second(first(batch.x, batch.edge_index).relu(), batch.edge_index)
            size = batch.batch_size
            torch.nn.functional.cross_entropy(scores[:size], batch.y[:size]).backward()
            optimiser.step()
    with torch.no_grad():
        edges = torch.as_tensor(np.array([pairs[1], pairs[0]]), device=where)
        return second(first(x, edges).relu(), edges).argmax(dim=1).cpu().numpy()


def main() -> None:
    """Print accuracies on the vertices of the test set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cora", type=Path, help="folder of cora.content and cora.cites")
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    asked = parser.parse_args()
    pairs, features, labels = cora(asked.cora) if asked.cora else blocks()
    n = len(labels)
    order = np.random.default_rng(2).permutation(n)
    train, test = order[: n // 5], order[n // 5 :]
    with gb.device(asked.device):
        matrix = gb.Matrix.from_coo(pairs[0], pairs[1], True, nrows=n, ncols=n)
    for graph in (True, False):
        found = train_sage(
            matrix, features, labels, train, graph=graph, epochs=EPOCHS, batch_size=BATCH,
            fanouts=FANOUTS, hidden=HIDDEN, learning_rate=RATE, seed=1,
        )  # fmt: skip
        kind = "with the graph" if graph else "without"
        print(f"Semira, {kind}: {found.accuracy(test):.4f}")
    try:
        classes = sage_conv(matrix, pairs, features, labels, train)
        print(f"SAGEConv on the same batches: {(classes[test] == labels[test]).mean():.4f}")
    except ImportError as error:
        print(f"SAGEConv: {error}")


if __name__ == "__main__":
    main()
