"""Measure products of blocks of few vectors with a graph, by width and direction.

Breadth-first search from many sources, betweenness centrality of a batch, and shortest paths
of all pairs from blocks of sources (graphs of at most 4,096 vertices, at most 32 blocks).
Whole calls that push, that pull, and with the planner's choice, compared with each other and
checked by SciPy or by properties; then each level's single product in every way (C. Yang's
thesis of 2019, section 8.1, Figure 8.2).

Examples
--------
python -m benchmarks blocks --quick
python -m benchmarks blocks --graphs kron:16,road:300x300 --algorithms bfs --widths 1,32
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from benchmarks import algorithm_checks as checks
from benchmarks.harness import Options, Say, Study, graphs, option
from benchmarks.studies.block_levels import (
    NAMED_WAYS,
    Levels,
    alike,
    walk_centrality,
    walk_paths,
    walk_searches,
)
from benchmarks.studies.frontiers import WAYS
from semira.base.errors import InvalidValue
from semira.bench.device import PROFILED, profile_calls
from semira.bench.graphs import BenchGraph
from semira.bench.libraries import dense
from semira.bench.record import Record, without_result
from semira.bench.report import checked, figure
from semira.bench.timer import Budget, Samples, TooSlow, measure, time_limit
from semira.bench.verify import Verdict, check_levels

#: Rows of a block.
WIDTHS = (1, 8, 32, 64, 128)

#: Time limit of a call.
_LIMIT_S = 30.0

#: Limits of all pairs: vertices of the graph, and blocks.
MOST_VERTICES, MOST_BLOCKS = 4096, 32


def _first_levels(graph: BenchGraph, result: Any, sources: Sequence[int]) -> Verdict:
    """Check the first source's levels."""
    indices, values = result.level[0, :].new().to_coo()
    verdict = check_levels(graph, sources[0], dense(indices, values, graph.n, -1, np.int32))
    return replace(verdict, method=f"{verdict.method} from the first source")


def _sums(graph: BenchGraph, result: Any, sources: Sequence[int]) -> Verdict:
    by = "Brandes' sums by products in SciPy"
    return checks.judge(checks.check_betweenness, by, graph, result, sources)


def _distances(graph: BenchGraph, result: Any, sources: Sequence[int]) -> Verdict:
    return checks.judge(checks.check_all_pairs, "SciPy's Dijkstra", graph, result, sources)


def _drawn(graph: BenchGraph, width: int) -> list[int]:
    """Return the vertex with the most edges, then distinct random ones."""
    drawn = [*graph.sources(0), *graph.sources(width), *range(graph.n)]
    return list(dict.fromkeys(drawn))[:width]


@dataclass(frozen=True, slots=True)
class Case:
    """One algorithm on blocks.

    Attributes
    ----------
    function, result : str
        Name in `semira.algorithms`, and the field of its result that the call waits for.
    call : callable
        (function, matrix, sources, pins) -> its result, with a source for each row of the block.
    walk : callable
        Runs the products of one block level by level.
    check : callable
        (graph, result, sources) -> a verdict by an independent method.
    starts : callable
        (graph, width) -> the start vertices of the walk, and the searches if they are few.
    fits : callable
        (vertices, width) -> whether it is measured.
    exact : bool
        Whether all ways give equal results, not merely close ones.
    """

    function: str
    result: str
    call: Callable[[Any, Any, Sequence[int], dict[str, Any]], Any]
    walk: Callable[[Any, Sequence[int], Levels], None]
    check: Callable[[BenchGraph, Any, Sequence[int]], Verdict]
    starts: Callable[[BenchGraph, int], list[int]]
    fits: Callable[[int, int], bool] = lambda _n, _width: True
    exact: bool = True


#: Without an option hosts run loops over edges in the place of products.
_PRODUCTS = {"policy": "auto"}

#: Cases by the names of ``--algorithms``. Betweenness from one source is excluded: it searches
#: with vectors, not blocks.
CASES: dict[str, Case] = {
    "bfs": Case(
        "multi_source_bfs", "level",
        lambda run, matrix, sources, pins: run(matrix, sources, **(pins or _PRODUCTS)),
        walk_searches, _first_levels, _drawn,
    ),
    "bc": Case(
        "betweenness_centrality", "centrality",
        lambda run, matrix, sources, pins: run(
            matrix, sources=sources, batch=len(sources), **(pins or _PRODUCTS)
        ),
        walk_centrality, _sums, _drawn, lambda _n, width: width > 1,
        False,
    ),
    "apsp": Case(
        "all_pairs_shortest_paths", "distance",
        lambda run, matrix, sources, pins: run(
            matrix, algorithm="sources", block=len(sources), **pins
        ),
        walk_paths, _distances, lambda _graph, width: list(range(width)),
        lambda n, width: n <= MOST_VERTICES and n <= MOST_BLOCKS * width,
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class BlocksOptions(Options):
    """Options of the study."""

    graphs: Sequence[str] = option(("kron:14", "kron:11"), quick=("kron:8",))
    trials: int = option(3, quick=1)
    names: Sequence[str] = option(tuple(CASES), "Any of bfs, bc, apsp.", flag="--algorithms")
    widths: Sequence[int] = option(WIDTHS, "Rows of the blocks.", quick=(1, 4))


def points(options: BlocksOptions, xp: Any, say: Say) -> Iterator[tuple[BenchGraph, Case, int]]:
    """Yield undirected graphs with every algorithm and width that fits.

    Raises
    ------
    InvalidValue
        A name is not that of an algorithm.
    """
    for name in options.names:
        if name not in CASES:
            raise InvalidValue(f"no algorithm is called {name!r}; choose among {', '.join(CASES)}")
    return (
        (graph.undirected, CASES[name], width)
        for graph in graphs(options, xp, say)
        for name in options.names
        for width in options.widths
        if width <= graph.n and CASES[name].fits(graph.n, width)
    )


def trial(options: BlocksOptions, point: tuple[BenchGraph, Case, int]) -> Iterator[Record]:
    """Measure one algorithm with blocks of one width in every way; the ways must agree."""
    import semira as gb

    graph, case, width = point
    sources = case.starts(graph, width)
    levels = Levels(options.device, options.trials, case.exact)
    with gb.device(options.device):
        matrix = graph.matrix.to(options.device)
        # A walk that takes longer keeps its first levels.
        with suppress(TooSlow), time_limit(_LIMIT_S):
            case.walk(matrix, sources, levels)
        yield from _whole(options, case, graph, matrix, sources, levels.rows)


def _whole(
    options: BlocksOptions, case: Case, graph: BenchGraph, matrix: Any, sources: list[int],
    rows: list[dict[str, Any]],
) -> Iterator[Record]:  # fmt: skip
    """Yield the record of whole calls in each way; the planner's has the levels as well."""
    first, verdict = None, Verdict(None, "")
    for way, pins in WAYS.items():
        blank = Record(
            "blocks", case.function, graph.dataset, "semira", options.device, plan=pins,
            options={"width": len(sources)}, sources=sources, load_s=graph.load_s,
            build_s=graph.build_s,
        )  # fmt: skip
        try:
            found, samples, device = _called(options, case, matrix, sources, pins)
        except (TooSlow, MemoryError) as error:
            yield without_result(blank, error)
            continue
        answer = getattr(found, case.result)
        if first is None:
            first, verdict = answer, case.check(graph, found, sources)
        findings = _differences(case, rows, way, answer, first)
        yield _filled(
            blank, found, answer, samples,
            verified=False if findings or verdict.finding else verdict.ok,
            note="; ".join(filter(None, [*findings, verdict.finding])),
            verified_by=f"the other ways at every level, and as a whole; {verdict.method}",
            facts=_facts(found, rows if way == "auto" else []), **device,
        )  # fmt: skip


def _called(
    options: BlocksOptions, case: Case, matrix: Any, sources: list[int], pins: dict[str, Any]
) -> tuple[Any, Samples, dict[str, Any]]:
    """Return the first result of whole calls, their times, and the device's times."""
    import semira as gb

    def call(_trial: int = 0) -> Any:
        with time_limit(_LIMIT_S):
            found = case.call(getattr(gb.algorithms, case.function), matrix, sources, pins)
            getattr(found, case.result).wait()
        return found

    found, samples = measure(call, Budget(options.trials, options.seconds))
    times = PROFILED if min(samples.warm_s) < 1 else 1
    device = profile_calls(options.device, call, times=times)
    device.pop("kernels", None)
    return found, samples, device


def _differences(
    case: Case, rows: list[dict[str, Any]], way: str, answer: Any, first: Any
) -> list[str]:
    """Return where the ways differ: at the first differing level, or in this whole result."""
    wrong = [f"{row['part']} {row['level']}" for row in rows if not row["agree"]]
    findings = [f"the ways differ at level {place}" for place in wrong[:1]]
    if not alike(first, answer, case.exact):
        findings.append(f"the result of {way} differs from the first way's")
    return findings


def _facts(found: Any, rows: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "levels": rows,
        "directions": [row.direction for row in found.trace],
        "methods": dict(Counter(row.method for row in found.trace)),
    }


def _filled(
    blank: Record, found: Any, answer: Any, samples: Samples, **more: Any
) -> Record:  # fmt: skip
    return replace(
        blank, dtype=answer.dtype.name, iterations=found.iterations,
        ran=dict(Counter(row.direction for row in found.trace)),
        touched=sum(row.touched for row in found.trace), first_s=samples.first_s,
        warm_s=samples.warm_s, compile_s=samples.compile_s, compiled=samples.compiled, **more,
    )  # fmt: skip


# tables ------------------------------------------------------------------------------------------
_NAMES = {case.function: name for name, case in CASES.items()}


def widths_table(records: Sequence[Record]) -> tuple[list[str], list[list[str]]]:
    """Return the header and rows: whole calls with blocks of each width in every way.

    For all pairs, every vertex is a source.
    """
    head = [
        "graph", "algorithm", "device", "rows", "products", "way", "device ms", "call ms",
        "call ms a source", "pushed", "pulled", "by block", "verified",
    ]  # fmt: skip
    rows = []
    for record in records:
        if record.kind != "blocks":
            continue
        width, ran, name = record.options["width"], record.ran, _NAMES[record.kernel]
        count = record.dataset.n if name == "apsp" else width
        methods = record.facts.get("methods")
        times = [record.device_median_s, record.median_s, (record.median_s or 0) / count]
        rows.append(
            [
                record.dataset.name, name, record.backend, str(width),
                str(sum(ran.values())), _way_of(record),
                *(figure(1e3 * taken_s) if taken_s else "-" for taken_s in times),
                str(ran.get("push", 0)), str(ran.get("pull", 0)),
                "-" if methods is None else str(methods.get("pull", 0)),
                checked(record) if record.median_s else f"**failed**: {record.note}",
            ]
        )  # fmt: skip
    return head, rows


def _way_of(record: Record) -> str:
    return str(record.plan.get("direction", "planner"))


#: Rows of the blocks whose levels appear in pictures and pages.
_SHOWN_ROWS = 64

#: First levels of a search, shown in the table of levels.
_SHOWN = 12


def shown_walks(records: Sequence[Record]) -> list[Record]:
    """Return the records with levels of the width shown in pictures and pages.

    That is 64 rows, or the largest block of an algorithm on a graph.
    """
    found: dict[tuple[str, str], Record] = {}
    for record in records:
        if record.kind == "blocks" and record.facts.get("levels"):
            key, width = (record.dataset.name, record.kernel), record.options["width"]
            before = found[key].options["width"] if key in found else 0
            if before != _SHOWN_ROWS and (width > before or width == _SHOWN_ROWS):
                found[key] = record
    return list(found.values())


def title_of(record: Record) -> str:
    """Return the title of a record: graph, algorithm, rows of its blocks."""
    return f"{record.dataset.name}: {_NAMES[record.kernel]}, {record.options['width']} rows"


def levels_table(records: Sequence[Record]) -> tuple[list[str], list[list[str]]]:
    """Return the header and rows: each level's product in every way, and the planner's choice.

    Under a mask that selects the results there are two ways to pull, ``dots ms`` and ``block ms``;
    ``stored`` is the device's storage of the frontier, and of the result of the planner's choice.
    The oldest records lack it.
    """
    head = [
        "graph", "algorithm", "device", "rows", "level", "frontier", "stored", "push touched",
        "pull touched", "push ms", "pull ms", "auto ms", "dots ms", "block ms",
        "auto ran", "call ran",
    ]  # fmt: skip
    rows = []
    for record in records:
        if record.kind != "blocks" or not record.facts.get("levels"):
            continue
        chosen = record.facts["directions"]
        for row, went in list(zip(record.facts["levels"], chosen, strict=False))[:_SHOWN]:
            part = "back " if row.get("part") == "back" else ""
            named = (figure(1e3 * row[way]["s"]) if way in row else "-" for way in NAMED_WAYS)
            stored = f"{row['storage']} to {row['made']}" if "storage" in row else "-"
            rows.append(
                [
                    record.dataset.name, _NAMES[record.kernel], record.backend,
                    str(record.options["width"]), f"{part}{row['level']}", f"{row['frontier']:,}",
                    stored, *(f"{row[way]['touched']:,}" for way in ("push", "pull")),
                    *(figure(1e3 * row[way]["s"]) for way in WAYS), *named,
                    row["auto"].get("method", row["auto"]["ran"]), went,
                ]
            )  # fmt: skip
    return head, rows


STUDY = Study(
    __doc__,
    BlocksOptions,
    trial,
    {"Whole calls": widths_table, "Level by level": levels_table},
    points,
    picture="blocks",
)
