"""Searches from many start vertices: what one vertex says may hold for that one alone."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from semira.bench.device import QUEUED_S, device_seconds
from semira.bench.graphs import BenchGraph
from semira.bench.libraries import Library
from semira.bench.record import Record
from semira.bench.report import checked, figure
from semira.bench.runner import visited_edges
from semira.bench.timer import clock, quiet_collector
from semira.bench.verify import verify
from semira.bench.versus import case_of


def measure_sources(
    kernel: str, graph: BenchGraph, library: Library, count: int, seconds: float, blank: Record
) -> Record:
    """Search from vertices drawn with a seed; every answer is checked.

    The `count` vertices are drawn among those with edges. No further search begins after so many
    seconds, checks included; one search is always made. The record is made of `blank`, which has
    the graph and the environment, and has one whole call and one time of the device for each of
    ``sources``.
    """
    entry, sources = library.entries[kernel], graph.sources(count)
    objects, convert_s = clock(lambda: entry.prepare(graph))
    _, first_s = clock(lambda: entry.run(objects, sources[0]))
    record = replace(
        blank, kind="sources", kernel=kernel, library=library.name, backend=library.backend,
        dtype=library.dtypes[kernel], options=dict(library.options.get(kernel, {})),
        plan=dict(library.plan), convert_s=convert_s, first_s=first_s,
    )  # fmt: skip
    calls: list[float] = []
    device_s: list[float] = []
    edges, wrong, method = [], [], ""
    end_s = time.perf_counter() + seconds
    for source in sources:
        if calls and time.perf_counter() > end_s:
            break
        call = partial(entry.run, objects, source)
        with quiet_collector():
            result, taken_s = clock(call)
        calls.append(taken_s)
        on_device = device_seconds(library.backend, call, held_s=QUEUED_S)
        if on_device is not None:
            device_s.append(on_device)
        answer = np.atleast_1d(entry.answer(result, graph))
        edges.append(visited_edges(kernel, graph, answer))
        verdict = verify(kernel, graph, source, {library.name: answer})[library.name]
        method = f"{verdict.method}, from every source"
        if not verdict.ok:
            wrong.append(f"from {source}: {verdict.finding or 'not checked'}")
    return replace(
        record, sources=sources[: len(calls)], warm_s=calls, device_s=device_s or None, edges=edges,
        verified=not wrong, verified_by=method, note="; ".join(wrong[:1]),
    )  # fmt: skip


def _spread(times: Sequence[float] | None) -> list[str]:
    """Return the median, the harmonic mean and the longest of times, in milliseconds."""
    if not times:
        return ["-"] * 3
    found = statistics.median(times), statistics.harmonic_mean(times), max(times)
    return [figure(1e3 * each) for each in found]


def sources_table(records: Sequence[Record]) -> tuple[list[str], list[list[str]]]:
    """Return head and rows of searches from many vertices.

    GTEPS are harmonic means over the sources; edges are degrees of the visited vertices.
    """
    head = [
        "graph", "case", "dtype", "sources",
        *(f"{clock_name} ms, {which}" for clock_name in ("device", "call")
          for which in ("median", "harmonic mean", "longest")),
        "device GTEPS", "verified",
    ]  # fmt: skip
    rows = []
    for record in records:
        if record.kind != "sources":
            continue
        pairs = zip(record.edges, record.device_s or (), strict=False)
        rates = [edges / taken_s / 1e9 for edges, taken_s in pairs if taken_s > 0]
        mean = statistics.harmonic_mean(rates) if rates else None
        rows.append(
            [
                record.dataset.name, case_of(record), record.dtype, str(len(record.sources)),
                *_spread(record.device_s), *_spread(record.warm_s), figure(mean), checked(record),
            ]
        )  # fmt: skip
    return head, rows
