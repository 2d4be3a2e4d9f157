"""What the present planner would choose at points with recorded times.

Each point was measured with the pin of every way and once as `auto`. So a change of the policy can
be judged by existing times, without the device.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from benchmarks.studies.frontiers import GOAL
from benchmarks.studies.spmspv import PRODUCTS, Series
from semira.bench.report import figure
from semira.contract import Const
from semira.plan.beforehand import Beforehand
from semira.plan.expressions import fold
from semira.plan.policy import POLICIES, Number, Policy
from semira.plan.rules_direction import (
    DIRECTIONS,
    PUSH,
    WHOLE,
    Situation,
    beforehand_rule,
    direction_rule,
)

#: Products that touch less than this part of the matrix do not affect the dense product: its times
#: there are repetitions.
REPEATED = 0.01

#: Seconds below which the launch and its events dominate a time.
SHORT_S = 25e-6


def way_by_policy(
    situation: Situation,
    counts: Mapping[str, float],
    previous: int = 0,
    policy: Policy = POLICIES["auto"],
) -> str:
    """Return the direction that a policy takes: ``push`` or ``pull``.

    Parameters
    ----------
    situation : Situation
    counts : mapping of str to number
        Those that the rule needs, by their names in `semira.contract.rule.COUNTS`.
    previous : int
        Index of the direction taken last, in `DIRECTIONS`.
    policy : Policy

    Examples
    --------
    >>> counts = {"frontier_edges": 900, "nnz": 4000, "rows": 100}
    >>> way_by_policy(Situation(False, False, True), counts)
    'push'
    >>> way_by_policy(Situation(False, False, True, many_threads=True), counts)
    'pull'
    """
    decided = fold(direction_rule(policy, situation), counts, previous)
    assert isinstance(decided, Const)
    return DIRECTIONS[int(decided.value)]


def policy_ways(series: Series, policy: Policy = POLICIES["auto"]) -> list[str]:
    """Return the way that a policy chooses for each frontier of a series.

    The default policy is the present ``auto``. On a device where choosing costs time, average
    degrees decide beforehand.
    """
    may_stay, is_gpu = PRODUCTS[series.semiring][2], series.device == "cuda"
    situation = Situation(
        False, may_stay, not is_gpu, many_threads=is_gpu, alone=True, beforehand=is_gpu
    )
    n, nnz = series.n, series.nvals
    if is_gpu:
        weighed = Beforehand(0, 1, 2, beforehand_rule(policy, situation))
        return [weighed.way(frontier, n, n, nnz) for frontier in series.frontiers]
    same = {"nnz": nnz, "n": n, "rows": n, "open_rows": n}
    return [
        way_by_policy(
            situation, {**same, "frontier": frontier, "frontier_edges": edges}, policy=policy
        )
        for frontier, edges in zip(series.frontiers, series.edges, strict=True)
    ]


def ratios(series: Series, ways: Sequence[str]) -> list[float | None]:
    """Return the time of each way by its pin, divided by the best way's, by frontier.

    None where it was not measured: a pull with early exit differs from the dense product, and
    records without that way have its time only where ``auto`` chose it.
    """
    best, found = series.best, []
    for at, way in enumerate(ways):
        if way == PUSH:
            name: str | None = next(iter(series.strategies))
        else:
            name = "dense" if way == WHOLE else _pulled(series, at)
        found.append(None if name is None else series.times[name][at] / best[at])
    return found


def _pulled(series: Series, at: int) -> str | None:
    """Return the way with the time of an unpinned pull."""
    if "pull" in series.times:
        return "pull"
    if not PRODUCTS[series.semiring][2]:
        return "dense"
    return "auto" if series.ran[at] == "pull" else None


def choices_table(found: Sequence[Series]) -> tuple[list[str], list[list[str]]]:
    """Return the header and rows: how often ``auto`` comes near the best way, and why not.

    A miss is *another way* where the pin of the chosen direction is also too slow; otherwise it is
    due to ``auto`` itself: its counting, a larger kernel, or chance.
    """
    goal = f"within {GOAL - 1:.0%}"
    head = [
        "product", "points", f"auto {goal}", "misses: another way", "misses: slower than its pin",
        f"its choices {goal}", f"today's policy {goal}", "auto, times the best",
        "its choices, times the best", "today's policy, times the best",
    ]  # fmt: skip
    groups = {name: [each for each in found if each.semiring == name] for name in PRODUCTS}
    rows = [_choices_row(name, mine) for name, mine in groups.items() if mine]
    return head, [*rows, *([_choices_row("all", found)] if len(rows) > 1 else [])]


def _choices_row(name: str, found: Sequence[Series]) -> list[str]:
    auto = [loss for each in found for loss in each.losses]
    taken = [ratio for each in found for ratio in ratios(each, each.ran)]
    today = [ratio for each in found for ratio in ratios(each, policy_ways(each))]
    missed = [ratio for loss, ratio in zip(auto, taken, strict=True) if loss > GOAL]
    wrong = sum(ratio is not None and ratio > GOAL for ratio in missed)
    known = [[ratio for ratio in each if ratio is not None] for each in (auto, taken, today)]
    near = [f"{sum(ratio <= GOAL for ratio in each)} of {len(each)}" for each in known]
    means = [figure(statistics.geometric_mean(each)) for each in known]
    return [name, str(len(auto)), near[0], str(wrong), str(len(missed) - wrong), *near[1:], *means]


#: Candidate costs of an entry read in order, from the CPU's present one on.
READS = tuple(1 / part for part in (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 12, 16))


def reads_table(found: Sequence[Series]) -> tuple[list[str], list[list[str]]]:
    """Return the header and rows: products of whole rows by the cost of an entry read.

    By graph: the cost on few threads, today's, and the best one on all *other* graphs.
    """
    whole = [each for each in found if not PRODUCTS[each.semiring][2]]
    head = [
        "graph", "points", "an entry read counts for 1", "today", "best on the other graphs",
        "with that", f"within {GOAL - 1:.0%}: for 1", "today", "with that",
    ]  # fmt: skip
    totals: list[list[tuple[float, float]]] = [[], [], []]
    rows = []
    for graph in dict.fromkeys(each.graph for each in whole):
        mine = [each for each in whole if each.graph == graph]
        others = [each for each in whole if each.graph != graph]
        today = POLICIES["auto"].read.value
        fitted = min(READS, key=lambda read: _times_best(_points(others, read)))
        parts = [_points(mine, read) for read in (1.0, today, fitted)]
        for total, part in zip(totals, parts, strict=True):
            total.extend(part)
        rows.append(_reads_row(graph, parts, f"1/{1 / fitted:g}"))
    return head, [*rows, _reads_row("all", totals, "")]


def _points(found: Sequence[Series], read: float) -> list[tuple[float, float]]:
    """Return the seconds of the chosen way and of the best one, for each point."""
    policy = replace(POLICIES["auto"], read=Number(read, "tried"))
    return [
        (ratio * best, best)
        for each in found
        for ratio, best in zip(ratios(each, policy_ways(each, policy)), each.best, strict=True)
        if ratio is not None
    ]


def _times_best(points: Sequence[tuple[float, float]]) -> float:
    """Return the total time of the chosen ways over that of the best ways."""
    return sum(taken for taken, _ in points) / sum(best for _, best in points)


def _reads_row(name: str, parts: Sequence[Sequence[tuple[float, float]]], fitted: str) -> list[str]:
    times = [figure(_times_best(part)) for part in parts]
    near = [str(sum(taken <= GOAL * best for taken, best in part)) for part in parts]
    return [name, str(len(parts[0])), *times[:2], fitted, times[2], *near]


def chance_table(found: Sequence[Series]) -> tuple[list[str], list[list[str]]]:
    """Return the header and rows: the difference between two runs of one plan on the same work.

    A perfect planner misses equally often.
    """
    head = [
        "times", "pairs of runs", "apart by (median)", f"one is not within {GOAL - 1:.0%}",
        "points whose best is such", f"auto within {GOAL - 1:.0%}",
    ]  # fmt: skip
    kinds: dict[str, Callable[[float], bool]] = {
        f"below {1e6 * SHORT_S:.0f} us": lambda seconds: seconds < SHORT_S,
        "others": lambda seconds: seconds >= SHORT_S,
    }
    rows = []
    for name, fits in kinds.items():
        pairs = [pair for each in found for pair in _pairs(each) if fits(min(pair))]
        losses = [
            loss
            for each in found
            for loss, best in zip(each.losses, each.best, strict=True)
            if fits(best)
        ]
        if not pairs or not losses:
            continue
        apart = statistics.median(max(pair) / min(pair) - 1 for pair in pairs)
        # The planner may have either of the two runs.
        missed = sum(max(pair) > GOAL * min(pair) for pair in pairs) / 2
        near = sum(loss <= GOAL for loss in losses)
        rows.append(
            [
                name, str(len(pairs)), f"{apart:.1%}", f"{missed / len(pairs):.1%}",
                str(len(losses)), f"{near} ({near / len(losses):.0%})",
            ]
        )  # fmt: skip
    return head, rows


def _pairs(series: Series) -> Iterable[tuple[float, float]]:
    """Return the times of each pair of dense products with nearly empty frontiers."""
    repeated = [
        seconds
        for seconds, edges in zip(series.times["dense"], series.edges, strict=True)
        if edges < REPEATED * series.nvals and math.isfinite(seconds)
    ]
    return itertools.combinations(repeated, 2)
