"""Measuring on the GPU: profiles, checks that run there, copies, policies of memory."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest
from benchmarks.harness import Options
from benchmarks.studies import mxm
from benchmarks.studies.blocks import STUDY as BLOCKS
from benchmarks.studies.blocks import BlocksOptions
from benchmarks.studies.device_micro import STUDY as DEVICE_MICRO
from benchmarks.studies.device_micro import DeviceOptions
from benchmarks.studies.formats import STORAGES, FormatsOptions
from benchmarks.studies.formats_tables import STUDY as FORMATS
from benchmarks.studies.frontiers import STUDY as FRONTIERS
from benchmarks.studies.frontiers import FrontiersOptions, sweeps
from benchmarks.studies.ideas import IDEAS
from benchmarks.studies.ideas import STUDY as IDEAS_STUDY
from benchmarks.studies.levels import STUDY as LEVELS
from benchmarks.studies.levels import LevelsOptions
from benchmarks.studies.masks import STUDY as MASKS
from benchmarks.studies.masks import WAYS as MASK_WAYS
from benchmarks.studies.masks import MasksOptions, mask_sweeps
from benchmarks.studies.probes import PROBES
from benchmarks.studies.roofline import points
from benchmarks.studies.scales import STUDY as SCALES
from benchmarks.studies.scales import ScalesOptions, gteps
from benchmarks.studies.spmm import BALANCES, SpmmOptions
from benchmarks.studies.spmm import STUDY as SPMM
from benchmarks.studies.spmv import STUDY as SPMV
from benchmarks.studies.spmv import SpmvOptions
from typer.testing import CliRunner

import semira as gb
from semira.backends.registry import backend_for
from semira.bench.copies import ORIENTED, ROWS, measure_copies
from semira.bench.device import array_module, free_memory
from semira.bench.drawn import draw_kronecker
from semira.bench.graphs import BenchGraph, load_bench_graph
from semira.bench.libraries import KERNELS
from semira.bench.ours import VARIANTS, semira_library
from semira.bench.peers.cusparse import open_library
from semira.bench.record import Record, read_records
from semira.bench.runner import Preset, run_kernel
from semira.bench.sources import measure_sources
from semira.bench.traffic import ASYNCHRONOUS, ROOF
from semira.bench.triangles import count_triangles
from semira.bench.verify import CHECKS, check_iterations, count_by_hooking, rank_step
from semira.cli.main import app
from semira.exceptions import OutOfMemory
from semira.formats import hash_weights
from semira.methods.diagonals.bits import copy_bytes

pytestmark = pytest.mark.gpu

SPEC = "kron:10,ef=8,weights=uniform"
QUICK = Preset(dict.fromkeys(KERNELS, 1), 5.0)


@pytest.fixture(scope="module")
def host() -> BenchGraph:
    return load_bench_graph(SPEC)


@pytest.fixture(scope="module")
def graph() -> BenchGraph:
    return load_bench_graph(SPEC, None, array_module("cuda"))


def test_a_loop_is_one_launch_and_its_kernel_has_figures(host: BenchGraph) -> None:
    matrix = host.matrix.to("cuda")
    gb.algorithms.bfs(matrix, 0)
    with backend_for("cuda").profiled() as profile:
        gb.algorithms.bfs(matrix, 0).level.wait()
    loop = profile.kernels()[0]
    assert loop.name.startswith("program-")
    assert loop.launches == 1
    assert 0 < loop.device_ms <= profile.device_ms
    assert loop.registers > 0
    assert 0 < loop.occupancy <= 1
    assert loop.blocks_per_sm >= 1
    assert loop.code_bytes > 1000
    assert loop.workspace_bytes > 0


def test_a_loop_of_array_kernels_is_one_launch(host: BenchGraph) -> None:
    matrix = host.undirected.matrix.to("cuda")
    gb.algorithms.graph_colouring(matrix, symmetric=True)
    with backend_for("cuda").profiled() as profile:
        gb.algorithms.graph_colouring(matrix, symmetric=True).colour.wait()
    assert any(use.launches == 1 and use.device_ms > 0 for use in profile.kernels())
    assert profile.device_ms > 0


def test_a_profile_ends_with_its_block(host: BenchGraph) -> None:
    backend = backend_for("cuda")
    with pytest.raises(ValueError, match="stop"), backend.profiled():
        raise ValueError("stop")
    assert backend.runtime.profile is None
    with backend.profiled() as profile:
        pass
    gb.algorithms.bfs(host.matrix.to("cuda"), 0)
    assert profile.kernels() == []


def test_a_matrix_product_is_several_launches(host: BenchGraph) -> None:
    matrix = host.matrix.to("cuda")
    with backend_for("cuda").profiled() as profile:
        matrix.mxm(matrix, gb.semiring.plus_times).new()
    assert sum(use.launches for use in profile.kernels()) > 1
    assert all(use.device_ms >= 0 for use in profile.kernels())


@pytest.mark.parametrize(
    ("kernel", "options"),
    [(kernel, each) for kernel in KERNELS for each in ({}, *VARIANTS.get(kernel, ()))],
)
def test_records_have_the_devices_figures(kernel, options, graph: BenchGraph) -> None:
    library = semira_library("cuda", None, {kernel: options})
    (record,) = run_kernel(kernel, graph, [library], QUICK, both_ways=True)
    assert (record.verified, record.note) == (True, "")
    assert record.device_s
    assert all(time_s > 0 for time_s in record.device_s)
    assert record.kernels
    assert record.least_bytes > 0
    record.to_json()


def test_lengths_that_are_settled_without_iterations_have_a_floor() -> None:
    # Short rows: `auto` chooses the method by itself.
    graph = load_bench_graph("grid:50x50,weights=uniform", None, array_module("cuda"))
    library = semira_library("cuda", None, {"sssp": {"dtype": "FP32"}})
    (record,) = run_kernel("sssp", graph, [library], QUICK)
    assert (record.verified, record.ran, record.touched) == (True, {ASYNCHRONOUS: 1}, None)
    n, nvals = graph.n, graph.arrays.nvals
    assert record.least_bytes == 8 * nvals + 4 * (n + 1) + 8 * n
    (point,) = points([record])
    assert point.floors == {"memory": record.least_bytes / ROOF}


def test_the_device_counts_what_scipy_counts(graph: BenchGraph, host: BenchGraph) -> None:
    from scipy.sparse.csgraph import connected_components

    assert count_triangles(graph)[0] == count_triangles(host)[0] > 0
    components = connected_components(host.undirected.weighted, directed=False)[0]
    assert count_by_hooking(graph.undirected) == components
    rank = np.full(host.n, 1 / host.n)
    stepped = graph.xp.asnumpy(rank_step(graph, graph.xp.asarray(rank)))
    np.testing.assert_allclose(stepped, rank_step(host, rank), rtol=1e-12)
    assert check_iterations(graph, rank_step(host, rank), 1).ok is True


@pytest.mark.parametrize("kernel", ["bfs", "sssp", "cc", "pagerank"])
def test_a_wrong_answer_is_found_on_the_device(kernel: str, graph: BenchGraph) -> None:
    entry = semira_library("cuda").entries[kernel]
    source = graph.sources(0)[0]
    answer = entry.answer(entry.run(entry.prepare(graph), source), graph)
    assert CHECKS[kernel](graph, source, answer).ok is True
    wrong = answer.copy()
    wrong[source] += 1
    assert CHECKS[kernel](graph, source, wrong).ok is False
    free_memory(graph.xp)


def test_copies_have_their_bytes(graph: BenchGraph) -> None:
    n, nvals = graph.n, graph.arrays.nvals
    records = measure_copies(graph, "cuda", Record("copy", "", graph.dataset, ""))
    found = {each.kernel: each for each in records}
    assert found[ROWS].arrays_bytes >= 4 * (n + 1) + 8 * nvals
    # Entry rows of the first orientation are kept with what made the second one.
    assert found["make columns"].arrays_bytes + found["entry rows"].arrays_bytes >= 4 * nvals
    assert found["hot columns"].arrays_bytes >= 4 * nvals
    assert found["slices"].arrays_bytes > 0
    assert found[ORIENTED].arrays_bytes >= 4 * (nvals // 2)
    # A graph with hubs has entries on more than 32 diagonals.
    assert (found["diagonals"].arrays_bytes, found["diagonals"].note) == (0, "of no use")
    assert all(each.first_s > 0 for each in records)


def test_rows_on_few_diagonals_have_a_copy() -> None:
    graph = load_bench_graph("grid:40x50")
    records = measure_copies(graph, "cuda", Record("copy", "", graph.dataset, ""))
    found = {each.kernel: each for each in records}
    assert found["diagonals"].arrays_bytes == copy_bytes(graph.n, 4)
    assert found["diagonals"].note == ""
    assert found["sell"].arrays_bytes >= 4 * graph.arrays.nvals


def test_all_that_a_matrix_keeps_is_among_the_copies(host: BenchGraph) -> None:
    backend, named, kept = backend_for("cuda"), set(), set()
    # Padded rows of the one are refused, occupied rows of the other are all.
    for arrays in (host.arrays, load_bench_graph("grid:40x50").arrays):
        for make in backend.copies().values():
            matrix = backend.put(arrays)
            before = matrix.memory_usage()
            with suppress(OutOfMemory):
                make(matrix)
            after = matrix.memory_usage()
            named |= after.keys()
            kept |= {name for name, size in after.items() if size > before.get(name, 0)}
    # A block, which nothing here has, is what products of blocks make.
    assert named - {"buffers"} <= kept


def test_every_probe_is_right_beside_cupy() -> None:
    request = DeviceOptions(["kron:8"], trials=1, overhead=True)
    records = DEVICE_MICRO.run(request)
    ours = {each.kernel for each in records if each.library == "semira"}
    theirs = {each.kernel for each in records if each.library == "cupy"}
    assert ours >= PROBES.keys()
    assert theirs == {name for name, probe in PROBES.items() if probe.peer is not None}
    assert [each.kernel for each in records if each.verified is False] == []


def test_masks_are_looked_at_first_and_last() -> None:
    records = MASKS.run(MasksOptions(("kron:7",), 1, 0.1, "cuda", shares=(0.1, 1.0)))
    assert all(each.verified for each in records)
    assert {len(sweep.shares) for sweep in mask_sweeps(records)} == {2}
    assert all(sweep.times.keys() == MASK_WAYS.keys() for sweep in mask_sweeps(records))


@pytest.fixture(params=["operation", "pool", "kept", "start", "reuse"])
def policy(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch):
    from benchmarks.scripts import device_memory as memory

    monkeypatch.setattr(memory, "START_BYTES", 1 << 28)
    runtime = backend_for("cuda").runtime
    before = runtime.memory
    runtime.memory = memory.open_memory(runtime, memory.MemoryPolicy(request.param))
    yield runtime.memory
    runtime.synchronise()
    runtime.memory = before


def test_results_are_the_same_under_every_policy_of_memory(policy, host: BenchGraph) -> None:
    from benchmarks.scripts.device_memory import peak_bytes

    for kernel in KERNELS:
        (record,) = run_kernel(kernel, host, [semira_library("cuda")], QUICK)
        assert (record.verified, record.note) == (True, "")
    assert peak_bytes(policy) > 0


def test_ideas_are_measured_by_the_clock_of_the_device() -> None:
    # Large enough that a GPU pulls.
    records = IDEAS_STUDY.run(Options(("kron:14",), trials=1, seconds=0.1, device="cuda"))
    searches = [each for each in records if each.kind == "algorithm"]
    assert [each.verified for each in searches] == [True] * (1 + len(IDEAS))
    assert all(each.device_s for each in searches)
    assert {*IDEAS} <= {*next(each.fired for each in records if each.kind == "plans")}


def test_push_pull_and_auto_agree_on_every_frontier() -> None:
    records = FRONTIERS.run(FrontiersOptions((SPEC,), trials=1, seconds=0.1, device="cuda"))
    assert all(each.verified for each in records)
    assert all(len(sweep.shares) > 2 for sweep in sweeps(records))


def test_scales_have_both_clocks() -> None:
    (record,) = SCALES.run(ScalesOptions(scales=(10,), sources=2, device="cuda"))
    assert record.verified
    assert None not in gteps(record)


def test_levels_are_timed_by_the_device() -> None:
    (record,) = LEVELS.run(LevelsOptions((SPEC,), trials=1, device="cuda"))
    assert (record.verified, record.note) == (True, "")
    rows = record.facts["levels"]
    assert all(0 < row[way]["s"] < 0.1 for row in rows for way in ("push", "pull", "auto"))
    assert [row["push"]["ran"] for row in rows] == ["push"] * len(rows)


def test_searches_from_many_vertices_have_both_clocks(graph: BenchGraph) -> None:
    blank = Record("", "", graph.dataset, "")
    for kernel in ("bfs", "sssp"):
        found = measure_sources(kernel, graph, semira_library("cuda"), 4, 60.0, blank)
        assert (found.verified, found.note) == (True, "")
        assert len(found.device_s) == len(found.warm_s) == 4


@pytest.mark.hardware(reason="cuSPARSE computes")
def test_products_with_a_full_vector_stand_beside_cusparse() -> None:
    records = SPMV.run(SpmvOptions((SPEC, "grid:30x30"), trials=1, seconds=0.1, device="cuda"))
    assert [each.library for each in records] == ["semira", "semira", "cusparse"] * 2
    assert [each.note for each in records] == [""] * 6
    assert all(each.device_s and each.verified for each in records)


def test_products_in_every_storage_are_right() -> None:
    request = FormatsOptions(
        rows=(40,), densities=(0.1,), columns=3, trials=1, seconds=0.1, device="cuda"
    )
    records = FORMATS.run(request)
    ours = [each for each in records if each.library == "semira" and each.kernel == "mxv"]
    assert [each.options["storage"] for each in ours] == list(STORAGES)
    assert all(each.verified and each.device_s for each in ours)
    # A matrix of all positions is read as it is.
    copied = [each for each in ours if each.options["storage"] not in ("csr", "dense")]
    assert all(each.facts["kept"] > 0 for each in copied)
    assert [each.note for each in records if each.note] == []


def test_graphs_drawn_on_the_device_are_sound() -> None:
    xp = array_module("cuda")
    made = draw_kronecker(xp, 12, 16)
    rows, cols, values = made.to_coo()
    keys = rows.astype(np.int64) << 12 | cols
    assert np.all(np.diff(keys) > 0)
    assert not np.any(rows == cols)
    assert np.array_equal(np.sort(cols.astype(np.int64) << 12 | rows), keys)
    assert np.array_equal(values, hash_weights(rows, cols, 0))
    assert np.array_equal(made.indices, draw_kronecker(xp, 12, 16).indices)
    drawn = load_bench_graph("kron:20,ef=4", None, xp)
    assert np.array_equal(xp.asnumpy(drawn.tails), drawn.arrays.entry_major())
    assert drawn.undirected is drawn
    (record,) = run_kernel("bfs", drawn, [semira_library("cuda")], QUICK)
    assert (record.verified, record.note) == (True, "")
    free_memory(xp)


@pytest.mark.parametrize("exact", [1 << 20, 0])
def test_products_of_matrices_are_right_and_have_the_device_s_time(monkeypatch, exact):
    """In equal shares too; compared entry by entry, and as large ones are."""
    monkeypatch.setattr(mxm, "EXACT", exact)
    request = mxm.MxmOptions(("kron:6", "grid:9x9"), trials=1, seconds=0.1, device="cuda")
    records = [each for each in mxm.STUDY.run(request) if each.library == "semira"]
    assert [each.note for each in records] == [""] * 14
    assert all(each.verified and each.device_s for each in records)
    assert [each.plan for each in records if each.kernel == "A A"] == [{}, {"balance": "edges"}] * 2


@pytest.mark.parametrize("by_columns", [False, True])
def test_sparse_times_dense_of_every_width(by_columns):
    """One column to more than a tile of any kernel, the dense operand by rows and by columns."""
    request = SpmmOptions(
        ("er:60,degree=4", "dense:3x300"), trials=1, seconds=0.1, device="cuda",
        columns=(1, 2, 8, 64, 256, 1250), by_columns=by_columns, peers=False,
    )  # fmt: skip
    records = SPMM.run(request)
    assert [each.note for each in records] == [""] * 2 * 6 * (1 + len(BALANCES))
    assert all(each.verified for each in records)
    widths = {each.options["columns"] for each in records}
    assert widths == {1, 2, 8, 64, 256, 1250}


def test_bare_bench_measures_the_gpu_and_the_host(tmp_path) -> None:
    out = tmp_path / "here.jsonl"
    options = ("--algorithms", "bfs,cc", "--trials", "1", "--peers", "none", "--out", str(out))
    result = CliRunner().invoke(app, ["bench", "kron:5", *options])
    assert result.exit_code == 0, result.output
    assert "semira on cpu" in result.stdout
    plain = [each for each in read_records(out) if each.kind == "algorithm" and not each.options]
    assert [(each.kernel, each.backend, each.verified) for each in plain] == [
        (kernel, device, True) for kernel in ("bfs", "cc") for device in ("cuda", "cpu")
    ]


@pytest.mark.hardware(reason="cuSPARSE computes")
def test_cusparse_runs_beside(host: BenchGraph) -> None:
    records = run_kernel("pagerank", host, [open_library(1)], QUICK)
    assert [(each.library, each.verified) for each in records] == [("cusparse", True)]


def test_blocks_have_the_devices_time_and_both_storages():
    records = BLOCKS.run(BlocksOptions(("kron:5",), 1, 0.1, device="cuda", widths=(2,)))
    assert [each.verified for each in records] == [True] * 9, [each.note for each in records]
    assert all(each.device_s and min(each.device_s) > 0 for each in records)
    rows = [row for each in records for row in each.facts["levels"]]
    assert {"rows", "block"} <= {row["made"] for row in rows}
