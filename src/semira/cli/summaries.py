"""What is printed of the results of algorithms: a few facts each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.base.locks import cached_property
from semira.cli.graphs import Graph


@dataclass(frozen=True)
class Answer:
    """A result; the entries of its main field are fetched when somebody looks at them.

    Attributes
    ----------
    result : object
        What the algorithm returned.
    main : Vector, Matrix or number
        Its main field.
    top : int
        How many of the first vertices a summary has.
    """

    result: Any
    main: Any
    top: int = 10

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
VERTEX_FACTS = ("source", "farthest", "vertex", "target")

#: Facts that are a lower and an upper bound, which may meet.
BOUND_FACTS = ("diameter", "radius")


def bfs(_graph: Graph, answer: Answer) -> Summary:
    """Return the facts of a search."""
    return {
        "reached": len(answer.indices),
        "depth": int(answer.values.max()),
        "level_sum": int(answer.values.sum()),
    }


def sssp(graph: Graph, answer: Answer) -> Summary:
    """Return the facts of shortest paths."""
    farthest = int(np.argmax(answer.values))
    return {
        "reached": len(answer.indices),
        "method": answer.result.method,
        "iterations": answer.result.iterations,
        "largest_distance": answer.values[farthest],
        "farthest": graph.label_of(answer.indices[farthest]),
        "distance_sum": answer.values.sum(dtype=np.float64),
    }


def _top(graph: Graph, answer: Answer, name: str) -> list[Summary]:
    """Return the vertices with the largest values."""
    return _largest(graph, answer.indices, answer.values, name, answer.top)


def _largest(
    graph: Graph, indices: NDArray[Any], values: NDArray[Any], name: str, most: int
) -> list[Summary]:
    top = np.lexsort((indices, -values))[:most]
    return [{"vertex": graph.label_of(indices[at]), name: values[at]} for at in top]


def route(graph: Graph, answer: Answer, target: int) -> Summary:
    """Return the facts of a shortest path to a vertex; no length and no route: there is none."""
    length = answer.main.get(target)
    found = [] if length is None else answer.result.path_to(target)
    return {
        "target": graph.label_of(target),
        "length": length,
        "route": [graph.label_of(vertex) for vertex in found],
    }


def pagerank(graph: Graph, answer: Answer) -> Summary:
    """Return the facts of ranks."""
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


def components(_graph: Graph, answer: Answer) -> Summary:
    """Return the facts of components."""
    sizes = component_sizes(answer.values)
    return {
        "components": len(sizes),
        "iterations": answer.result.iterations,
        "largest": sizes[:5],
        "single_vertices": int(np.count_nonzero(sizes == 1)),
    }


def triangles(_graph: Graph, answer: Answer) -> Summary:
    """Return the facts of triangles."""
    return {"triangles": int(answer.result.count)}


def independent_set(_graph: Graph, answer: Answer) -> Summary:
    """Return the facts of an independent set."""
    return {"members": len(answer.indices), "iterations": answer.result.iterations}


def colouring(_graph: Graph, answer: Answer) -> Summary:
    """Return the facts of a colouring."""
    return {
        "colours": answer.result.count,
        "iterations": answer.result.iterations,
        "largest": component_sizes(answer.values)[:5],
    }


def cores(_graph: Graph, answer: Answer) -> Summary:
    """Return the facts of core numbers."""
    degeneracy = answer.result.degeneracy
    return {
        "degeneracy": degeneracy,
        "iterations": answer.result.iterations,
        "innermost": int(np.count_nonzero(answer.values == degeneracy)),
        "core_sum": int(answer.values.sum()),
    }


def core(_graph: Graph, answer: Answer) -> Summary:
    """Return the facts of one core; values are the degrees inside of it."""
    return {
        "vertices": len(answer.indices),
        "edges": int(answer.values.sum()) // 2,
        "iterations": answer.result.iterations,
    }


def truss(_graph: Graph, answer: Answer) -> Summary:
    """Return the facts of a truss."""
    truss = answer.result.truss
    return {
        "edges": answer.result.count,
        "vertices": int(truss.reduce_rowwise("any").nvals),
        "iterations": answer.result.iterations,
    }


def hits(graph: Graph, answer: Answer) -> Summary:
    """Return the facts of hubs and authorities."""
    found = [vector.to_coo() for vector in (answer.result.hub, answer.result.authority)]
    hubs, authorities = (_largest(graph, at, values, "score", answer.top) for at, values in found)
    return {
        "iterations": answer.result.iterations,
        "converged": answer.result.converged,
        "top_hubs": hubs,
        "top_authorities": authorities,
    }


def communities(_graph: Graph, answer: Answer) -> Summary:
    """Return the facts of communities."""
    sizes = component_sizes(answer.values)
    return {
        "communities": len(sizes),
        "iterations": answer.result.iterations,
        "converged": answer.result.converged,
        "largest": sizes[:5],
    }


def many(_graph: Graph, answer: Answer) -> Summary:
    """Return the facts of several searches."""
    return {
        "searches": int(answer.result.level.nrows),
        "reached": len(answer.indices),
        "depth": int(answer.values.max()),
        "level_sum": int(answer.values.sum()),
    }


def hops(_graph: Graph, answer: Answer) -> Summary:
    """Return the facts of a neighbourhood."""
    return {"reached": len(answer.indices), "farthest_hop": int(answer.values.max())}


def centrality(graph: Graph, answer: Answer) -> Summary:
    """Return the facts of a centrality."""
    return {"sources": answer.result.sources, "top": _top(graph, answer, "centrality")}


def diameter(graph: Graph, answer: Answer) -> Summary:
    """Return the facts of a diameter."""
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


def eccentricities(graph: Graph, answer: Answer) -> Summary:
    """Return the facts of eccentricities, or of their bounds."""
    known = answer.values == answer.result.upper.to_coo()[1]
    return {"known": int(np.count_nonzero(known)), **diameter(graph, answer)}


def clustering(graph: Graph, answer: Answer) -> Summary:
    """Return the facts of clustering."""
    return {"average": answer.result.average, "top": _top(graph, answer, "coefficient")}


def similarity(_graph: Graph, answer: Answer) -> Summary:
    """Return the facts of similarities."""
    return {
        "pairs": len(answer.values),
        "mean": float(answer.values.sum() / max(len(answer.values), 1)),
        "largest": float(answer.values.max(initial=0)),
    }


def widest(graph: Graph, answer: Answer) -> Summary:
    """Return the facts of widest paths."""
    # The source comes first among the widest; what is asked for is who is reached worst.
    narrowest = int(np.argmin(answer.values))
    return {
        "reached": len(answer.indices),
        "iterations": answer.result.iterations,
        "least_width": float(answer.values[narrowest]),
        "vertex": graph.label_of(answer.indices[narrowest]),
    }


def forest(_graph: Graph, answer: Answer) -> Summary:
    """Return the facts of a spanning forest."""
    forest = answer.result
    return {"weight": forest.weight, "edges": int(forest.forest.nvals), "trees": forest.trees,
            "rounds": forest.iterations}  # fmt: skip


def all_pairs(graph: Graph, answer: Answer) -> Summary:
    """Return the facts of distances of all pairs."""
    distance = answer.result.distance
    pairs, n = int(distance.nvals), graph.arrays.nrows
    return {
        "method": answer.result.method,
        "pairs": pairs - n,
        "largest_distance": float(distance.reduce_scalar("max", allow_empty=False)) if n else None,
        "distance_sum": float(distance.reduce_scalar("plus[FP64]", allow_empty=False)),
    }


def embedding(_graph: Graph, answer: Answer) -> Summary:
    """Return the facts of an embedding."""
    found = answer.result
    return {"iterations": found.iterations, "converged": found.converged, "values": found.values,
            "largest_residual": found.residuals.max()}  # fmt: skip
