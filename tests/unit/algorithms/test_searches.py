"""Many searches at once against SciPy's, by bits and one by one."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import coo_array, csgraph
from tests.unit.algorithms import cases

import semira as gb
from semira.algorithms import closeness_centrality, multi_source_bfs, searches
from semira.algorithms.searches import LAST, LEVELS, SUMS, can_search, search

#: All searches share words, or none do; on a GPU all always share.
ways = pytest.mark.parametrize("apart", [2.0, 0.0], ids=["bits", "queues"])


@pytest.fixture
def way(monkeypatch, apart):
    monkeypatch.setattr(searches, "_APART", apart)


def drawn(n, edges, seed, *, twice=False):
    """Return a directed graph; of `twice`, of two halves that do not know each other."""
    rng = np.random.default_rng(seed)
    rows, columns = rng.integers(0, n, (2, edges))
    if twice:
        columns = columns // 2 * 2 + rows % 2
        columns = np.minimum(columns, n - 2 + rows % 2)
    return coo_array((np.ones(edges), (rows, columns)), (n, n)).tocsr()


def matrix(graph, device):
    with gb.device(device):
        return gb.io.from_scipy_sparse(graph)


def levels_of(graph, sources):
    """Return the hops from each source, -1 where there is no way."""
    hops = csgraph.dijkstra(graph, indices=sources, unweighted=True).reshape(len(sources), -1)
    return np.where(np.isfinite(hops), hops, -1).astype(int)


def check(graph, sources, device):
    """Compare everything that searches keep."""
    A, sources = matrix(graph, device), np.asarray(sources, np.int64)
    expected = levels_of(graph, sources)
    found = search(A, sources, LEVELS)
    level = found.matrix()
    level_again = found.matrix()
    assert level is level_again
    np.testing.assert_array_equal(level.to_dense(-1), expected)
    assert level.dtype == "INT32"
    assert level.device == device
    others = expected > 0
    reached, total = (each.to_dense() for each in search(A, sources, SUMS).vectors())
    np.testing.assert_array_equal(reached, others.sum(axis=0))
    np.testing.assert_array_equal(total, (expected * others).sum(axis=0))
    for kept in (LAST, LEVELS, SUMS):
        assert search(A, sources, kept).far.tolist() == expected.max(axis=1).tolist()


@ways
@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("count", [1, 2, 63, 64, 65])
def test_as_many_sources_as_bits(device, count):
    graph = drawn(70, 200, seed=count)
    check(graph, np.random.default_rng(count).permutation(70)[:count], device)


@ways
@pytest.mark.usefixtures("way")
def test_more_sources_than_a_block_has(device):
    check(drawn(40, 90, seed=4), np.random.default_rng(1).integers(0, 40, 257), device)


@ways
@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("seed", range(3))
def test_parts_that_do_not_know_each_other(device, seed):
    graph = drawn(60, 100, seed, twice=True)
    check(graph, np.random.default_rng(seed).integers(0, 60, 20), device)


@ways
@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("threads", [1, 2, 7])
def test_threads_change_nothing(device, threads):
    if device == "reference":
        pytest.skip("has no threads")
    with gb.ss.Context(nthreads=threads):
        check(drawn(50, 150, seed=9), np.arange(50).repeat(6)[:270], device)


@ways
@pytest.mark.usefixtures("way")
def test_the_same_source_again(device):
    check(drawn(30, 80, seed=2), [5, 5, 0, 5, 29, 0], device)


@ways
@pytest.mark.usefixtures("way")
def test_one_vertex(device):
    check(coo_array((1, 1)).tocsr(), [0], device)
    check(coo_array(([1.0], ([0], [0])), (1, 1)).tocsr(), [0, 0], device)


@ways
@pytest.mark.usefixtures("way")
def test_values_are_no_lengths(device):
    graph = drawn(30, 90, seed=8)
    graph.data = np.random.default_rng(0).integers(-9, 9, graph.nnz).astype(float)
    graph.data[::7] = 0.0
    A = matrix(graph, device)
    graph.data[:] = 1.0
    found = search(A, np.arange(30), LEVELS).matrix()
    assert found.nvals == (levels_of(graph, np.arange(30)) >= 0).sum()
    np.testing.assert_array_equal(found.to_dense(-1), levels_of(graph, np.arange(30)))


@ways
@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("inwards", [False, True])
def test_a_hub_with_more_edges_than_a_few_threads_walk(device, inwards):
    if device == "reference":
        pytest.skip("a block of threads is a thing of GPUs")
    n, rng = 2300, np.random.default_rng(3)
    rows, columns = np.zeros(n - 1, int), np.arange(1, n)
    if inwards:
        rows, columns = columns, rows
    more = rng.integers(1, n, (2, 60))
    rows, columns = np.append(rows, more[0]), np.append(columns, more[1])
    graph = coo_array((np.ones(len(rows)), (rows, columns)), (n, n)).tocsr()
    for count in (5, 100, 200):
        check(graph, rng.integers(0, n, count), device)


@ways
@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("limit", [0, 1, 3])
def test_no_more_levels_than_asked_for(device, limit):
    graph = drawn(60, 90, seed=6)
    sources = np.arange(0, 60, 7)
    found = search(matrix(graph, device), sources, LEVELS, limit)
    expected = levels_of(graph, sources)
    expected[expected > limit] = -1
    np.testing.assert_array_equal(found.matrix().to_dense(-1), expected)
    assert found.far.tolist() == expected.max(axis=1).tolist()


@ways
@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("n", [254, 256])
def test_more_levels_than_a_byte_tells(device, n):
    """A search that has not ended at level 254 might have more: it is made again."""
    if device == "reference" and n == 254:
        pytest.skip("Python takes a second for each, and runs what the cpu compiles")
    graph = coo_array((np.ones(n - 1), (np.arange(n - 1), np.arange(1, n))), (n, n)).tocsr()
    check(graph, [0, n // 2, n - 1], device)
    assert search(matrix(graph, device), np.array([0]), LEVELS).level.dtype == (
        np.uint8 if n == 254 else np.uint16
    )
    if device != "reference":  # where searches from all vertices take seconds
        assert closeness_centrality(matrix(graph, device)).centrality.to_dense()[-1] == 2 / n


def test_more_levels_than_two_bytes_tell(device):
    if device != "cpu":
        pytest.skip("70,000 levels are many for devices that are imitated")
    n = 70_000
    graph = coo_array((np.ones(n - 1), (np.arange(n - 1), np.arange(1, n))), (n, n)).tocsr()
    found = search(matrix(graph, device), np.array([0, 10]), LEVELS)
    assert found.far.tolist() == [n - 1, n - 11]
    np.testing.assert_array_equal(found.matrix().to_dense(-1)[0], np.arange(n))


def test_long_graphs_are_searched_one_by_one(monkeypatch):
    n = 200
    path = coo_array((np.ones(n - 1), (np.arange(n - 1), np.arange(1, n))), (n, n)).tocsr()
    ran = []
    real = searches._search_by_bits
    monkeypatch.setattr(searches, "_search_by_bits", lambda *args: (ran.append(1), real(*args))[1])
    A = matrix(path + path.T, "cpu")
    search(A, np.arange(0, n, 9), LEVELS)
    assert ran == []
    # From every vertex, neighbours go side by side.
    search(A, np.arange(n), LEVELS)
    assert ran == [1]
    search(matrix(drawn(n, 4000, seed=1), "cpu"), np.arange(0, n, 9), LEVELS)
    assert ran == [1, 1]


def test_what_does_not_fit_is_left_to_products(device, monkeypatch):
    A = matrix(drawn(30, 80, seed=5), device)
    expected = multi_source_bfs(A, [3, 4]).level
    monkeypatch.setattr(searches, "free_memory", lambda _: 100)
    assert can_search(A, 2, LEVELS)
    monkeypatch.setattr(searches, "_LITTLE", 0)
    assert not can_search(A, 2, LEVELS)
    found = multi_source_bfs(A, [3, 4])
    assert len(found.trace) == found.iterations
    assert found.level.isequal(expected, check_dtype=True)


def test_graphs_of_few_edges_are_left_to_products():
    with gb.device("cpu"):
        A = gb.Matrix.from_coo([5, 7], [7, 2**40], True, nrows=2**41, ncols=2**41)
        small = gb.Matrix.from_coo([5], [7], True, nrows=10_000, ncols=10_000)
    assert not can_search(A, 1, LEVELS)
    assert not can_search(small, 1, SUMS)
    assert multi_source_bfs(A, [5]).level.to_dicts() == {0: {5: 0, 7: 1, 2**40: 2}}


def test_options_of_products_make_products(device):
    A = cases.SHAPES["random"].matrix(device)
    by_kernels, by_products = (
        multi_source_bfs(A, [3, 8]),
        multi_source_bfs(A, [3, 8], direction="push"),
    )
    assert by_kernels.level.isequal(by_products.level, check_dtype=True)
    assert (by_kernels.trace, by_kernels.iterations) == ((), by_products.iterations)
    assert (by_kernels.reached, by_kernels.depth) == (by_products.reached, by_products.depth)
    assert {row.direction for row in by_products.trace} == {"push"}
