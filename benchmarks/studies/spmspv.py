"""Strategies of a sparse push against the dense product, by size of the frontier.

Atomics, scatter, radix sort and merge sort, of columns alone (any_pair) and with values
(any_first, min_plus); then breadth-first search by each.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from benchmarks.harness import STEADY, Options, held_for, option, time_of
from benchmarks.studies.frontiers import GOAL, crossing
from semira.bench.device import profile_calls
from semira.bench.graphs import BenchGraph
from semira.bench.ours import semira_library
from semira.bench.record import Record
from semira.bench.report import checked, figure
from semira.bench.runner import Preset, run_kernel
from semira.bench.timer import Budget, measure
from semira.contract import TraceRow, has_part
from semira.plan.reasons import Code
from semira.plan.rules_direction import WHOLE

#: Products: semiring, dtype of the vector, whether any of several products may be kept. The first
#: lists only columns, the others columns and values.
PRODUCTS: dict[str, tuple[str, str, bool]] = {
    "any_pair": ("key-only", "BOOL", True),
    "any_first": ("key-value", "FP32", True),
    "min_plus": ("key-value", "FP32", False),
}

#: The strategies: accumulate products directly, or list and then merge them.
MERGES = ("atomics", "scatter", "radix", "sort")

#: Compared with the strategies: the dense product reads every row to its end.
DENSE: dict[str, Any] = {"direction": "pull", "early_exit": False}

#: The pull that the planner may choose; without early exit it is the dense product.
PULL: dict[str, Any] = {"direction": "pull"}


@dataclass(frozen=True, slots=True)
class SpmspvOptions(Options):
    """Options of the study."""

    graphs: Sequence[str] = option(("kron:14", "kron:16", "kron:18"), quick=("kron:8", "kron:10"))
    seconds: float = option(0.5, quick=0.05)
    step: int = option(4, "Ratio of the sizes of consecutive frontiers.", quick=16, least=2)
    searches: bool = option(True, "Run whole searches with every strategy.")


def ways_on(device: str) -> dict[str, dict[str, Any]]:
    """Return the pins of each way on a device; a single way to push is called ``push``.

    Examples
    --------
    >>> list(ways_on("reference"))
    ['push', 'pull', 'dense', 'auto']
    """
    pushes: dict[str, dict[str, Any]] = {"push": {"direction": "push"}}
    if has_part("sorted_push", device):
        pushes = {merge: {"merge": merge} for merge in MERGES}
    return {**pushes, "pull": PULL, "dense": DENSE, "auto": {}}


def sizes_of(n: int, step: int) -> list[int]:
    """Return the sizes of frontiers: powers of `step` below `n`, and `n`.

    Examples
    --------
    >>> sizes_of(100, 4)
    [1, 4, 16, 64, 100]
    """
    powers = [step**k for k in range(int(math.log(max(n, 1), step)) + 1)]
    return [*(size for size in powers if size < n), n]


def trial(options: SpmspvOptions, graph: BenchGraph) -> Iterator[Record]:
    """Measure each product in every way over frontiers of every size; all ways must agree."""
    import semira as gb

    ways = ways_on(options.device)
    with gb.device(options.device):
        matrix = graph.matrix_in("FP32").to(options.device)
        # Each frontier contains the previous ones.
        order = np.random.default_rng(0).permutation(graph.n)
        for semiring, (listed, dtype, _) in PRODUCTS.items():
            for size in sizes_of(graph.n, options.step):
                frontier = _frontier(order[:size], semiring, dtype, graph.n).to(options.device)
                blank = Record(
                    "spmspv", f"vxm {semiring}", graph.dataset, "semira", options.device,
                    options={"frontier": size, "listed": listed},
                )  # fmt: skip
                yield from _point(options, blank, frontier, matrix, ways)
    if not options.searches:
        return
    preset = Preset({"bfs": options.trials}, options.seconds)
    for pins in ways.values():
        library = semira_library(options.device, pins)
        yield from run_kernel("bfs", graph.undirected, [library], preset)


def _frontier(vertices: Any, semiring: str, dtype: str, n: int) -> Any:
    """Return the vector of a product; all its values are one where any product may be kept."""
    import semira as gb

    vertices = np.sort(vertices)
    if PRODUCTS[semiring][2]:
        return gb.Vector.from_coo(vertices, True, dtype, size=n)
    lengths = np.random.default_rng(1).random(len(vertices)).astype(np.float32)
    return gb.Vector.from_coo(vertices, lengths, dtype, size=n)


def _point(
    options: SpmspvOptions,
    blank: Record,
    frontier: Any,
    matrix: Any,
    ways: dict[str, dict[str, Any]],
) -> Iterator[Record]:
    """Measure one product of one frontier in every possible way."""
    semiring = blank.kernel.split()[1]
    # Where any product may be kept, it may be stored at once and end its row early.
    may_stay = PRODUCTS[semiring][2]
    made = [
        _measure(options, replace(blank, plan=pins), frontier, matrix, semiring)
        for way, pins in ways.items()
        if may_stay or way not in ("scatter", "pull")
    ]
    agree = all(made[0][0].isequal(result) for result, _ in made[1:])
    # A pull does not count the entries of a push; all pushes touch the same ones.
    edges = next(record.touched for _, record in made if "push" in record.ran)
    for _, record in made:
        yield replace(
            record,
            options={**record.options, "edges": edges},
            verified=agree,
            verified_by="the other ways",
            note="" if agree else "the ways differ",
        )


def _measure(
    options: SpmspvOptions, blank: Record, frontier: Any, matrix: Any, semiring: str
) -> tuple[Any, Record]:
    import semira as gb

    output = gb.Vector(frontier.dtype, matrix.ncols)

    def call(_trial: int = 0) -> Any:
        output(**blank.plan) << frontier.vxm(matrix, semiring)
        return output.wait()

    result, samples = measure(call, Budget(options.trials, options.seconds))
    with gb.tracing() as trace:
        call()
    record = replace(
        blank,
        dtype=result.dtype.name,
        first_s=samples.first_s,
        warm_s=samples.warm_s,
        ran=dict(Counter(way_taken(trace, row) for row in trace.rows)),
        touched=sum(row.touched for row in trace.rows),
        **profile_calls(options.device, call, held_s=held_for(samples.warm_s), times=STEADY),
    )
    return result, record


def way_taken(trace: Any, row: TraceRow) -> str:
    """Return the method that a product ran, or the pull that reads whole rows.

    Parameters
    ----------
    trace : what `semira.tracing` collects in
        Of an eager product.
    row : TraceRow
    """
    (statement,) = trace.programs[-1].body
    reads_whole = any(Code(each.code) == Code.WHOLE_ROWS for each in statement.plan.reasons)
    return WHOLE if reads_whole else row.method


# results -----------------------------------------------------------------------------------------
def way_of(record: Record) -> str:
    """Return the name of the way of a record's pins."""
    if record.plan == DENSE:
        return "dense"
    return str(record.plan.get("merge") or record.plan.get("direction") or "auto")


@dataclass(frozen=True, slots=True)
class Series:
    """One product on one graph over all frontiers.

    Attributes
    ----------
    graph, semiring : str
    n, nvals : int
        Of the graph.
    frontiers, edges : list of int
        Entries of the vector, ascending, and their numbers of products.
    times, calls : dict of str to list of float
        Seconds by way: by the device's clock where it has one, and of the whole call.
    device : str
    ran : list of str
        The direction that ``auto`` chose, by frontier.
    """

    graph: str
    semiring: str
    n: int
    nvals: int
    frontiers: list[int] = field(default_factory=list)
    edges: list[int] = field(default_factory=list)
    times: dict[str, list[float]] = field(default_factory=dict)
    calls: dict[str, list[float]] = field(default_factory=dict)
    device: str = "cuda"
    ran: list[str] = field(default_factory=list)

    @property
    def strategies(self) -> list[str]:
        """The ways to push."""
        return [way for way in self.times if way not in ("pull", "dense", "auto")]

    @property
    def best(self) -> list[float]:
        """The seconds of the best pinned way, by frontier."""
        pinned = [times for way, times in self.times.items() if way != "auto"]
        return [min(times) for times in zip(*pinned, strict=True)]

    @property
    def losses(self) -> list[float]:
        """Time of the planner's choice divided by the best way's, by frontier."""
        return [auto / least for auto, least in zip(self.times["auto"], self.best, strict=True)]

    def crossover(self, way: str) -> float | None:
        """Return the size of frontier from which the dense product wins; None: it never does."""
        return crossing(self.frontiers, self.times[way], self.times["dense"])

    def crosses_inside(self, way: str) -> bool:
        """Whether the two cross between the smallest and the largest frontier."""
        size = self.crossover(way)
        return size is not None and size > self.frontiers[0]

    def crossing_edges(self, way: str) -> float | None:
        """Return the products from which the dense product wins; None: it never does."""
        # A frontier of vertices without edges has no products.
        edges = [max(1, count) for count in self.edges]
        return crossing(edges, self.times[way], self.times["dense"])


def series_of(records: Sequence[Record]) -> list[Series]:
    """Return the products among records, with the frontiers measured in every way."""
    found: dict[tuple[str, str], dict[int, dict[str, Record]]] = {}
    for record in records:
        if record.kind == "spmspv" and time_of(record):
            key = record.dataset.name, record.kernel.split()[1]
            points = found.setdefault(key, {})
            points.setdefault(record.options["frontier"], {})[way_of(record)] = record
    made = []
    for (graph, semiring), points in found.items():
        ways = max((list(point) for point in points.values()), key=len)
        complete = sorted(size for size, point in points.items() if point.keys() == set(ways))
        first = points[complete[0]][ways[0]]
        series = Series(
            graph, semiring, first.dataset.n, first.dataset.nvals, complete, device=first.backend
        )
        series.ran.extend(next(iter(points[size]["auto"].ran), "push") for size in complete)
        series.edges.extend(points[size][ways[0]].options["edges"] for size in complete)
        for way in ways:
            mine = [points[size][way] for size in complete]
            series.times[way] = [time_of(each) or math.inf for each in mine]
            series.calls[way] = [each.median_s or math.inf for each in mine]
        made.append(series)
    return made


#: Crossovers whose ratio exceeds this are not a common one.
ONE_CROSSOVER = 10.0


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether the dense product wins from a size on, or from a fraction of the graph.

    Attributes
    ----------
    semiring, way : str
    graphs : int
        Those on which the two ways cross between two measured frontiers. If the dense product wins
        from the smallest on, the crossover is unknown.
    size_spread, fraction_spread : float
        Largest crossover over the smallest: in products, and in products over the graph's edges.
    """

    semiring: str
    way: str
    graphs: int
    size_spread: float
    fraction_spread: float

    @property
    def answer(self) -> str:
        """The measure that varies less between graphs; open with fewer than two graphs."""
        if self.graphs < 2 or self.size_spread == self.fraction_spread:
            return "open"
        if min(self.size_spread, self.fraction_spread) > ONE_CROSSOVER:
            return "neither"
        return "a fraction" if self.fraction_spread < self.size_spread else "a size"


def verdicts(found: Sequence[Series]) -> list[Verdict]:
    """Return the answer for each product and strategy, over all graphs."""
    made = []
    for semiring in dict.fromkeys(each.semiring for each in found):
        mine = [each for each in found if each.semiring == semiring]
        for way in dict.fromkeys(way for each in mine for way in each.strategies):
            crossings = [
                (edges, edges / each.nvals)
                for each in mine
                if way in each.times and each.crosses_inside(way)
                for edges in [each.crossing_edges(way)]
                if edges is not None
            ]
            spreads = [max(part) / min(part) for part in zip(*crossings, strict=True)] or [1.0, 1.0]
            made.append(Verdict(semiring, way, len(crossings), *spreads))
    return made


def times_table(found: Sequence[Series]) -> tuple[list[str], list[list[str]]]:
    """Return the header and rows: the time of every way for every frontier."""
    ways = list(dict.fromkeys(way for each in found for way in each.times))
    head = ["graph", "product", "frontier", "edges", *(f"{way} ms" for way in ways), "best"]
    rows = []
    for each in found:
        for at, size in enumerate(each.frontiers):
            taken = {way: times[at] for way, times in each.times.items() if way != "auto"}
            cells = [
                _both(each.times[way][at], each.calls[way][at]) if way in each.times else "-"
                for way in ways
            ]
            place = f"{each.semiring} ({PRODUCTS[each.semiring][0]})"
            rows.append(
                [
                    each.graph, place, f"{size:,}", f"{each.edges[at]:,}", *cells,
                    min(taken, key=lambda way: taken[way]),
                ]
            )  # fmt: skip
    return head, rows


def _both(device_s: float, call_s: float) -> str:
    """Return the device's time, and that of the call in brackets if it differs."""
    shown = figure(1e3 * device_s)
    return shown if device_s == call_s else f"{shown} ({figure(1e3 * call_s)})"


def crossings_table(found: Sequence[Series]) -> tuple[list[str], list[list[str]]]:
    """Return the header and rows: where the dense product takes over, and the planner's quality."""
    head = [
        "graph", "product", "strategy", "dense wins from a frontier of", "of the vertices",
        "of the edges", "auto, times the best: median", "worst", f"within {GOAL - 1:.0%}",
    ]  # fmt: skip
    rows = []
    for each in found:
        losses = each.losses
        near = f"{sum(loss <= GOAL for loss in losses)} of {len(losses)}"
        auto = [figure(statistics.median(losses)), figure(max(losses)), near]
        for way in each.strategies:
            size, edges = each.crossover(way), each.crossing_edges(way)
            if size is None or edges is None:
                cells = ["never", "-", "-"]
            else:
                cells = [figure(size), f"{size / each.n:.2%}", f"{edges / each.nvals:.2%}"]
            rows.append([each.graph, each.semiring, way, *cells, *auto])
    return head, rows


def verdicts_table(found: Sequence[Series]) -> tuple[list[str], list[list[str]]]:
    """Return the header and rows: whether the crossover is a size or a fraction, or neither."""
    head = [
        "product", "strategy", "graphs that cross inside", "sizes differ by", "fractions differ by",
        "the crossover is",
    ]  # fmt: skip
    rows = [
        [
            each.semiring, each.way, str(each.graphs), f"{figure(each.size_spread)} x",
            f"{figure(each.fraction_spread)} x", each.answer,
        ]
        for each in verdicts(found)
    ]  # fmt: skip
    return head, rows


#: Parts of a push that lists its products, by suffixes of kernel names; other kernels write the
#: output.
PARTS: dict[str, tuple[str, ...]] = {
    "gather": ("p_degrees", "p_gather"),
    "sort": ("semira_count_digits", "semira_place_digits", "semira_sort_tiles",
             "semira_merge_tiles"),
    "scatter and fold": ("p_mark", "p_flag", "p_enter", "p_fold_tiles", "p_fold_sums",
                         "p_fold_items", "semira_key_heads"),
    "running sums": ("semira_scan32", "semira_scan64"),
}  # fmt: skip


def part_of(kernel: str) -> str:
    """Return the part of a push that a kernel belongs to.

    Examples
    --------
    >>> part_of("sorts:semira_place_digits4"), part_of("program-0123")
    ('sort', 'write')
    """
    name = kernel.rpartition(":")[2]
    return next((part for part, names in PARTS.items() if name.startswith(names)), "write")


def parts_table(records: Sequence[Record]) -> tuple[list[str], list[list[str]]]:
    """Return the header and rows: the parts of the largest frontier's time (thesis, Table 4.3).

    Only for devices that time their kernels.
    """
    head = ["graph", "product", "strategy", "edges", *(f"{part} ms" for part in PARTS), "write ms"]
    listed = [
        each
        for each in records
        if each.kind == "spmspv" and each.kernels and each.plan.get("merge") in MERGES[1:]
    ]
    largest: dict[tuple[str, str, str], Record] = {}
    for each in sorted(listed, key=lambda record: record.options["frontier"]):
        largest[each.dataset.name, each.kernel.split()[1], way_of(each)] = each
    rows = []
    for place, record in largest.items():
        taken = dict.fromkeys((*PARTS, "write"), 0.0)
        for kernel in record.kernels:
            taken[part_of(kernel["name"])] += kernel["device_ms"]
        rows.append([*place, f"{record.options['edges']:,}", *map(figure, taken.values())])
    return head, rows


def searches_table(records: Sequence[Record]) -> tuple[list[str], list[list[str]]]:
    """Return the header and rows: whole searches in every way (thesis, Tables 4.2 and 4.4)."""
    head = ["graph", "device", "way", "call ms", "on the device, ms", "MTEPS", "verified"]
    rows = []
    for record in records:
        if record.kind != "algorithm" or record.kernel != "bfs" or not record.median_s:
            continue
        device_s = record.device_median_s
        rows.append(
            [
                record.dataset.name, record.backend, way_of(record), figure(1e3 * record.median_s),
                figure(1e3 * device_s if device_s else None),
                figure(record.edges[0] / record.median_s / 1e6), checked(record),
            ]
        )  # fmt: skip
    return head, rows
