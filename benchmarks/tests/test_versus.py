"""Tables of a GPU run and its peers."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from benchmarks.__main__ import app
from benchmarks.studies.versus import (
    copy_table,
    kernel_table,
    operation_table,
    overhead_table,
    render_versus,
    summary_table,
)
from tests.helpers.versus import OURS, PEERS
from typer.testing import CliRunner

from semira.bench.record import Dataset, append_records
from semira.bench.versus import versus_table


def test_a_summary_is_over_graphs_and_names_what_is_lost() -> None:
    other = replace(OURS, dataset=Dataset("star", 100, 1000, "01"), device_s=[0.004], warm_s=[0.02])
    pinned = replace(OURS, options={"method": "x"}, device_s=[1e-9])
    unlike = replace(OURS, dataset=Dataset("ring", 7, 1000, "02"), device_s=[1e-9])
    peers = replace(
        PEERS,
        graphs={name: {"n": 100, "entries": 1000} for name in ("ring", "star")},
        times=PEERS.times | {("star", "bfs"): [{"peer": "a", "device_ms": 3.0}]},
    )
    head, rows = summary_table([OURS, other, pinned, unlike], peers)
    assert head[2:] == ["device: mean, range", "whole call: mean, range", "lost"]
    # 3 ms to 1 and 3 to 4: the mean is 1.5; 4 ms of a call to 2, and no peer's call on the star.
    assert rows == [
        ["bfs", "INT32", "1.5, 0.75 to 3, 2 graphs", "2, 2 to 2, 1 graph", "star (device 0.75)"]
    ]


def test_kernels_are_those_of_the_largest_graph() -> None:
    small = replace(OURS, dataset=Dataset("dot", 1, 0, "01"))
    variant = replace(OURS, options={"dtype": "FP32"})
    _, rows = kernel_table([OURS, small, variant])
    assert [line[:4] for line in rows] == [
        ["ring", "bfs", "program-1", "1"],
        ["ring", "bfs", "cupy argsort", "2"],
        ["ring", "bfs dtype=FP32", "program-1", "1"],
        ["ring", "bfs dtype=FP32", "cupy argsort", "2"],
    ]
    assert rows[0][4:] == ["0.9", "64", "2048", "0", "512", "2", "50%", "20", "1"]
    assert rows[1][4:] == ["0.1", *["-"] * 8]


def test_copies_have_their_time_and_size() -> None:
    record = replace(OURS, kind="copy", kernel="entry rows", arrays_bytes=2**21)
    assert copy_table([OURS, record])[1] == [["ring", "entry rows", "50", "2", "2"]]
    assert versus_table([record], PEERS)[1] == []


def test_tables_name_both_machines() -> None:
    text = render_versus([OURS], PEERS)
    assert "on NVIDIA H200, host" in text
    assert "Peers, 2026-11-21 on NVIDIA H200: Once. (a: A 1.)" in text


def test_command_prints_the_tables(tmp_path: Path) -> None:
    records, peers = tmp_path / "cuda.jsonl", tmp_path / "peers.json"
    many = replace(OURS, kind="sources", sources=[0, 1, 2], edges=[5, 5, 5])
    append_records(records, [OURS, many])
    rows = [{"graph": "ring", "kernel": "bfs", **each} for each in PEERS.times["ring", "bfs"]]
    peers.write_text(
        json.dumps(
            {**PEERS.about, "schema": "semira-peers/1", "graphs": PEERS.graphs, "times": rows,
             "goals": []}
        )
    )  # fmt: skip
    result = CliRunner().invoke(app, ["versus", str(records), "--peers", str(peers)])
    assert result.exit_code == 0, result.output
    assert (
        "| ring | bfs | INT32 | - | 1 | 2 | 50 | - | - | a 3 (3.00x) | c 4 (2.00x) |"
        in result.stdout
    )


def test_operations_stand_beside_cupy_and_their_floor(tmp_path: Path) -> None:
    ours = replace(OURS, kind="operation", kernel="mxv")
    cupy = replace(ours, library="cupy", device_s=[0.002])
    alone = replace(ours, kernel="push", verified=None)
    call = replace(OURS, kind="overhead", kernel="tiny_mxv", warm_s=[21e-6], note="finished")
    head, rows = operation_table([ours, cupy, alone])
    assert head[2:6] == ["device ms", "call ms", "floor ms", "share of floor"]
    assert rows == [
        ["ring", "mxv", "1", "2", "0.25", "25%", "cupy 2 (2.00x)", "yes"],
        ["ring", "push", "1", "2", "0.25", "25%", "-", "not checked"],
    ]
    assert overhead_table([call])[1] == [["tiny_mxv", "21", "finished"]]
    records = tmp_path / "micro.jsonl"
    append_records(records, [ours, call])
    result = CliRunner().invoke(app, ["versus", str(records)])
    assert "| tiny_mxv | 21 | finished |" in result.stdout
