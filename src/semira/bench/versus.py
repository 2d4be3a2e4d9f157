"""Ours on the GPU beside its peers there: device with device, whole call with whole call."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from semira.base.errors import FileFormatError
from semira.bench.record import Record, read_text
from semira.bench.report import figure, markdown_table, ratio_text, runs_of
from semira.bench.traffic import ROOF

#: Layout of the file of peers' times; others are refused.
SCHEMA = "semira-peers/1"

#: Graphs are the same, or drawn with the same parameters, if their entries differ by less.
_SAME_ENTRIES = 0.01

#: Iterations of PageRank that peers made; ours with a tolerance are not compared.
_ITERATIONS = 20

#: Options of cases that a summary is made of.
_PLAIN = {"dtype", "tol", "max_iterations"}

#: What each clock of the peers' file is called.
CLOCKS = {"device_ms": "device", "call_ms": "whole call"}

#: Kernels of a case that the table of kernels lists, longest first.
_KERNELS = 3


@dataclass(frozen=True, slots=True)
class Peers:
    """What peers reached on a GPU.

    Attributes
    ----------
    about : dict
        Date, machine, versions, how it was measured.
    graphs : dict
        Name to ``n`` and ``entries``.
    times : dict
        (graph, kernel) to rows of a peer with ``device_ms``, ``call_ms`` or both.
    goals : dict
        (graph, kernel) to milliseconds.
    """

    about: dict[str, Any]
    graphs: dict[str, dict[str, int]] = field(default_factory=dict)
    times: dict[tuple[str, str], list[dict[str, Any]]] = field(default_factory=dict)
    goals: dict[tuple[str, str], float] = field(default_factory=dict)


def read_peers(path: Path) -> Peers:
    """Read a file of peers' times.

    Raises
    ------
    MissingFile, FileReadError
        As `semira.bench.record.read_text`.
    FileFormatError
        It has another layout.
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


def _ours(records: Iterable[Record]) -> list[Record]:
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


def _share(record: Record) -> str:
    """Return how much of the time on the device the floor is."""
    floor, device_s = floor_s(record), record.device_median_s
    return f"{floor / device_s:.0%}" if floor is not None and device_s else "-"


def checked(record: Record) -> str:
    """Return whether a result was found right, for a table."""
    return {True: "yes", False: f"**no**: {record.note}", None: "not checked"}[record.verified]


def _milliseconds(time_s: float | None) -> str:
    return figure(None if time_s is None else 1e3 * time_s)


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
    for record in _ours(records):
        place = record.dataset.name, record.kernel
        is_like = is_like_peers(record, peers)
        times = peers.times.get(place, []) if is_like else []
        device_s = record.device_median_s
        rows.append(
            [
                record.dataset.name, case_of(record), record.dtype, state_of(record),
                *map(_milliseconds, (device_s, record.median_s, record.first_s)),
                _milliseconds(record.facts.get("fresh_s")), _kept(record),
                against(times, "device_ms", device_s),
                against(times, "call_ms", record.median_s),
                figure(peers.goals.get(place) if is_like else None),
                _milliseconds(floor_s(record)), _share(record), checked(record),
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


def summary_table(records: Sequence[Record], peers: Peers) -> tuple[list[str], list[list[str]]]:
    """Return head and rows: over graphs, how often ours fits into the best peer's time.

    Cases without options but the dtype and the number of iterations; each clock over the graphs of
    which a peer has such a time.
    """
    head = ["algorithm", "dtype", *(f"{name}: mean, range" for name in CLOCKS.values()), "lost"]
    found: dict[tuple[str, str], dict[str, dict[str, float]]] = {}
    for record in _ours(records):
        if record.options.keys() - _PLAIN or not is_like_peers(record, peers):
            continue
        times = peers.times.get((record.dataset.name, record.kernel), [])
        ours = {"device_ms": record.device_median_s, "call_ms": record.median_s}
        clocks = found.setdefault((record.kernel, record.dtype), {clock: {} for clock in ours})
        for clock, ours_s in ours.items():
            best = best_peer(times, clock)
            if best is not None and ours_s:
                clocks[clock][record.dataset.name] = best[0] / (1e3 * ours_s)
    rows = []
    for case, clocks in found.items():
        lost = [
            f"{graph} ({CLOCKS[clock]} {figure(ratio)})"
            for clock, ratios in clocks.items() for graph, ratio in ratios.items() if ratio < 1
        ]  # fmt: skip
        if any(clocks.values()):
            rows.append([*case, *map(_over_graphs, clocks.values()), ", ".join(lost) or "none"])
    return head, rows


def _over_graphs(ratios: dict[str, float]) -> str:
    """Return the geometric mean of ratios, their range and their number."""
    if not ratios:
        return "-"
    values = ratios.values()
    mean, least, most = map(figure, (statistics.geometric_mean(values), min(values), max(values)))
    return f"{mean}, {least} to {most}, {len(ratios)} graph{'s' * (len(ratios) > 1)}"


def kernel_table(records: Sequence[Record]) -> tuple[list[str], list[list[str]]]:
    """Return head and rows of what kernels take of a multiprocessor.

    Of each case the longest few, on its largest graph.
    """
    head = [
        "graph", "case", "kernel", "launches", "device ms", "registers", "shared B", "local B",
        "threads", "blocks per SM", "occupancy", "code KiB", "workspace MiB",
    ]  # fmt: skip
    rows = []
    largest: dict[str, Record] = {}
    for record in sorted(_ours(records), key=lambda each: each.dataset.nvals):
        largest[case_of(record)] = record
    for record in largest.values():
        for use in record.kernels[:_KERNELS]:
            counts = ("registers", "shared_bytes", "local_bytes", "threads", "blocks_per_sm")
            occupancy, code, room = (
                use.get(name) for name in ("occupancy", "code_bytes", "workspace_bytes")
            )
            rows.append(
                [
                    record.dataset.name, case_of(record), use["name"], str(use["launches"]),
                    figure(use["device_ms"]),
                    *("-" if use.get(name) is None else str(use[name]) for name in counts),
                    "-" if occupancy is None else f"{occupancy:.0%}",
                    figure(None if code is None else code / 2**10),
                    figure(None if room is None else room / 2**20),
                ]
            )  # fmt: skip
    return head, rows


def copy_table(records: Sequence[Record]) -> tuple[list[str], list[list[str]]]:
    """Return head and rows of what copies of a matrix cost.

    Of one that was not made: what it cost to find out that it is of no use, or does not fit.
    """
    rows = [
        [
            record.dataset.name, f"{record.kernel}{', not made' if record.note else ''}",
            _milliseconds(record.first_s), _milliseconds(record.median_s),
            figure(None if record.arrays_bytes is None else record.arrays_bytes / 2**20),
        ]
        for record in records
        if record.kind == "copy"
    ]  # fmt: skip
    return ["graph", "copy", "first ms", "ms", "MiB"], rows


def operation_table(records: Sequence[Record]) -> tuple[list[str], list[list[str]]]:
    """Return head and rows of single operations, with CuPy's device time where it has them."""
    theirs = {(each.dataset.name, each.kernel): each for each in records if each.library == "cupy"}
    rows = []
    for record in records:
        if record.kind != "operation" or record.library != "semira":
            continue
        peer = theirs.get((record.dataset.name, record.kernel))
        times = [] if peer is None else [{"peer": "cupy", "ms": 1e3 * (peer.device_median_s or 0)}]
        rows.append(
            [
                record.dataset.name, record.kernel,
                *map(_milliseconds, (record.device_median_s, record.median_s, floor_s(record))),
                _share(record), against(times, "ms", record.device_median_s),
                checked(record),
            ]
        )  # fmt: skip
    head = ["graph", "operation", "device ms", "call ms", "floor ms", "share of floor"]
    return [*head, "cupy device ms", "verified"], rows


def overhead_table(records: Sequence[Record]) -> tuple[list[str], list[list[str]]]:
    """Return head and rows of what calls on tiny objects cost the host."""
    rows = [
        [record.kernel, figure(1e6 * record.median_s), record.note]
        for record in records
        if record.kind == "overhead" and record.median_s is not None
    ]
    return ["call", "us", "device"], rows


def render_operations(records: Sequence[Record]) -> str:
    """Return the Markdown of single operations on a GPU."""
    notes = [runs_of(records)]
    tables = [operation_table(records), overhead_table(records)]
    return "\n\n".join([*notes, *(markdown_table(*table) for table in tables if table[1])])


def render_versus(records: Sequence[Record], peers: Peers) -> str:
    """Return the Markdown of a run on a GPU beside the times of peers.

    Records of several runs keep their order; the first lines name each run.
    """
    notes = [runs_of(records)]
    about = peers.about
    whose = ", ".join(f"{name}: {text}" for name, text in about["peers"].items())
    notes.append(f"Peers, {about['date']} on {about['gpu']}: {about['how']} ({whose}.)")
    notes.append(
        "In brackets: the peer's time divided by Semira's (above 1, Semira is faster). "
        f"Floor: the bytes that the products of this run must move at {ROOF / 1e12:g} TB/s."
    )
    tables = [versus_table(records, peers), kernel_table(records), copy_table(records)]
    return "\n\n".join([*notes, *(markdown_table(*table) for table in tables if table[1])])
