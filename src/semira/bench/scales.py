"""Edges a second of breadth-first search as graphs of one kind grow."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from semira.bench.device import array_module, free_memory
from semira.bench.environment import describe_environment
from semira.bench.graphs import load_bench_graph
from semira.bench.ours import semira_library
from semira.bench.record import Record, keep_records
from semira.bench.report import figure
from semira.bench.runner import Preset, run_kernel
from semira.bench.versus import checked


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
        Budget of the warm calls of one graph.
    device : str
    data : Path or None
    """

    scales: Sequence[int] = (12, 14, 16, 18)
    edge_factor: int = 16
    sources: int = 16
    seconds: float = 20.0
    device: str = "cpu"
    data: Path | None = None


def run_scales(
    request: ScalesRequest,
    *,
    out: Path | None = None,
    done: Callable[[Record], None] = lambda _record: None,
) -> list[Record]:
    """Measure and check searches on Kronecker graphs, one graph in memory at a time.

    Raises
    ------
    DeviceUnavailable
        This machine lacks the device.
    FileWriteError
        `out` cannot be written.
    """
    environment, xp = describe_environment(request.device), array_module(request.device)

    def made() -> Iterator[Record]:
        preset = Preset({"bfs": request.sources}, request.seconds, request.sources)
        for scale in request.scales:
            spec = f"kron:{scale},ef={request.edge_factor}"
            yield from run_kernel(
                "bfs", load_bench_graph(spec, request.data, xp),
                [semira_library(request.device)], preset, environment=environment,
            )  # fmt: skip
            free_memory(xp)

    return keep_records(made(), out, done)


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
    head = ["graph", "vertices", "entries", "sources", "ms", "GTEPS", "device GTEPS", "verified"]
    searches = [each for each in records if each.kind == "algorithm" and each.kernel == "bfs"]
    rows = [
        [
            record.dataset.name, f"{record.dataset.n:,}", f"{record.dataset.nvals:,}",
            str(len(set(record.sources))), figure(1e3 * (record.median_s or 0)),
            *map(figure, gteps(record)), checked(record),
        ]
        for record in sorted(searches, key=lambda each: each.dataset.n)
    ]  # fmt: skip
    return head, rows
