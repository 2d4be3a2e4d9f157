"""The measurements of all algorithms: each exists, is checked, and a wrong result is found."""

from __future__ import annotations

import inspect
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.__main__ import app
from benchmarks.algorithm_checks import TooLarge, judge
from benchmarks.algorithm_peers import SHORT_S, call, measure_peer, prepare
from benchmarks.algorithm_runs import CASES, AlgorithmsRequest, run_algorithms
from benchmarks.algorithm_tables import (
    algorithms_table,
    losses_to,
    means_table,
    versus_means,
    versus_table,
)
from typer.testing import CliRunner

import semira as gb
from semira import algorithms
from semira.algorithms.registry import REGISTRY
from semira.algorithms.row import Peer
from semira.base.errors import InvalidValue
from semira.bench.graphs import BenchGraph, build_bench_graph, load_bench_graph
from semira.bench.record import Dataset, Record, read_records
from semira.bench.timer import Budget, TooSlow
from semira.bench.versus import Peers
from semira.formats import EdgeList

PEERS = {(name, peer.library) for name, case in CASES.items() for peer in case.peers}


@pytest.fixture(scope="module")
def graph() -> BenchGraph:
    """Two components, an isolated vertex, triangles, and directed edges."""
    rng = np.random.default_rng(5)
    cells = rng.choice(22 * 22, 80, replace=False)
    rows, cols = np.append(cells // 22, [22, 23]), np.append(cells % 22, [23, 24])
    edges = EdgeList(26, 26, rows, cols, rng.integers(1, 9, len(rows)))
    return build_bench_graph("drawn", edges)


@pytest.fixture(scope="module")
def clique() -> BenchGraph:
    """Twelve vertices, all connected."""
    rows, cols = np.nonzero(~np.eye(12, dtype=bool))
    return build_bench_graph("clique", EdgeList(12, 12, rows, cols, np.ones(len(rows), np.int64)))


@pytest.fixture(scope="module")
def measured() -> list[Record]:
    return run_algorithms(AlgorithmsRequest(("kron:6", "road:6x6"), trials=1, seconds=0.01))


def test_every_public_algorithm_is_measured() -> None:
    public = {name for name in algorithms.__all__ if inspect.isfunction(getattr(algorithms, name))}
    # Others are measured among the applications.
    assert {case.function for case in CASES.values()} == public & {*REGISTRY}
    assert public - {*REGISTRY} == {"linear_sum_assignment", "maximum_flow", "minimum_cut"}


def test_results_are_right_and_timed(measured: list[Record]) -> None:
    mine = [each for each in measured if each.library == "semira"]
    assert len(mine) == 2 * len(CASES)
    assert all(each.verified for each in mine), [(each.kernel, each.note) for each in mine]
    assert all(each.verified_by and each.environment for each in mine)
    # Short calls are repeated, although one trial is asked for.
    assert all(sum(each.warm_s) >= SHORT_S for each in mine)
    theirs = [each for each in measured if each.library != "semira"]
    assert {(each.kernel, each.library) for each in theirs} == PEERS
    assert all(each.verified is None for each in theirs)
    assert all(each.warm_s for each in theirs if each.library == "scipy")
    reasons = {each.note.partition(":")[0] for each in theirs if not each.warm_s}
    # One of the graphs falls apart, and NetworkX's diameters are of others.
    assert reasons <= {"not installed", "NetworkXError"}


def test_the_peer_of_hits_is_given_no_weights_either() -> None:
    graph = load_bench_graph("kron:6")
    peer = REGISTRY["hits"].peers[0]
    hubs, _ = call(peer, prepare(peer, graph, directed=True, weighted=False), [0])
    ours = algorithms.hits(graph.matrix, tol=1e-10).hub.to_dense(0.0)
    np.testing.assert_allclose(ours / ours.sum(), list(hubs.values()), atol=1e-8)


def changed(thing: Any, by: int = 1) -> Any:
    """Return a vector or matrix with its last entry increased, or decreased in an upper bound."""
    if isinstance(thing, int):
        return thing + by
    made = thing.dup()
    *places, values = made.to_coo()
    at = tuple(int(part[-1]) for part in places)
    value = values[-1]
    made[at if len(at) > 1 else at[0]] << (not value if made.dtype == "BOOL" else value + by)
    return made


def dropped(thing: Any, _by: int) -> Any:
    """Return a vector or matrix without its last entry; of a number one less."""
    if isinstance(thing, int):
        return thing - 1
    *places, values = thing.to_coo()
    kept = [part[:-1] for part in (*places, values)]
    size = (
        {"size": thing.size} if len(places) == 1 else {"nrows": thing.nrows, "ncols": thing.ncols}
    )
    return type(thing).from_coo(*kept, dtype=thing.dtype, **size)


@pytest.mark.parametrize("damage", [changed, dropped])
@pytest.mark.parametrize("name", CASES)
def test_a_wrong_result_is_found(name, damage, graph, clique):
    case = CASES[name]
    # The drawn graph has no entry that could be damaged.
    graph = clique if name == "10-truss" else graph
    used = graph if case.directed else graph.undirected
    sources = case.sources_of(used)
    with gb.device("cpu"):
        result = case.call(used.matrix.to("cpu"), sources)
        starts = sources or list(range(used.n))
        assert judge(case.check, case.by, used, result, starts).ok
        for each in case.fields:
            wrong = replace(
                result, **{each: damage(getattr(result, each), -1 if each == "upper" else 1)}
            )
            verdict = judge(case.check, case.by, used, wrong, starts)
            assert verdict.ok is False, each
            assert verdict.finding


def test_what_takes_too_long_is_not_checked() -> None:
    def check(*_given: Any) -> dict[str, bool]:
        raise TooLarge("a million years")

    verdict = judge(check, "patience", None, None, ())
    assert (verdict.ok, verdict.finding) == (None, "a million years")


def test_unknown_names_are_refused() -> None:
    with pytest.raises(InvalidValue, match="'nonsense'"):
        run_algorithms(AlgorithmsRequest(names=("nonsense",)))


def test_nothing_begins_after_the_limit() -> None:
    said: list[str] = []
    assert not run_algorithms(AlgorithmsRequest(("road:3x3",), limit_s=-1), say=said.append)
    assert len(said) == len(CASES)
    assert "left out" in said[0]


def test_large_graphs_are_told_not_tried() -> None:
    names = ("all pairs",)
    (record,) = run_algorithms(AlgorithmsRequest(("road:40x40",), names=names, peers=False))
    assert record.note == "not tried: over 1,100 vertices"
    assert algorithms_table([record])[1] == []


def test_processes_compile_before() -> None:
    said: list[str] = []
    # Each would take another process.
    names = ("3 hops",)
    request = AlgorithmsRequest(("road:3x3",), 1, 0.01, names=names, peers=False, processes=2)
    records = run_algorithms(request, say=said.append)
    assert [each.kernel for each in records] == list(names)
    assert said[0].startswith("compiled in")


def test_the_table_has_peers_beside(measured: list[Record]) -> None:
    head, rows = algorithms_table(measured)
    found = [dict(zip(head, row, strict=True)) for row in rows]
    assert [row["algorithm"] for row in found[:2]] == ["breadth-first search"] * 2
    trusses = [row for row in found if row["algorithm"] == "4-truss"]
    assert all(float(row["networkx ms"].strip("*")) > 0 for row in trusses)
    assert all(row["igraph ms"] == "" for row in trusses)
    assert all(row["networkx ms"] == "" for row in found if row["algorithm"] == "widest path")
    wrong = replace(measured[0], verified=False, note="scores differ")
    head, rows = algorithms_table([wrong])
    assert dict(zip(head, rows[0], strict=True))["verified"] == "**no**: scores differ"


@pytest.mark.parametrize(
    ("error", "is_wrong"), [(gb.exceptions.InvalidValue("no way"), True), (TooSlow("30 s"), False)]
)
def test_what_failed_has_a_row(monkeypatch, error, is_wrong) -> None:
    def fails(*_given: Any, **_options: Any) -> Any:
        raise error

    monkeypatch.setattr(algorithms, "k_hop", fails)
    names = ("3 hops", "clustering")
    records = run_algorithms(AlgorithmsRequest(("road:3x3",), 1, 0.01, names=names, peers=False))
    assert [each.verified for each in records] == [False if is_wrong else None, True]
    head, rows = algorithms_table(records)
    first, second = (dict(zip(head, row, strict=True)) for row in rows)
    assert (first["algorithm"], first["graph"]) == ("3 hops", "road:3x3")
    assert first["verified"] == f"**failed**: {type(error).__name__}: {error}"
    assert [first[name] for name in ("first call s", "ms", "iterations")] == ["-"] * 3
    assert (second["algorithm"], second["verified"]) == ("clustering", "yes")


@pytest.mark.parametrize("name", ["eccentricity", "diameter"])
@pytest.mark.parametrize("each", ["lower", "upper"])
def test_bounds_that_hold_and_are_loose_are_found(name, each, graph) -> None:
    case, used = CASES[name], graph.undirected
    with gb.device("cpu"):
        result = case.call(used.matrix.to("cpu"), [])
        loose = changed(getattr(result, each), 1 if each == "upper" else -1)
        verdict = judge(case.check, case.by, used, replace(result, **{each: loose}), [0, 1])
    assert verdict.ok is False
    assert verdict.finding == f"{each} bounds are not those of its searches"


def test_bounds_are_those_of_a_few_searches() -> None:
    # Sixteen searches leave bounds apart, and so does the diameter alone.
    used = load_bench_graph("road:30x30,removed=0.1").undirected
    for name in ("eccentricity", "diameter"):
        case = CASES[name]
        with gb.device("cpu"):
            result = case.call(used.matrix.to("cpu"), [])
        assert judge(case.check, case.by, used, result, list(range(used.n))).ok
        assert not result.is_exact
        fewer = replace(result, searches=result.searches - 1)
        assert judge(case.check, case.by, used, fewer, [0]).finding
    ring = load_bench_graph("grid:40x1").undirected
    short = algorithms.diameter(ring.matrix, searches=1, symmetric=True)
    finding = judge(case.check, case.by, ring, short, [0]).finding
    assert finding.endswith("the number of searches differs")


def test_command(tmp_path: Path) -> None:
    out = tmp_path / "algorithms.jsonl"
    given = ["algorithms", "--graphs", "road:4x4", "--only", "core,truss", "--no-peers"]
    found = CliRunner().invoke(app, [*given, "--trials", "1", "--out", str(out)])
    assert found.exit_code == 0, found.output
    assert [each.kernel for each in read_records(out)][:3] == ["core numbers", "3-core", "4-truss"]
    assert "peeling in NumPy" in found.output
    given[-2] = "hops"
    assert CliRunner().invoke(app, [*given, "--append", "--out", str(out)]).exit_code == 0
    assert [each.kernel for each in read_records(out)][2:] == ["4-truss", "10-truss", "3 hops"]


def test_command_refuses_parts_of_no_name() -> None:
    found = CliRunner().invoke(app, ["algorithms", "--only", "cabbage"])
    assert found.exit_code == 2


# peers -------------------------------------------------------------------------------------------
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_graphs_of_peers_are_the_same(graph, directed, weighted) -> None:
    used = graph if directed else graph.undirected
    kinds = {"directed": directed, "weighted": weighted}
    entries = used.arrays.nvals if directed else used.arrays.nvals // 2
    total = float(used.lengths.sum()) if weighted else float(used.arrays.nvals)
    whole = total if directed else total / 2
    made = prepare(Peer("networkx:"), used, **kinds)
    assert (made.number_of_nodes(), made.number_of_edges()) == (used.n, entries)
    assert made.size("weight") == whole
    pytest.importorskip("igraph")
    made = prepare(Peer("igraph:"), used, **kinds)
    assert (made.vcount(), made.ecount(), made.is_directed()) == (used.n, entries, directed)
    assert not weighted or sum(made.es["weight"]) == whole
    pytest.importorskip("networkit")
    made = prepare(Peer("networkit:"), used, **kinds)
    assert (made.numberOfNodes(), made.numberOfEdges()) == (used.n, entries)
    assert (made.isDirected(), made.totalEdgeWeight()) == (directed, whole)


@pytest.mark.parametrize(
    ("name", "options", "expected"),
    [
        ("networkx:single_source_shortest_path_length", {"source": "$each"}, [{0: 0, 1: 1}] * 2),
        ("networkx:connected_components", {}, [{0, 1}]),
        ("networkx:jaccard_coefficient", {"ebunch": "$edges"}, [(0, 1, 0.0)]),
        ("igraph:coreness", {}, [1, 1]),
    ],
)
def test_calls_of_peers(name, options, expected) -> None:
    peer = Peer(name, options)
    pytest.importorskip(peer.library)
    edges = EdgeList(2, 2, np.array([0, 1]), np.array([1, 0]), np.array([1, 1]))
    used = build_bench_graph("edge", edges)
    made = prepare(peer, used, directed=False, weighted=False)
    found = call(peer, made, [0, 0])
    assert (sorted(found) if isinstance(found, list) and found and isinstance(found[0], tuple)
            else found) == expected  # fmt: skip


def test_a_peer_without_a_time_has_a_reason(graph, monkeypatch) -> None:
    blank, kinds = (
        Record("algorithms", "any", graph.dataset, "peer"),
        {"directed": True, "weighted": False},
    )

    def note(peer: Peer) -> str:
        return measure_peer(peer, graph, [0], blank, Budget(1, 0.01), **kinds).note

    assert note(Peer("cabbage:leaf")) == "not installed"
    assert note(Peer("networkx:diameter")).startswith("NetworkXError")
    monkeypatch.setattr("benchmarks.algorithm_peers._MOST_ENTRIES", {"networkx": 3})
    assert note(Peer("networkx:pagerank")) == "not tried: over 3 entries"
    monkeypatch.setattr("benchmarks.algorithm_peers._MOST_ENTRIES", {})
    monkeypatch.setattr("benchmarks.algorithm_peers._LIMIT_S", 1e-5)
    assert note(Peer("networkx:pagerank")) == "stopped: over 1e-05 s"


def _timed(kernel: str, graph: str, library: str, ms: float | None, **more: Any) -> Record:
    times = [] if ms is None else [ms / 1e3]
    blank = Record("algorithms", kernel, Dataset(graph, 9, 20, ""), library, "cpu")
    return replace(blank, warm_s=times, **more)


def test_means_and_losses() -> None:
    on_cpu = {"environment": {"device": "cpu"}}
    records = [
        _timed("core numbers", "a", "semira", 1.0, **on_cpu),
        _timed("core numbers", "a", "networkx", 8.0, **on_cpu),
        _timed("core numbers", "a", "igraph", None, note="stopped: over 5 s", **on_cpu),
        _timed("core numbers", "b", "semira", 1.0, **on_cpu),
        _timed("core numbers", "b", "networkx", 0.5, **on_cpu),
        # Of another run: no peer's.
        _timed(
            "core numbers", "a", "semira", 100.0, backend="cuda", environment={"device": "cuda"}
        ),
    ]
    head, rows = means_table(records)
    assert head == ["algorithm", "networkx", "igraph"]
    assert rows == [["core numbers", "2 (1 of 2)", ""], ["all", "2 (1 of 2)", ""]]
    assert losses_to("networkx")(records)[1] == [["core numbers", "b", "1", "0.5", "0.5"]]
    assert losses_to("igraph")(records)[1] == []
    head, rows = algorithms_table(records)
    cells = [dict(zip(head, row, strict=True)) for row in rows]
    assert [row["networkx ms"] for row in cells] == ["8", "**0.5**", ""]
    assert [row["igraph ms"] for row in cells] == ["stopped", "", ""]


def test_only_equal_graphs_are_compared_on_a_gpu() -> None:
    rows = [{"graph": "a", "kernel": "HITS", "peer": "cugraph", "call_ms": 3.0}]
    peers = Peers({}, {"a": {"n": 9, "entries": 20}}, {("a", "HITS"): rows})
    ours = _timed("HITS", "a", "semira", 2.0, backend="cuda")
    assert versus_table([ours], peers)[1] == [["HITS", "a", "2", "cugraph", "3", "1.5"]]
    assert versus_means([ours, ours], peers)[1] == [["HITS", "1.5 (2 of 2)"]]
    assert versus_table([replace(ours, backend="cpu")], peers)[1] == []
    rows[0]["entries"] = 19
    assert versus_table([ours], peers)[1] == []
