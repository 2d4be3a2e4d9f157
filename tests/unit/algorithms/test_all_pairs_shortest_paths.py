"""All-pairs shortest paths against brute force, Dijkstra (SciPy) and the search from one source."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csgraph, csr_array
from tests.helpers.data import load_graph
from tests.unit.algorithms import cases

import semira as gb
from semira import exceptions
from semira.algorithms import all_pairs_shortest_paths, pairs, sequential, sssp

methods = pytest.mark.parametrize("method", ["sources", "floyd_warshall"])
blocks = pytest.mark.parametrize("block", [1, 3, 100])


def expected(graph: cases.Graph) -> dict[tuple[int, int], float]:
    """Return the lengths by brute force, whole numbers: sums are exact in any order."""
    rows = [cases.distances(graph, source) for source in range(graph.n)]
    return {(i, j): length for i, row in enumerate(rows) for j, length in row.items()}


def lengths(D: gb.Matrix) -> dict[tuple[int, int], float]:
    return {(int(i), int(j)): x for i, j, x in zip(*D.to_coo(), strict=True)}


@methods
@blocks
@cases.shapes
def test_distances(graph, device, method, block):
    found = all_pairs_shortest_paths(graph.matrix(device), algorithm=method, block=block)
    assert lengths(found.distance) == expected(graph)
    assert (found.method, found.block) == (method, block)


@methods
@given(graph=cases.graphs(lightest=-2), block=st.integers(1, 10))
@cases.examples(max_examples=50)
def test_distances_of_any_graph(device, method, graph, block):
    A = graph.matrix(device)
    if any(cases.distances(graph, source) is None for source in range(graph.n)):
        with pytest.raises(exceptions.NegativeCycle):
            all_pairs_shortest_paths(A, algorithm=method, block=block)
    else:
        found = all_pairs_shortest_paths(A, algorithm=method, block=block)
        assert lengths(found.distance) == expected(graph)


@methods
def test_a_negative_cycle_across_blocks(device, method):
    # 0 -> 3 -> 5 -> 0 has length -1, and no two of its vertices are in one block.
    graph = cases.Graph(6, ((0, 3, 1.0), (3, 5, 1.0), (5, 0, -3.0), (1, 2, 1.0)))
    with pytest.raises(exceptions.NegativeCycle, match=r"vertices \["):
        all_pairs_shortest_paths(graph.matrix(device), algorithm=method, block=2)
    graph = cases.Graph(2, ((1, 1, -1.0),))
    with pytest.raises(exceptions.NegativeCycle):
        all_pairs_shortest_paths(graph.matrix(device), algorithm=method)


@methods
@pytest.mark.parametrize("block", [1, 2, 4])
def test_a_negative_cycle_through_every_source_that_reaches_it(device, method, block):
    # Both ends of the only cycle are sources: to nothing else do distances fall.
    graph = cases.Graph(4, ((2, 3, -2.0), (3, 2, 1.0), (0, 1, 5.0)))
    with pytest.raises(exceptions.NegativeCycle, match=r"vertices \["):
        all_pairs_shortest_paths(graph.matrix(device), algorithm=method, block=block)


@methods
def test_a_cycle_of_length_zero_is_none_of_them(device, method):
    graph = cases.Graph(3, ((0, 1, -2.0), (1, 0, 2.0), (1, 2, -1.0)))
    found = all_pairs_shortest_paths(graph.matrix(device), algorithm=method)
    assert found.distance.to_dicts() == {0: {0: 0, 1: -2, 2: -3}, 1: {0: 2, 1: 0, 2: -1}, 2: {2: 0}}


def test_auto_goes_by_the_share_of_entries(device):
    dense, thin = (cases.random_graph(12, count, 1).matrix(device) for count in (48, 47))
    assert all_pairs_shortest_paths(dense).method == "floyd_warshall"
    is_quick = gb.device_traits(device).compiled_loops
    assert all_pairs_shortest_paths(thin).method == ("dijkstra" if is_quick else "sources")
    assert all_pairs_shortest_paths(thin, block=3).method == "sources"
    assert all_pairs_shortest_paths(thin, direction="push").method == "sources"


@pytest.mark.parametrize("where", ["reference", "cpu", "suitesparse"])
def test_a_heap_gives_what_products_give(where, monkeypatch):
    monkeypatch.setattr(sequential, "_DISTANCES", 20)
    for name in ("random", "path"):
        for dtype in ("FP64", "FP32"):
            A = cases.SHAPES[name].matrix(where, dtype)
            found = all_pairs_shortest_paths(A, algorithm="dijkstra", predecessors=True)
            expected = all_pairs_shortest_paths(A, algorithm="sources", predecessors=True)
            assert found.distance.isequal(expected.distance, check_dtype=True)
            assert found.predecessor.isequal(expected.predecessor)
            assert (found.method, found.iterations, len(found.trace)) == ("dijkstra", 1, 0)
            assert found.distance.device == where


@given(graph=cases.graphs(lightest=0), dtype=st.sampled_from(["FP32", "FP64"]))
@cases.examples(max_examples=20)
def test_a_heap_gives_what_products_give_on_any_graph(graph, dtype):
    shares = [(i, j, w / 3) for i, j, w in graph.edges]
    A = cases.Graph(graph.n, tuple(shares)).matrix("cpu", dtype)
    found = all_pairs_shortest_paths(A, algorithm="dijkstra").distance
    expected = all_pairs_shortest_paths(A, algorithm="sources").distance
    assert found.isequal(expected, check_dtype=True)


def test_a_heap_takes_infinite_lengths_and_no_negative_ones():
    A = gb.Matrix.from_coo([0, 1, 1], [1, 2, 0], [1.0, np.inf, 0.0], nrows=4, ncols=4).to("cpu")
    found = all_pairs_shortest_paths(A, algorithm="dijkstra").distance
    assert found.isequal(all_pairs_shortest_paths(A, algorithm="sources").distance)
    assert found[0, 2].value == np.inf
    A[3, 0] = -1.0
    with pytest.raises(exceptions.NegativeWeight):
        all_pairs_shortest_paths(A, algorithm="dijkstra")
    assert all_pairs_shortest_paths(A).method != "dijkstra"
    with pytest.raises(exceptions.InvalidValue, match="direction"):
        all_pairs_shortest_paths(A, algorithm="dijkstra", direction="push")


@cases.shapes
def test_hops_where_every_length_is_1(graph, device):
    A = cases.Graph(graph.n, tuple((i, j, 1.0) for i, j, _ in graph.edges)).matrix(device)
    expected = {i: cases.levels(graph, i) for i in range(graph.n)}
    # Ones of every dtype are alike once they are cast, which takes the reference long.
    for dtype in ("FP32",) if device == "reference" else ("BOOL", "INT8", "FP32", "FP64"):
        found = all_pairs_shortest_paths(A.dup(dtype), predecessors=True)
        assert found.method == "searches"
        assert found.distance.to_dicts() == expected
        assert found.distance.dtype == ("FP32" if dtype == "FP32" else "FP64")
        assert found.iterations == max(max(levels.values()) for levels in expected.values()) + 1
        if dtype in ("BOOL", "FP32"):  # of distances in FP64, and in FP32
            by_products = all_pairs_shortest_paths(
                A.dup(dtype), algorithm="sources", predecessors=True
            )
            assert found.predecessor.isequal(by_products.predecessor, check_dtype=True)
    assert all_pairs_shortest_paths(A, block=2).method != "searches"
    assert all_pairs_shortest_paths(A, direction="push").method != "searches"


def test_no_hops_where_lengths_differ(device):
    A = cases.SHAPES["random"].matrix(device)
    assert all_pairs_shortest_paths(A).method in ("sources", "dijkstra")
    with pytest.raises(exceptions.InvalidValue, match="length than 1"):
        all_pairs_shortest_paths(A, algorithm="searches")


@methods
def test_what_ran_is_told(device, method):
    A = cases.SHAPES["cycle"].matrix(device)
    found = all_pairs_shortest_paths(A, algorithm=method, block=3)
    assert {row.op for row in found.trace} == {"mxm"}
    # Two blocks: sources take five products each, Floyd-Warshall three and the squares of P.
    assert found.iterations == (10 if method == "sources" else 2)
    assert len(found.trace) == (10 if method == "sources" else 2 * 3 + 2 + 1)


@pytest.mark.parametrize(
    ("dtype", "wanted", "given"),
    [("FP32", None, "FP32"), ("INT8", None, "FP64"), ("FP64", "FP32", "FP32")],
)
@methods
def test_dtype_of_distances(device, method, dtype, wanted, given):
    graph = cases.Graph(3, ((0, 1, 100.0), (1, 2, 100.0)))
    found = all_pairs_shortest_paths(graph.matrix(device, dtype), algorithm=method, dtype=wanted)
    assert found.distance.dtype == given
    # 200 is no INT8.
    assert found.distance.get(0, 2) == 200


@methods
def test_infinite_lengths_are_lengths(device, method):
    graph = cases.Graph(3, ((0, 1, np.inf), (1, 2, -5.0)))
    found = all_pairs_shortest_paths(graph.matrix(device), algorithm=method)
    assert found.distance.to_dicts() == {
        0: {0: 0, 1: np.inf, 2: np.inf},
        1: {1: 0, 2: -5},
        2: {2: 0},
    }


@methods
def test_graph_is_not_modified(device, method):
    A = cases.SHAPES["random dense"].matrix(device)
    before = A.dup()
    found = all_pairs_shortest_paths(A, algorithm=method, block=5)
    assert A.isequal(before, check_dtype=True)
    assert found.distance.device == device


@methods
def test_no_vertices(device, method):
    with gb.device(device):
        found = all_pairs_shortest_paths(gb.Matrix("FP64", 0, 0), algorithm=method)
    assert (found.distance.shape, found.distance.nvals) == ((0, 0), 0)


@pytest.mark.parametrize(
    "options", [{"algorithm": "johnson"}, {"block": 0}, {"block": -1}, {"block": 1.5}]
)
def test_bad_options(options):
    with pytest.raises(exceptions.InvalidValue):
        all_pairs_shortest_paths(cases.SHAPES["path"].matrix("reference"), **options)


def test_bad_graphs():
    with pytest.raises(exceptions.DimensionMismatch, match=r"\(2, 3\)"):
        all_pairs_shortest_paths(gb.Matrix("FP64", 2, 3))
    for weight in (np.nan, -np.inf):
        A = cases.Graph(2, ((0, 1, weight),)).matrix("reference")
        with pytest.raises(exceptions.InvalidWeight):
            all_pairs_shortest_paths(A)
    with pytest.raises(exceptions.DomainMismatch, match="all_pairs_shortest_paths: dtype=INT64"):
        all_pairs_shortest_paths(cases.SHAPES["path"].matrix("reference"), dtype="INT64")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["karate", "drosophila-mb-left", "maxflow-nx-gl1", "harvard500"])
def test_real_graphs(device, name):
    if device == "reference":
        pytest.skip("the reference device is too slow for real graphs")
    A = gb.io.from_edges(load_graph(name))
    some = slice(min(A.nrows, 400))
    A = A[some, some].new().dup("FP64")
    rows, cols, values = A.to_coo()
    positions = rows.astype(np.int32), cols.astype(np.int32)
    dijkstra = csgraph.dijkstra(csr_array((values, positions), A.shape))
    A = A.to(device)
    # Whole numbers: both methods and SciPy are exact.
    for method in ("sources", "floyd_warshall"):
        D = all_pairs_shortest_paths(A, algorithm=method, block=150).distance
        np.testing.assert_array_equal(D.to_dense(np.inf), dijkstra)
    one = sssp(A, 3).distance
    assert D[3, :].new().isequal(one)


@methods
def test_weights_beyond_the_dtype_of_distances_are_refused(device, method):
    A = cases.Graph(3, ((0, 1, 1e300), (1, 2, -1e300))).matrix(device)
    with pytest.raises(exceptions.InvalidValue, match=r"weight is -1e\+300, but FP32"):
        all_pairs_shortest_paths(A, algorithm=method, dtype="FP32")
    found = all_pairs_shortest_paths(A, algorithm=method).distance
    assert found.to_dicts()[0] == {0: 0, 1: 1e300, 2: 0}


@methods
def test_distances_that_cannot_fit_are_refused_before_any_is_computed(device, method, monkeypatch):
    with gb.device(device):
        hub, leaves = np.zeros(29, np.int64), np.arange(1, 30)
        star = gb.Matrix.from_coo(np.r_[hub, leaves], np.r_[leaves, hub], 1, nrows=40, ncols=40)
        outwards = gb.Matrix.from_coo(hub, leaves, 1, nrows=40, ncols=40)
    free = [30 * 30 * 2 * 12 - 1]
    monkeypatch.setattr(pairs, "_SMALL", 0)
    monkeypatch.setattr(pairs, "free_memory", lambda where: free[0])
    with pytest.raises(exceptions.OutOfMemory, match=r"at least 21600 bytes .* 900 pairs"):
        all_pairs_shortest_paths(star, algorithm=method)
    assert all_pairs_shortest_paths(star, algorithm=method, dtype="FP32").distance.nvals == 910
    # Predecessors take more than joining the distances does.
    free[0] = 910 * 28 - 1
    assert all_pairs_shortest_paths(star, algorithm=method).distance.nvals == 910
    with pytest.raises(exceptions.OutOfMemory, match=r"910 pairs of 28 bytes"):
        all_pairs_shortest_paths(star, algorithm=method, predecessors=True)
    # 40 * 40 distances would not fit, but there are few.
    free[0] = 40 * 2 * 12
    assert all_pairs_shortest_paths(outwards, algorithm=method).distance.nvals == 40 + 29


@methods
def test_pairs_far_apart_count(device, method, monkeypatch):
    # 2 x 5 and 3 x 3 vertices are within two hops of a vertex; paths connect all pairs.
    path, cycle = (
        cases.SHAPES["path"].both_ways(),
        cases.unweighted(9, [(i, (i + 1) % 9) for i in range(9)]),
    )
    monkeypatch.setattr(pairs, "_SMALL", 0)
    monkeypatch.setattr(pairs, "_HOPS", 2)
    for graph in (path, cycle):
        needed = graph.n**2 * 2 * 12
        monkeypatch.setattr(pairs, "free_memory", lambda where, most=needed: most - 1)
        with pytest.raises(exceptions.OutOfMemory, match=f"at least {needed} bytes"):
            all_pairs_shortest_paths(graph.matrix(device), algorithm=method)
        monkeypatch.setattr(pairs, "free_memory", lambda where, most=needed: most)
        found = all_pairs_shortest_paths(graph.matrix(device), algorithm=method)
        assert found.distance.nvals == graph.n**2
