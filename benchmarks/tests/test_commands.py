"""``python -m benchmarks``: what every study's command does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from benchmarks.__main__ import app
from typer.testing import CliRunner

from semira.bench.record import read_records


def invoke(*args: Any) -> Any:
    return CliRunner().invoke(app, [*map(str, args)])


def test_micro_measures_the_operations_asked_for(tmp_path: Path) -> None:
    out = tmp_path / "micro.jsonl"
    result = invoke(
        "micro", "--graphs", "kron:4", "--only", "transpose", "--no-peers", "--trials", 1,
        "--out", out,
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert [each.kind for each in read_records(out)] == ["operation", "overhead"]


@pytest.mark.parametrize("command", ["spmv", "spmm", "mxm", "levels", "algorithms"])
def test_nothing_measured_is_an_error(command: str) -> None:
    result = invoke(command, "--graphs", "no-such-graph")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert "no-such-graph" in result.stderr


@pytest.mark.parametrize("command", ["algorithms", "scales", "memory"])
def test_a_limit_that_is_no_number_is_refused(command: str) -> None:
    for limit in ("nan", "-1"):
        result = invoke(command, "--limit", limit)
        assert result.exit_code == 2
        assert "--limit" in result.stderr


def test_records_are_appended_to_a_file() -> None:
    result = invoke("algorithms", "--append", "--graphs", "kron:4")
    assert result.exit_code == 2
    assert "name it with --out" in result.stderr
