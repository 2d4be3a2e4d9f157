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
from benchmarks.algorithm_peers import call, prepare
from benchmarks.algorithm_runs import (
    CASES,
    AlgorithmsRequest,
    algorithms_table,
    run_algorithms,
)
from typer.testing import CliRunner

import semira as gb
from semira import algorithms
from semira.algorithms.registry import REGISTRY
from semira.base.errors import InvalidValue
from semira.bench.graphs import BenchGraph, build_bench_graph, load_bench_graph
from semira.bench.libraries import KERNELS
from semira.bench.ours import ALGORITHMS
from semira.bench.record import Record, read_records
from semira.bench.timer import TooSlow
from semira.formats import EdgeList

WITH_PEER = {name for name, case in CASES.items() if case.peer}


@pytest.fixture(scope="module")
def graph() -> BenchGraph:
    """Two components, an isolated vertex, triangles, and directed edges."""
    rng = np.random.default_rng(5)
    cells = rng.choice(22 * 22, 80, replace=False)
    rows, cols = np.append(cells // 22, [22, 23]), np.append(cells % 22, [23, 24])
    edges = EdgeList(26, 26, rows, cols, rng.integers(1, 9, len(rows)))
    return build_bench_graph("drawn", edges)


@pytest.fixture(scope="module")
def measured() -> list[Record]:
    return run_algorithms(AlgorithmsRequest(("kron:6", "road:6x6"), trials=1, seconds=0.01))


def test_every_public_algorithm_is_measured() -> None:
    public = {name for name in algorithms.__all__ if inspect.isfunction(getattr(algorithms, name))}
    measured_elsewhere = {ALGORITHMS[kernel][0] for kernel in KERNELS}
    assert {case.function for case in CASES.values()} == public - measured_elsewhere


def test_results_are_right_and_timed(measured: list[Record]) -> None:
    mine = [each for each in measured if each.library == "semira"]
    assert len(mine) == 2 * len(CASES)
    assert all(each.verified for each in mine), [(each.kernel, each.note) for each in mine]
    assert all(len(each.warm_s) == 1 and each.verified_by and each.environment for each in mine)
    assert {each.kernel for each in measured if each.library != "semira"} == WITH_PEER
    assert all(each.verified is None for each in measured if each.library != "semira")


def test_the_peer_of_hits_is_given_no_weights_either() -> None:
    graph = load_bench_graph("kron:6")
    peer = REGISTRY["hits"].peer
    hubs, _ = call(peer, prepare(peer, graph, directed=True, weighted=False), [0])
    ours = algorithms.hits(graph.matrix, tol=1e-10).hub.to_dense(0.0)
    np.testing.assert_allclose(ours / ours.sum(), list(hubs.values()), atol=1e-8)


def changed(thing: Any, by: int = 1) -> Any:
    """Return a vector or matrix with its last entry increased, or decreased in an upper bound."""
    made = thing.dup()
    *places, values = made.to_coo()
    at = tuple(int(part[-1]) for part in places)
    value = values[-1]
    made[at if len(at) > 1 else at[0]] << (not value if made.dtype == "BOOL" else value + by)
    return made


def dropped(thing: Any, _by: int) -> Any:
    """Return a vector or matrix without its last entry."""
    *places, values = thing.to_coo()
    kept = [part[:-1] for part in (*places, values)]
    size = (
        {"size": thing.size} if len(places) == 1 else {"nrows": thing.nrows, "ncols": thing.ncols}
    )
    return type(thing).from_coo(*kept, dtype=thing.dtype, **size)


@pytest.mark.parametrize("damage", [changed, dropped])
@pytest.mark.parametrize("name", CASES)
def test_a_wrong_result_is_found(name, damage, graph):
    case = CASES[name]
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
    names = ("all pairs sources",)
    (record,) = run_algorithms(AlgorithmsRequest(("road:40x40",), names=names, peers=False))
    assert record.note == "not tried: over 1,100 vertices"
    assert algorithms_table([record])[1] == []


def test_processes_compile_before() -> None:
    said: list[str] = []
    names = ("3 hops", "clustering")
    request = AlgorithmsRequest(("road:3x3",), 1, 0.01, names=names, peers=False, processes=2)
    records = run_algorithms(request, say=said.append)
    assert [each.kernel for each in records] == list(names)
    assert said[0].startswith("compiled in")


def test_the_table_has_peers_beside(measured: list[Record]) -> None:
    head, rows = algorithms_table(measured)
    found = [dict(zip(head, row, strict=True)) for row in rows]
    assert [row["algorithm"] for row in found[:2]] == ["independent set"] * 2
    trusses = [row for row in found if row["algorithm"] == "4-truss"]
    assert all(row["peer"] == "networkx" and row["its ms"] != "-" for row in trusses)
    assert all(row["peer"] == "" for row in found if row["algorithm"] == "Jaccard")
    wrong = replace(measured[0], verified=False, note="scores differ")
    assert dict(zip(head, algorithms_table([wrong])[1][0], strict=True))["verified"] == (
        "**no**: scores differ"
    )


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
    assert [each.kernel for each in read_records(out)] == ["core numbers", "3-core", "4-truss"]
    assert "peeling in NumPy" in found.output
    given[-2] = "hops"
    assert CliRunner().invoke(app, [*given, "--append", "--out", str(out)]).exit_code == 0
    assert [each.kernel for each in read_records(out)][2:] == ["4-truss", "3 hops"]


def test_command_refuses_parts_of_no_name() -> None:
    found = CliRunner().invoke(app, ["algorithms", "--only", "cabbage"])
    assert found.exit_code == 2
