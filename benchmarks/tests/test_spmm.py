"""Sparse times dense on families of matrices."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from benchmarks.studies import spmm as bench_spmm
from benchmarks.studies.spmm import (
    STUDY,
    SpmmOptions,
    compare_records,
    default_matrices,
    least_bytes_of,
    load_sparse,
    row_sums,
    spmm_table,
    summary_table,
)

from semira.base.errors import InvalidValue
from semira.bench.record import Dataset, Record

REQUEST = SpmmOptions(("dense:3x40", "kron:6"), trials=1, seconds=0.1, columns=(1, 8))


@pytest.fixture(scope="module")
def measured() -> list[Record]:
    return STUDY.run(REQUEST)


def test_products_and_the_peer_are_right(measured: list[Record]) -> None:
    assert [each.note for each in measured] == [""] * 8
    assert all(each.verified for each in measured)
    assert [each.library for each in measured] == ["semira", "scipy"] * 4


def test_both_layouts_are_right() -> None:
    records = STUDY.run(replace(REQUEST, by_columns=True, graphs=("er:50,degree=3",)))
    assert [each.verified for each in records] == [True] * 4


def test_row_sums_are_those_of_the_product() -> None:
    matrix = load_sparse("kron:5", None)
    dense = np.random.default_rng(3).random((matrix.shape[1], 4), np.float32)
    whole = np.zeros(matrix.shape)
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    whole[rows, matrix.indices] = matrix.values
    np.testing.assert_allclose(row_sums(matrix, dense, np), (whole @ dense).sum(axis=1), rtol=1e-6)
    nvals, n = len(matrix.indices), matrix.shape[0]
    assert least_bytes_of(matrix, 4) == 8 * nvals + 4 * 4 * 2 * n + 4 * (n + 1)


def test_wrong_products_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench_spmm, "row_sums", lambda *args: 1.001 * row_sums(*args))
    records = STUDY.run(replace(REQUEST, graphs=("dense:3x40",), columns=(2,)))
    assert [each.verified for each in records] == [False] * 2


def test_names_of_matrices() -> None:
    assert len(default_matrices()) >= 40
    matrix = load_sparse("dense:2x6", None)
    assert (matrix.shape, matrix.mean_row, len(matrix.values)) == ((2, 6), 6, 12)
    for name in (
        "dense:2",
        "dense:0x3",
        "dense:axb",
        "dense:2x3x4",
        "strided:2x3",
        "strided:2xbx3",
    ):
        with pytest.raises(InvalidValue, match="ROWSxCOLUMNS"):
            load_sparse(name, None)


def made(balance: str | None, ms: float, mean_row: float = 20.0) -> Record:
    return Record(
        "spmm", "mxm n=64", Dataset("some", 9, 180, ""), "semira", "cuda",
        plan={"balance": balance} if balance else {}, options={"columns": 64},
        device_s=[ms / 1e3], least_bytes=1000, verified=True, facts={"mean_row": mean_row},
    )  # fmt: skip


def test_the_heuristic_stands_beside_an_oracle() -> None:
    times = {None: 2.0, "rows": 1.02, "edges": 1.0, "thread": 3.0, "pieces": 2.0}
    records = [made(balance, ms) for balance, ms in times.items()]
    peer = replace(made(None, 8.0), library="cusparse", backend="")
    (one,) = compare_records([*records, peer])
    assert (one.names_best, one.oracle.plan) == (False, {"balance": "edges"})
    assert summary_table([*records, peer])[1] == [["1", "4", "0.0%", "2"]]
    close = [made(balance, 1.03 if balance == "pieces" else ms) for balance, ms in times.items()]
    assert summary_table(close)[1] == [["1", "-", "100.0%", "2"]]
    head, (row,) = spmm_table([*records, peer])
    cells = dict(zip(head, row, strict=True))
    assert (cells["ms"], cells["edges ms"], cells["times faster"]) == ("2", "1", "4")


@pytest.mark.parametrize("step", [1, 3, 8, 100])
def test_long_rows_have_an_entry_in_every_so_many_columns(step: int) -> None:
    matrix = load_sparse(f"strided:5x64x{step}", None)
    rows = np.split(matrix.indices, matrix.indptr[1:-1])
    each = max(1, 64 // step)
    assert [len(row) for row in rows] == [each] * 5
    for row in rows:
        assert (np.diff(row) > 0).all()
        assert (row // min(step, 64) == np.arange(each)).all()
    assert matrix.mean_row == each
