"""Triangles by rows of bits on a GPU, and by products, loops and NetworkX."""

import networkx as nx
import numpy as np
import pytest

from semira import Matrix
from semira.algorithms import ranked_rows, triangle_count
from semira.algorithms.oriented_edges import oriented_edges


def skewed(n, m, seed=0):
    """Return entries in both directions, of which many lead to the first vertices."""
    rng, weights = np.random.default_rng(seed), 1 / np.arange(1, n + 1)
    rows, columns = rng.choice(n, (2, m), p=weights / weights.sum())
    keep = rows != columns
    one, two = np.r_[rows[keep], columns[keep]], np.r_[columns[keep], rows[keep]]
    names = rng.permutation(n)
    return np.unique(np.stack((names[one], names[two]), 1), axis=0).T


def matrix(ends, n, device):
    return Matrix.from_coo(*ends, True, nrows=n, ncols=n, device=device)


def expected(ends):
    return sum(nx.triangles(nx.Graph(ends.T.tolist())).values()) // 3


# Vertices of which the first ones' rows are dense, of which most are not, and a clique.
GRAPHS = {"dense": (200, 6_000), "sparse": (500, 15_000)}


@pytest.fixture(autouse=True)
def no_dictionaries(request):
    """Products of such graphs take a minute there; test_triangle_count.py has smaller ones."""
    if request.getfixturevalue("device") == "reference":
        pytest.skip("the reference is made of dictionaries")


# Short rows of bits; long ones; rows with more columns than a block holds.
@pytest.mark.parametrize(
    "changed", [{}, {"_SHORT": 0}, {"_SHORT": 0, "_NEAR": 128}, {"_NEAR": 128}]
)
@pytest.mark.parametrize("name", GRAPHS)
def test_counts(device, name, changed, monkeypatch):
    if changed and device != "cuda":
        pytest.skip("rows of bits are a GPU's")
    n, m = GRAPHS[name]
    for limit, value in changed.items():
        monkeypatch.setattr(ranked_rows, limit, value)
    ends = skewed(n, m)
    A = matrix(ends, n, device)
    want = expected(ends)
    assert ranked_rows.has_long_rows(oriented_edges(A, symmetric=True, order="auto"))
    for _ in range(2):
        assert triangle_count(A, symmetric=True).count == want
    assert triangle_count(A).count == want
    assert triangle_count(A, symmetric=True, method="dot").count == want


def test_cliques_and_stars(device):
    clique = np.array([(i, j) for i in range(140) for j in range(140) if i != j]).T
    A = matrix(clique, 140, device)
    assert triangle_count(A, symmetric=True, order="degree").count == 140 * 139 * 138 // 6
    # A bipartite graph with hubs: long rows, no triangle.
    both = np.array([(i, j) for i in range(40) for j in range(40, 400)]).T
    A = matrix(np.c_[both, both[::-1]], 400, device)
    assert triangle_count(A, symmetric=True, order="degree").count == 0


def test_a_written_matrix_is_counted_anew(device):
    ends = skewed(200, 6_000)
    A = matrix(ends, 200, device)
    before = triangle_count(A, symmetric=True).count
    u, v = ends[:, 0]
    del A[u, v], A[v, u]
    after = triangle_count(A, symmetric=True).count
    kept = ends[:, ~(((ends[0] == u) & (ends[1] == v)) | ((ends[0] == v) & (ends[1] == u)))]
    assert after == expected(kept) < before
