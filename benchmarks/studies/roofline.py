"""Bounds of an algorithm on the GPU: bytes, gathers, or nearly empty levels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from semira.bench.record import Record
from semira.bench.report import figure
from semira.bench.traffic import ASYNCHRONOUS, ROOF
from semira.bench.versus import Peers, best_peer, case_of, is_like_peers

#: Random 4-byte gathers a second on the H200, measured: from a table of 2**24 entries and of 2**21.
GATHERS = (72e9, 168e9)

#: Seconds of a level with next to nothing in it, measured: a breadth-first search of 50 x 50
#: crossings in one cooperative kernel, three barriers a level and the reads between them.
LEVEL_S = 5.3e-6

#: A bound with a smaller share of the time explains nothing: other costs dominate.
_SAYS_MUCH = 0.1


@dataclass(frozen=True, slots=True)
class Point:
    """A case and its floors.

    Attributes
    ----------
    graph, case : str
    kernel : str
    taken_s : float
        By the device's clock.
    moved : int
        Bytes that the products must move; without iterations, the bytes that the run must move.
    iterations : int or None
        None: there are no iterations or levels.
    touched : int or None
        Matrix entries read, each with a gather; None if the record lacks it.
    """

    graph: str
    case: str
    kernel: str
    taken_s: float
    moved: int
    iterations: int | None
    touched: int | None

    @property
    def floors(self) -> dict[str, float]:
        """Seconds that each bound alone would take."""
        found = {"memory": self.moved / ROOF}
        if self.iterations is not None:
            found["levels"] = self.iterations * LEVEL_S
        if self.touched is not None:
            found["gathers"] = self.touched / GATHERS[1]
        return found

    @property
    def moved_at_once(self) -> float:
        """Bytes per iteration; all bytes if there are no iterations."""
        return self.moved / (self.iterations or 1)

    @property
    def bound(self) -> tuple[str, float]:
        """The bound that takes longest, and its share of the time; ``other`` if all are small."""
        name, floor_s = max(self.floors.items(), key=lambda item: item[1])
        part = floor_s / self.taken_s
        return (name if part >= _SAYS_MUCH else "other"), part


def points(records: Sequence[Record]) -> list[Point]:
    """Return Semira's cases with device time and bytes."""
    found = []
    for record in records:
        taken_s = record.device_median_s
        is_ours = record.kind == "algorithm" and record.library == "semira"
        if not (is_ours and taken_s and record.least_bytes and record.iterations):
            continue
        touched = record.touched
        if touched is None and record.kernel == "pagerank":
            # It reads every entry in every iteration; older records lack the number.
            touched = record.iterations * record.dataset.nvals
        # The rounds of the last block are not iterations: other blocks do not wait for them.
        iterations = None if ASYNCHRONOUS in record.ran else record.iterations
        found.append(
            Point(
                record.dataset.name, case_of(record), record.kernel, taken_s,
                record.least_bytes, iterations, touched,
            )
        )  # fmt: skip
    return found


def roofline_table(records: Sequence[Record]) -> tuple[list[str], list[list[str]]]:
    """Return the header and rows: rates, the largest bound, and its share of the time."""
    head = [
        "graph", "case", "device ms", "us an iteration", "MB an iteration", "TB/s",
        "billion entries a second", "bound", "its part of the time",
    ]  # fmt: skip
    rows = []
    for each in points(records):
        name, part = each.bound
        rate = None if each.touched is None else each.touched / each.taken_s / 1e9
        count = each.iterations
        rows.append(
            [
                each.graph, each.case, figure(1e3 * each.taken_s),
                figure(1e6 * each.taken_s / count if count else None),
                figure(each.moved_at_once / 1e6 if count else None),
                figure(each.moved / each.taken_s / 1e12), figure(rate), name, f"{part:.0%}",
            ]
        )  # fmt: skip
    return head, rows


def losses_table(records: Sequence[Record], peers: Peers) -> tuple[list[str], list[list[str]]]:
    """Return the header and rows of cases in which a peer is faster, with the bound of ours."""
    bounds = {(each.graph, each.case): each.bound for each in points(records)}
    rows = []
    for record in records:
        if record.library != "semira" or not is_like_peers(record, peers):
            continue
        times = peers.times.get((record.dataset.name, record.kernel), [])
        clocks = (("device_ms", record.device_median_s), ("call_ms", record.median_s))
        for clock, ours_s in clocks:
            best = best_peer(times, clock)
            if best is None or not ours_s or best[0] >= 1e3 * ours_s:
                continue
            name, part = bounds.get((record.dataset.name, case_of(record)), ("-", 0.0))
            ours = figure(1e3 * ours_s)
            row = [record.dataset.name, case_of(record), clock.removesuffix("_ms"), ours]
            rows.append([*row, f"{best[1]} {figure(best[0])}", name, f"{part:.0%}"])
    head = ["graph", "case", "clock", "ours ms", "faster peer ms", "our bound", "its part"]
    return head, rows
