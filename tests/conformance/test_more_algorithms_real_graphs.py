"""The algorithms beyond the first five on small real graphs, against SciPy, NumPy and NetworkX.

What is called, and how SciPy or NumPy checks it, are the cases of `benchmarks.algorithm_runs`; that
a check finds a wrong result is tested with them (benchmarks/tests/test_algorithms.py).
"""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
from benchmarks.algorithm_checks import judge
from benchmarks.algorithm_runs import CASES
from scipy.sparse import csgraph
from tests.helpers.data import load_graph, load_reference
from tests.helpers.every import every

import semira as gb
from semira import algorithms
from semira.bench.graphs import BenchGraph, build_bench_graph

#: Social, collaboration and web graphs, a mesh, roads, power lines, citations: 34 to 7,115
#: vertices.
#: Of one dtype: each other one would double the kernels that are listed (tests/helpers/kernels.py).
GRAPHS = (
    "karate", "dolphins", "jazz", "harvard500", "email-Eu-core", "delaunay_n10", "polbooks",
    "minnesota", "power", "cora", "ca-GrQc", "wiki-Vote",
)  # fmt: skip

#: Vertices up to which NetworkX and distances of all pairs take no more than a second.
FEW = 520

#: Vertices up to which all that are connected make no more pairs than SciPy multiplies in a second.
MANY = 5_500

#: Graphs whose smallest eigenvalues lie too close together to converge in seconds.
LONG = frozenset({"minnesota", "power", "cora", "ca-GrQc", "wiki-Vote"})


@pytest.fixture(scope="module", params=GRAPHS)
def graph(request: pytest.FixtureRequest) -> BenchGraph:
    return build_bench_graph(request.param, load_graph(request.param))


@every("name", CASES)
def test_as_scipy(name: str, graph: BenchGraph, place: str) -> None:
    case = CASES[name]
    used = graph if case.directed else graph.undirected
    if case.function == "all_pairs_shortest_paths" and used.n > FEW:
        pytest.skip("distances of all pairs")
    if case.function == "transitive_closure" and used.n > MANY:
        pytest.skip("pairs of vertices by the million")
    if case.function == "spectral_embedding" and graph.name in LONG:
        pytest.skip("long and thin: hundreds of iterations")
    sources = case.sources_of(used)
    with gb.device(place):
        result = case.call(used.matrix.to(place), sources)
    verdict = judge(case.check, case.by, used, result, sources or used.sources(3))
    assert verdict.ok, f"{verdict.method}: {verdict.finding}"


@pytest.fixture(scope="module", params=["karate", "dolphins", "jazz", "harvard500"])
def small(request: pytest.FixtureRequest) -> BenchGraph:
    return build_bench_graph(request.param, load_graph(request.param)).undirected


def both(vector: Any, expected: dict[int, Any]) -> tuple[Any, Any]:
    """Return a vector and values by vertex as arrays."""
    return vector.to_dense(np.nan), [expected[vertex] for vertex in range(len(expected))]


def test_as_networkx(small: BenchGraph, place: str) -> None:
    G = nx.from_scipy_sparse_array(small.weighted)
    with gb.device(place):
        A = small.matrix.to(place)
        exact = [
            (algorithms.betweenness_centrality(A).centrality, nx.betweenness_centrality(G)),
            (algorithms.closeness_centrality(A).centrality, nx.closeness_centrality(G)),
            (algorithms.local_clustering_coefficient(A).coefficient, nx.clustering(G)),
        ]
        for found, expected in exact:
            np.testing.assert_allclose(*both(found, expected), rtol=1e-10, atol=1e-14)
        np.testing.assert_array_equal(*both(algorithms.core_number(A).core, nx.core_number(G)))
        truss = algorithms.k_truss(A, 4)
        assert truss.count == nx.k_truss(G, 4).number_of_edges()
        hops = csgraph.shortest_path(small.weighted, directed=False, unweighted=True)
        widest = hops[np.isfinite(hops)].max()
        assert algorithms.diameter(A).diameter == (widest, widest)
        weight = nx.minimum_spanning_tree(G).size("weight")
        assert algorithms.minimum_spanning_forest(A).weight == weight


def test_published(place: str) -> None:
    published, edges = load_reference("p2p-31-ref"), load_graph("p2p-31")
    if len(published["pr"]) != edges.nrows:
        pytest.skip("only kernels count here: the graph is cut, its results are not")
    A = gb.io.from_edges(edges).to(place)
    found = algorithms.local_clustering_coefficient(A)
    np.testing.assert_allclose(found.coefficient.to_dense(), published["lcc"], rtol=1e-12)
    core = np.flatnonzero(algorithms.core_number(A).core.to_dense() >= 3)
    np.testing.assert_array_equal(core, np.sort(published["gs_kcore_ids"]))
    # Of every edge in both directions; right to a few 1e-9.
    scores = algorithms.hits(A.ewise_add(A.T, "any").new(), tol=1e-9, max_iterations=500)
    np.testing.assert_allclose(scores.hub.to_dense(), published["gs_hits"][:, 0], atol=5e-9)
