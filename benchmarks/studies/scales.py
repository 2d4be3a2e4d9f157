"""Edges a second of breadth-first search as graphs of one kind grow."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from semira.bench.device import array_module, free_memory
from semira.bench.environment import describe_environment
from semira.bench.graphs import load_bench_graph
from semira.bench.ours import semira_library
from semira.bench.record import Record, keep_records
from semira.bench.report import checked, figure
from semira.bench.runner import Preset, run_kernel

#: How much longer one scale takes than the one before.
_GROWTH = 2.2


@dataclass(frozen=True, slots=True)
class ScalesRequest:
    """What to measure.

    Attributes
    ----------
    scales : sequence of int
        Logarithms of the numbers of vertices.
    edge_factor : int
        Edges drawn for each vertex, before parallel ones are dropped.
    sources : int
        Different start vertices, drawn at random; one warm call each.
    seconds : float
        Of the warm calls of one graph, and of counting the edges of each.
    limit : float
        Seconds of the whole; a graph that is expected to end after them is left out, and so are
        larger ones. Each takes about twice as long as the one before.
    device : str
    data : Path or None
    """

    scales: Sequence[int] = (12, 14, 16, 18)
    edge_factor: int = 16
    sources: int = 16
    seconds: float = 20.0
    limit: float = math.inf
    device: str = "cpu"
    data: Path | None = None


def run_scales(
    request: ScalesRequest,
    *,
    out: Path | None = None,
    say: Callable[[str], None] = lambda _text: None,
    done: Callable[[Record], None] = lambda _record: None,
) -> list[Record]:
    """Measure and check searches on Kronecker graphs, one graph in memory at a time.

    A graph that does not fit into memory, or not into the time, ends the run with a remark.

    Raises
    ------
    DeviceUnavailable
        This machine lacks the device.
    FileWriteError
        `out` cannot be written.
    """
    environment, xp = describe_environment(request.device), array_module(request.device)

    def made() -> Iterator[Record]:
        start_s = time.perf_counter()
        last_s = 0.0
        for scale in request.scales:
            begun_s = time.perf_counter()
            if last_s and begun_s - start_s + _GROWTH * last_s > request.limit:
                say(
                    f"scale {scale} and beyond: left out, about {_GROWTH * last_s:.0f} s are needed"
                )
                return
            try:
                yield from _of_scale(request, scale, xp, environment)
            except MemoryError as error:
                say(f"scale {scale} and beyond: left out: {str(error) or 'out of memory'}")
                return
            finally:
                free_memory(xp)
            last_s = time.perf_counter() - begun_s

    return keep_records(made(), out, done)


def _of_scale(
    request: ScalesRequest, scale: int, xp: Any, environment: dict[str, Any]
) -> list[Record]:
    """Return the record of one graph, a pattern: a search reads no weights."""
    spec = f"kron:{scale},ef={request.edge_factor}"
    graph = load_bench_graph(spec, request.data, xp, weights=False)
    preset = Preset({"bfs": request.sources}, request.seconds, request.sources, request.seconds)
    library = semira_library(request.device)
    return run_kernel("bfs", graph, [library], preset, environment=environment)


def searches_of(records: Sequence[Record]) -> list[Record]:
    """Return the searches on Kronecker graphs by the number of vertices.

    Those of other libraries, of other graphs and under pins are left out: files of other commands
    have them.
    """
    found = [
        each for each in records
        if (each.kind, each.kernel, each.library) == ("algorithm", "bfs", "semira")
        and each.dataset.name.startswith("kron:") and not (each.plan or each.options)
    ]  # fmt: skip
    return sorted(found, key=lambda each: each.dataset.n)


def gteps(record: Record) -> tuple[float | None, float | None]:
    """Return billions of edges a second: of whole calls (harmonic mean), by the device's clock.

    The device's clock ran for the first source alone. Edges are degrees of visited vertices: an
    undirected one counts twice.
    """
    rates = [edges / taken_s for edges, taken_s in zip(record.edges, record.warm_s, strict=False)]
    device_s = record.device_median_s
    whole = statistics.harmonic_mean(rates) / 1e9 if rates and min(rates) > 0 else None
    return whole, record.edges[0] / device_s / 1e9 if device_s and record.edges else None


def scales_table(records: Sequence[Record]) -> tuple[list[str], list[list[str]]]:
    """Return head and rows of searches by the number of vertices."""
    head = [
        "graph", "vertices", "entries", "made in s", "sources", "ms", "GTEPS", "device GTEPS",
        "verified",
    ]  # fmt: skip
    rows = [
        [
            record.dataset.name, f"{record.dataset.n:,}", f"{record.dataset.nvals:,}",
            figure(record.load_s + record.build_s), str(len(set(record.sources))),
            figure(1e3 * (record.median_s or 0)),
            *map(figure, gteps(record)), checked(record),
        ]
        for record in searches_of(records)
    ]  # fmt: skip
    return head, rows
