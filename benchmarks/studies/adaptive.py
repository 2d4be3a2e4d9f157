"""Adaptive PageRank beside the plain one: iterations, entries read, time, how far the ranks lie."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from benchmarks.studies.ideas import over_graphs
from semira.bench.device import free_memory
from semira.bench.graphs import BenchGraph
from semira.bench.libraries import KERNELS
from semira.bench.ours import semira_library
from semira.bench.record import Record
from semira.bench.report import checked, figure, time_of
from semira.bench.runner import Preset, run_kernel
from semira.bench.sweep import SweepRequest


@dataclass(frozen=True, slots=True)
class AdaptiveRequest(SweepRequest):
    """What to measure, as `SweepRequest` says."""

    graphs: Sequence[str] = ("kron:18", "road:500x500,removed=0.05")
    trials: int = 5
    seconds: float = 2.0


#: Arguments of each way.
_WAYS: dict[str, dict[str, Any]] = {"plain": {}, "adaptive": {"adaptive": True}}


def _of_graph(request: AdaptiveRequest, graph: BenchGraph) -> Iterator[Record]:
    preset = Preset(dict.fromkeys(KERNELS, request.trials), request.seconds)
    ranks: dict[str, Any] = {}
    for name, options in _WAYS.items():
        library = semira_library(request.device, None, {"pagerank": options})
        (record,) = run_kernel("pagerank", graph, [library], preset)
        entry = library.entries["pagerank"]
        ranks[name] = entry.answer(entry.run(entry.prepare(graph), 0), graph)
        facts = deviations(ranks["plain"], ranks[name])
        yield replace(record, kind="adaptive", kernel=name, facts=facts)
        free_memory(graph.xp)


#: Measures and checks both ways until they converge to the same tolerance.
run_adaptive = over_graphs(_of_graph)


def deviations(plain: Any, other: Any) -> dict[str, float]:
    """Return how far ranks lie from the plain ones: the largest part of a rank, and the sum.

    Examples
    --------
    >>> found = deviations(np.array([0.5, 0.5]), np.array([0.5, 0.25]))
    >>> found["largest"], found["sum"]
    (0.5, 0.25)
    """
    apart = np.abs(other - plain)
    return {"largest": float((apart / plain).max(initial=0)), "sum": float(apart.sum())}


def adaptive_table(records: Sequence[Record]) -> tuple[list[str], list[list[str]]]:
    """Return head and rows: each way's work and time, and the ratios of the adaptive one's."""
    head = [
        "graph", "device", "way", "dtype", "iterations", "entries read", "part of plain", "ms",
        "times faster", "largest deviation, part of a rank", "sum of deviations", "verified",
    ]  # fmt: skip
    chosen = [record for record in records if record.kind == "adaptive"]
    plain = {(r.dataset.name, r.backend): r for r in chosen if r.kernel == "plain"}
    rows = []
    for record in chosen:
        base = plain.get((record.dataset.name, record.backend))
        taken_s, base_s = time_of(record), None if base is None else time_of(base)
        part = record.touched / base.touched if base and record.touched and base.touched else None
        faster = base_s / taken_s if taken_s and base_s else None
        rows.append(
            [
                record.dataset.name, record.backend, record.kernel, record.dtype,
                str(record.iterations), f"{record.touched:,}", figure(part),
                figure(1e3 * taken_s if taken_s else None), figure(faster),
                figure(record.facts["largest"]), figure(record.facts["sum"]), checked(record),
            ]
        )  # fmt: skip
    return head, rows
