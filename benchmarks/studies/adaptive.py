"""Compare adaptive PageRank with the plain one.

Both run until they converge to the same tolerance; the table has iterations, entries read,
times, and the deviation of the ranks.

Examples
--------
python -m benchmarks adaptive --quick
python -m benchmarks adaptive --graphs kron21,cnr-2000 --device cuda --out adaptive.jsonl
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from benchmarks.harness import Options, Study, option, time_of
from semira.bench.device import free_memory
from semira.bench.graphs import BenchGraph
from semira.bench.libraries import KERNELS
from semira.bench.ours import semira_library
from semira.bench.record import Record
from semira.bench.report import checked, figure
from semira.bench.runner import Preset, run_kernel


@dataclass(frozen=True, slots=True)
class AdaptiveOptions(Options):
    """Options of the study."""

    graphs: Sequence[str] = option(
        ("kron:18", "road:500x500,removed=0.05"), quick=("kron:10", "road:20x20")
    )
    trials: int = option(5, quick=2)
    seconds: float = option(2.0)


#: Arguments of each variant. Without an option hosts compute ranks without products.
_WAYS: dict[str, dict[str, Any]] = {
    "plain": {"policy": "auto"}, "adaptive": {"adaptive": True}
}  # fmt: skip


def trial(options: AdaptiveOptions, graph: BenchGraph) -> Iterator[Record]:
    """Measure and check both variants until they converge to the same tolerance."""
    graph = graph.undirected
    preset = Preset(dict.fromkeys(KERNELS, options.trials), options.seconds)
    ranks: dict[str, Any] = {}
    for name, arguments in _WAYS.items():
        library = semira_library(options.device, None, {"pagerank": arguments})
        (record,) = run_kernel("pagerank", graph, [library], preset)
        entry = library.entries["pagerank"]
        ranks[name] = entry.answer(entry.run(entry.prepare(graph), 0), graph)
        facts = deviations(ranks["plain"], ranks[name])
        yield replace(record, kind="adaptive", kernel=name, facts=facts)
        free_memory(graph.xp)


def deviations(plain: Any, other: Any) -> dict[str, float]:
    """Return deviations from the plain ranks: the largest relative one, and the sum.

    Examples
    --------
    >>> found = deviations(np.array([0.5, 0.5]), np.array([0.5, 0.25]))
    >>> found["largest"], found["sum"]
    (0.5, 0.25)
    """
    apart = np.abs(other - plain)
    return {"largest": float((apart / plain).max(initial=0)), "sum": float(apart.sum())}


def adaptive_table(records: Sequence[Record]) -> tuple[list[str], list[list[str]]]:
    """Return the header and rows: work and time of both, and ratios of the adaptive one."""
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


STUDY = Study(__doc__, AdaptiveOptions, trial, {"PageRank, adaptive beside plain": adaptive_table})
