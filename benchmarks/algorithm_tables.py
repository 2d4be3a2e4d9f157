"""Tables of the records of all algorithms: times, means beside each library, and losses."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import geometric_mean
from typing import Any

from benchmarks.algorithm_runs import CASES, NOT_TRIED
from semira.bench.record import Record
from semira.bench.report import checked, figure
from semira.bench.versus import Peers

#: A table: its header and its rows.
Table = tuple[list[str], list[list[str]]]


def taken_s(record: Record) -> float | None:
    """Return the least of the warm calls on the host, the median of those on a device.

    The processors of a host may have other work, which only adds to times.
    """
    return record.median_s if record.backend == "cuda" else min(record.warm_s, default=None)


@dataclass(frozen=True, slots=True)
class Pair:
    """One case in Semira, and in another library on the same machine.

    Attributes
    ----------
    ours, theirs : Record
    """

    ours: Record
    theirs: Record

    @property
    def ratio(self) -> float | None:
        """How many times as long the other library takes; None where one has no time."""
        ours_s, theirs_s = taken_s(self.ours), taken_s(self.theirs)
        return theirs_s / ours_s if ours_s and theirs_s else None


def _key(record: Record) -> tuple[str, str, str]:
    return record.kernel, record.dataset.name, str(record.environment.get("device"))


def _ours(records: Iterable[Record]) -> list[Record]:
    """Return our records in the order of the registry."""
    order = list(CASES)
    mine = [each for each in records if each.kind == "algorithms" and each.library == "semira"]
    return sorted(mine, key=lambda record: order.index(record.kernel))


def _pairs(records: Sequence[Record]) -> Iterator[Pair]:
    """Yield our records with those of every other library for the same case, in such a run."""
    theirs: dict[tuple[str, str, str], list[Record]] = {}
    for record in records:
        if record.kind == "algorithms" and record.library != "semira":
            theirs.setdefault(_key(record), []).append(record)
    for record in _ours(records):
        for other in theirs.get(_key(record), ()):
            yield Pair(record, other)


def _libraries(records: Iterable[Record]) -> list[str]:
    names = (each.library for each in records if each.kind == "algorithms")
    return [name for name in dict.fromkeys(names) if name != "semira"]


def algorithms_table(records: Sequence[Record]) -> Table:
    """Return each case on each graph, the times of other libraries, and the check.

    A time of another library is in bold where it is less than ours. A failed case has a note
    instead of times; a case that was not tried has no row.
    """
    libraries = _libraries(records)
    head = [
        "algorithm", "graph", "device", "first call s", "ms", "iterations",
        *(f"{name} ms" for name in libraries), "verified", "by",
    ]  # fmt: skip
    beside: dict[tuple[str, str, str], dict[str, str]] = {}
    for pair in _pairs(records):
        beside.setdefault(_key(pair.ours), {})[pair.theirs.library] = _cell(pair)
    rows = []
    for record in _ours(records):
        if record.note.startswith(NOT_TRIED):
            continue
        cells = beside.get(_key(record), {})
        rows.append(
            [
                record.kernel, record.dataset.name, record.backend, *_times_in(record),
                *(cells.get(name, "") for name in libraries),
                checked(record) if record.median_s else f"**failed**: {record.note}",
                record.verified_by,
            ]
        )  # fmt: skip
    return head, rows


def _cell(pair: Pair) -> str:
    """Return the milliseconds of a peer, or why it has none."""
    theirs_s = taken_s(pair.theirs)
    if theirs_s is None:
        return pair.theirs.note.partition(":")[0] or "-"
    text = figure(1e3 * theirs_s)
    return f"**{text}**" if pair.ratio is not None and pair.ratio < 1 else text


def _times_in(record: Record) -> tuple[str, str, str]:
    """Return seconds of the first call, milliseconds of others, iterations."""
    if (least_s := taken_s(record)) is None:
        return "-", "-", "-"
    return figure(record.first_s), figure(1e3 * least_s), str(record.iterations)


def means_table(records: Sequence[Record]) -> Table:
    """Return by algorithm how many times as long other libraries take on cpu, over graphs.

    In the geometric mean; behind it, in how many of the cases that both ran Semira is ahead.
    """
    libraries = _libraries(records)
    found: dict[str, dict[str, list[float]]] = {}
    for pair in _pairs(records):
        if pair.ratio is not None and pair.ours.backend == "cpu":
            for name in (pair.ours.kernel, "all"):
                by_library = found.setdefault(name, {})
                by_library.setdefault(pair.theirs.library, []).append(pair.ratio)
    names = sorted(found, key=lambda name: name == "all")
    rows = [[name, *(_mean(found[name].get(each, [])) for each in libraries)] for name in names]
    return ["algorithm", *libraries], rows


def _mean(ratios: Sequence[float]) -> str:
    if not ratios:
        return ""
    ahead = sum(ratio > 1 for ratio in ratios)
    return f"{figure(geometric_mean(ratios))} ({ahead} of {len(ratios)})"


def losses_to(library: str) -> Callable[[Sequence[Record]], Table]:
    """Return a function that makes the table of cases on cpu in which a library is faster."""

    def table(records: Sequence[Record]) -> Table:
        rows = [
            [
                pair.ours.kernel, pair.ours.dataset.name,
                *(figure(1e3 * (taken_s(each) or 0)) for each in (pair.ours, pair.theirs)),
                figure(pair.ratio),
            ]
            for pair in _pairs(records)
            if pair.theirs.library == library and pair.ours.backend == "cpu"
            and pair.ratio is not None and pair.ratio < 1
        ]  # fmt: skip
        return ["algorithm", "graph", "ms", f"{library} ms", "its time over ours"], rows

    return table


def _versus(records: Sequence[Record], peers: Peers) -> Iterator[tuple[Record, dict[str, Any]]]:
    """Yield our records of a GPU with the rows of peers for the same case, of equal graphs.

    Where a peer read another graph than its file lists, its row has the entries.
    """
    for record in _ours(records):
        if record.backend == "cuda" and record.median_s:
            for row in peers.times.get((record.dataset.name, record.kernel), []):
                listed = peers.graphs[record.dataset.name]["entries"]
                if record.dataset.nvals == row.get("entries", listed):
                    yield record, row


def _times_as_long(record: Record, row: dict[str, Any]) -> float:
    return float(row["call_ms"] / (1e3 * (record.median_s or math.nan)))


def versus_table(records: Sequence[Record], peers: Peers) -> Table:
    """Return our whole warm calls on a GPU beside those of peers, by algorithm and graph."""
    rows = []
    for record, row in _versus(records, peers):
        ratio = _times_as_long(record, row)
        text = figure(ratio) if ratio >= 1 else f"**{figure(ratio)}**"
        times = figure(1e3 * (record.median_s or 0)), row["peer"], figure(row["call_ms"])
        rows.append([record.kernel, record.dataset.name, *times, text])
    return ["algorithm", "graph", "ms", "peer", "its ms", "its time over ours"], rows


def versus_means(records: Sequence[Record], peers: Peers) -> Table:
    """Return by algorithm how many times as long peers on a GPU take, in the geometric mean."""
    found: dict[str, list[float]] = {}
    for record, row in _versus(records, peers):
        found.setdefault(record.kernel, []).append(_times_as_long(record, row))
    return ["algorithm", "their time over ours"], [
        [name, _mean(each)] for name, each in found.items()
    ]
