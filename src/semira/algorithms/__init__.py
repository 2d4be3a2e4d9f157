"""Graph algorithms as short programs in linear algebra, on the public API only."""

from semira.algorithms.betweenness_centrality import BetweennessResult, betweenness_centrality
from semira.algorithms.bfs import bfs
from semira.algorithms.closeness_centrality import ClosenessResult, closeness_centrality
from semira.algorithms.connected_components import connected_components
from semira.algorithms.eccentricity import EccentricityResult, diameter, eccentricity
from semira.algorithms.jaccard_similarity import JaccardResult, jaccard_similarity
from semira.algorithms.k_hop import KHopResult, k_hop
from semira.algorithms.local_clustering_coefficient import (
    ClusteringResult,
    local_clustering_coefficient,
)
from semira.algorithms.multi_source_bfs import MultiSourceResult, multi_source_bfs
from semira.algorithms.pagerank import pagerank
from semira.algorithms.results import (
    BFSResult,
    ComponentsResult,
    PageRankResult,
    SSSPResult,
    TriangleResult,
)
from semira.algorithms.sssp import sssp
from semira.algorithms.triangle_count import triangle_count

__all__ = [
    "BFSResult",
    "BetweennessResult",
    "ClosenessResult",
    "ClusteringResult",
    "ComponentsResult",
    "EccentricityResult",
    "JaccardResult",
    "KHopResult",
    "MultiSourceResult",
    "PageRankResult",
    "SSSPResult",
    "TriangleResult",
    "betweenness_centrality",
    "bfs",
    "closeness_centrality",
    "connected_components",
    "diameter",
    "eccentricity",
    "jaccard_similarity",
    "k_hop",
    "local_clustering_coefficient",
    "multi_source_bfs",
    "pagerank",
    "sssp",
    "triangle_count",
]
