"""Goals: which record a goal is for, by which clock, and when it is met."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from benchmarks.__main__ import app
from benchmarks.studies.goals import GOAL_OPTIONS, goals_line, goals_of, goals_table, render_goals
from typer.testing import CliRunner

from semira.bench.ours import VARIANTS
from semira.bench.record import Dataset, Record, append_records, read_records
from semira.bench.traffic import ROOF
from semira.bench.versus import Peers, read_peers

ROOT = Path(__file__).resolve().parents[2]
SEARCH = Record(
    "algorithm", "bfs", Dataset("ring", 100, 1000, "00"), "semira", "cuda", "INT32",
    warm_s=[0.004], device_s=[0.001], least_bytes=int(ROOF * 0.0005), verified=True,
)  # fmt: skip
RANKS = replace(
    SEARCH, kernel="pagerank", dtype="FP32", options=GOAL_OPTIONS["pagerank"], iterations=20
)
TRIANGLES = replace(SEARCH, kernel="tc", dtype="INT64")
PEERS = Peers(
    {},
    {name: {"n": 100, "entries": 1000} for name in ("ring", "star")},
    {("ring", "bfs"): [{"peer": "a", "device_ms": 3.0, "call_ms": 8.0}]},
    {
        ("ring", "bfs"): 1.0, ("star", "bfs"): 1.0, ("ring", "pagerank"): 0.5, ("ring", "tc"): 2.0,
    },
)  # fmt: skip


def verdicts(*records: Record) -> dict[tuple[str, str], str]:
    return {(goal.graph, goal.kernel): goal.verdict for goal in goals_of(records, PEERS)}


def test_a_goal_is_for_the_device_but_of_triangles_for_the_call() -> None:
    found = verdicts(SEARCH, RANKS, TRIANGLES)
    assert list(found) == [("ring", "bfs"), ("ring", "pagerank"), ("ring", "tc"), ("star", "bfs")]
    assert list(found.values()) == ["yes", "no", "no", "not measured"]
    assert goals_line([SEARCH, RANKS, TRIANGLES], PEERS) == (
        "1 of 4 goals are met: bfs 1 of 2, pagerank 0 of 1, tc 0 of 1."
    )


def test_clocks_and_the_floor_stand_beside_their_own() -> None:
    head, (row, _, triangles, absent) = goals_table([SEARCH, TRIANGLES], PEERS)
    cells = dict(zip(head, row, strict=True))
    assert (cells["ms"], cells["times the goal"], cells["met"]) == ("1", "1", "yes")
    assert (cells["best device ms"], cells["best call ms"]) == ("a 3 (3.00x)", "a 8 (2.00x)")
    assert cells["device, times the floor"] == "2"
    assert dict(zip(head, triangles, strict=True))["times the goal"] == "2"
    assert absent[-6:] == ["-", "-", "-", "-", "-", "not measured"]


@pytest.mark.parametrize(
    "change",
    [
        {"options": {}},
        {"options": {"tol": 0, "max_iterations": 20}},
        {"plan": {"direction": "pull"}},
        {"iterations": 19},
        {"library": "cusparse"},
        {"dataset": Dataset("ring", 100, 1100, "00")},
        {"device_s": None},
    ],
)
def test_another_case_is_no_record_of_a_goal(change: dict[str, Any]) -> None:
    assert verdicts(replace(RANKS, device_s=[1e-4]))["ring", "pagerank"] == "yes"
    assert verdicts(replace(RANKS, **change))["ring", "pagerank"] == "not measured"


def test_the_last_record_counts_and_a_wrong_result_meets_nothing() -> None:
    slow = replace(SEARCH, device_s=[0.1])
    assert verdicts(SEARCH, slow)["ring", "bfs"] == "no"
    assert verdicts(slow, SEARCH)["ring", "bfs"] == "yes"
    wrong = replace(SEARCH, verified=False, note="3 of 4")
    assert verdicts(wrong)["ring", "bfs"] == "**no**: 3 of 4"
    assert verdicts(replace(SEARCH, verified=None))["ring", "bfs"] == "not checked"
    assert goals_line([wrong], PEERS).startswith("0 of 4")


def test_goals_are_for_cases_that_are_measured() -> None:
    for kernel, options in GOAL_OPTIONS.items():
        assert options in VARIANTS[kernel]


def test_records_of_every_algorithm_are_found() -> None:
    records = read_records(ROOT / "bench" / "results" / "cuda.jsonl")
    goals = goals_of(records, read_peers(ROOT / "bench" / "peers" / "h200.json"))
    # An interrupted run lacks graphs, never an algorithm.
    found = {goal.kernel for goal in goals if goal.record is not None}
    assert found == {goal.kernel for goal in goals}


def test_command_prints_the_goals(tmp_path: Path) -> None:
    peers, records = ROOT / "bench" / "peers" / "h200.json", tmp_path / "cuda.jsonl"
    append_records(records, [replace(SEARCH, dataset=Dataset("minnesota", 2642, 6606, "00"))])
    result = CliRunner().invoke(app, ["versus", str(records), "--peers", str(peers)])
    assert result.exit_code == 0, result.output
    assert "0 of 52 goals are met: bfs 0 of 12" in result.stdout
    assert "| minnesota | bfs | device | 0.3 | 1 | 3.33 |" in result.stdout
    assert render_goals([], replace(PEERS, goals={})) == ""
