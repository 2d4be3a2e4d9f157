"""Breadth-first search against a queue."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from tests.helpers.every import every
from tests.unit.algorithms import cases

import semira as gb
from semira import exceptions
from semira.algorithms import bfs


def assert_right(graph: cases.Graph, source: int, device: str, **options: object) -> None:
    found = bfs(graph.matrix(device), source, parents=True, **options)
    expected = cases.levels(graph, source)
    assert found.level.to_dict() == expected
    assert found.reached == len(expected)
    assert found.depth == max(expected.values())
    edges = {(i, j) for i, j, _ in graph.edges}
    parent = found.parent.to_dict()
    assert parent.keys() == expected.keys()
    assert parent.pop(source) == source
    for vertex, before in parent.items():
        assert (before, vertex) in edges
        assert expected[before] == expected[vertex] - 1


@cases.shapes
def test_levels_and_parents(graph, device):
    for source in sorted({0, graph.n // 2, graph.n - 1}):
        assert_right(graph, source, device)


@given(cases.graphs())
@cases.examples(max_examples=40)
def test_levels_and_parents_of_any_graph(device, graph):
    assert_right(graph, graph.n - 1, device)


@pytest.mark.parametrize("direction", ["push", "pull"])
def test_direction_can_be_pinned(device, direction):
    graph = cases.SHAPES["random"]
    assert_right(graph, 0, device, direction=direction)
    found = bfs(graph.matrix(device), 0, direction=direction)
    assert {row.method for row in found.trace} == {direction}


def test_levels_without_parents(device):
    graph = cases.SHAPES["random"]
    found = bfs(graph.matrix(device), 0)
    assert found.level.to_dict() == cases.levels(graph, 0)
    assert found.parent is None


def test_trace_has_one_row_for_each_level(device):
    found = bfs(cases.SHAPES["star"].matrix(device), 0, direction="push")
    assert [(row.iteration, row.frontier, row.touched) for row in found.trace] == [
        (0, 1, 5),
        (1, 5, 0),
    ]
    assert found.iterations == 2


def test_explicit_zeros_are_edges(device):
    with gb.device(device):
        A = gb.Matrix.from_coo([0, 1], [1, 2], [0.0, 0.0], nrows=3, ncols=3)
    assert bfs(A, 0).level.to_dict() == {0: 0, 1: 1, 2: 2}


@every("dtype", ["BOOL", "INT8", "UINT64", "FP32"])
def test_every_dtype_is_a_graph(device, dtype):
    graph = cases.SHAPES["grid"]
    found = bfs(graph.matrix(device, dtype), 0, parents=True)
    assert found.level.to_dict() == cases.levels(graph, 0)
    assert found.level.dtype == found.parent.dtype == "INT32"


def test_graph_is_not_modified(device):
    A = cases.SHAPES["random"].matrix(device)
    before = A.dup()
    bfs(A, 0, parents=True)
    assert A.isequal(before, check_dtype=True)


@pytest.mark.parametrize("source", [-1, 5, 2**40])
def test_source_out_of_range(device, source):
    with pytest.raises(exceptions.IndexOutOfBound, match=str(source)):
        bfs(cases.SHAPES["no edges"].matrix(device), source)


@pytest.mark.parametrize("source", [1.0, "1", None, True, np.bool_(False)])
def test_source_that_is_no_vertex_number(source):
    with pytest.raises(exceptions.InvalidIndex, match="source"):
        bfs(cases.SHAPES["no edges"].matrix("reference"), source)


def test_numpy_source(device):
    assert bfs(cases.SHAPES["path"].matrix(device), np.uint8(4)).level.to_dict() == {4: 0, 5: 1}


def test_no_vertices(device):
    with pytest.raises(exceptions.IndexOutOfBound, match=r"\[0, 0\)"):
        bfs(gb.Matrix("BOOL", 0, 0), 0)


def test_not_square():
    with pytest.raises(exceptions.DimensionMismatch, match=r"\(2, 3\)"):
        bfs(gb.Matrix("BOOL", 2, 3), 0)


@pytest.mark.parametrize("thing", [None, np.eye(2), gb.Vector("BOOL", 2)])
def test_not_a_matrix(thing):
    with pytest.raises(exceptions.DomainMismatch, match="Matrix"):
        bfs(thing, 0)


def test_a_transpose_is_made_a_matrix_first(device):
    A = cases.SHAPES["path"].matrix(device)
    with pytest.raises(exceptions.DomainMismatch, match=r"got TransposedMatrix; .*\.new\(\)"):
        bfs(A.T, 0)
    assert bfs(A.T.new(), 0).level.nvals


def test_unknown_option_is_refused():
    with pytest.raises(exceptions.InvalidValue, match="speed"):
        bfs(cases.SHAPES["path"].matrix("reference"), 0, speed=11)


def test_inside_a_recorded_loop():
    A = cases.SHAPES["path"].matrix("reference")
    with pytest.raises(exceptions.RecordError, match="at once inside"):
        gb.repeat(lambda: bfs(A, 0), max_iterations=2)


def test_no_host_reads(monkeypatch):
    A = cases.SHAPES["random"].matrix("reference")
    with cases.loops_without_host_reads(monkeypatch) as loops:
        found = bfs(A, 0, parents=True)
    assert loops
    assert found.level.to_dict() == cases.levels(cases.SHAPES["random"], 0)
