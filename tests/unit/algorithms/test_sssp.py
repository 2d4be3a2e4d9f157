"""Shortest paths, all methods, against brute force and SciPy."""

from __future__ import annotations

import dataclasses
import importlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.helpers.every import every
from tests.unit.algorithms import cases

import semira as gb
from semira import exceptions
from semira.algorithms import sequential, sssp
from semira.algorithms.results import Chained
from semira.contract import TraceRow
from semira.generators import generate_kronecker

#: The module; its name in the package is the function's.
module = importlib.import_module("semira.algorithms.sssp_choice")

METHODS = ("bellman_ford", "delta_stepping", "window", "asynchronous")
methods = pytest.mark.parametrize("method", METHODS)


@methods
@cases.shapes
def test_distances(graph, device, method):
    A = graph.matrix(device)
    for source in sorted({0, graph.n - 1}):
        found = sssp(A, source, algorithm=method)
        assert found.distance.to_dict() == cases.distances(graph, source)
        assert found.reached == found.distance.nvals
        assert found.method == method


@methods
@given(graph=cases.graphs())
@cases.examples(max_examples=30)
def test_distances_of_any_graph(device, method, graph):
    found = sssp(graph.matrix(device), 0, algorithm=method)
    assert found.distance.to_dict() == cases.distances(graph, 0)


@pytest.mark.parametrize("method", METHODS[1:])
@given(graph=cases.graphs(), delta=st.sampled_from([0.5, 1, 2.0, 3.5, 100, float("inf")]))
@cases.examples(max_examples=40)
def test_every_delta_gives_the_same(device, method, graph, delta):
    found = sssp(graph.matrix(device), 0, algorithm=method, delta=delta)
    assert found.distance.to_dict() == cases.distances(graph, 0)
    assert found.delta == delta


@every("method", ["delta_stepping", "window"])
@every(("delta", "used"), [(1e300, np.inf), (10**400, np.inf), (1e-60, 2.0**-149), (0.5, 0.5)])
@pytest.mark.filterwarnings("error")
def test_a_delta_beyond_the_dtype_of_distances(device, method, delta, used):
    graph = cases.SHAPES["random"]
    found = sssp(graph.matrix(device), 0, algorithm=method, delta=delta, dtype="FP32")
    assert found.distance.to_dict() == pytest.approx(cases.distances(graph, 0))
    assert found.delta == used


@pytest.mark.parametrize("method", ["delta_stepping", "window"])
@pytest.mark.filterwarnings("error")
def test_a_mean_beyond_the_dtype_of_distances(device, method):
    A = cases.Graph(3, ((0, 1, 2.0**127), (0, 2, 2.0))).matrix(device)
    found = sssp(A, 0, algorithm=method, dtype="FP32")
    assert found.distance.to_dict() == {0: 0, 1: 2.0**127, 2: 2}
    assert found.delta == np.inf


@given(cases.graphs(lightest=-2))
@cases.examples(max_examples=60)
def test_negative_weights(device, graph):
    expected = cases.distances(graph, 0)
    if expected is None:
        with pytest.raises(exceptions.NegativeCycle, match="vertex 0"):
            sssp(graph.matrix(device), 0)
    else:
        assert sssp(graph.matrix(device), 0).distance.to_dict() == expected


def test_negative_edges_without_a_cycle(device):
    graph = cases.Graph(4, ((0, 1, 4.0), (0, 2, 5.0), (2, 1, -3.0), (1, 3, 1.0)))
    assert sssp(graph.matrix(device), 0).distance.to_dict() == {0: 0, 1: 2, 2: 5, 3: 3}


@pytest.mark.parametrize(
    "edges",
    [
        ((0, 0, -1.0),),
        ((0, 1, 1.0), (1, 2, -3.0), (2, 0, 1.0)),
        ((0, 1, 1.0), (1, 2, 1.0), (2, 2, -0.5)),
    ],
)
def test_negative_cycle(device, edges):
    with pytest.raises(exceptions.NegativeCycle):
        sssp(cases.Graph(3, edges).matrix(device), 0)


def test_negative_cycle_out_of_reach(device):
    graph = cases.Graph(3, ((0, 1, 1.0), (2, 2, -1.0)))
    assert sssp(graph.matrix(device), 0).distance.to_dict() == {0: 0, 1: 1}


@every("method", METHODS[1:])
@every("dtype", ["INT8", "INT32", "INT64", "FP32", "FP64"])
def test_negative_weight_is_named(device, method, dtype):
    A = cases.Graph(3, ((0, 1, 2.0), (1, 2, -5.0))).matrix(device, dtype)
    with pytest.raises(exceptions.NegativeWeight, match="-5"):
        sssp(A, 0, algorithm=method)


@pytest.fixture
def impatient(monkeypatch):
    """A search in any graph begins near, and is handed over to the window after two iterations."""
    monkeypatch.setattr(module, "NEAR", 2)
    monkeypatch.setattr(module, "PATIENCE", 2)
    monkeypatch.setattr(module, "LARGE", 0)


@cases.shapes
@pytest.mark.usefixtures("impatient")
def test_long_searches_in_large_graphs_go_on_with_a_window(device, graph):
    found, plain = (
        sssp(graph.matrix(device), 0, algorithm=method) for method in ("auto", "bellman_ford")
    )
    assert found.distance.to_dict() == plain.distance.to_dict()
    # Over in the first two iterations, in the two that follow, or later.
    assert found.method == ("bellman_ford" if found.iterations in (3, 4) else "window")
    assert [row.iteration for row in found.trace] == list(range(found.iterations))


def test_who_reads_most_edges_does_so_once(device, monkeypatch):
    """Neighbours of few vertices get a short path over them before they are relaxed themselves."""
    monkeypatch.setattr(module, "LARGE", 0)
    A = gb.io.from_edges(generate_kronecker(9, weights="uniform"), dup_op="min").to(device)
    touched = {}
    for method in ("auto", "bellman_ford"):
        run = sssp(A, 1, algorithm=method, direction="push")
        touched[method] = sum(row.touched for row in run.trace)
        assert run.method == "bellman_ford"
    assert touched["auto"] < touched["bellman_ford"] / 1.5


@given(graph=cases.graphs(lightest=-2))
@cases.examples(max_examples=40)
def test_long_searches_with_negative_weights(device, impatient, graph):
    expected = cases.distances(graph, 0)
    if expected is None:
        with pytest.raises(exceptions.NegativeCycle, match=f"in iteration {graph.n},"):
            sssp(graph.matrix(device), 0)
    else:
        assert sssp(graph.matrix(device), 0).distance.to_dict() == expected


def test_small_graphs_have_time(device, monkeypatch):
    monkeypatch.setattr(module, "PATIENCE", 2)
    A = cases.SHAPES["path"].matrix(device)
    assert sssp(A, 0, direction="push").method == "bellman_ford"


@pytest.mark.parametrize("where", ["reference", "cpu", "suitesparse"])
def test_a_heap_gives_what_products_give(where):
    for name in ("random", "grid", "path", "star"):
        for dtype in ("FP64", "FP32"):
            A = cases.SHAPES[name].matrix(where, dtype)
            found = sssp(A, 1, algorithm="dijkstra", predecessors=True)
            expected = sssp(A, 1, algorithm="bellman_ford", predecessors=True)
            assert found.distance.isequal(expected.distance, check_dtype=True)
            assert found.predecessor.isequal(expected.predecessor)
            assert (found.method, found.iterations, len(found.trace)) == ("dijkstra", 1, 0)
            assert found.distance.device == where


def test_hosts_settle_vertices_one_by_one(monkeypatch):
    A = cases.SHAPES["random"].matrix("cpu")
    assert sssp(A, 0).method == "dijkstra"
    assert sssp(A, 0, deterministic=True).method == "bellman_ford"
    with pytest.raises(exceptions.InvalidValue, match="direction"):
        sssp(A, 0, algorithm="dijkstra", direction="push")
    with pytest.raises(exceptions.InvalidValue, match="delta"):
        sssp(A, 0, algorithm="dijkstra", delta=1.0)
    B = gb.Matrix.from_coo([0, 1, 3], [1, 2, 0], [np.inf, 1.0, -1.0], nrows=4, ncols=4).to("cpu")
    with pytest.raises(exceptions.NegativeWeight):
        sssp(B, 0, algorithm="dijkstra")
    assert sssp(B, 0).method == "bellman_ford"
    found = sssp(B.select(gb.select.valuege, 0).new(), 0)
    assert (found.method, found.distance.to_dict()) == ("dijkstra", {0: 0, 1: np.inf, 2: np.inf})
    monkeypatch.setattr(module, "LARGE", 10)
    assert sssp(A, 0).method != "dijkstra"
    own = dataclasses.replace(gb.device_traits("reference"), own_memory=True)
    monkeypatch.setattr(sequential, "device_traits", lambda _: own)
    with pytest.raises(exceptions.InvalidValue, match=r"\.to\('cpu'\)"):
        sssp(cases.SHAPES["path"].matrix("reference"), 0, algorithm="dijkstra")


def test_a_window_relaxes_what_is_near(device):
    # 0 reaches 2 and 1 at once, but 2 first over 1: with a narrow window it is relaxed once.
    graph = cases.Graph(5, ((0, 1, 1.0), (0, 2, 9.0), (1, 2, 1.0), (2, 3, 1.0), (3, 4, 1.0)))
    rows = {
        delta: sssp(
            graph.matrix(device), 0, algorithm="window", delta=delta, direction="push"
        ).trace
        for delta in (1.0, 100.0)
    }
    assert sum(row.touched for row in rows[1.0]) == 5
    assert sum(row.touched for row in rows[100.0]) == 7


def test_chained_traces():
    first, second = ([TraceRow(k, "vxm", "push", k, 0, 0) for k in range(n)] for n in (3, 2))
    both = Chained(first, second)
    assert len(both) == 5
    assert [row.iteration for row in both] == [0, 1, 2, 3, 4]
    assert [row.frontier for row in both] == [0, 1, 2, 0, 1]
    assert both[-1] == both[4] == second[1]._replace(iteration=4)
    assert both[1:4] == tuple(both)[1:4]
    assert Chained([], second)[1] == second[1]
    with pytest.raises(IndexError):
        both[5]


@methods
@pytest.mark.parametrize("dtype", ["FP32", "FP64"])
def test_nan_weight(device, method, dtype):
    A = cases.Graph(3, ((0, 1, 2.0), (1, 2, float("nan")))).matrix(device, dtype)
    with pytest.raises(exceptions.InvalidWeight, match="nan"):
        sssp(A, 0, algorithm=method)


def test_minus_infinity(device):
    A = cases.Graph(2, ((0, 1, -float("inf")),)).matrix(device)
    with pytest.raises(exceptions.InvalidWeight, match="-inf"):
        sssp(A, 0)


@methods
def test_infinite_weight_is_a_length(device, method):
    A = cases.Graph(3, ((0, 1, float("inf")), (0, 2, 1.0))).matrix(device)
    assert sssp(A, 0, algorithm=method).distance.to_dict() == {0: 0, 1: float("inf"), 2: 1}


@methods
def test_weights_beyond_the_dtype_of_distances_are_refused(device, method):
    A = cases.Graph(3, ((0, 1, 1e300), (1, 2, 2.0), (0, 2, float("inf")))).matrix(device)
    told = r"a weight is 1e\+300, but FP32, .* ends at 3\.4.*; ask for dtype='FP64'"
    with pytest.raises(exceptions.InvalidValue, match=told):
        sssp(A, 0, algorithm=method, dtype="FP32")
    assert sssp(A, 0, algorithm=method).distance.to_dict() == {0: 0, 1: 1e300, 2: 1e300}


@pytest.mark.parametrize(
    ("weights", "dtype"), [([-1e308, -1e308], "FP64"), ([-3e38, 1.0], "FP32"), ([-1e39, 1], "FP32")]
)
def test_negative_weights_that_may_add_up_to_minus_infinity_are_refused(device, weights, dtype):
    A = gb.Matrix.from_coo([0, 1], [1, 2], np.array(weights), nrows=3, ncols=3).to(device)
    with pytest.raises(exceptions.InvalidValue, match="divide all weights by a number"):
        sssp(A, 0, dtype=dtype)
    scaled = np.array(weights) * 1e-3
    assert sssp(A.apply("times", 1e-3).new(), 0).distance[2].new().value == scaled.sum()


@methods
@every(
    ("dtype", "expected"),
    [("BOOL", "FP64"), ("UINT8", "FP64"), ("INT64", "FP64"), ("FP32", "FP32"), ("FP64", "FP64")],
)
def test_dtype_of_distances(device, method, dtype, expected):
    found = sssp(cases.SHAPES["grid"].matrix(device, dtype), 0, algorithm=method)
    assert found.distance.dtype == expected
    assert found.distance.to_dict() == cases.distances(cases.SHAPES["grid"], 0)


@methods
def test_sums_of_narrow_integers_do_not_overflow(device, method):
    graph = cases.Graph(5, tuple((i, i + 1, 120.0) for i in range(4)))
    found = sssp(graph.matrix(device, "INT8"), 0, algorithm=method)
    assert found.distance.to_dict() == {0: 0, 1: 120, 2: 240, 3: 360, 4: 480}


@methods
def test_dtype_can_be_chosen(device, method):
    A = cases.SHAPES["random"].matrix(device)
    assert sssp(A, 0, algorithm=method, dtype="FP32").distance.dtype == "FP32"


def test_integer_distances_are_refused():
    with pytest.raises(exceptions.DomainMismatch, match="INT32"):
        sssp(cases.SHAPES["path"].matrix("reference"), 0, dtype="INT32")


@methods
def test_fractions_agree_with_dijkstra(device, method):
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import dijkstra

    rng = np.random.default_rng(5)
    n, m = 60, 300
    cells = rng.choice(n * n, m, replace=False)
    weights = rng.random(m) + 0.01
    with gb.device(device):
        A = gb.Matrix.from_coo(cells // n, cells % n, weights, nrows=n, ncols=n)
    expected = dijkstra(csr_matrix((weights, (cells // n, cells % n)), (n, n)), indices=7)
    found = sssp(A, 7, algorithm=method).distance.to_dense(np.inf)
    np.testing.assert_allclose(found, expected, rtol=1e-14)


def test_active_set_shrinks(device):
    # Only what improved is expanded: the far end of a path is not looked at before its turn.
    trace = sssp(cases.SHAPES["path"].matrix(device), 0, direction="push").trace
    assert [row.frontier for row in trace] == [1] * 6
    assert [row.touched for row in trace] == [1] * 5 + [0]


def test_weights_are_the_stored_values(device):
    with gb.device(device):
        A = gb.Matrix.from_coo([0, 1], [1, 2], 2.5, nrows=3, ncols=3)
    assert sssp(A, 0).distance.to_dict() == {0: 0, 1: 2.5, 2: 5}


@methods
def test_source_out_of_range(method):
    A = cases.SHAPES["path"].matrix("reference")
    with pytest.raises(exceptions.IndexOutOfBound, match="6"):
        sssp(A, 6, algorithm=method)
    with pytest.raises(exceptions.IndexOutOfBound):
        sssp(gb.Matrix("FP64", 0, 0), 0, algorithm=method)
    with pytest.raises(exceptions.DimensionMismatch):
        sssp(gb.Matrix("FP64", 3, 2), 0, algorithm=method)


@every(
    "options",
    [
        {"algorithm": "johnson"},
        {"delta": 1.0},
        {"algorithm": "bellman_ford", "delta": 1.0},
        {"algorithm": "window", "delta": 0},
        {"algorithm": "delta_stepping", "delta": 0},
        {"algorithm": "delta_stepping", "delta": -1.0},
        {"algorithm": "delta_stepping", "delta": float("nan")},
        {"algorithm": "delta_stepping", "delta": "wide"},
    ],
)
def test_bad_options(options):
    with pytest.raises(exceptions.InvalidValue):
        sssp(cases.SHAPES["path"].matrix("reference"), 0, **options)


@pytest.mark.parametrize("method", METHODS[:3])
def test_no_host_reads(monkeypatch, method):
    graph = cases.SHAPES["random"]
    A = graph.matrix("reference")
    with cases.loops_without_host_reads(monkeypatch) as loops:
        found = sssp(A, 0, algorithm=method)
    assert loops
    assert found.distance.to_dict() == cases.distances(graph, 0)


def test_the_asynchronous_search_has_no_products_to_pin():
    A = cases.SHAPES["path"].matrix("reference")
    with pytest.raises(exceptions.InvalidValue, match="direction"):
        sssp(A, 0, algorithm="asynchronous", direction="push")


@pytest.mark.parametrize("delta", [None, 3.0])
def test_the_asynchronous_search_agrees_with_networkx(device, delta):
    networkx = pytest.importorskip("networkx")
    graph = networkx.gnp_random_graph(60, 0.05, seed=4, directed=True)
    rng = np.random.default_rng(4)
    for edge in graph.edges.values():
        edge["weight"] = int(rng.integers(1, 30))
    i, j, x = zip(*graph.edges.data("weight"), strict=True)
    A = gb.Matrix.from_coo(i, j, x, nrows=60, ncols=60).to(device)
    found = sssp(A, 0, algorithm="asynchronous", delta=delta)
    expected = networkx.single_source_dijkstra_path_length(graph, 0)
    assert found.distance.to_dict() == expected
    assert (found.method, found.delta) == ("asynchronous", delta)
    assert len(found.trace) == 0
    assert found.iterations > 0


@every(
    ("edges", "opts", "chosen"),
    [
        ([(i, i + 1, 2.0) for i in range(30)], {}, "asynchronous"),
        ([(i, i + 1, 2.0) for i in range(30)], {"direction": "push"}, "bellman_ford"),
        ([(i, i + 1, 2.0 - 3 * (i == 9)) for i in range(30)], {}, "bellman_ford"),
        ([(0, i, 2.0) for i in range(1, 31)], {}, "bellman_ford"),
    ],
    ids=["path", "with a pin", "negative", "hub"],
)
def test_a_gpu_settles_short_rows_without_iterations(device, monkeypatch, edges, opts, chosen):
    monkeypatch.setattr(module, "LEAST", 0)
    monkeypatch.setattr(module, "LONGEST", 29)
    graph = cases.Graph(31, tuple(edges))
    found = sssp(graph.matrix(device), 0, **opts)
    is_quick = gb.device_traits(device).compiled_loops and not opts and edges[9][2] > 0
    else_ = "dijkstra" if is_quick else "bellman_ford"
    assert found.method == (chosen if device == "cuda" else else_)
    assert found.distance.to_dict() == cases.distances(graph, 0)
    # Too small, as graphs are by default here.
    monkeypatch.undo()
    assert sssp(graph.matrix(device), 0, **opts).method == else_


@pytest.mark.parametrize("search", ["sssp", "all_pairs_shortest_paths"])
def test_sums_that_floats_would_round_are_refused(search) -> None:
    with gb.device("reference"):
        A = gb.Matrix.from_coo([0, 1], [1, 2], [2**52, 2**52 + 1], nrows=3, ncols=3)
        start = (A, 0) if search == "sssp" else (A,)
        told = f"{search}: a distance is 9007199254740992"
        with pytest.raises(exceptions.InvalidValue, match=told):
            getattr(gb.algorithms, search)(*start)
        rounded = getattr(gb.algorithms, search)(*start, dtype="FP64").distance
        assert rounded.nvals == (3 if search == "sssp" else 6)
        smaller = A.apply("minus", right=2**51).new()
        start = (smaller, 0) if search == "sssp" else (smaller,)
        assert getattr(gb.algorithms, search)(*start).distance.nvals == rounded.nvals
