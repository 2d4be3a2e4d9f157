"""Peak memory: the accounting, and the limits that the package promises."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.__main__ import app
from benchmarks.studies.memory import CASES, STUDY, MemoryOptions, Prepared, peak_of
from typer.testing import CliRunner

from semira.bench.record import read_records
from semira.bench.report import render_report
from semira.exceptions import InvalidValue
from semira.formats import MatrixArrays, coo_to_matrix


def some_arrays() -> MatrixArrays:
    return coo_to_matrix(2, 2, np.array([0]), np.array([1]), np.array([1.0]))


def test_the_peak_counts_what_is_dropped_again_and_not_what_was_there() -> None:
    arrays, given = some_arrays(), np.ones(2**20)

    def run() -> Any:
        (given + 1).sum()
        return given[:1]

    peak, is_right = peak_of(lambda: Prepared(run, arrays))
    assert given.nbytes <= peak < given.nbytes + 2**16
    assert is_right is None


def test_operands_count() -> None:
    from semira import Vector

    held = Vector.from_dense(np.ones(2**17))
    peak, _ = peak_of(lambda: Prepared(lambda: None, some_arrays(), (held,)))
    assert 2**20 <= peak < 2**20 + 2**16


def test_every_case_is_right_and_within_bounds(tmp_path: Path) -> None:
    out = tmp_path / "memory.jsonl"
    records = STUDY.run(MemoryOptions(graphs=("kron:15",)), out=out)
    assert read_records(out) == records
    assert [each.kernel for each in records] == list(CASES)
    assert [each.kernel for each in records if each.verified is False] == []
    checked = {each.kernel for each in records if each.verified}
    assert checked == {"build", "build repeats", "build iso", "read", "transpose"}
    # There the edge list counts too, at 8 bytes per listed entry.
    ratios = {each.kernel: each.memory_ratio for each in records if each.kernel != "read"}
    assert {name: ratio for name, ratio in ratios.items() if not 0 < (ratio or 0) <= 1.6} == {}
    assert "| kron:15 | transpose |" in render_report(records)


def test_a_file_is_not_generated_again(tmp_path: Path) -> None:
    path = tmp_path / "one.mtx"
    path.write_text("%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n")
    records = STUDY.run(MemoryOptions(graphs=(str(path),), only=("read", "build iso")))
    assert [each.kernel for each in records] == ["build iso"]


def test_unknown_case_is_refused_with_the_list() -> None:
    with pytest.raises(InvalidValue, match="transpose"):
        STUDY.run(MemoryOptions(only=("mxw",)))


@pytest.mark.parametrize(("limit", "code"), [("1000", 0), ("0.5", 1)])
def test_the_command_exits_with_one_above_the_limit(tmp_path: Path, limit: str, code: int) -> None:
    out = tmp_path / "memory.jsonl"
    command = ["memory", "--graphs", "kron:6", "--only", "transpose"]
    result = CliRunner().invoke(app, [*command, "--most", limit, "--out", str(out)])
    assert result.exit_code == code, result.output
    assert "kron:6  transpose" in result.stdout
    assert ("exceeds 0.5" in result.stderr) == bool(code)
    assert len(read_records(out)) == 1
