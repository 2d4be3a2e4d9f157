"""Checks accept right answers and refuse every kind of wrong one."""

from __future__ import annotations

import numpy as np
import pytest

from semira import Matrix
from semira.base.dtypes import lookup_dtype
from semira.bench.graphs import BenchGraph, load_bench_graph
from semira.bench.triangles import count_triangles
from semira.bench.verify import CHECKS, DAMPING, rank_step, verify
from semira.io import arrays_of

#: 0 -> 1 -> 2 -> 0, 1 -> 3, and 4 apart with a loop.
TAILS, HEADS, LENGTHS = [0, 1, 2, 1, 4], [1, 2, 0, 3, 4], [2, 3, 1, 9, 5]
LEVEL = [0, 1, 2, 2, -1]
DISTANCE = [0.0, 2.0, 5.0, 11.0, np.inf]
LABEL = [0, 0, 0, 0, 4]


@pytest.fixture
def graph() -> BenchGraph:
    matrix = Matrix.from_coo(TAILS, HEADS, LENGTHS, nrows=5, ncols=5)
    return BenchGraph("small", matrix, arrays_of(matrix), 0.0, 0.0)


@pytest.fixture
def rank(graph: BenchGraph) -> np.ndarray:
    found = np.full(5, 0.2)
    for _ in range(200):
        found = rank_step(graph, found)
    return found


def changed(answer: list[float], at: int, value: float) -> np.ndarray:
    made = np.array(answer)
    made[at] = value
    return made


@pytest.mark.parametrize(("kernel", "answer"), [("bfs", LEVEL), ("sssp", DISTANCE), ("cc", LABEL)])
def test_right_answer_is_accepted(graph: BenchGraph, kernel: str, answer: list[float]) -> None:
    verdict = CHECKS[kernel](graph, 0, np.array(answer))
    assert (verdict.ok, verdict.finding) == (True, "")


@pytest.mark.parametrize(
    ("kernel", "answer", "finding"),
    [
        ("bfs", changed(LEVEL, 0, 1), "source"),
        ("bfs", changed(LEVEL, 4, 0), "source alone"),
        ("bfs", changed(LEVEL, 3, -1), "leads out"),
        ("bfs", changed(LEVEL, 3, 1), "no parent"),
        ("bfs", changed(LEVEL, 3, 3), "skips"),
        ("bfs", changed(LEVEL, 4, 7), "no parent"),
        ("bfs", np.array(LEVEL[:4]), "shape"),
        ("sssp", changed(DISTANCE, 0, 1.0), "not at distance 0"),
        ("sssp", changed(DISTANCE, 2, 4.5), "no tight edge"),
        ("sssp", changed(DISTANCE, 2, 6.0), "shortens"),
        ("sssp", changed(DISTANCE, 3, np.inf), "shortens"),
        ("sssp", changed(DISTANCE, 4, 3.0), "no tight edge"),
        ("sssp", changed(DISTANCE, 2, np.nan), "nan"),
        ("cc", changed(LABEL, 3, 3), "differ along"),
        ("cc", np.zeros(5, int), "1 components instead of 2"),
    ],
)
def test_wrong_answer_is_refused(
    graph: BenchGraph, kernel: str, answer: np.ndarray, finding: str
) -> None:
    verdict = CHECKS[kernel](graph, 0, answer)
    assert verdict.ok is False
    assert finding in verdict.finding


def test_ranks_are_checked_by_residual_and_sum(graph: BenchGraph, rank: np.ndarray) -> None:
    assert CHECKS["pagerank"](graph, 0, rank).ok
    moved = rank + np.array([1, -1, 0, 0, 0]) * 1e-4
    assert "moves them" in CHECKS["pagerank"](graph, 0, moved).finding
    assert "sum to" in CHECKS["pagerank"](graph, 0, rank * 1.1).finding
    assert CHECKS["pagerank"](graph, 0, np.full(5, np.nan)).ok is False


def test_rank_step_follows_the_formula(graph: BenchGraph) -> None:
    # Vertex 3 is the only sink; vertex 1 shares between 2 and 3.
    even = rank_step(graph, np.full(5, 0.2))
    base = (1 - DAMPING) / 5 + DAMPING * 0.2 / 5
    expected = base + DAMPING * 0.2 * np.array([1, 1, 0.5, 0.5, 1])
    np.testing.assert_allclose(even, expected, rtol=1e-15)


def test_zero_weights_are_not_claimed_to_be_checked() -> None:
    matrix = Matrix.from_coo([0, 1], [1, 0], [0, 0], nrows=2, ncols=2)
    graph = BenchGraph("zeros", matrix, arrays_of(matrix), 0.0, 0.0)
    assert CHECKS["sssp"](graph, 0, np.array([0.0, 0.0])).ok is None


def test_triangles_are_counted_again_and_a_wrong_count_is_named(graph: BenchGraph) -> None:
    assert count_triangles(graph) == (1, "an unmasked product in SciPy")
    verdicts = verify("tc", graph, 0, {"semira": np.array([1]), "peer": np.array([2])})
    assert (verdicts["semira"].ok, verdicts["peer"].ok) == (True, False)
    assert "2 triangles" in verdicts["peer"].finding


def test_triangles_too_many_for_scipy_are_checked_between_libraries(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    graph = load_bench_graph("kron:6")
    count, _ = count_triangles(graph)
    monkeypatch.setattr("semira.bench.triangles.MAX_FLOPS", 10)
    assert count_triangles(graph) == (None, "")
    right, wrong = np.array([count]), np.array([count + 1])
    alone = verify("tc", graph, 0, {"semira": right})["semira"]
    assert (alone.ok, alone.method) == (None, "")
    assert verify("tc", graph, 0, {"semira": right, "peer": right})["semira"].ok is True
    assert verify("tc", graph, 0, {"semira": right, "peer": wrong})["semira"].ok is False


def test_undirected_graph_has_both_directions_and_no_loops(graph: BenchGraph) -> None:
    whole = graph.undirected.weighted.toarray()
    assert (whole == whole.T).all()
    assert np.diag(whole).sum() == 0
    assert np.count_nonzero(whole) == 8
    assert graph.undirected.undirected is graph.undirected


@pytest.mark.parametrize("dtype", ["FP32", "FP64"])
def test_rounded_distances_are_right_in_their_dtype(dtype: str) -> None:
    lengths = np.array([0.1, 0.2, 0.3], lookup_dtype(dtype).np_type)
    matrix = Matrix.from_coo([0, 1, 2], [1, 2, 3], lengths, nrows=4, ncols=4)
    graph = BenchGraph("path", matrix, arrays_of(matrix), 0.0, 0.0)
    distance = np.concatenate([[0], np.cumsum(lengths, dtype=lengths.dtype)]).astype(lengths.dtype)
    assert CHECKS["sssp"](graph, 0, distance).ok is True
    assert CHECKS["sssp"](graph, 0, np.nextafter(distance, 9, dtype=lengths.dtype)).ok is False
