"""Describe graphs: vertices, entries, the longest row, bounds of the diameter.

Breadth-first searches with edges in both directions (`semira.algorithms.diameter`) bound the
diameter; it is known where the bounds meet. Nothing is timed. The documentation uses this to
describe the graphs of other measurements (C. Yang's thesis of 2019, Table 4.1).

Examples
--------
python -m benchmarks shapes --quick
python -m benchmarks shapes --graphs kron:16,coAuthorsDBLP --out bench/results/shapes.jsonl
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks import algorithm_checks as checks
from benchmarks.harness import Options, Study, option
from semira.bench.graphs import BenchGraph
from semira.bench.record import Record
from semira.bench.report import checked


@dataclass(frozen=True, slots=True)
class ShapesOptions(Options):
    """Options of the study."""

    graphs: Sequence[str] = option(("kron:14",), quick=("kron:8", "road:20x20"))
    searches: int = option(64, "Most searches to bound the diameter of a graph.", least=1)


def _is_reached(graph: BenchGraph, result: Any, sources: Sequence[int]) -> dict[str, bool]:
    """Search from the vertices with the greatest lower bound; the diameter must lie between."""
    true = int(checks.levels_from(graph, sources).max())
    lower, upper = result.diameter
    return {
        "the lower bound is not a distance": lower > true,
        "two vertices lie further apart than the upper bound": true > upper,
    }


def trial(options: ShapesOptions, graph: BenchGraph) -> Iterator[Record]:
    """Describe a graph, with its edges in both directions and without self-loops."""
    graph = graph.undirected
    from semira import algorithms

    found = algorithms.diameter(
        graph.matrix.to(options.device), searches=options.searches, symmetric=True
    )
    farthest = [int(np.argmax(found.lower.to_dense(-1)))]
    verdict = checks.judge(_is_reached, "levels by products in SciPy", graph, found, farthest)
    yield Record(
        "shape", "diameter", graph.dataset, "semira", options.device,
        iterations=found.iterations, load_s=graph.load_s, build_s=graph.build_s, sources=farthest,
        verified=verdict.ok, verified_by=verdict.method, note=verdict.finding,
        facts={
            "longest_row": int(graph.degrees.max(initial=0)),
            "diameter": list(found.diameter),
            "searches": found.searches,
        },
    )  # fmt: skip


def diameter_text(bounds: Sequence[int]) -> str:
    """Return the diameter, or its bounds if it is unknown.

    Examples
    --------
    >>> diameter_text([7, 7]), diameter_text([7, 9])
    ('7', '7 to 9')
    """
    least, most = bounds
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


def shapes_table(records: Sequence[Record]) -> tuple[list[str], list[list[str]]]:
    """Return the header and rows: size, longest row and diameter of each graph."""
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


STUDY = Study(__doc__, ShapesOptions, trial, {"Graphs": shapes_table})
