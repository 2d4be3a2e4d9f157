"""What copies of a matrix cost: each by itself, those among them that a device refuses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from benchmarks.studies.versus import copy_table

import semira as gb
from semira.bench import copies as copies_module
from semira.bench import suite
from semira.bench.copies import ORIENTED, ROWS, measure_copies
from semira.bench.graphs import load_bench_graph
from semira.bench.record import Record, parse_record
from semira.bench.suite import Request, run_suite
from semira.exceptions import OutOfMemory


class FakeHandle:
    """A matrix that keeps more with every step."""

    def __init__(self, kept: int = 10) -> None:
        self.kept = kept

    def memory_usage(self) -> dict[str, int]:
        return {"buffers": self.kept}

    def grow(self, size: int) -> None:
        self.kept += size


def refuse(_handle: FakeHandle) -> None:
    raise OutOfMemory("nearly all of it would be padding")


class FakeBackend:
    """A device of which a matrix may have four copies, one of no use and one too large."""

    def put(self, arrays: Any) -> FakeHandle:
        assert arrays.symmetric is None
        return FakeHandle()

    def convert(self, handle: FakeHandle, layout: str) -> FakeHandle:
        assert layout == "copy"
        return FakeHandle(handle.kept)

    def copies(self) -> dict[str, Callable[[FakeHandle], None]]:
        grown = {"slices": 20, "entry rows": 30, "diagonals": 0}
        makers = {name: lambda handle, size=size: handle.grow(size) for name, size in grown.items()}
        return {**makers, "ell": refuse}

    def synchronise(self) -> None: ...

    def release(self, _handle: FakeHandle) -> None: ...


@pytest.fixture
def records(monkeypatch: pytest.MonkeyPatch) -> list[Record]:
    monkeypatch.setattr(copies_module, "backend_for", lambda _name: FakeBackend())
    graph = load_bench_graph("kron:6,ef=4,weights=uniform")
    return measure_copies(graph, "reference", Record("", "", graph.dataset, ""))


def test_copies_are_timed_and_weighed_one_by_one(records: list[Record]) -> None:
    *made, oriented = records
    assert [(each.kernel, each.arrays_bytes) for each in made] == [
        (ROWS, 10), ("slices", 20), ("entry rows", 30), ("diagonals", 0), ("ell", 0),
    ]  # fmt: skip
    assert oriented.kernel == ORIENTED
    for each in records:
        assert (each.kind, each.library, each.backend) == ("copy", "semira", "reference")
        assert each.first_s is not None
        assert len(each.warm_s) == 3
        assert parse_record(each.to_json()) == each


def test_what_is_not_made_says_why(records: list[Record]) -> None:
    notes = {each.kernel: each.note for each in records if each.note}
    assert notes == {
        "diagonals": "of no use", "ell": "OutOfMemory: nearly all of it would be padding",
    }  # fmt: skip
    labels = [row[1] for row in copy_table(records)[1]]
    assert labels[-3:] == ["diagonals, not made", "ell, not made", ORIENTED]


def test_oriented_edges_are_those_that_a_count_keeps(records: list[Record]) -> None:
    used = load_bench_graph("kron:6,ef=4,weights=uniform").undirected
    matrix = used.matrix.to("reference")
    gb.algorithms.triangle_count(matrix, symmetric=True)
    assert records[-1].arrays_bytes == matrix.memory_usage()["derived"] > 0
    assert records[-1].dataset == used.dataset


def test_a_long_build_is_made_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copies_module, "_BUILD_S", 0.0)
    monkeypatch.setattr(copies_module, "backend_for", lambda _name: FakeBackend())
    graph = load_bench_graph("kron:4")
    records = measure_copies(graph, "reference", Record("", "", graph.dataset, ""))
    assert {len(each.warm_s) for each in records} == {1}


@pytest.mark.parametrize("wanted", [True, False])
def test_variants_come_with_copies_or_without(
    wanted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def measured(_graph: Any, _device: str, blank: Record) -> list[Record]:
        return [blank]

    monkeypatch.setattr(suite, "measure_copies", measured)
    request = Request(
        ["kron:4"], ("sssp",), (), "quick", device="reference", variants=True, copies=wanted
    )
    plain, variant, *copies = run_suite(request)
    assert (plain.dtype, variant.dtype, len(copies)) == ("FP64", "FP32", int(wanted))
