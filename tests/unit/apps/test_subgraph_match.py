"""Subgraph matching beside NetworkX: every option, random graphs, bad input, every device."""

from __future__ import annotations

import itertools
import tracemalloc

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as settings_of_tests
from hypothesis import strategies as st
from networkx.algorithms.isomorphism import DiGraphMatcher, GraphMatcher
from tests.helpers.data import load_graph
from tests.helpers.every import every

import semira as gb
from semira.apps.subgraph_matching import memory, solve
from semira.apps.subgraph_matching.files import read_labels, read_pattern, read_pattern_labels
from semira.base import settings
from semira.exceptions import (
    DimensionMismatch,
    DomainMismatch,
    FileFormatError,
    FileReadError,
    InvalidValue,
    MissingFile,
    OutOfMemory,
)


@pytest.fixture
def device(device):
    if device == "suitesparse":
        pytest.skip("its kernels are those of cpu")
    with gb.device(device):
        yield device


def random_graph(rng, n, chance, *, directed):
    graph = nx.DiGraph() if directed else nx.Graph()
    graph.add_nodes_from((v, {"label": int(rng.integers(0, 2))}) for v in range(n))
    for i, j in itertools.product(range(n), repeat=2):
        if rng.random() < chance and (i != j or rng.random() < 0.4):
            graph.add_edge(i, j, value=int(rng.integers(1, 3)))
    return graph


def matrix(graph):
    edges = [(i, j, x) for i, j, x in graph.edges(data="value", default=1)]
    if not graph.is_directed():
        edges += [(j, i, x) for i, j, x in edges if i != j]
    n = len(graph)
    i, j, x = zip(*edges, strict=True) if edges else ((), (), ())
    return gb.Matrix.from_coo(i, j, x, "INT64", nrows=n, ncols=n)


def labels_of(graph):
    return [graph.nodes[v]["label"] for v in range(len(graph))]


def expected_matches(graph, pattern, *, with_labels=False, with_values=False, induced=False):
    """Return the matches of NetworkX in rising order."""
    alike = {}
    if with_labels:
        alike["node_match"] = lambda a, b: a["label"] == b["label"]
    if with_values:
        alike["edge_match"] = lambda a, b: a["value"] == b["value"]
    kind = DiGraphMatcher if graph.is_directed() else GraphMatcher
    found = kind(graph, pattern, **alike)
    every = found.subgraph_isomorphisms_iter if induced else found.subgraph_monomorphisms_iter
    turned = [{p: v for v, p in each.items()} for each in every()]
    return sorted(tuple(each[p] for p in range(len(pattern))) for each in turned)


def match(graph, pattern, *, with_labels=False, with_values=False, **options):
    if with_labels:
        options |= {"labels": labels_of(graph), "pattern_labels": labels_of(pattern)}
    options.setdefault("limit", 10**5)
    return gb.apps.subgraph_match(
        matrix(graph), matrix(pattern), match_values=with_values, **options
    )


def rows(found):
    return sorted(map(tuple, found.matches.tolist()))


@pytest.mark.parametrize("induced", [False, True])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("with_values", [False, True])
def test_matches_are_those_of_networkx(device, directed, with_values, induced):
    rng = np.random.default_rng(1 + 2 * directed + 4 * with_values)
    total = 0
    for k in (1, 2, 3, 4):
        options = {"with_labels": k == 3, "with_values": with_values, "induced": induced}
        graph = random_graph(rng, 9, 0.4, directed=directed)
        pattern = random_graph(rng, k, 0.6 if k < 4 else 0.3, directed=directed)
        found = match(graph, pattern, **options)
        expected = expected_matches(graph, pattern, **options)
        assert rows(found) == expected
        assert (found.count, found.complete) == (len(expected), True)
        once = match(graph, pattern, distinct=True, **options)
        assert once.count * once.automorphisms == found.count
        assert once.places == found.places == once.count
        assert set(rows(once)) <= set(expected)
        total += found.count
    assert total


@settings_of_tests(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.booleans(), st.booleans(), st.booleans(), st.booleans())
def test_any_graph(seed, directed, with_labels, with_values, induced):
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, int(rng.integers(1, 10)), rng.random(), directed=directed)
    pattern = random_graph(rng, int(rng.integers(1, 5)), rng.random(), directed=directed)
    options = {"with_labels": with_labels, "with_values": with_values, "induced": induced}
    with gb.device("cpu"):
        found = match(graph, pattern, **options)
        once = match(graph, pattern, distinct=True, **options)
    assert rows(found) == expected_matches(graph, pattern, **options)
    assert once.count * once.automorphisms == found.count


@every(
    ("pattern", "symmetries"),
    [
        (nx.cycle_graph(3), 6), (nx.cycle_graph(4), 8), (nx.complete_graph(4), 24),
        (nx.path_graph(4), 2), (nx.star_graph(3), 6), (nx.empty_graph(2), 2),
    ],
)  # fmt: skip
def test_known_patterns(device, pattern, symmetries):
    graph = nx.karate_club_graph()
    for _, _, edge in graph.edges(data=True):
        edge["value"] = 1
    if device == "reference" and pattern.number_of_nodes() == 4:
        graph = graph.subgraph(range(12)).copy()
    found = match(graph, pattern, distinct=True, limit=0)
    assert found.automorphisms == symmetries
    if pattern.number_of_nodes() == 3:
        assert found.count == sum(nx.triangles(graph).values()) // 3
    if pattern.number_of_edges() == 6:
        assert found.count == sum(len(c) == 4 for c in nx.enumerate_all_cliques(graph))
    if not pattern.number_of_edges():
        assert found.count == len(graph) * (len(graph) - 1) // 2
    if nx.is_isomorphic(pattern, nx.star_graph(3)):
        assert found.count == sum(d * (d - 1) * (d - 2) // 6 for _, d in graph.degree())
    assert len(found.matches) == 0


def test_eight_vertices(device):
    cube = nx.convert_node_labels_to_integers(nx.hypercube_graph(3))
    found = match(cube, cube, distinct=True)
    assert (found.count, found.automorphisms) == (1, 48)
    assert sorted(found.matches[0].tolist()) == list(range(8))
    with pytest.raises(InvalidValue, match="the pattern has 9 vertices; pass one of 1 to 8"):
        match(cube, nx.path_graph(9))


def test_edges_that_only_enter(device):
    # All edges lead to what is matched first: candidates are those of a column.
    graph = nx.DiGraph([(1, 0), (2, 0), (3, 0), (3, 4)])
    pattern = nx.DiGraph([(1, 0), (2, 0)])
    found = match(graph, pattern, distinct=True)
    assert rows(found) == [(0, 1, 2), (0, 1, 3), (0, 2, 3)]


def test_labels_that_match_any(device):
    A = matrix(nx.path_graph(4))
    edge = matrix(nx.path_graph(2))
    labels = gb.Vector.from_dense([5, 6, 7, 5])
    any_label = gb.Vector.from_coo([0], [5], "INT64", size=2)
    found = gb.apps.subgraph_match(A, edge, labels=labels, pattern_labels=any_label)
    assert rows(found) == [(0, 1), (3, 2)]


@pytest.mark.parametrize("room", [1, 2, 7, 1000])
def test_pieces_change_nothing(device, monkeypatch, room):
    if device == "reference" and room in (2, 1000):
        pytest.skip("runs what the cpu compiles")
    rng = np.random.default_rng(3)
    graph = random_graph(rng, 12, 0.4, directed=True)
    pattern = nx.DiGraph([(0, 1), (1, 2), (3, 1)])
    expected = match(graph, pattern)
    monkeypatch.setattr(solve, "ROOM", room)
    seen = []
    found = match(graph, pattern, progress=lambda *told: seen.append(told))
    assert np.array_equal(found.matches, expected.matches)
    assert found.count == expected.count > 0
    assert seen[-1][0] == seen[-1][1] > 0
    for limit in (0, 1, 5, expected.count, expected.count + 1):
        some = match(graph, pattern, limit=limit)
        assert np.array_equal(some.matches, expected.matches[:limit])
        assert some.count == expected.count
        first = match(graph, pattern, limit=limit, count_all=False)
        assert np.array_equal(first.matches, expected.matches[:limit])
        assert first.count == len(first.matches)
        assert first.complete == (limit > expected.count)


def test_nothing_to_find(device):
    empty = gb.Matrix(gb.dtypes.BOOL, 3, 3)
    edge = matrix(nx.path_graph(2))
    assert gb.apps.subgraph_match(empty, edge).count == 0
    assert gb.apps.subgraph_match(gb.Matrix(gb.dtypes.BOOL, 0, 0), edge).facts()["matches"] == 0
    one = gb.Matrix(gb.dtypes.BOOL, 1, 1)
    found = gb.apps.subgraph_match(empty, one)
    assert found.matches.tolist() == [[0], [1], [2]]
    assert list(found.table()) == ["match", "vertex_0"]
    assert repr(found).startswith("SubgraphMatches(matches=3, places=3, automorphisms=1")


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_threads_change_nothing(threads, monkeypatch):
    monkeypatch.setattr("semira.backends.cpu.threads.PARALLEL_ENTRIES", 1000)
    graph = nx.gnm_random_graph(300, 2400, seed=4)
    with gb.device("cpu"):
        expected = match(graph, nx.complete_graph(3), distinct=True)
        before = settings.override(threads=threads)
        try:
            found = match(graph, nx.complete_graph(3), distinct=True)
        finally:
            settings.restore(before)
    assert np.array_equal(found.matches, expected.matches)
    assert found.count == sum(nx.triangles(graph).values()) // 3


@every(
    ("change", "error", "told"),
    [
        ({"A": [[1]]}, DomainMismatch, "needs a Matrix or"),
        ({"pattern": gb.Matrix(gb.dtypes.BOOL, 1, 2)}, DimensionMismatch, r"square .* \(1, 2\)"),
        ({"pattern": gb.Matrix(gb.dtypes.BOOL, 0, 0)}, InvalidValue, "pattern has 0 vertices"),
        ({"labels": [1, 2, 3]}, InvalidValue, "the graph has labels and the pattern has none"),
        ({"pattern_labels": [1, 2]}, InvalidValue, "the pattern has labels and the graph has"),
        ({"labels": [1], "pattern_labels": [1, 2]}, DimensionMismatch, "each of the 3 vertices"),
        ({"labels": [1, 2, 3], "pattern_labels": [1]}, DimensionMismatch, "each of the 2 vertices"),
        ({"labels": [1.5, 2, 3], "pattern_labels": [1, 2]}, DomainMismatch, "pass integers"),
        ({"labels": gb.Vector.from_coo([0], [1], size=3), "pattern_labels": [1, 2]},
         InvalidValue, "labels lacks 2 of 3"),
        ({"limit": -1}, InvalidValue, "limit=-1"),
        ({"A": gb.Matrix.from_coo([0], [1], [1j], nrows=3, ncols=3), "match_values": True},
         DomainMismatch, "values of FC64 and INT64 are not compared"),
    ],
)  # fmt: skip
def test_bad_input(change, error, told):
    given = {"A": matrix(nx.path_graph(3)), "pattern": matrix(nx.path_graph(2))} | change
    with gb.device("cpu"), pytest.raises(error, match=told):
        gb.apps.subgraph_match(given.pop("A"), given.pop("pattern"), **given)


def test_what_does_not_fit_is_refused(monkeypatch):
    monkeypatch.setattr(solve.gb, "free_memory", lambda device: 1000)
    with gb.device("cpu"), pytest.raises(OutOfMemory, match=r"need [\d,]+ bytes on cpu, of which"):
        match(nx.path_graph(5), nx.path_graph(3))
    assert memory(10**6, 10**7, 5) < 2**30


def test_pieces_are_smaller_where_memory_is(monkeypatch):
    graph, pattern = nx.gnm_random_graph(200, 1500, seed=1), nx.path_graph(4)
    with gb.device("cpu"):
        expected = match(graph, pattern, limit=10)
        needed = memory(200, 3000, 4, limit=10)
        monkeypatch.setattr(solve.gb, "free_memory", lambda device: needed // 40)
        assert solve.room_of(matrix(graph), 4, False, 10, solve.ROOM) < solve.ROOM // 30
        found = match(graph, pattern, limit=10)
        tracemalloc.start()
        match(graph, pattern, limit=10)
        assert tracemalloc.get_traced_memory()[1] <= needed // 40
        tracemalloc.stop()
    assert found.count == expected.count > 10**5
    assert np.array_equal(found.matches, expected.matches)


def test_files(tmp_path):
    def write(name, text):
        (tmp_path / name).write_text(text)
        return str(tmp_path / name)

    assert read_pattern(write("p.csv", "0 1\n1 2\n")).to_coo()[1].tolist() == [1, 2]
    assert read_labels(write("l", "3, 1\n2"), 3).tolist() == [3, 1, 2]
    np.save(tmp_path / "l.npy", [4, 5])
    assert read_labels(str(tmp_path / "l.npy"), 2).tolist() == [4, 5]
    assert read_pattern_labels(str(tmp_path / "l.npy")).to_dict() == {0: 4, 1: 5}
    assert read_pattern_labels(write("pl", "7 * 8")).to_dict() == {0: 7, 2: 8}
    with pytest.raises(DimensionMismatch, match="has 3 labels for 4 vertices"):
        read_labels(str(tmp_path / "l"), 4)
    with pytest.raises(FileFormatError, match="invalid literal"):
        read_labels(write("bad", "a b"), 2)
    with pytest.raises(MissingFile, match="no such file"):
        read_labels(str(tmp_path / "none"), 2)
    with pytest.raises(MissingFile, match="no such file"):
        read_labels(str(tmp_path / "none.npy"), 2)


def test_triangles_of_a_real_graph():
    graph = load_graph("HPRD-labelled")
    rows, cols, n = graph.rows.astype(np.int64), graph.cols.astype(np.int64), graph.nrows
    keys = np.unique(np.concatenate([rows * n + cols, cols * n + rows]))
    keys = keys[keys // n != keys % n]
    with gb.device("cpu"):
        A = gb.Matrix.from_coo(keys // n, keys % n, True, nrows=n, ncols=n)
        found = gb.apps.subgraph_match(A, matrix(nx.complete_graph(3)), distinct=True, limit=5)
        assert found.count == gb.algorithms.triangle_count(A).count
    assert (found.matches[:, 0] < found.matches[:, 1]).all()


def test_values_and_labels_at_the_ends_of_their_dtypes(device):
    with gb.device(device):
        small = {"nrows": 2, "ncols": 2}
        nan = gb.Matrix.from_coo([0, 1], [1, 0], np.nan, **small)
        unsigned = gb.Matrix.from_coo([0], [1], [2**64 - 1], "UINT64", **small)
        signed = gb.Matrix.from_coo([0], [1], [-1], "INT64", **small)
    # NaN equals nothing, but a vertex of the pattern is like itself.
    assert gb.apps.subgraph_match(nan, nan, match_values=True).facts()["places"] == 0
    assert gb.apps.subgraph_match(unsigned, unsigned, match_values=True).count == 1
    with pytest.raises(InvalidValue, match="18446744073709551615"):
        gb.apps.subgraph_match(unsigned, signed, match_values=True)
    wide = np.array([2**64 - 1, 0], np.uint64)
    for labels in ((wide, [-1, 0]), ([-1, 0], wide)):
        with pytest.raises(InvalidValue, match=r"less than 2\*\*63"):
            gb.apps.subgraph_match(signed, signed, labels=labels[0], pattern_labels=labels[1])
    for labels in (([0, 1], ["0", "a"]), (["0", "1"], [0, 1])):
        with pytest.raises(DomainMismatch, match="pass integers"):
            gb.apps.subgraph_match(signed, signed, labels=labels[0], pattern_labels=labels[1])


def test_labels_in_files_that_are_none(tmp_path):
    np.save(tmp_path / "halves.npy", [1.5, 2])
    (tmp_path / "large.txt").write_text(f"{2**63} 1")
    (tmp_path / "bytes.txt").write_bytes(b"\xff\xfe")
    for name, error in (
        ("halves.npy", FileFormatError), ("large.txt", FileFormatError),
        ("bytes.txt", FileFormatError), ("", FileReadError),
    ):  # fmt: skip
        with pytest.raises(error):
            read_labels(f"{tmp_path}/{name}", 2)
