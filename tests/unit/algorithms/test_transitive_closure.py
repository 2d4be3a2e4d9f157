"""Transitive closure against NetworkX, and what does not fit."""

from __future__ import annotations

import importlib

import networkx as nx
import numpy as np
import pytest
from tests.helpers.every import every

import semira as gb
from semira.algorithms import transitive_closure
from semira.exceptions import DimensionMismatch, OutOfMemory

#: Its function has the name of the module.
HOME = importlib.import_module("semira.algorithms.transitive_closure")


def drawn(n: int, edges: int, seed: int) -> nx.DiGraph:
    """Return a directed graph with cycles, self-loops, and vertices that nothing reaches."""
    rng = np.random.default_rng(seed)
    graph = nx.DiGraph()
    graph.add_nodes_from(range(n))
    graph.add_edges_from(rng.integers(0, max(n, 1), (edges, 2)).tolist())
    return graph


def matrix(graph: nx.DiGraph) -> gb.Matrix:
    edges = np.array(list(graph.edges), int).reshape(-1, 2)
    # Values are not read.
    values = np.arange(len(edges)) % 3 - 1.0
    return gb.Matrix.from_coo(*edges.T, values, dtype="FP64", nrows=len(graph), ncols=len(graph))


GRAPHS = {
    "nothing": (0, 0), "one": (1, 0), "loop": (1, 1), "no edges": (5, 0), "few": (40, 30),
    "some": (60, 70), "one component": (50, 400),
}  # fmt: skip


@every("name", GRAPHS)
@every("reflexive", [False, True])
def test_pairs_are_those_of_networkx(device, name, reflexive):
    graph = drawn(*GRAPHS[name], seed=len(name))
    wanted = nx.transitive_closure(graph, reflexive=reflexive)
    with gb.device(device):
        found = transitive_closure(matrix(graph), reflexive=reflexive)
    rows, cols, values = found.reach.to_coo()
    assert sorted(zip(rows.tolist(), cols.tolist(), strict=True)) == sorted(wanted.edges)
    assert values.dtype == bool
    assert values.all()
    assert found.pairs == wanted.number_of_edges()
    assert found.components == nx.number_strongly_connected_components(graph)


def test_blocks_of_searches_and_options(monkeypatch):
    graph = drawn(60, 70, 4)
    with gb.device("cpu"):
        A = matrix(graph)
        wanted = transitive_closure(A).reach
        for options in ({"policy": "auto"}, {"bits": 8}):
            assert transitive_closure(A, **options).reach.isequal(wanted), options
        monkeypatch.setattr(HOME, "_LEVELS", 1)
        monkeypatch.setattr(HOME, "_SOURCES", 7)
        assert transitive_closure(A).reach.isequal(wanted)


def test_results_that_do_not_fit_are_refused(monkeypatch):
    def refused(A: gb.Matrix, room: int) -> str:
        monkeypatch.setattr(HOME, "free_memory", lambda device: room)
        with pytest.raises(OutOfMemory) as error:
            transitive_closure(A)
        return str(error.value)

    with gb.device("cpu"):
        ring = gb.Matrix.from_coo(range(50), np.roll(range(50), 1), True, nrows=50, ncols=50)
        path = gb.Matrix.from_coo(range(49), range(1, 50), True, nrows=50, ncols=50)
        # Before a search: 50 * 50 pairs of 8 bytes.
        assert "at least 2500 pairs of 50 vertices" in refused(ring, 19_999)
        # While searches run: 1225 pairs of components of 16 bytes.
        assert "need 19600 bytes" in refused(path, 5000)
        # Before the result is made: a ring of 25 that leads to another one.
        rings = gb.Matrix.from_coo(
            [*range(50), 0], [*np.roll(range(25), 1), *np.roll(range(25, 50), 1), 30], True
        )
        assert "at least 1875 pairs" in refused(rings, 14_999)
        monkeypatch.setattr(HOME, "free_memory", lambda device: 20_000)
        assert transitive_closure(ring).pairs == 2500
    with pytest.raises(DimensionMismatch, match="transitive_closure"):
        transitive_closure(gb.Matrix(bool, 3, 4))
