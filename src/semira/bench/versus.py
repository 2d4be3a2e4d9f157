"""Ours on the GPU beside its peers there: device with device, whole call with whole call."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from semira.base.errors import FileFormatError
from semira.bench.record import Record, read_text
from semira.bench.report import figure, milliseconds, ratio_text

#: Layout of the file of peers' times; others are refused.
SCHEMA = "semira-peers/1"

#: Graphs are the same, or drawn with the same parameters, if their entries differ by less.
_SAME_ENTRIES = 0.01

#: Iterations of PageRank that peers made; ours with a tolerance are not compared.
_ITERATIONS = 20


@dataclass(frozen=True, slots=True)
class Peers:
    """What peers reached on a GPU."""

    #: Date, machine, versions, how it was measured.
    about: dict[str, Any]
    #: Name to ``n`` and ``entries``.
    graphs: dict[str, dict[str, int]] = field(default_factory=dict)
    #: (graph, kernel) to rows of a peer with ``device_ms``, ``call_ms`` or both.
    times: dict[tuple[str, str], list[dict[str, Any]]] = field(default_factory=dict)
    #: (graph, kernel) to milliseconds.
    goals: dict[tuple[str, str], float] = field(default_factory=dict)


def read_peers(path: Path) -> Peers:
    """Read a file of peers' times.

    Raises what `semira.bench.record.read_text` raises, and FileFormatError if it has another
    layout.
    """
    text = read_text(path, "peers' times")
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise FileFormatError(f"{path}: not JSON: {error}") from None
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        raise FileFormatError(f"{path}: no file of peers' times ({SCHEMA})")
    try:
        peers = Peers({key: data[key] for key in ("date", "gpu", "how", "peers")}, data["graphs"])
        for row in data["times"]:
            peers.times.setdefault((row["graph"], row["kernel"]), []).append(row)
        peers.goals.update({(r["graph"], r["kernel"]): r["goal_ms"] for r in data["goals"]})
    except (KeyError, TypeError) as error:
        raise FileFormatError(f"{path}: {error!r} is missing or of the wrong kind") from None
    return peers


def is_ours(record: Record) -> bool:
    """Whether it is of an algorithm of Semira."""
    return record.kind == "algorithm" and record.library == "semira"


def case_of(record: Record) -> str:
    """Return the kernel and what is unusual about it."""
    return " ".join([record.kernel, *(f"{name}={value}" for name, value in record.options.items())])


def is_like_peers(record: Record, peers: Peers) -> bool:
    """Whether a record is of the same work: an equal graph, and as many iterations of PageRank."""
    graph = peers.graphs.get(record.dataset.name)
    if graph is None or graph["n"] != record.dataset.n:
        return False
    if abs(record.dataset.nvals / graph["entries"] - 1) > _SAME_ENTRIES:
        return False
    return record.kernel != "pagerank" or record.iterations == _ITERATIONS


def best_peer(rows: Iterable[dict[str, Any]], clock: str) -> tuple[float, str] | None:
    """Return the least time by a clock and whose it is."""
    found = [(float(row[clock]), str(row["peer"])) for row in rows if clock in row]
    return min(found, default=None)


def against(rows: Iterable[dict[str, Any]], clock: str, ours_s: float | None) -> str:
    """Return the best peer and its time by a clock, and that divided by ours, for a table."""
    best = best_peer(rows, clock)
    if best is None:
        return "-"
    ratio = "" if not ours_s else f" ({ratio_text(best[0] / (1e3 * ours_s))})"
    return f"{best[1]} {figure(best[0])}{ratio}"


def published_table(records: Sequence[Record], peers: Peers) -> tuple[list[str], list[list[str]]]:
    """Return head and rows: our times beside the best peer's, of cases that peers have times of."""
    head = [
        "graph", "case", "dtype", "device ms", "call ms", "best device ms", "best call ms",
        "goal ms",
    ]  # fmt: skip
    rows = []
    for record in records:
        place = record.dataset.name, record.kernel
        if place not in peers.times or not is_like_peers(record, peers) or not is_ours(record):
            continue
        times, device_s = peers.times[place], record.device_median_s
        rows.append(
            [
                record.dataset.name, case_of(record), record.dtype,
                *map(milliseconds, (device_s, record.median_s)),
                against(times, "device_ms", device_s), against(times, "call_ms", record.median_s),
                figure(peers.goals.get(place)),
            ]
        )  # fmt: skip
    return head, rows
