"""Connected components against a search from every vertex."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components as scipy_components
from tests.unit.algorithms import cases

import semira as gb
from semira import exceptions
from semira.algorithms import connected_components

samples = pytest.mark.parametrize("sample", [0, 1, 2])


@samples
@cases.shapes
def test_labels(graph, device, sample):
    expected = cases.components(graph)
    found = connected_components(graph.matrix(device), sample=sample)
    assert found.label.to_dense().tolist() == expected
    assert found.count == len(set(expected))
    symmetric = connected_components(
        graph.both_ways().matrix(device), sample=sample, symmetric=True
    )
    assert symmetric.label.to_dense().tolist() == expected


@given(graph=cases.graphs(), sample=st.integers(0, 2), symmetric=st.booleans())
@cases.examples(max_examples=60)
def test_labels_of_any_graph(device, graph, sample, symmetric):
    A = (graph.both_ways() if symmetric else graph).matrix(device)
    found = connected_components(A, sample=sample, symmetric=symmetric)
    assert found.label.to_dense().tolist() == cases.components(graph)


@samples
@given(seed=st.integers(0, 2**32 - 1))
@cases.examples(max_examples=10)
def test_shuffled_paths_and_cycles(device, sample, seed):
    # High diameter and numbers without order: what label propagation is slow at.
    n = 120
    name = np.random.default_rng(seed).permutation(n)
    cuts = {30, 31, 77}
    pairs = [(name[i], name[i + 1]) for i in range(n - 1) if i not in cuts]
    graph = cases.unweighted(n, [*pairs, (name[n - 1], name[78])])
    found = connected_components(graph.matrix(device), sample=sample)
    expected = np.empty(n, int)
    for part in np.split(name, sorted(cut + 1 for cut in cuts)):
        expected[part] = part.min()
    assert found.label.to_dense().tolist() == expected.tolist()
    assert found.count == 4
    assert found.iterations < n / 4


@samples
def test_the_largest_component_need_not_have_the_smallest_label(device, sample):
    # The bulk hangs together on sampled edges; vertex 0 joins it by an edge seen only later.
    hub = 40
    pairs = [(i, hub) for i in range(3, hub)] + [(1, 2), (hub, 0)]
    found = connected_components(cases.unweighted(hub + 1, pairs).matrix(device), sample=sample)
    assert found.label.to_dense().tolist() == [0, 1, 1, *[0] * 38]


@pytest.mark.parametrize("dtype", ["BOOL", "INT8", "UINT32", "FP32"])
def test_every_dtype_is_a_graph(device, dtype):
    found = connected_components(cases.SHAPES["two triangles"].matrix(device, dtype))
    assert found.label.dtype == "INT32"
    assert found.label.to_dense().tolist() == [0, 1, 0, 1, 0, 1, 6]


def test_explicit_zeros_are_edges(device):
    graph = cases.Graph(3, ((2, 1, 0.0),))
    found = connected_components(graph.matrix(device))
    assert found.label.to_dense().tolist() == [0, 1, 1]


@samples
@pytest.mark.parametrize("symmetric", [False, True])
def test_parts_that_meet_in_the_largest_component(device, sample, symmetric):
    # Two paths join a clique by an edge each that no sample sees, at different vertices.
    core = range(6, 36)
    pairs = [(0, 1), (0, 2), (0, 36), (1, 36), (36, 16), (3, 4), (3, 5), (3, 37), (4, 37), (37, 26)]
    graph = cases.unweighted(38, [*pairs, *((i, j) for i in core for j in core)])
    A = (graph.both_ways() if symmetric else graph).matrix(device)
    assert connected_components(A, sample=sample, symmetric=symmetric).label.to_dense().max() == 0


@samples
def test_sparse_graphs_by_the_hundred(sample):
    # One in two hundred of these once came apart where sampled parts met.
    for seed in range(400):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(4, 14)) if seed % 2 else int(rng.integers(20, 60))
        keys = np.unique(rng.integers(0, n * n, int(rng.integers(n // 2, 2 * n))))
        A = gb.Matrix.from_coo(keys // n, keys % n, True, nrows=n, ncols=n)
        count = scipy_components(gb.io.to_scipy_sparse(A), directed=False)[0]
        assert connected_components(A, sample=sample).count == count, seed


@samples
def test_no_vertices(device, sample):
    with gb.device(device):
        found = connected_components(gb.Matrix("BOOL", 0, 0), sample=sample)
    assert found.label.size == 0
    assert found.count == 0


@pytest.mark.parametrize("sample", [-1, 1.5, True, "two"])
def test_bad_sample(sample):
    with pytest.raises(exceptions.InvalidValue, match="sample"):
        connected_components(cases.SHAPES["path"].matrix("reference"), sample=sample)


def test_not_square():
    with pytest.raises(exceptions.DimensionMismatch, match=r"\(2, 3\)"):
        connected_components(gb.Matrix("BOOL", 2, 3))


@samples
def test_no_host_reads(monkeypatch, sample):
    graph = cases.SHAPES["random"]
    A = graph.matrix("reference")
    with cases.loops_without_host_reads(monkeypatch) as loops:
        found = connected_components(A, sample=sample)
    # The one around each is called, the loop itself only recorded, until it repeats.
    assert len(loops) == (6 if sample else 3)
    assert found.label.to_dense().tolist() == cases.components(graph)
