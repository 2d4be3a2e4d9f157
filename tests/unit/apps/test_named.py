"""Applications on graphs whose vertices have names."""

from __future__ import annotations

import numpy as np
import pytest

import semira as gb
from semira.exceptions import DomainMismatch, IndexOutOfBound

ENDS = [(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (4, 5), (3, 5), (6, 7)]
SIZE = 8
LABELS = {
    "text": [f"v{chr(ord('h') - k)}" for k in range(SIZE)],
    "integers": [70, 10, 60, 20, 50, 30, 40, 80],
    "tuples": [(k // 3, k % 3) for k in range(SIZE)],
    "none": None,
}

#: Calls; v makes an argument of the number of a vertex, m a mapping of a list of values.
RUNS = {
    "louvain": lambda A, v, m: gb.apps.louvain(A, initial=m([*range(SIZE)])),
    "leiden": lambda A, v, m: gb.apps.leiden(A),
    "local_clusters": lambda A, v, m: gb.apps.local_clusters(A, [v(1), [v(3), v(6)]], rho=1e-3),
    "random_walks": lambda A, v, m: gb.apps.random_walks(
        A, [v(1), v(6)], 4, kind="greedy", scores=m([*range(SIZE)])
    ),
    "ends": lambda A, v, m: gb.apps.random_walks(A, v(3), 4, keep="ends"),
    "sample_neighbours": lambda A, v, m: gb.apps.sample_neighbours(A, [v(2), v(4)], 2),
    "sage_embedding": lambda A, v, m: gb.apps.sage_embedding(A, dims=2, children=2),
    "geolocate": lambda A, v, m: gb.apps.geolocate(
        A, m([50.0, 10, 20, 30, 0, 1, 2, 3]), m([7.0] * SIZE)
    ),
}


def graph_of(kind, device):
    rows, cols = np.array(ENDS + [(j, i) for i, j in ENDS]).T
    with gb.device(device):
        A = gb.Matrix.from_coo(rows, cols, 1, nrows=SIZE, ncols=SIZE)
        return gb.io.Graph(A, LABELS[kind])


def by_number(A, name):
    return RUNS[name](A, lambda number: number, np.array)


def by_name(graph, name):
    def mapping(values):
        return {graph.name(k): value for k, value in enumerate(values)}

    return RUNS[name](graph, graph.name, np.array if graph.labels is None else mapping)


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("name", RUNS)
def test_tables_have_names(device, name, kind):
    graph = graph_of(kind, device)
    plain, named = by_number(graph.matrix, name), by_name(graph, name)
    assert (plain.graph, named.graph) == (None, graph)
    expected, found = plain.table(), named.table()
    assert list(found) == list(expected)
    for column, values in expected.items():
        is_named = column in named.vertex_columns
        given = graph.names(values) if is_named else values.tolist()
        assert list(map(repr, found[column].tolist())) == list(map(repr, given))
    assert named.columns().keys() == found.keys()


@pytest.mark.parametrize("kind", LABELS)
def test_numbers_of_several_shapes_have_names(device, kind):
    graph = graph_of(kind, device)
    found = gb.apps.random_walks(graph, [graph.name(0), graph.name(6)], 3, seed=1)
    numbers = np.array([[0, -1], [3, 5]])
    named = [[graph.name(0), None], [graph.name(3), graph.name(5)]]
    assert found.names(numbers).tolist() == (numbers.tolist() if kind == "none" else named)
    assert found.names(np.empty((0, 3), int)).shape == (0, 3)
    assert found.names(found.paths)[0, 0] == graph.name(0)


def test_one_name_is_one_vertex(device):
    graph = graph_of("text", device)
    found = gb.apps.local_clusters(graph, "vh", rho=1e-3)
    assert len(found) == 1
    assert found.diffusion().nvals == len(found.table()["vertex"])
    graph = graph_of("tuples", device)
    assert gb.apps.local_clusters(graph, (1, 0), rho=1e-3).table()["vertex"][0] == (1, 0)
    assert len(gb.apps.local_clusters(graph, [(1, 0), (2, 0)], rho=1e-3)) == 2
    assert len(gb.apps.local_clusters(graph, [[(1, 0), (2, 0)]], rho=1e-3)) == 1


def test_hops_and_batches_take_names(device):
    graph = graph_of("integers", device)
    first, second = gb.apps.sample_hops(graph, [70], (2, 1))
    assert first.table()["vertex"].tolist() == [70, 70]
    assert set(second.table()["vertex"].tolist()) <= {10, 60}
    (batch,) = gb.apps.neighbour_loader(graph, (2,), seeds=[50, 80], output="arrays")
    numbers = batch.n_id.get() if hasattr(batch.n_id, "get") else batch.n_id
    assert graph.names(numbers)[:2] == [50, 80]


def test_labels_are_a_mapping(device):
    graph = graph_of("text", device)
    sides = {graph.name(k): int(k > 2) for k in range(SIZE)}
    expected = gb.apps.modularity(graph.matrix, (np.arange(SIZE) > 2).astype(int))
    assert gb.apps.modularity(graph, sides) == expected
    assert gb.apps.contract(graph, sides).to_dense(0).tolist() == [[6, 1], [1, 8]]


def test_places_of_some_are_a_mapping(device):
    graph = graph_of("text", device)
    found = gb.apps.geolocate(graph, {"vh": 10.0}, {"vh": 20.0})
    assert found.table()["iteration"].tolist() == [0, 1, 1, 2, 3, 3, -1, -1]


def test_unknown_names_are_named(device):
    graph = graph_of("text", device)
    with pytest.raises(IndexOutOfBound, match="'Bern'"):
        gb.apps.local_clusters(graph, ["Bern"])
    with pytest.raises(IndexOutOfBound, match="'Bern'"):
        gb.apps.geolocate(graph, {"Bern": 1.0}, {"Bern": 1.0})
    with pytest.raises(DomainMismatch, match="list"):
        gb.apps.random_walks([[1]])
