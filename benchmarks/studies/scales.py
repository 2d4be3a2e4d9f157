"""Measure edges per second of breadth-first search on Kronecker graphs of growing size.

Whole calls from seeded start vertices, with the first result checked, as in Figure 8.1 of
C. Yang's thesis of 2019. One graph at a time: each scale takes twice the memory and time of the
one before. On the GPU, graphs from scale 20 on are generated there.

Examples
--------
python -m benchmarks scales --scales 8-12 --sources 4
python -m benchmarks scales --scales 16-26 --device cuda --limit 120 --out scales.jsonl
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.harness import Options, Say, Study, option
from semira.base.errors import InvalidValue
from semira.bench.graphs import load_bench_graph
from semira.bench.ours import semira_library
from semira.bench.record import Record
from semira.bench.report import checked, figure
from semira.bench.runner import Preset, run_kernel

#: Time of one scale divided by that of the one before.
_GROWTH = 2.2


def scales_from(text: str) -> range:
    """Return the scales of a range, both ends included.

    Raises
    ------
    InvalidValue
        The text is not a range of scales.

    Examples
    --------
    >>> scales_from("12-14")
    range(12, 15)
    """
    first, _, last = text.partition("-")
    if not (first.isdecimal() and (last or first).isdecimal()):
        raise InvalidValue(f"{text}: give a number, or a range like 16-24")
    return range(int(first), int(last or first) + 1)


@dataclass(frozen=True, slots=True)
class ScalesOptions(Options):
    """Options of the study; graphs are named by their scales."""

    graphs: Sequence[str] = option((), hidden=True)
    seconds: float = option(20.0, "Budget of a graph's warm calls and of counting its edges.")
    scales: Sequence[int] = option(
        (12, 14, 16, 18), "Scales from-to: log2 of the number of vertices.", parse=scales_from
    )
    edge_factor: int = option(16, "Edges drawn for each vertex.", least=1)
    sources: int = option(16, "Start vertices of each graph, drawn at random.", least=1)


def points(options: ScalesOptions, xp: Any, say: Say) -> Iterator[tuple[int, Any]]:
    """Yield scales while the next graph is expected to finish within the limit."""
    start_s, last_s = time.perf_counter(), 0.0
    for scale in options.scales:
        begun_s, needed_s = time.perf_counter(), _GROWTH * last_s
        if last_s and begun_s - start_s + needed_s > options.limit:
            say(f"scale {scale} and beyond: left out, about {needed_s:.0f} s are needed")
            return
        yield scale, xp
        last_s = time.perf_counter() - begun_s


def trial(options: ScalesOptions, point: tuple[int, Any]) -> list[Record]:
    """Search on one Kronecker graph, a pattern: a search reads no weights."""
    scale, xp = point
    spec = f"kron:{scale},ef={options.edge_factor}"
    graph = load_bench_graph(spec, options.data, xp, weights=False)
    preset = Preset({"bfs": options.sources}, options.seconds, options.sources, options.seconds)
    return run_kernel("bfs", graph, [semira_library(options.device)], preset)


def searches_of(records: Sequence[Record]) -> list[Record]:
    """Return the searches on Kronecker graphs by the number of vertices.

    Skips records of other libraries, of other graphs and with pins, which other commands write.
    """
    found = [
        each for each in records
        if (each.kind, each.kernel, each.library) == ("algorithm", "bfs", "semira")
        and each.dataset.name.startswith("kron:") and not (each.plan or each.options)
    ]  # fmt: skip
    return sorted(found, key=lambda each: each.dataset.n)


def gteps(record: Record) -> tuple[float | None, float | None]:
    """Return billions of edges per second: of whole calls (harmonic mean), by the device's clock.

    The device's clock covers only the first source. Edges are degrees of visited vertices: an
    undirected one counts twice.
    """
    rates = [edges / taken_s for edges, taken_s in zip(record.edges, record.warm_s, strict=False)]
    device_s = record.device_median_s
    whole = statistics.harmonic_mean(rates) / 1e9 if rates and min(rates) > 0 else None
    return whole, record.edges[0] / device_s / 1e9 if device_s and record.edges else None


def scales_table(records: Sequence[Record]) -> tuple[list[str], list[list[str]]]:
    """Return the header and rows of searches by the number of vertices."""
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


STUDY = Study(
    __doc__, ScalesOptions, trial, {"Breadth-first search": scales_table}, points, picture="scales"
)
