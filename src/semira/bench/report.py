"""Tables of records for the documentation, in Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import geometric_mean
from typing import Any

from semira.bench.record import Record


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of records and how its times are shown."""

    name: str
    title: str
    unit: str
    #: Seconds to the unit.
    scale: float


KINDS = (
    Kind("algorithm", "Algorithms", "Median of the warm calls in milliseconds", 1e3),
    Kind("operation", "Operations", "Median of the warm calls in milliseconds", 1e3),
    Kind("overhead", "Calls on tiny objects", "Median time of a call in microseconds", 1e6),
)
#: What the records of memory count.
MEMORY_NOTE = (
    "Peak of what Semira holds during the call, operands included and the caller's arrays not, "
    "next to the arrays of the matrix by rows and by columns"
)
_SCALES = {kind.name: kind.scale for kind in KINDS}


def figure(value: float | None) -> str:
    """Return a number as tables have it: three digits, or a dash."""
    if value is None:
        return "-"
    return f"{value:,.3g}" if value < 1000 else f"{value:,.0f}"


def ratio_text(value: float) -> str:
    """Return how many times as long a peer takes: two decimals, or two digits if it is small.

    Examples
    --------
    >>> ratio_text(12.345), ratio_text(0.5), ratio_text(0.00226)
    ('12.35x', '0.50x', '0.0023x')
    """
    return f"{value:.2f}x" if value >= 0.1 else f"{value:.2g}x"


def _libraries(records: Iterable[Record]) -> list[str]:
    found = dict.fromkeys(record.library for record in records)
    return sorted(found, key=lambda name: name != "semira")


def _peer_cell(record: Record | None, ours: float | None, scale: float) -> str:
    if record is None:
        return "-"
    if record.verified is False:
        return f"wrong: {record.note}"
    if record.median_s is None:
        return record.note or "-"
    ratio = f" ({ratio_text(record.median_s / ours)})" if ours else ""
    return f"{figure(record.median_s * scale)}{ratio}"


def _our_cells(record: Record | None, scale: float) -> tuple[str, str, str]:
    if record is None:
        return "-", "-", "-"
    checked = {True: "yes", False: "**no**", None: "not checked"}[record.verified]
    median = None if record.median_s is None else record.median_s * scale
    return figure(median), figure(record.mteps), checked


def table_of(records: Sequence[Record], kind: str) -> tuple[list[str], list[list[str]]]:
    """Return head and rows of one kind of records.

    Ours comes first; behind the time of a peer stands its ratio to ours (above 1: we are
    faster).
    """
    chosen = [record for record in records if record.kind == kind]
    peers = [name for name in _libraries(chosen) if name != "semira"]
    has_rates = any(record.mteps for record in chosen)
    rates = ["MTEPS"] if has_rates else []
    head = ["graph", "kernel", "semira", *rates, "verified", *peers]
    cases: dict[tuple[str, str], dict[str, Record]] = {}
    for record in chosen:
        found = cases.setdefault((record.dataset.name, record.kernel), {})
        # Cases with options of their own are not what peers did.
        if not (record.options and record.library in found):
            found[record.library] = record
    rows = []
    for (name, kernel), found in cases.items():
        scale = _SCALES[kind]
        ours = found.get("semira")
        time_cell, rate_cell, checked = _our_cells(ours, scale)
        median = ours.median_s if ours is not None else None
        cells = [_peer_cell(found.get(peer), median, scale) for peer in peers]
        row = [name, kernel, time_cell, *([rate_cell] if has_rates else []), checked, *cells]
        rows.append(row)
    return head, rows


def memory_table_of(records: Sequence[Record]) -> tuple[list[str], list[list[str]]]:
    """Return head and rows of the records of memory."""
    rows = [
        [
            record.dataset.name,
            record.kernel,
            f"{record.peak_bytes / 2**20:,.1f}",
            f"{record.arrays_bytes / 2**20:,.1f}",
            f"{record.memory_ratio:.2f}",
        ]
        for record in records
        if record.memory_ratio is not None and record.peak_bytes and record.arrays_bytes
    ]
    return ["graph", "case", "peak MiB", "rows and columns MiB", "ratio"], rows


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    r"""Return a table; bars in cells are escaped.

    Examples
    --------
    >>> print(markdown_table(["a", "b"], [["1", "x|y"]]))
    | a | b |
    |---|---|
    | 1 | x\|y |
    """
    lines = [head, *rows]
    texts = ["| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines]
    return "\n".join([texts[0], "|" + "---|" * len(head), *texts[1:]])


def means_of(records: Sequence[Record]) -> tuple[list[str], list[list[str]]]:
    """Return head and rows of our speed relative to each peer, in the geometric mean.

    One row per kernel over the graphs that both ran, and one over everything; below 1 we are
    slower.
    """
    chosen = [record for record in records if record.kind == "algorithm" and record.median_s]
    ours = {
        (record.dataset.name, record.kernel): record.median_s
        for record in chosen
        if record.library == "semira"
    }
    peers = [name for name in _libraries(chosen) if name != "semira"]
    kernels = list(dict.fromkeys(record.kernel for record in chosen))
    rows = []
    for name in [*kernels, "all"]:
        cells = []
        for peer in peers:
            ratios = [
                record.median_s / base
                for record in chosen
                if record.library == peer
                and name in (record.kernel, "all")
                and record.median_s
                and (base := ours.get((record.dataset.name, record.kernel)))
            ]
            cells.append(figure(geometric_mean(ratios) if ratios else None))
        rows.append([name, *cells])
    return ["kernel", *peers], rows if peers and ours else []


def where_of(environment: dict[str, Any]) -> str:
    """Return the sentence that says when, of what and on what records were measured."""
    return f"Measured {when_of(environment)} on {machine_of(environment)}."


def when_of(environment: dict[str, Any]) -> str:
    """Return when records were measured, and of what commit."""
    commit = (environment.get("commit") or "unknown")[:12]
    state = " with local changes" if environment.get("dirty") else ""
    return f"{environment.get('time', 'at an unknown time')} at commit `{commit}`{state}"


def machine_of(environment: dict[str, Any]) -> str:
    """Return on what machine records were measured, and with what libraries."""
    versions = ", ".join(
        f"{name} {version}" for name, version in environment.get("versions", {}).items()
    )
    processor = environment.get("cpu", "an unknown processor")
    device = f"{environment['gpu']}, host " if "gpu" in environment else ""
    return f"{device}{processor} with {environment.get('threads', '?')} threads; {versions}"


def grouped(records: Iterable[Record], key: Callable[[Record], str]) -> dict[str, list[Record]]:
    """Return records by a key, in the order in which keys first come."""
    groups: dict[str, list[Record]] = {}
    for record in records:
        groups.setdefault(key(record), []).append(record)
    return groups


def render_report(records: Sequence[Record]) -> str:
    """Return the Markdown of records: a section for each run, a table for each kind.

    Times of different runs never share a table.
    """
    parts = []
    for where, group in grouped(records, lambda record: where_of(record.environment)).items():
        parts.append(where)
        for kind in KINDS:
            head, rows = table_of(group, kind.name)
            if rows:
                note = "in brackets: that time divided by Semira's (above 1, Semira is faster)"
                parts += [f"### {kind.title}", f"{kind.unit}; {note}.", markdown_table(head, rows)]
        head, rows = memory_table_of(group)
        if rows:
            parts += ["### Memory", MEMORY_NOTE + ".", markdown_table(head, rows)]
        head, rows = means_of(group)
        if rows:
            parts += [
                "### Geometric means",
                "Speed relative to each peer over the graphs both ran; below 1 Semira is slower.",
                markdown_table(head, rows),
            ]
        parts += _facts(group)
    return "\n\n".join(parts) + "\n"


def _facts(records: Sequence[Record]) -> list[str]:
    chosen = [each for each in records if each.kind == "algorithm" and each.library == "semira"]
    rows = [
        [
            record.dataset.name,
            record.kernel,
            f"{record.dataset.n:,}",
            f"{record.dataset.nvals:,}",
            *(figure(value * 1e3) for value in (record.load_s, record.build_s, record.convert_s)),
            figure(None if record.compile_s is None else record.compile_s * 1e3),
            figure(None if record.first_s is None else record.first_s * 1e3),
            str(record.iterations or "-"),
            ", ".join(f"{method} x{times}" for method, times in record.ran.items()) or "-",
        ]
        for record in chosen
    ]
    if not rows:
        return []
    head = [
        "graph", "kernel", "n", "entries", "load ms", "build ms", "convert ms",
        "compile ms", "first call ms", "iterations", "products",
    ]  # fmt: skip
    return ["### Before the warm calls", markdown_table(head, rows)]


def checked(record: Record) -> str:
    """Return whether a result was found right, for a table."""
    return {True: "yes", False: f"**no**: {record.note}", None: "not checked"}[record.verified]


def milliseconds(time_s: float | None) -> str:
    """Return seconds as milliseconds, for a table."""
    return figure(None if time_s is None else 1e3 * time_s)
