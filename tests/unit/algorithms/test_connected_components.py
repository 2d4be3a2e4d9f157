"""Connected components against a search from every vertex."""

from __future__ import annotations

import importlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components as scipy_components
from tests.helpers.every import every
from tests.unit.algorithms import cases

import semira as gb
from semira import exceptions
from semira.algorithms import connected_components

module = importlib.import_module("semira.algorithms.components_choice")

#: Every way to begin.
WAYS = (
    {"algorithm": "spread"},
    {"algorithm": "sample", "sample": 1},
    {"algorithm": "sample"},
    {"algorithm": "search"},
)
ways = pytest.mark.parametrize("way", WAYS)


@ways
@cases.shapes
def test_labels(graph, device, way):
    expected = cases.components(graph)
    found = connected_components(graph.matrix(device), **way)
    assert found.label.to_dense().tolist() == expected
    assert found.count == len(set(expected))
    symmetric = connected_components(graph.both_ways().matrix(device), **way, symmetric=True)
    assert symmetric.label.to_dense().tolist() == expected


@given(graph=cases.graphs(), way=st.sampled_from(WAYS), symmetric=st.booleans())
@cases.examples(max_examples=60)
def test_labels_of_any_graph(device, graph, way, symmetric):
    A = (graph.both_ways() if symmetric else graph).matrix(device)
    found = connected_components(A, **way, symmetric=symmetric)
    assert found.label.to_dense().tolist() == cases.components(graph)


@ways
@given(seed=st.integers(0, 2**32 - 1))
@cases.examples(max_examples=10)
def test_shuffled_paths_and_cycles(device, way, seed):
    # High diameter and numbers without order: what label propagation is slow at.
    n = 120
    name = np.random.default_rng(seed).permutation(n)
    cuts = {30, 31, 77}
    pairs = [(name[i], name[i + 1]) for i in range(n - 1) if i not in cuts]
    graph = cases.unweighted(n, [*pairs, (name[n - 1], name[78])])
    found = connected_components(graph.matrix(device), **way)
    expected = np.empty(n, int)
    for part in np.split(name, sorted(cut + 1 for cut in cuts)):
        expected[part] = part.min()
    assert found.label.to_dense().tolist() == expected.tolist()
    assert found.count == 4
    # A search has as many levels as paths are long.
    assert found.iterations < (n if way["algorithm"] == "search" else n / 4)


@ways
def test_the_largest_component_need_not_have_the_smallest_label(device, way):
    # The bulk hangs together on sampled edges; vertex 0 joins it by an edge seen only later.
    hub = 40
    pairs = [(i, hub) for i in range(3, hub)] + [(1, 2), (hub, 0)]
    found = connected_components(cases.unweighted(hub + 1, pairs).matrix(device), **way)
    assert found.label.to_dense().tolist() == [0, 1, 1, *[0] * 38]


@every("dtype", ["BOOL", "INT8", "UINT32", "FP32"])
def test_every_dtype_is_a_graph(device, dtype):
    found = connected_components(cases.SHAPES["two triangles"].matrix(device, dtype))
    assert found.label.dtype == "INT32"
    assert found.label.to_dense().tolist() == [0, 1, 0, 1, 0, 1, 6]


def test_explicit_zeros_are_edges(device):
    graph = cases.Graph(3, ((2, 1, 0.0),))
    found = connected_components(graph.matrix(device))
    assert found.label.to_dense().tolist() == [0, 1, 1]


@ways
@pytest.mark.parametrize("symmetric", [False, True])
def test_parts_that_meet_in_the_largest_component(device, way, symmetric):
    # Two paths join a clique by an edge each that no sample sees, at different vertices.
    core = range(6, 36)
    pairs = [(0, 1), (0, 2), (0, 36), (1, 36), (36, 16), (3, 4), (3, 5), (3, 37), (4, 37), (37, 26)]
    graph = cases.unweighted(38, [*pairs, *((i, j) for i in core for j in core)])
    A = (graph.both_ways() if symmetric else graph).matrix(device)
    assert connected_components(A, **way, symmetric=symmetric).label.to_dense().max() == 0


@ways
def test_sparse_graphs_by_the_hundred(way):
    # One in two hundred of these once came apart where sampled parts met; other ways have none.
    for seed in range(400 if way["algorithm"] == "sample" else 100):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(4, 14)) if seed % 2 else int(rng.integers(20, 60))
        keys = np.unique(rng.integers(0, n * n, int(rng.integers(n // 2, 2 * n))))
        A = gb.Matrix.from_coo(keys // n, keys % n, True, nrows=n, ncols=n)
        pattern = coo_array((np.ones(len(keys)), (keys // n, keys % n)), (n, n))
        count = scipy_components(pattern, directed=False)[0]
        assert connected_components(A, **way).count == count, seed


@ways
def test_no_vertices(device, way):
    with gb.device(device):
        found = connected_components(gb.Matrix("BOOL", 0, 0), **way)
    assert found.label.size == 0
    assert found.count == 0


@pytest.mark.parametrize("sample", [0, -1, 1.5, True, "two"])
def test_bad_sample(sample):
    A = cases.SHAPES["path"].matrix("reference")
    with pytest.raises(exceptions.InvalidValue, match="sample"):
        connected_components(A, algorithm="sample", sample=sample)


@pytest.mark.parametrize(
    "wrong", [{"algorithm": "fast"}, {"sample": 2}, {"algorithm": "search", "sample": 2}]
)
def test_unknown_method_or_sample_of_another(wrong):
    with pytest.raises(exceptions.InvalidValue, match="spread, sample, search, union"):
        connected_components(cases.SHAPES["path"].matrix("reference"), **wrong)


@pytest.mark.parametrize("symmetric", [False, True])
def test_auto_searches_where_that_pays_and_samples_where_paths_are_long(
    device, monkeypatch, symmetric
):
    monkeypatch.setattr(module, "_ENTRIES", 0)
    monkeypatch.setattr(module, "_MEAN_DEGREE", 0)
    chain = [(i, i + 1) for i in range(2, 9)]
    graph = cases.unweighted(12, [*chain, (10, 11), *((9, j) for j in range(2, 8))])
    A = (graph.both_ways() if symmetric else graph).matrix(device)
    expected = [0, 1, *[2] * 8, 10, 10]
    searched, search = [], module.search_first
    counted = lambda *a: searched.append(search(*a)) or searched[-1]  # noqa: E731
    monkeypatch.setattr(module, "search_first", counted)
    # An option: hosts would join trees without one.
    short = connected_components(A, symmetric=symmetric, deterministic=True)
    assert short.label.to_dense().tolist() == expected
    monkeypatch.setattr(module, "_LEVELS", 1)
    long = connected_components(A, symmetric=symmetric, deterministic=True)
    assert long.label.to_dense().tolist() == expected
    assert [found is None for found, _ in searched] == [False, True]
    # The levels that were given up were run: they stand before those of the sample.
    alone = connected_components(A, symmetric=symmetric, algorithm="sample")
    assert long.iterations == 1 + alone.iterations
    assert len(long.trace) == (1 if symmetric else 2) + len(alone.trace)
    assert [row.iteration for row in long.trace] == sorted(row.iteration for row in long.trace)


@ways
@pytest.mark.parametrize("symmetric", [False, True])
def test_lean_matrices_in_a_fixed_order(device, way, symmetric):
    # One orientation leaves one direction: a search that may not push there would have none.
    graph = cases.SHAPES["random"]
    A = (graph.both_ways() if symmetric else graph).matrix(device)
    A.memory = "lean"
    found = connected_components(A, **way, symmetric=symmetric, deterministic=True)
    assert found.label.to_dense().tolist() == cases.components(graph)


def test_not_square():
    with pytest.raises(exceptions.DimensionMismatch, match=r"\(2, 3\)"):
        connected_components(gb.Matrix("BOOL", 2, 3))


@ways
def test_no_host_reads(monkeypatch, way):
    graph = cases.SHAPES["random"]
    A = graph.matrix("reference")
    with cases.loops_without_host_reads(monkeypatch) as loops:
        found = connected_components(A, **way)
    # The one around each is called, the loop itself only recorded, until it repeats.
    assert len(loops) == {"spread": 3, "sample": 6, "search": 4}[way["algorithm"]]
    assert found.label.to_dense().tolist() == cases.components(graph)


@pytest.mark.parametrize("opts", [{}, {"bits": 8}])
def test_gpus_pull_whole_vectors(device, opts):
    if device != "cuda":
        pytest.skip("others choose between both directions at no cost")
    # Few entries: the first product would push.
    A = gb.Matrix.from_coo([0, 1, 5], [1, 2, 4], nrows=400, ncols=400).to(device)
    assert {row.direction for row in connected_components(A, **opts).trace} == {"pull"}
    found = connected_components(A, direction=None, **opts)
    assert "push" in {row.direction for row in found.trace}
    assert found.label.isequal(connected_components(A, **opts).label)
