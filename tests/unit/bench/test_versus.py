"""Ours beside peers: what is compared, and what is not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.helpers.versus import OURS, PEERS

from semira.bench.record import Dataset
from semira.bench.versus import is_like_peers, published_table, read_peers
from semira.exceptions import FileFormatError, MissingFile

ROOT = Path(__file__).resolve().parents[3]


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
    assert published_table([other], PEERS)[1] == []


def test_twenty_iterations_are_compared() -> None:
    assert is_like_peers(replace(OURS, kernel="pagerank", iterations=20), PEERS)


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
