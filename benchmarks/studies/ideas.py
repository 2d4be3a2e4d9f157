"""Measure what each idea adds to breadth-first search, and list the ideas that plans use.

Starting from push, it adds structure only, change of direction, masking, early exit and operand
reuse one by one (C. Yang's thesis of 2019, Table 5.2) and checks each result. Then it lists the
ideas in the plans of the five algorithms (Table 7.5).

Examples
--------
python -m benchmarks ideas --quick
python -m benchmarks ideas --graphs kron21 --device cuda --out bench/results/ideas.jsonl
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from benchmarks.harness import Options, Study, time_of
from semira.bench.graphs import BenchGraph
from semira.bench.libraries import KERNELS, UNDIRECTED, Library
from semira.bench.ours import semira_library
from semira.bench.record import Record
from semira.bench.report import checked, figure
from semira.bench.runner import Preset, run_kernel
from semira.bench.traffic import ASYNCHRONOUS
from semira.contract import PRODUCTS, Method, walk_statements

#: Ideas in the order of Table 5.2 of C. Yang's thesis (2019), each with the pin that turns it off
#: and the speedup reported there.
IDEAS: dict[str, tuple[dict[str, Any], float]] = {
    "structure only": ({"structure_only": False}, 1.62),
    "change of direction": ({"direction": "push"}, 1.08),
    "masking": ({"mask_order": "after"}, 2.58),
    "early exit": ({"early_exit": False}, 4.02),
    "operand reuse": ({"operand_reuse": False}, 2.68),
}

#: Attributes of a plan's method, by the name of the idea.
_SAYS: dict[str, Callable[[Method], bool]] = {
    "structure only": lambda method: method.structure_only,
    "masking": lambda method: method.mask_order == "before",
    "early exit": lambda method: method.early_exit,
    "operand reuse": lambda method: method.operand_reuse,
}


def steps() -> dict[str, dict[str, Any]]:
    """Return the pins of each step: none of the ideas, then one more at a time.

    Examples
    --------
    >>> list(steps())[:2], steps()["operand reuse"]
    (['baseline', 'structure only'], {})
    """
    names = list(IDEAS)
    pins: dict[str, dict[str, Any]] = {}
    for at, name in enumerate(["baseline", *names]):
        pins[name] = {key: pin for out in names[at:] for key, pin in IDEAS[out][0].items()}
    return pins


def trial(options: Options, graph: BenchGraph) -> Iterator[Record]:
    """Search with one more idea at a time, then list the ideas that all plans use."""
    graph = graph.undirected
    preset = Preset({"bfs": options.trials}, options.seconds)
    for pins in steps().values():
        # Without an option hosts run no products; this one is chosen anyway.
        library = semira_library(options.device, pins or {"structure_only": True})
        for record in run_kernel("bfs", graph, [library], preset):
            yield replace(record, plan=pins)
    library = semira_library(options.device)
    for kernel in KERNELS:
        yield look_at_plans(kernel, graph, library)


# ideas in use ------------------------------------------------------------------------------------
@dataclass(slots=True)
class StatementTimes:
    """Seconds of statements on a backend that runs them one by one."""

    products: float = 0.0
    others: float = 0.0

    @property
    def share(self) -> float | None:
        """The share of products; None if nothing ran statement by statement."""
        total = self.products + self.others
        return self.products / total if total else None


@contextmanager
def timed_statements() -> Iterator[StatementTimes]:
    """Time products and other statements separately on interpreting backends in the block.

    The cuda backend compiles a whole program to one kernel, so it shows no statements.
    """
    from semira.backends import interpreter

    times, run_statement = StatementTimes(), interpreter._run_statement

    def timed(run: Any, statement: Any, iteration: int, place: Any) -> None:
        start_s = time.perf_counter()
        run_statement(run, statement, iteration, place)
        taken_s = time.perf_counter() - start_s
        if statement.op in PRODUCTS:
            times.products += taken_s
        else:
            times.others += taken_s

    interpreter._run_statement = timed
    try:
        with interpreter.interpreted_only():
            yield times
    finally:
        interpreter._run_statement = run_statement


def look_at_plans(kernel: str, graph: BenchGraph, library: Library) -> Record:
    """Return a record of the ideas used by the plans of an algorithm's products."""
    from semira import tracing

    used = graph.undirected if kernel in UNDIRECTED else graph
    entry, source = library.entries[kernel], used.sources(0)[0]
    matrix = entry.prepare(used)
    with tracing() as trace:
        result = entry.run(matrix, source)
    with timed_statements() as times:
        entry.run(matrix, source)
    if getattr(result, "method", "") == ASYNCHRONOUS:
        # Other plans only inspected the graph.
        return Record(
            "plans", kernel, used.dataset, "semira", library.backend, ran={ASYNCHRONOUS: 1}
        )
    rows = trace.rows or list(result.trace)
    return Record(
        "plans", kernel, used.dataset, "semira", library.backend,
        ran=dict(Counter(row.method for row in rows)),
        fired=fired_in(trace.programs, {(row.op, row.method) for row in rows}),
        product_share=times.share,
    )  # fmt: skip


def fired_in(programs: Iterable[Any], ran: set[tuple[str, str]]) -> list[str]:
    """Return the ideas in the plans of products, in the methods that ran, and the balances."""
    statements = [each for program in programs for each in walk_statements(program.body)]
    methods = [
        method
        for each in statements
        if each.op in PRODUCTS and each.plan is not None
        for method in each.plan.methods
        if (each.op, method.name) in ran
    ]
    ideas = [name for name, says in _SAYS.items() if any(map(says, methods))]
    if {"push", "pull"} <= {name for _, name in ran}:
        ideas.append("change of direction")
    shares = dict.fromkeys(f"{method.name} by {method.balance}" for method in methods)
    return [name for name in IDEAS if name in ideas] + sorted(shares)


# tables ------------------------------------------------------------------------------------------
def ideas_table(records: Sequence[Record]) -> tuple[list[str], list[list[str]]]:
    """Return the header and rows of the steps, each graph's in the order of `IDEAS`."""
    head = [
        "graph",
        "device",
        "with",
        "ms",
        "GTEPS",
        "times faster",
        "thesis",
        "products",
        "verified",
    ]
    by_pins = {
        (record.dataset.name, record.backend, str(sorted(record.plan.items()))): record
        for record in records
        if record.kind == "algorithm" and record.kernel == "bfs"
    }
    rows = []
    for place in dict.fromkeys(key[:2] for key in by_pins):
        before_s = None
        for step, pins in steps().items():
            record = by_pins.get((*place, str(sorted(pins.items()))))
            taken_s = None if record is None else time_of(record)
            if record is None or not taken_s:
                continue
            ran = ", ".join(f"{name} x{times}" for name, times in record.ran.items())
            thesis = figure(IDEAS[step][1]) if step in IDEAS else "-"
            rows.append(
                [
                    *place, step, figure(1e3 * taken_s), figure(record.edges[0] / taken_s / 1e9),
                    figure(before_s / taken_s if before_s else None), thesis, ran,
                    checked(record),
                ]
            )  # fmt: skip
            before_s = taken_s
    return head, rows


def fired_table(records: Sequence[Record]) -> tuple[list[str], list[list[str]]]:
    """Return the header and rows: the ideas that each algorithm uses."""
    head = [
        "graph",
        "device",
        "algorithm",
        *IDEAS,
        "shares of work",
        "products ran",
        "time in products",
    ]
    rows = []
    for record in records:
        if record.kind == "plans":
            share = record.product_share
            ran = ", ".join(f"{name} x{times}" for name, times in record.ran.items())
            shares = ", ".join(each for each in record.fired if each not in IDEAS)
            marks = ["yes" if name in record.fired else "" for name in IDEAS]
            part = "-" if share is None else f"{share:.0%}"
            place = record.dataset.name, record.backend
            rows.append([*place, record.kernel, *marks, shares, ran, part])
    return head, rows


STUDY = Study(
    __doc__,
    Options,
    trial,
    {"One idea after the other": ideas_table, "What plans make use of": fired_table},
)
