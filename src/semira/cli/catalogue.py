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


class Picture(StrEnum):
    """How a result is drawn."""

    none = "none"
    top = "top"  #: the first vertices by name, and all values
    sizes = "sizes"  #: the sizes of groups of vertices with equal values
    counts = "counts"  #: how many vertices, or pairs, have each value


@dataclass(frozen=True, slots=True)
class Row:
    """One algorithm.

    Attributes
    ----------
    function : str
        Its name in `semira.algorithms`.
    title : str
    answers : str
        What it answers, in a few words.
    field : str
        Main field of its result.
    summarise : callable
        (graph, answer) to the facts that are printed.
    picture : Picture
    options : mapping of str to str
        Help texts by name. The function takes each as a keyword argument, but for those of
        `ASIDE`.
    kind : Kind
        Of the main field.
    takes_many : bool
        Whether it may start from several vertices.
    beside : tuple of str
        Further fields that belong to the whole result, vectors as the main one.
    route : str
        The keyword argument that makes the function keep what ``--target`` walks back along.
    changes : mapping
        What else is true of the row where an option is given: attributes by option.
    """

    function: str
    title: str
    answers: str
    field: str
    summarise: Callable[[Graph, Answer], Summary]
    picture: Picture
    options: Mapping[str, str] = dataclasses.field(default_factory=dict)
    kind: Kind = Kind.vector
    takes_many: bool = False
    beside: tuple[str, ...] = ()
    route: str = ""
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

    def answer(self, result: Any, top: int = 10) -> Answer:
        """Return the result with its main field; so many of the first vertices are summed up."""
        return Answer(result, getattr(result, self.field), top)


#: Options that are not passed on to the function as they are.
ASIDE = ("source", "target", "top")

_NUMBERS = "a number that counts from 0 (vertex k of a .gr or .mtx file is k-1)"
_MOST = "Default: the vertex with most outgoing edges."
_FROM = {"source": f"Where to start: a name of the file, or {_NUMBERS}. {_MOST}"}
_FROM_MANY = {
    "source": "Where to start, several vertices between commas: names of the file, or numbers "
    f"that count from 0. {_MOST}"
}
_TO = {"target": "Also print a shortest path to this vertex, and its length."}
_TOP = {"top": "How many of the first vertices to print; default 10."}
_WEIGHTED = {"weighted": "Share ranks out by the weights of edges; default: equally, --unweighted."}
_SURFER = {
    "damping": "How often the surfer follows an edge; default 0.85.",
    "tol": "Stop when the ranks change by less in all; default 1e-6.",
    "max_iterations": "Stop after so many iterations; default 100.",
    **_WEIGHTED,
}
_SEED = {"seed": "Of what is drawn, and of --weights random; default 0."}
_SOURCES = {"sources": "Draw so many sources; default: all vertices.", **_SEED}
_SEARCHES = {"searches": "Stop after so many searches; default: when all is known."}

CATALOGUE = {
    Algorithm.bfs: Row(
        "bfs",
        "breadth-first search",
        "hops from a vertex to every other",
        "level",
        summaries.bfs,
        Picture.counts,
        {
            **_FROM,
            **_TO,
            "method": "auto (the default: the planner chooses), vertex-centric-push, "
            "vertex-centric-pull, edge-centric, frontier-global-queue, frontier-block-queue or "
            "one-block-for-small-levels.",
            "parents": "--out also has the vertex that each one was found from.",
        },
        route="parents",
        changes={"parents": {"beside": ("parent",)}},
    ),
    Algorithm.sssp: Row(
        "sssp",
        "shortest paths",
        "distances from a vertex along weighted edges",
        "distance",
        summaries.sssp,
        Picture.counts,
        {
            **_FROM,
            **_TO,
            "algorithm": "auto (the default), bellman_ford, window, delta_stepping or "
            "asynchronous.",
            "delta": "Width of the window, or of a bucket of delta_stepping; default: from means "
            "over the graph.",
        },
        route="predecessors",
    ),
    Algorithm.pagerank: Row(
        "pagerank",
        "PageRank",
        "how often a random surfer visits each vertex",
        "rank",
        summaries.pagerank,
        Picture.top,
        _SURFER | _TOP,
    ),
    Algorithm.cc: Row(
        "connected_components",
        "connected components",
        "which vertices are connected, whatever way edges point",
        "label",
        summaries.components,
        Picture.sizes,
        {
            "algorithm": "auto (the default), spread, sample or search.",
            "sample": "Edges of each vertex that --algorithm sample begins with; default 2.",
        },
    ),
    Algorithm.tc: Row(
        "triangle_count",
        "triangles",
        "number of triangles",
        "count",
        summaries.triangles,
        Picture.none,
        kind=Kind.number,
    ),
    Algorithm.mis: Row(
        "maximal_independent_set",
        "maximal independent set",
        "a set of vertices without neighbours in it",
        "member",
        summaries.independent_set,
        Picture.none,
        _SEED,
    ),
    Algorithm.colouring: Row(
        "graph_colouring",
        "graph colouring",
        "a colour for each vertex that no neighbour has",
        "colour",
        summaries.colouring,
        Picture.sizes,
        _SEED,
    ),
    Algorithm.kcore: Row(
        "core_number",
        "core numbers",
        "core number of each vertex; with --k that core",
        "core",
        summaries.cores,
        Picture.counts,
        {
            "k": "The k-core itself, and the neighbours that each of its vertices has inside; "
            "default: core numbers.",
        },
        changes={
            "k": {
                "function": "k_core",
                "title": "k-core",
                "field": "degree",
                "summarise": summaries.core,
            }
        },
    ),
    Algorithm.ktruss: Row(
        "k_truss",
        "k-truss",
        "edges that lie in --k - 2 triangles of each other",
        "truss",
        summaries.truss,
        Picture.none,
        {"k": "Triangles of each edge, and 2 more; default 3."},
        kind=Kind.square,
    ),
    Algorithm.hits: Row(
        "hits",
        "HITS",
        "hubs and authorities",
        "hub",
        summaries.hits,
        Picture.top,
        {
            "tol": "Stop when scores change by less in all; default 1e-6.",
            "max_iterations": "Stop after so many iterations; default 100.",
            "weighted": "Multiply scores by the weights of edges; default: --unweighted.",
            **_TOP,
        },
        beside=("authority",),
    ),
    Algorithm.ppr: Row(
        "personalised_pagerank",
        "personalised PageRank",
        "PageRank as seen from one vertex, or from several",
        "rank",
        summaries.pagerank,
        Picture.top,
        _FROM_MANY | _SURFER | _TOP,
        takes_many=True,
    ),
    Algorithm.lpa: Row(
        "label_propagation",
        "label propagation",
        "communities",
        "label",
        summaries.communities,
        Picture.sizes,
        {"max_iterations": "Stop after so many iterations; default 100.", **_SEED},
    ),
    Algorithm.msbfs: Row(
        "multi_source_bfs",
        "breadth-first searches",
        "hops from each of several vertices, or from the nearest",
        "level",
        summaries.many,
        Picture.counts,
        {
            **_FROM_MANY,
            "together": "One search from all sources, for the hops from the nearest; default: "
            "one search each.",
            "max_depth": "Search no further than so many hops; default: no limit.",
        },
        kind=Kind.matrix,
        takes_many=True,
        changes={"together": {"kind": Kind.vector, "summarise": summaries.bfs}},
    ),
    Algorithm.khop: Row(
        "k_hop",
        "neighbourhood",
        "vertices within --k hops",
        "level",
        summaries.hops,
        Picture.counts,
        {**_FROM_MANY, "k": "How many hops; default 1."},
        takes_many=True,
    ),
    Algorithm.bc: Row(
        "betweenness_centrality",
        "betweenness",
        "how many shortest paths lead through each vertex",
        "centrality",
        summaries.centrality,
        Picture.top,
        {
            **_SOURCES,
            "batch": "Sources at a time; default: 1 on cuda, else 32.",
            **_TOP,
        },
    ),
    Algorithm.closeness: Row(
        "closeness_centrality",
        "closeness",
        "how near each vertex is to the others",
        "centrality",
        summaries.centrality,
        Picture.top,
        _SOURCES | _TOP,
    ),
    Algorithm.diameter: Row(
        "diameter",
        "diameter",
        "the longest shortest path, and the radius; or bounds of both",
        "diameter",
        summaries.diameter,
        Picture.none,
        _SEARCHES,
        kind=Kind.number,
    ),
    Algorithm.ecc: Row(
        "eccentricity",
        "eccentricities",
        "how far the farthest vertex is from each; or bounds of it",
        "lower",
        summaries.eccentricities,
        Picture.counts,
        _SEARCHES,
        beside=("upper",),
    ),
    Algorithm.lcc: Row(
        "local_clustering_coefficient",
        "clustering",
        "what share of the neighbours of a vertex are neighbours",
        "coefficient",
        summaries.clustering,
        Picture.top,
        _TOP,
    ),
    Algorithm.jaccard: Row(
        "jaccard_similarity",
        "Jaccard similarity",
        "how much the neighbourhoods of adjacent vertices overlap",
        "similarity",
        summaries.similarity,
        Picture.counts,
        kind=Kind.square,
    ),
    Algorithm.widest: Row(
        "widest_path",
        "widest paths",
        "widths of widest paths from a vertex",
        "width",
        summaries.widest,
        Picture.counts,
        _FROM,
    ),
    Algorithm.scc: Row(
        "strongly_connected_components",
        "strongly connected components",
        "which vertices reach each other along edges",
        "label",
        summaries.components,
        Picture.sizes,
    ),
    Algorithm.msf: Row(
        "minimum_spanning_forest",
        "minimum spanning forest",
        "the lightest edges that connect each component, each edge once",
        "forest",
        summaries.forest,
        Picture.none,
        kind=Kind.square,
    ),
    Algorithm.apsp: Row(
        "all_pairs_shortest_paths",
        "all-pairs shortest paths",
        "distances of all pairs of vertices",
        "distance",
        summaries.all_pairs,
        Picture.counts,
        {"algorithm": "auto (the default), floyd_warshall or sources."},
        kind=Kind.square,
    ),
    Algorithm.embedding: Row(
        "spectral_embedding",
        "spectral embedding",
        "smallest eigenpairs of the normalised Laplacian",
        "vectors",
        summaries.embedding,
        Picture.none,
        {
            "dimensions": "Eigenpairs wanted; default 2.",
            "tol": "Stop when the residuals are less; default 1e-6.",
            "max_iterations": "Stop after so many iterations; default 500.",
            **_SEED,
        },
        kind=Kind.matrix,
    ),
}
