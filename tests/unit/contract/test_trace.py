"""Rows of a trace: which stay, what they took, and how many are lost."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import pytest

import semira as gb
from semira.algorithms import bfs, pagerank
from semira.backends import interpreter
from semira.contract import LastRows, Rows, TraceRow, lost_rows


def row(iteration: int, elapsed_ns: int) -> TraceRow:
    return TraceRow(iteration, "vxm", "push", 1, 2, 3, elapsed_ns)


def test_the_last_rows_stay_and_no_time_is_lost(monkeypatch, caplog):
    monkeypatch.setattr(LastRows, "most", 3)
    last = LastRows()
    for iteration in range(3):
        last.add(row(iteration, 10 + iteration))
    assert last.rows() == tuple(row(at, 10 + at) for at in range(3))
    assert (lost_rows(last.rows()), caplog.text) == (0, "")
    for iteration in range(3, 7):
        last.add(row(iteration, 10 + iteration))
    rows = last.rows()
    assert [each.iteration for each in rows] == [4, 5, 6]
    # The first one that is left counts from the beginning.
    assert [each.elapsed_ns for each in rows] == [10 + 11 + 12 + 13 + 14, 15, 16]
    assert lost_rows(rows) == 4
    assert "the last 3 of 7 products" in caplog.text


def test_rows_are_a_tuple():
    rows = Rows([row(0, 1)])
    assert rows == (row(0, 1),)
    assert lost_rows(rows) == lost_rows(()) == lost_rows([]) == 0


@pytest.fixture
def ticks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that advances by 5 whenever somebody looks."""
    clock = SimpleNamespace(perf_counter_ns=itertools.count(1000, 5).__next__)
    monkeypatch.setattr(interpreter, "time", clock)


@pytest.mark.parametrize("where", ["reference", "cpu"])
def test_host_rows_have_the_time_since_the_row_before(where, ticks):
    A = gb.Matrix.from_coo([0, 1, 2], [1, 2, 0], [1.0, 2.0, 3.0])
    v = gb.Vector.from_dense([1.0, 1.0, 1.0])
    # What runs natively asks the processor's clock.
    with gb.device(where), interpreter.interpreted_only():
        # One look at the beginning, one a row.
        assert [each.elapsed_ns for each in bfs(A, 0, deterministic=True).trace] == [5, 5, 5]
        with gb.tracing() as traced:
            A.mxv(v).new()
            v.vxm(A).new()
        assert [each.elapsed_ns for each in traced.rows] == [5, 5]


def test_a_loop_says_how_many_rows_it_lost(monkeypatch):
    monkeypatch.setattr(LastRows, "most", 4)
    A = gb.Matrix.from_coo(range(9), range(1, 10), True, nrows=10, ncols=10)
    frontier = gb.Vector.from_coo([0], True, size=10)

    def step():
        frontier << frontier.vxm(A, "any_pair")
        return frontier.nvals > 0

    with gb.device("reference"):
        loop = gb.repeat(step)
    assert (loop.iterations, loop.lost) == (10, 6)
    assert [each.iteration for each in loop.trace] == [6, 7, 8, 9]


def test_a_traced_block_says_how_many_rows_its_loops_lost(monkeypatch):
    monkeypatch.setattr(LastRows, "most", 4)
    A = gb.Matrix.from_coo([0, 1, 2], [1, 2, 0], [1.0, 2.0, 3.0])
    v = gb.Vector.from_dense([1.0, 1.0, 1.0])

    def step():
        v << v.vxm(A)

    with gb.device("reference"), gb.tracing() as traced:
        v.vxm(A).new()
        assert (len(traced.rows), traced.lost) == (1, 0)
        with gb.tracing() as inside:
            gb.repeat(step, max_iterations=6)
            assert (len(inside.rows), inside.lost) == (4, 2)
            # Nobody has read these rows when the block ends.
            gb.repeat(step, max_iterations=7)
    assert (len(inside.rows), inside.lost) == (8, 5)
    assert (len(traced.rows), traced.lost) == (9, 5)


def test_no_row_ends_before_the_one_before_it(device):
    A = gb.io.read("kron:5")
    with gb.device(device):
        found = pagerank(A, direction="pull")
    assert len(found.trace) == found.iterations
    assert min(each.elapsed_ns for each in found.trace) >= 0
