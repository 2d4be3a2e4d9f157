"""Ours beside peers: what is compared, and what is not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.helpers.versus import OURS, PEERS

from semira.bench.record import Dataset, Record
from semira.bench.versus import is_like_peers, read_peers, versus_table
from semira.exceptions import FileFormatError, MissingFile

ROOT = Path(__file__).resolve().parents[3]


def row(record: Record) -> dict[str, str]:
    head, rows = versus_table([record], PEERS)
    return dict(zip(head, rows[0], strict=True))


def test_each_clock_meets_its_own() -> None:
    cells = row(OURS)
    assert (cells["device ms"], cells["best device ms"]) == ("1", "a 3 (3.00x)")
    assert (cells["call ms"], cells["best call ms"]) == ("2", "c 4 (2.00x)")
    assert (cells["goal ms"], cells["floor ms"], cells["share of floor"]) == ("0.5", "0.25", "25%")
    assert (cells["first call ms"], cells["verified"]) == ("50", "yes")


@pytest.mark.parametrize(
    "change",
    [
        {"dataset": Dataset("ring", 100, 1200, "00")},
        {"dataset": Dataset("ring", 101, 1000, "00")},
        {"dataset": Dataset("star", 100, 1000, "00")},
        {"kernel": "pagerank", "iterations": 19},
    ],
)
def test_other_work_is_not_compared(change: dict[str, Any]) -> None:
    other = replace(OURS, **change)
    assert not is_like_peers(other, PEERS)
    cells = row(other)
    assert cells["best device ms"] == cells["best call ms"] == cells["goal ms"] == "-"


def test_twenty_iterations_are_compared() -> None:
    assert is_like_peers(replace(OURS, kernel="pagerank", iterations=20), PEERS)


def test_record_without_a_device_clock_has_dashes() -> None:
    cells = row(replace(OURS, device_s=None, least_bytes=None))
    assert (cells["device ms"], cells["floor ms"], cells["share of floor"]) == ("-", "-", "-")
    assert cells["best device ms"] == "a 3"


def test_a_record_without_products_has_no_floor_of_nothing() -> None:
    assert row(replace(OURS, least_bytes=0))["floor ms"] == "-"


def test_a_wrong_result_is_said() -> None:
    assert row(replace(OURS, verified=False, note="3 of 4"))["verified"] == "**no**: 3 of 4"


def test_the_file_of_peers_is_readable_and_all_its_graphs_are_known() -> None:
    peers = read_peers(ROOT / "bench" / "peers" / "h200.json")
    assert {name for name, _ in peers.times} <= peers.graphs.keys()
    assert peers.goals.keys() <= peers.times.keys()
    kron = {row["peer"]: row for row in peers.times["kron21", "bfs"]}
    assert (kron["graphblast"]["device_ms"], kron["graphblast"]["call_ms"]) == (0.74, 3.43)


@pytest.mark.parametrize("text", ["{", "[]", '{"schema": "x"}', '{"schema": "semira-peers/1"}'])
def test_another_file_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "peers.json"
    path.write_text(text)
    with pytest.raises(FileFormatError, match=r"peers\.json"):
        read_peers(path)
    with pytest.raises(MissingFile):
        read_peers(tmp_path / "absent.json")


def test_states_and_fresh_calls_stand_beside_warm_ones() -> None:
    facts = {"state": "BOOL, INT32", "matrix": "FP32", "fresh_s": 3e-3, "kept": {"a": 2**20}}
    head, (row,) = versus_table([replace(OURS, facts=facts)], PEERS)
    cells = dict(zip(head, row, strict=True))
    assert cells["state; matrix"] == "BOOL, INT32; FP32"
    assert (cells["fresh matrix ms"], cells["kept MiB"]) == ("3", "1")
