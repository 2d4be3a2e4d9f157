"""Searches, sums over paths, triangles and ranks that hosts compute by loops are those of products.

The loops run on hosts without an option, the products with one.
"""

from __future__ import annotations

import _thread
import threading

import numpy as np
import pytest
from hypothesis import given
from tests.unit.algorithms import cases

import semira as gb
from semira.algorithms import (
    all_pairs_shortest_paths,
    betweenness_centrality,
    bfs,
    graph_colouring,
    jaccard_similarity,
    k_truss,
    label_propagation,
    local_clustering_coefficient,
    multi_source_bfs,
    pagerank,
    pagerank_passes,
    personalised_pagerank,
    sequential,
    triangle_kernels,
    voting,
)
from semira.algorithms.voting import vote_and_move
from semira.base.settings import override, restore

#: Calls, the field of their result, and whether it has to be equal bit by bit.
CALLS = {
    "betweenness": (betweenness_centrality, "centrality", False),
    "clustering": (local_clustering_coefficient, "coefficient", True),
    "truss": (k_truss, "truss", True),
    "ranks": (lambda A, **opts: pagerank(A, tol=1e-12, **opts), "rank", False),
    "weighted": (
        lambda A, **opts: pagerank(A, 0.5, 0, 9, weighted=True, **opts), "rank", False,
    ),
    "colours": (graph_colouring, "colour", True),
    "labels": (lambda A, **opts: label_propagation(A, seed=2, **opts), "label", True),
    "overlaps": (jaccard_similarity, "similarity", True),
    "personal": (lambda A, **opts: personalised_pagerank(A, 0, **opts), "rank", False),
}  # fmt: skip

each = pytest.mark.parametrize("name", CALLS)


def check(name, A):
    call, field, is_exact = CALLS[name]
    found, expected = call(A), call(A, deterministic=True)
    assert len(found.trace) == 0 < len(expected.trace)
    mine, theirs = getattr(found, field), getattr(expected, field)
    assert mine.device == A.device
    assert mine.isequal(theirs, check_dtype=True) or (
        not is_exact and mine.dtype == theirs.dtype and mine.isclose(theirs, rel_tol=1e-9)
    )
    if field in ("rank", "label", "truss"):
        assert found.iterations == expected.iterations


@each
def test_loops_give_what_products_give(name):
    if name != "labels":  # whose random numbers Numba compiles there, for seconds
        check(name, cases.SHAPES["random"].matrix("suitesparse"))
    for shape in ("random", "path", "star", "grid"):
        check(name, cases.SHAPES[shape].matrix("cpu"))


@each
@given(graph=cases.graphs(lightest=1))
@cases.examples(max_examples=8)
def test_loops_give_what_products_give_on_any_graph(name, graph):
    if graph.edges:
        check(name, graph.matrix("cpu"))


@given(graph=cases.graphs())
@cases.examples(max_examples=10)
def test_python_says_what_the_loops_mean(graph):
    """The functions that are compiled on hosts, run by Python."""
    A, B = (graph.matrix(where) for where in ("reference", "cpu"))
    sources = np.unique([0, graph.n // 2])
    sums = [sequential.dependencies(each, sources) for each in (A, B)]
    assert sums[0][0].tolist() == sums[1][0].tolist()
    assert sums[0][1:] == sums[1][1:]
    lower = [each.select(gb.select.tril, -1).new().dup("INT64") for each in (A, B)]
    for weighted in (False, True):
        corners = [np.zeros(graph.n, np.int64) for _ in lower]
        for edges, counts in zip(lower, corners, strict=True):
            triangle_kernels.add_corners(edges, counts, times=1, weighted=weighted)
        assert corners[0].tolist() == corners[1].tolist()
    assert len({triangle_kernels.triangles(edges) for edges in lower}) == 1
    shares = [triangle_kernels.overlaps(each, each).to_dicts() for each in (A, B)]
    assert shares[0] == shares[1]
    trusses = [triangle_kernels.truss(each, 1, False) for each in (A, B)]
    assert trusses[0][1] == trusses[1][1]
    assert trusses[0][0].to_dicts() == trusses[1][0].to_dicts()
    edges = [graph.both_ways().matrix(where) for where in ("reference", "cpu")]
    edges = [each.select(gb.select.offdiag).new() for each in edges]
    order = np.arange(graph.n)[::-1].copy()
    colours = [sequential.colours(each, order).to_dense().tolist() for each in edges]
    assert colours[0] == colours[1]
    with np.errstate(all="ignore"):
        moved = [vote_and_move(each, (3, 4), np.array([0.75, 0.5]), 0, 9) for each in edges]
    assert moved[0][0].to_dense().tolist() == moved[1][0].to_dense().tolist()
    assert moved[0][1:] == moved[1][1:]


def test_iterations_in_one_kernel_give_the_labels_of_single_ones(monkeypatch):
    for name in ("random", "grid", "star", "complete"):
        A = cases.SHAPES[name].matrix("cpu")
        together = label_propagation(A, seed=1)
        with monkeypatch.context() as patch:
            patch.setattr(voting, "_ALONE", -1)
            single = label_propagation(A, seed=1)
        assert single.label.isequal(together.label)
        assert single.iterations == together.iterations


def test_no_source_reaches_nothing():
    for where in ("reference", "cpu"):
        found = multi_source_bfs(cases.SHAPES["grid"].matrix(where), [], together=True)
        assert (found.level.nvals, found.iterations) == (0, 0)


def test_searches_of_a_small_graph_work_in_the_same_arrays_but_for_results():
    graph = cases.SHAPES["random"]
    A = graph.matrix("cpu")
    expected = [cases.levels(graph, source) for source in range(graph.n)]
    found = [bfs(A, source).level for source in range(graph.n)]
    assert [level.to_dict() for level in found] == expected
    # Several threads at once.
    wrong: list[int] = []

    def search():
        each = [bfs(A, source).level for source in range(graph.n)]
        wrong.extend(k for k, level in enumerate(each) if level.to_dict() != expected[k])

    threads = [threading.Thread(target=search) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not wrong
    # Another graph, and one that keeps nothing.
    A[0, graph.n - 1] << 1
    assert bfs(A, 0).level[graph.n - 1].value == 1
    A.memory = "lean"
    assert bfs(A, 0).level[graph.n - 1].value == 1
    assert A.memory_usage().get("derived", 0) == 0


def test_threads_do_not_change_a_bit(monkeypatch):
    """Sums over blocks of vertices, or of sources, have one order."""
    monkeypatch.setattr("semira.backends.cpu.threads.PARALLEL_ENTRIES", 1000)
    rng = np.random.default_rng(3)
    n = 1000
    ends = rng.integers(0, n, (2, 20_000))
    A = gb.Matrix.from_coo(*ends, True, nrows=n, ncols=n, dup_op="any")
    found = []
    for threads in (1, 2, 7):
        before = override(threads=threads)
        try:
            score = betweenness_centrality(A, sources=40).centrality.to_dense()
            ranks = pagerank(A, tol=0, max_iterations=120)
            share = local_clustering_coefficient(A).coefficient.to_dense()
            labels = label_propagation(A, tolerance=0.02).label.to_dense()
        finally:
            restore(before)
        found.append((score, ranks.rank.to_dense(), share, labels))
    for several in zip(*found, strict=True):
        assert several[0].tolist() == several[1].tolist() == several[2].tolist()


def test_long_runs_and_short_ones_give_the_same_ranks(monkeypatch):
    A = cases.SHAPES["random"].matrix("cpu")
    for options in ({}, {"weighted": True}, {"dtype": "FP32"}, {"max_iterations": 5}):
        monkeypatch.undo()
        short = pagerank(A, **options)
        monkeypatch.setattr(pagerank_passes, "_SHORT", 0)
        long = pagerank(A, **options)
        assert long.rank.isequal(short.rank, check_dtype=True)
        assert (long.iterations, long.converged) == (short.iterations, short.converged)
        assert long.last_change.value == short.last_change.value


@pytest.mark.parametrize(
    ("function", "n"), [(betweenness_centrality, 40_000), (all_pairs_shortest_paths, 8_000)]
)
def test_ctrl_c_ends_searches_from_all_vertices(function, n):
    around = np.arange(n)
    A = gb.Matrix.from_coo(around, (around + 1) % n, 2.0, nrows=n, ncols=n)
    few = A[:40, :40].new()
    # What it compiles is there when the clock begins.
    function(few)
    timer = threading.Timer(0.2, _thread.interrupt_main)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        function(A)
    timer.join()
    function(few)
