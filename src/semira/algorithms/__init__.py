"""Graph algorithms as short programs in linear algebra, on the public API only."""

from semira.algorithms.bfs import bfs
from semira.algorithms.connected_components import connected_components
from semira.algorithms.graph_colouring import ColouringResult, graph_colouring
from semira.algorithms.hits import HITSResult, hits
from semira.algorithms.k_core import CoreNumberResult, KCoreResult, core_number, k_core
from semira.algorithms.k_truss import KTrussResult, k_truss
from semira.algorithms.label_propagation import CommunityResult, label_propagation
from semira.algorithms.maximal_independent_set import (
    IndependentSetResult,
    maximal_independent_set,
)
from semira.algorithms.pagerank import pagerank
from semira.algorithms.personalised_pagerank import personalised_pagerank
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
    "ColouringResult",
    "CommunityResult",
    "ComponentsResult",
    "CoreNumberResult",
    "HITSResult",
    "IndependentSetResult",
    "KCoreResult",
    "KTrussResult",
    "PageRankResult",
    "SSSPResult",
    "TriangleResult",
    "bfs",
    "connected_components",
    "core_number",
    "graph_colouring",
    "hits",
    "k_core",
    "k_truss",
    "label_propagation",
    "maximal_independent_set",
    "pagerank",
    "personalised_pagerank",
    "sssp",
    "triangle_count",
]
