"""What hosts compute by loops over edges is what products and rounds compute."""

from __future__ import annotations

import dataclasses

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
