"""The measurement of algorithms: five kernels on several graphs, next to the peers."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from semira.base.errors import DeviceUnavailable, InvalidValue, MissingFile
from semira.base.settings import override, settings
from semira.bench.copies import measure_copies
from semira.bench.device import array_module, free_memory
from semira.bench.environment import describe_environment
from semira.bench.graphs import BenchGraph, load_bench_graph
from semira.bench.libraries import FROM_SOURCE, KERNELS, Library
from semira.bench.ours import VARIANTS, semira_library
from semira.bench.peers import HOST_PEERS, PEERS, open_peer
from semira.bench.record import Record, append_records, require_some, start_file
from semira.bench.runner import PRESETS, run_kernel
from semira.bench.sources import measure_sources


@dataclass(frozen=True, slots=True)
class Request:
    """What to measure."""

    graphs: Sequence[str]
    algorithms: Sequence[str] = KERNELS
    peers: Sequence[str] = HOST_PEERS
    #: A key of `PRESETS`.
    preset: str = "default"
    #: `trials`, `seconds`: in place of the preset's.
    trials: int | None = None
    seconds: float | None = None
    device: str = "cpu"
    #: Further devices that Semira computes on; in records its name is ``semira on DEVICE`` there.
    beside: Sequence[str] = ()
    #: Options pinned for every product of ours.
    plan: dict[str, Any] = field(default_factory=dict)
    #: Folder of named graphs.
    data: Path | None = None
    #: Every edge in both directions for every algorithm, as the tables of GPU libraries have it.
    both_ways: bool = False
    #: Also ours with the arguments of `VARIANTS`, and first calls on another fresh matrix.
    variants: bool = False
    #: With variants: also what copies of a matrix cost.
    copies: bool = True
    #: Also searches of ours from so many vertices drawn with a seed; 0: none.
    sources: int = 0
    #: Seconds after which no further kernel or graph begins; what is left out is said.
    limit: float = math.inf
    #: Add to the records that are in the file.
    append: bool = False


def _check(names: Iterable[str], known: Iterable[str], what: str) -> None:
    valid = list(known)
    for name in names:
        if name not in valid:
            raise InvalidValue(f"unknown {what} {name!r}; choose among {', '.join(valid)}")


def run_suite(
    request: Request,
    *,
    out: Path | None = None,
    say: Callable[[str], None] = lambda _text: None,
    done: Callable[[Record], None] = lambda _record: None,
) -> list[Record]:
    """Measure, check and record.

    A line is written to `out` as soon as a case is checked. `say` takes remarks: graphs that are
    absent, peers that are not installed; `done` takes each record. Raises InvalidValue if an
    algorithm, a peer or a preset is unknown, or nothing was measured; FileWriteError if `out`
    cannot be written; DeviceUnavailable if this machine lacks the device.
    """
    _check(request.algorithms, KERNELS, "algorithm")
    _check(request.peers, PEERS, "peer")
    _check([request.preset], PRESETS, "preset")
    # What is measured is what stays.
    override(quick=False)
    # First: without the device, records that are there stay.
    environment, xp = describe_environment(request.device), array_module(request.device)
    if out is not None:
        start_file(out, append=request.append)
    libraries = _libraries(request, say)

    def keep(record: Record) -> None:
        if out is not None:
            append_records(out, [record])
        done(record)

    records: list[Record] = []
    end_s = time.perf_counter() + request.limit
    for at, name in enumerate(request.graphs):
        if time.perf_counter() > end_s:
            say(f"graphs {', '.join(request.graphs[at:])}: left out, the time is over")
            break
        try:
            graph = load_bench_graph(name, request.data, xp)
        except (MissingFile, MemoryError) as error:
            say(f"graph {_about(name, error)}: left out")
            continue
        for record in _of_graph(request, graph, libraries, environment, end_s, say):
            keep(record)
            records.append(record)
    return require_some(records, request.graphs)


def _about(name: str, error: Exception) -> str:
    text = str(error)
    return text if text.startswith(name) else f"{name}: {text or 'out of memory'}"


def _of_graph(
    request: Request,
    graph: BenchGraph,
    libraries: list[Library],
    environment: dict[str, Any],
    end_s: float,
    say: Callable[[str], None],
) -> Iterator[Record]:
    """Make the records of one graph, as long as there is time."""
    for at, kernel in enumerate(request.algorithms):
        if time.perf_counter() > end_s:
            say(f"{graph.name} {', '.join(request.algorithms[at:])}: left out, the time is over")
            return
        for chosen in (libraries, *_variants(request, kernel)):
            yield from run_kernel(
                kernel, graph, chosen, PRESETS[request.preset],
                trials=request.trials, seconds=request.seconds,
                environment=environment, both_ways=request.both_ways,
            )  # fmt: skip
            free_memory(graph.xp)
    if time.perf_counter() > end_s:
        return
    used = graph.undirected if request.both_ways else graph
    blank = Record(
        "", "", used.dataset, "",
        load_s=graph.load_s, build_s=used.build_s, environment=environment,
    )  # fmt: skip
    yield from _further(request, used, blank)


def _libraries(request: Request, say: Callable[[str], None]) -> list[Library]:
    libraries = [semira_library(request.device, request.plan, fresh=request.variants)]
    for device in request.beside:
        ours = semira_library(device, request.plan)
        libraries.append(replace(ours, name=f"semira on {device}"))
    for name in request.peers:
        try:
            peer = open_peer(name, settings().threads)
        except (DeviceUnavailable, ImportError) as error:
            say(f"peer {name}: left out: {error}")
            continue
        if peer is None:
            say(f"peer {name}: not installed")
        else:
            libraries.append(peer)
    return libraries


def _variants(request: Request, kernel: str) -> list[list[Library]]:
    given = VARIANTS.get(kernel, ()) if request.variants else ()
    return [
        [semira_library(request.device, request.plan, {kernel: options}, fresh=True)]
        for options in given
    ]


def _further(request: Request, graph: BenchGraph, blank: Record) -> Iterator[Record]:
    """Make records of searches from many vertices, and of what copies of the matrix cost."""
    chosen = [each for each in request.algorithms if each in FROM_SOURCE and request.sources]
    seconds = request.seconds or PRESETS[request.preset].seconds
    for kernel in chosen:
        ours = [semira_library(request.device, request.plan)]
        for library in (*ours, *(each for (each,) in _variants(request, kernel))):
            yield measure_sources(kernel, graph, library, request.sources, seconds, blank)
            free_memory(graph.xp)
    if request.variants and request.copies:
        yield from measure_copies(graph, request.device, blank)
