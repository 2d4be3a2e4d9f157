"""Running an algorithm on a graph: times kept apart, and what the run did."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import semira
from semira.algorithms.row import Kind, Row
from semira.base.settings import override
from semira.cli.graphs import Graph
from semira.cli.output import seconds
from semira.cli.plans import PlanFacts, plan_facts
from semira.cli.summaries import Answer, summarise

if TYPE_CHECKING:
    from semira.contract import Program, TraceRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Timed:
    """The times of a run, kept apart."""

    device: str
    #: Copying the matrix to the device.
    place_s: float
    #: The first call: compiles what the cache lacks, builds what the matrix lacks.
    first_s: float
    #: The warm calls that followed.
    runs_s: list[float]

    @property
    def median_s(self) -> float | None:
        """Median of the warm calls; None if there were none."""
        return statistics.median(self.runs_s) if self.runs_s else None

    def record(self, graph: Graph) -> dict[str, Any]:
        """Return what ran where, and the times, for JSON."""
        return {
            "graph": graph.name,
            "n": graph.arrays.nrows,
            "entries": graph.arrays.nvals,
            "device": self.device,
            "times_s": {
                "read": graph.read_s,
                "place": self.place_s,
                "first": self.first_s,
                "runs": self.runs_s,
            },
        }

    def lines(self, graph: Graph) -> list[tuple[str, str]]:
        """Return the times for people."""
        found = [("read", seconds(graph.read_s)), ("first call", seconds(self.first_s))]
        if count := len(self.runs_s):
            label = f"median of {count} warm" if count > 1 else "warm call"
            found.append((label, seconds(self.median_s)))
        return found


def time_calls(
    graph: Graph, device: str, call: Callable[[Any], Any], repeat: int
) -> tuple[Any, Any, dict[str, Any]]:
    """Call a function of the matrix of a graph once, then `repeat` times warm.

    Return what the first and the last call returned, and the times of a `Timed`.
    """

    def timed_call() -> tuple[Any, float]:
        start_s = time.perf_counter()
        return call(matrix), time.perf_counter() - start_s

    if repeat:
        # Warm calls are those of the kernels that stay.
        override(quick=False)
    with semira.device(device):
        start_s = time.perf_counter()
        matrix = graph.matrix.to(device)
        place_s = time.perf_counter() - start_s
        first, first_s = timed_call()
        last, runs_s = first, []
        for _ in range(repeat):
            last, run_s = timed_call()
            runs_s.append(run_s)
    return first, last, {
        "device": device, "place_s": place_s, "first_s": first_s, "runs_s": runs_s
    }  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement(Timed):
    """One algorithm on one graph."""

    answer: Answer
    summary: dict[str, Any]
    source: Any
    #: Of the first call.
    plan: PlanFacts
    #: Sum of the degrees of the visited vertices (all, without a source), of each search: the edges
    #: of TEPS.
    edges: int
    #: Of the last call: the first one, if no other followed.
    trace: Sequence[TraceRow]

    @property
    def is_settled(self) -> bool:
        """Whether lengths were found without iterations: there is no product to tell of."""
        return self.summary.get("method") == "asynchronous" and not self.trace

    def line(self) -> str:
        """Return which method ran how often, in order; or what ran without products."""
        if line := self.plan.line():
            return line
        if self.is_settled:
            return "asynchronous, without products"
        has_loops = semira.device_traits(self.device).compiled_loops
        return "compiled loops, without products" if has_loops else "no product ran"

    @property
    def mteps(self) -> float | None:
        """Millions of `edges` a second at the median time."""
        return None if not self.median_s else self.edges / self.median_s / 1e6


def measure(
    graph: Graph,
    row: Row,
    *,
    device: str,
    source: Any = None,
    options: dict[str, Any] | None = None,
    repeat: int = 1,
    top: int = 10,
    plan_for: Callable[[Program], Program] | None = None,
) -> Measurement:
    """Run an algorithm with `options` once, then `repeat` times warm.

    The summary has the `top` first vertices. Told are the plans of the programs that `plan_for`
    returns, in place of those that ran. Raises what the algorithm raises.
    """
    places = (source,) if row.start else ()

    traces: list[Any] = []

    def call(matrix: Any) -> Any:
        if traces:
            return run(matrix)
        with semira.tracing() as trace:
            traces.append(trace)
            return run(matrix)

    def run(matrix: Any) -> Any:
        result = row.function(matrix, *places, **(options or {}))
        if row.kind() is not Kind.number:
            getattr(result, row.main).wait()
        return result

    result, last, times = time_calls(graph, device, call, repeat)
    answer, nvals = Answer(result, getattr(result, row.main), top), graph.arrays.nvals
    return Measurement(
        answer=answer,
        summary=summarise(row, graph, answer),
        source=source,
        plan=plan_facts(traces[0], result.trace, plan_for),
        edges=nvals if source is None else int(np.sum(graph.degrees[answer.indices])),
        trace=last.trace,
        **times,
    )
