"""Application classification: the report's method step by step, golden values, bad input."""

from __future__ import annotations

import itertools
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as settings_of_tests
from hypothesis import strategies as st
from tests.helpers import classification as oracle
from tests.helpers.data import load_graph
from tests.helpers.every import every

import semira as gb
from semira.apps.classification import memory, problem, solve
from semira.base import settings
from semira.exceptions import (
    DimensionMismatch,
    DomainMismatch,
    IndexOutOfBound,
    InvalidValue,
    OutOfMemory,
)

WAYS = {"source": False, "destination": True}


@pytest.fixture
def device(device):
    if device == "suitesparse":
        pytest.skip("its kernels are those of cpu")
    with gb.device(device):
        yield device


def matrix(edges, n):
    keys = np.unique(np.asarray(edges[0], np.int64) * n + edges[1])
    return gb.Matrix.from_coo(keys // n, keys % n, True, nrows=n, ncols=n)


def random_case(seed, n=40, m=150, count=4, width=6, *, hub=0):
    """Return a planted pattern in noise: n, edges, vertices, pattern, its vertices, the plant."""
    rng = np.random.default_rng(seed)
    vertices, features = rng.random((n, 3)) * 5, rng.random((m, 2)) * 5
    s, d = rng.integers(0, n, m), rng.integers(0, n, m)
    d[:hub] = 7
    s[hub // 2 : hub] = 3
    plant = rng.permutation(n)[:count]
    p, r = rng.integers(0, count, width), rng.integers(0, count, width)
    at = m - width + np.arange(width)
    s[at], d[at] = plant[p], plant[r]
    pattern = p, r, features[at] + rng.normal(0, 0.01, (width, 2))
    return n, (s, d, features), vertices, pattern, vertices[plant] + 0.01, plant


def classify(case, **options):
    n, edges, vertices, pattern, pattern_vertices = case[:5]
    return gb.apps.classify(matrix(edges, n), vertices, edges, pattern_vertices, pattern, **options)


@pytest.mark.parametrize("way", WAYS)
def test_the_golden_case(device, way):
    case = oracle.golden()
    found = classify(case, reverse_from=way).log_probabilities
    expected = np.fromstring(oracle.GOLDEN, sep=" ").reshape(6, 3)
    if way == "source":
        assert found == pytest.approx(expected, rel=1e-6)
    else:
        assert found[0] == pytest.approx([-9.875542e-01, -1.134486e00, -3.331550e00], rel=1e-6)
    close = oracle.classify(*case[:5], fixed=WAYS[way])
    assert np.abs(found - close).max() < 1e-12


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("m", "width", "hub"), [(150, 6, 0), (90, 1, 0), (400, 40, 300), (70, 70, 10)]
)
def test_scores_are_those_of_the_steps(device, way, m, width, hub):
    # Patterns with more edges than are worked on together; vertices with most of all edges.
    case = random_case(5, m=m, width=width, hub=hub)
    found = classify(case, reverse_from=way)
    expected = oracle.classify(*case[:5], fixed=WAYS[way])
    assert np.abs(found.log_probabilities - expected).max() < 1e-10
    assert found.facts()["deviation_of_sums"] < 1e-12
    assert found.iterations == 4


def test_patterns_with_more_vertices_than_lanes(device):
    case = random_case(6, n=50, count=40, width=20)
    found = classify(case, iterations=2).log_probabilities
    expected = oracle.classify(*case[:5], iterations=2)
    assert np.abs(found - expected).max() < 1e-10


def test_features_in_the_order_of_entries(device):
    n, (s, d, features), vertices, pattern, known = oracle.golden()
    order = np.lexsort((d, s))
    A = matrix((s, d), n)
    given_ends = gb.apps.classify(A, vertices, (s, d, features), known, pattern)
    by_rows = gb.apps.classify(A, vertices, features[order], known, pattern)
    assert np.abs(by_rows.log_probabilities - given_ends.log_probabilities).max() < 1e-13


def test_single_precision_features_are_read_as_they_are(device):
    n, (s, d, features), vertices, (p, r, more), known, _ = random_case(8)
    single, narrow = vertices.astype(np.float32), features.astype(np.float32)
    case = n, (s, d, narrow), single, (p, r, more), known
    expected = oracle.classify(
        n, (s, d, narrow.astype(float)), single.astype(float), (p, r, more), known
    )
    assert np.abs(classify(case).log_probabilities - expected).max() < 1e-10


def test_the_planted_pattern_is_found(device):
    # Every edge of the pattern lies in the graph, with other features nearby.
    found = 0
    for seed in range(5):
        case = random_case(seed, n=60, m=120, count=5, width=8)
        found += int((classify(case).best == case[5]).sum())
    assert found >= 23


def test_order_of_edges_does_not_matter(device):
    n, (s, d, features), vertices, pattern, known, _ = random_case(3)
    order = np.random.default_rng(1).permutation(len(s))
    first = classify((n, (s, d, features), vertices, pattern, known))
    again = classify((n, (s[order], d[order], features[order]), vertices, pattern, known))
    assert np.abs(first.log_probabilities - again.log_probabilities).max() < 1e-12


def test_repeated_edges_count_each(device):
    n, (s, d, features), vertices, pattern, known = oracle.golden()
    twice = np.concatenate([s, s]), np.concatenate([d, d]), np.concatenate([features, features + 1])
    case = n, twice, vertices, pattern, known
    expected = oracle.classify(*case)
    assert np.abs(classify(case).log_probabilities - expected).max() < 1e-12


def test_edge_cases(device):
    known, none = np.zeros((2, 1)), (np.zeros(0, int), np.zeros(0, int), np.zeros((0, 1)))
    one = np.array([0]), np.array([1]), np.array([[2.0]])
    vertices = np.arange(3.0)[:, None]
    alone = oracle.normprob(-oracle.distances(vertices, known))
    empty = gb.Matrix(gb.dtypes.BOOL, 3, 3)
    for pattern in (none, one):  # no edges on either side: null messages alone
        found = gb.apps.classify(empty, vertices, none, known, pattern)
        assert np.isfinite(found.log_probabilities).all()
        assert found.log_probabilities == pytest.approx(alone, abs=1e-12)
    nothing = gb.apps.classify(gb.Matrix(gb.dtypes.BOOL, 0, 0), np.zeros((0, 1)), none, known, one)
    assert nothing.log_probabilities.shape == (0, 2)
    single = gb.apps.classify(
        gb.Matrix.from_coo([0], [0]), [[1.0]], [[5.0]], [[0.0]], ([0], [0], [[5.0]])
    )
    assert single.log_probabilities.tolist() == [[0.0]]
    flat = gb.apps.classify(empty, np.zeros((3, 0)), none, np.zeros((2, 0)), none)
    assert flat.probabilities == pytest.approx(np.full((3, 2), 1 / 3))


def test_iterations_and_penalty(device):
    case = random_case(4)
    seen = []
    found = classify(case, iterations=3, progress=lambda *told: seen.append(told))
    assert seen == [(1, 3), (2, 3), (3, 3)]
    expected = oracle.classify(*case[:5], iterations=3)
    assert np.abs(found.log_probabilities - expected).max() < 1e-10
    start = classify(case, iterations=0).log_probabilities
    assert np.abs(start - oracle.normprob(-oracle.distances(case[2], case[4]))).max() < 1e-12
    strict = classify(case, iterations=3, null_penalty=5.0).log_probabilities
    assert np.abs(strict - found.log_probabilities).max() > 1e-3


def test_results(device, tmp_path):
    found = classify(oracle.golden())
    assert found.best.tolist() == [0, 0, 3]
    assert found.top(2).tolist() == [[0, 5], [0, 5], [3, 2]]
    table = found.table()
    assert list(table) == ["vertex", *(f"log_probability_{j}" for j in range(3))]
    assert np.array_equal(table["log_probability_2"], found.log_probabilities[:, 2])
    found.write(tmp_path / "scores.txt")
    assert (tmp_path / "scores.txt").read_text().split() == oracle.GOLDEN.split()
    with pytest.raises(InvalidValue, match="top: k is 7; pass an integer from 1 to 6"):
        found.top(7)
    assert "pattern_edges=3" in repr(found)


@pytest.mark.parametrize("way", WAYS)
def test_devices_agree(device, way):
    case = random_case(9, hub=50)
    with gb.device("cpu"):
        expected = classify(case, reverse_from=way).log_probabilities
    found = classify(case, reverse_from=way).log_probabilities
    assert np.abs(found - expected).max() < 1e-12


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_threads_change_nothing(threads, monkeypatch):
    monkeypatch.setattr("semira.backends.cpu.threads.PARALLEL_ENTRIES", 1000)
    case = random_case(9, n=1000, m=4000, hub=200)
    with gb.device("cpu"):
        expected = classify(case).log_probabilities
        before = settings.override(threads=threads)
        try:
            found = classify(case).log_probabilities
        finally:
            settings.restore(before)
    assert np.array_equal(found, expected)


def test_memory_is_at_most_a_third_of_the_formula_of_the_report(monkeypatch):
    n, m, count, width = 2000, 16_000, 10, 21  # as many edges a vertex as rmat18
    rng = np.random.default_rng(0)
    keys = rng.choice(n * n, m, replace=False)
    keys.sort()
    features, vertices = rng.random((m, 17)), rng.random((n, 13))
    pattern = rng.integers(0, count, width), rng.integers(0, count, width), rng.random((width, 17))
    known = rng.random((count, 13))
    report = 8 * (3 * m * width + 3 * n * width + 2 * n * count)
    with gb.device("cpu"):
        A = gb.Matrix.from_coo(keys // n, keys % n, True, nrows=n, ncols=n)
        gb.apps.classify(A, vertices, features, known, pattern, iterations=1)
        for way, short in itertools.product(WAYS, (False, True)):
            needed = memory(n, m, count, width, reverse_from=way, short=short)
            if short:
                monkeypatch.setattr(problem.gb, "free_memory", lambda device, needed=needed: needed)
            tracemalloc.start()
            gb.apps.classify(A, vertices, features, known, pattern, reverse_from=way, iterations=2)
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            monkeypatch.undo()
            assert peak <= needed + 100_000
            assert peak <= report / 3
            assert peak > 8 * n * 3 * width  # it was measured


@pytest.mark.parametrize(
    ("n", "m", "count", "width"),
    [(1000, 20_135, 10, 21), (262_145, 2_008_660, 10, 21), (5157, 186_572, 20, 60)],
)
def test_memory_of_the_graphs_of_the_report(n, m, count, width):
    report = 8 * (3 * m * width + 3 * n * width + 2 * n * count)
    for way in WAYS:
        assert memory(n, m, count, width, reverse_from=way) <= report / 3
    # Of its example, with three edges a vertex, where memory is short.
    n, m, count, width = 6_000_000, 18_000_000, 10, 20
    report = 8 * (3 * m * width + 3 * n * width + 2 * n * count)
    assert memory(n, m, count, width, short=True) <= report / 3
    assert memory(n, m, count, width) <= report * 0.45


@settings_of_tests(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 30), st.integers(0, 60), st.integers(1, 5),
       st.integers(0, 8), st.sampled_from(list(WAYS)))  # fmt: skip
def test_any_graph(seed, n, m, count, width, way):
    rng = np.random.default_rng(seed)
    edges = rng.integers(0, n, m), rng.integers(0, n, m), rng.random((m, 2))
    pattern = rng.integers(0, count, width), rng.integers(0, count, width), rng.random((width, 2))
    case = n, edges, rng.random((n, 2)), pattern, rng.random((count, 2))
    with gb.device("cpu"):
        found = classify(case, reverse_from=way).log_probabilities
    assert np.abs(np.exp(found).sum(axis=0) - 1).max() < 1e-12
    if m and width:
        expected = oracle.classify(*case, fixed=WAYS[way])
        assert np.abs(found - expected).max() < 1e-9


@every(
    ("change", "error", "told"),
    [
        ({"A": [[1]]}, DomainMismatch, "needs a Matrix or"),
        ({"A": gb.Matrix(gb.dtypes.BOOL, 2, 3)}, DimensionMismatch, r"shape \(2, 3\)"),
        ({"vertices": np.zeros((5, 2))}, DimensionMismatch, "vertices has 5 rows"),
        ({"vertices": np.zeros(6)}, DimensionMismatch, "vertices has 1 dimensions"),
        ({"vertices": np.full((6, 2), np.nan)}, InvalidValue, "row 0 of vertices is nan"),
        ({"vertices": np.full((6, 2), "a")}, DomainMismatch, "vertices is of <U1"),
        ({"vertices": np.zeros((6, 3))}, DimensionMismatch, "have 3 features and those of the"),
        ({"edges": np.zeros((7, 2))}, DimensionMismatch, "edges has 7 rows, but the graph has 8"),
        ({"edges": np.zeros((8, 3))}, DimensionMismatch, "edges of the graph have 3 features"),
        ({"edges": ([0], [1], np.zeros((1, 2)))}, InvalidValue, r"stored only in one of A .*\(7 "),
        ({"edges": ([9], [1], np.zeros((1, 2)))}, IndexOutOfBound, "vertex 9, which is outside"),
        ({"edges": ([0, 1], [1], np.zeros((1, 2)))}, DimensionMismatch, "2 sources, 1 targets"),
        ({"pattern_vertices": np.zeros((0, 2))}, InvalidValue, "the pattern has no vertices"),
        ({"pattern_edges": np.zeros((3, 2))}, DomainMismatch, "pattern_edges is a ndarray"),
        ({"pattern_edges": ([0], [3], np.zeros((1, 2)))}, IndexOutOfBound, "vertex 3"),
        ({"pattern_edges": ([0.5], [1], np.zeros((1, 2)))}, DomainMismatch, "array of float64"),
        ({"reverse_from": "both"}, InvalidValue, "reverse_from is 'both'; pass 'source' or"),
        ({"iterations": -1}, InvalidValue, "iterations=-1"),
        ({"null_penalty": np.inf}, InvalidValue, "null_penalty is inf"),
    ],
)
def test_bad_input(change, error, told):
    n, edges, vertices, pattern, known = oracle.golden()
    named = {
        "A": matrix(edges, n), "vertices": vertices, "edges": edges, "pattern_vertices": known,
        "pattern_edges": pattern,
    } | change  # fmt: skip
    first = named.pop("A")
    with gb.device("cpu"), pytest.raises(error, match=told):
        gb.apps.classify(first, **named)


@pytest.mark.parametrize("way", WAYS)
def test_less_memory_where_it_is_short(device, monkeypatch, way):
    case, options = random_case(13, width=40), {"reverse_from": way, "iterations": 2}
    expected = classify(case, **options).log_probabilities
    free = memory(40, 150, 4, 40, reverse_from=way, short=True)
    assert free < memory(40, 150, 4, 40, reverse_from=way)
    monkeypatch.setattr(problem.gb, "free_memory", lambda device: free)
    by_ends = classify(case, **options).log_probabilities
    assert np.abs(by_ends - expected).max() < 1e-12
    n, (s, d, features), vertices, pattern, known, _ = case
    _, first = np.unique(s * n + d, return_index=True)
    single = n, (s[first], d[first], features[first]), vertices, pattern, known
    monkeypatch.setattr(problem.gb, "free_memory", lambda device: free - 1)
    by_rows = gb.apps.classify(
        matrix(single[1], n), vertices, features[first], known, pattern, reverse_from=way
    ).log_probabilities
    assert np.abs(by_rows - oracle.classify(*single, fixed=WAYS[way])).max() < 1e-10


def test_what_does_not_fit_is_refused(monkeypatch):
    monkeypatch.setattr(problem.gb, "free_memory", lambda device: 10)
    with gb.device("cpu"), pytest.raises(OutOfMemory, match=r"6 vertices and 8 edges need .* 10 "):
        classify(oracle.golden())


@pytest.mark.parametrize("way", WAYS)
def test_launches_of_their_own_change_nothing(device, monkeypatch, way):
    case, options = random_case(12, width=40), {"reverse_from": way, "iterations": 2}
    together = classify(case, **options).log_probabilities
    monkeypatch.setattr(solve, "_ONE_LAUNCH", 0)
    assert np.array_equal(classify(case, **options).log_probabilities, together)


@pytest.mark.parametrize("way", WAYS)
def test_part_of_a_social_network_is_found_again(way):
    graph = load_graph("polblogs")
    rng, n = np.random.default_rng(0), graph.nrows
    keys = np.unique(np.concatenate([graph.rows * np.int64(n) + graph.cols,
                                     graph.cols * np.int64(n) + graph.rows]))  # fmt: skip
    s, d = keys // n, keys % n
    vertices, features = rng.random((n, 12)), rng.random((len(s), 16))
    hub = np.bincount(s).argmax()
    part = np.unique(np.append(rng.choice(d[s == hub], 11, replace=False), hub))
    inside = np.isin(s, part) & np.isin(d, part)
    pattern = (
        np.searchsorted(part, s[inside]), np.searchsorted(part, d[inside]),
        features[inside] + rng.normal(0, 0.05, (inside.sum(), 16)),
    )  # fmt: skip
    known = vertices[part] + rng.normal(0, 0.05, (len(part), 12))
    with gb.device("cpu"):
        A = gb.Matrix.from_coo(s, d, True, nrows=n, ncols=n)
        found = gb.apps.classify(
            A, vertices, features, known, pattern, reverse_from=way, iterations=2
        )
    assert found.best.tolist() == part.tolist()


@every(
    ("options", "match"),
    [
        ({"iterations": "a"}, "iterations='a'"),
        ({"iterations": np.nan}, "iterations=nan"),
        ({"null_penalty": "a"}, "null_penalty is 'a'"),
        ({"null_penalty": None}, "null_penalty is None"),
    ],
)
def test_parameters_that_are_no_numbers(device, options, match):
    with pytest.raises(InvalidValue, match=match):
        classify(oracle.golden(), **options)


def test_features_whose_squares_are_infinite_are_refused(device):
    A = matrix(([0], [1]), 2)
    for features in ([[1e200], [-1e200]], np.array([[0.0], [-1e155]])):
        with pytest.raises(InvalidValue, match="squares are finite"):
            gb.apps.classify(A, features, [[0.0]], [[0.0]], ([0], [0], [[1.0]]))
