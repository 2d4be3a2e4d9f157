"""Products of sparse matrices on families of graphs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from benchmarks import cupy_calls as peer
from benchmarks.studies import mxm as bench_mxm
from benchmarks.studies.mxm import (
    PRODUCTS,
    STUDY,
    MxmOptions,
    compare_products,
    mxm_summary,
    mxm_table,
)
from benchmarks.studies.spmm import load_sparse
from scipy import sparse as scipy_sparse

import semira as gb
from semira.base.errors import InvalidValue
from semira.bench.record import Dataset, Record

#: A few triangles, and none.
REQUEST = MxmOptions(("kron:6", "grid:9x9"), trials=1, seconds=0.1)


@pytest.mark.parametrize("exact", [1 << 20, 0])
def test_products_and_the_peer_are_right(monkeypatch: pytest.MonkeyPatch, exact: int) -> None:
    """Check results entry by entry, and as for large ones."""
    monkeypatch.setattr(bench_mxm, "EXACT", exact)
    records = STUDY.run(REQUEST)
    assert [each.note for each in records] == [""] * 14
    assert all(each.verified and each.warm_s for each in records)
    names = list(PRODUCTS)
    kernels = [each.kernel for each in records if each.dataset.name == "kron:6"]
    assert kernels == [names[0], *names]
    assert [each.library for each in records].count("scipy") == 2
    split = [each.facts["entries"] for each in records[2:4]]
    assert sum(split) == records[0].facts["entries"]
    assert min(split) > 0


def wrong(result: gb.Matrix, how: str) -> gb.Matrix:
    """Return a result with a missing entry, a wrong value, or a wrong position."""
    rows, columns, values = result.to_coo()
    if how == "value":
        values = np.where(np.arange(len(values)) == 5, 2 * values, values)
    elif how == "place":
        taken = set(columns[rows == rows[0]].tolist())
        columns = columns.copy()
        columns[0] = min(set(range(result.ncols)) - taken)
    keep = np.arange(len(rows)) != (3 if how == "less" else -1)
    given = rows[keep], columns[keep], values[keep]
    return gb.Matrix.from_coo(*given, dtype=result.dtype, nrows=result.nrows, ncols=result.ncols)


@pytest.mark.parametrize("exact", [1 << 20, 0])
@pytest.mark.parametrize("name", PRODUCTS)
def test_wrong_products_are_found(monkeypatch: pytest.MonkeyPatch, name: str, exact: int) -> None:
    monkeypatch.setattr(bench_mxm, "EXACT", exact)
    product = PRODUCTS[name]
    for how in ("value", "less", "place"):

        def make(setting, pins, how=how):
            call = product.make(setting, pins)
            return lambda: wrong(call(), how)

        monkeypatch.setitem(PRODUCTS, name, replace(product, make=make))
        request = replace(REQUEST, products=(name,), peers=False, graphs=("kron:6",))
        (record,) = STUDY.run(request)
        assert record.verified is False, how
        assert record.note
    monkeypatch.setitem(PRODUCTS, name, product)


def test_products_too_large_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench_mxm, "RAISED", 100)
    monkeypatch.setattr(bench_mxm, "PAIRED", 100)
    kernels = {each.kernel for each in STUDY.run(replace(REQUEST, peers=False))}
    assert kernels == set(list(PRODUCTS)[:4])


def test_absent_graphs_and_products_have_a_word() -> None:
    said: list[str] = []
    assert STUDY.run(replace(REQUEST, graphs=("no-such-graph", "kron:4")), say=said.append)
    assert said[0].endswith("left out")
    with pytest.raises(InvalidValue, match="nothing was measured: none of no-such-graph is there"):
        STUDY.run(replace(REQUEST, graphs=("no-such-graph",)))
    with pytest.raises(InvalidValue, match="no product 'B B'; choose from A A,"):
        STUDY.run(replace(REQUEST, products=("B B",)))


def test_the_calls_of_cusparse_give_the_product(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peer, "cupy", np)
    monkeypatch.setattr(peer, "sparse", scipy_sparse)
    matrix = load_sparse("kron:5", None)
    parts = matrix.values, matrix.indices, matrix.indptr
    held = scipy_sparse.csr_matrix(parts, matrix.shape)
    plain, in_order = peer.square_calls(matrix)
    np.testing.assert_array_equal(plain().toarray(), (held @ held).toarray())
    assert in_order().has_sorted_indices


def made(ms: float, library: str = "semira", **changes) -> Record:
    record = Record(
        "mxm", "A A", Dataset("some", 9, 180, ""), library, warm_s=[ms / 1e3], verified=True,
        facts={"products": 1000, "entries": 90},
    )  # fmt: skip
    return replace(record, **changes)


def test_tables_have_the_peer_and_equal_shares() -> None:
    records = [
        made(2.0), made(3.0, plan={"balance": "edges"}),
        made(8.0, "cusparse", facts={"products": 1000, "entries": 90, "sorted_s": 9e-3}),
    ]  # fmt: skip
    head, (row,) = mxm_table(records)
    cells = dict(zip(head, row, strict=True))
    shown = [cells[name] for name in ("ms", "equal shares ms", "peer ms", "peer, sorted, ms")]
    assert shown == ["2", "3", "8", "9"]
    assert (cells["times faster"], cells["verified"]) == ("4", "yes")
    assert mxm_summary(records)[1] == [["1", "1", "4", "-"]]


def test_what_the_peer_cannot_hold_is_said() -> None:
    refused = made(1.0, "cusparse", warm_s=[], verified=None, note="OutOfMemory: too little")
    head, (row,) = mxm_table([made(2.0), refused])
    cells = dict(zip(head, row, strict=True))
    assert (cells["peer ms"], cells["times faster"]) == ("OutOfMemory: too little", "-")
    assert mxm_summary([made(2.0), refused])[1] == [["1", "0", "-", "some"]]
    # A wrong result of Semira does not count as complete.
    assert mxm_summary([made(2.0, verified=False), refused])[1] == [["1", "0", "-", "-"]]
    wrong_shares = made(1.0, plan={"balance": "edges"}, verified=False, note="sums differ")
    assert mxm_table([made(2.0), wrong_shares])[1][0][-1] == "**no**: sums differ"
    (one,) = compare_products([made(2.0), made(1.0, "cusparse", verified=False)])
    assert one.times_faster is None
