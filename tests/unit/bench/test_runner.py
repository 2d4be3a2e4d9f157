"""Measuring one kernel: records, times apart, and wrong results that are found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.helpers.every import every

import semira as gb
from semira.bench.graphs import BenchGraph, load_bench_graph
from semira.bench.libraries import KERNELS, Entry, Library
from semira.bench.ours import semira_library
from semira.bench.peers import open_peer
from semira.bench.record import Record, read_records
from semira.bench.runner import Preset, run_kernel
from semira.bench.suite import Request, run_suite
from semira.bench.timer import TooSlow
from semira.exceptions import InvalidValue, Panic

QUICK = Preset(dict.fromkeys(KERNELS, 2), 5.0)


@pytest.fixture(scope="module")
def graph() -> BenchGraph:
    return load_bench_graph("kron:5,ef=4")


def run(kernel: str, graph: BenchGraph, *libraries: Library, **changes: Any) -> list[Record]:
    return run_kernel(kernel, graph, libraries, QUICK, **changes)


def spoiled(spoil: Callable[[Any], Any]) -> Library:
    """Ours on the reference backend, with every answer changed."""
    library = semira_library("reference")
    entries = {
        kernel: replace(entry, answer=lambda result, graph, entry=entry: spoil(
            entry.answer(result, graph)
        ))
        for kernel, entry in library.entries.items()
    }  # fmt: skip
    return replace(library, entries=entries)


def failing(error: Exception) -> Library:
    def fail(_objects: Any, _source: int) -> Any:
        raise error

    entry = Entry(lambda graph: graph, fail, lambda result, graph: result)
    return Library("broken", {"bfs": entry}, {"bfs": "INT32"})


@pytest.mark.parametrize("kernel", KERNELS)
def test_right_result_is_verified_and_has_its_times_apart(
    kernel: str, device: str, graph: BenchGraph
) -> None:
    (record,) = run(kernel, graph, semira_library(device))
    assert (record.verified, record.note) == (True, "")
    assert record.verified_by
    assert len(record.warm_s) == 2
    assert record.first_s > 0
    assert record.first_s > record.compile_s >= 0
    assert record.device_s is None
    assert (record.library, record.backend, record.kernel) == ("semira", device, kernel)
    assert sum(record.ran.values()) > 0
    assert record.mteps > 0


@pytest.mark.parametrize("kernel", KERNELS)
def test_wrong_result_makes_verified_false(kernel: str, graph: BenchGraph) -> None:
    def spoil(answer: Any) -> Any:
        made = answer.copy()
        made[-1] += 1
        return made

    (record,) = run(kernel, graph, spoiled(spoil))
    assert record.verified is False
    assert record.note


@pytest.mark.parametrize("name", ["suitesparse", "scipy", "networkx"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_peer_is_verified_as_well(name: str, kernel: str, graph: BenchGraph) -> None:
    peer = open_peer(name, 1)
    if peer is None:
        pytest.skip(f"{name} is not installed")
    (record,) = run(kernel, graph, peer)
    assert (record.verified, record.note) == (True, "")
    assert record.compile_s is None


@every("name", ["suitesparse", "scipy", "networkx"])
@every("kernel", KERNELS)
def test_peer_is_right_on_a_directed_graph_in_pieces(name: str, kernel: str) -> None:
    peer = open_peer(name, 1)
    if peer is None:
        pytest.skip(f"{name} is not installed")
    directed = load_bench_graph("er:300,degree=2,symmetric=no")
    records = run(kernel, directed, semira_library("cpu"), peer)
    assert [record.verified for record in records] == [True, True]


def test_pinned_plan_is_in_the_record_and_in_force(graph: BenchGraph) -> None:
    for method in ("push", "pull"):
        (record,) = run("bfs", graph, semira_library("cpu", {"direction": method}))
        assert record.plan == {"direction": method}
        assert list(record.ran) == [method]


def test_error_is_a_wrong_result_and_a_time_limit_is_not(graph: BenchGraph) -> None:
    records = run("bfs", graph, failing(Panic("broke")), semira_library("reference"))
    assert [record.verified for record in records] == [False, True]
    assert records[0].note == "Panic: broke"
    (record,) = run("bfs", graph, failing(TooSlow("over 1 s")))
    assert (record.verified, record.note, record.warm_s) == (None, "stopped: over 1 s", [])


def test_library_may_lack_or_refuse_a_kernel(graph: BenchGraph) -> None:
    library = semira_library("reference")
    (record,) = run("cc", graph, replace(library, entries={}))
    assert (record.verified, record.note) == (None, "has no such algorithm")
    entry = replace(library.entries["cc"], refuse=lambda graph: "too large")
    (record,) = run("cc", graph, replace(library, entries={"cc": entry}))
    assert record.note == "not tried: too large"
    assert record.first_s is None


def test_searches_from_many_vertices_name_them(graph: BenchGraph) -> None:
    preset = replace(QUICK, trials=dict.fromkeys(KERNELS, 4), sources=3)
    (record,) = run_kernel("bfs", graph, [semira_library("reference")], preset)
    starts = graph.sources(3)
    assert record.sources == [*starts, starts[0]]
    assert all(graph.degrees[start] > 0 for start in starts)
    assert len(record.edges) == len(record.warm_s) == 4


def test_edges_of_a_search_are_the_degrees_of_what_it_reached() -> None:
    directed = load_bench_graph("er:300,degree=1,symmetric=no")
    (record,) = run("bfs", directed, semira_library("cpu"))
    source = record.sources[0]
    levels = semira_library("cpu").entries["bfs"]
    found = levels.answer(levels.run(levels.prepare(directed), source), directed)
    assert record.edges == [int(directed.degrees[found >= 0].sum())] * 2
    assert 0 < record.edges[0] < directed.arrays.nvals


def test_suite_writes_what_it_returns_and_says_what_is_absent(tmp_path: Path) -> None:
    out, said = tmp_path / "records.jsonl", []
    request = Request(
        ["kron:4", "no-such-graph"], ("bfs", "tc"), ("scipy",), trials=1, device="reference"
    )
    records = run_suite(request, out=out, say=said.append)
    assert read_records(out) == records
    assert [(each.kernel, each.library) for each in records] == [
        ("bfs", "semira"),
        ("bfs", "scipy"),
        ("tc", "semira"),
        ("tc", "scipy"),
    ]
    assert all(each.verified for each in records)
    assert all(each.environment["threads"] >= 1 for each in records)
    assert any("no-such-graph" in text for text in said)


@pytest.mark.parametrize(
    "change",
    [{"algorithms": ["bfd"]}, {"peers": ["lagraph"]}, {"preset": "fast"}, {"graphs": ["absent"]}],
)
def test_unknown_names_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises(InvalidValue):
        run_suite(replace(Request(["kron:4"], peers=()), **change))


def test_missing_peer_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("semira.bench.peers.registry.find_spec", lambda name: None)
    said: list[str] = []
    request = Request(["kron:4"], ("cc",), ("networkx",), trials=1, device="reference")
    assert [each.library for each in run_suite(request, say=said.append)] == ["semira"]
    assert said == ["peer networkx: not installed"]


def test_a_cast_on_the_host_is_the_cast_of_a_copy(graph: BenchGraph) -> None:
    made = graph.matrix_in("FP32")
    assert made.isequal(graph.matrix.dup("FP32"), check_dtype=True)
    assert made.symmetric is True


@pytest.mark.parametrize("kernel", KERNELS)
def test_another_first_call_has_its_facts(kernel: str, device: str, graph: BenchGraph) -> None:
    (record,) = run(kernel, graph, semira_library(device, fresh=True))
    facts = record.facts
    assert facts["fresh_s"] > 0 < facts["put_s"]
    states = {"bfs": "BOOL, INT32", "sssp": "FP64", "pagerank": "FP64"}
    if gb.device_traits(device).compiled_loops:
        # No program runs there.
        states = dict.fromkeys(states, "")
    assert kernel not in states or facts["state"] == states[kernel]
    assert facts["matrix"] == graph.matrix.dtype.name
    assert all(size > 0 for size in facts["kept"].values())
    assert run(kernel, graph, semira_library(device))[0].facts == {}


def test_checksum_follows_the_contents() -> None:
    one, same, other = (load_bench_graph(f"kron:5,seed={seed}").checksum for seed in (1, 1, 2))
    assert one == same != other
    assert np.unique([one, other]).size == 2


def test_no_memory_for_a_check_keeps_the_times(
    graph: BenchGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_args: Any) -> Any:
        raise MemoryError("2 GiB")

    monkeypatch.setattr("semira.bench.runner.verify", fail)
    (record,) = run("bfs", graph, semira_library("reference"))
    assert (record.verified, record.note) == (None, "no memory to check it: 2 GiB")
    assert len(record.warm_s) == 2
