"""``semira bench``: what it prints, and its exit codes."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from semira.base.errors import DeviceUnavailable
from semira.bench import verify
from semira.bench.peers import registry
from semira.bench.record import Dataset, Record, append_records, read_records, start_file
from semira.cli.bench import split_names
from semira.cli.main import app

RECORD = Record(
    "algorithm", "bfs", Dataset("ring", 3, 3, "00"), "semira", "cpu", warm_s=[1.0], verified=True
)
TINY = ("--graphs", "kron:4", "--algorithms", "bfs,cc", "--trials", "1", "--device", "reference")


@pytest.fixture
def invoke() -> Callable[..., Any]:
    runner = CliRunner()
    return lambda *args: runner.invoke(app, ["bench", *map(str, args)])


def written(path: Path, *records: Record) -> Path:
    start_file(path)
    append_records(path, records)
    return path


def test_cpu_prints_a_table_and_writes_records(invoke: Any, tmp_path: Path) -> None:
    out = tmp_path / "cpu.jsonl"
    result = invoke("cpu", *TINY, "--peers", "scipy", "--out", out)
    assert result.exit_code == 0, result.output
    assert "scipy" in result.stdout
    assert result.stdout.count("kron:4") == 2
    assert [each.verified for each in read_records(out)] == [True] * 4
    assert json.loads(out.read_text().splitlines()[0])["environment"]["command"]


def test_wrong_result_exits_with_one(
    invoke: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def doubt(graph: Any, source: int, answer: np.ndarray) -> verify.Verdict:
        return verify.Verdict(False, "doubt", "looks odd")

    monkeypatch.setitem(verify.CHECKS, "cc", doubt)
    out = tmp_path / "cpu.jsonl"
    result = invoke("cpu", *TINY, "--peers", "none", "--out", out)
    assert result.exit_code == 1
    assert "kron:4 cc semira: wrong: looks odd" in result.stderr
    assert [each.verified for each in read_records(out)] == [True, False]


@pytest.mark.parametrize(
    ("time_s", "options", "code", "word"),
    [
        (1.0, (), 0, "same"),
        (2.0, (), 0, "slower"),
        (2.0, ("--strict",), 1, "slower"),
        (0.5, ("--strict",), 0, "faster"),
    ],
)
def test_compare_prints_ratios(
    invoke: Any, tmp_path: Path, time_s: float, options: tuple[str, ...], code: int, word: str
) -> None:
    before = written(tmp_path / "a.jsonl", RECORD)
    after = written(tmp_path / "b.jsonl", replace(RECORD, warm_s=[time_s]))
    result = invoke("compare", before, after, *options)
    assert result.exit_code == code
    assert word in result.stdout


def test_compare_fails_on_a_wrong_result(invoke: Any, tmp_path: Path) -> None:
    before = written(tmp_path / "a.jsonl", RECORD)
    after = written(tmp_path / "b.jsonl", replace(RECORD, verified=False))
    assert invoke("compare", before, after).exit_code == 1


def test_report_writes_markdown(invoke: Any, tmp_path: Path) -> None:
    records = written(tmp_path / "a.jsonl", RECORD)
    assert "| ring | bfs |" in invoke("report", records).stdout
    out = tmp_path / "table.md"
    assert invoke("report", records, "--out", out).exit_code == 0
    assert out.read_text() == invoke("report", records).stdout


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (("cpu", "--algorithms", "dfs"), 1, "bfs, sssp"),
        (("cpu", "--graphs", "absent"), 1, "none of absent"),
        (("cpu", "--pin", "push"), 2, "NAME=VALUE"),
        (("cpu", "--device", "auto"), 2, "must name"),
        (("report", "absent.jsonl"), 1, "absent.jsonl"),
    ],
)
def test_wrong_usage_is_explained(
    invoke: Any, arguments: tuple[str, ...], code: int, text: str
) -> None:
    result = invoke(*arguments, *(("--peers", "none") if arguments[0] == "cpu" else ()))
    assert result.exit_code == code
    assert text in result.stderr


def test_options_of_generators_stay_with_them() -> None:
    assert split_names("road:3x3,removed=0.1,seed=2, kron:4,karate,") == [
        "road:3x3,removed=0.1,seed=2",
        "kron:4",
        "karate",
    ]


def test_nothing_measured_is_an_error(invoke: Any) -> None:
    result = invoke("cpu", "--graphs", "no-such-graph")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert "no-such-graph" in result.stderr


def test_a_limit_that_is_no_number_is_refused(invoke: Any) -> None:
    for limit in ("nan", "-1"):
        result = invoke("cuda", "--limit", limit)
        assert result.exit_code == 2
        assert "--limit" in result.stderr


def test_records_are_appended_to_a_file(invoke: Any) -> None:
    result = invoke("cuda", "--append", "--graphs", "kron:4")
    assert result.exit_code == 2
    assert "name it with --out" in result.stderr


@pytest.mark.parametrize("installed", [True, False])
def test_a_peer_on_a_gpu_that_is_not_there_is_left_out(
    invoke: Any, monkeypatch: pytest.MonkeyPatch, installed: bool
) -> None:
    def no_gpu(name: str) -> None:
        raise DeviceUnavailable(f"device {name!r} cannot be used")

    monkeypatch.setattr(registry, "backend_for", no_gpu)
    monkeypatch.setattr(registry, "find_spec", lambda _package: object() if installed else None)
    args = ("--graphs", "kron:4", "--algorithms", "pagerank", "--trials", "1")
    result = invoke("cpu", *args, "--device", "reference", "--peers", "cusparse")
    assert result.exit_code == 0, result.output
    why = "left out: device 'cuda' cannot be used" if installed else "not installed"
    assert f"peer cusparse: {why}" in result.stderr
