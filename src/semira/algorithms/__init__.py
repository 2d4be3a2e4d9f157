"""Graph algorithms as short programs in linear algebra, on the public API only."""

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
