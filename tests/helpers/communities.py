"""Graphs with communities, and modularity by its formula."""

from __future__ import annotations

import networkx as nx
import numpy as np

import semira as gb


def matrix_of(graph, device, weight=None):
    """Return the adjacency of a NetworkX graph with vertices 0, 1, ..., n - 1."""
    n = graph.number_of_nodes()
    dtype = bool if weight is None else None
    array = nx.to_scipy_sparse_array(graph, range(n), weight=weight, dtype=dtype).tocoo()
    with gb.device(device):
        return gb.Matrix.from_coo(array.row, array.col, array.data, nrows=n, ncols=n)


def groups_of(labels):
    """Return the sets of vertices of equal labels."""
    return [set(np.flatnonzero(labels == label).tolist()) for label in np.unique(labels)]


def planted(device, *, groups, size, inside, outside, seed=1):
    """Return a graph of dense groups with few edges between them, and the group of each vertex."""
    graph = nx.random_partition_graph([size] * groups, inside, outside, seed=seed)
    return matrix_of(graph, device), np.repeat(np.arange(groups), size)


def plain_modularity(dense, labels, resolution=1.0):
    """Return the modularity of labels from a dense matrix, pair by pair."""
    total = dense.sum()
    if total == 0:
        return 0.0
    expected = np.outer(dense.sum(1), dense.sum(0)) / total
    same = labels[:, None] == labels[None, :]
    return float(((dense - resolution * expected) * same).sum() / total)
