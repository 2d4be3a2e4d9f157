"""What graphs are like: the longest row, and how far apart two vertices lie at most."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.studies.ideas import over_graphs
from semira.bench import algorithm_checks as checks
from semira.bench.graphs import BenchGraph
from semira.bench.record import Record
from semira.bench.report import checked
from semira.bench.sweep import SweepRequest


@dataclass(frozen=True, slots=True)
class ShapesRequest(SweepRequest):
    """What to look at, beside what `SweepRequest` says; nothing is timed.

    Attributes
    ----------
    searches : int
        Most searches that bound the diameter of a graph.
    """

    graphs: Sequence[str] = ("kron:14",)
    searches: int = 64


def _is_reached(graph: BenchGraph, result: Any, sources: Sequence[int]) -> dict[str, bool]:
    """Search from the vertices with the greatest lower bound; the diameter must lie between."""
    true = int(checks.levels_from(graph, sources).max())
    lower, upper = result.diameter
    return {
        "the lower bound is no distance": lower > true,
        "two vertices lie further apart than the upper bound": true > upper,
    }


def _of_graph(request: ShapesRequest, graph: BenchGraph) -> Iterator[Record]:
    from semira import algorithms

    found = algorithms.diameter(
        graph.matrix.to(request.device), searches=request.searches, symmetric=True
    )
    farthest = [int(np.argmax(found.lower.to_dense(-1)))]
    verdict = checks.judge(_is_reached, "levels by products in SciPy", graph, found, farthest)
    yield Record(
        "shape", "diameter", graph.dataset, "semira", request.device,
        iterations=found.iterations, load_s=graph.load_s, build_s=graph.build_s, sources=farthest,
        verified=verdict.ok, verified_by=verdict.method, note=verdict.finding,
        facts={
            "longest_row": int(graph.degrees.max(initial=0)),
            "diameter": list(found.diameter),
            "searches": found.searches,
        },
    )  # fmt: skip


#: Looks at the graphs of a request, their edges in both directions and without self-loops.
run_shapes = over_graphs(_of_graph)


def diameter_text(bounds: Sequence[int]) -> str:
    """Return a diameter that is known, or between what it lies.

    Examples
    --------
    >>> diameter_text([7, 7]), diameter_text([7, 9])
    ('7', '7 to 9')
    """
    least, most = bounds
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


def shapes_table(records: Sequence[Record]) -> tuple[list[str], list[list[str]]]:
    """Return head and rows: size, longest row and diameter of each graph."""
    head = ["graph", "vertices", "entries", "longest row", "diameter", "searches", "verified"]
    rows = [
        [
            each.dataset.name, f"{each.dataset.n:,}", f"{each.dataset.nvals:,}",
            f"{each.facts['longest_row']:,}", diameter_text(each.facts["diameter"]),
            str(each.facts["searches"]), checked(each),
        ]
        for each in records
        if each.kind == "shape"
    ]  # fmt: skip
    return head, rows
