"""Running an algorithm on a graph: times kept apart, and what the run did."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

import semira
from semira.algorithms.row import Kind, Row
from semira.cli.graphs import Graph
from semira.cli.plans import PlanFacts, plan_facts
from semira.cli.summaries import Answer, summarise

if TYPE_CHECKING:
    from semira.contract import Program, TraceRow


@dataclass(frozen=True, slots=True)
class Measurement:
    """One algorithm on one graph.

    Attributes
    ----------
    answer : Answer
    summary : dict
    device : str
    source : int, list of int, or None
    plan : PlanFacts
        Of the first call.
    place_s : float
        Copying the matrix to the device.
    first_s : float
        The first call: compiles what the cache lacks, builds what the matrix lacks.
    runs_s : list of float
        The warm calls that followed.
    trace : sequence of TraceRow
        Of the last call: the first one, if no other followed.
    edges : int
        Sum of the degrees of the visited vertices (all, without a source), of each search: the
        edges of TEPS.
    """

    answer: Answer
    summary: dict[str, Any]
    device: str
    source: Any
    plan: PlanFacts
    place_s: float
    first_s: float
    edges: int
    trace: Sequence[TraceRow]
    runs_s: list[float] = field(default_factory=list)

    @property
    def median_s(self) -> float | None:
        """Median of the warm calls; None if there were none."""
        return statistics.median(self.runs_s) if self.runs_s else None

    @property
    def is_settled(self) -> bool:
        """Whether lengths were found without iterations: there is no product to tell of."""
        return self.summary.get("method") == "asynchronous" and not self.trace

    def line(self) -> str:
        """Return which method ran how often, in order; or what ran without products."""
        line = self.plan.line()
        if line or not self.is_settled:
            return line or "no product ran"
        return "asynchronous, without products"

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
    """Run an algorithm once, then `repeat` times warm.

    Parameters
    ----------
    graph : Graph
    row : Row
    device : str
    source : int or list of int, optional
    options : dict, optional
        Keyword arguments of the algorithm.
    repeat : int
        Warm calls to time, at least 0.
    top : int
        How many of the first vertices the summary has.
    plan_for : callable, optional
        Tell the plans of the programs that it returns, in place of those that ran.

    Raises
    ------
    GraphblasException
        As the algorithm.
    """
    places = (source,) if row.start else ()

    def call() -> tuple[Any, float]:
        start_s = time.perf_counter()
        result = row.function(matrix, *places, **(options or {}))
        if row.kind() is not Kind.number:
            getattr(result, row.main).wait()
        return result, time.perf_counter() - start_s

    with semira.device(device):
        start_s = time.perf_counter()
        matrix = graph.matrix.to(device)
        place_s = time.perf_counter() - start_s
        with semira.tracing() as trace:
            result, first_s = call()
        last, runs_s = result, []
        for _ in range(repeat):
            last, run_s = call()
            runs_s.append(run_s)
        answer = Answer(result, getattr(result, row.main), top)
    return Measurement(
        answer=answer,
        summary=summarise(row, graph, answer),
        device=device,
        source=source,
        plan=plan_facts(trace, result.trace, plan_for),
        place_s=place_s,
        first_s=first_s,
        edges=_visited_edges(graph, answer, is_search=source is not None),
        trace=last.trace,
        runs_s=runs_s,
    )


def _visited_edges(graph: Graph, answer: Answer, *, is_search: bool) -> int:
    if not is_search:
        return graph.arrays.nvals
    return int(np.sum(graph.degrees[answer.indices]))
