"""Maximum flows and minimum cuts against every cut of small graphs, SciPy and NetworkX."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csgraph
from tests.helpers.data import graph_path
from tests.unit.algorithms import cases

import semira as gb
from semira import exceptions
from semira.algorithms import maximum_flow, minimum_cut
from semira.algorithms.flows.drain import ALGORITHMS, choose
from semira.base import settings


@pytest.fixture
def methods():
    return ALGORITHMS


def least_cut(graph, source, sink):
    """Return the least capacity of all cuts, and the smallest side of the source that has it."""
    others = [v for v in range(graph.n) if v not in (source, sink)]
    found = []
    for size in range(len(others) + 1):
        for chosen in itertools.combinations(others, size):
            side = {source, *chosen}
            cut = sum(w for i, j, w in graph.edges if i in side and j not in side)
            found.append((cut, size, side))
    value, _, side = min(found, key=lambda each: each[:2])
    return value, side


def check_flow(found, graph, source, sink):
    """Check flow, residual and cut of a result, by dense arrays."""
    n = graph.n
    capacity = np.zeros((n, n))
    for i, j, w in graph.edges:
        capacity[i, j] = w if i != j else 0
    flow = found.flow.to_dense(0).astype(float)
    assert (flow >= 0).all()
    assert (flow <= capacity).all()
    assert (np.minimum(flow, flow.T) == 0).all()
    excess = flow.sum(0) - flow.sum(1)
    excess[source] += found.value
    excess[sink] -= found.value
    assert np.allclose(excess, 0, atol=1e-9)
    assert np.allclose(found.residual.to_dense(0), capacity - flow + flow.T, atol=1e-9)
    assert found.flow.nvals == sum(i != j for i, j, _ in graph.edges)
    side = found.source_side.to_dense(False)
    assert side[source]
    assert not side[sink]
    assert (side != found.sink_side.to_dense(False)).all()
    assert capacity[side][:, ~side].sum() == pytest.approx(found.value)
    assert found.cut_value == pytest.approx(found.value)


@given(graph=cases.graphs(), data=st.data())
@cases.examples(max_examples=60)
def test_value_is_that_of_the_least_of_all_cuts(device, methods, graph, data):
    if graph.n < 2:
        return
    source = data.draw(st.integers(0, graph.n - 1))
    sink = (source + data.draw(st.integers(1, graph.n - 1))) % graph.n
    value, side = least_cut(graph, source, sink)
    for algorithm in methods:
        for dtype in ("INT64", "FP64"):
            A = graph.matrix(device, dtype)
            found = maximum_flow(A, source, sink, algorithm=algorithm)
            assert found.value == value
            assert set(found.partition[0].tolist()) == side
            check_flow(found, graph, source, sink)


@given(graph=cases.graphs(), seed=st.integers(0, 2**32 - 1))
@cases.examples(max_examples=40)
def test_a_start_from_any_flow_ends_at_the_same_cut(device, methods, graph, seed):
    if graph.n < 2:
        return
    rng = np.random.default_rng(seed)
    A, sink = graph.matrix(device, "INT64"), graph.n - 1
    other = cases.Graph(graph.n, tuple((i, j, float(rng.integers(9))) for i, j, _ in graph.edges))
    for algorithm in methods:
        cold = maximum_flow(A, 0, sink, algorithm=algorithm)
        for start in (maximum_flow(other.matrix(device), 0, sink), other.matrix(device, "INT8")):
            warm = maximum_flow(A, 0, sink, algorithm=algorithm, initial=start)
            assert warm.value == cold.value
            assert warm.source_side.isequal(cold.source_side)
            check_flow(warm, graph, 0, sink)


@pytest.mark.parametrize("seed", range(4))
def test_larger_graphs_against_scipy(device, methods, seed):
    graph = cases.random_graph(60, 400, seed)
    A = graph.matrix(device, "INT32")
    reference = csgraph.maximum_flow(gb.io.to_scipy_sparse(A, "csr"), 3, 50).flow_value
    for algorithm in methods:
        found = maximum_flow(A, 3, 50, algorithm=algorithm)
        assert found.value == reference
        check_flow(found, graph, 3, 50)


@pytest.mark.parametrize("seed", range(2))
def test_capacities_with_digits_against_networkx(device, methods, seed):
    rng = np.random.default_rng(seed)
    plain = cases.random_graph(25, 160, seed)
    graph = cases.Graph(25, tuple((i, j, float(rng.random() * w)) for i, j, w in plain.edges))
    other = nx.DiGraph()
    other.add_nodes_from(range(25))
    for i, j, w in graph.edges:
        other.add_edge(i, j, capacity=w)
    value, sides = nx.minimum_cut(other, 0, 24)
    for algorithm in methods:
        found = maximum_flow(graph.matrix(device), 0, 24, algorithm=algorithm)
        assert found.value == pytest.approx(value, rel=1e-14)
        check_flow(found, graph, 0, 24)
        cut = minimum_cut(graph.matrix(device), 0, 24, algorithm=algorithm)
        assert cut.value == found.value
        assert set(cut.partition[0].tolist()) == sides[0]


@pytest.mark.parametrize("length", [3, 1000])
def test_a_start_of_floats_along_a_long_path(device, methods, length):
    if device == "reference":
        length = min(length, 200)
    rng = np.random.default_rng(length)
    steps = np.arange(length)
    with gb.device(device):
        A, B = (
            gb.Matrix.from_coo(
                steps, steps + 1, rng.random(length) + 0.1, nrows=length + 1, ncols=length + 1
            )
            for _ in range(2)
        )
    for algorithm in methods:
        start = maximum_flow(A, 0, length, algorithm=algorithm)
        for each in (A, B):
            least = each.reduce_scalar(gb.monoid.min).value
            found = maximum_flow(each, 0, length, algorithm=algorithm, initial=start)
            assert found.value == pytest.approx(least, rel=1e-13)


def test_a_saturated_edge_has_exactly_its_capacity(device):
    with gb.device(device):
        A = gb.Matrix.from_coo([0, 1, 0], [1, 2, 2], [0.1, 1e9, 0.2], nrows=3, ncols=3)
    found = maximum_flow(A, 0, 2)
    assert found.flow[0, 1].value == 0.1
    assert found.flow[0, 2].value == 0.2
    assert found.value == pytest.approx(0.1 + 0.2, rel=1e-15)


@pytest.mark.parametrize("dtype", ["BOOL", "INT8", "UINT8", "UINT64", "FP32"])
def test_dtypes(device, dtype):
    with gb.device(device):
        A = gb.Matrix.from_coo([0, 0, 1, 2], [1, 2, 3, 3], [1, 1, 1, 1], dtype, nrows=4, ncols=4)
    found = maximum_flow(A, 0, 3)
    assert found.value == found.cut_value == 2
    assert found.flow.dtype.name == ("FP64" if dtype == "FP32" else "INT64")


def test_great_capacities_elsewhere_do_not_matter(device, methods):
    most = 2**64 - 1
    with gb.device(device):
        values = np.array([most, 2**57, most, most], np.uint64)
        A = gb.Matrix.from_coo([0, 1, 1, 2], [1, 2, 0, 3], values, nrows=4, ncols=4)
        B = gb.Matrix.from_coo(
            [0, 1, 1, 2], [1, 2, 0, 3], [np.inf, 0.5, np.inf, np.inf], nrows=4, ncols=4
        )
    for algorithm in methods:
        with pytest.raises(exceptions.InvalidValue, match="2\\*\\*59"):
            maximum_flow(A, 0, 3, algorithm=algorithm)
        assert maximum_flow(A, 1, 2, algorithm=algorithm).value == 2**57
        assert maximum_flow(B, 1, 2, algorithm=algorithm).value == 0.5
        found = maximum_flow(B, 0, 3, algorithm=algorithm)
        assert found.value == 0.5
        assert found.residual[0, 1].value == np.inf


def test_capacities_may_be_as_small_and_as_great_as_floats_are(device):
    for scale in (5e-324, 1e-300, 1e300):
        with gb.device(device):
            A = gb.Matrix.from_coo([0, 1], [1, 2], [3 * scale, 2 * scale], nrows=3, ncols=3)
        assert maximum_flow(A, 0, 2).value == 2 * scale


def test_nothing_flows_where_no_path_leads(device, methods):
    with gb.device(device):
        A = gb.Matrix.from_coo([1, 2], [0, 0], [3, 4], nrows=4, ncols=4)
        empty = gb.Matrix("FP64", 2, 2)
    for algorithm in methods:
        found = maximum_flow(A, 0, 3, algorithm=algorithm)
        assert found.value == 0
        assert found.flow.to_coo()[2].tolist() == [0, 0]
        assert found.partition[0].tolist() == [0]
        assert found.cut_edges.nvals == 0
        assert maximum_flow(empty, 1, 0, algorithm=algorithm).value == 0


def test_vertices_of_a_graph_are_names(device):
    with gb.device(device):
        pipes = gb.io.Graph.from_edges(["a", "a", "b", "c"], ["b", "c", "d", "d"], [2, 3, 4, 1])
        found = maximum_flow(pipes, "a", "d")
    assert found.value == 3
    assert found.to_dict() == {"a": {"b": 2, "c": 1}, "b": {"d": 2}, "c": {"d": 1}}
    cut = minimum_cut(pipes, "a", "d")
    assert cut.partition[0].tolist() == ["a", "c"]
    assert "minimum_cut" in repr(cut)


def test_a_result_keeps_the_matrix_as_it_was(device):
    with gb.device(device):
        A = gb.Matrix.from_coo([0, 1], [1, 2], [3, 2], nrows=3, ncols=3)
        found = maximum_flow(A, 0, 2)
        A[1, 2] << 7
        assert found.cut_value == found.value == 2
        assert maximum_flow(A, 0, 2).value == 3


@pytest.mark.parametrize("name", ["gl1", "gw1", "wlm3"])
def test_known_instances(name):
    with np.load(graph_path(f"maxflow-nx-{name}")) as found:
        n = int(found["n"])
        ends = int(found["source"]), int(found["sink"])
        rows, cols = found["row"].astype(np.int64), found["col"].astype(np.int64)
        A = gb.Matrix.from_coo(rows, cols, found["weight"], nrows=n, ncols=n)
        value = int(found["maxflow"])
    for algorithm in ALGORITHMS:
        assert maximum_flow(A, *ends, algorithm=algorithm).value == value


def test_flow_in_rounds_is_the_same_whatever_the_number_of_threads():
    graph = cases.random_graph(3000, 30000, 1)
    A = graph.matrix("cpu", "INT64")
    flows = []
    before = settings.settings()
    for threads in (1, 2, 7):
        settings.override(threads=threads)
        flows.append(maximum_flow(A, 0, 2999, algorithm="push_relabel").flow)
    settings.override(threads=before.threads)
    assert flows[0].isequal(flows[1])
    assert flows[0].isequal(flows[2])


def test_wrong_input(device):
    with gb.device(device):
        A = gb.Matrix.from_coo([0, 1], [1, 2], [3, 2], nrows=3, ncols=3)
        wide = gb.Matrix("INT64", 2, 3)
    for function in (maximum_flow, minimum_cut):
        with pytest.raises(exceptions.InvalidValue, match="both 1"):
            function(A, 1, 1)
        with pytest.raises(exceptions.IndexOutOfBound, match="sink"):
            function(A, 0, 3)
        with pytest.raises(exceptions.DimensionMismatch):
            function(wide, 0, 1)
        with pytest.raises(exceptions.InvalidValue, match="algorithm='dinic'"):
            function(A, 0, 1, algorithm="dinic")
        for bad, error in ((-1.0, exceptions.NegativeWeight), (np.nan, exceptions.InvalidWeight)):
            B = A.dup("FP64")
            B[0, 1] << bad
            with pytest.raises(error):
                function(B, 0, 2)
        C = A.dup("FP64")
        C << C.apply(gb.unary.one)
        C << C.apply(gb.binary.second, right=np.inf)
        with pytest.raises(exceptions.InvalidValue, match="infinite"):
            function(C, 0, 2)
    with pytest.raises(exceptions.DomainMismatch, match="initial"):
        maximum_flow(A, 0, 2, initial=3)
    with pytest.raises(exceptions.DimensionMismatch, match="initial"):
        maximum_flow(A, 0, 2, initial=wide)


def test_what_does_not_fit_is_refused(device, monkeypatch):
    with gb.device(device):
        A = gb.Matrix.from_coo([0, 1], [1, 2], [3, 2], nrows=3, ncols=3)
        wide = gb.Matrix("INT64", 2**31, 2**31)
    with pytest.raises(exceptions.InvalidValue, match="fewer than 2"):
        maximum_flow(wide, 0, 2)
    monkeypatch.setattr("semira.algorithms.flows.network.free_memory", lambda _: 10)
    with pytest.raises(exceptions.OutOfMemory, match="10 are free"):
        maximum_flow(A, 0, 2)


def test_the_choice_says_why():
    assert choose("auto", "cpu", 10, 20)[0] == "highest_label"
    assert "10 vertices" in choose("auto", "cpu", 10, 20)[1]
    assert choose("push_relabel", "cpu", 10, 20) == ("push_relabel", "as asked for")


def test_a_gpu_leaves_small_networks_to_its_host(device):
    is_gpu = gb.device_traits(device).own_memory
    for arcs, there in ((20, "highest_label"), (1 << 20, "push_relabel")):
        chosen, reason = choose("auto", device, 10, arcs)
        assert chosen == (there if is_gpu else "highest_label")
        assert ("too few for a GPU" in reason) == (is_gpu and arcs == 20)


def test_small_floats_without_a_path_carry_nothing_and_keep_their_room(device, methods):
    # Nothing reaches vertex 3; the arc from 3 is that of a network whose source leads nowhere.
    i, j, capacity = [0, 1, 2, 3], [1, 2, 1, 0], np.array([0.25, 0.125, 1e-300, 0.5])
    for dtype in ("FP32", "FP64"):
        with gb.device(device):
            A = gb.Matrix.from_coo(i, j, capacity, dtype, nrows=4, ncols=4)
            A.setdiag(0.25)
        room = A.select("offdiag").new().select("valuegt", 0).new()
        for algorithm in methods:
            found = maximum_flow(A, 0, 3, algorithm=algorithm)
            assert found.value == 0
            assert found.flow.select("valuene", 0).new().nvals == 0
            assert found.residual.isclose(room.dup("FP64"))
            assert found.source_side.to_coo()[0].tolist() == [0, 1, 2]
            assert maximum_flow(A, 2, 0, algorithm=algorithm).source_side.nvals == (
                1 if dtype == "FP32" else 2
            )
