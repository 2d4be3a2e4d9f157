"""Applications on graphs whose vertices have names."""

from __future__ import annotations

import numpy as np
import pytest
from tests.helpers.every import every

import semira as gb
from semira.exceptions import DomainMismatch, IndexOutOfBound, InvalidValue

ENDS = [(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (4, 5), (3, 5), (6, 7)]
SIZE = 8
LABELS = {
    "text": [f"v{chr(ord('h') - k)}" for k in range(SIZE)],
    "integers": [70, 10, 60, 20, 50, 30, 40, 80],
    "tuples": [(k // 3, k % 3) for k in range(SIZE)],
    "none": None,
}

PATTERN = [[0.1], [0.5]], ([0], [1], [[1.0]])


def matrix_of(graph):
    return graph if isinstance(graph, gb.Matrix) else graph.matrix


def triangle_on(device):
    with gb.device(device):
        return gb.Matrix.from_coo([0, 1, 2, 1, 2, 0], [1, 2, 0, 0, 1, 2])


def features_of(A, v):
    rows, columns, _ = matrix_of(A).to_coo()
    ends = [list(map(v, each[::-1].tolist())) for each in (rows, columns)]
    return gb.apps.EdgeFeatures(*ends, [[k % 3] for k in range(len(rows))])


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
    "classify": lambda A, v, m: gb.apps.classify(
        A, m([[k / SIZE] for k in range(SIZE)]), features_of(A, v), *PATTERN
    ),
    "subgraph_match": lambda A, v, m: gb.apps.subgraph_match(
        A,
        triangle_on(matrix_of(A).device),
        labels=m([k % 2 for k in range(SIZE)]),
        pattern_labels=[1, 0, 0],
    ),
    "project": lambda A, v, m: gb.apps.project(A, "rows", top=2),
    "local_scan": lambda A, v, m: gb.apps.local_scan(A, them=A),
    "scan_series": lambda A, v, m: gb.apps.scan_series([A, A], tau=0),
    "nominate": lambda A, v, m: gb.apps.nominate(
        A, [v(1), [v(3), v(6)]], content=m([0.5 * k for k in range(SIZE)])
    ),
    "fused_lasso": lambda A, v, m: gb.apps.fused_lasso(A, m([1.0, 2, 3, 10, 11, 12, 0, 4])),
    "graph_match": lambda A, v, m: gb.apps.graph_match(
        A, A, seeds=[[v(0), v(0)]], soft_seeds=[(v(3), v(5))], method="auction"
    ),
    "maximum_flow": lambda A, v, m: gb.algorithms.maximum_flow(A, v(0), v(5)),
    "minimum_cut": lambda A, v, m: gb.algorithms.minimum_cut(A, v(0), sink=v(5)),
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


@every("name", RUNS)
def test_tables_have_names(device, name):
    plain = by_number(graph_of("none", device).matrix, name)
    expected = plain.table()
    assert plain.graph is None
    for kind in LABELS:
        graph = graph_of(kind, device)
        named = by_name(graph, name)
        found = named.table()
        assert named.graph == graph
        assert list(found) == list(expected)
        for column, values in expected.items():
            is_named = column in named.vertex_columns
            given = graph.names(values) if is_named else values.tolist()
            assert list(map(repr, found[column].tolist())) == list(map(repr, given)), kind
        assert named.columns().keys() == found.keys()


@every("kind", LABELS)
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


def test_two_graphs_have_names_of_their_own(device):
    A = graph_of("text", device)
    B = gb.io.Graph(A.matrix, LABELS["integers"])
    partners = {A.name(k): B.name(k) for k in range(SIZE)}
    seeds = [[A.name(0), B.name(0)], (A.name(3), B.name(3))]
    found = gb.apps.graph_match(A, B, seeds=seeds, initial=partners, method="auction")
    table = found.table()
    assert dict(zip(table["vertex"], table["match"], strict=True)) == partners
    assert table["seed"].tolist() == [k in (0, 3) for k in range(SIZE)]
    half = gb.apps.graph_match(A.matrix, B, seeds=[[0, 70], [3, 20]], initial=np.arange(SIZE))
    assert half.table()["vertex"].tolist() == [*range(SIZE)]
    assert half.table()["match"].tolist() == LABELS["integers"]
    small = gb.io.Graph(A.matrix[:4, :4].new(), LABELS["text"][:4])
    found = gb.apps.graph_match(B, small, seeds=[[70, "vh"]])
    assert found.table()["match"].tolist().count(None) == SIZE - 4
    with pytest.raises(IndexOutOfBound, match="'vh'"):
        gb.apps.graph_match(A, B, seeds=[["vh", "vh"]])
    with pytest.raises(InvalidValue, match="no partner for 'vg'"):
        gb.apps.graph_match(A, B, initial={"vh": 70})


def test_times_have_vertices_by_name(device):
    with gb.device(device):
        quiet = gb.io.Graph.from_edges(["Bern"], ["Thun"])
        loud = gb.io.Graph.from_edges(["Rom", "Bern", "Brig"], ["Brig", "Rom", "Bern"])
    found = gb.apps.scan_series([quiet, quiet, quiet, loud], tau=2)
    assert found.graph.labels.tolist() == ["Bern", "Thun", "Rom", "Brig"]
    assert found.table()["vertex"].tolist() == [None, None, "Bern", "Rom"]
    assert found.greatest[2:].tolist() == [0, 3]
    assert gb.apps.scan_series([quiet, quiet], tau=1).graph is quiet
    plain = gb.io.Graph(quiet.matrix)
    assert gb.apps.scan_series([quiet.matrix, plain], tau=1).graph is None
    with pytest.raises(InvalidValue, match="names to all"):
        gb.apps.scan_series([quiet, plain])


def test_another_graph_has_its_vertices_by_name(device):
    with gb.device(device):
        us = gb.io.Graph.from_edges(["a", "b", "c"], ["b", "c", "d"])
        them = gb.io.Graph.from_edges(["c", "b"], ["b", "a"])
    found = gb.apps.local_scan(us, them)
    assert dict(zip(*found.table().values(), strict=True)) == {"a": 1, "b": 2, "c": 1, "d": 0}
    unnamed = gb.io.Graph(us.matrix)
    assert gb.apps.local_scan(unnamed, unnamed).values.tolist() == [1, 2, 2, 1]
    with pytest.raises(InvalidValue, match="names to both"):
        gb.apps.local_scan(us, unnamed)
    with pytest.raises(IndexOutOfBound, match="'e'"):
        gb.apps.local_scan(us, gb.io.Graph(us.matrix, ["a", "b", "c", "e"]))
    with pytest.raises(DomainMismatch, match="Matrix"):
        gb.apps.local_scan(us.matrix, them)


def test_values_are_given_for_all_names(device):
    graph = graph_of("text", device)
    with pytest.raises(InvalidValue, match="'vg' has no features"):
        gb.apps.classify(graph, {"vh": [1.0]}, None, *PATTERN)
    with pytest.raises(InvalidValue, match="lacks 7"):
        gb.apps.fused_lasso(graph, {"vh": 1.0})
    for call in (
        lambda: gb.apps.classify(graph, {"Bern": [1.0]}, None, *PATTERN),
        lambda: gb.apps.nominate(graph, ["Bern"]),
        lambda: gb.apps.subgraph_match(graph, graph.matrix, labels={"Bern": 1}),
    ):
        with pytest.raises(IndexOutOfBound, match="'Bern'"):
            call()
