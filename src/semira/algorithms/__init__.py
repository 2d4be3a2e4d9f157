"""Graph algorithms as short programs in linear algebra, on the public API only."""

from semira.algorithms.bfs import bfs
from semira.algorithms.connected_components import connected_components
from semira.algorithms.maximal_independent_set import (
    IndependentSetResult,
    maximal_independent_set,
)
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
    "ComponentsResult",
    "IndependentSetResult",
    "PageRankResult",
    "SSSPResult",
    "TriangleResult",
    "bfs",
    "connected_components",
    "maximal_independent_set",
    "pagerank",
    "sssp",
    "triangle_count",
]
