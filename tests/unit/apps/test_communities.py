"""Louvain, Leiden, modularity and contraction beside NetworkX, and the same on every device."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import semira as gb


@pytest.fixture
def device(device):
    if device == "suitesparse":
        pytest.skip("runs no kernels over arrays")
    return device


def matrix_of(graph, device, weight=None, dtype=None):
    """Return the adjacency of a NetworkX graph with vertices 0, 1, ..., n - 1."""
    n = graph.number_of_nodes()
    if weight is None and dtype is None:
        dtype = bool
    array = nx.to_scipy_sparse_array(graph, range(n), weight=weight, dtype=dtype).tocoo()
    with gb.device(device):
        return gb.Matrix.from_coo(array.row, array.col, array.data, nrows=n, ncols=n)


def groups_of(labels):
    return [set(np.flatnonzero(labels == label).tolist()) for label in np.unique(labels)]


@pytest.mark.parametrize("name", ["louvain", "leiden"])
def test_the_karate_club_is_found(device, name):
    graph = nx.karate_club_graph()
    found = getattr(gb.apps, name)(matrix_of(graph, device))
    labels = found.host_labels
    assert found.modularity >= 0.41
    groups = groups_of(labels)
    assert found.modularity == pytest.approx(
        nx.community.modularity(graph, groups, weight=None), abs=1e-12
    )
