"""Every algorithm, one row each: the command line, ``semira bench`` and the documentation read it.

A new algorithm is its file, its test, its page and a row here (`semira.algorithms.row`). Reading
the registry loads no algorithm.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

from semira.algorithms.row import Case, Peer, Picture, Row

PATHS, RANKS, PARTS = "Searches and paths", "Ranks and centralities", "Components and forests"
GROUPS, PATTERNS, SPECTRA = "Sets, cores and communities", "Triangles and overlaps", "Spectra"

#: Vertices up to which distances of all pairs are measured.
_FEW = 1100

_CHECKS = "benchmarks.algorithm_checks"
_BOUND_CHECK = "benchmarks.bound_checks:check_bounds"
_BY_BFS = ("reached", "depth", "level_sum=sum")
_BY_RANK = ("iterations", "converged", "rank_sum=sum", "top")
_BY_PART = ("components=groups", "iterations", "largest=group_sizes", "single_vertices=singles")
_BY_BOUND = (
    "diameter", "radius", "searches", "components=parts", "single_vertices=single_parts", "scope",
)  # fmt: skip
#: NetworkX's tolerance is that of a vertex.
_RANKS = {"alpha": 0.85, "weight": None, "tol": 1e-9, "max_iter": 1000}
_DRAWN = {"sources": "Number of random sources. Default: all vertices."}
_AGAIN = {"searches": "Maximum number of searches. Default: until all is known."}


def _passes(times: float) -> Callable[[int, int], float]:
    return lambda n, nvals: times * (n + nvals)


def _searches(n: int, nvals: int) -> float:
    return float(n) * (n + nvals)


def _triples(n: int, nvals: int) -> float:
    """Return the cost of two edges that meet, for all edges of a graph without large hubs."""
    return n + nvals * max(nvals / max(n, 1), 1.0)


_ROWS = (
    Row(
        name="bfs", title="breadth-first search", section=PATHS, result="BFSResult",
        facts=_BY_BFS, cost=_passes(1), oracle="semira.bench.verify:check_levels", cases=(),
        peers=(Peer("networkx:single_source_shortest_path_length", {"source": "$source"}),
               Peer("scipy:dijkstra", {"unweighted": True, "indices": "$source"}),
               Peer("igraph:distances", {"source": "$source"}),
               Peer("networkit:distance.BFS", {"source": "$source", "storePaths": False})),
        calls=("A, 0, parents=True",), named="semira.algorithms.bfs_methods:BFS_METHODS",
        texts={"parents": "--out also has the vertex that each one was found from."},
    ),
    Row(
        name="sssp", title="shortest paths", section=PATHS, result="SSSPResult", weighted=True,
        facts=("reached", "method", "iterations", "largest_distance", "farthest",
               "distance_sum=sum"),
        cost=_passes(10), oracle="semira.bench.verify:check_distances", cases=(),
        peers=(Peer("networkx:single_source_dijkstra_path_length", {"source": "$source"}),
               Peer("scipy:dijkstra", {"indices": "$source"}),
               Peer("igraph:distances", {"source": "$source", "weights": "weight"}),
               Peer("networkit:distance.Dijkstra", {"source": "$source", "storePaths": False})),
        calls=('A, 0, algorithm="window"', 'A, 0, algorithm="delta_stepping"'),
        texts={"delta": "Width of the window, or of a bucket of delta_stepping. Default: from "
               "means over the graph."},
    ),
    Row(
        name="pagerank", title="PageRank", section=RANKS, result="PageRankResult",
        facts=_BY_RANK, every_vertex=True, cost=_passes(40),
        oracle="semira.bench.verify:check_ranks", cases=(),
        peers=(Peer("networkx:pagerank", _RANKS), Peer("igraph:pagerank", {"damping": 0.85}),
               Peer("networkit:centrality.PageRank", {"damp": 0.85, "tol": 1e-9})),
        calls=("A, weighted=True",),
    ),
    Row(
        name="connected_components", title="connected components", section=PARTS, command="cc",
        result="ComponentsResult", directed=False, picture=Picture.sizes, facts=_BY_PART,
        every_vertex=True, cost=_passes(4), oracle="semira.bench.verify:check_labels", cases=(),
        peers=(Peer("networkx:connected_components"),
               Peer("scipy:connected_components", {"directed": False}),
               Peer("igraph:connected_components", {"mode": "weak"}),
               Peer("networkit:components.ParallelConnectedComponents")),
    ),
    Row(
        name="triangle_count", title="triangles", section=PATTERNS, command="tc",
        result="TriangleResult", directed=False, facts=("triangles=count",), cost=_triples,
        oracle="semira.bench.triangles:count_triangles", cases=(),
        peers=(Peer("networkx:triangles"), Peer("igraph:transitivity_undirected")),
    ),
    Row(
        name="maximal_independent_set", title="maximal independent set", section=GROUPS,
        command="mis", result="IndependentSetResult", directed=False, picture=Picture.none,
        facts=("members=count", "iterations"), every_vertex=True, cost=_passes(4),
        oracle=f"{_CHECKS}:check_independent",
        peers=(Peer("networkx:maximal_independent_set", {"seed": 0}),
               Peer("networkit:independentset.Luby()")),
        cases=(Case("independent set"),),
    ),
    Row(
        name="graph_colouring", title="graph colouring", section=GROUPS, command="colouring",
        result="ColouringResult", directed=False, picture=Picture.sizes,
        facts=("colours=count", "iterations", "largest=group_sizes"), every_vertex=True,
        cost=_passes(10),
        oracle=f"{_CHECKS}:check_colours",
        peers=(Peer("networkx:greedy_color", {"strategy": "random_sequential"}),
               Peer("igraph:vertex_coloring_greedy")),
        cases=(Case("colouring"),),
    ),
    Row(
        name="core_number", title="core numbers", section=GROUPS, command="kcore",
        module="semira.algorithms.k_core", result="CoreNumberResult", directed=False,
        facts=("degeneracy", "iterations", "innermost=at_most", "core_sum=sum"),
        every_vertex=True, cost=_passes(5), oracle=f"{_CHECKS}:check_cores",
        peers=(Peer("networkx:core_number"), Peer("igraph:coreness"),
               Peer("networkit:centrality.CoreDecomposition")),
    ),
    Row(
        name="k_core", title="k-core", section=GROUPS, command="kcore", when="k",
        result="KCoreResult", directed=False,
        facts=("vertices=count", "edges=half_sum", "iterations"), every_vertex=True,
        cost=_passes(3),
        oracle=f"{_CHECKS}:check_core", peers=(Peer("networkx:k_core", {"k": 3}),),
        cases=(Case("3-core", {"k": 3}),),
        texts={"k": "The k-core itself, and the neighbours that each of its vertices has inside. "
               "Default: core numbers."},
    ),
    Row(
        name="k_truss", title="k-truss", section=GROUPS, command="ktruss", result="KTrussResult",
        directed=False, picture=Picture.none, facts=("edges=count", "vertices=rows", "iterations"),
        cost=lambda n, nvals: 5 * _triples(n, nvals), oracle=f"{_CHECKS}:check_truss",
        peers=(Peer("networkx:k_truss", {"k": 4}),),
        cases=(Case("4-truss", {"k": 4}),
               Case("10-truss", {"k": 10}, peers=(Peer("networkx:k_truss", {"k": 10}),))),
    ),
    Row(
        name="hits", title="HITS", section=RANKS, result="HITSResult",
        facts=("iterations", "converged", "top_hubs=top hub score",
               "top_authorities=top authority score"),
        every_vertex=True, cost=_passes(80), oracle=f"{_CHECKS}:check_hubs",
        peers=(Peer("networkx:hits"), Peer("igraph:hub_score")),
    ),
    Row(
        name="personalised_pagerank", title="personalised PageRank", section=RANKS,
        command="ppr", result="PageRankResult", facts=_BY_RANK, cost=_passes(40),
        oracle=f"{_CHECKS}:check_personal",
        peers=(Peer("networkx:pagerank", {**_RANKS, "personalization": "$shares"}),
               Peer("igraph:personalized_pagerank", {"reset_vertices": "$source",
                                                     "damping": 0.85})),
        cases=(Case("personalised PageRank", sources=1),),
    ),
    Row(
        name="label_propagation", title="label propagation", section=GROUPS, command="lpa",
        result="CommunityResult", directed=False, picture=Picture.sizes,
        facts=("communities=groups", "iterations", "converged", "largest=group_sizes"),
        every_vertex=True, cost=_passes(20), oracle=f"{_CHECKS}:check_settled",
        peers=(Peer("networkx:community.asyn_lpa_communities", {"seed": 0}),
               Peer("igraph:community_label_propagation"), Peer("networkit:community.PLP")),
    ),
    Row(
        name="multi_source_bfs", title="breadth-first searches", section=PATHS, command="msbfs",
        result="MultiSourceResult", facts=("searches=rows", *_BY_BFS),
        cost=_passes(16), oracle=f"{_CHECKS}:check_many_levels",
        peers=(Peer("networkx:single_source_shortest_path_length", {"source": "$each"}),
               Peer("scipy:dijkstra", {"unweighted": True, "indices": "$sources"}),
               Peer("igraph:distances", {"source": "$sources"}),
               Peer("networkit:distance.SPSP", {"sources": "$sources"})),
        cases=(Case("multi-source BFS", symmetrised=True),),
        calls=("A, [0, 3], together=True",),
    ),
    Row(
        name="k_hop", title="neighbourhood", section=PATHS, command="khop", result="KHopResult",
        facts=("reached=count", "farthest_hop=most"), cost=_passes(1),
        oracle=f"{_CHECKS}:check_hops",
        peers=(Peer("networkx:single_source_shortest_path_length",
                    {"source": "$source", "cutoff": 3}),
               Peer("scipy:dijkstra", {"unweighted": True, "indices": "$source", "limit": 3}),
               Peer("igraph:neighborhood", {"vertices": "$source", "order": 3})),
        cases=(Case("3 hops", {"k": 3}, sources=1, symmetrised=True),), calls=("A, [0, 3], 2",),
    ),
    Row(
        name="betweenness_centrality", title="betweenness", section=RANKS, command="bc",
        result="CentralityResult", facts=("sources", "top"), cost=_searches,
        oracle=f"{_CHECKS}:check_betweenness",
        texts={**_DRAWN, "normalized": "Divide by the number of pairs of other vertices.",
               "directed": "--no-directed, together with --no-normalized: count the pairs of a "
               "symmetric graph once."},
        peers=(Peer("networkx:betweenness_centrality", {"k": "$count", "seed": 0}),
               Peer("igraph:betweenness", {"sources": "$sources"}),
               Peer("networkit:centrality.EstimateBetweenness",
                    {"nSamples": "$count", "parallel": True})),
        cases=(Case("betweenness one by one", {"batch": 1}, symmetrised=True),
               Case("betweenness in batches", {"batch": 16}, symmetrised=True),
               Case("betweenness from 64", sources=64, symmetrised=True)),
    ),
    Row(
        name="closeness_centrality", title="closeness", section=RANKS, command="closeness",
        result="CentralityResult", facts=("sources", "top"), cost=_searches,
        oracle=f"{_CHECKS}:check_closeness", texts=_DRAWN,
        peers=(Peer("networkx:closeness_centrality", {"u": "$each"}),
               Peer("igraph:closeness", {"vertices": "$sources"})),
        cases=(Case("closeness", symmetrised=True),),
    ),
    Row(
        name="diameter", title="diameter", section=PATHS, module="semira.algorithms.eccentricity",
        result="EccentricityResult", answer="diameter", directed=False, facts=_BY_BOUND,
        every_vertex=True, cost=_passes(20), oracle=_BOUND_CHECK, texts=_AGAIN,
        peers=(Peer("networkx:diameter", {"usebounds": True}), Peer("igraph:diameter"),
               Peer("networkit:distance.Diameter")),
        cases=(Case("diameter", {"searches": 64}, peers=()), Case("exact diameter")),
        calls=("A, symmetric=True",),
    ),
    Row(
        name="eccentricity", title="eccentricities", section=PATHS, command="ecc",
        result="EccentricityResult", directed=False, facts=("known", *_BY_BOUND),
        every_vertex=True, cost=_passes(40), oracle=_BOUND_CHECK, texts=_AGAIN,
        peers=(Peer("networkx:eccentricity"), Peer("igraph:eccentricity")),
        cases=(Case("eccentricity", {"searches": 16}, peers=()), Case("exact eccentricity")),
    ),
    Row(
        name="local_clustering_coefficient", title="clustering", section=PATTERNS, command="lcc",
        result="ClusteringResult", directed=False, facts=("average", "top"), every_vertex=True,
        cost=_triples,
        oracle=f"{_CHECKS}:check_clustering",
        peers=(Peer("networkx:clustering"),
               Peer("igraph:transitivity_local_undirected", {"mode": "zero"}),
               Peer("networkit:centrality.LocalClusteringCoefficient", {"turbo": True})),
    ),
    Row(
        name="jaccard_similarity", title="Jaccard similarity", section=PATTERNS,
        command="jaccard", result="JaccardResult",
        facts=("pairs=entries", "mean", "largest=most"), cost=_triples,
        oracle=f"{_CHECKS}:check_similar", cases=(Case("Jaccard", symmetrised=True),),
        peers=(Peer("networkx:jaccard_coefficient", {"ebunch": "$edges"}),
               Peer("igraph:similarity_jaccard", {"pairs": "$edges"})),
    ),
    Row(
        name="widest_path", title="widest paths", section=PATHS, command="widest",
        result="WidestPathResult", weighted=True,
        facts=("reached", "iterations", "least_width=least", "vertex=at_least"),
        cost=_passes(10), oracle=f"{_CHECKS}:check_widths", cases=(Case("widest path"),),
    ),
    Row(
        name="strongly_connected_components", title="strongly connected components",
        section=PARTS, command="scc", result="ComponentsResult", picture=Picture.sizes,
        facts=_BY_PART, every_vertex=True, cost=_passes(20), oracle=f"{_CHECKS}:check_strong",
        peers=(Peer("networkx:strongly_connected_components"),
               Peer("scipy:connected_components", {"connection": "strong"}),
               Peer("igraph:connected_components", {"mode": "strong"}),
               Peer("networkit:components.StronglyConnectedComponents")),
        cases=(Case("strong components"),),
    ),
    Row(
        name="minimum_spanning_forest", title="minimum spanning forest", section=PARTS,
        command="msf", result="ForestResult", directed=False, weighted=True, picture=Picture.none,
        facts=("weight", "edges=entries", "trees", "rounds=iterations"), cost=_passes(10),
        oracle=f"{_CHECKS}:check_forest",
        peers=(Peer("networkx:minimum_spanning_tree"), Peer("scipy:minimum_spanning_tree"),
               Peer("igraph:spanning_tree", {"weights": "weight"}),
               Peer("networkit:graph.KruskalMSF")),
        cases=(Case("spanning forest"),),
    ),
    Row(
        name="all_pairs_shortest_paths", title="all-pairs shortest paths", section=PATHS,
        command="apsp", result="AllPairsResult", weighted=True,
        facts=("method", "pairs", "largest_distance=most", "distance_sum=sum"), cost=_searches,
        oracle=f"{_CHECKS}:check_all_pairs",
        cases=(
            Case("all pairs floyd_warshall", {"algorithm": "floyd_warshall"}, symmetrised=True,
                 most=_FEW, peers=(Peer("networkx:floyd_warshall_numpy"),
                                   Peer("scipy:floyd_warshall"))),
            Case("all pairs", symmetrised=True, most=_FEW,
                 peers=(Peer("networkx:all_pairs_dijkstra_path_length"), Peer("scipy:dijkstra"),
                        Peer("igraph:distances", {"weights": "weight"}),
                        Peer("networkit:distance.APSP"))),
            Case("all pairs sources", {"algorithm": "sources"}, symmetrised=True, most=_FEW,
                 peers=()),
        ),
        calls=('A, algorithm="floyd_warshall"',),
    ),
    Row(
        name="transitive_closure", title="transitive closure", section=PATHS, command="closure",
        result="ClosureResult", picture=Picture.none, facts=("pairs=entries", "components"),
        cost=_searches, oracle=f"{_CHECKS}:check_reached",
        peers=(Peer("networkx:transitive_closure", {"reflexive": False}),),
        cases=(Case("closure", most=_FEW),),
    ),
    Row(
        name="spectral_embedding", title="spectral embedding", section=SPECTRA,
        command="embedding", result="SpectralResult", directed=False, weighted=True,
        picture=Picture.none, facts=("iterations", "converged", "values", "largest_residual"),
        every_vertex=True, cost=_passes(500), oracle=f"{_CHECKS}:check_eigenpairs",
        cases=(Case("spectral embedding", {"dimensions": 4, "tol": 1e-4}),),
    ),
)  # fmt: skip

#: By name of the function, in the order of help texts and tables.
REGISTRY: dict[str, Row] = {row.name: row for row in _ROWS}


_T = TypeVar("_T")


class View(Mapping[str, _T]):
    """A mapping that `make` returns as it is now, made of the registry whenever it is read."""

    def __init__(self, make: Callable[[], Mapping[str, _T]]) -> None:
        self._make = make

    def __getitem__(self, name: str) -> _T:
        return self._make()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._make())

    def __len__(self) -> int:
        return len(self._make())


def homes() -> dict[str, str]:
    """Return the modules of the functions and of their results, by name."""
    return {name: row.home for row in REGISTRY.values() for name in (row.name, row.result)}
