"""Measure push, pull and the planner's choice over random frontiers and masks.

One product at a time: min_plus without a mask, a step of breadth-first search under one. The
table has the point from which pull is better, and compares the planner's choice with the better
of both.

Examples
--------
python -m benchmarks frontiers --quick --plot frontiers.svg
python -m benchmarks frontiers --graphs kron:20 --device cuda --out bench/results/frontiers.jsonl
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from benchmarks.harness import STEADY, Options, Study, held_for, option, time_of
from semira.bench.device import profile_calls
from semira.bench.graphs import BenchGraph
from semira.bench.record import Record
from semira.bench.report import figure
from semira.bench.timer import Budget, measure

#: Pins of each way; the planner has none.
WAYS: dict[str, dict[str, Any]] = {
    "push": {"direction": "push"},
    "pull": {"direction": "pull"},
    "auto": {},
}

#: Parts of the vertices in the frontier, in steps of four.
SHARES = tuple(4.0**-power for power in range(8, -1, -1))

#: Parts of the vertices that a mask leaves open; 1: no mask.
OPEN = (1.0, 0.9, 0.5, 0.1)

#: Most times the better way's time that `auto` may take.
GOAL = 1.1


@dataclass(frozen=True, slots=True)
class FrontiersOptions(Options):
    """Options of the study."""

    seconds: float = option(0.5, quick=0.1)
    shares: Sequence[float] = option(
        SHARES, "Parts of the vertices in the frontier, drawn at random.", quick=SHARES[2::3]
    )
    open: Sequence[float] = option(
        OPEN, "Parts of the vertices that a mask leaves open; 1: no mask.", quick=OPEN[::2]
    )


def trial(options: FrontiersOptions, graph: BenchGraph) -> Iterator[Record]:
    """Measure one product in each way for each frontier and mask; the ways must agree.

    Without a mask it is ``min_plus`` in FP32, with one a step of breadth-first search.
    """
    import semira as gb

    with gb.device(options.device):
        matrix = graph.matrix_in("FP32").to(options.device)
        for part in options.open:
            for share in options.shares:
                yield from _point(options, graph, matrix, share, part)


def _point(
    options: FrontiersOptions, graph: BenchGraph, matrix: Any, share: float, part: float
) -> Iterator[Record]:
    """Measure one frontier under one mask in every way."""
    import semira as gb

    rng = np.random.default_rng([0, round(1e9 * share), round(1e9 * part)])
    n = graph.n
    vertices = np.sort(rng.choice(n, max(1, round(n * share)), replace=False))
    is_masked = part < 1
    kernel = "vxm any_pair masked" if is_masked else "vxm min_plus"
    frontier = gb.Vector.from_coo(
        vertices, True if is_masked else rng.random(len(vertices)).astype(np.float32), size=n
    ).to(options.device)
    visited = None
    if is_masked:
        closed = np.flatnonzero(rng.random(n) >= part)
        visited = gb.Vector.from_coo(closed, True, size=n).to(options.device)

    def call_with(pins: dict[str, Any]) -> Callable[[int], Any]:
        output = gb.Vector(bool if is_masked else "FP32", n)

        def call(_trial: int = 0) -> Any:
            if visited is None:
                output(**pins) << frontier.vxm(matrix, "min_plus")
            else:
                output(~visited.S, replace=True, **pins) << frontier.vxm(matrix, "any_pair")
            return output.wait()

        return call

    blank = Record(
        "frontier",
        kernel,
        graph.dataset,
        "semira",
        options.device,
        options={"frontier": len(vertices), "open": part},
    )
    made = [
        measure_product(replace(blank, plan=pins), call_with(pins), options)
        for pins in WAYS.values()
    ]
    agree = all(made[0][0].isequal(result) for result, _ in made[1:])
    note = "" if agree else "push and pull differ"
    for _, record in made:
        yield replace(record, verified=agree, verified_by="the other way", note=note)


def measure_product(
    blank: Record, call: Callable[[int], Any], options: Options
) -> tuple[Any, Record]:
    """Return the first result of repeated calls of one product, and the record of all."""
    import semira as gb

    result, samples = measure(call, Budget(options.trials, options.seconds))
    with gb.tracing() as trace:
        call(0)
    record = replace(
        blank,
        dtype=result.dtype.name,
        first_s=samples.first_s,
        warm_s=samples.warm_s,
        ran=dict(Counter(row.method for row in trace.rows)),
        touched=sum(row.touched for row in trace.rows),
        **profile_calls(
            options.device, lambda: call(0), held_s=held_for(samples.warm_s), times=STEADY
        ),
    )
    return result, record


# results -----------------------------------------------------------------------------------------
def crossing(
    sizes: Sequence[float], first: Sequence[float], second: Sequence[float]
) -> float | None:
    """Return the size from which on `second` never takes more time than `first`.

    Times between two sizes are interpolated as powers of the size. None: `second` is slower in
    the end.

    Examples
    --------
    >>> round(crossing([1, 100], [1.0, 100.0], [10.0, 10.0]), 6)
    10.0
    """
    gaps = [math.log(one / other) for one, other in zip(first, second, strict=True)]
    at = len(gaps)
    while at > 0 and gaps[at - 1] >= 0:
        at -= 1
    if at == len(gaps):
        return None
    if at == 0:
        return sizes[0]
    low, high = math.log(sizes[at - 1]), math.log(sizes[at])
    return math.exp(low + (high - low) * gaps[at - 1] / (gaps[at - 1] - gaps[at]))


@dataclass(frozen=True, slots=True)
class Sweep:
    """All frontiers of one graph under one mask.

    Attributes
    ----------
    graph, kernel : str
    open : float
    shares : list of float
        Of the vertices, in rising order.
    times : dict of str to list of float
        Seconds by way.
    """

    graph: str
    kernel: str
    open: float
    shares: list[float]
    times: dict[str, list[float]]

    @property
    def title(self) -> str:
        """Title for tables and pictures."""
        mask = f", {self.open:.0%} open" if self.open < 1 else ", no mask"
        return f"{self.kernel.split()[1]}{mask}"

    @property
    def losses(self) -> list[float]:
        """Time of `auto` divided by the better way's, by frontier."""
        rows = zip(self.times["auto"], self.times["push"], self.times["pull"], strict=True)
        return [auto / min(push, pull) for auto, push, pull in rows]

    @property
    def crossover(self) -> float | None:
        """Share of the vertices from which pull is the better way; None if push always is."""
        return crossing(self.shares, self.times["push"], self.times["pull"])


def sweeps(records: Sequence[Record]) -> list[Sweep]:
    """Return the complete sweeps among records."""
    found: dict[tuple[str, str, float], dict[float, dict[str, float]]] = {}
    for record in records:
        taken_s = time_of(record)
        if record.kind == "frontier" and taken_s:
            key = (record.dataset.name, record.kernel, record.options["open"])
            share = record.options["frontier"] / record.dataset.n
            way = record.plan.get("direction", "auto")
            found.setdefault(key, {}).setdefault(share, {})[way] = taken_s
    made = []
    for key, points in found.items():
        shares = sorted(share for share, times in points.items() if times.keys() == WAYS.keys())
        times = {way: [points[share][way] for share in shares] for way in WAYS}
        made.append(Sweep(*key, shares, times))
    return made


def frontiers_table(records: Sequence[Record]) -> tuple[list[str], list[list[str]]]:
    """Return the header and rows: the crossover, and the planner compared with the better way."""
    head = [
        "graph", "product", "frontiers", "push ms", "pull ms", "pull is better from",
        "auto, times the better: median", "worst", f"within {GOAL - 1:.0%}",
    ]  # fmt: skip
    rows = []
    for sweep in sweeps(records):
        losses = sweep.losses
        near = sum(loss <= GOAL for loss in losses)
        spans = (
            f"{figure(1e3 * min(sweep.times[way]))} .. {figure(1e3 * max(sweep.times[way]))}"
            for way in ("push", "pull")
        )
        cross = "never" if sweep.crossover is None else f"{sweep.crossover:.2%} of the vertices"
        rows.append(
            [
                sweep.graph, sweep.title, str(len(losses)), *spans, cross,
                figure(statistics.median(losses)), figure(max(losses)), f"{near} of {len(losses)}",
            ]
        )  # fmt: skip
    return head, rows


STUDY = Study(
    __doc__, FrontiersOptions, trial, {"Push, pull and auto": frontiers_table}, picture="frontiers"
)
