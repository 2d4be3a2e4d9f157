"""The algorithms that the command line knows, one row each."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from semira.base.errors import InvalidValue
from semira.cli import summaries
from semira.cli.graphs import Graph, find_vertex, source_names
from semira.cli.summaries import Answer, Summary


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
    ecc = "ecc"
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
    changes : mapping
        What else is true of the row where an option is given: attributes by option.
    """

    function: str
    title: str
    field: str
    options: tuple[str, ...]
    summarise: Callable[[Graph, Answer], Summary]
    kind: Kind = Kind.vector
    takes_many: bool = False
    beside: tuple[str, ...] = ()
    changes: Mapping[str, Mapping[str, Any]] = dataclasses.field(default_factory=dict)

    @property
    def needs_source(self) -> bool:
        """Whether it starts from one vertex."""
        return "source" in self.options

    def under(self, given: Collection[str]) -> Row:
        """Return the row as it is where these options are given."""
        changed: dict[str, Any] = {}
        for option, change in self.changes.items():
            if option in given:
                changed |= change
        return replace(self, **changed, changes={})

    def draws(self, given: Collection[str]) -> bool:
        """Whether the options that are given leave something for a seed to draw."""
        return "seed" in self.options and ("sources" in given or "sources" not in self.options)

    def start(self, graph: Graph, text: str | None) -> Any:
        """Return the vertex that ``--source`` names, a list of them if it names several, or None.

        Raises
        ------
        InvalidValue
            It names several, of which this takes one.
        As `find_vertex`.
        """
        if not self.needs_source:
            return None
        names = source_names(graph, text)
        if len(names) > 1 and not self.takes_many:
            others = ", ".join(name for name, row in CATALOGUE.items() if row.takes_many)
            raise InvalidValue(
                f"--source {text} names {len(names)} vertices, but {self.function} starts from "
                f"one; run it for each, or one that takes several: {others}"
            )
        found = [find_vertex(graph, name) for name in names]
        return found if len(found) > 1 else found[0]

    def call(self, matrix: Any, source: Any, options: dict[str, Any]) -> Any:
        """Run it."""
        from semira import algorithms

        function = getattr(algorithms, self.function)
        places = (source,) if self.needs_source else ()
        return function(matrix, *places, **options)

    def answer(self, result: Any) -> Answer:
        """Return the result with its main field."""
        return Answer(result, getattr(result, self.field))


CATALOGUE = {
    Algorithm.bfs: Row(
        "bfs",
        "breadth-first search",
        "level",
        ("source", "method", "parents"),
        summaries.bfs,
        changes={"parents": {"beside": ("parent",)}},
    ),
    Algorithm.sssp: Row(
        "sssp", "shortest paths", "distance", ("source", "method", "delta"), summaries.sssp
    ),
    Algorithm.pagerank: Row(
        "pagerank",
        "PageRank",
        "rank",
        ("damping", "tol", "max_iterations"),
        summaries.pagerank,
    ),
    Algorithm.cc: Row(
        "connected_components",
        "connected components",
        "label",
        ("method", "sample"),
        summaries.components,
    ),
    Algorithm.tc: Row(
        "triangle_count", "triangles", "count", (), summaries.triangles, kind=Kind.number
    ),
    Algorithm.mis: Row(
        "maximal_independent_set",
        "maximal independent set",
        "member",
        ("seed",),
        summaries.independent_set,
    ),
    Algorithm.colouring: Row(
        "graph_colouring", "graph colouring", "colour", ("seed",), summaries.colouring
    ),
    Algorithm.kcore: Row(
        "core_number",
        "core numbers",
        "core",
        ("k",),
        summaries.cores,
        changes={
            "k": {
                "function": "k_core",
                "title": "k-core",
                "field": "degree",
                "summarise": summaries.core,
            }
        },
    ),
    Algorithm.ktruss: Row("k_truss", "k-truss", "truss", ("k",), summaries.truss, kind=Kind.square),
    Algorithm.hits: Row(
        "hits",
        "HITS",
        "hub",
        ("tol", "max_iterations"),
        summaries.hits,
        beside=("authority",),
    ),
    Algorithm.ppr: Row(
        "personalised_pagerank",
        "personalised PageRank",
        "rank",
        ("source", "damping", "tol", "max_iterations"),
        summaries.pagerank,
        takes_many=True,
    ),
    Algorithm.lpa: Row(
        "label_propagation",
        "label propagation",
        "label",
        ("max_iterations", "seed"),
        summaries.communities,
    ),
    Algorithm.msbfs: Row(
        "multi_source_bfs",
        "breadth-first searches",
        "level",
        ("source", "together", "max_depth"),
        summaries.many,
        kind=Kind.matrix,
        takes_many=True,
        changes={"together": {"kind": Kind.vector, "summarise": summaries.bfs}},
    ),
    Algorithm.khop: Row(
        "k_hop", "neighbourhood", "level", ("source", "k"), summaries.hops, takes_many=True
    ),
    Algorithm.bc: Row(
        "betweenness_centrality",
        "betweenness",
        "centrality",
        ("sources", "batch", "seed"),
        summaries.centrality,
    ),
    Algorithm.closeness: Row(
        "closeness_centrality",
        "closeness",
        "centrality",
        ("sources", "seed"),
        summaries.centrality,
    ),
    Algorithm.diameter: Row(
        "diameter", "diameter", "diameter", ("searches",), summaries.diameter, kind=Kind.number
    ),
    Algorithm.ecc: Row(
        "eccentricity",
        "eccentricities",
        "lower",
        ("searches",),
        summaries.eccentricities,
        beside=("upper",),
    ),
    Algorithm.lcc: Row(
        "local_clustering_coefficient", "clustering", "coefficient", (), summaries.clustering
    ),
    Algorithm.jaccard: Row(
        "jaccard_similarity",
        "Jaccard similarity",
        "similarity",
        (),
        summaries.similarity,
        kind=Kind.square,
    ),
    Algorithm.widest: Row("widest_path", "widest paths", "width", ("source",), summaries.widest),
    Algorithm.scc: Row(
        "strongly_connected_components",
        "strongly connected components",
        "label",
        (),
        summaries.components,
    ),
    Algorithm.msf: Row(
        "minimum_spanning_forest",
        "minimum spanning forest",
        "forest",
        (),
        summaries.forest,
        kind=Kind.square,
    ),
    Algorithm.apsp: Row(
        "all_pairs_shortest_paths",
        "all-pairs shortest paths",
        "distance",
        ("method",),
        summaries.all_pairs,
        kind=Kind.square,
    ),
    Algorithm.embedding: Row(
        "spectral_embedding",
        "spectral embedding",
        "vectors",
        ("dimensions", "tol", "max_iterations", "seed"),
        summaries.embedding,
        kind=Kind.matrix,
    ),
}
