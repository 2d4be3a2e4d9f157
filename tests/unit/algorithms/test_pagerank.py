"""PageRank against NetworkX."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from tests.helpers.every import every
from tests.unit.algorithms import cases

import semira as gb
from semira import exceptions
from semira.algorithms import pagerank
from semira.engine import loops


def expected_ranks(graph: cases.Graph, *, weighted: bool, damping: float = 0.85) -> list[float]:
    G = nx.DiGraph()
    G.add_nodes_from(range(graph.n))
    G.add_weighted_edges_from(graph.edges)
    ranks = nx.pagerank(G, damping, tol=1e-15, max_iter=2000, weight="weight" if weighted else None)
    return [ranks[vertex] for vertex in range(graph.n)]


def converged_ranks(graph: cases.Graph, device: str, **options: object) -> np.ndarray:
    found = pagerank(graph.matrix(device), tol=1e-13, max_iterations=2000, **options)
    assert found.converged
    ranks = found.rank.to_dense()
    assert ranks.sum() == pytest.approx(1, abs=1e-12)
    return ranks


@every("adaptive", [False, True])
@every("weighted", [False, True])
@cases.shapes
def test_ranks(graph, device, weighted, adaptive):
    ranks = converged_ranks(graph, device, weighted=weighted, adaptive=adaptive)
    np.testing.assert_allclose(ranks, expected_ranks(graph, weighted=weighted), atol=1e-11)


@pytest.mark.parametrize("adaptive", [False, True])
@given(graph=cases.graphs())
@cases.examples(max_examples=20)
def test_ranks_of_any_graph(device, graph, adaptive):
    ranks = converged_ranks(graph, device, adaptive=adaptive)
    np.testing.assert_allclose(ranks, expected_ranks(graph, weighted=False), atol=1e-11)


@pytest.mark.parametrize("damping", [0, 0.5, 1])
def test_damping(device, damping):
    graph = cases.SHAPES["random dense"]
    ranks = converged_ranks(graph, device, damping=damping)
    expected = expected_ranks(graph, weighted=False, damping=damping)
    np.testing.assert_allclose(ranks, expected, atol=1e-11)


def test_what_is_kept_of_a_graph_is_that_of_the_last_damping_and_dtype(device):
    graph = cases.SHAPES["random"]
    A, used = graph.matrix(device), []
    for damping in (0.85, 0.5, 0.85):
        found = pagerank(A, damping, tol=1e-13, max_iterations=2000)
        alone = pagerank(graph.matrix(device), damping, tol=1e-13, max_iterations=2000)
        assert found.rank.to_dense().tolist() == alone.rank.to_dense().tolist()
        used.append(A.memory_usage()["derived"])
    assert used[0] > 0
    assert used == used[:1] * 3
    pagerank(A, dtype="FP32")
    assert A.memory_usage()["derived"] > used[0]
    # What is written is another graph.
    A[0, 1] = 1
    assert "derived" not in A.memory_usage()
    moved = pagerank(A, tol=1e-13, max_iterations=2000).rank.to_dense()
    assert (
        moved.tolist() == pagerank(A.dup(), tol=1e-13, max_iterations=2000).rank.to_dense().tolist()
    )


@every("number", ["FP32", "FP64"])
@every("options", [{}, {"adaptive": True}, {"weighted": True}, {"shares": True}])
def test_ranks_are_computed_in_their_dtype(monkeypatch, number, options):
    """Nothing in the loop is wider: a value for each vertex, and sums of them."""
    graph = cases.SHAPES["random"]
    if "shares" in options:
        options = {"personalisation": gb.Vector.from_dense(np.ones(graph.n))}
    programs = []
    submit = loops.run.run_loop

    def note(recorded, reading):
        programs.append(loops.run.loop_program(recorded(), reading)[0])
        return submit(recorded, reading)

    monkeypatch.setattr(loops.run, "run_loop", note)
    options["direction"] = "pull"  # what hosts do without an option is no recorded loop
    pagerank(graph.matrix("cpu"), dtype=number, max_iterations=2, tol=0, **options)
    monkeypatch.undo()
    vectors = [slot.dtype for slot in programs[-1].slots if slot.kind == "vector"]
    assert {dtype for dtype in vectors if dtype.is_float} == {gb.dtypes.lookup_dtype(number)}


def test_iterations_can_be_fixed(device):
    A = cases.SHAPES["random"].matrix(device)
    found = pagerank(A, tol=0, max_iterations=7, direction="pull")
    assert found.iterations == 7
    assert len(found.trace) == 7
    assert not found.converged
    assert found.last_change.value > 0
    found = pagerank(A, tol=0, max_iterations=7)
    assert (found.iterations, found.converged) == (7, False)
    assert found.last_change.value > 0


@every("tol", [1e-2, 1e-5, 1e-9])
@every("adaptive", [False, True])
def test_tolerance_is_met(device, tol, adaptive):
    # An iteration shrinks the distance to the limit by d, so it is at most d / (1 - d) * tol.
    graph = cases.SHAPES["random"]
    found = pagerank(graph.matrix(device), tol=tol, max_iterations=500, adaptive=adaptive)
    assert found.converged
    assert found.last_change.value <= tol
    distance = np.abs(found.rank.to_dense() - expected_ranks(graph, weighted=False)).sum()
    assert distance <= 0.85 / 0.15 * tol


def test_it_pulls_unless_told_otherwise(device):
    A = cases.SHAPES["random"].matrix(device)
    assert {row.method for row in pagerank(A, deterministic=True).trace} == {"pull"}
    pushed = pagerank(A, direction="push")
    assert {row.method for row in pushed.trace} == {"push"}
    assert pushed.rank.isclose(pagerank(A).rank, rel_tol=1e-12)


def test_adaptive_touches_fewer_entries(device):
    # Ranks of an acyclic part are final after as many steps as it is deep; a cycle takes longer.
    rng = np.random.default_rng(8)
    downhill = {tuple(sorted(pair)) for pair in rng.integers(0, 60, (300, 2)).tolist()}
    pairs = [(i, j) for i, j in downhill if i != j]
    graph = cases.unweighted(63, [*pairs, *[(i, 60) for i in range(60)], (60, 61), (61, 60)])
    A = graph.matrix(device)
    plain = pagerank(A, tol=1e-10, max_iterations=500, direction="pull")
    adaptive = pagerank(A, tol=1e-10, max_iterations=500, adaptive=True)
    assert adaptive.rank.isclose(plain.rank, abs_tol=1e-9)
    touched = [sum(row.touched for row in found.trace) for found in (plain, adaptive)]
    assert touched[1] < 0.7 * touched[0]


def test_values_are_not_read_unless_weighted(device):
    with gb.device(device):
        A = gb.Matrix.from_coo([0, 1, 1], [1, 0, 2], [-5.0, np.nan, 0.0], nrows=3, ncols=3)
        B = gb.Matrix.from_coo([0, 1, 1], [1, 0, 2], nrows=3, ncols=3)
    assert pagerank(A).rank.isequal(pagerank(B).rank)
    with pytest.raises(exceptions.InvalidWeight, match="nan"):
        pagerank(A, weighted=True)


def test_negative_weight(device):
    A = cases.Graph(2, ((0, 1, -2.0),)).matrix(device, "INT16")
    for algorithm in (pagerank, gb.algorithms.hits):
        with pytest.raises(exceptions.NegativeWeight, match=r"-2; remove such edges, or .*abs"):
            algorithm(A, weighted=True)


@pytest.mark.parametrize("dtype", ["BOOL", "INT8", "FP32"])
def test_every_dtype_is_a_graph(device, dtype):
    graph = cases.SHAPES["grid"]
    ranks = pagerank(graph.matrix(device, dtype), tol=1e-12).rank
    assert ranks.dtype == "FP64"
    np.testing.assert_allclose(ranks.to_dense(), expected_ranks(graph, weighted=False), atol=1e-10)


def test_single_precision(device):
    graph = cases.SHAPES["random"]
    ranks = pagerank(graph.matrix(device), tol=1e-5, dtype="FP32").rank
    assert ranks.dtype == "FP32"
    np.testing.assert_allclose(ranks.to_dense(), expected_ranks(graph, weighted=False), atol=1e-4)


@pytest.mark.parametrize("adaptive", [False, True])
def test_no_vertices(device, adaptive):
    with gb.device(device):
        found = pagerank(gb.Matrix("BOOL", 0, 0), adaptive=adaptive)
    assert found.rank.size == 0


@every(
    "options",
    [
        {"damping": -0.1},
        {"damping": 1.1},
        {"damping": float("nan")},
        {"damping": "high"},
        {"tol": -1e-3},
        {"tol": float("nan")},
        {"max_iterations": 0},
        {"max_iterations": 2.5},
    ],
)
def test_bad_options(options):
    with pytest.raises(exceptions.InvalidValue):
        pagerank(cases.SHAPES["path"].matrix("reference"), **options)


def test_bad_dtype_and_shape():
    with pytest.raises(exceptions.DomainMismatch, match="INT64"):
        pagerank(cases.SHAPES["path"].matrix("reference"), dtype="INT64")
    with pytest.raises(exceptions.DimensionMismatch, match=r"\(2, 3\)"):
        pagerank(gb.Matrix("BOOL", 2, 3))


@pytest.mark.parametrize("adaptive", [False, True])
def test_no_host_reads(monkeypatch, adaptive):
    A = cases.SHAPES["random"].matrix("reference")
    with cases.loops_without_host_reads(monkeypatch) as loops:
        found = pagerank(A, adaptive=adaptive)
    assert loops
    assert found.converged


#: Two edges from vertex 0, one from each other one.
SHARED = ([0, 0, 1, 2], [1, 2, 0, 0])


@every(
    ("weights", "dtype", "told"),
    [
        ([np.inf, 1, 1, 1], "FP64", "a weight is inf.*give that edge a finite weight"),
        ([1e308, 1e308, 1, 1], "FP64", "add up to inf"),
        ([1e39, 1, 1, 1], "FP32", r"add up to 1e\+39, but FP32 ends at 3"),
        ([1e-310, 1, 1, 1], "FP64", "least positive weight is 1e-310"),
        ([1e-40, 1, 1, 1], "FP32", "least positive weight is 1e-40"),
    ],
)
def test_weights_that_cannot_be_added_up_are_refused(device, weights, dtype, told):
    A = gb.Matrix.from_coo(*SHARED, np.array(weights, float)).to(device)
    for algorithm in (pagerank, gb.algorithms.hits):
        with pytest.raises(exceptions.InvalidValue, match=told):
            algorithm(A, weighted=True, dtype=dtype)
        assert algorithm(A, dtype=dtype).converged


def test_weights_near_the_limits_are_taken(device):
    for scale in (1e-300, 1e300):
        A = gb.Matrix.from_coo(*SHARED, np.array([1.0, 3.0, 1.0, 0.0]) * scale).to(device)
        rank = pagerank(A, weighted=True, tol=1e-12).rank.to_dense()
        same = gb.Matrix.from_coo(*SHARED, [1.0, 3.0, 1.0, 0.0]).to(device)
        np.testing.assert_allclose(rank, pagerank(same, weighted=True, tol=1e-12).rank.to_dense())


@pytest.mark.parametrize("scale", [1e-60, 1e60])
def test_shares_of_any_size_are_taken_in_fp32(device, scale):
    A = gb.Matrix.from_coo(*SHARED, 1.0).to(device)
    given = gb.Vector.from_coo([0, 1], [scale, scale], size=3).to(device)
    rank = pagerank(A, dtype="FP32", personalisation=given).rank.to_dense()
    assert rank.sum() == pytest.approx(1, abs=1e-5)


def test_odd_arguments_of_other_algorithms_are_taken_or_refused_by_name():
    A = gb.Matrix.from_coo(*SHARED, 1.0)
    one = gb.algorithms.personalised_pagerank(A, np.array(1)).rank
    assert one.isclose(gb.algorithms.personalised_pagerank(A, 1).rank)
    assert gb.algorithms.multi_source_bfs(A, np.array(1)).level.nrows == 1
    assert gb.algorithms.connected_components(A, algorithm="sample", sample=2**70).count == 1
    wide = gb.Matrix.from_coo([0, 5], [5, 7], [1.0, 2.0], nrows=2**40, ncols=2**40)
    for algorithm in (gb.algorithms.all_pairs_shortest_paths, gb.algorithms.betweenness_centrality):
        with pytest.raises(exceptions.OutOfMemory, match=r"of 1,099,511,627,776 takes .* 2\*\*31"):
            algorithm(wide)
    with pytest.raises(exceptions.DomainMismatch, match="FC64"):
        gb.algorithms.sssp(gb.Matrix.from_coo([0], [1], [1j], nrows=2, ncols=2), 0)


def test_shares_by_vertex_and_by_name() -> None:
    graph = gb.io.Graph.from_edges(["a", "b", "c"], ["b", "c", "a"])
    with gb.device("reference"):
        vector = gb.Vector.from_coo([0, 2], [1.0, 3.0], size=3)
        expected = gb.algorithms.pagerank(graph.matrix, personalisation=vector).rank
        by_name = gb.algorithms.pagerank(graph, personalisation={"a": 1.0, "c": 3.0})
        by_number = gb.algorithms.pagerank(graph.matrix, personalisation={0: 1, 2: 3})
    assert by_name.rank.isequal(expected)
    assert by_number.rank.isequal(expected)
    with pytest.raises(exceptions.IndexOutOfBound, match="'d'"):
        gb.algorithms.pagerank(graph, personalisation={"d": 1})
    with pytest.raises(exceptions.DomainMismatch, match="must be a Vector of numbers"):
        gb.algorithms.pagerank(graph.matrix, personalisation={})
