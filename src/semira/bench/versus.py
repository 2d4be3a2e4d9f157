"""Ours on the GPU beside its peers there: device with device, whole call with whole call."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from semira.base.errors import FileFormatError
from semira.bench.record import Record, read_text
from semira.bench.report import checked, figure, milliseconds, ratio_text
from semira.bench.traffic import ROOF

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


def ours_of(records: Iterable[Record]) -> list[Record]:
    """Return the records of Semira's algorithms."""
    return [each for each in records if each.kind == "algorithm" and each.library == "semira"]


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


def floor_s(record: Record) -> float | None:
    """Return the seconds that the least bytes take at the roof; None without them."""
    # Of shortest paths without iterations, older records say that products moved nothing.
    return record.least_bytes / ROOF if record.least_bytes else None


def floor_share(record: Record) -> str:
    """Return how much of the time on the device the floor is."""
    floor, device_s = floor_s(record), record.device_median_s
    return f"{floor / device_s:.0%}" if floor is not None and device_s else "-"


def state_of(record: Record) -> str:
    """Return the dtypes of the vectors that loops carry, and of the matrix; a dash if unknown."""
    facts = record.facts
    return f"{facts['state']}; {facts['matrix']}" if "state" in facts else "-"


def _kept(record: Record) -> str:
    """Return the MiB that a first call left at its matrix."""
    kept = record.facts.get("kept")
    return "-" if kept is None else figure(sum(kept.values()) / 2**20)


def versus_table(records: Sequence[Record], peers: Peers) -> tuple[list[str], list[list[str]]]:
    """Return head and rows: times of ours, the best peer by each clock, the floor.

    The first call of a case may load or compile kernels; the one on a fresh matrix finds them
    loaded, and makes the copies that it keeps.
    """
    head = [
        "graph", "case", "dtype", "state; matrix", "device ms", "call ms", "first call ms",
        "fresh matrix ms", "kept MiB", "best device ms",
        "best call ms", "goal ms", "floor ms", "share of floor", "verified",
    ]  # fmt: skip
    rows = []
    for record in ours_of(records):
        place = record.dataset.name, record.kernel
        is_like = is_like_peers(record, peers)
        times = peers.times.get(place, []) if is_like else []
        device_s = record.device_median_s
        rows.append(
            [
                record.dataset.name, case_of(record), record.dtype, state_of(record),
                *map(milliseconds, (device_s, record.median_s, record.first_s)),
                milliseconds(record.facts.get("fresh_s")), _kept(record),
                against(times, "device_ms", device_s),
                against(times, "call_ms", record.median_s),
                figure(peers.goals.get(place) if is_like else None),
                milliseconds(floor_s(record)), floor_share(record), checked(record),
            ]
        )  # fmt: skip
    return head, rows


#: Columns of `versus_table` for those who want nothing but the comparison.
_SHORT = (
    "graph", "case", "dtype", "device ms", "call ms", "best device ms", "best call ms", "goal ms",
)  # fmt: skip


def published_table(records: Sequence[Record], peers: Peers) -> tuple[list[str], list[list[str]]]:
    """Return head and rows of `versus_table`, of the cases that peers have times of, in short."""
    known = [
        record for record in records
        if is_like_peers(record, peers) and (record.dataset.name, record.kernel) in peers.times
    ]  # fmt: skip
    head, rows = versus_table(known, peers)
    places = [head.index(name) for name in _SHORT]
    return list(_SHORT), [[row[at] for at in places] for row in rows]
