"""The goals of the project for one GPU, and which of them are met."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.studies.versus import CLOCKS, floor_s
from semira.bench.record import Record
from semira.bench.report import checked, figure, markdown_table
from semira.bench.versus import Peers, against, is_like_peers

#: Options of the case of a goal; without an entry: the defaults of the algorithm.
_TWENTY = {"dtype": "FP32", "tol": 0, "max_iterations": 20}
GOAL_OPTIONS: dict[str, dict[str, Any]] = {"sssp": {"dtype": "FP32"}, "pagerank": _TWENTY}

#: Algorithms whose goals are for whole calls; other goals are for device time.
WHOLE_CALLS = ("tc",)


@dataclass(frozen=True, slots=True)
class Goal:
    """A goal, and the last record of its case.

    Attributes
    ----------
    graph, kernel : str
    goal_ms : float
    record : Record or None
        None: not measured.
    """

    graph: str
    kernel: str
    goal_ms: float
    record: Record | None

    @property
    def clock(self) -> str:
        """Name of the goal's clock in files of peers."""
        return "call_ms" if self.kernel in WHOLE_CALLS else "device_ms"

    @property
    def taken_ms(self) -> float | None:
        """Milliseconds by that clock; None: not measured."""
        if self.record is None:
            return None
        is_whole = self.clock == "call_ms"
        taken_s = self.record.median_s if is_whole else self.record.device_median_s
        return None if taken_s is None else 1e3 * taken_s

    @property
    def is_met(self) -> bool:
        """Whether a verified result took no longer."""
        is_right = self.record is not None and self.record.verified is True
        return is_right and self.taken_ms is not None and self.taken_ms <= self.goal_ms

    @property
    def verdict(self) -> str:
        """``yes``, ``no``, or why it is unknown."""
        if self.record is None or self.taken_ms is None:
            return "not measured"
        if self.record.verified is not True:
            return checked(self.record)
        return "yes" if self.is_met else "no"


def goals_of(records: Sequence[Record], peers: Peers) -> list[Goal]:
    """Return every goal with the last record of its case, graph by graph.

    A record counts if it has the peers' graph (`is_like_peers`), the goal's dtype, and no pins.
    """
    found: dict[tuple[str, str], Record] = {}
    for record in records:
        is_ours = record.kind == "algorithm" and record.library == "semira" and not record.plan
        is_case = is_ours and record.options == GOAL_OPTIONS.get(record.kernel, {})
        if is_case and is_like_peers(record, peers):
            found[record.dataset.name, record.kernel] = record
    order = {graph: at for at, graph in enumerate(peers.graphs)}
    # Sorting keeps the order of the algorithms.
    places = sorted(peers.goals, key=lambda place: order.get(place[0], len(order)))
    return [Goal(*place, peers.goals[place], found.get(place)) for place in places]


def goals_table(records: Sequence[Record], peers: Peers) -> tuple[list[str], list[list[str]]]:
    """Return the header and rows: each goal, our time, the best peer by each clock, the floor.

    The last ratio always uses device time, because the floor has no host part.
    """
    head = [
        "graph", "algorithm", "clock", "goal ms", "ms", "times the goal", "best device ms",
        "best call ms", "device, times the floor", "met",
    ]  # fmt: skip
    rows = []
    for goal in goals_of(records, peers):
        record, taken_ms = goal.record, goal.taken_ms
        device_s = None if record is None else record.device_median_s
        times = peers.times.get((goal.graph, goal.kernel), [])
        floor = None if record is None else floor_s(record)
        rows.append(
            [
                goal.graph, goal.kernel, CLOCKS[goal.clock], figure(goal.goal_ms), figure(taken_ms),
                figure(None if taken_ms is None else taken_ms / goal.goal_ms),
                against(times, "device_ms", device_s),
                against(times, "call_ms", None if record is None else record.median_s),
                figure(device_s / floor if device_s and floor else None), goal.verdict,
            ]
        )  # fmt: skip
    return head, rows


def goals_line(records: Sequence[Record], peers: Peers) -> str:
    """Return how many goals are met, in total and by algorithm."""
    goals = goals_of(records, peers)
    met, number = (
        Counter(goal.kernel for goal in chosen)
        for chosen in (filter(lambda goal: goal.is_met, goals), goals)
    )
    parts = ", ".join(f"{kernel} {met[kernel]} of {count}" for kernel, count in number.items())
    return f"{met.total()} of {number.total()} goals are met: {parts}."


def render_goals(records: Sequence[Record], peers: Peers) -> str:
    """Return the Markdown of the goals; empty if the file of peers has none."""
    if not peers.goals:
        return ""
    return f"{goals_line(records, peers)}\n\n{markdown_table(*goals_table(records, peers))}"
