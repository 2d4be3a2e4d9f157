"""Tables of what was measured on the host: whole reports, and the README's summary of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.docs.stored import read_records

from semira.bench.record import Record
from semira.bench.report import figure, markdown_table, means_of, render_report

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "bench" / "results"

#: Graphs of the summary, and what its columns are called.
SHOWN = {
    "kron:20": "kron:20",
    "road:1000x1000,removed=0.05": "road 1000 x 1000",
    "web-NotreDame": "web-NotreDame",
}

#: The graph that the GPU has run as well.
ON_GPU = "kron:20"

PEERS = {"suitesparse": "against SuiteSparse", "scipy": "against SciPy"}


def algorithms() -> str:
    """Return the report of the five algorithms on the host."""
    return render_report(read_records(RESULTS / "cpu.jsonl")).rstrip()


def operations() -> str:
    """Return the report of single operations on the host."""
    return render_report(read_records(RESULTS / "micro.jsonl")).rstrip()


def _milliseconds(records: Sequence[Record], graph: str) -> dict[str, str]:
    """Return the median of our warm calls without options, by algorithm."""
    return {
        each.kernel: figure(1e3 * each.median_s)
        for each in records
        if each.kind == "algorithm" and each.library == "semira" and each.median_s
        and each.dataset.name == graph and not each.options and not each.plan
    }  # fmt: skip


def summary() -> str:
    """Return our times on some graphs, and our speed relative to peers over all of them."""
    records = read_records(RESULTS / "cpu.jsonl")
    times = [_milliseconds(records, graph) for graph in SHOWN]
    on_gpu = _milliseconds(read_records(RESULTS / "cuda.jsonl"), ON_GPU)
    (_, *libraries), means = means_of(records)
    head = ["", *SHOWN.values(), *PEERS.values(), f"{ON_GPU}, H200"]
    rows = []
    for name, *ratios in means:
        found = dict(zip(libraries, ratios, strict=True))
        mean = [found.get(peer, "-") for peer in PEERS]
        empty = "" if name == "all" else "-"
        rows.append(
            [name, *(each.get(name, empty) for each in times), *mean, on_gpu.get(name, empty)]
        )
    return markdown_table(head, rows)
