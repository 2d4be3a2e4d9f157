"""Graph algorithms as short programs in linear algebra, on the public API only."""

from semira.algorithms.all_pairs_shortest_paths import AllPairsResult, all_pairs_shortest_paths
from semira.algorithms.bfs import bfs
from semira.algorithms.connected_components import connected_components
from semira.algorithms.minimum_spanning_forest import ForestResult, minimum_spanning_forest
from semira.algorithms.pagerank import pagerank
from semira.algorithms.results import (
    BFSResult,
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
    "AllPairsResult",
    "BFSResult",
    "ComponentsResult",
    "ForestResult",
    "PageRankResult",
    "SSSPResult",
    "SpectralResult",
    "TriangleResult",
    "WidestPathResult",
    "all_pairs_shortest_paths",
    "bfs",
    "connected_components",
    "minimum_spanning_forest",
    "pagerank",
    "spectral_embedding",
    "sssp",
    "strongly_connected_components",
    "triangle_count",
    "widest_path",
]
