"""Graph algorithms as short programs in linear algebra, on the public API only."""

from __future__ import annotations

import difflib
import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from semira.algorithms.all_pairs_shortest_paths import AllPairsResult, all_pairs_shortest_paths
    from semira.algorithms.betweenness_centrality import betweenness_centrality
    from semira.algorithms.bfs import bfs
    from semira.algorithms.bfs_methods import BFS_METHODS
    from semira.algorithms.closeness_centrality import closeness_centrality
    from semira.algorithms.connected_components import connected_components
    from semira.algorithms.eccentricity import EccentricityResult, diameter, eccentricity
    from semira.algorithms.graph_colouring import ColouringResult, graph_colouring
    from semira.algorithms.hits import HITSResult, hits
    from semira.algorithms.jaccard_similarity import JaccardResult, jaccard_similarity
    from semira.algorithms.k_core import CoreNumberResult, KCoreResult, core_number, k_core
    from semira.algorithms.k_hop import KHopResult, k_hop
    from semira.algorithms.k_truss import KTrussResult, k_truss
    from semira.algorithms.label_propagation import CommunityResult, label_propagation
    from semira.algorithms.local_clustering_coefficient import (
        ClusteringResult,
        local_clustering_coefficient,
    )
    from semira.algorithms.maximal_independent_set import (
        IndependentSetResult,
        maximal_independent_set,
    )
    from semira.algorithms.minimum_spanning_forest import ForestResult, minimum_spanning_forest
    from semira.algorithms.multi_source_bfs import MultiSourceResult, multi_source_bfs
    from semira.algorithms.pagerank import pagerank
    from semira.algorithms.personalised_pagerank import personalised_pagerank
    from semira.algorithms.results import (
        BFSResult,
        CentralityResult,
        ComponentsResult,
        PageRankResult,
        SSSPResult,
        TriangleResult,
    )
    from semira.algorithms.spectral_embedding import SpectralResult, spectral_embedding
    from semira.algorithms.sssp import sssp
    from semira.algorithms.strongly_connected_components import strongly_connected_components
    from semira.algorithms.triangle_count import triangle_count
    from semira.algorithms.widest_path import WidestPathResult, widest_path

__all__ = [
    "BFS_METHODS",
    "AllPairsResult",
    "BFSResult",
    "CentralityResult",
    "ClusteringResult",
    "ColouringResult",
    "CommunityResult",
    "ComponentsResult",
    "CoreNumberResult",
    "EccentricityResult",
    "ForestResult",
    "HITSResult",
    "IndependentSetResult",
    "JaccardResult",
    "KCoreResult",
    "KHopResult",
    "KTrussResult",
    "MultiSourceResult",
    "PageRankResult",
    "SSSPResult",
    "SpectralResult",
    "TriangleResult",
    "WidestPathResult",
    "all_pairs_shortest_paths",
    "betweenness_centrality",
    "bfs",
    "closeness_centrality",
    "connected_components",
    "core_number",
    "diameter",
    "eccentricity",
    "graph_colouring",
    "hits",
    "jaccard_similarity",
    "k_core",
    "k_hop",
    "k_truss",
    "label_propagation",
    "local_clustering_coefficient",
    "maximal_independent_set",
    "minimum_spanning_forest",
    "multi_source_bfs",
    "pagerank",
    "personalised_pagerank",
    "spectral_embedding",
    "sssp",
    "strongly_connected_components",
    "triangle_count",
    "widest_path",
]

#: Names that are not that of their module. A module loads when one of its names is used first.
_ELSEWHERE = {
    "AllPairsResult": "all_pairs_shortest_paths",
    "BFSResult": "results",
    "BFS_METHODS": "bfs_methods",
    "CentralityResult": "results",
    "ClusteringResult": "local_clustering_coefficient",
    "ColouringResult": "graph_colouring",
    "CommunityResult": "label_propagation",
    "ComponentsResult": "results",
    "CoreNumberResult": "k_core",
    "EccentricityResult": "eccentricity",
    "ForestResult": "minimum_spanning_forest",
    "HITSResult": "hits",
    "IndependentSetResult": "maximal_independent_set",
    "JaccardResult": "jaccard_similarity",
    "KCoreResult": "k_core",
    "KHopResult": "k_hop",
    "KTrussResult": "k_truss",
    "MultiSourceResult": "multi_source_bfs",
    "PageRankResult": "results",
    "SSSPResult": "results",
    "SpectralResult": "spectral_embedding",
    "TriangleResult": "results",
    "WidestPathResult": "widest_path",
    "core_number": "k_core",
    "diameter": "eccentricity",
}
_HOMES = {name: _ELSEWHERE.get(name, name) for name in __all__}


#: What other libraries call our algorithms.
_SYNONYMS = {
    "bellman_ford": "sssp",
    "clustering": "local_clustering_coefficient",
    "dijkstra": "sssp",
    "floyd_warshall": "all_pairs_shortest_paths",
    "greedy_color": "graph_colouring",
    "leiden": "label_propagation",
    "louvain": "label_propagation",
    "minimum_spanning_tree": "minimum_spanning_forest",
    "shortest_path": "sssp",
    "shortest_path_length": "sssp",
    "triangles": "triangle_count",
    "weakly_connected_components": "connected_components",
}


def _found(name: str) -> Any:
    if name not in _HOMES:
        meant = _SYNONYMS.get(name)
        near = [meant] if meant else difflib.get_close_matches(name, __all__, 1)
        hint = f"; did you mean {near[0]!r}?" if near and not name.startswith("_") else ""
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{hint}")
    found = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = found
    return found


if not TYPE_CHECKING:
    # Type checkers know every name from above; this function would hide misspelt ones.
    __getattr__ = _found


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})


class _Package(ModuleType):
    """A package in which a name is what its module defines, not the module of that name."""

    def __setattr__(self, name: str, value: Any) -> None:
        # An import binds the module that it has loaded to its name in the package.
        is_module = isinstance(value, ModuleType) and _HOMES.get(name) == name
        super().__setattr__(name, getattr(value, name) if is_module else value)


sys.modules[__name__].__class__ = _Package
