"""Products with a full vector on families of matrices, and cuGraph's adapter."""

from __future__ import annotations

import sys
from dataclasses import replace
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from benchmarks.studies import spmv as bench_spmv
from benchmarks.studies.spmv import (
    QUICK,
    STUDY,
    SpmvOptions,
    added_up,
    family_of,
    least_bytes_of,
    spmv_table,
)

from semira.bench.graphs import BenchGraph, load_bench_graph
from semira.bench.libraries import KERNELS
from semira.bench.record import Dataset, Record
from semira.bench.runner import Preset, run_kernel
from semira.bench.traffic import ROOF

REQUEST = SpmvOptions(("kron:7", "grid:9x9"), trials=2, seconds=0.1)


@pytest.fixture(scope="module")
def measured() -> list[Record]:
    return STUDY.run(REQUEST)


def test_both_products_and_the_peer_are_right(measured: list[Record]) -> None:
    assert [each.note for each in measured] == [""] * 6
    assert all(each.verified for each in measured)
    assert [each.library for each in measured] == ["semira", "semira", "scipy"] * 2
    assert [each.ran for each in measured[:2]] == [{"pull": 1}] * 2


def test_sums_along_entries_are_products() -> None:
    graph = load_bench_graph("kron:6,weights=uniform")
    operand = np.random.default_rng(0).random(graph.n, np.float32)
    np.testing.assert_allclose(added_up(graph, operand, True), graph.weighted @ operand)
    pattern = graph.weighted.copy()
    pattern.data[:] = 1
    np.testing.assert_allclose(added_up(graph, operand, False), pattern @ operand)
    bytes_of_rows = 12 * graph.n
    assert least_bytes_of(graph, True) == 8 * graph.arrays.nvals + bytes_of_rows
    assert least_bytes_of(graph, False) == 4 * graph.arrays.nvals + bytes_of_rows


def test_wrong_products_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench_spmv, "added_up", lambda *args: 1.001 * added_up(*args))
    records = STUDY.run(replace(REQUEST, graphs=("kron:5",)))
    assert [each.verified for each in records] == [False] * 3


def test_goals_stand_in_the_table() -> None:
    ours = Record(
        "spmv", "mxv FP32 plus_times", Dataset("grid4900", 9, 36, "00"), "semira", "cuda",
        device_s=[1.0], least_bytes=int(0.85 * ROOF), verified=True,
    )  # fmt: skip
    peer = replace(ours, library="cusparse", backend="", device_s=[0.9])
    head, (row,) = spmv_table([ours, peer])
    cells = dict(zip(head, row, strict=True))
    assert cells["share of floor"] == "85%"
    assert (cells["80% of it"], cells["at least the peer"]) == ("yes", "no")
    graph = replace(ours.dataset, name="kron:21")
    ((*_, goal, peer_ms, _, _, _),) = spmv_table([replace(ours, dataset=graph), peer])[1]
    assert (goal, peer_ms) == ("-", "-")


def test_every_family_has_a_quick_one() -> None:
    quick = {family_of(name)[0] for name in QUICK}
    assert quick | {"web"} == {family for family, _ in bench_spmv.FAMILIES.values()}


class StandIn:
    """The parts of pylibcugraph that `semira.bench.peers.cugraph` uses, computed by SciPy."""

    ResourceHandle = SimpleNamespace
    GraphProperties = SimpleNamespace

    def __init__(self) -> None:
        self.calls: list[tuple[str, Any]] = []

    def SGGraph(self, **given: Any) -> Any:
        from scipy.sparse import csr_array

        ends = given["src_or_offset_array"], given["dst_or_index_array"]
        n = len(given["vertices_array"])
        weights = given["weight_array"]
        values = np.ones(len(ends[0])) if weights is None else weights
        return SimpleNamespace(matrix=csr_array((values, ends), shape=(n, n)), given=given)

    def _shuffled(self, graph: Any, values: Any) -> tuple[Any, Any]:
        order = np.random.default_rng(0).permutation(graph.matrix.shape[0]).astype(np.int32)
        return order, np.asarray(values)[order]

    def bfs(self, _handle: Any, graph: Any, sources: Any, *rest: Any) -> Any:
        from scipy.sparse.csgraph import dijkstra

        self.calls.append(("bfs", rest))
        hops = dijkstra(graph.matrix, indices=int(sources[0]), unweighted=True)
        levels = np.where(np.isinf(hops), np.iinfo(np.int32).max, hops).astype(np.int32)
        vertices, found = self._shuffled(graph, levels)
        return found, None, vertices

    def sssp(self, _handle: Any, graph: Any, source: int, *_rest: Any) -> Any:
        from scipy.sparse.csgraph import dijkstra

        found = dijkstra(graph.matrix, indices=source)
        found = np.where(np.isinf(found), np.finfo(np.float64).max, found)
        return (*self._shuffled(graph, found), None)

    def pagerank(self, _handle: Any, graph: Any, *given: Any, **_rest: Any) -> Any:
        import networkx as nx

        alpha = given[4]
        ranks = nx.pagerank(nx.DiGraph(graph.matrix), alpha=alpha, tol=1e-12, max_iter=1000)
        found = [ranks[vertex] for vertex in range(graph.matrix.shape[0])]
        return (*self._shuffled(graph, found), True)

    def weakly_connected_components(self, _handle: Any, graph: Any, *_rest: Any) -> Any:
        from scipy.sparse.csgraph import connected_components

        return self._shuffled(graph, connected_components(graph.matrix, directed=False)[1])

    def triangle_count(self, _handle: Any, graph: Any, *_rest: Any) -> Any:
        import networkx as nx

        found = nx.triangles(nx.Graph(graph.matrix))
        return self._shuffled(graph, [found[vertex] for vertex in range(len(found))])


@pytest.fixture
def cugraph(monkeypatch: pytest.MonkeyPatch) -> Any:
    from semira.bench.peers.cugraph import open_library

    waits: list[int] = []
    device = SimpleNamespace(synchronize=lambda: waits.append(1))
    cupy = SimpleNamespace(
        asarray=np.asarray, asnumpy=np.asarray, arange=np.arange, ones=np.ones,
        cuda=SimpleNamespace(Device=lambda: device),
    )  # fmt: skip
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    stand_in = StandIn()
    monkeypatch.setitem(sys.modules, "pylibcugraph", stand_in)
    return SimpleNamespace(library=open_library(1), waits=waits, calls=stand_in.calls)


@pytest.fixture(scope="module")
def pieces() -> BenchGraph:
    """Several components, some of them isolated vertices."""
    return load_bench_graph("er:60,degree=2")


@pytest.mark.parametrize("kernel", KERNELS)
def test_cugraph_is_asked_and_understood(kernel: str, cugraph: Any, pieces: BenchGraph) -> None:
    pytest.importorskip("networkx")
    preset = Preset(dict.fromkeys(KERNELS, 1), 5.0)
    (record,) = run_kernel(kernel, pieces, [cugraph.library], preset)
    assert (record.verified, record.note) == (True, "")
    assert cugraph.waits, "a call that is not waited for is no time"


def test_cugraph_changes_direction_on_symmetric_graphs_only(cugraph: Any) -> None:
    entry = cugraph.library.entries["bfs"]
    for spec in ("er:30", "er:30,symmetric=no"):
        entry.run(entry.prepare(load_bench_graph(spec)), 0)
    assert [rest[0] for _, rest in cugraph.calls] == [True, False]


# cuSPARSE ----------------------------------------------------------------------------------------
def test_cusparse_iterates_pagerank(monkeypatch: pytest.MonkeyPatch, pieces: BenchGraph) -> None:
    from scipy.sparse import csr_array

    from semira.bench.peers.cusparse import open_library

    waits: list[int] = []
    cupy: Any = ModuleType("cupy")
    cupy.__dict__.update(vars(np), asnumpy=np.asarray)
    cupy.cuda = SimpleNamespace(Device=lambda: SimpleNamespace(synchronize=lambda: waits.append(1)))
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    made: list[Any] = []

    def csr_matrix(given: Any) -> Any:
        made.append(given)
        return csr_array(given)

    sparse = SimpleNamespace(csr_matrix=csr_matrix)
    monkeypatch.setitem(sys.modules, "cupyx.scipy", SimpleNamespace(sparse=sparse))
    preset = Preset(dict.fromkeys(KERNELS, 1), 5.0)
    (record,) = run_kernel("pagerank", pieces, [open_library(1)], preset)
    assert (record.verified, record.note, len(made)) == (True, "", 1)
    assert waits, "a call that is not waited for is no time"
    (missing,) = run_kernel("bfs", pieces, [open_library(1)], preset)
    assert missing.note == "has no such algorithm"
