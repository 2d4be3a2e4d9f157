"""Edge tables: what NetworkX, pandas and Arrow give and take, and what is refused by name."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import semira as gb
from semira.exceptions import DimensionMismatch, DomainMismatch, InvalidValue, OutOfMemory


@pytest.mark.parametrize(
    ("graph", "nodelist", "told"),
    [
        (nx.Graph(), None, "no nodes or edges"),
        (nx.path_graph(3), [], "no nodes"),
        (nx.path_graph(3), [0, 0], "duplicates"),
        (nx.path_graph(3), [7], "7"),
    ],
)
def test_what_networkx_refuses_is_an_error_of_both(graph, nodelist, told) -> None:
    with pytest.raises(InvalidValue, match=f"from_networkx: .*{told}") as caught:
        gb.io.from_networkx(graph, nodelist=nodelist)
    assert isinstance(caught.value, nx.NetworkXError)


@pytest.mark.parametrize("value", ["x", None, 2**64, [1]])
def test_a_weight_that_is_no_number_is_named_with_its_edge(value) -> None:
    graph = nx.Graph([("a", "b")])
    graph.add_edge("b", "c", weight=value)
    with pytest.raises(DomainMismatch, match=r"the edge 'b', 'c' has weight=.*; give numbers"):
        gb.io.from_networkx(graph)
    assert gb.io.from_networkx(graph, weight=None).nvals == 4


def test_to_networkx_refuses_more_vertices_than_fit() -> None:
    with pytest.raises(OutOfMemory, match="a NetworkX graph of 1099511627776 vertices needs"):
        gb.io.to_networkx(gb.Matrix.from_coo([0], [0], [1], nrows=2**40, ncols=2**40))


def test_to_networkx_takes_square_matrices() -> None:
    with pytest.raises(DimensionMismatch, match=r"got shape \(2, 3\)"):
        gb.io.to_networkx(gb.Matrix(int, 2, 3))
    with pytest.raises(DomainMismatch, match="takes a Matrix, got Vector"):
        gb.io.to_networkx(gb.Vector(int, 3))
    A = gb.Matrix.from_coo([0], [1], [5], nrows=2, ncols=2)
    assert list(gb.io.to_networkx(A.T).edges(data="weight")) == [(1, 0, 5)]


def test_a_missing_column_is_named() -> None:
    frame = pd.DataFrame({"a": [1], 3: [2]})
    with pytest.raises(InvalidValue, match="no column 'source'; its columns are a, 3"):
        gb.io.from_pandas(frame)
    with pytest.raises(InvalidValue, match="no column 'w'"):
        gb.io.from_pandas(pd.DataFrame({"source": [0], "target": [1]}), weight="w")


def test_a_table_without_rows_is_a_graph_without_edges() -> None:
    frame = pd.DataFrame({"source": [], "target": []})
    assert gb.io.from_pandas(frame, size=3).shape == (3, 3)
    assert gb.io.from_pandas(frame).nvals == 0
    with pytest.raises(InvalidValue, match="integers without gaps, got float64"):
        gb.io.from_pandas(pd.DataFrame({"source": [0.5], "target": [np.nan]}))
