"""Tables of a GPU run and its peers: cases, kernels, copies, single operations."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence

from semira.bench.record import Record
from semira.bench.report import (
    checked,
    figure,
    grouped,
    machine_of,
    markdown_table,
    milliseconds,
    when_of,
)
from semira.bench.traffic import ROOF
from semira.bench.versus import Peers, against, best_peer, case_of, is_like_peers, is_ours

#: Options of cases in the summary.
_PLAIN = {"dtype", "tol", "max_iterations"}

#: Longest kernels of a case, listed in the table of kernels.
_KERNELS = 3


#: What each clock of the peers' file is called.
CLOCKS = {"device_ms": "device", "call_ms": "whole call"}


def ours_of(records: Iterable[Record]) -> list[Record]:
    """Return the records of Semira's algorithms."""
    return [each for each in records if is_ours(each)]


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


def runs_of(records: Sequence[Record]) -> str:
    """Return in Markdown where records were measured, and for each run its graphs and command."""
    lines: list[str] = []
    for machine, there in grouped(records, lambda record: machine_of(record.environment)).items():
        lines.append(f"{'' if not lines else chr(10)}Measured on {machine}:\n")
        for when, run in grouped(there, lambda record: when_of(record.environment)).items():
            graphs = ", ".join(dict.fromkeys(record.dataset.name for record in run))
            command = " ".join(run[0].environment.get("command", ()))
            lines.append(f"- {when}: {graphs}{f' (`{command}`)' if command else ''}")
    return "\n".join(lines)


def summary_table(records: Sequence[Record], peers: Peers) -> tuple[list[str], list[list[str]]]:
    """Return the header and rows: over graphs, the best peer's time divided by ours.

    Only cases with no options but the dtype and the number of iterations; each clock over the
    graphs for which a peer has a time.
    """
    head = ["algorithm", "dtype", *(f"{name}: mean, range" for name in CLOCKS.values()), "lost"]
    found: dict[tuple[str, str], dict[str, dict[str, float]]] = {}
    for record in ours_of(records):
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
    """Return the header and rows: resources that kernels use on a multiprocessor.

    The longest few of each case, on its largest graph.
    """
    head = [
        "graph", "case", "kernel", "launches", "device ms", "registers", "shared B", "local B",
        "threads", "blocks per SM", "occupancy", "code KiB", "workspace MiB",
    ]  # fmt: skip
    rows = []
    largest: dict[str, Record] = {}
    for record in sorted(ours_of(records), key=lambda each: each.dataset.nvals):
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
    """Return the header and rows: the cost of copies of a matrix.

    If not made: the cost of finding out that a copy is useless, or does not fit.
    """
    rows = [
        [
            record.dataset.name, f"{record.kernel}{', not made' if record.note else ''}",
            milliseconds(record.first_s), milliseconds(record.median_s),
            figure(None if record.arrays_bytes is None else record.arrays_bytes / 2**20),
        ]
        for record in records
        if record.kind == "copy"
    ]  # fmt: skip
    return ["graph", "copy", "first ms", "ms", "MiB"], rows


def operation_table(records: Sequence[Record]) -> tuple[list[str], list[list[str]]]:
    """Return the header and rows of single operations, with CuPy's device time if available."""
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
                *map(milliseconds, (record.device_median_s, record.median_s, floor_s(record))),
                floor_share(record), against(times, "ms", record.device_median_s),
                checked(record),
            ]
        )  # fmt: skip
    head = ["graph", "operation", "device ms", "call ms", "floor ms", "share of floor"]
    return [*head, "cupy device ms", "verified"], rows


def overhead_table(records: Sequence[Record]) -> tuple[list[str], list[list[str]]]:
    """Return the header and rows: the host's cost of calls on tiny objects."""
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
    """Return the Markdown of a run on a GPU and the times of peers.

    Records of several runs stay in order; the first lines name each run.
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
