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
    runs_of,
    summary_table,
    versus_table,
)
from tests.helpers.versus import OURS, PEERS
from typer.testing import CliRunner

from semira.bench.record import Dataset, Record, append_records


def row(record: Record) -> dict[str, str]:
    head, rows = versus_table([record], PEERS)
    return dict(zip(head, rows[0], strict=True))


def test_each_clock_meets_its_own() -> None:
    cells = row(OURS)
    assert (cells["device ms"], cells["best device ms"]) == ("1", "a 3 (3.00x)")
    assert (cells["call ms"], cells["best call ms"]) == ("2", "c 4 (2.00x)")
    assert (cells["goal ms"], cells["floor ms"], cells["share of floor"]) == ("0.5", "0.25", "25%")
    assert (cells["first call ms"], cells["verified"]) == ("50", "yes")


def test_other_work_has_no_peers() -> None:
    cells = row(replace(OURS, dataset=Dataset("star", 100, 1000, "00")))
    assert cells["best device ms"] == cells["best call ms"] == cells["goal ms"] == "-"


def test_record_without_a_device_clock_has_dashes() -> None:
    cells = row(replace(OURS, device_s=None, least_bytes=None))
    assert (cells["device ms"], cells["floor ms"], cells["share of floor"]) == ("-", "-", "-")
    assert cells["best device ms"] == "a 3"


def test_a_record_without_products_has_no_floor_of_nothing() -> None:
    assert row(replace(OURS, least_bytes=0))["floor ms"] == "-"


def test_a_wrong_result_is_said() -> None:
    assert row(replace(OURS, verified=False, note="3 of 4"))["verified"] == "**no**: 3 of 4"


def test_states_and_fresh_calls_stand_beside_warm_ones() -> None:
    facts = {"state": "BOOL, INT32", "matrix": "FP32", "fresh_s": 3e-3, "kept": {"a": 2**20}}
    head, (row,) = versus_table([replace(OURS, facts=facts)], PEERS)
    cells = dict(zip(head, row, strict=True))
    assert cells["state; matrix"] == "BOOL, INT32; FP32"
    assert (cells["fresh matrix ms"], cells["kept MiB"]) == ("3", "1")


def test_runs_name_their_graphs_and_commands_below_their_machine() -> None:
    def record(graph: str, commit: str, gpu: str) -> Record:
        found = {"commit": commit * 12, "time": "today", "gpu": gpu, "cpu": "C", "threads": 2,
                 "command": ["semira", "bench", commit]}  # fmt: skip
        return Record(
            "algorithm", "bfs", Dataset(graph, 1, 1, "0"), "semira", "cuda", environment=found
        )

    text = runs_of([record("a", "f", "G"), record("b", "e", "G"), record("c", "f", "G"),
                    record("a", "f", "H")])  # fmt: skip
    assert text.splitlines() == [
        "Measured on G, host C with 2 threads; :", "",
        "- today at commit `ffffffffffff`: a, c (`semira bench f`)",
        "- today at commit `eeeeeeeeeeee`: b (`semira bench e`)", "",
        "Measured on H, host C with 2 threads; :", "",
        "- today at commit `ffffffffffff`: a (`semira bench f`)",
    ]  # fmt: skip


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
