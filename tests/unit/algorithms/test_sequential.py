"""What hosts compute by loops over edges is what products and rounds compute."""

from __future__ import annotations

import dataclasses
import importlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components as scipy_components
from tests.unit.algorithms import cases

import semira as gb
from semira.algorithms import (
    connected_components,
    core_number,
    minimum_spanning_forest,
    multi_source_bfs,
    sequential,
    strongly_connected_components,
)
from semira.base.settings import override, restore
from semira.exceptions import InvalidValue

#: The algorithm that asks for iterations, the one that does not, and the field of the result.
ALGORITHMS = {
    connected_components: ("spread", "union", "label"),
    core_number: ("peel", "buckets", "core"),
    minimum_spanning_forest: ("boruvka", "kruskal", "forest"),
    strongly_connected_components: ("colours", "depth", "label"),
}
#: Those of undirected graphs, which may be told that entries are symmetric.
TOLD = (connected_components, core_number)

each = pytest.mark.parametrize("function", ALGORITHMS)
hosts = pytest.mark.parametrize("where", ["reference", "cpu", "suitesparse"])


def check(function, A, **options):
    by_rounds, by_steps, field = ALGORITHMS[function]
    expected = function(A, algorithm=by_rounds, **options)
    found = function(A, algorithm=by_steps, **options)
    assert (found.iterations, len(found.trace)) == (1, 0)
    mine = getattr(found, field)
    assert mine.isequal(getattr(expected, field), check_dtype=True)
    assert mine.device == A.device


@each
@hosts
@cases.shapes
def test_steps_give_what_rounds_give(function, graph, where):
    check(function, graph.matrix(where))
    if function in TOLD:
        check(function, graph.both_ways().matrix(where), symmetric=True)


@each
@given(graph=cases.graphs(lightest=-3), dtype=st.sampled_from(["INT8", "FP32", "BOOL"]))
@cases.examples(max_examples=60)
def test_steps_give_what_rounds_give_on_any_graph(function, graph, dtype):
    check(function, graph.matrix("cpu", dtype))


@each
@hosts
def test_hosts_choose_steps_unless_they_are_slow_there(function, where):
    A = cases.SHAPES["random"].matrix(where)
    found = function(A)
    is_quick = gb.device_traits(where).compiled_loops
    assert is_quick == (where != "reference")
    assert (found.iterations == 1) == is_quick
    if function is not minimum_spanning_forest:
        assert function(A, deterministic=True).iterations > 1


@pytest.mark.parametrize("threads", [1, 2, 7])
@pytest.mark.parametrize("symmetric", [False, True])
def test_threads_join_the_same_trees(threads, symmetric):
    """Paths in an order that makes deep trees, with many edges across."""
    n = 120_000
    rng = np.random.default_rng(4)
    order = rng.permutation(n)
    rows = np.concatenate([order[:-1], rng.integers(0, n // 2, 2 * n)])
    cols = np.concatenate([order[1:], rng.integers(0, n // 2, 2 * n)])
    apart = (rows % 5 == 0) == (cols % 5 == 0)
    rows, cols = rows[apart], cols[apart]
    if symmetric:
        rows, cols = np.concatenate([rows, cols]), np.concatenate([cols, rows])
    A = gb.Matrix.from_coo(rows, cols, True, nrows=n, ncols=n, dup_op="any")
    _, numbers = scipy_components(gb.io.to_scipy_sparse(A), directed=False)
    smallest = np.full(n, n)
    np.minimum.at(smallest, numbers, np.arange(n))
    before = override(threads=threads)
    try:
        found = connected_components(A, symmetric=symmetric, algorithm="union")
    finally:
        restore(before)
    assert found.label.to_dense().tolist() == smallest[numbers].tolist()


def test_components_begin_with_a_few_edges(monkeypatch):
    """One component may hold nearly all, half, or none of the vertices after the few."""
    monkeypatch.setattr(sequential, "_SAMPLED", 0)
    for seed in range(200):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(4, 60))
        pairs = rng.integers(0, n, (2, 4 * n)) // (1 + seed % 3) * (1 + seed % 3)
        rows, cols = np.concatenate([pairs, pairs[::-1]], axis=1)
        A = gb.Matrix.from_coo(rows, cols, True, nrows=n, ncols=n, dup_op="any")
        found = connected_components(A, symmetric=True, algorithm="union")
        expected = connected_components(A, symmetric=True, algorithm="spread")
        assert found.label.isequal(expected.label), seed


@each
def test_devices_with_memory_of_their_own_say_what_to_do(function, monkeypatch):
    A = cases.SHAPES["path"].matrix("reference")
    traits = gb.device_traits("reference")
    own = dataclasses.replace(traits, own_memory=True)
    monkeypatch.setattr(sequential, "device_traits", lambda _: own)
    with pytest.raises(InvalidValue, match=r"move it by \.to\('cpu'\)"):
        function(A, algorithm=ALGORITHMS[function][1])


@each
def test_what_is_no_algorithm_is_refused(function):
    A = cases.SHAPES["path"].matrix("cpu")
    with pytest.raises(InvalidValue, match=ALGORITHMS[function][1]):
        function(A, algorithm="fast")
    if function is not minimum_spanning_forest:
        with pytest.raises(InvalidValue, match=r"no product that takes \['direction'\]"):
            function(A, algorithm=ALGORITHMS[function][1], direction="push")


@hosts
@cases.shapes
def test_queues_reach_what_products_reach(graph, where):
    A = graph.matrix(where)
    sources = [graph.n - 1, 0, 0, graph.n // 2]
    for limit in (None, 0, 1, 2):
        for together in (False, True):
            options = {"together": together, "max_depth": limit}
            expected = multi_source_bfs(A, sources, algorithm="products", **options)
            found = multi_source_bfs(A, sources, algorithm="queues", **options)
            assert found.level.isequal(expected.level, check_dtype=True)
            assert found.sources.tolist() == expected.sources.tolist()
            assert found.iterations == expected.iterations
            assert (len(found.trace), found.level.device) == (0, where)


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_threads_share_sources(threads):
    rng = np.random.default_rng(1)
    A = gb.Matrix.from_coo(
        *rng.integers(0, 5000, (2, 20_000)), 1, nrows=5000, ncols=5000, dup_op="any"
    )
    sources = rng.choice(5000, 40, replace=False)
    before = override(threads=threads)
    try:
        found = multi_source_bfs(A, sources, algorithm="queues")
    finally:
        restore(before)
    assert found.level.isequal(multi_source_bfs(A, sources, algorithm="products").level)


def test_no_source_reaches_nothing():
    A = cases.SHAPES["path"].matrix("cpu")
    for together in (False, True):
        found = multi_source_bfs(A, [], together=together, algorithm="queues")
        assert found.level.nvals == 0


def test_queues_are_chosen_where_they_are_quick(monkeypatch):
    sparse, dense = (gb.Matrix.from_dense(each) for each in (np.eye(40, k=1), np.ones((40, 40))))
    sparse = sparse.select("!=", 0).new()
    module = importlib.import_module("semira.algorithms.multi_source_bfs")

    def has_queues(A, **options):
        return len(multi_source_bfs(A, [0, 1], **options).trace) == 0

    assert has_queues(sparse)
    assert has_queues(sparse, together=True)
    assert not has_queues(sparse, deterministic=True)
    assert not has_queues(dense)
    monkeypatch.setattr(module, "_FILLED", 39)
    assert has_queues(sparse)
    assert not has_queues(sparse, together=True)
    monkeypatch.setattr(module, "_LITTLE", 0)
    monkeypatch.setattr(module, "free_memory", lambda _: 24 * 80 * 2 - 1)
    assert not has_queues(sparse)
    monkeypatch.setattr(module, "free_memory", lambda _: 24 * 80 * 2)
    assert has_queues(sparse)


def test_edges_in_order_count_as_memory():
    A = cases.SHAPES["random"].matrix("cpu")
    before = A.memory_usage()
    forest = minimum_spanning_forest(A).forest
    assert A.memory_usage()["derived"] > before.get("derived", 0) + 12 * forest.nvals


def test_self_loops_are_no_neighbours():
    rows, cols = [0, 0, 1, 1, 2, 3], [0, 1, 0, 1, 2, 3]
    A = gb.Matrix.from_coo(rows, cols, True, nrows=4, ncols=4)
    found = core_number(A, symmetric=True, algorithm="buckets")
    assert found.core.to_dense().tolist() == [1, 1, 0, 0]
