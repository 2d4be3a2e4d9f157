"""What all results of algorithms have alike."""

from __future__ import annotations

import pytest
from tests.helpers.every import every

import semira as gb
from semira.algorithms import (
    betweenness_centrality,
    connected_components,
    sssp,
    strongly_connected_components,
)
from semira.algorithms.results import Chained
from semira.contract import LastRows, Rows, TraceRow, lost_rows

RUNS = {
    "delta_stepping": lambda A: sssp(A, 0, algorithm="delta_stepping", delta=1.0),
    "components": lambda A: connected_components(A, algorithm="spread"),
    "components of a sample": lambda A: connected_components(A, algorithm="sample"),
    "components by a search": lambda A: connected_components(A, algorithm="search"),
    "strongly connected": lambda A: strongly_connected_components(A, algorithm="colours"),
}


@every("where", ["reference", "cpu"])
@every("name", RUNS)
def test_iterations_count_rows_that_a_long_trace_has_lost(monkeypatch, name, where):
    A = gb.Matrix.from_coo(range(30), range(1, 31), 1.0, nrows=31, ncols=31)
    with gb.device(where):
        expected = RUNS[name](A.dup()).iterations
        monkeypatch.setattr(LastRows, "most", 2)
        found = RUNS[name](A.dup())
    assert found.iterations == expected > 2
    # The trace of a sample's loop goes before that of the other, and is lost first.
    assert len(found.trace) == 2
    assert lost_rows(found.trace) > 0


def rows(*iterations: int) -> list[TraceRow]:
    return [TraceRow(iteration, "mxv", "pull", 1, 2, 3) for iteration in iterations]


def test_iterations_of_the_second_trace_go_on():
    trace = Chained(rows(0, 0, 1, 1), rows(0, 1, 2))
    assert [row.iteration for row in trace] == [0, 0, 1, 1, 2, 3, 4]
    assert [row.iteration for row in trace[3:5]] == [1, 2]
    assert [len(trace), trace.lost, trace[-1].iteration] == [7, 0, 4]
    assert [row.iteration for row in Chained([], rows(0, 1))] == [0, 1]


def test_a_second_trace_that_has_lost_rows_leaves_none_of_the_first():
    first, second = Rows.after(1, rows(1, 2)), Rows.after(3, rows(3, 4))
    assert [row.iteration for row in Chained(first, rows(0))] == [1, 2, 3]
    assert Chained(first, rows(0)).lost == 1
    assert [row.iteration for row in Chained(first, second)] == [6, 7]
    assert Chained(first, second).lost == 1 + 2 + 3


@pytest.mark.parametrize("symmetric", [False, True])
def test_iterations_of_components_go_on_after_the_sample(symmetric):
    # A sample has one edge of each vertex: the loop after it has something to do.
    ends = [(0, k) for k in range(2, 12)] + [(1, 12), (12, 13), (2, 13)]
    left, right = zip(*ends, *((j, i) for i, j in ends), strict=True)
    A = gb.Matrix.from_coo(left, right, 1.0, nrows=14, ncols=14)
    found = connected_components(A, algorithm="sample", sample=1, symmetric=symmetric)
    iterations = [row.iteration for row in found.trace]
    assert iterations == sorted(iterations)
    assert iterations[-1] == found.iterations - 1
    assert {*iterations} == {*range(found.iterations)}


@pytest.mark.parametrize("batch", [1, 4])
def test_a_result_says_what_its_trace_has_lost(monkeypatch, batch):
    A = gb.Matrix.from_coo(range(9), range(1, 10), 1.0, nrows=10, ncols=10)
    with gb.device("reference"):
        whole = betweenness_centrality(A, batch=batch)
        assert whole.lost == 0
        monkeypatch.setattr(LastRows, "most", 3)
        found = betweenness_centrality(A, batch=batch)
    assert len(found.trace) + found.lost == len(whole.trace)
    # One loop over all searches keeps its last rows; batches are calls of their own.
    assert len(found.trace) == (3 if batch == 1 else len(whole.trace))
    assert found.trace[-1] == whole.trace[-1]._replace(elapsed_ns=found.trace[-1].elapsed_ns)
