"""One product in every storage, compared with dense ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from benchmarks.studies import formats as bench_formats
from benchmarks.studies.formats import STORAGES, FormatsOptions, draw, format_bytes, least_bytes_of
from benchmarks.studies.formats_tables import (
    STUDY,
    TEXTBOOK,
    calls_table,
    copies_table,
    failures_table,
    formats_table,
    textbook_table,
)

from semira.base.errors import InvalidValue
from semira.bench.record import Dataset, Record
from semira.formats import MatrixArrays
from semira.methods.dense.arrays import DenseArrays
from semira.methods.ell.arrays import KINDS, EllArrays

REQUEST = FormatsOptions(rows=(40, 70), densities=(0.1,), columns=3, trials=1, seconds=0.1)


@pytest.fixture(scope="module")
def measured() -> list[Record]:
    return STUDY.run(REQUEST)


def named(records: list[Record], kernel: str, n: int) -> dict[str, Record]:
    return {
        each.options.get("storage", each.library): each
        for each in records
        if (each.kernel, each.dataset.n) == (kernel, n)
    }


@pytest.mark.parametrize("n", REQUEST.rows)
def test_every_storage_and_the_peers_are_right(measured: list[Record], n: int) -> None:
    found = named(measured, "mxv", n)
    assert list(found) == [*STORAGES, "numpy dense", "scipy csr"]
    assert {each.note for each in found.values()} == {""}
    assert all(each.verified and each.warm_s for each in found.values())


def test_the_storage_is_what_is_walked(measured: list[Record]) -> None:
    found = named(measured, "mxv", 70)
    assert {name: found[name].plan["matrix_storage"] for name in STORAGES} == {
        name: name for name in STORAGES
    }
    # Values by row are already by position.
    assert found["dense"].facts["kept"] == 0
    assert named(measured, "mxm n=3", 70)["dense"].plan == {"matrix_storage": "csr"}


@pytest.mark.parametrize("n", REQUEST.rows)
def test_products_with_columns_walk_every_storage(measured: list[Record], n: int) -> None:
    found = named(measured, "mxm n=3", n)
    assert {each.note for each in found.values()} == {""}
    assert set(STORAGES) <= set(found)
    assert all(each.verified and each.warm_s for each in found.values())


def test_bytes_are_those_of_the_arrays() -> None:
    drawn = draw(70, 0.1, 0)
    from semira.base.dtypes import FP32

    matrix = MatrixArrays(70, 70, FP32, "csr", drawn.indptr, drawn.indices, drawn.values)
    assert format_bytes(drawn, "coo") == sum(part.nbytes for part in matrix.to_coo())
    parts = matrix.indptr, matrix.indices, matrix.values
    assert format_bytes(drawn, "csr") == sum(part.nbytes for part in parts)
    for name, kind in KINDS.items():
        assert format_bytes(drawn, name) == EllArrays.from_matrix(matrix, **kind).nbytes
    assert format_bytes(drawn, "dense") == drawn.dense.nbytes
    assert DenseArrays.from_matrix(matrix).values.dtype == drawn.dense.dtype
    assert least_bytes_of(drawn, "csr") == format_bytes(drawn, "csr") + 4 * 2 * 70
    assert least_bytes_of(draw(70, 0.1, 3), "csr") == format_bytes(drawn, "csr") + 4 * 3 * 2 * 70


def test_copies_are_counted(measured: list[Record]) -> None:
    found = named(measured, "mxv", 70)
    assert found["csr"].facts["kept"] == 0
    for name in ("csc", "ell", "ellr", "pell", "sell"):
        assert found[name].facts["kept"] == found[name].facts["bytes"]
    # COO already has the columns and the values.
    assert 0 < found["coo"].facts["kept"] < found["coo"].facts["bytes"]
    head, rows = copies_table(measured)
    assert [row[2] for row in rows] == [*STORAGES] * 2
    assert all(len(row) == len(head) for row in rows)


def test_what_is_drawn() -> None:
    drawn = draw(200, 0.05, 2)
    assert len(drawn.indices) == pytest.approx(0.05 * 200**2, rel=0.2)
    dense = np.zeros(drawn.shape, np.float32)
    dense[np.repeat(np.arange(200), np.diff(drawn.indptr)), drawn.indices] = drawn.values
    assert np.array_equal(dense, drawn.dense)
    assert np.all(drawn.values > 0)
    assert np.array_equal(draw(200, 0.05, 2).dense, drawn.dense)
    for n, density in ((0, 0.1), (5, 0.0), (5, 1.5)):
        with pytest.raises(InvalidValue, match="density"):
            draw(n, density, 0)


def test_wrong_products_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def other(*given: object) -> object:
        drawn = draw(*given)
        return replace(drawn, expected=1.001 * drawn.expected)

    monkeypatch.setattr(bench_formats, "draw", other)
    records = STUDY.run(replace(REQUEST, rows=(20,), columns=0))
    assert [each.verified for each in records] == [False] * len(records)
    assert formats_table(records)[1][0][-1].startswith("**no**")


def test_a_failing_peer_is_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_given: object) -> object:
        raise AttributeError("no such\nalgorithm")

    monkeypatch.setattr(bench_formats, "_scipy_csr", fails)
    records = STUDY.run(replace(REQUEST, rows=(20,), columns=0))
    record = records[-1]
    assert (record.library, record.verified) == ("scipy csr", None)
    assert record.note == "AttributeError: no such algorithm"
    assert failures_table(records)[1] == [["mxv", "scipy csr", record.note]]
    assert len(records) == len(STORAGES) + 2


def made(name: str, us: float, **more: object) -> Record:
    dataset = Dataset("random 1024 x 1024, 0.1", 1024, 104857, "")
    options = {"density": 0.1, "columns": 0}
    if name in STORAGES:
        options["storage"] = name
        return Record("formats", "mxv", dataset, "semira", "cuda", options=options,
                      warm_s=[2e-6 * us], device_s=[1e-6 * us], verified=True, **more)  # fmt: skip
    return Record("formats", "mxv", dataset, name, options=options, warm_s=[1e-6 * us],
                  verified=True, **more)  # fmt: skip


def test_the_textbook_stands_beside() -> None:
    records = [made("coo", 4.0), made("csr", 3.0), made("numpy dense", 50.0)]
    head, (row,) = textbook_table(records)
    cells = dict(zip(head, row, strict=True))
    assert (cells["textbook COO"], cells["coo"]) == ("38.4", "4")
    assert (cells["textbook CPU"], cells["numpy dense"]) == ("1,390", "50")
    assert (cells["textbook GPU"], cells["ell"]) == ("-", "-")
    assert len(TEXTBOOK) == 4
    head, (row,) = calls_table(records)
    assert dict(zip(head, row, strict=True))["coo"] == "8"
    head, (row,) = formats_table(records)
    cells = dict(zip(head, row, strict=True))
    assert (cells["coo"], cells["numpy dense"], cells["verified"]) == ("4", "50", "yes")
