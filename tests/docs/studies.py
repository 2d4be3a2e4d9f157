"""Tables of what the scripts in ``bench/`` measured: one file of JSON for each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks.studies.phases import phases_table, read_cases

from semira.bench.report import figure, markdown_table, where_of

RESULTS = Path(__file__).resolve().parents[2] / "bench" / "results"

_NOT_YET = "Not measured yet."


def phases() -> str:
    """Return the products' part of the time on the GPU, by graph and algorithm."""
    environment, cases = read_cases(RESULTS / "phases_gpu.json")
    # The first records did not say where they were made.
    earlier = (
        "One H200, before the clock noted what was called: here a phase is a product's if the text "
        "before its barrier calls one."
    )
    where = where_of(environment) if environment else earlier
    return "\n\n".join([where, markdown_table(*phases_table(cases))])


def memory_policies() -> str:
    """Return the costs of policies of device memory, if they were measured."""
    path = RESULTS / "memory_policies.json"
    if not path.is_file():
        return _NOT_YET
    record = json.loads(path.read_text("utf-8"))
    found = record["results"]
    buffers, work = list(found[0]["buffers"]), list(found[0]["work"])
    head = ["policy", *(f"{int(size):,} B" for size in buffers), *work, "peak MiB"]
    rows = [
        [
            row["policy"],
            *(figure(row["buffers"][size]["finished_us"]) for size in buffers),
            *(figure(row["work"][name]["finished_us"]) for name in work),
            f"{row['peak_bytes'] / 2**20:,.0f}",
        ]
        for row in found
    ]
    note = f"Microseconds of a round until the device was done, on `{found[0]['graph']}`."
    return "\n\n".join([where_of(record), note, markdown_table(head, rows)])


def diagonals() -> str:
    """Return what rows as bits do to calls on a grid, if it was measured by the script."""
    path = RESULTS / "diagonals_gpu.json"
    return diagonals_of(json.loads(path.read_text("utf-8"))) if path.is_file() else _NOT_YET


def diagonals_of(found: dict[str, Any]) -> str:
    """Return the table of one record."""
    head = ["graph", "call", "off ms", "on ms", "times faster", "first call, ms more", "copy MB"]
    rows = [
        [
            row["graph"], row["call"], figure(row["off_ms"]), figure(row["on_ms"]),
            figure(row["off_ms"] / row["on_ms"]), figure(row["build_ms"]),
            figure(row["copy_bytes"] / 1e6),
            f"{row['off_registers']}, {row['off_local_bytes']}",
            f"{row['on_registers']}, {row['on_local_bytes']}",
            "yes" if row["same"] and row["ran"] else "**no**",
        ]
        for row in found["results"]
    ]  # fmt: skip
    head += ["off: registers, local B", "on: registers, local B", "same bits"]
    return "\n\n".join([where_of(found["environment"]), markdown_table(head, rows)])
