"""Graphs with names: where they come from, and how vertices are found."""

from __future__ import annotations

import io

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from tests.helpers.every import every

import semira as gb
from semira.exceptions import (
    DimensionMismatch,
    DomainMismatch,
    IndexOutOfBound,
    InvalidIndex,
    InvalidValue,
)

Graph = gb.io.Graph


def named(graph) -> dict:
    """Return the entries by name."""
    rows, cols, values = graph.matrix.to_coo()
    ends = zip(graph.names(rows), graph.names(cols), strict=True)
    return dict(zip(ends, values.tolist(), strict=True))


def test_names_are_numbered_as_they_appear() -> None:
    graph = Graph.from_edges(["c", "a", "c"], ["a", "b", "b"], [1, 2, 3])
    assert graph.labels.tolist() == ["c", "a", "b"]
    assert named(graph) == {("c", "a"): 1, ("a", "b"): 2, ("c", "b"): 3}
    assert graph.vertex("b") == 2
    assert graph.name(2) == "b"
    assert graph.size == 3


@pytest.mark.parametrize("kind", [object, "U3"])
def test_objects_and_strings_alike(kind) -> None:
    ends = np.array(["x", "y", "x"], kind), np.array(["y", "x", "z"], kind)
    assert Graph.from_edges(*ends).labels.tolist() == ["x", "y", "z"]


def test_integers_are_numbers_or_names() -> None:
    assert Graph.from_edges([0, 1], [1, 3]).labels is None
    graph = Graph.from_edges([30, 10], [10, 20], ids="name")
    assert graph.labels.tolist() == [30, 10, 20]
    assert graph.vertex(20) == 2
    with pytest.raises(InvalidValue, match="ids='names'; choose one of auto, index, name"):
        Graph.from_edges([0], [1], ids="names")


_BIG = 2**60


@every(
    ("sources", "targets", "labels"),
    [
        (["a", 1], [1, "b"], ["a", 1, "b"]),
        ([1, 2], ["a", "b"], [1, "a", 2, "b"]),
        ([(0, 1), (1,)], [(1,), (2, 3)], [(0, 1), (1,), (2, 3)]),
        # NumPy makes floats of int64 beside uint64, which merges these.
        (np.array([_BIG, _BIG + 1], np.uint64), [_BIG + 2, 3], [_BIG, _BIG + 2, _BIG + 1, 3]),
        (np.array([2**64 - 1], np.uint64), np.array([1], np.uint64), [2**64 - 1, 1]),
        ([2**63], [-1], [2**63, -1]),
        ([10**30], [1], [10**30, 1]),
        ([_BIG + 1], [float(_BIG)], [_BIG + 1, _BIG]),
    ],
)
def test_names_stay_what_they_are(sources, targets, labels) -> None:
    graph = Graph.from_edges(sources, targets)
    assert graph.labels.tolist() == labels
    assert [graph.vertex(each) for each in labels] == list(range(len(labels)))


def test_numbers_of_any_width_are_numbers() -> None:
    graph = Graph.from_edges(np.array([0, 1], np.uint64), np.array([1, 2], np.int8))
    assert graph.labels is None
    assert named(graph) == {(0, 1): True, (1, 2): True}
    assert Graph.from_edges([], []).size == 0
    with pytest.raises(InvalidIndex, match="vertex -1 is negative; ids='name'"):
        Graph.from_edges([-1], [2], ids="index")
    with pytest.raises(InvalidValue, match="ids='index', but the vertex '1' is not an integer"):
        Graph.from_edges(["1"], ["2"], ids="index")
    with pytest.raises(InvalidValue, match="cannot be a name"):
        Graph.from_edges([[0, 1], [2, 3]], [4, 5])


@pytest.mark.parametrize("given", [["5"], [None], np.array(["2020-01-01"], "M8[D]")])
def test_weights_are_numbers(given) -> None:
    with pytest.raises(InvalidValue, match=r"weights hold .*give numbers of one dtype"):
        Graph.from_edges(["a"], ["b"], given)


@pytest.mark.parametrize("place", range(3))
def test_masked_elements_are_refused(place) -> None:
    given = [np.array([0, 1, 2]), np.array([1, 2, 0]), np.array([1.0, 2.0, 3.0])]
    given[place] = np.ma.array(given[place], mask=[0, 1, 0])
    with pytest.raises(InvalidValue, match="1 masked elements, the first at position 1"):
        Graph.from_edges(*given)


def test_facts_are_those_of_a_reader() -> None:
    pattern = Graph.from_edges(["a", "a"], ["b", "b"])
    assert pattern.meta == {"name": None, "ids": "name", "repeated_edges": 1, "dup_op": None}
    read = gb.io.read_graph(io.BytesIO(b"a b\na b\n"))
    assert {key: read.meta[key] for key in ("ids", "repeated_edges", "dup_op")} == {
        "ids": "name", "repeated_edges": 1, "dup_op": None,
    }  # fmt: skip
    with pytest.raises(InvalidValue, match="'frist'; did you mean 'first'"):
        Graph.from_edges(["a"], ["b"], dup_op="frist")
    assert Graph.from_edges([0], [1], [5], dup_op=None).meta["dup_op"] == "first"
    assert Graph.from_networkx(nx.path_graph(3)).meta["ids"] == "index"


def test_repeated_edges_keep_the_first_and_are_counted() -> None:
    graph = Graph.from_edges(["a", "a", "b"], ["b", "b", "a"], [5, 2, 7])
    assert named(graph) == {("a", "b"): 5, ("b", "a"): 7}
    assert graph.meta["repeated_edges"] == 1
    assert graph.meta["dup_op"] == "first"
    least = Graph.from_edges(["a", "a"], ["b", "b"], [5, 2], dup_op="min")
    assert named(least) == {("a", "b"): 2}


def test_symmetrised_and_typed() -> None:
    graph = Graph.from_edges(["a"], ["b"], [3], symmetrise=True, dtype="FP32", name="pair")
    assert named(graph) == {("a", "b"): 3.0, ("b", "a"): 3.0}
    assert graph.matrix.dtype == "FP32"
    assert repr(graph) == "Graph 'pair': 2 vertices ('a', 'b'), 2 edges, FP32"


def test_tables_of_names() -> None:
    frame = pd.DataFrame({"origin": ["Bern", "Thun"], "to": ["Thun", "Bern"], "km": [31.0, 30.0]})
    graph = Graph.from_pandas(frame, "origin", "to", "km")
    assert named(graph) == {("Bern", "Thun"): 31.0, ("Thun", "Bern"): 30.0}
    with pytest.raises(InvalidValue, match="no column 'source'; its columns are origin, to, km"):
        Graph.from_pandas(frame)
    with pytest.raises(InvalidValue, match=r"gb\.io\.Graph\.from_pandas"):
        gb.io.from_pandas(frame, "origin", "to")


def test_missing_weights_are_refused() -> None:
    frame = pd.DataFrame({"source": [0, 1], "target": [1, 2], "km": [31.0, None]})
    for read in (Graph.from_pandas, gb.io.from_pandas):
        with pytest.raises(InvalidValue, match=r"'km' has 1 missing weights; .*dropna"):
            read(frame, weight="km")
        with pytest.raises(InvalidValue, match="'km' has 1 missing weights"):
            read(frame.astype({"km": "Int64"}), weight="km")
        read(frame.dropna(), weight="km")


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA])
def test_missing_ends_are_refused(missing) -> None:
    frame = pd.DataFrame({"source": ["a", missing], "target": ["b", "c"]})
    with pytest.raises(InvalidValue, match="a source or target is missing"):
        Graph.from_pandas(frame)


@pytest.mark.parametrize("make", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
def test_networkx_graphs_keep_their_nodes(make) -> None:
    source = make()
    source.add_nodes_from(["lonely"])
    source.add_weighted_edges_from([("x", "y", 2), ("y", (1, 2), 3), ("x", "x", 4)])
    graph = Graph.from_networkx(source)
    assert graph.labels.tolist() == ["lonely", "x", "y", (1, 2)]
    expected = {("x", "y"): 2, ("y", (1, 2)): 3, ("x", "x"): 4}
    if not source.is_directed():
        expected |= {("y", "x"): 2, ((1, 2), "y"): 3}
    assert named(graph) == expected
    assert graph.vertex((1, 2)) == 3


def test_an_attribute_that_no_edge_has() -> None:
    source = nx.Graph([("x", "y", {"km": 5})])
    with pytest.raises(InvalidValue, match=r"no edge has the attribute 'kmm'; .* first edge: km"):
        Graph.from_networkx(source, weight="kmm")
    assert Graph.from_networkx(source).matrix.dtype == "BOOL"


@pytest.mark.parametrize("attribute", ["weight", None])
def test_back_to_networkx_with_names(attribute) -> None:
    source = nx.DiGraph()
    source.add_weighted_edges_from([("x", "y", 2), ("y", (1, 2), 3)])
    made = gb.io.to_networkx(Graph.from_networkx(source), attribute)
    expected = source.edges(data=attribute is not None)
    assert list(made) == list(source)
    assert list(made.edges(data=attribute is not None)) == list(expected)


def test_parallel_edges_of_networkx() -> None:
    source = nx.MultiDiGraph()
    source.add_weighted_edges_from([("x", "y", 2), ("x", "y", 5)])
    assert named(Graph.from_networkx(source)) == {("x", "y"): 2}
    assert named(Graph.from_networkx(source, dup_op="plus")) == {("x", "y"): 7}
    # The drop-in converter adds up, as python-graphblas and SciPy do.
    assert gb.io.from_networkx(source)[0, 1].value == 7


@every("seed", range(3))
@every("make", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
def test_networkx_and_scipy_agree(make, seed) -> None:
    rng = np.random.default_rng(seed)
    source = make()
    source.add_nodes_from(range(9, -1, -1))
    for one, other in rng.integers(0, 10, (30, 2)).tolist():
        weight = {"weight": int(rng.integers(1, 5))} if rng.random() < 0.7 else {}
        source.add_edge(one, other, **weight)
    for nodelist in (None, [3, 1, 4, 5]):
        expected = nx.to_scipy_sparse_array(source, nodelist=nodelist).toarray()
        made = gb.io.from_networkx(source, nodelist=nodelist).to_dense(0)
        assert made.tolist() == expected.tolist()


def test_unknown_vertices_are_answered_with_what_there_is() -> None:
    graph = Graph.from_edges(["Bern", "Basel"], ["Thun", "Genf"])
    with pytest.raises(IndexOutOfBound, match="no vertex is called 'Bren'; nearest: Bern"):
        graph.vertex("Bren")
    with pytest.raises(IndexOutOfBound, match=r"names are like 'Bern', 'Thun', 'Basel', \.\.\."):
        graph.vertex(0)
    with pytest.raises(InvalidIndex, match="a name must be hashable"):
        graph.vertex(["Bern"])
    numbered = Graph.from_edges([5, 6], [6, 7], ids="name")
    with pytest.raises(IndexOutOfBound, match="there is one whose name is of type int"):
        numbered.vertex("6")
    plain = Graph.from_edges([0], [1])
    with pytest.raises(InvalidIndex, match=r"the graph has no labels; give a number in \[0, 2\)"):
        plain.vertex("a")
    with pytest.raises(IndexOutOfBound, match=r"vertex 2 is outside \[0, 2\)"):
        plain.vertex(2)


def test_odd_names_stay_in_one_short_line() -> None:
    graph = Graph.from_edges(["\x1b[31mred"], ["b" * 300])
    assert repr(graph) == rf"Graph: 2 vertices ('\x1b[31mred', '{'b' * 36}...), 1 edges, BOOL"
    with pytest.raises(IndexOutOfBound) as caught:
        graph.vertex("[31mred")
    assert str(caught.value) == r"no vertex is called '[31mred'; nearest: \x1b[31mred"


def test_labels_name_each_vertex_once() -> None:
    A = gb.Matrix.from_coo([0], [1], nrows=2, ncols=2)
    assert Graph(A, ("a", "b")).vertices(["b", "a"]).tolist() == [1, 0]
    with pytest.raises(DimensionMismatch, match="3 labels for a matrix of shape 2 x 2"):
        Graph(A, ["a", "b", "c"])
    with pytest.raises(InvalidValue, match="two vertices are called 'a'"):
        Graph(A, ["a", "a"])
    with pytest.raises(InvalidValue, match="a label cannot be a name"):
        Graph(A, [["a"], ["b"]])
    for wrong in (7, -1, [0, 7], [-1]):
        with pytest.raises(IndexOutOfBound, match=r"outside \[0, 2\)"):
            Graph(A, "ab").names(wrong)
    with pytest.raises(InvalidIndex, match=r"'a' is no vertex: give a number in \[0, 2\)"):
        Graph(A, "ab").name("a")
    with pytest.raises(DomainMismatch, match=r"got Graph; its \.matrix is one"):
        Graph(Graph(A))
    with pytest.raises(DomainMismatch, match=r"\.new\(\) makes one"):
        Graph(A.T)


def test_lengths_must_agree() -> None:
    with pytest.raises(DimensionMismatch, match=r"shapes \(2,\), \(1,\)"):
        Graph.from_edges([0, 1], [1])


def test_what_is_a_vertex_is_in_the_graph() -> None:
    graph = Graph.from_edges(["a", "b"], ["b", "c"])
    assert "a" in graph
    assert "z" not in graph
    assert 0 not in graph
    assert ["a"] not in graph
    numbers = Graph.from_edges([0, 1], [1, 2])
    assert 2 in numbers
    assert np.int64(0) in numbers
    assert 3 not in numbers
    assert -1 not in numbers
    assert "a" not in numbers
    assert True not in numbers
