"""Every algorithm on graphs whose vertices have names, and what is made of its result."""

from __future__ import annotations

import copy
import dataclasses
import functools
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from tests.helpers.arguments import needed_by
from tests.helpers.every import every

import semira as gb
from semira import algorithms
from semira.algorithms.registry import REGISTRY
from semira.algorithms.row import Row
from semira.algorithms.run import Run
from semira.exceptions import DomainMismatch, IndexOutOfBound, InvalidIndex, InvalidValue

ENDS = [(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (4, 5), (3, 5), (6, 7)]
SIZE = 8

#: Names of the vertices, of each kind that readers make.
LABELS = {
    "text": [f"v{chr(ord('h') - k)}" for k in range(SIZE)],
    "integers": [70, 10, 60, 20, 50, 30, 40, 80],
    "tuples": [(k // 3, k % 3) for k in range(SIZE)],
    "none": None,
}

#: Calls with more than algorithms need; v makes an argument of the number of a vertex.
_MORE: dict[str, Callable[[Any, Any], Run]] = {
    "all_pairs_shortest_paths": lambda A, v: algorithms.all_pairs_shortest_paths(
        A, predecessors=True
    ),
    "betweenness_centrality": lambda A, v: algorithms.betweenness_centrality(
        A, sources=[v(1), v(4)]
    ),
    "bfs": lambda A, v: algorithms.bfs(A, v(1), parents=True),
    "closeness_centrality": lambda A, v: algorithms.closeness_centrality(A, sources=[v(1), v(4)]),
    "jaccard_similarity": lambda A, v: algorithms.jaccard_similarity(
        A, [(v(0), v(1)), (v(3), v(2))]
    ),
    "k_hop": lambda A, v: algorithms.k_hop(A, [v(1), v(6)], 2),
    "multi_source_bfs": lambda A, v: algorithms.multi_source_bfs(A, [v(4), v(1)]),
    "personalised_pagerank": lambda A, v: algorithms.personalised_pagerank(A, v(4)),
    "sssp": lambda A, v: algorithms.sssp(A, source=v(1), predecessors=True),
    "widest_path": lambda A, v: algorithms.widest_path(A, v(1), predecessors=True),
}


def _plain(row: Row) -> Callable[[Any, Any], Run]:
    return lambda A, v: row.function(A, *needed_by(row, v))


#: A call of each algorithm.
RUNS = {name: _MORE.get(name) or _plain(row) for name, row in REGISTRY.items()}
WITH_VALUES = [name for name in RUNS if name != "triangle_count"]


def matrix() -> gb.Matrix:
    rows, cols = np.array(ENDS + [(j, i) for i, j in ENDS]).T
    return gb.Matrix.from_coo(rows, cols, 1 + (rows + cols) % 3, nrows=SIZE, ncols=SIZE)


@functools.cache
def found(name: str, device: str, kind: str | None = None) -> Run:
    """Return the result on a Matrix, or on a Graph with names of a kind."""
    with gb.device(device):
        if kind is None:
            return RUNS[name](matrix(), lambda number: number)
        graph = gb.io.Graph(matrix(), LABELS[kind], {"name": "roads"})
        return RUNS[name](graph, graph.name)


@pytest.fixture(scope="module", autouse=True)
def _forget() -> Iterator[None]:
    """Release what devices hold before the interpreter ends."""
    yield
    found.cache_clear()


@every("name", WITH_VALUES)
def test_a_graph_gives_what_its_matrix_gives_by_name(name: str, device: str) -> None:
    plain, named = found(name, device), found(name, device, "text")
    assert (plain.graph, plain.algorithm, named.algorithm) == (None, name, name)
    labels = LABELS["text"]
    for field, item in plain.fields().items():
        assert item.isequal(named.fields()[field])
        is_vertex = field in plain.layout.vertices

        def value_of(value: Any, is_vertex: bool = is_vertex) -> Any:
            return labels[value] if is_vertex else value

        by_number, by_name = plain.to_dict(field), named.to_dict(field)
        if isinstance(item, gb.Vector):
            expected: Any = {labels[k]: value_of(value) for k, value in by_number.items()}
            assert by_number == item.to_dict()
        else:
            columns = range(item.ncols) if plain.layout.wide else labels
            expected = {
                labels[i]: {columns[j]: value for j, value in row.items()}
                for i, row in by_number.items()
            }
        assert by_name == expected


@every("kind", LABELS)
@every("name", WITH_VALUES)
def test_names_of_every_kind_are_taken_and_given(name: str, kind: str) -> None:
    labels = LABELS[kind] or range(SIZE)
    result = found(name, "reference", kind)
    plain = found(name, "reference")
    assert [*result.to_dict()] == [labels[k] for k in plain.to_dict()]
    frame = result.to_pandas()
    if "row" in frame:
        assert {*frame["row"]} | {*frame["col"]} <= {*labels}
    else:
        assert frame.index.tolist() == [*result.to_dict()]
        assert frame.index.name == "vertex"
        if not result.layout.wide:
            assert [*frame.columns] == [*result.fields()]
            assert frame[result.layout.main].to_list() == [*result.to_dict().values()]


@every("name", WITH_VALUES)
@every("smallest", [False, True])
def test_top_has_the_best_values_then_the_first_vertices(
    name: str, smallest: bool, device: str
) -> None:
    result = found(name, device, "text")
    plain = found(name, device)
    positions = plain.fields()[plain.layout.main].to_coo()
    *places, values = (part.tolist() for part in positions)
    # Vertices that are values compare by number, as anything else.
    order = sorted(
        range(len(values)),
        key=lambda k: (values[k] if smallest else -values[k], *(part[k] for part in places)),
    )
    for k in (0, 3, 100):
        shown = result.top(k, smallest=smallest)
        by_number = plain.top(k, smallest=smallest)
        expected = [(tuple(part[at] for part in places), values[at]) for at in order[:k]]
        assert by_number == [
            (place if len(place) > 1 else place[0], value) if name != "multi_source_bfs"
            else (([4, 1][place[0]], place[1]), value)
            for place, value in expected
        ]  # fmt: skip
        assert len(shown) == len(by_number)
    with pytest.raises(InvalidValue, match="k=-1"):
        result.top(-1)


@every("name", RUNS)
def test_a_result_prints_what_was_asked_and_what_was_found(name: str, device: str) -> None:
    result = found(name, device, "text")
    text, html = str(result), result._repr_html_()
    assert text == repr(result)
    lines = text.splitlines()
    assert lines[0] == f"{name} of roads, {SIZE} vertices"
    assert len(lines) <= 15
    for fact in result.layout.answer:
        assert any(line.startswith(fact.replace("_", " ")) for line in lines)
    assert html.startswith("<div>")
    assert html.count("<table") == html.count("</table>")
    if name in WITH_VALUES:
        first = result.top(1) if result.layout.ranked else [*result.to_dict().items()]
        assert any(line.startswith(first[0][0]) for line in lines)
        assert first[0][0] in html
    assert "Matrix" not in text
    assert "Vector" not in text


def test_the_texts_of_answers() -> None:
    def lines(name: str) -> list[str]:
        return str(found(name, "reference", "text")).splitlines()

    assert {"diameter  3", "radius    1"} <= {*lines("diameter")}
    assert {"weight  11", "trees   2"} <= {*lines("minimum_spanning_forest")}
    assert {"count  2", "sizes  6, 2"} <= {*lines("connected_components")}
    assert {"farthest          vc", "largest distance  7"} <= {*lines("sssp")}
    assert lines("triangle_count") == ["triangle_count of roads, 8 vertices", "count  2"]


@every("name", RUNS)
def test_results_can_be_copied_pickled_and_replaced(name: str) -> None:
    result = found(name, "reference", "text")
    for made in (copy.copy(result), pickle.loads(pickle.dumps(result))):
        assert str(made) == str(result)
    changed = dataclasses.replace(result, iterations=99)
    assert (changed.iterations, changed.algorithm) == (99, name)
    assert changed.graph is result.graph


def test_one_number_has_no_values_by_vertex() -> None:
    result = found("triangle_count", "reference", "text")
    for call in (result.to_dict, result.to_columns, result.to_pandas, result.top):
        with pytest.raises(InvalidValue, match="its answer is count = 2"):
            call()


def test_a_field_that_is_not_there_is_refused() -> None:
    result = found("bfs", "reference")
    with pytest.raises(InvalidValue, match=r"no field 'rank' .* choose 'level', 'parent'"):
        result.to_dict("rank")
    with pytest.raises(InvalidValue, match="no field 'trace'"):
        result.top(field="trace")
    assert result.top(1, field="parent") == [(4, 3)]


def test_long_and_dangerous_names_are_shortened_and_escaped() -> None:
    names = ["a\x1b[31m", "<b>&", "c\u202ed", "e\n\nf", "x" * 1000, "g", "h", "i"]
    result = algorithms.bfs(gb.io.Graph(matrix(), names, {"name": "\x1b]0;bad\x07"}), "e\n\nf")
    for text in (str(result), result._repr_html_()):
        assert all(each.isprintable() or each == "\n" for each in text)
        assert r"a\x1b[31m" in text
        assert r"c\u202ed" in text
        assert "x" * 41 not in text
    assert "<b>&" in str(result)
    assert "&lt;b&gt;&amp;" in result._repr_html_()


def test_a_result_prints_in_a_recorded_loop() -> None:
    result, texts = found("bfs", "reference"), []
    vector = gb.Vector.from_scalar(1, 3)

    def step() -> Any:
        texts.append(str(result))
        vector << vector + 1
        return vector.nvals < 0

    gb.repeat(step, max_iterations=2)
    assert texts[0] == "bfs: values can be read after the recorded loop"


def test_names_that_no_vertex_has_are_named() -> None:
    graph = gb.io.Graph(matrix(), LABELS["text"])
    with pytest.raises(IndexOutOfBound, match="no vertex is called 'zz'"):
        algorithms.bfs(graph, "zz")
    with pytest.raises(IndexOutOfBound, match="no vertex is called 3"):
        algorithms.sssp(graph, 3)
    with pytest.raises(InvalidIndex, match="is no vertex"):
        algorithms.widest_path(graph, ["va"])
    with pytest.raises(InvalidValue, match="no pair"):
        algorithms.jaccard_similarity(graph, [("va", "vb", "vc")])
    with pytest.raises(IndexOutOfBound, match="'vavb'"):
        algorithms.jaccard_similarity(graph, ["vavb"])
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'source'"):
        algorithms.bfs(graph)  # type: ignore[call-arg]
    with pytest.raises(DomainMismatch, match=r"a Matrix or a gb\.io\.Graph, got str"):
        algorithms.bfs("graph.csv", 0)  # type: ignore[arg-type]


def test_a_number_of_sources_stays_a_number() -> None:
    graph = gb.io.Graph(matrix(), LABELS["integers"])
    for function in (algorithms.betweenness_centrality, algorithms.closeness_centrality):
        assert function(graph, sources=2).sources == 2
        assert function(graph, sources=[20]).sources == 1
        assert function(graph, sources=np.array([20, 30])).sources == 2
        with pytest.raises(IndexOutOfBound, match="no vertex is called 2"):
            function(graph, sources=[2])
    with pytest.raises(IndexOutOfBound):
        algorithms.betweenness_centrality(gb.io.Graph(matrix(), LABELS["text"]), sources="zz")


def test_a_tuple_is_a_name_where_a_vertex_has_it_else_several() -> None:
    tuples, text = (gb.io.Graph(matrix(), LABELS[kind]) for kind in ("tuples", "text"))
    assert algorithms.k_hop(tuples, (0, 1), 0).to_dict() == {(0, 1): 0}
    assert algorithms.k_hop(tuples, ((0, 1), (1, 0)), 0).to_dict() == {(0, 1): 0, (1, 0): 0}
    assert algorithms.k_hop(text, ("va", "vc"), 0).to_dict() == {"vc": 0, "va": 0}
    assert algorithms.k_hop(text, "va", 0).to_dict() == {"va": 0}
    with pytest.raises(IndexOutOfBound, match="'zz'"):
        algorithms.k_hop(text, ("va", "zz"))


def test_the_matrix_may_be_given_by_name() -> None:
    graph = gb.io.Graph(matrix(), LABELS["text"])
    assert algorithms.bfs(A=matrix(), source=0).graph is None
    assert algorithms.bfs(A=graph, source="va").graph is graph  # type: ignore[call-arg]


def test_what_an_algorithm_makes_lies_beside_its_graph():
    """Blocks that ask for another device do not part them."""
    A = gb.Matrix.from_coo([0, 1, 2, 0], [1, 2, 0, 2], 1.0, device="cpu")
    expected = [algorithms.local_clustering_coefficient(A).coefficient, algorithms.bfs(A, 0).level]
    with gb.device("reference"):
        found = [algorithms.local_clustering_coefficient(A).coefficient, algorithms.bfs(A, 0).level]
    for mine, theirs in zip(found, expected, strict=True):
        assert mine.device == "cpu"
        assert mine.isequal(theirs, check_dtype=True)
