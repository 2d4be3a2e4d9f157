"""A clock in the programs of the GPU: its output, and the share of products in the time."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import benchmarks.studies.phases as bench_phases
import numpy as np
import pytest
from benchmarks.studies.phases import (
    CASES,
    PRODUCT_FAMILIES,
    clocked_programs,
    instrument,
    is_product_phase,
    is_shared_phase,
    measure_phases,
    phase_families,
    phases_of,
    phases_table,
    printed_by_device,
    read_cases,
    times_of,
)
from tests.helpers.bfs_program import bfs_program

from semira.backends.cuda.backend import CAPABILITIES
from semira.backends.cuda.jit import compile as compiler
from semira.backends.cuda.lower import lower_program
from semira.methods.sorted_push.cuda import ROOT

NAMES = [["sum_degrees", "spmspv_push_block", "cells 0, 1", "clear_spare"]]
PRINTED = [
    "RATE 0 2000 4000",
    "PHASE 0 0 1 400 1 1",
    "PHASE 0 1 1 3000 3 6",
    "PHASE 0 1 2 600 1 8",
    "EACH 0 0,1,400 1,1,1000",
    # The same program once more: sums add up.
    "RATE 0 1000 2000",
    "PHASE 0 1 1 1000 1 2",
]


def case_of(*phases: dict[str, Any], **facts: Any) -> dict[str, Any]:
    launches = facts.pop("launches", [])
    return {
        "graph": "ring", "algorithm": "bfs", "phases": list(phases), "launches": launches, **facts,
    }  # fmt: skip


def phase_of(us: float, *what: str, times: int = 1) -> dict[str, Any]:
    return {"us": us, "times": times, "what": list(what)}


def test_what_is_printed_becomes_phases() -> None:
    rows, order = phases_of(PRINTED, NAMES)
    assert [(row["from"], row["to"], row["times"]) for row in rows] == [
        (0, 1, 1), (1, 1, 4), (1, 2, 1),
    ]  # fmt: skip
    # Half a nanosecond a cycle.
    assert [row["us"] for row in rows] == pytest.approx([0.2, 0.5, 0.3])
    assert [row["what"] for row in rows] == [
        ["sum_degrees"], ["spmspv_push_block", "cells 0, 1"], ["clear_spare"],
    ]  # fmt: skip
    assert order == [[0, 0, 1, 0.2], [0, 1, 1, 0.5]]


def test_products_are_what_lives_with_the_products() -> None:
    families = phase_families()
    assert {*families.values()} >= {"vxm", "common", "reduce", "region"}
    for name, family in families.items():
        assert is_product_phase(phase_of(1.0, name)) is (family in PRODUCT_FAMILIES)
    assert not is_product_phase(phase_of(1.0, "cells 0, 1"))
    assert not is_product_phase(phase_of(1.0))
    assert is_shared_phase(phase_of(1.0, "cells 0", "spmv_pull_tiles"))
    assert not is_shared_phase(phase_of(1.0, "spmv_pull_tiles"))
    assert not is_shared_phase(phase_of(1.0, "cells 0"))


def test_times_are_of_phases_and_of_launches() -> None:
    launches = [{"name": "mxm-1:dots", "ms": 2.0}, {"name": "matrix_base:scan", "ms": 1.0}]
    case = case_of(
        phase_of(500.0, "spmv_pull_tiles", times=4), phase_of(1000.0, "cells 0"), launches=launches
    )
    assert times_of(case) == (6.0, 4.0)


def test_table_says_where_the_part_is_a_bound() -> None:
    alone = case_of(phase_of(750.0, "spmv_pull_tiles"), phase_of(250.0, "cells 0"))
    shared = case_of(
        phase_of(900.0, "sum_all_rows", "cells 1"), phase_of(100.0), algorithm="pagerank"
    )
    head, rows = phases_table([alone, shared, alone | {"graph": "star"}])
    assert head == ["graph", "bfs", "pagerank"]
    assert rows == [
        ["ring", "75% of 1 ms", "at most 90% of 1 ms"],
        ["star", "75% of 1 ms", "-"],
    ]


def test_programs_get_a_clock_and_other_kernels_none() -> None:
    generated = lower_program(bfs_program(CAPABILITIES)).source
    plain = compiler.render_source(generated, "int")
    with clocked_programs() as names:
        text = compiler.render_source(generated, "int")
        other = compiler.render_source("", "int", ROOT)
    (called,) = names
    assert {"spmspv_push_block", "sum_degrees"} <= {*called}
    assert {name for name in called if not name.startswith("cells ")} <= phase_families().keys()
    program = plain[plain.index("struct Table {") :]
    waits = program.count("barrier.wait();") + program.count("barrier.meet<true>();")
    # The last one has the number of the barriers; the start is one more.
    assert f"phase_stamp({waits});" in text
    assert f"phase_stamp({waits + 1});" not in text
    assert "phase_print(0);" in text
    assert "phase_stamp" not in other
    assert compiler.render_source(generated, "int") == plain


def test_a_text_of_another_shape_is_refused() -> None:
    with pytest.raises(ValueError, match="not a program"):
        instrument("struct Table {};", 0)


def test_what_is_printed_past_python_is_read(capfd: pytest.CaptureFixture[str]) -> None:
    with printed_by_device() as lines:
        os.write(1, b"RATE 0 1 2\n")
    os.write(1, b"behind\n")
    assert lines == ["RATE 0 1 2"]
    assert capfd.readouterr().out == "behind\n"


def test_no_case_begins_after_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def nothing(**_options: bool) -> Iterator[list[list[str]]]:
        yield []

    clock = iter(range(100))
    monkeypatch.setattr(bench_phases, "clocked_programs", nothing)
    monkeypatch.setattr(bench_phases, "array_module", lambda _device: np)
    monkeypatch.setattr(bench_phases, "time", SimpleNamespace(perf_counter=lambda: next(clock)))
    monkeypatch.setattr(
        bench_phases, "measure_case", lambda name, graph, _names: {"at": (graph.name, name)}
    )
    said: list[str] = []
    # A look at the clock before each graph, and before each case.
    made = measure_phases(
        ["kron:4", "absent", "kron:5", "kron:6"], ["bfs", "cc"], limit=6, say=said.append
    )
    assert [case["at"] for case in made] == [("kron:4", "bfs"), ("kron:4", "cc"), ("kron:5", "bfs")]
    assert "absent" in said[0]
    assert said[1:] == ["kron:5 cc: left out after 6 s", "kron:6 and beyond: left out after 6 s"]


def test_what_is_kept_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "phases.json"
    path.write_text(json.dumps({"environment": {"gpu": "H200"}, "results": [case_of()]}))
    assert read_cases(path) == ({"gpu": "H200"}, [case_of()])
    assert {"bfs", "sssp", "pagerank", "cc", "tc"} <= CASES.keys()
