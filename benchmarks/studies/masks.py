"""Measure push and pull over random masks, tested before or after multiplying.

Products of min_plus without early exit, with a sixty-fourth of the vertices and with all (C.
Yang's thesis of 2019, Figures 7.3 and 7.5). The table shows the time saved by testing the mask
first, and the mask size from which push is better.

Examples
--------
python -m benchmarks masks --quick --plot masks.svg
python -m benchmarks masks --graphs kron:20 --device cuda --out bench/results/masks.jsonl
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from benchmarks.harness import Options, Study, option, time_of
from benchmarks.studies.frontiers import GOAL, SHARES, crossing, measure_product
from semira.base.errors import PlanError
from semira.bench.graphs import BenchGraph
from semira.bench.record import Record
from semira.bench.report import figure

#: Pins of each way; the planner has none.
WAYS: dict[str, dict[str, Any]] = {
    **{
        f"{direction}, mask {order}": {"direction": direction, "mask_order": order}
        for direction in ("push", "pull")
        for order in ("before", "after")
    },
    "auto": {},
}

#: Parts of the vertices in the frontier: one cheap to push, and all.
FRONTIERS = (1 / 64, 1.0)

#: Reads whole rows: the study of searches measures the gain of early exit.
SEMIRING, READ = "min_plus", {"early_exit": False}


@dataclass(frozen=True, slots=True)
class MasksOptions(Options):
    """Options of the study."""

    seconds: float = option(0.5, quick=0.1)
    shares: Sequence[float] = option(
        SHARES, "Parts of the rows that the mask lets through, drawn at random.", quick=SHARES[2::3]
    )
    frontiers: Sequence[float] = option(FRONTIERS, "Parts of the vertices in the frontier.")


def trial(options: MasksOptions, graph: BenchGraph) -> Iterator[Record]:
    """Measure ``min_plus`` in FP32 in each way for each frontier and mask; the ways must agree.

    There is no early exit, so that only the mask saves work.
    """
    import semira as gb

    with gb.device(options.device):
        matrix = graph.matrix_in("FP32").to(options.device)
        for part in options.frontiers:
            for share in options.shares:
                yield from _point(options, graph, matrix, part, share)


def _drawn(n: int, part: float, rng: np.random.Generator) -> Any:
    """Return a part of the vertices, at least one, in ascending order."""
    return np.sort(rng.choice(n, max(1, round(n * part)), replace=False))


def _point(
    options: MasksOptions, graph: BenchGraph, matrix: Any, part: float, share: float
) -> Iterator[Record]:
    """Measure one frontier under one mask in every way that the device has."""
    import semira as gb

    rng, n = np.random.default_rng([1, round(1e9 * part), round(1e9 * share)]), graph.n
    vertices, let_through = _drawn(n, part, rng), _drawn(n, share, rng)
    lengths = rng.random(len(vertices)).astype(np.float32)
    frontier = gb.Vector.from_coo(vertices, lengths, size=n).to(options.device)
    mask = gb.Vector.from_coo(let_through, True, size=n).to(options.device)

    def call_with(pins: dict[str, Any]) -> Callable[[int], Any]:
        output = gb.Vector("FP32", n)

        def call(_trial: int = 0) -> Any:
            output(mask.S, replace=True, **READ, **pins) << frontier.vxm(matrix, SEMIRING)
            return output.wait()

        return call

    told = {"frontier": len(vertices), "open": len(let_through), **READ}
    kernel = f"vxm {SEMIRING} masked"
    blank = Record("mask", kernel, graph.dataset, "semira", options.device, options=told)
    made = []
    for pins in WAYS.values():
        try:
            made.append(measure_product(replace(blank, plan=pins), call_with(pins), options))
        except PlanError:
            # Not every device can test a mask both before and after.
            continue
    agree = all(made[0][0].isequal(result) for result, _ in made[1:])
    note = "" if agree else "the ways differ"
    for _, record in made:
        yield replace(record, verified=agree, verified_by="the other ways", note=note)


# results -----------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class MaskSweep:
    """All masks over one frontier of a graph.

    Attributes
    ----------
    graph : str
    frontier : float
        Part of the vertices.
    shares : list of float
        Of the rows that are let through, in rising order.
    times : dict of str to list of float
        Seconds by way.
    """

    graph: str
    frontier: float
    shares: list[float]
    times: dict[str, list[float]]

    def best(self, direction: str) -> list[float]:
        """Return the seconds of a direction by mask, with the better time to test the mask."""
        ways = [times for way, times in self.times.items() if way.startswith(direction)]
        return list(map(min, zip(*ways, strict=True)))

    @property
    def losses(self) -> list[float]:
        """Time of `auto` divided by the best way's, by mask."""
        ways = zip(self.times["auto"], self.best("push"), self.best("pull"), strict=True)
        return [auto / min(push, pull) for auto, push, pull in ways]

    @property
    def crossover(self) -> float | None:
        """Share of the rows from which push is the better way; None if pull always is."""
        return crossing(self.shares, self.best("pull"), self.best("push"))


def mask_sweeps(records: Sequence[Record]) -> list[MaskSweep]:
    """Return the sweeps among records, each with the masks measured in all of its ways."""
    found: dict[tuple[str, float], dict[float, dict[str, float]]] = {}
    names = {tuple(sorted(pins.items())): way for way, pins in WAYS.items()}
    for record in records:
        taken_s = time_of(record)
        if record.kind == "mask" and taken_s:
            n, options = record.dataset.n, record.options
            points = found.setdefault((record.dataset.name, options["frontier"] / n), {})
            way = names[tuple(sorted(record.plan.items()))]
            points.setdefault(options["open"] / n, {})[way] = taken_s
    made = []
    for key, points in found.items():
        ways = [way for way in WAYS if any(way in times for times in points.values())]
        shares = sorted(share for share, times in points.items() if len(times) == len(ways))
        times = {way: [points[share][way] for share in shares] for way in ways}
        made.append(MaskSweep(*key, shares, times))
    return made


def masks_table(records: Sequence[Record]) -> tuple[list[str], list[list[str]]]:
    """Return the header and rows: times under the smallest and the largest mask, and the planner.

    A way that the device lacks is a dash.
    """
    pinned = [way for way in WAYS if way != "auto"]
    head = [
        "graph", "frontier", "masks", *(f"{way}: ms, least .. largest" for way in pinned),
        "push is better from", "auto, times the best: median", "worst", f"within {GOAL - 1:.0%}",
    ]  # fmt: skip
    rows = []
    for sweep in mask_sweeps(records):
        losses, cross = sweep.losses, sweep.crossover
        ends = {way: (1e3 * times[0], 1e3 * times[-1]) for way, times in sweep.times.items()}
        rows.append(
            [
                sweep.graph, f"{sweep.frontier:.2%} of the vertices", str(len(sweep.shares)),
                *(" .. ".join(map(figure, ends[way])) if way in ends else "-" for way in pinned),
                "never" if cross is None else f"{cross:.2%} of the rows",
                figure(statistics.median(losses)), figure(max(losses)),
                f"{sum(loss <= GOAL for loss in losses)} of {len(losses)}",
            ]
        )  # fmt: skip
    return head, rows


STUDY = Study(
    __doc__, MasksOptions, trial, {"The mask first or last": masks_table}, picture="masks"
)
