"""Functions of SciPy and NetworkX that compute what an algorithm does, for small graphs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any

from semira.bench.algorithm_checks import pattern_of
from semira.bench.graphs import BenchGraph
from semira.bench.record import Record, without_result
from semira.bench.timer import TooSlow, clock, time_limit
from semira.bench.verify import DAMPING, TOLERANCE

#: Entries beyond which NetworkX is not tried, and the longest call.
_MOST_ENTRIES, _LIMIT_S = 100_000, 5.0


@dataclass(frozen=True, slots=True)
class Peer:
    """One function of another library.

    Attributes
    ----------
    library : {"scipy", "networkx"}
    prepare : callable
        Graph to the library's own object.
    run : callable
        (object, sources) to a complete result.
    """

    library: str
    prepare: Callable[[BenchGraph], Any]
    run: Callable[[Any, Sequence[int]], Any]


def _filled(options: dict[str, Any], sources: Sequence[int]) -> dict[str, Any]:
    """Return options; what is a function is given the sources."""
    return {key: each(sources) if callable(each) else each for key, each in options.items()}


def _by_networkx(
    name: str, *, directed: bool = False, pattern: bool = False, **options: Any
) -> Peer:
    def prepare(graph: BenchGraph) -> Any:
        import networkx as nx

        kind = nx.DiGraph if directed else nx.Graph
        matrix = pattern_of(graph) if pattern else graph.weighted
        return nx.from_scipy_sparse_array(matrix, create_using=kind)

    def run(made: Any, sources: Sequence[int]) -> Any:
        import networkx as nx

        return getattr(nx, name)(made, **_filled(options, sources))

    return Peer("networkx", prepare, run)


def _by_scipy(name: str, *, pattern: bool = True, **options: Any) -> Peer:
    def prepare(graph: BenchGraph) -> Any:
        return pattern_of(graph) if pattern else graph.weighted

    def run(made: Any, sources: Sequence[int]) -> Any:
        from scipy.sparse import csgraph

        return getattr(csgraph, name)(made, **_filled(options, sources))

    return Peer("scipy", prepare, run)


def _many(sources: Sequence[int]) -> list[int]:
    return list(sources)


def _first(sources: Sequence[int]) -> int:
    return sources[0]


def _all_of(sources: Sequence[int]) -> dict[int, float]:
    return dict.fromkeys(sources, 1.0)


#: By case of `semira.bench.algorithms`.
PEERS = {
    "multi-source BFS": _by_scipy("dijkstra", unweighted=True, indices=_many),
    "3 hops": _by_scipy("dijkstra", unweighted=True, indices=_first, limit=3),
    "strong components": _by_scipy("connected_components", connection="strong"),
    "spanning forest": _by_scipy("minimum_spanning_tree", pattern=False),
    "all pairs floyd_warshall": _by_scipy("floyd_warshall", pattern=False),
    "all pairs sources": _by_scipy("dijkstra", pattern=False),
    "diameter": _by_networkx("diameter", usebounds=True),
    "independent set": _by_networkx("maximal_independent_set", seed=0),
    "colouring": _by_networkx("greedy_color", strategy="random_sequential"),
    "core numbers": _by_networkx("core_number"),
    "3-core": _by_networkx("k_core", k=3),
    "4-truss": _by_networkx("k_truss", k=4),
    "clustering": _by_networkx("clustering"),
    "HITS": _by_networkx("hits", directed=True, pattern=True),
    "personalised PageRank": _by_networkx(
        "pagerank", directed=True, alpha=DAMPING, personalization=_all_of, weight=None,
        tol=TOLERANCE / 1000, max_iter=1000,
    ),
}  # fmt: skip


def measure_peer(name: str, graph: BenchGraph, sources: Sequence[int], blank: Record) -> Record:
    """Return the record of one call of the peer of a case; its note says why there is no time."""
    peer = PEERS[name]
    blank = replace(blank, library=peer.library)
    if find_spec(peer.library) is None:
        return replace(blank, note="not installed")
    if graph.arrays.nvals > _MOST_ENTRIES:
        return replace(blank, note=f"not tried: over {_MOST_ENTRIES:,} entries")
    try:
        with time_limit(_LIMIT_S):
            made, convert_s = clock(lambda: peer.prepare(graph))
            _, taken_s = clock(lambda: peer.run(made, sources))
    except (TooSlow, MemoryError) as error:
        return replace(blank, note=f"stopped: {str(error) or 'out of memory'}")
    except Exception as error:  # noqa: BLE001 - what a peer refuses is told, not raised
        return without_result(blank, error)
    return replace(blank, convert_s=convert_s, first_s=taken_s, warm_s=[taken_s])
