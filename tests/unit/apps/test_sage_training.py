"""Training of GraphSAGE: the graph helps where features are noisy."""

from __future__ import annotations

import numpy as np
import pytest

import semira as gb
from semira.apps.sage.train import train_sage
from semira.exceptions import DimensionMismatch, InvalidValue, MissingLibrary


def blocks(n=1200, classes=4, inside=0.03, across=0.003, signal=0.6, seed=1):
    """A block model, and features that tell little of the block."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, classes, n)
    chance = np.where(labels[:, None] == labels, inside, across)
    upper = np.triu(rng.random((n, n)) < chance, 1)
    i, j = np.nonzero(upper | upper.T)
    features = np.eye(classes)[labels] * signal + rng.normal(size=(n, classes))
    order = rng.permutation(n)
    return (i, j), features, labels, order[: n // 2], order[n // 2 :]


def matrix_of(pairs, n, device):
    with gb.device(device):
        return gb.Matrix.from_coo(*pairs, nrows=n, ncols=n)


def test_the_graph_adds_ten_points(device, request):
    pytest.importorskip("torch")
    if device not in ("cpu", "cuda"):
        pytest.skip("sampling is tested there; training takes long")
    if request.config.getoption("--emulate"):
        pytest.skip("PyTorch has no emulated GPU")
    pairs, features, labels, train, test = blocks()
    A = matrix_of(pairs, len(labels), device)
    told = []
    options = {"epochs": 15, "seed": 3}
    found = train_sage(
        A, features, labels, train, **options, progress=lambda *given: told.append(given)
    )
    alone = train_sage(A, features, labels, train, **options, graph=False)
    assert found.accuracy(test) >= alone.accuracy(test) + 0.1
    assert found.losses[-1] < found.losses[0]
    assert told[-1] == (15, 15)
    again = train_sage(A, features, labels, train, **options)
    if device == "cpu":
        assert again.losses == pytest.approx(found.losses, rel=1e-4)


def test_bad_arguments_are_named():
    pytest.importorskip("torch")
    pairs, features, labels, train, _ = blocks(60)
    A = matrix_of(pairs, 60, "cpu")
    with pytest.raises(DimensionMismatch, match="labels must be 60 integers"):
        train_sage(A, features, labels[:50], train)
    with pytest.raises(DimensionMismatch, match="features has shape"):
        train_sage(A, features[:50], labels, train)
    with pytest.raises(InvalidValue, match="needs a label"):
        train_sage(A, features, labels * 0 - 1, train)
    with pytest.raises(InvalidValue, match="epochs=0"):
        train_sage(A, features, labels, train, epochs=0)


def test_without_pytorch_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    pairs, features, labels, train, _ = blocks(60)
    with pytest.raises(MissingLibrary, match="pip install torch"):
        train_sage(matrix_of(pairs, 60, "cpu"), features, labels, train)
