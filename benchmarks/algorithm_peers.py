"""Functions of other libraries that compute the same as an algorithm; its row names them."""

from __future__ import annotations

import gc
import importlib
import multiprocessing
import signal
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import triu

from benchmarks.algorithm_checks import Check, pattern_of
from semira.algorithms.row import Peer
from semira.bench.graphs import BenchGraph
from semira.bench.record import Record, without_result
from semira.bench.timer import Budget, clock, measure

#: Most entries for which a peer runs: a larger graph of NetworkX takes many seconds and gigabytes.
_MOST_ENTRIES = {"networkx": 1_000_000}

#: Time limit of a call.
_LIMIT_S = 5.0

#: Short calls are repeated until they took so long together, whatever the number of trials.
SHORT_S = 0.002

#: Libraries whose graphs are made once, in this process. The others may start threads for it.
_KEPT = ("networkx", "scipy")

#: Modules of functions that are not in their library's root.
_PLACES = {"scipy": "scipy.sparse.csgraph"}

#: Values of placeholders in options.
_GIVEN: dict[str, Callable[[Any, Sequence[int]], Any]] = {
    "$sources": lambda _made, sources: list(sources),
    "$source": lambda _made, sources: sources[0],
    "$count": lambda _made, sources: len(sources),
    "$shares": lambda _made, sources: dict.fromkeys(sources, 1.0),
    "$edges": lambda made, _sources: getattr(made, "get_edgelist", lambda: made.edges)(),
}


def prepare(peer: Peer, graph: BenchGraph, *, directed: bool, weighted: bool) -> Any:
    """Return the graph in the library's format."""
    return _converted(peer.library, graph, directed=directed, weighted=weighted)


@lru_cache(maxsize=8)
def _converted(library: str, graph: BenchGraph, *, directed: bool, weighted: bool) -> Any:
    """Return the graph in a library's format; a few are kept for the next algorithms."""
    matrix = graph.weighted if weighted else pattern_of(graph)
    if library == "scipy":
        return matrix
    if library == "networkx":
        import networkx as nx

        kind = nx.DiGraph if directed else nx.Graph
        return nx.from_scipy_sparse_array(matrix, create_using=kind)
    edges = (matrix if directed else triu(matrix)).tocoo()
    if library == "networkit":
        import networkit as nk

        parts = edges.data, (edges.row.astype(np.uint64), edges.col.astype(np.uint64))
        return nk.GraphFromCoo(parts, graph.n, weighted=weighted, directed=directed)
    import igraph

    lengths = {"weight": edges.data} if weighted else {}
    pairs = np.column_stack([edges.row, edges.col])
    return igraph.Graph(graph.n, pairs, directed=directed, edge_attrs=lengths)


def bind(peer: Peer, made: Any, sources: Sequence[int]) -> Callable[[], Any]:
    """Return a call of a peer for a prepared graph, without arguments."""
    name, is_method = peer.name.partition(":")[2], peer.library == "igraph"
    place = importlib.import_module(_PLACES.get(peer.library, peer.library))
    function: Any = made if is_method else place
    for part in name.removesuffix("()").split("."):
        function = getattr(function, part)
    graph = () if is_method else (made,)
    options = [
        {name: _value(value, made, sources, each) for name, value in peer.options.items()}
        for each in (sources if "$each" in peer.options.values() else [None])
    ]

    def once(given: dict[str, Any]) -> Any:
        if peer.library == "networkit":
            is_given_later = name.endswith("()")
            return function().run(*graph) if is_given_later else function(*graph, **given).run()
        found = function(*graph, **given)
        return list(found) if isinstance(found, Iterator) else found

    return lambda: [once(given) for given in options] if len(options) > 1 else once(options[0])


def _value(value: Any, made: Any, sources: Sequence[int], each: int | None) -> Any:
    """Return the value of an option."""
    if value == "$each":
        return each
    is_placeholder = isinstance(value, str) and value in _GIVEN
    return _GIVEN[value](made, sources) if is_placeholder else value


def call(peer: Peer, made: Any, sources: Sequence[int]) -> Any:
    """Return the result of a peer for a prepared graph."""
    return bind(peer, made, sources)()


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
    budget: Budget,
    *,
    directed: bool,
    weighted: bool,
) -> Record:
    """Return the record of calls of a peer; its note explains a missing time."""
    blank = replace(blank, library=peer.library)
    if find_spec(peer.library) is None:
        return replace(blank, note="not installed")
    most = _MOST_ENTRIES.get(peer.library, graph.arrays.nvals)
    if graph.arrays.nvals > most:
        return replace(blank, note=f"not tried: over {most:,} entries")
    if peer.library in _KEPT:
        prepare(peer, graph, directed=directed, weighted=weighted)

    def work() -> Record:
        made, convert_s = clock(lambda: prepare(peer, graph, directed=directed, weighted=weighted))
        run = bind(peer, made, sources)

        def limited(_trial: int = 0) -> Any:
            signal.setitimer(signal.ITIMER_REAL, _LIMIT_S)
            found = run()
            signal.setitimer(signal.ITIMER_REAL, 0)
            return found

        with warnings.catch_warnings():
            # Such as igraph's about scores that are not unique.
            warnings.simplefilter("ignore")
            _, samples = measure(limited, budget)
        return replace(blank, convert_s=convert_s, first_s=samples.first_s, warm_s=samples.warm_s)

    return _in_child(work, blank)


def _in_child(work: Callable[[], Record], blank: Record) -> Record:
    """Return the record that `work` makes in a copy of this process, which its alarm ends.

    Compiled code does not always look at signals, and what was interrupted may be in no state to be
    called again.
    """
    if "fork" not in multiprocessing.get_all_start_methods():
        return replace(blank, note="not tried: this system cannot copy a process")
    context = multiprocessing.get_context("fork")
    receiving, sending = context.Pipe(duplex=False)

    def child() -> None:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        # What came with the copy is the other process' to clean up; walking it would copy it.
        gc.freeze()
        try:
            sending.send(work())
        except Exception as error:  # noqa: BLE001 - an error of a peer becomes a note
            sending.send(without_result(blank, error))

    process = context.Process(target=child)
    with warnings.catch_warnings():
        # The copy calls nothing that the other threads of this process may hold.
        warnings.simplefilter("ignore", DeprecationWarning)
        process.start()
    sending.close()
    try:
        return receiving.recv()  # type: ignore[no-any-return]
    except EOFError:
        process.join()
        is_late = process.exitcode == -signal.SIGALRM
        reason = f"over {_LIMIT_S:g} s" if is_late else f"exit code {process.exitcode}"
        return replace(blank, note=f"stopped: {reason}")
    finally:
        process.join()
