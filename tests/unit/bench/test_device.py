"""Facts of a device with its own clock, and checks that also run there; here NumPy stands in."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from benchmarks.harness import held_for

from semira.bench import device as device_module
from semira.bench.device import LEAST_HELD_S, PROFILED, device_seconds, free_memory, profile_calls
from semira.bench.graphs import NAMED, BenchGraph, load_bench_graph
from semira.bench.libraries import KERNELS
from semira.bench.ours import VARIANTS, semira_library
from semira.bench.record import Dataset, Record, parse_record
from semira.bench.runner import Preset, run_kernel
from semira.bench.suite import Request, run_suite
from semira.bench.traffic import ASYNCHRONOUS, ROOF, bytes_of, least_bytes, widths_of
from semira.bench.triangles import SOURCE, count_triangles, oriented_lists
from semira.bench.verify import check_iterations, count_by_hooking, rank_step
from semira.contract import TraceRow
from semira.exceptions import DeviceUnavailable
from semira.generators import is_generator_spec

QUICK = Preset(dict.fromkeys(KERNELS, 1), 5.0)


@pytest.fixture(scope="module")
def graph() -> BenchGraph:
    return load_bench_graph("kron:6,ef=4,weights=uniform")


@dataclass(frozen=True)
class Use:
    name: str
    launches: int


class FakeBackend:
    """A device whose launches take two milliseconds."""

    device_ms = 2.0

    def kernels(self) -> list[Use]:
        return [Use("bfs", 3)]

    @contextmanager
    def profiled(self) -> Iterator[FakeBackend]:
        yield self


def test_profiled_calls_are_apart_from_the_warm_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_module, "backend_for", lambda _name: FakeBackend())
    calls: list[int] = []
    facts = profile_calls("cuda", lambda: calls.append(1))
    assert len(calls) == PROFILED
    assert facts == {
        "device_s": [0.002] * PROFILED, "kernels": [{"name": "bfs", "launches": 3}],
    }  # fmt: skip
    record = replace(Record("algorithm", "bfs", Dataset("ring", 3, 3, "00"), "semira"), **facts)
    assert record.device_median_s == 0.002
    assert parse_record(record.to_json()) == record


def test_long_calls_are_profiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = FakeBackend()
    backend.device_ms = 3_000.0
    monkeypatch.setattr(device_module, "backend_for", lambda _name: backend)
    assert profile_calls("cuda", lambda: None)["device_s"] == [3.0]


def test_launches_of_one_call_have_their_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_module, "backend_for", lambda _name: FakeBackend())
    calls: list[int] = []
    assert device_seconds("cuda", lambda: calls.append(1)) == 0.002
    assert calls == [1]
    monkeypatch.undo()
    assert device_seconds("reference", lambda: calls.append(1)) is None
    assert calls == [1], "a device without a clock is not run for nothing"


def test_a_device_is_held_before_every_call_that_is_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[Any] = []
    monkeypatch.setattr(device_module, "backend_for", lambda _name: FakeBackend())
    monkeypatch.setattr(device_module, "_hold", lambda name, seconds: steps.append((name, seconds)))
    profile_calls("cuda", lambda: steps.append("call"), held_s=held_for([1.0, 2.0, 4.0]), times=2)
    assert steps == [("cuda", 4.0 + LEAST_HELD_S), "call"] * 2
    device_seconds("cuda", lambda: steps.append("alone"), held_s=0.5)
    assert steps[-2:] == [("cuda", 0.5), "alone"]


def test_memory_of_checks_is_given_back() -> None:
    freed: list[int] = []
    pool = SimpleNamespace(free_all_blocks=lambda: freed.append(1))
    free_memory(SimpleNamespace(get_default_memory_pool=lambda: pool))
    free_memory(np)
    assert freed == [1]


def test_device_without_a_clock_has_no_such_facts(graph: BenchGraph) -> None:
    assert profile_calls("reference", lambda: None) == {}


def test_absent_device_leaves_the_records_that_are_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def absent(_name: str) -> Any:
        raise DeviceUnavailable("no GPU")

    monkeypatch.setattr("semira.bench.suite.describe_environment", absent)
    out = tmp_path / "cuda.jsonl"
    out.write_text("kept\n")
    with pytest.raises(DeviceUnavailable):
        run_suite(Request(["kron:4"], peers=(), device="cuda"), out=out)
    assert out.read_text() == "kept\n"


# bytes -------------------------------------------------------------------------------------------
def test_a_push_moves_its_frontier_its_edges_and_what_it_found() -> None:
    row = TraceRow(0, "vxm", "push", 3, 50, 7)
    weighted = widths_of("sssp", 4, 8, 100)
    # An edge: index and weight; a vertex: position, two offsets, value; found: position, value.
    assert bytes_of(row, weighted) == 50 * (4 + 4) + 3 * (4 + 8 + 8) + 7 * (4 + 8)
    pattern = widths_of("bfs", 4, 4, 100)
    assert bytes_of(row, pattern) == 50 * 4 + 3 * (4 + 8) + 7 * (4 + 4)


def test_a_matrix_product_moves_both_operands_and_the_result() -> None:
    row = TraceRow(0, "mxm", "dot", 20, 30, 5)
    assert bytes_of(row, widths_of("tc", 4, 8, 100)) == 4 * (20 + 30) + 5 * (4 + 8)


def test_wide_offsets_count_double() -> None:
    row = TraceRow(0, "mxv", "pull", 0, 0, 9)
    narrow, wide = (widths_of("cc", 4, 4, nvals) for nvals in (2**31 - 1, 2**31))
    assert bytes_of(row, wide) - bytes_of(row, narrow) == 4 * 10


def test_pagerank_on_kron21_has_the_floor_of_the_table_of_targets() -> None:
    n, entries = 2_097_152, 166_888_784
    rows = [TraceRow(i, "mxv", "pull", n, entries, n) for i in range(20)]
    moved = least_bytes(rows, widths_of("pagerank", 4, 4, entries))
    assert 1e3 * moved / ROOF == pytest.approx(3.3, abs=0.05)


def test_lengths_without_products_move_what_is_reached_once(graph: BenchGraph) -> None:
    library = semira_library("reference", {"algorithm": ASYNCHRONOUS})
    (record,) = run_kernel("sssp", graph, [library], QUICK)
    assert (record.verified, record.ran, record.touched) == (True, {ASYNCHRONOUS: 1}, None)
    entry, source = library.entries["sssp"], graph.sources(0)[0]
    answer = entry.answer(entry.run(entry.prepare(graph), source), graph)
    reached = np.flatnonzero(np.isfinite(answer))
    assert 0 < len(reached) < graph.n
    entries, weight = int(graph.degrees[reached].sum()), graph.matrix.dtype.itemsize
    # Index and weight of an edge, offsets, a length that is read and written.
    expected = entries * (4 + weight) + 4 * (len(reached) + 1) + len(reached) * (8 + 8)
    assert record.least_bytes == expected


# variants ----------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("kernel", "options"), [(kernel, each) for kernel in VARIANTS for each in VARIANTS[kernel]]
)
def test_variant_is_right_and_says_what_it_is(
    kernel: str, options: dict[str, Any], graph: BenchGraph
) -> None:
    library = semira_library("reference", None, {kernel: options})
    usual = semira_library("reference")
    (record,) = run_kernel(kernel, graph, [library], QUICK)
    (other,) = run_kernel(kernel, graph, [usual], QUICK)
    assert (record.verified, record.note) == (True, "")
    assert record.options == options
    assert record.dtype == options.get("dtype", other.dtype)
    assert record.key != other.key
    assert record.least_bytes is not None
    if "max_iterations" in options:
        assert record.iterations == 20


def test_shortest_paths_in_32_bits_read_lengths_of_32_bits(graph: BenchGraph) -> None:
    library = semira_library("reference", None, {"sssp": {"dtype": "FP32"}})
    assert library.entries["sssp"].prepare(graph).dtype.name == "FP32"
    assert library.entries["pagerank"].prepare(graph).dtype.name == "INT32"


def test_a_lost_iteration_is_found() -> None:
    graph = load_bench_graph("kron:6,ef=4")
    rank = np.full(graph.n, 1 / graph.n)
    for _ in range(19):
        rank = rank_step(graph, rank)
    for dtype in (np.float32, np.float64):
        assert check_iterations(graph, rank.astype(dtype), 19).ok is True
        # Nineteen steps have all but converged: one less is still seen in FP64.
        assert check_iterations(graph, rank.astype(dtype), 1).ok is False
    assert check_iterations(graph, rank, 18).ok is False


# checks that run on the device -------------------------------------------------------------------
@pytest.mark.parametrize("spec", ["kron:7,ef=2", "er:300,degree=1", "road:9x9,removed=0.5"])
def test_hooking_counts_the_components_that_scipy_counts(spec: str) -> None:
    from scipy.sparse.csgraph import connected_components

    whole = load_bench_graph(spec).undirected
    assert count_by_hooking(whole) == connected_components(whole.weighted, directed=False)[0]


def test_oriented_lists_hold_every_edge_once_and_every_triangle(graph: BenchGraph) -> None:
    starts, tails, heads = oriented_lists(graph)
    assert len(tails) == graph.undirected.arrays.nvals // 2
    assert (heads < tails).all()
    rows = [set(heads[starts[v] : starts[v + 1]].tolist()) for v in range(graph.n)]
    assert all(sorted(rows[v]) == heads[starts[v] : starts[v + 1]].tolist() for v in range(graph.n))
    found = sum(len(rows[u] & rows[v]) for u, v in zip(tails, heads, strict=True))
    assert found == count_triangles(graph)[0] > 0


def test_graphs_of_the_peers_tables_are_specs() -> None:
    assert all(is_generator_spec(spec) for spec in NAMED.values())


@pytest.mark.parametrize("arch", ["sm_80", "sm_90", "sm_100"])
def test_the_search_for_triangles_compiles_without_a_warning(arch: str) -> None:
    core = pytest.importorskip("cuda.core")
    log = io.StringIO()
    unit = core.Program(SOURCE, "c++", core.ProgramOptions(std="c++17", arch=arch))
    assert unit.compile("cubin", logs=log).code
    unit.close()
    assert not log.getvalue().strip("\0\n ")
