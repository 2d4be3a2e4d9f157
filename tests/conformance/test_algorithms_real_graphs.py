"""The algorithms on real graphs, against SciPy and against published reference results."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import csgraph
from tests.helpers.data import load_graph, load_reference
from tests.helpers.every import every

import semira as gb
from semira import algorithms, exceptions

SMALL = (
    "1138_bus", "3elt", "4elt", "add20", "airfoil1", "ak2010", "as-22july06", "ash292", "bcspwr10",
    "bcsstk13", "bips98_606", "bucky", "ca-GrQc", "chesapeake", "cit-HepPh", "citeseer",
    "commanche_dual", "cora", "delaunay_n10", "delaunay_n12", "delaunay_n14", "delaunay_n16",
    "dolphins", "drosophila-mb-left", "drosophila-mb-right", "ego-Facebook", "email-Enron",
    "email-Eu-core", "Erdos02-cc", "EVA", "finan512", "graphchallenge-sbm-5000", "harvard500",
    "HPRD-labelled", "jazz", "karate", "lcsh2wiki-small-A", "lcsh2wiki-small-B", "luxembourg_osm",
    "maxflow-nx-gl1", "maxflow-nx-gw1", "maxflow-nx-wlm3", "mincost-nx-netgen-2", "minnesota",
    "mycielskian8", "mycielskian9", "mycielskian10", "mycielskian12", "mycielskian13",
    "netscience", "p2p-31", "polblogs", "polbooks", "power", "pubmed", "rome99", "sstmodel",
    "socfb-JohnsHopkins55", "t60k", "uk", "west0067", "whitaker3", "wiki-Vote",
)  # fmt: skip
LARGE = (
    "cnr-2000", "coAuthorsDBLP", "loc-gowalla", "soc-Slashdot0902", "USA-road-d.NY",
    "USA-road-NE", "web-NotreDame",
)  # fmt: skip
PAGERANK_TOL = 1e-7

#: Entries and triangles of graphs of which SciPy takes a second to count: SNAP publishes those of
#: its graphs, Mycielski's have none, and SciPy has counted the others once.
COUNTED = {
    "cit-HepPh": (421_578, 1_276_868),
    "cnr-2000": (3_216_152, 20_977_629),
    "coAuthorsDBLP": (1_955_352, 2_098_349),
    "loc-gowalla": (1_900_654, 2_273_138),
    "mycielskian13": (1_227_742, 0),
    "soc-Slashdot0902": (948_464, 602_592),
    "USA-road-NE": (3_868_020, 37_012),
    "web-NotreDame": (1_497_134, 8_910_005),
}


@dataclass(frozen=True, eq=False)
class RealGraph:
    """A graph on a device and in SciPy, which answers once for all methods."""

    name: str
    A: gb.Matrix
    S: sparse.csr_matrix

    @cached_property
    def source(self) -> int:
        """A vertex with the most out-edges."""
        return int(np.argmax(np.diff(self.S.indptr)))

    @cached_property
    def pattern(self) -> sparse.csr_matrix:
        """The entries, each with value 1."""
        ones = np.ones(self.S.nnz, np.int64)
        return sparse.csr_matrix((ones, self.S.indices, self.S.indptr), self.S.shape)

    @cached_property
    def hops(self) -> Any:
        return csgraph.dijkstra(self.pattern, indices=self.source, unweighted=True)

    @cached_property
    def distances(self) -> Any:
        return csgraph.dijkstra(self.S, indices=self.source)

    @cached_property
    def parts(self) -> tuple[int, Any]:
        """The number of components, and the smallest vertex of that of each vertex."""
        count, part = csgraph.connected_components(self.S, connection="weak")
        return count, smallest_members(part)

    @cached_property
    def negative_distances(self) -> Any:
        """Distances over entries of which some are negative; None where there are none."""
        try:
            return csgraph.bellman_ford(self.S, indices=self.source)
        except csgraph.NegativeCycleError:
            return None

    @cached_property
    def steps(self) -> sparse.csr_matrix:
        """The matrix that PageRank multiplies by: transposed, divided by out-degrees."""
        out = np.diff(self.S.indptr)
        return (sparse.diags(np.where(out > 0, 1 / np.maximum(out, 1), 0)) @ self.pattern).T.tocsr()

    @cached_property
    def triangles(self) -> int:
        entries, counted = COUNTED.get(self.name, (-1, 0))
        if self.A.nvals == entries:  # else it is cut: see `tests.helpers.data`
            return counted
        both = self.pattern + self.pattern.T
        # Hubs last: few pairs of neighbours. By blocks: the product of cnr-2000 takes gigabytes.
        order = np.argsort(np.diff(both.indptr), kind="stable")
        L = sparse.tril(both[order][:, order], -1).tocsr()
        L.data[:] = 1
        size = max(2048, L.shape[0] // 16)
        blocks = (L[start : start + size] for start in range(0, L.shape[0], size))
        return sum(int((block @ L.T).multiply(block).sum()) for block in blocks)


@pytest.fixture(
    scope="module", params=[*SMALL, *(pytest.param(name, marks=pytest.mark.slow) for name in LARGE)]
)
def graph(request: pytest.FixtureRequest, place: str) -> RealGraph:
    return load(request.param, place)


def load(name: str, place: str) -> RealGraph:
    A = gb.io.from_edges(load_graph(name)).to(place)
    rows, cols, values = A.to_coo()
    positions = rows.astype(np.int64), cols.astype(np.int64)
    return RealGraph(name, A, sparse.csr_matrix((values.astype(float), positions), A.shape))


def test_bfs(graph):
    found = algorithms.bfs(graph.A, graph.source, parents=True)
    reached = np.isfinite(graph.hops)
    levels = found.level.to_dense(-1)
    np.testing.assert_array_equal(levels, np.where(reached, graph.hops, -1))
    assert found.reached == np.count_nonzero(reached)
    assert found.depth == levels.max()
    vertices, parents = (part.astype(np.int64) for part in found.parent.to_coo())
    np.testing.assert_array_equal(vertices, np.flatnonzero(reached))
    assert parents[vertices == graph.source] == [graph.source]
    others = vertices != graph.source
    children, parents = vertices[others], parents[others]
    np.testing.assert_array_equal(levels[parents], levels[children] - 1)
    if children.size:
        assert np.asarray(graph.pattern[parents, children]).all()


@every("method", ["bellman_ford", "delta_stepping", "window", "auto"])
def test_sssp(graph, method, monkeypatch):
    # What begins near in large graphs.
    monkeypatch.setattr(importlib.import_module("semira.algorithms.sssp_choice"), "LARGE", 0)
    if graph.S.nnz and graph.S.data.min() < 0:
        assert_refused(graph, method)
        return
    if method == "bellman_ford" and graph.name == "USA-road-d.NY" and graph.A.device == "cpu":
        pytest.skip("most of four seconds; rome99 has roads of many lengths, too")
    found = algorithms.sssp(graph.A, graph.source, algorithm=method, dtype="FP64")
    np.testing.assert_allclose(found.distance.to_dense(np.inf), graph.distances, rtol=1e-12)


def assert_refused(graph: RealGraph, method: str) -> None:
    """Some matrices are no distances: negative entries, and negative cycles where symmetric."""
    if method not in ("auto", "bellman_ford"):
        least = graph.A.reduce_scalar("min").value
        with pytest.raises(exceptions.NegativeWeight, match=f"{least}"):
            algorithms.sssp(graph.A, graph.source, algorithm=method)
        return
    expected = graph.negative_distances
    if expected is None:
        with pytest.raises(exceptions.NegativeCycle):
            algorithms.sssp(graph.A, graph.source)
    else:
        found = algorithms.sssp(graph.A, graph.source, dtype="FP64")
        np.testing.assert_allclose(found.distance.to_dense(np.inf), expected, rtol=1e-9)


@every("method", ["spread", "sample", "search"])
def test_connected_components(graph, method):
    count, members = graph.parts
    found = algorithms.connected_components(graph.A, algorithm=method)
    np.testing.assert_array_equal(found.label.to_dense(), members)
    assert found.count == count


def smallest_members(part: Any) -> Any:
    """Return the smallest vertex with the same `part` as each vertex."""
    _, first, inverse = np.unique(part, return_index=True, return_inverse=True)
    return first[inverse]


@every("adaptive", [False, True])
def test_pagerank(graph, adaptive):
    if graph.A.nrows > 1_000_000 and graph.A.device == "cpu":
        pytest.skip("a hundred iterations over USA-road-NE; USA-road-d.NY has roads, too")
    if adaptive and graph.A.nvals > 1_500_000 and graph.A.device == "cpu":
        pytest.skip("seconds for each of three; web-NotreDame is large, too")
    tol = PAGERANK_TOL
    found = algorithms.pagerank(graph.A, tol=tol, max_iterations=300, adaptive=adaptive)
    assert found.converged
    ranks = found.rank.to_dense()
    assert ranks.sum() == pytest.approx(1, abs=1e-12)
    # By the textbook formula: what one more iteration moves by at most 2 * d * tol is within
    # 2 * d / (1 - d) * tol of the limit.
    lost = ranks[np.diff(graph.S.indptr) == 0].sum()
    after = 0.15 / len(ranks) + 0.85 * (graph.steps @ ranks + lost / len(ranks))
    assert np.abs(after - ranks).sum() <= 2 * 0.85 * tol


@every("order", ["natural", "degree"])
def test_triangle_count(graph, order):
    if order == "natural" and graph.A.nvals > 1_400_000:
        pytest.skip("pairs of neighbours of hubs: a minute for three graphs")
    assert algorithms.triangle_count(graph.A, order=order).count == graph.triangles


@pytest.fixture(scope="module")
def p2p(place):
    return load("p2p-31", place)


@pytest.fixture(scope="module")
def published(p2p):
    found = load_reference("p2p-31-ref")
    if len(found["pr"]) != p2p.A.nrows:
        pytest.skip("only kernels count here: the graph is cut, its results are not")
    return found


def both_ways(A: gb.Matrix) -> gb.Matrix:
    return A.ewise_add(A.T, "min").new()


@pytest.mark.parametrize("directed", [True, False])
def test_published_paths(p2p, published, directed):
    A = p2p.A if directed else both_ways(p2p.A)
    source, suffix = int(published["sources"][0]), "_directed" if directed else ""
    levels = algorithms.bfs(A, source).level.to_dense(np.inf)
    hops = published[f"bfs{suffix}"]
    np.testing.assert_array_equal(levels, np.where(hops < 2**62, hops, np.inf))
    for method in ("bellman_ford", "delta_stepping", "window"):
        found = algorithms.sssp(A, source, algorithm=method).distance.to_dense(np.inf)
        np.testing.assert_array_equal(found, published[f"sssp{suffix}"])


def test_published_ranks(p2p, published):
    found = algorithms.pagerank(both_ways(p2p.A), tol=0, max_iterations=10)
    assert found.iterations == 10
    np.testing.assert_allclose(found.rank.to_dense(), published["pr"], rtol=1e-9)


def test_published_components_and_triangles(p2p, published):
    found = algorithms.connected_components(p2p.A)
    # The labels published are internal numbers of some member: the parts count.
    np.testing.assert_array_equal(found.label.to_dense(), smallest_members(published["wcc"]))
    triangles = published["gs_triangles"].sum() / 3
    assert algorithms.triangle_count(p2p.A).count == triangles
