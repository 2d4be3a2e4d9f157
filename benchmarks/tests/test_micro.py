"""Single operations next to python-graphblas."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.studies.micro import STUDY, MicroOptions, same_result
from benchmarks.studies.micro_cases import CASES, TINY_CASES

from semira import Matrix, Vector
from semira.bench.record import read_records
from semira.exceptions import InvalidValue

SMALL = MicroOptions(graphs=("kron:6",), only=("mxv", "reduce"), trials=1, calls=2)


def test_every_operation_agrees_with_suitesparse(tmp_path: Path) -> None:
    pytest.importorskip("graphblas")
    out = tmp_path / "micro.jsonl"
    records = STUDY.run(SMALL, out=out)
    assert read_records(out) == records
    chosen = {name for name in CASES | TINY_CASES if "mxv" in name or "reduce" in name}
    assert {record.kernel for record in records} == chosen
    tiny = {record.kind for record in records if record.kernel in TINY_CASES}
    assert tiny == {"overhead"}
    assert {record.kind for record in records} == {"operation", "overhead"}
    assert {record.library for record in records} == {"semira", "suitesparse"}
    assert [each for each in records if each.verified is not True] == []
    assert all(len(record.warm_s) == 1 for record in records)


def test_without_a_peer_nothing_is_claimed() -> None:
    request = MicroOptions(
        graphs=("kron:4",), only=("mxv",), peers=False, overhead=False, trials=1, device="reference"
    )
    records = STUDY.run(request)
    assert {record.kernel for record in records} == {name for name in CASES if "mxv" in name}
    assert all(record.verified is None and "not checked" in record.note for record in records)


def test_unknown_operation_is_refused_with_the_list() -> None:
    with pytest.raises(InvalidValue, match="transpose"):
        STUDY.run(MicroOptions(only=("mxw",)))


def test_results_that_differ_are_seen() -> None:
    one = Matrix.from_coo([0, 1], [1, 0], [1.0, 2.0])
    assert same_result(one, one.dup())
    assert not same_result(one, Matrix.from_coo([0, 1], [1, 0], [1.0, 2.1]))
    assert not same_result(one, Matrix.from_coo([0, 1], [1, 1], [1.0, 2.0]))
    assert not same_result(one, Matrix.from_coo([0], [1], [1.0], nrows=2, ncols=2))
    assert not same_result(Vector.from_dense([1.0]), Vector.from_dense([2.0]))
