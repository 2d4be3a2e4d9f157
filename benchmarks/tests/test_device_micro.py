"""Single operations: every probe is right, and moves the bytes of its formula."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from benchmarks.studies.device_micro import (
    BATCH,
    BATCHES,
    STUDY,
    DeviceOptions,
    agrees,
    measure_overhead,
)
from benchmarks.studies.micro import tiny_graph
from benchmarks.studies.micro_cases import TINY_CASES, make_operands
from benchmarks.studies.probes import PROBES, probed, stored_bytes

import semira as gb
from semira.bench.graphs import load_bench_graph
from semira.bench.record import Record
from semira.exceptions import InvalidValue


@pytest.fixture(scope="module")
def records() -> dict[str, Record]:
    request = DeviceOptions(["kron:6"], overhead=False, trials=1, device="reference")
    return {record.kernel: record for record in STUDY.run(request)}


def test_every_probe_is_checked_by_the_cpu_backend(records: dict[str, Record]) -> None:
    assert records.keys() == PROBES.keys()
    for record in records.values():
        assert (record.verified, record.note) == (True, ""), record.kernel
        assert record.least_bytes is not None
        assert record.device_s is None


def test_a_whole_operation_moves_operands_and_result(records: dict[str, Record]) -> None:
    graph = load_bench_graph("kron:6")
    n, nvals = graph.n, graph.arrays.nvals
    rows = int(np.count_nonzero(graph.degrees))
    # Index and value of every entry, offsets, the vector; the rows that have a result.
    assert records["mxv pull FP32"].least_bytes == nvals * 8 + 4 * (n + 1) + 4 * n + 8 * rows
    assert records["mxv pull FP64"].least_bytes == nvals * 12 + 4 * (n + 1) + 8 * n + 12 * rows
    assert records["mxv pull pattern"].least_bytes == nvals * 4 + 4 * (n + 1) + 4 * n + 8 * rows
    assert records["ewise_mult vector"].least_bytes == 3 * 4 * n
    assert records["reduce vector"].least_bytes == 4 * n + 4
    assert records["assign vector"].least_bytes == 4 * n


def test_a_push_moves_what_it_touches(records: dict[str, Record]) -> None:
    small, large = (records[f"vxm push {name}"].least_bytes for name in ("1", "n/10"))
    assert 0 < small < large < records["mxv pull FP32"].least_bytes * 2


def test_a_wrong_result_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.studies.device_micro.same_result", lambda *_args: False)
    request = DeviceOptions(
        ["kron:4"], only=["reduce"], overhead=False, trials=1, device="reference"
    )
    (record,) = STUDY.run(request)
    assert (record.verified, record.note) == (False, "the cpu backend differs")


def test_heavy_probes_are_left_out_on_larger_graphs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.studies.device_micro.HEAVY_ENTRIES", 10)
    request = DeviceOptions(["kron:4"], only=["mxm"], overhead=False, trials=1, device="reference")
    assert [record.kernel for record in STUDY.run(request)] == ["mxm masked"]


def test_bytes_of_objects() -> None:
    sparse = gb.Vector.from_coo([1], [1.0], "FP32", size=3)
    full = gb.Vector.from_dense(np.ones(3))
    matrix = gb.Matrix.from_coo([0], [1], [1.0], "FP32", nrows=2, ncols=2)
    pattern = gb.Matrix.from_coo([0], [1], True, nrows=2, ncols=2)
    scalar = gb.Scalar.from_value(1.0, "FP64")
    assert [stored_bytes(each) for each in (sparse, full, matrix, pattern, scalar)] == [
        8, 24, 8 + 12, 4 + 12, 8,
    ]  # fmt: skip


def test_results_of_another_library_are_compared() -> None:
    vector = gb.Vector.from_coo([0, 2], [1.0, 3.0], size=3)
    assert agrees(vector, np.array([1.0, 0.0, 3.0]))
    assert not agrees(vector, np.array([1.0, 0.0, 3.1]))
    matrix = gb.Matrix.from_coo([0, 1], [1, 0], [2.0, 4.0], nrows=2, ncols=2)
    assert agrees(matrix, (np.array([0, 1]), np.array([1, 0]), np.array([2.0, 4.0])))
    assert not agrees(matrix, (np.array([0, 1]), np.array([1, 1]), np.array([2.0, 4.0])))
    scalar = gb.Scalar.from_value(2.0)
    assert agrees(scalar, np.float64(2.0))
    assert not agrees(scalar, np.float64(2.1))


def test_calls_on_tiny_objects_are_averaged_over_batches() -> None:
    graph, calls = tiny_graph(), []
    operands = make_operands(gb, graph.arrays)

    def case(module: Any, given: Any) -> Any:
        calls.append(1)
        return TINY_CASES["tiny_nvals"](module, given)

    blank = Record("overhead", "tiny_nvals", graph.dataset, "semira", "reference")
    record = measure_overhead(blank, case, operands)
    assert len(calls) == 1 + BATCHES * BATCH
    assert len(record.warm_s) == BATCHES
    assert record.note.startswith("finished after")


def test_operands_lie_on_the_device() -> None:
    operands = probed(gb, load_bench_graph("kron:4"), "reference")
    assert {operands.weighted.device, operands.dense.device, operands.some.device} == {"reference"}
    assert {each.device for each in operands.frontiers} == {"reference"}


def test_unknown_operation_is_refused() -> None:
    with pytest.raises(InvalidValue, match="mxv pull FP32"):
        STUDY.run(DeviceOptions(only=["absent"], device="reference"))
