"""Measure the first call of every algorithm: with an empty cache of kernels, and with a filled one.

Each time in a process of its own. The clock starts at the call: NumPy is loaded, the graph is on
the device and CUDA's context there, Numba is not imported.

Examples
--------
python -m benchmarks first-calls --quick
python -m benchmarks first-calls --out first_calls.jsonl
python -m benchmarks first-calls --device cuda --processes 8 --append --out first_calls.jsonl
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.harness import Options, Study, option
from benchmarks.studies.selection import choose_cases
from semira.algorithms.registry import REGISTRY
from semira.bench.graphs import BenchGraph
from semira.bench.record import Record
from semira.bench.report import figure
from semira.cli.bench import split_names

#: Seconds after which a process counts as failed.
_MOST_S = 300


def names_of(text: str) -> tuple[str, ...]:
    """Return the algorithms whose names contain one of the parts.

    Raises
    ------
    InvalidValue
        There is none.

    Examples
    --------
    >>> names_of("truss,hits")
    ('k_truss', 'hits')
    """
    return tuple(choose_cases(REGISTRY, split_names(text), "algorithm"))


@dataclass(frozen=True, slots=True)
class Goal:
    """Most seconds of a first call by device.

    Attributes
    ----------
    title : str
    of : callable
        Record to seconds.
    names : sequence of str
        Algorithms.
    most_s : mapping of str to float
    """

    title: str
    of: Callable[[Record], float]
    names: Sequence[str]
    most_s: Mapping[str, float]


GOALS = (
    Goal("bfs, empty cache", lambda each: each.first_s or 0.0, ("bfs",), {"cpu": 1.5, "cuda": 1.0}),
    Goal("all, empty cache", lambda each: each.first_s or 0.0, tuple(REGISTRY),
         {"cpu": 3.0, "cuda": 2.5}),
    Goal("all, filled cache", lambda each: each.facts["filled_s"], tuple(REGISTRY),
         {"cpu": 0.6, "cuda": 0.15}),
    Goal("all, filled cache, beyond a warm call",
         lambda each: each.facts["filled_s"] - each.warm_s[0], tuple(REGISTRY),
         {"cpu": 0.6, "cuda": 0.15}),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class FirstOptions(Options):
    """Options of the study."""

    graphs: Sequence[str] = option(("kron:12",), quick=("kron:6",))
    names: Sequence[str] = option(
        tuple(REGISTRY), "Parts of names of algorithms.", flag="--only", parse=names_of,
        quick=("k_hop",),
    )  # fmt: skip
    processes: int = option(1, "Processes at a time.", least=1)


def trial(options: FirstOptions, graph: BenchGraph) -> Iterator[Record]:
    """Measure the two first calls of every algorithm."""

    def measure(name: str) -> Record:
        return _measured(name, options.device, graph)

    with ThreadPoolExecutor(options.processes) as pool:
        yield from pool.map(measure, options.names)


def _measured(name: str, device: str, graph: BenchGraph) -> Record:
    used = graph if REGISTRY[name].directed else graph.undirected
    blank: dict[str, Any] = {"dataset": used.dataset, "library": "semira", "backend": device}
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "benchmarks.first_call", name, device, graph.name]
        # NVRTC keeps what it compiles in a cache of its own, which would answer for an empty one.
        own = {"SEMIRA_CACHE_DIR": folder, "CUDA_CACHE_DISABLE": "1", "SEMIRA_QUICK": "1"}
        # As in an installed package, modules are compiled.
        own["PYTHONDONTWRITEBYTECODE"] = ""
        told = []
        for _ in ("empty", "filled"):
            ran = subprocess.run(  # noqa: S603 - this interpreter, and names of the registry
                command,
                env={**os.environ, **own},
                capture_output=True,
                text=True,
                timeout=_MOST_S,
                check=False,
            )
            if ran.returncode:
                why = ran.stderr.strip().rpartition("\n")[2]
                return Record("first-call", name, note=why, verified=False, **blank)
            told.append(json.loads(ran.stdout))
        kept = (".nbc", ".o", ".cubin")
        kernels = [each for each in Path(folder).rglob("*") if each.suffix in kept]
        nbytes = sum(each.stat().st_size for each in kernels)
    empty, filled = told
    facts = {
        "cpu_s": empty["cpu_s"], "filled_s": filled["first_s"], "filled_cpu_s": filled["cpu_s"],
        "kernels_bytes": nbytes,
    }  # fmt: skip
    return Record(
        "first-call", name, compile_s=empty["first_s"] - filled["first_s"], compiled=len(kernels),
        first_s=empty["first_s"], warm_s=[filled["warm_s"]], facts=facts, **blank,
    )  # fmt: skip


def first_table(records: Sequence[Record]) -> tuple[list[str], list[list[str]]]:
    """Return the header and rows: seconds of the first calls of each algorithm."""
    head = [
        "algorithm", "device", "empty cache, s", "of the processor, s", "kernels", "kB",
        "filled cache, s", "of the processor, s", "warm, ms",
    ]  # fmt: skip
    rows = []
    for record in records:
        if record.kind != "first-call":
            continue
        if record.first_s is None:
            rows.append([record.kernel, record.backend, f"**failed**: {record.note}", *6 * [""]])
            continue
        facts = record.facts
        rows.append(
            [
                record.kernel, record.backend, figure(record.first_s), figure(facts.get("cpu_s")),
                str(record.compiled), figure(facts["kernels_bytes"] / 1e3),
                figure(facts["filled_s"]), figure(facts.get("filled_cpu_s")),
                figure(1e3 * record.warm_s[0]),
            ]
        )  # fmt: skip
    return head, rows


def goals_table(records: Sequence[Record]) -> tuple[list[str], list[list[str]]]:
    """Return the header and rows: the goals on each device, and which algorithms miss them."""
    rows = []
    for goal in GOALS:
        for device, most_s in goal.most_s.items():
            taken_s = {
                each.kernel: goal.of(each)
                for each in records
                if each.kind == "first-call" and each.backend == device
                and each.first_s is not None and each.kernel in goal.names
            }  # fmt: skip
            late = {name: each for name, each in taken_s.items() if each > most_s}
            met = f"{len(taken_s) - len(late)} of {len(taken_s)}"
            slowest = sorted(late.items(), key=lambda pair: -pair[1])
            missed = ", ".join(f"{name} {figure(each)}" for name, each in slowest)
            if taken_s:
                rows.append([goal.title, device, figure(most_s), met, missed])
    return ["goal", "device", "at most, s", "met by", "missed by, s"], rows


STUDY = Study(__doc__, FirstOptions, trial, {"First calls": first_table, "Goals": goals_table})
