"""Measure breadth-first search by every method of the textbook, and report the fastest.

Vertex-centric push and pull, edge-centric, a frontier with a global queue, with a queue for
each block, and one block for small levels (Hwu, Kirk, El Hajj, Programming Massively Parallel
Processors, chapter 15): the same loop under different pins. Every result is checked.

Examples
--------
python -m benchmarks bfs-methods --quick
python -m benchmarks bfs-methods --graphs kron21,USA-road-NE --device cuda
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.harness import Options, Study, option, time_of
from semira.backends.registry import capabilities_of
from semira.bench.graphs import BenchGraph
from semira.bench.ours import semira_library
from semira.bench.record import Record
from semira.bench.report import checked, figure
from semira.bench.runner import Preset, run_kernel
from semira.cli.searches import METHODS, pins_on


@dataclass(frozen=True, slots=True)
class MethodsOptions(Options):
    """Options of the study."""

    graphs: Sequence[str] = option(("kron:16", "road:300x300"), quick=("kron:10", "road:20x20"))


def trial(options: MethodsOptions, graph: BenchGraph) -> Iterator[Record]:
    """Measure and check the search by every method; methods with equal kernels run once."""
    capabilities = capabilities_of(options.device)
    preset = Preset({"bfs": options.trials}, options.seconds)
    done: list[dict[str, Any]] = []
    for name in METHODS:
        pins = pins_on(name, capabilities)
        if pins not in done:
            done.append(pins)
            library = semira_library(options.device, pins)
            yield from run_kernel("bfs", graph.undirected, [library], preset)


# tables ------------------------------------------------------------------------------------------
def _by_method(records: Sequence[Record]) -> dict[tuple[str, str], dict[str, Record]]:
    """Return the record of each method's name, for each graph and device."""
    found: dict[tuple[str, str], dict[str, Record]] = {}
    for record in records:
        capabilities = capabilities_of(record.backend)
        named = found.setdefault((record.dataset.name, record.backend), {})
        for name in METHODS:
            if pins_on(name, capabilities) == record.plan:
                named.setdefault(name, record)
    return {
        place: {name: named[name] for name in METHODS if name in named}
        for place, named in found.items()
    }


def methods_table(records: Sequence[Record]) -> tuple[list[str], list[list[str]]]:
    """Return the header and rows: methods by graph; names of the same kernels share a row."""
    head = ["graph", "device", "method", "pins", "ms", "GTEPS", "of the fastest", "verified"]
    rows = []
    for place, named in _by_method(records).items():
        times = [taken_s for each in named.values() if (taken_s := time_of(each))]
        first: dict[int, str] = {}
        for name, record in named.items():
            taken_s = time_of(record)
            pins = ", ".join(f"{pin}={value}" for pin, value in record.plan.items()) or "none"
            same = first.setdefault(id(record), name)
            if same != name:
                rows.append([*place, name, pins, f"the kernels of {same}", "", "", ""])
                continue
            speed = share = None
            if taken_s:
                speed, share = record.edges[0] / taken_s / 1e9, taken_s / min(times)
            shown = figure(1e3 * taken_s) if taken_s else "-"
            rows.append([*place, name, pins, shown, figure(speed), figure(share), checked(record)])
    return head, rows


def winners_table(records: Sequence[Record]) -> tuple[list[str], list[list[str]]]:
    """Return the header and rows: the fastest textbook method on each graph.

    The planner's choice is not a method; it is listed next to the fastest.
    """
    head = ["graph", "device", "levels", "fastest method", "ms", "planner, ms"]
    rows = []
    for place, named in _by_method(records).items():
        timed = {name: taken_s for name, each in named.items() if (taken_s := time_of(each))}
        planner_s = timed.pop("planner", None)
        if not timed:
            continue
        best = min(timed, key=lambda name: timed[name])
        equal = [name for name in timed if named[name] is named[best]]
        planner = "-" if planner_s is None else figure(1e3 * planner_s)
        levels = str(named[best].iterations)
        rows.append([*place, levels, " = ".join(equal), figure(1e3 * timed[best]), planner])
    return head, rows


STUDY = Study(
    __doc__,
    MethodsOptions,
    trial,
    {"One search by every method": methods_table, "Which wins where": winners_table},
)
