"""The algorithms that the command line knows, one row each."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.cli.graphs import Graph, find_vertex


class Algorithm(StrEnum):
    """Names on the command line."""

    bfs = "bfs"
    sssp = "sssp"
    pagerank = "pagerank"
    cc = "cc"
    tc = "tc"
    mis = "mis"
    colouring = "colouring"
    kcore = "kcore"
    ktruss = "ktruss"
    hits = "hits"
    ppr = "ppr"
    lpa = "lpa"
    msbfs = "msbfs"
    khop = "khop"
    bc = "bc"
    closeness = "closeness"
    diameter = "diameter"
    lcc = "lcc"
    jaccard = "jaccard"
    widest = "widest"
    scc = "scc"
    msf = "msf"
    apsp = "apsp"
    embedding = "embedding"


class Kind(StrEnum):
    """What the main field of a result is."""

    vector = "vector"
    square = "square"  #: a matrix of vertices by vertices
    matrix = "matrix"  #: any other
    number = "number"


@dataclass(frozen=True)
class Answer:
    """A result; the entries of its main field are fetched when somebody looks at them.

    Attributes
    ----------
    result : object
        What the algorithm returned.
    main : Vector, Matrix or number
        Its main field.
    """

    result: Any
    main: Any

    @cached_property
    def _entries(self) -> tuple[NDArray[Any], NDArray[Any]]:
        *_, indices, values = self.main.to_coo()
        return indices.astype(np.int64), values

    @property
    def indices(self) -> NDArray[Any]:
        """Vertices with an entry, of a matrix its columns."""
        return self._entries[0]

    @property
    def values(self) -> NDArray[Any]:
        """The values of these entries."""
        return self._entries[1]


Summary = dict[str, Any]

#: Facts of summaries that name a vertex.
VERTEX_FACTS = ("source", "farthest", "vertex")

#: Facts that are a lower and an upper bound, which may meet.
BOUND_FACTS = ("diameter", "radius")


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
    kind : Kind
        Of the main field.
    takes_many : bool
        Whether it may start from several vertices.
    beside : tuple of str
        Further fields that belong to the whole result, vectors as the main one.
    """

    function: str
    title: str
    field: str
    options: tuple[str, ...]
    summarise: Callable[[Graph, Answer], Summary]
    kind: Kind = Kind.vector
    takes_many: bool = False
    beside: tuple[str, ...] = ()

    @property
    def needs_source(self) -> bool:
        """Whether it starts from one vertex."""
        return "source" in self.options

    def draws(self, given: Collection[str]) -> bool:
        """Whether the options that are given leave something for a seed to draw."""
        return "seed" in self.options and ("sources" in given or "sources" not in self.options)

    def start(self, graph: Graph, text: str | None) -> Any:
        """Return the vertex that ``--source`` names, a list if it may be several, or None."""
        if not self.needs_source:
            return None
        if self.takes_many and text is not None:
            return [find_vertex(graph, part) for part in text.split(",")]
        return find_vertex(graph, text)

    def call(self, matrix: Any, source: Any, options: dict[str, Any]) -> Any:
        """Run it."""
        from semira import algorithms

        function = getattr(algorithms, self.function)
        places = (source,) if self.needs_source else ()
        return function(matrix, *places, **options)

    def answer(self, result: Any) -> Answer:
        """Return the result with its main field."""
        return Answer(result, getattr(result, self.field))


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


def _top(graph: Graph, answer: Answer, name: str) -> list[Summary]:
    """Return the five vertices with the largest values."""
    return _largest(graph, answer.indices, answer.values, name)


def _largest(graph: Graph, indices: NDArray[Any], values: NDArray[Any], name: str) -> list[Summary]:
    top = np.lexsort((indices, -values))[:5]
    return [{"vertex": graph.label_of(indices[at]), name: values[at]} for at in top]


def _summarise_pagerank(graph: Graph, answer: Answer) -> Summary:
    return {
        "iterations": answer.result.iterations,
        "converged": answer.result.converged,
        "rank_sum": answer.values.sum(),
        "top": _top(graph, answer, "rank"),
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


def _summarise_independent_set(_graph: Graph, answer: Answer) -> Summary:
    return {"members": len(answer.indices), "iterations": answer.result.iterations}


def _summarise_colouring(_graph: Graph, answer: Answer) -> Summary:
    return {
        "colours": answer.result.count,
        "iterations": answer.result.iterations,
        "largest": component_sizes(answer.values)[:5],
    }


def _summarise_cores(_graph: Graph, answer: Answer) -> Summary:
    degeneracy = answer.result.degeneracy
    return {
        "degeneracy": degeneracy,
        "iterations": answer.result.iterations,
        "innermost": int(np.count_nonzero(answer.values == degeneracy)),
        "core_sum": int(answer.values.sum()),
    }


def _summarise_truss(_graph: Graph, answer: Answer) -> Summary:
    truss = answer.result.truss
    return {
        "edges": answer.result.count,
        "vertices": int(truss.reduce_rowwise("any").nvals),
        "iterations": answer.result.iterations,
    }


def _summarise_hits(graph: Graph, answer: Answer) -> Summary:
    found = [vector.to_coo() for vector in (answer.result.hub, answer.result.authority)]
    hubs, authorities = (_largest(graph, at, values, "score") for at, values in found)
    return {
        "iterations": answer.result.iterations,
        "converged": answer.result.converged,
        "top_hubs": hubs,
        "top_authorities": authorities,
    }


def _summarise_communities(_graph: Graph, answer: Answer) -> Summary:
    sizes = component_sizes(answer.values)
    return {
        "communities": len(sizes),
        "iterations": answer.result.iterations,
        "converged": answer.result.converged,
        "largest": sizes[:5],
    }


def _summarise_many(_graph: Graph, answer: Answer) -> Summary:
    return {
        "searches": int(answer.result.level.nrows),
        "reached": len(answer.indices),
        "depth": int(answer.values.max()),
        "level_sum": int(answer.values.sum()),
    }


def _summarise_hops(_graph: Graph, answer: Answer) -> Summary:
    return {"reached": len(answer.indices), "farthest_hop": int(answer.values.max())}


def _summarise_centrality(graph: Graph, answer: Answer) -> Summary:
    return {"sources": answer.result.sources, "top": _top(graph, answer, "centrality")}


def _summarise_diameter(graph: Graph, answer: Answer) -> Summary:
    sizes = graph.component_sizes()
    single = int(np.count_nonzero(sizes == 1))
    scope = "the largest and the smallest eccentricity"
    if len(sizes) > 1:
        scope += " within a component" + ("; a single vertex has 0" if single else "")
    return {
        "diameter": list(answer.result.diameter),
        "radius": list(answer.result.radius),
        "searches": answer.result.searches,
        "components": len(sizes),
        "single_vertices": single,
        "scope": scope,
    }


def _summarise_clustering(graph: Graph, answer: Answer) -> Summary:
    return {"average": answer.result.average, "top": _top(graph, answer, "coefficient")}


def _summarise_similarity(_graph: Graph, answer: Answer) -> Summary:
    return {
        "pairs": len(answer.values),
        "mean": float(answer.values.sum() / max(len(answer.values), 1)),
        "largest": float(answer.values.max(initial=0)),
    }


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
        "connected_components",
        "connected components",
        "label",
        ("method",),
        _summarise_components,
    ),
    Algorithm.tc: Row(
        "triangle_count", "triangles", "count", (), _summarise_triangles, kind=Kind.number
    ),
    Algorithm.mis: Row(
        "maximal_independent_set",
        "maximal independent set",
        "member",
        ("seed",),
        _summarise_independent_set,
    ),
    Algorithm.colouring: Row(
        "graph_colouring", "graph colouring", "colour", ("seed",), _summarise_colouring
    ),
    Algorithm.kcore: Row("core_number", "core numbers", "core", (), _summarise_cores),
    Algorithm.ktruss: Row(
        "k_truss", "k-truss", "truss", ("k",), _summarise_truss, kind=Kind.square
    ),
    Algorithm.hits: Row(
        "hits",
        "HITS",
        "hub",
        ("tol", "max_iterations"),
        _summarise_hits,
        beside=("authority",),
    ),
    Algorithm.ppr: Row(
        "personalised_pagerank",
        "personalised PageRank",
        "rank",
        ("source", "damping", "tol", "max_iterations"),
        _summarise_pagerank,
    ),
    Algorithm.lpa: Row(
        "label_propagation",
        "label propagation",
        "label",
        ("max_iterations", "seed"),
        _summarise_communities,
    ),
    Algorithm.msbfs: Row(
        "multi_source_bfs",
        "breadth-first searches",
        "level",
        ("source",),
        _summarise_many,
        kind=Kind.matrix,
        takes_many=True,
    ),
    Algorithm.khop: Row(
        "k_hop", "neighbourhood", "level", ("source", "k"), _summarise_hops, takes_many=True
    ),
    Algorithm.bc: Row(
        "betweenness_centrality",
        "betweenness",
        "centrality",
        ("sources", "batch", "seed"),
        _summarise_centrality,
    ),
    Algorithm.closeness: Row(
        "closeness_centrality",
        "closeness",
        "centrality",
        ("sources", "seed"),
        _summarise_centrality,
    ),
    Algorithm.diameter: Row(
        "diameter", "diameter", "diameter", ("searches",), _summarise_diameter, kind=Kind.number
    ),
    Algorithm.lcc: Row(
        "local_clustering_coefficient", "clustering", "coefficient", (), _summarise_clustering
    ),
    Algorithm.jaccard: Row(
        "jaccard_similarity",
        "Jaccard similarity",
        "similarity",
        (),
        _summarise_similarity,
        kind=Kind.square,
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
        "forest",
        (),
        _summarise_forest,
        kind=Kind.square,
    ),
    Algorithm.apsp: Row(
        "all_pairs_shortest_paths",
        "all-pairs shortest paths",
        "distance",
        ("method",),
        _summarise_all_pairs,
        kind=Kind.square,
    ),
    Algorithm.embedding: Row(
        "spectral_embedding",
        "spectral embedding",
        "vectors",
        ("dimensions", "tol", "max_iterations"),
        _summarise_embedding,
        kind=Kind.matrix,
    ),
}
