"""Breadth-first search from many sources, by width of the block and direction.

Each search advances all sources by one product of matrices a level (C. Yang's thesis of 2019,
section 8.1, Figure 8.2). The product of each level is also run by itself in every way, its operands
where the level before left them.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from semira.bench.device import device_seconds
from semira.bench.frontiers import WAYS
from semira.bench.graphs import BenchGraph
from semira.bench.ideas import IdeasRequest, over_graphs, time_of
from semira.bench.libraries import dense
from semira.bench.record import Record
from semira.bench.report import figure
from semira.bench.timer import Budget, clock, measure
from semira.bench.verify import check_levels
from semira.bench.versus import checked

#: Searches of one block.
WIDTHS = (1, 8, 32, 64, 128)


@dataclass(frozen=True, slots=True)
class BlocksRequest(IdeasRequest):
    """What to measure.

    Attributes
    ----------
    widths : sequence of int
        Sources of a block; a width above the number of vertices is left out.
    trials : int
        Warm calls of whole searches, and timed calls of each way at each level.
    seconds : float
        Budget of the warm calls of one case.
    """

    widths: Sequence[int] = WIDTHS
    trials: int = 3
    seconds: float = 5.0


def _of_graph(request: BlocksRequest, graph: BenchGraph) -> Iterator[Record]:
    import semira as gb

    with gb.device(request.device):
        matrix = graph.matrix.to(request.device)
        for width in request.widths:
            if width > graph.n:
                continue
            sources = list(dict.fromkeys([*graph.sources(0), *graph.sources(width)]))[:width]
            rows = walk(matrix, sources, request)
            for pins in WAYS.values():
                yield _searched(request, graph, matrix, sources, pins, rows)


#: Measures searches of every width in every way; the ways must agree at every level.
run_blocks = over_graphs(_of_graph)


def _searched(
    request: BlocksRequest, graph: BenchGraph, matrix: Any, sources: list[int],
    pins: dict[str, Any], rows: list[dict[str, Any]],
) -> Record:  # fmt: skip
    """Return the record of whole searches in one way; the planner's has the levels as well."""
    import semira as gb

    def call(_trial: int = 0) -> Any:
        found = gb.algorithms.multi_source_bfs(matrix, sources, **pins)
        found.level.wait()
        return found

    found, samples = measure(call, Budget(request.trials, request.seconds))
    indices, values = found.level[0, :].new().to_coo()
    verdict = check_levels(graph, sources[0], dense(indices, values, graph.n, -1, np.int32))
    differ = [str(row["level"]) for row in rows if not row["agree"]]
    wrong = [f"the ways differ at level {level}" for level in differ[:1]]
    finding = "; ".join(filter(None, [*wrong, verdict.finding]))
    ran = [row.direction for row in found.trace]
    return Record(
        "blocks", "multi_source_bfs", graph.dataset, "semira", request.device, "INT32",
        plan=pins, options={"width": len(sources)}, iterations=found.iterations,
        ran={name: ran.count(name) for name in dict.fromkeys(ran)},
        first_s=samples.first_s, warm_s=samples.warm_s, compile_s=samples.compile_s,
        compiled=samples.compiled, sources=sources, load_s=graph.load_s, build_s=graph.build_s,
        verified=not finding, note=finding, touched=sum(row.touched for row in found.trace),
        verified_by=f"the other ways at every level; {verdict.method} from the first source",
        facts={"levels": [] if pins else rows, "directions": ran},
    )  # fmt: skip


def walk(matrix: Any, sources: Sequence[int], request: BlocksRequest) -> list[dict[str, Any]]:
    """Return a row for each level of a search from `sources`.

    A row has ``level``, entries of the ``frontier``, whether the ways ``agree``, and of each way
    the seconds ``s``, the entries ``touched`` and what ``ran``.
    """
    import semira as gb

    shape = {"nrows": len(sources), "ncols": matrix.nrows}
    frontier = gb.Matrix.from_coo(np.arange(len(sources)), sources, True, **shape)
    frontier = frontier.to(matrix.device)
    seen = frontier.dup()
    rows: list[dict[str, Any]] = []
    while entries := int(frontier.nvals):

        def step(pins: dict[str, Any], frontier: Any = frontier) -> Any:
            product = frontier.mxm(matrix, gb.semiring.any_pair["BOOL"])
            return product.new(mask=~seen.S, **pins).wait()

        found = {way: _in_one_way(step, pins, request) for way, pins in WAYS.items()}
        frontier = found["auto"][0]
        agree = all(frontier.isequal(result) for result, _ in found.values())
        ways = {way: facts for way, (_, facts) in found.items()}
        rows.append({"level": len(rows), "frontier": entries, "agree": agree, **ways})
        seen(frontier.S) << True
    return rows


def _in_one_way(
    step: Callable[[dict[str, Any]], Any], pins: dict[str, Any], request: BlocksRequest
) -> tuple[Any, dict[str, Any]]:
    """Return the next frontier, and what one way took."""
    import semira as gb

    with gb.tracing() as trace:
        result = step(pins)
    (ran,) = trace.rows
    times = [_seconds(request.device, lambda: step(pins)) for _ in range(request.trials)]
    taken_s = round(statistics.median(times), 9)
    return result, {"s": taken_s, "touched": ran.touched, "ran": ran.direction}


def _seconds(device: str, call: Callable[[], Any]) -> float:
    """Return the seconds of the launches of a call, of the whole call where no clock tells."""
    on_device = device_seconds(device, call)
    return clock(call)[1] if on_device is None else on_device


# tables ------------------------------------------------------------------------------------------
def widths_table(records: Sequence[Record]) -> tuple[list[str], list[list[str]]]:
    """Return head and rows: whole searches of each width in every way."""
    head = [
        "graph", "device", "sources", "levels", "way", "ms", "ms a source", "pushed", "pulled",
        "verified",
    ]  # fmt: skip
    rows = []
    for record in records:
        if record.kind != "blocks":
            continue
        width, taken_s = record.options["width"], time_of(record)
        ran = record.ran
        rows.append(
            [
                record.dataset.name, record.backend, str(width), str(record.iterations),
                record.plan.get("direction", "planner"),
                figure(1e3 * taken_s) if taken_s else "-",
                figure(1e3 * taken_s / width) if taken_s else "-",
                str(ran.get("push", 0)), str(ran.get("pull", 0)), checked(record),
            ]
        )  # fmt: skip
    return head, rows


#: Levels of a search that the table of levels shows: the first ones.
_SHOWN = 12


def levels_table(records: Sequence[Record]) -> tuple[list[str], list[list[str]]]:
    """Return head and rows: the product of each level in every way, and what the planner took."""
    head = [
        "graph", "device", "sources", "level", "frontier", "push touched", "pull touched",
        "push ms", "pull ms", "auto ms", "auto ran", "search ran",
    ]  # fmt: skip
    rows = []
    for record in records:
        if record.kind != "blocks":
            continue
        chosen = record.facts["directions"]
        for row, went in list(zip(record.facts["levels"], chosen, strict=False))[:_SHOWN]:
            rows.append(
                [
                    record.dataset.name, record.backend, str(record.options["width"]),
                    str(row["level"]), f"{row['frontier']:,}",
                    *(f"{row[way]['touched']:,}" for way in ("push", "pull")),
                    *(figure(1e3 * row[way]["s"]) for way in WAYS), row["auto"]["ran"], went,
                ]
            )  # fmt: skip
    return head, rows
