"""Searches from many vertices: each is timed and checked."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from semira.bench.graphs import load_bench_graph
from semira.bench.ours import fresh_call, semira_library
from semira.bench.record import Dataset, Record, read_records
from semira.bench.sources import measure_sources, sources_table
from semira.bench.suite import Request, run_suite
from semira.exceptions import InvalidValue, OutOfMemory

BLANK = Record("", "", Dataset("ring", 3, 3, "00"), "")


@pytest.fixture(scope="module")
def graph() -> Any:
    return load_bench_graph("kron:6")


@pytest.mark.parametrize("kernel", ["bfs", "sssp"])
def test_every_source_has_its_times_and_is_checked(kernel: str, device: str, graph: Any) -> None:
    record = measure_sources(kernel, graph, semira_library(device), 5, 60.0, BLANK)
    assert (record.verified, record.note) == (True, "")
    assert record.sources == graph.sources(5)
    assert len(record.warm_s) == len(record.edges) == 5
    assert len(record.device_s or record.warm_s) == 5
    assert "every source" in record.verified_by


def test_one_wrong_answer_among_many_is_found(graph: Any) -> None:
    library, third = semira_library("reference"), graph.sources(5)[2]
    entry = library.entries["bfs"]

    def answer(result: Any, graph: Any) -> Any:
        levels = entry.answer(result, graph)
        return levels + (levels == 1) if levels[third] == 0 else levels

    spoiled = replace(library, entries={"bfs": replace(entry, answer=answer)})
    record = measure_sources("bfs", graph, spoiled, 5, 60.0, BLANK)
    assert record.verified is False
    assert record.note.startswith(f"from {third}: ")


def test_the_budget_ends_a_case(graph: Any) -> None:
    record = measure_sources("bfs", graph, semira_library("cpu"), 5, 0.0, BLANK)
    assert len(record.sources) == len(record.warm_s) == 1


def test_means_of_the_table() -> None:
    record = replace(
        BLANK, kind="sources", kernel="bfs", sources=[0, 1], warm_s=[1e-3, 3e-3],
        device_s=[1e-3, 1e-3], edges=[10**6, 3 * 10**6], verified=True,
    )  # fmt: skip
    head, (row,) = sources_table([record, replace(record, kind="algorithm")])
    cells = dict(zip(head, row, strict=True))
    assert cells["call ms, median"] == "2"
    assert cells["call ms, harmonic mean"] == "1.5"
    assert cells["call ms, longest"] == "3"
    assert cells["device GTEPS"] == "1.5"
    assert sources_table([replace(record, device_s=None)])[1][0][4:7] == ["-"] * 3


def test_suite_adds_them_to_its_records(tmp_path: Path) -> None:
    request = Request(
        ["kron:5"], ["bfs", "sssp", "cc"], (), "quick", seconds=600.0, device="cpu", sources=3,
        both_ways=True,
    )  # fmt: skip
    records = run_suite(request, out=tmp_path / "records.jsonl")
    many = [each for each in records if each.kind == "sources"]
    assert [each.kernel for each in many] == ["bfs", "sssp"]
    assert all(np.unique(each.sources).size > 1 for each in many)
    assert read_records(tmp_path / "records.jsonl") == records


def test_nothing_begins_after_the_limit() -> None:
    said: list[str] = []
    request = Request(["kron:4", "kron:5"], ["bfs", "cc"], (), "quick", limit=-1.0)
    with pytest.raises(InvalidValue, match="nothing was measured"):
        run_suite(request, say=said.append)
    assert said == ["graphs kron:4, kron:5: left out, the time is over"]


def test_what_is_left_out_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    now = iter([0.0, 1.0, 2.0, 99.0, 99.0])
    clock = SimpleNamespace(perf_counter=lambda: next(now))
    monkeypatch.setattr("semira.bench.suite.time", clock)
    request = Request(["kron:4", "kron:5"], ["bfs", "cc"], (), "quick", limit=10.0)
    monkeypatch.setattr("semira.bench.suite.load_bench_graph", lambda name, *_: load(name))
    monkeypatch.setattr("semira.bench.suite.run_kernel", lambda kernel, *_, **__: [BLANK])
    assert run_suite(request, say=said.append) == [BLANK]
    assert said == [
        "kron:4 cc: left out, the time is over",
        "graphs kron:5: left out, the time is over",
    ]


def load(name: str) -> Any:
    return SimpleNamespace(name=name, xp=np)


def test_a_graph_without_room_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(name: str, *args: Any) -> Any:
        if name == "kron:5":
            raise OutOfMemory("no room")
        return load_bench_graph(name, *args)

    monkeypatch.setattr("semira.bench.suite.load_bench_graph", refuse)
    said: list[str] = []
    records = run_suite(Request(["kron:5", "kron:4"], ["cc"], (), "quick"), say=said.append)
    assert said == ["graph kron:5: no room: left out"]
    assert [each.dataset.name for each in records] == ["kron:4"]


def test_records_are_added_to_those_that_are_there(tmp_path: Path) -> None:
    out = tmp_path / "records.jsonl"
    request = Request(["kron:4"], ["cc"], (), "quick")
    first = run_suite(request, out=out)
    second = run_suite(replace(request, append=True), out=out)
    assert read_records(out) == [*first, *second]
    assert read_records(out) != run_suite(request, out=out) == read_records(out)


def test_long_calls_are_not_made_for_their_dtypes(
    graph: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("semira.bench.ours.PROFILED_S", 0.0)
    facts = fresh_call(semira_library("cpu").entries["bfs"], graph, 0)
    assert "state" not in facts
    assert facts["fresh_s"] > 0
