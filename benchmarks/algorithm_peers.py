"""Functions of other libraries that compute the same as an algorithm; its row names them."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.algorithm_checks import Check, pattern_of
from semira.algorithms.row import Peer
from semira.bench.graphs import BenchGraph
from semira.bench.record import Record, without_result
from semira.bench.timer import TooSlow, clock, time_limit

#: Most entries for which a peer runs, and the time limit of its call.
_MOST_ENTRIES, _LIMIT_S = 100_000, 5.0

#: Modules of functions that are not in their library's root.
_PLACES = {"scipy": "scipy.sparse.csgraph"}

#: Values of placeholders in options.
_GIVEN: dict[str, Callable[[Sequence[int]], Any]] = {
    "$sources": list,
    "$source": lambda sources: sources[0],
    "$shares": lambda sources: dict.fromkeys(sources, 1.0),
}


def prepare(peer: Peer, graph: BenchGraph, *, directed: bool, weighted: bool) -> Any:
    """Return the graph in the library's format."""
    matrix = graph.weighted if weighted else pattern_of(graph)
    if peer.library == "scipy":
        return matrix
    import networkx as nx

    kind = nx.DiGraph if directed else nx.Graph
    return nx.from_scipy_sparse_array(matrix, create_using=kind)


def call(peer: Peer, made: Any, sources: Sequence[int]) -> Any:
    """Return the result of a peer for a prepared graph."""
    place = importlib.import_module(_PLACES.get(peer.library, peer.library))
    options = {
        name: _GIVEN[value](sources) if isinstance(value, str) and value in _GIVEN else value
        for name, value in peer.options.items()
    }
    return getattr(place, peer.name.partition(":")[2])(made, **options)


def compared_with(peer: Peer, field: str, *, directed: bool, weighted: bool) -> Check:
    """Return a check that compares a field of a result with the peer's result."""

    def check(graph: BenchGraph, result: Any, sources: Sequence[int]) -> dict[str, bool]:
        made = prepare(peer, graph, directed=directed, weighted=weighted)
        found = getattr(result, field), call(peer, made, sources)
        mine, theirs = (_dense(each, graph.n) for each in found)
        close = mine.shape == theirs.shape and np.allclose(mine, theirs, 1e-6, 1e-9, equal_nan=True)
        return {f"{field} differs": not close}

    check.__doc__ = "Compare with {}'s {}.".format(*peer.name.split(":"))
    return check


def _dense(thing: Any, n: int) -> NDArray[Any]:
    """Return a number, or values of vertices or pairs, as an array; NaN where there is none."""
    if hasattr(thing, "to_coo") and not hasattr(thing, "tocsr"):
        *places, values = thing.to_coo()
    elif isinstance(thing, dict):
        places, values = [np.array(list(thing), np.int64)], list(thing.values())
    elif hasattr(thing, "tocoo"):
        found = thing.tocoo()
        places, values = [found.row, found.col], found.data
    else:
        dense = np.asarray(thing, np.float64)
        return np.where(np.isinf(dense), np.nan, dense)
    filled = np.full((n,) * len(places), np.nan)
    filled[tuple(part.astype(np.int64) for part in places)] = values
    return filled


def measure_peer(
    peer: Peer,
    graph: BenchGraph,
    sources: Sequence[int],
    blank: Record,
    *,
    directed: bool,
    weighted: bool,
) -> Record:
    """Return the record of one call of a peer; its note explains a missing time."""
    blank = replace(blank, library=peer.library)
    if find_spec(peer.library) is None:
        return replace(blank, note="not installed")
    if graph.arrays.nvals > _MOST_ENTRIES:
        return replace(blank, note=f"not tried: over {_MOST_ENTRIES:,} entries")
    try:
        with time_limit(_LIMIT_S):
            made, convert_s = clock(
                lambda: prepare(peer, graph, directed=directed, weighted=weighted)
            )
            _, taken_s = clock(lambda: call(peer, made, sources))
    except (TooSlow, MemoryError) as error:
        return replace(blank, note=f"stopped: {str(error) or 'out of memory'}")
    except Exception as error:  # noqa: BLE001 - an error of a peer becomes a note
        return without_result(blank, error)
    return replace(blank, convert_s=convert_s, first_s=taken_s, warm_s=[taken_s])
