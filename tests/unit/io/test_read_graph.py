"""`read` and `read_graph`: repeated edges, and what a graph knows of how it was read."""

from __future__ import annotations

import io

import numpy as np
import pytest

import semira as gb
from semira.exceptions import DomainMismatch, InvalidValue

GR = b"p sp 2 3\na 1 2 9\na 1 2 3\na 1 2 5\n"
CSV = b"ann,bob,9\nann,bob,3\nann,bob,5\n"
MTX = b"%%MatrixMarket matrix coordinate integer general\n2 2 3\n1 2 9\n1 2 3\n1 2 5\n"


def npz() -> bytes:
    stream = io.BytesIO()
    np.savez(stream, row=[0, 0, 0], col=[1, 1, 1], weight=[9, 3, 5], n=2)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("data", "default", "kept"),
    [(GR, "min", 3), (CSV, "first", 9), (MTX, "first", 9), (npz(), "first", 9)],
)
def test_repeated_edges_follow_one_rule(data, default, kept):
    graph = gb.io.read_graph(io.BytesIO(data))
    assert graph.matrix.to_dicts() == {0: {1: kept}}
    assert (graph.meta["repeated_edges"], graph.meta["dup_op"]) == (2, default)
    assert gb.io.read(io.BytesIO(data)).to_dicts() == {0: {1: kept}}
    for op, expected in (("plus", 17), ("max", 9), (gb.binary.second, 5), (gb.monoid.min, 3)):
        asked = gb.io.read_graph(io.BytesIO(data), dup_op=op)
        assert asked.matrix.to_dicts() == {0: {1: expected}}
        assert asked.meta["dup_op"] == getattr(op, "name", op)


def test_drop_in_reader_refuses_repeats_as_python_graphblas_does():
    with pytest.raises(InvalidValue, match="dup_op"):
        gb.io.mmread(io.BytesIO(MTX))


def test_shortest_paths_take_the_shorter_of_parallel_arcs():
    roads = gb.io.read(io.BytesIO(b"p sp 2 2\na 1 2 9\na 1 2 3\n"), device="reference")
    with gb.device("reference"):
        assert gb.algorithms.sssp(roads, 0).distance.to_dict() == {0: 0, 1: 3}


def test_repeats_of_a_pattern_collapse_and_are_counted():
    graph = gb.io.read_graph(io.BytesIO(b"0 1\n0 1\n1 0\n"))
    assert graph.matrix.to_dicts() == {0: {1: True}, 1: {0: True}}
    assert (graph.meta["repeated_edges"], graph.meta["dup_op"]) == (1, None)
    both = gb.io.read_graph(io.BytesIO(b"0 1\n1 0\n"), symmetrise=True)
    assert both.meta["repeated_edges"] == 2


def test_dropped_self_loops_are_counted_in_every_format():
    for data in (b"0 0 1\n0 1 2\n1 1 3\n", b"p sp 2 3\na 1 1 5\na 1 2 2\na 2 2 1\n"):
        graph = gb.io.read_graph(io.BytesIO(data), drop_self_loops=True)
        assert graph.matrix.to_dicts() == {0: {1: 2}}
        assert graph.meta["dropped_self_loops"] == 2
    assert "dropped_self_loops" not in gb.io.read_graph(io.BytesIO(data)).meta


def test_ids_with_gaps_reach_the_result_by_name():
    graph = gb.io.read_graph(io.BytesIO(b"1001,1002\n1002,1003\n1001,1003\n"))
    assert graph.matrix.shape == (3, 3)
    assert graph.labels.tolist() == [1001, 1002, 1003]
    assert graph.vertex(1003) == 2


def test_arrays_follow_the_rule_of_files():
    graph = gb.io.Graph.from_edges([1001, 1002], [1002, 1003])
    assert graph.labels.tolist() == [1001, 1002, 1003]
    assert gb.io.Graph.from_edges([1001], [1002], ids="index").matrix.shape == (1003, 1003)
    assert gb.io.Graph.from_edges([0, 9], [9, 5]).labels is None


def test_what_a_file_says_is_not_taken_for_what_the_reader_says():
    stream = io.BytesIO()
    np.savez(stream, row=[0, 0], col=[1, 1], weight=[1, 2], n=2, dup_op="plus", guesses=[1, 2])
    stream.seek(0)
    graph = gb.io.read_graph(stream)
    assert graph.matrix.to_dicts() == {0: {1: 1}}
    assert "guesses" not in graph.meta


def test_generators_have_no_options_of_text():
    with pytest.raises(InvalidValue, match="kron:4: ids, missing: a generator has no such option"):
        gb.io.read("kron:4", ids="name", missing="drop")
    with pytest.raises(InvalidValue, match="encoding: dimacs files have no such option"):
        gb.io.read(io.BytesIO(GR), encoding="latin-1")
    with pytest.raises(DomainMismatch):
        gb.io.read(io.BytesIO(GR), dup_op=3)
