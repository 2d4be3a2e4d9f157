"""The algorithms that the command line knows, one row each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.cli.graphs import Graph


class Algorithm(StrEnum):
    """Names on the command line."""

    bfs = "bfs"
    sssp = "sssp"
    pagerank = "pagerank"
    cc = "cc"
    tc = "tc"
    widest = "widest"
    scc = "scc"
    msf = "msf"
    apsp = "apsp"
    embedding = "embedding"


@dataclass(frozen=True, slots=True)
class Answer:
    """A result on the host.

    Attributes
    ----------
    indices : ndarray, shape (k,)
        Vertices with an entry; empty for a single number.
    values : ndarray, shape (k,)
    result : object
        What the algorithm returned.
    """

    indices: NDArray[Any]
    values: NDArray[Any]
    result: Any


Summary = dict[str, Any]

#: Facts of summaries that name a vertex.
VERTEX_FACTS = ("source", "farthest", "vertex")


@dataclass(frozen=True, slots=True)
class Row:
    """One algorithm.

    Attributes
    ----------
    function : str
        Its name in `semira.algorithms`.
    title : str
    field : str
        Main field of its result.
    options : tuple of str
        Keyword arguments that the command line may pass on; ``source`` is positional.
    summarise : callable
        (graph, answer) to the facts that are printed.
    is_vector : bool
        Whether the main field is a Vector.
    """

    function: str
    title: str
    field: str
    options: tuple[str, ...]
    summarise: Callable[[Graph, Answer], Summary]
    is_vector: bool = True

    @property
    def needs_source(self) -> bool:
        """Whether it starts from one vertex."""
        return "source" in self.options

    def call(self, matrix: Any, source: int | None, options: dict[str, Any]) -> Any:
        """Run it."""
        from semira import algorithms

        function = getattr(algorithms, self.function)
        places = (source,) if self.needs_source else ()
        return function(matrix, *places, **options)

    def answer(self, result: Any) -> Answer:
        """Fetch the main field."""
        if not self.is_vector:
            return Answer(np.empty(0, np.int64), np.empty(0), result)
        indices, values = getattr(result, self.field).to_coo()
        return Answer(indices.astype(np.int64), values, result)


def _summarise_bfs(_graph: Graph, answer: Answer) -> Summary:
    return {
        "reached": len(answer.indices),
        "depth": int(answer.values.max()),
        "level_sum": int(answer.values.sum()),
    }


def _summarise_sssp(graph: Graph, answer: Answer) -> Summary:
    farthest = int(np.argmax(answer.values))
    return {
        "reached": len(answer.indices),
        "iterations": answer.result.iterations,
        "largest_distance": answer.values[farthest],
        "farthest": graph.label_of(answer.indices[farthest]),
        "distance_sum": answer.values.sum(dtype=np.float64),
    }


def _summarise_pagerank(graph: Graph, answer: Answer) -> Summary:
    top = np.lexsort((answer.indices, -answer.values))[:5]
    return {
        "iterations": answer.result.iterations,
        "converged": answer.result.converged,
        "rank_sum": answer.values.sum(),
        "top": [
            {"vertex": graph.label_of(answer.indices[at]), "rank": answer.values[at]} for at in top
        ],
    }


def component_sizes(labels: NDArray[Any]) -> NDArray[np.int64]:
    """Return the number of vertices of each component, largest first."""
    sizes = np.unique(labels, return_counts=True)[1]
    return np.sort(sizes)[::-1].astype(np.int64)


def _summarise_components(_graph: Graph, answer: Answer) -> Summary:
    sizes = component_sizes(answer.values)
    return {
        "components": len(sizes),
        "iterations": answer.result.iterations,
        "largest": sizes[:5],
        "single_vertices": int(np.count_nonzero(sizes == 1)),
    }


def _summarise_triangles(_graph: Graph, answer: Answer) -> Summary:
    return {"triangles": int(answer.result.count)}


def _summarise_widest(graph: Graph, answer: Answer) -> Summary:
    # The source comes first among the widest; what is asked for is who is reached worst.
    narrowest = int(np.argmin(answer.values))
    return {
        "reached": len(answer.indices),
        "iterations": answer.result.iterations,
        "least_width": float(answer.values[narrowest]),
        "vertex": graph.label_of(answer.indices[narrowest]),
    }


def _summarise_forest(_graph: Graph, answer: Answer) -> Summary:
    forest = answer.result
    return {"weight": forest.weight, "edges": int(forest.forest.nvals), "trees": forest.trees,
            "rounds": forest.iterations}  # fmt: skip


def _summarise_all_pairs(graph: Graph, answer: Answer) -> Summary:
    distance = answer.result.distance
    pairs, n = int(distance.nvals), graph.arrays.nrows
    return {
        "method": answer.result.method,
        "pairs": pairs - n,
        "largest_distance": float(distance.reduce_scalar("max", allow_empty=False)) if n else None,
        "distance_sum": float(distance.reduce_scalar("plus[FP64]", allow_empty=False)),
    }


def _summarise_embedding(_graph: Graph, answer: Answer) -> Summary:
    found = answer.result
    return {"iterations": found.iterations, "converged": found.converged, "values": found.values,
            "largest_residual": found.residuals.max()}  # fmt: skip


CATALOGUE = {
    Algorithm.bfs: Row("bfs", "breadth-first search", "level", ("source",), _summarise_bfs),
    Algorithm.sssp: Row(
        "sssp", "shortest paths", "distance", ("source", "method", "delta"), _summarise_sssp
    ),
    Algorithm.pagerank: Row(
        "pagerank",
        "PageRank",
        "rank",
        ("damping", "tol", "max_iterations"),
        _summarise_pagerank,
    ),
    Algorithm.cc: Row(
        "connected_components", "connected components", "label", (), _summarise_components
    ),
    Algorithm.tc: Row(
        "triangle_count", "triangles", "count", (), _summarise_triangles, is_vector=False
    ),
    Algorithm.widest: Row("widest_path", "widest paths", "width", ("source",), _summarise_widest),
    Algorithm.scc: Row(
        "strongly_connected_components",
        "strongly connected components",
        "label",
        (),
        _summarise_components,
    ),
    Algorithm.msf: Row(
        "minimum_spanning_forest",
        "minimum spanning forest",
        "weight",
        (),
        _summarise_forest,
        is_vector=False,
    ),
    Algorithm.apsp: Row(
        "all_pairs_shortest_paths",
        "all-pairs shortest paths",
        "distance",
        ("method",),
        _summarise_all_pairs,
        is_vector=False,
    ),
    Algorithm.embedding: Row(
        "spectral_embedding",
        "spectral embedding",
        "vectors",
        ("dimensions", "tol", "max_iterations"),
        _summarise_embedding,
        is_vector=False,
    ),
}
