"""Measure push, pull and the planner's choice at each level of breadth-first search.

From the vertex with the most edges, then from seeded random ones: entries read, vertices
found and time of the product in every way; compares the planner with an oracle that tries both
at every level (C. Yang's thesis of 2019, Figures 5.4 and 5.5).

Examples
--------
python -m benchmarks levels --quick --plot levels.svg
python -m benchmarks levels --graphs kron:18 --device cuda --sources 1000 --seconds 90 --out l.jsonl
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from benchmarks.harness import Options, Study, option
from benchmarks.studies.choices import way_by_policy
from benchmarks.studies.frontiers import GOAL, WAYS
from semira.bench.device import LEAST_HELD_S, device_seconds
from semira.bench.graphs import BenchGraph
from semira.bench.libraries import dense
from semira.bench.record import Dataset, Record
from semira.bench.report import figure
from semira.bench.timer import clock
from semira.bench.verify import check_levels
from semira.plan.rules_direction import DIRECTIONS, Situation

#: Sources per record: enough to make its environment a small part, few enough to lose little if the
#: process dies.
BATCH = 25


@dataclass(frozen=True, slots=True)
class LevelsOptions(Options):
    """Options of the study."""

    trials: int = option(5, "Timed calls in the first search; later ones have 1.", quick=1)
    seconds: float = option(20.0, "Of one graph.", quick=5.0, flag="--seconds")
    sources: int = option(
        1,
        "Searches on each graph: from the vertex of largest degree, then from random ones.",
        least=1,
    )
    most: int = option(64, "Measured levels of a search, evenly spread.", quick=16, least=2)


def trial(options: LevelsOptions, graph: BenchGraph) -> Iterator[Record]:
    """Measure each level's product of searches in every way; the ways must agree."""
    import semira as gb

    graph, end_s = graph.undirected, time.perf_counter() + options.seconds
    # Random sources may repeat.
    drawn = graph.sources(2 * options.sources)
    sources = list(dict.fromkeys([*graph.sources(0), *drawn]))[: options.sources]
    with gb.device(options.device):
        matrix = graph.matrix.to(options.device)
        # The first one has its own record, for the tables of levels.
        for first, last in [(0, 1), *((k, k + BATCH) for k in range(1, len(sources), BATCH))]:
            if first and time.perf_counter() > end_s:
                return
            asked = replace(options, trials=1) if first else options
            record = _batch(asked, graph, matrix, sources[first:last], end_s)
            if first:
                record = replace(record, facts={"levels": to_columns(record.facts["levels"])})
            yield record


def _batch(
    options: LevelsOptions, graph: BenchGraph, matrix: Any, sources: Sequence[int], end_s: float
) -> Record:
    """Return the record of a few searches; the levels of the first one are checked."""
    rows: list[dict[str, Any]] = []
    walked: list[int] = []
    verdict = None
    for source in sources:
        if walked and time.perf_counter() > end_s:
            break
        level, found = walk(matrix, source, options)
        rows += found
        walked.append(source)
        if verdict is None:
            indices, values = level.to_coo()
            verdict = check_levels(graph, source, dense(indices, values, graph.n, -1, np.int32))
    assert verdict is not None
    differ = [f"{row['source']} at level {row['level']}" for row in rows if not row["agree"]]
    wrong = [f"the ways differ from {place}" for place in differ[:1]]
    finding = "; ".join(filter(None, [*wrong, verdict.finding]))
    return Record(
        "levels", "bfs", graph.dataset, "semira", options.device, "BOOL",
        sources=walked, facts={"levels": rows}, load_s=graph.load_s, build_s=graph.build_s,
        verified=not finding, note=finding,
        verified_by=(
            "the other ways at every level, the search as one program; "
            f"{verdict.method} from the first source"
        ),
    )  # fmt: skip


def walk(matrix: Any, source: int, options: LevelsOptions) -> tuple[Any, list[dict[str, Any]]]:
    """Return the levels from a vertex, and a row for each measured level.

    A row has ``source``, ``level``, entries of the ``frontier``, ``unvisited`` vertices, what
    the search as one program chose (``loop``), whether the ways ``agree`` (at the last level also
    whether all levels are that search's), and of each way the seconds ``s``, the entries
    ``touched``, the vertices ``found`` and what ``ran``.
    """
    import semira as gb

    n = matrix.nrows
    # A loop remembers its last direction; a single product starts from push.
    searched = gb.algorithms.bfs(matrix, source)
    chosen = [row.method for row in searched.trace]
    picked = {*np.linspace(0, len(chosen) - 1, min(len(chosen), options.most)).round().astype(int)}
    level = gb.Vector("INT32", n).to(matrix.device)
    frontier = gb.Vector.from_coo([source], True, size=n).to(matrix.device)
    visited, rows = 0, []
    for depth, method in enumerate(chosen):
        level(frontier.S) << depth
        entries = int(frontier.nvals)
        visited += entries

        def step(pins: dict[str, Any], frontier: Any = frontier) -> Any:
            output = gb.Vector(bool, n)
            output(~level.S, replace=True, **pins) << frontier.vxm(matrix, "any_pair")
            return output.wait()

        if depth not in picked:
            frontier = step({})
            continue
        found = {way: _in_one_way(step, pins, options) for way, pins in WAYS.items()}
        frontier = found["auto"][0]
        agree = all(frontier.isequal(result) for result, _ in found.values())
        row = {"source": source, "level": depth, "frontier": entries, "unvisited": n - visited}
        ways = {way: facts for way, (_, facts) in found.items()}
        rows.append({**row, "loop": method, "agree": agree, **ways})
    rows[-1]["agree"] &= level.isequal(searched.level)
    return level, rows


def _in_one_way(
    step: Callable[[dict[str, Any]], Any], pins: dict[str, Any], options: LevelsOptions
) -> tuple[Any, dict[str, Any]]:
    """Return the next frontier, and one way's seconds, entries, vertices and method."""
    import semira as gb

    with gb.tracing() as trace:
        result = step(pins)
    (ran,) = trace.rows
    times = [_seconds(options.device, lambda: step(pins)) for _ in range(options.trials)]
    taken_s = round(statistics.median(times), 9)
    return result, {"s": taken_s, "touched": ran.touched, "found": ran.produced, "ran": ran.method}


def _seconds(device: str, call: Callable[[], Any]) -> float:
    """Return the seconds of the launches of a call, or of the whole call without a device clock."""
    on_device = device_seconds(device, call, held_s=LEAST_HELD_S)
    return clock(call)[1] if on_device is None else on_device


# results -----------------------------------------------------------------------------------------
def to_columns(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return rows as columns, with the same nesting: thousands take a third of the bytes.

    Examples
    --------
    >>> to_columns([{"level": 0, "push": {"s": 1.0}}, {"level": 1, "push": {"s": 2.0}}])
    {'level': [0, 1], 'push': {'s': [1.0, 2.0]}}
    """
    return {
        key: to_columns([row[key] for row in rows])
        if isinstance(value, dict)
        else [row[key] for row in rows]
        for key, value in rows[0].items()
    }


def to_rows(columns: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the rows given to `to_columns`.

    Examples
    --------
    >>> to_rows({"level": [0, 1], "push": {"s": [1.0, 2.0]}})[1]
    {'level': 1, 'push': {'s': 2.0}}
    """
    parts = [to_rows(part) if isinstance(part, dict) else part for part in columns.values()]
    return [dict(zip(columns, row, strict=True)) for row in zip(*parts, strict=True)]


def rows_of(records: Sequence[Record]) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """Return the rows of all levels by graph and device."""
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for record in records:
        if record.kind == "levels":
            kept = record.facts["levels"]
            rows = to_rows(kept) if isinstance(kept, dict) else kept
            found.setdefault((record.dataset.name, record.backend), []).extend(rows)
    return found


def oracle_s(row: dict[str, Any]) -> float:
    """Return the seconds of the better way of a level."""
    return float(min(row["push"]["s"], row["pull"]["s"]))


def totals(rows: Sequence[dict[str, Any]]) -> dict[str, float]:
    """Return total seconds over levels: of each way, of the oracle, and of the loop's choices.

    ``loop`` adds up the time of the way that the search as one program chose at each level: the
    rule without the cost of counting in a single product.
    """
    sums = {way: sum(row[way]["s"] for row in rows) for way in WAYS}
    sums["oracle"] = sum(map(oracle_s, rows))
    sums["loop"] = sum(row[row["loop"]]["s"] for row in rows)
    return sums


def choices(rows: Sequence[dict[str, Any]], graph: Dataset, device: str) -> list[str]:
    """Return the way that the present ``auto`` chooses at each measured level.

    It uses the counts in the records, so existing times can judge a change of the policy.
    """
    situation = Situation(True, True, True, many_threads=device == "cuda")
    found: list[str] = []
    previous = 0
    for before, row in zip([None, *rows], rows, strict=False):
        if before is None or before["source"] != row["source"]:
            previous = 0
        counts = {
            "frontier": row["frontier"], "frontier_edges": row["push"]["touched"],
            "open_rows": row["unvisited"], "nnz": graph.nvals, "n": graph.n, "rows": graph.n,
        }  # fmt: skip
        found.append(way_by_policy(situation, counts, previous))
        previous = DIRECTIONS.index(found[-1])
    return found


def policy_table(records: Sequence[Record]) -> tuple[list[str], list[list[str]]]:
    """Return the header and rows: the planner against an oracle, over all levels of a graph."""
    head = [
        "graph", "device", "sources", "levels", "push ms", "pull ms", "oracle ms", "auto ms",
        "auto, times the oracle", f"within {GOAL - 1:.0%}", "loop's choices, times the oracle",
        "today's policy, times the oracle", f"levels within {GOAL - 1:.0%}",
    ]  # fmt: skip
    graphs = {(record.dataset.name, record.backend): record.dataset for record in records}
    table = []
    for place, rows in rows_of(records).items():
        sums = totals(rows)
        ways = choices(rows, graphs[place], place[1])
        chosen = sum(row[way]["s"] for row, way in zip(rows, ways, strict=True))
        near = sum(row["auto"]["s"] <= GOAL * oracle_s(row) for row in rows)
        ratio = sums["auto"] / sums["oracle"]
        table.append(
            [
                *place, str(len({row["source"] for row in rows})), str(len(rows)),
                *(figure(1e3 * sums[name]) for name in ("push", "pull", "oracle", "auto")),
                figure(ratio), "yes" if ratio <= GOAL else "no",
                figure(sums["loop"] / sums["oracle"]), figure(chosen / sums["oracle"]),
                f"{near} of {len(rows)}",
            ]
        )  # fmt: skip
    return head, table


#: First levels of a search, shown in the table of levels.
_SHOWN = 12


def open_edges(rows: Sequence[dict[str, Any]], nvals: int) -> list[int | None]:
    """Return the number of entries of the unvisited vertices, at each level of one search.

    All entries minus those of the frontiers so far, which a push reads; None after a level that was
    not measured. Graphs have every edge in both directions.

    Examples
    --------
    >>> rows = [{"level": 0, "push": {"touched": 2}}, {"level": 1, "push": {"touched": 3}}]
    >>> open_edges([*rows, {"level": 3, "push": {"touched": 1}}], 8)
    [6, 3, None]
    """
    found: list[int | None] = []
    left = nvals
    for depth, row in enumerate(rows):
        left -= row["push"]["touched"]
        found.append(left if row["level"] == depth else None)
    return found


def levels_table(records: Sequence[Record]) -> tuple[list[str], list[list[str]]]:
    """Return the header and rows of the first levels of each graph's first search.

    Looks of a pull per vertex found: at every entry of its rows, and with early exit at the first
    visited vertex of a row (Figure 5.4 of the thesis).
    """
    head = [
        "graph", "device", "level", "frontier", "unvisited", "entries pushed", "entries pulled",
        "found", "looks for each found, all entries", "with early exit", "push ms", "pull ms",
        "auto ms", "auto ran", "loop ran", "auto, times the better",
    ]  # fmt: skip
    entries = {(record.dataset.name, record.backend): record.dataset.nvals for record in records}
    table = []
    for place, rows in rows_of(records).items():
        shown = first_search(rows)[:_SHOWN]
        for row, edges in zip(shown, open_edges(shown, entries[place]), strict=True):
            read = (row[way]["touched"] for way in ("push", "pull"))
            found = row["pull"]["found"]
            counts = [row["frontier"], row["unvisited"], *read, row["auto"]["found"]]
            looks = (edges if found else None, row["pull"]["touched"] if found else None)
            table.append(
                [
                    *place, str(row["level"]), *(f"{count:,}" for count in counts),
                    *(figure(None if each is None else each / found) for each in looks),
                    *(figure(1e3 * row[way]["s"]) for way in WAYS),
                    row["auto"]["ran"], row["loop"], figure(row["auto"]["s"] / oracle_s(row)),
                ]
            )  # fmt: skip
    return head, table


#: Quantiles in tables and pictures of many searches.
PARTS = (0.1, 0.5, 0.9)


def quantiles_table(records: Sequence[Record]) -> tuple[list[str], list[list[str]]]:
    """Return the header and rows of the first levels over all searches of a graph."""
    head = [
        "graph", "device", "level", "searches", "frontier", "unvisited", "push ms", "pull ms",
        "auto ms", "loop pushed", "push is better",
    ]  # fmt: skip
    table = []
    for place, rows in rows_of(records).items():
        levels = sorted({row["level"] for row in rows})
        for level in levels[:_SHOWN] if len({row["source"] for row in rows}) > 1 else []:
            there = [row for row in rows if row["level"] == level]
            pushed = sum(row["loop"] == "push" for row in there)
            better = sum(row["push"]["s"] <= row["pull"]["s"] for row in there)
            table.append(
                [
                    *place, str(level), str(len(there)),
                    *(_parts([row[name] for row in there]) for name in ("frontier", "unvisited")),
                    *(_parts([1e3 * row[way]["s"] for row in there]) for way in WAYS),
                    f"{pushed / len(there):.0%}", f"{better / len(there):.0%}",
                ]
            )  # fmt: skip
    return head, table


def _parts(values: Sequence[float]) -> str:
    """Return the quantiles of `PARTS` as text."""
    found = np.quantile(values, PARTS)
    if isinstance(values[0], int):
        return " / ".join(f"{count:,.0f}" for count in found)
    return " / ".join(map(figure, found))


@dataclass(frozen=True, slots=True)
class Band:
    """Times of one way over the sizes of its input, for all searches.

    Attributes
    ----------
    sizes : list of float
        Medians of the sizes within a factor of two, rising.
    times : list of tuple of float
        Seconds at `PARTS` of the levels of that size.
    """

    sizes: list[float]
    times: list[tuple[float, ...]]


def band_of(sizes: Sequence[int], times: Sequence[float]) -> Band:
    """Return the band of levels of these sizes and times.

    Examples
    --------
    >>> band_of([1, 4, 5, 0], [0.1, 0.2, 0.4, 0.1]).sizes
    [0.0, 1.0, 4.5]
    """
    powers = [int(size).bit_length() for size in sizes]
    found = Band([], [])
    for power in sorted(set(powers)):
        chosen = [k for k, each in enumerate(powers) if each == power]
        found.sizes.append(float(np.median([sizes[k] for k in chosen])))
        parts = np.quantile([times[k] for k in chosen], PARTS)
        found.times.append(tuple(map(float, parts)))
    return found


def first_search(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows of the first source."""
    return [row for row in rows if row["source"] == rows[0]["source"]]


STUDY = Study(
    __doc__,
    LevelsOptions,
    trial,
    {
        "Level by level": levels_table,
        "All searches: 10% / 50% / 90%": quantiles_table,
        "Beside an oracle": policy_table,
    },
    picture="levels",
)
