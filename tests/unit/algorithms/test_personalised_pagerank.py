"""Personalised PageRank against NetworkX."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.helpers.data import load_graph
from tests.helpers.every import every
from tests.unit.algorithms import cases

import semira as gb
from semira import exceptions
from semira.algorithms import pagerank, personalised_pagerank

#: Differences of two iterates that both changed by 1e-13 last: 2e-13 * 0.85 / 0.15.
CLOSE = 1e-11


def expected_ranks(
    graph: cases.Graph, shares: dict[int, float], *, weighted: bool = False
) -> list[float]:
    G = nx.DiGraph()
    G.add_nodes_from(range(graph.n))
    G.add_weighted_edges_from(graph.edges)
    weight = "weight" if weighted else None
    ranks = nx.pagerank(G, tol=1e-15, max_iter=2000, personalization=shares, weight=weight)
    return [ranks[vertex] for vertex in range(graph.n)]


EXACT = {"tol": 1e-13, "max_iterations": 2000}


@every("adaptive", [False, True])
@cases.shapes
def test_ranks_from_one_vertex(graph, device, adaptive):
    source = graph.n // 2
    found = personalised_pagerank(graph.matrix(device), source, adaptive=adaptive, **EXACT)
    assert found.converged
    ranks = found.rank.to_dense()
    assert ranks.sum() == pytest.approx(1, abs=1e-12)
    np.testing.assert_allclose(ranks, expected_ranks(graph, {source: 1}), atol=CLOSE)


@given(graph=cases.graphs(), data=st.data(), weighted=st.booleans())
@cases.examples(max_examples=30)
def test_ranks_of_any_graph(device, graph, data, weighted):
    shares = data.draw(
        st.dictionaries(st.integers(0, graph.n - 1), st.integers(0, 5), min_size=1).filter(
            lambda found: sum(found.values()) > 0
        )
    )
    with gb.device(device):
        p = gb.Vector.from_dict(shares, size=graph.n)
    A = graph.matrix(device)
    found = pagerank(A, personalisation=p, weighted=weighted, **EXACT)
    expected = expected_ranks(graph, shares, weighted=weighted)
    np.testing.assert_allclose(found.rank.to_dense(), expected, atol=CLOSE)


def test_several_sources_count_alike(device):
    graph = cases.SHAPES["random"]
    A = graph.matrix(device)
    found = personalised_pagerank(A, [3, 7, 3, np.int32(9)], **EXACT)
    expected = expected_ranks(graph, {3: 1, 7: 1, 9: 1})
    np.testing.assert_allclose(found.rank.to_dense(), expected, atol=CLOSE)


def test_equal_shares_are_no_shares(device):
    A = cases.SHAPES["random"].matrix(device)
    with gb.device(device):
        everywhere = gb.Vector.from_scalar(2, A.nrows)
    found = pagerank(A, personalisation=everywhere)
    assert found.rank.isclose(pagerank(A).rank, rel_tol=1e-12)


def test_nothing_goes_where_no_edge_leads(device):
    graph = cases.SHAPES["two triangles"]
    rank = personalised_pagerank(graph.matrix(device), 0, **EXACT).rank.to_dense()
    assert not rank[[1, 3, 5, 6]].any()
    # No edge was followed yet with probability 0.15, and so on around the triangle.
    cycle = 0.15 / (1 - 0.85**3)
    np.testing.assert_allclose(rank[[0, 2, 4]], [cycle, cycle * 0.85, cycle * 0.85**2], atol=1e-11)


@pytest.mark.parametrize("dtype", ["BOOL", "INT8", "UINT32", "FP32", "FP64"])
def test_shares_of_any_real_dtype(device, dtype):
    graph = cases.SHAPES["grid"]
    with gb.device(device):
        p = gb.Vector.from_coo([2, 4], [1, 1], dtype, size=9)
    found = pagerank(graph.matrix(device), personalisation=p, **EXACT)
    np.testing.assert_allclose(
        found.rank.to_dense(), expected_ranks(graph, {2: 1, 4: 1}), atol=CLOSE
    )


def test_single_precision(device):
    graph = cases.SHAPES["random"]
    found = personalised_pagerank(graph.matrix(device), 4, tol=1e-5, dtype="FP32")
    assert found.rank.dtype == "FP32"
    np.testing.assert_allclose(found.rank.to_dense(), expected_ranks(graph, {4: 1}), atol=1e-4)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([-1.0, 3.0], "-1"),
        ([0.0, 0.0], "sum 0"),
        ([np.nan, 1.0], "nan"),
        ([np.inf, 1.0], "inf"),
        ([], "sum 0"),
    ],
)
def test_bad_shares(values, words):
    p = gb.Vector.from_coo(range(len(values)), values, "FP64", size=6)
    with pytest.raises(exceptions.InvalidValue, match=words):
        pagerank(cases.SHAPES["path"].matrix("reference"), personalisation=p)


def test_shares_that_are_no_vector_of_this_graph():
    A = cases.SHAPES["path"].matrix("reference")
    with pytest.raises(exceptions.DimensionMismatch, match="5 positions"):
        pagerank(A, personalisation=gb.Vector.from_scalar(1, 5))
    with pytest.raises(exceptions.DomainMismatch, match="list"):
        pagerank(A, personalisation=[1, 0])
    with pytest.raises(exceptions.DomainMismatch, match="FC64"):
        pagerank(A, personalisation=gb.Vector.from_scalar(1, 6, "FC64"))


def test_bad_sources():
    A = cases.SHAPES["path"].matrix("reference")
    for sources in (6, -1, [0, 6]):
        with pytest.raises(exceptions.IndexOutOfBound, match=r"\[0, 6\)"):
            personalised_pagerank(A, sources)
    for sources in (1.5, [None], "a"):
        with pytest.raises(exceptions.InvalidIndex):
            personalised_pagerank(A, sources)
    with pytest.raises(exceptions.InvalidValue, match="empty"):
        personalised_pagerank(A, [])
    with pytest.raises(exceptions.IndexOutOfBound):
        personalised_pagerank(gb.Matrix("BOOL", 0, 0), 0)
    with pytest.raises(exceptions.DimensionMismatch, match=r"\(2, 3\)"):
        personalised_pagerank(gb.Matrix("BOOL", 2, 3), 0)
    with pytest.raises(exceptions.InvalidValue, match="damping"):
        personalised_pagerank(A, 0, 1.5)


def test_no_host_reads_in_the_loop(monkeypatch):
    A = cases.SHAPES["random"].matrix("reference")
    with cases.loops_without_host_reads(monkeypatch) as loops:
        found = personalised_pagerank(A, 1)
    # What each vertex shares out, the first ranks, and the loop.
    assert len(loops) == 3
    assert found.converged


@pytest.mark.slow
@pytest.mark.parametrize("name", ["wiki-Vote", "p2p-31"])
def test_real_graphs(device, name):
    if device == "reference":
        pytest.skip("the reference is made of dictionaries")
    edges = load_graph(name)
    n, source = edges.nrows, int(np.bincount(edges.rows).argmax())
    with gb.device(device):
        A = gb.Matrix.from_coo(edges.rows, edges.cols, nrows=n, ncols=n)
    rank = personalised_pagerank(A, source, **EXACT).rank.to_dense()
    # The equation itself, by NumPy: its residual bounds the error by 1 / 0.15.
    out = np.bincount(edges.rows, minlength=n)
    share = np.divide(rank, out, out=np.zeros(n), where=out > 0)
    followed = 0.85 * np.bincount(edges.cols, share[edges.rows], minlength=n)
    followed[source] += 0.15 + 0.85 * rank[out == 0].sum()
    assert np.abs(followed - rank).sum() < 1e-12
