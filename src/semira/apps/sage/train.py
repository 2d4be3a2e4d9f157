"""Training of GraphSAGE on labels, with PyTorch: an extra that needs it installed.

Neighbourhoods are sampled by `semira.apps.neighbour_loader`, whose tensors lie where the matrix
does; layers and gradients are PyTorch's.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira import Matrix
from semira.apps.sampling import neighbour_loader
from semira.apps.sampling.loader import torch_for
from semira.apps.sampling.problem import check_int, matrix_of, vertices_of
from semira.exceptions import DimensionMismatch, InvalidValue


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TrainedSage:
    """A trained network, by `train_sage`.

    Attributes
    ----------
    model : torch.nn.Module
        Of (features, edge_index): scores of each class.
    losses : list of float
        Mean loss of each epoch.
    classes : ndarray of int64, shape (n,)
        The class that the model gives each vertex, with all of its neighbours.
    """

    model: Any
    losses: list[float]
    classes: NDArray[np.int64]
    _labels: NDArray[np.int64] = field(repr=False)

    def accuracy(self, vertices: Any) -> float:
        """Return the share of vertices that have the class of their label."""
        places = np.asarray(vertices)
        return float((self.classes[places] == self._labels[places]).mean())


def sage_network(columns: int, hidden: Sequence[int], classes: int, *, graph: bool = True) -> Any:
    """Return layers ``x W + (mean of neighbours' x) W'`` with ReLU between them, of PyTorch.

    It is called with features (n, columns) and edge_index (2, edges): neighbour and vertex. Without
    `graph`, layers are ``x W`` alone.

    Raises
    ------
    MissingLibrary
        PyTorch is not installed.
    """
    torch = torch_for("torch")

    class Layer(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self, rows: int, width: int) -> None:
            super().__init__()
            self.own = torch.nn.Linear(rows, width)
            self.around = torch.nn.Linear(rows, width, bias=False) if graph else None

        def forward(self, x: Any, edge_index: Any) -> Any:
            out = self.own(x)
            if self.around is None:
                return out
            source, target = edge_index
            total = torch.zeros_like(x).index_add_(0, target, x[source])
            count = torch.bincount(target, minlength=len(x)).clamp(min=1)
            return out + self.around(total / count[:, None])

    class Network(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            widths = [columns, *hidden, classes]
            pairs = itertools.pairwise(widths)
            self.layers = torch.nn.ModuleList(Layer(*pair) for pair in pairs)

        def forward(self, x: Any, edge_index: Any) -> Any:
            for number, layer in enumerate(self.layers):
                x = layer(x.relu() if number else x, edge_index)
            return x

    return Network()


def train_sage(
    A: Matrix,
    /,
    features: Any,
    labels: Any,
    train: Any,
    *,
    hidden: int = 64,
    fanouts: Sequence[int] = (10, 10),
    epochs: int = 20,
    batch_size: int = 512,
    learning_rate: float = 0.01,
    graph: bool = True,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> TrainedSage:
    """Train a network with a layer for each fan-out to tell the labels of vertices.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Entry (i, j): j is a neighbour of i.
    features : array of float, shape (n, F)
    labels : array of int, shape (n,)
        Classes from 0; -1 where unknown.
    train : sequence of int
        Vertices to learn from, all with a label.
    hidden : int >= 1
        Columns between layers.
    fanouts : sequence of int
        Neighbours drawn for a vertex in each layer.
    epochs, batch_size : int >= 1
    learning_rate : float
        Of Adam.
    graph : bool
        False: the same network without neighbours, to compare with.
    seed : int >= 0
        Of samples, order and first weights.
    progress : callable of (done, total), optional
        Called after each epoch.

    Returns
    -------
    TrainedSage

    Raises
    ------
    MissingLibrary
        PyTorch is not installed.
    InvalidValue, DimensionMismatch
        A vertex to learn from has no label, or shapes do not fit.

    References
    ----------
    W. Hamilton, R. Ying, J. Leskovec, *Inductive representation learning on large graphs*, NeurIPS
    2017.
    """
    torch = torch_for("torch")
    A = matrix_of(A, "train_sage")
    check_int(epochs, "epochs", 1)
    known = _labels_of(labels, A.nrows)
    learned = vertices_of(train, A.nrows, np, "train")
    if not len(learned) or known[learned].min() < 0:
        raise InvalidValue("train: every vertex to learn from needs a label from 0 on")
    where = "cuda" if A.device == "cuda" else "cpu"
    x = torch.as_tensor(np.asarray(features, np.float32), device=where)
    if x.ndim != 2 or len(x) != A.nrows:
        raise DimensionMismatch(f"features has shape {tuple(x.shape)} for {A.nrows} vertices")
    y = torch.as_tensor(known, device=where)
    torch.manual_seed(seed)
    widths = [hidden] * (len(fanouts) - 1)
    model = sage_network(x.shape[1], widths, int(known.max()) + 1, graph=graph).to(where)
    optimiser = torch.optim.Adam(model.parameters(), lr=learning_rate)
    loader = neighbour_loader(
        A, fanouts, seeds=learned, batch_size=batch_size, x=x, y=y, incoming=False,
        shuffle=True, seed=seed, output="torch",
    )  # fmt: skip
    losses = []
    for epoch in range(epochs):
        total = 0.0
        for batch in loader:
            optimiser.zero_grad()
            scores = model(batch.x, batch.edge_index)[: batch.batch_size]
            loss = torch.nn.functional.cross_entropy(scores, batch.y[: batch.batch_size])
            loss.backward()
            optimiser.step()
            total += float(loss.detach()) * batch.batch_size
        losses.append(total / len(learned))
        if progress is not None:
            progress(epoch + 1, epochs)
    with torch.no_grad():
        i, j, _ = A.to_coo(values=False)
        edges = torch.as_tensor(np.array([j, i], np.int64), device=where)
        classes = model(x, edges).argmax(dim=1).cpu().numpy()
    return TrainedSage(model, losses, classes, known)


def _labels_of(labels: Any, n: int) -> NDArray[np.int64]:
    known = np.asarray(labels)
    if known.shape != (n,) or known.dtype.kind not in "iu":
        raise DimensionMismatch(
            f"labels must be {n} integers, got dtype {known.dtype}, shape {known.shape}"
        )
    return known.astype(np.int64)
