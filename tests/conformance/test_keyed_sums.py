"""Sums by key, and contraction: products with an assignment in SuiteSparse, sums in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.helpers.every import every
from tests.helpers.pgb import assert_same, suitesparse

import semira as gb
from semira.exceptions import DomainMismatch, IndexOutOfBound

DTYPES = ["BOOL", "INT8", "INT64", "UINT16", "FP32", "FP64"]
GROUPS = 7


def drawn(dtype: str, nrows: int, ncols: int) -> tuple[Any, Any, Any]:
    """Draw entries whose sums are exact."""
    rng = np.random.default_rng(nrows + ncols)
    flat = rng.choice(nrows * ncols, nrows * ncols // 8, replace=False)
    low = 0 if dtype in ("BOOL", "UINT16") else -50
    values = rng.integers(low, 2 if dtype == "BOOL" else 50, len(flat))
    return flat // ncols, flat % ncols, values.astype(gb.dtypes.lookup_dtype(dtype).np_type)


def assignment(library: Any, labels: Any) -> Any:
    """Return S with S[i, label of i] = 1."""
    size = len(labels)
    return library.Matrix.from_coo(np.arange(size), labels, 1, nrows=size, ncols=GROUPS)


@every("dtype", DTYPES)
def test_contraction_is_a_product_with_an_assignment(dtype: str, device: str) -> None:
    """S' A S, as FP64 for floats and INT64 for others."""
    rows, cols, values = drawn(dtype, 60, 60)
    labels = np.random.default_rng(0).integers(0, GROUPS, 60)
    total = "FP64" if dtype.startswith("FP") else "INT64"
    with gb.device(device):
        A = gb.Matrix.from_coo(rows, cols, values, dtype=dtype, nrows=60, ncols=60)
        ours = gb.apps.contract(A, labels)
    assert ours.dtype.name == total
    pgb = suitesparse()
    B = pgb.Matrix.from_coo(rows, cols, values, dtype=total, nrows=60, ncols=60)
    S = assignment(pgb, labels)
    times = pgb.semiring.plus_times[total]
    assert_same(ours, S.T.mxm(times(B @ S).new(), times).new())


def test_labels_of_a_contraction_are_numbered_in_their_order(device: str) -> None:
    with gb.device(device):
        A = gb.Matrix.from_coo([0, 1, 2], [1, 2, 0], [1, 2, 4], nrows=3, ncols=3)
        empty = gb.Matrix("int64", 3, 3)
    assert gb.apps.contract(A, [40, 9, 40]).to_dicts() == {0: {1: 2}, 1: {0: 1, 1: 4}}
    assert gb.apps.contract(empty, [4, 4, 9]).shape == (2, 2)
    assert gb.apps.contract(empty, [4, 4, 9]).nvals == 0


@pytest.mark.parametrize("dtype", ["INT64", "FP32"])
def test_sums_of_rows_by_key(dtype: str, device: str) -> None:
    """A S: the entries of each row, summed by the key of their column."""
    rows, cols, values = drawn(dtype, 40, 90)
    keys = np.random.default_rng(1).integers(0, GROUPS, 90)

    def program(library: Any) -> Any:
        A = library.Matrix.from_coo(rows, cols, values, dtype=dtype, nrows=40, ncols=90)
        times = library.semiring.plus_times["FP64" if dtype.startswith("FP") else "INT64"]
        return A.mxm(assignment(library, keys), times).new()

    with gb.device(device):
        ours = program(gb)
    assert_same(ours, program(suitesparse()))


@pytest.mark.parametrize("fold", ["plus", "min", "max"])
def test_vectors_folded_by_key(fold: str, device: str) -> None:
    """A scatter folds as a product with the transposed assignment does."""
    rng = np.random.default_rng(2)
    keys, values = rng.integers(0, GROUPS, 90), rng.integers(-50, 50, 90)
    with gb.device(device):
        out = gb.Vector("INT64", GROUPS)
        out.scatter(
            gb.Vector.from_dense(keys), gb.Vector.from_dense(values), getattr(gb.monoid, fold)
        )
    pgb = suitesparse()
    first = getattr(pgb.semiring, f"{fold}_first")["INT64"]
    expected = pgb.Vector.from_coo(np.arange(90), values).vxm(assignment(pgb, keys), first)
    assert_same(out, expected.new())


@pytest.mark.parametrize("dtype", ["INT32", "INT64"])
def test_one_hot_has_an_entry_at_each_value(dtype: str, device: str) -> None:
    """Full, sparse, equal and no values; rows without one stay empty."""
    rng = np.random.default_rng(4)
    full, at = rng.integers(0, 9, 70), np.sort(rng.choice(70, 30, replace=False))
    with gb.device(device):
        S = gb.Vector.from_dense(full, dtype=dtype).one_hot(9).new()
        few = gb.Vector.from_coo(at, full[at], dtype=dtype, size=70).one_hot(9).new()
        same = gb.Vector.from_coo(at, 3, dtype=dtype, size=70).one_hot(9).new(mask=few.S)
        none = gb.Vector(dtype, 5).one_hot(4).new()
    assert (S.dtype.name, S.shape, none.shape, none.nvals) == ("BOOL", (70, 9), (5, 4), 0)
    for made, rows in ((S, np.arange(70)), (few, at), (same, at[full[at] == 3])):
        i, j, values = made.to_coo()
        assert i.tolist() == rows.tolist()
        assert j.tolist() == full[rows].tolist()
        assert values.all()


def test_one_hot_refuses_what_names_no_column(device: str, request: pytest.FixtureRequest) -> None:
    with gb.device(device):
        for bad in (-1, 4, 2**40):
            labels = gb.Vector.from_dense([0, bad, 3])
            with pytest.raises(IndexOutOfBound, match=r"one_hot value .* is outside \[0, 4\)"):
                labels.one_hot(4).new()
        with pytest.raises(DomainMismatch, match="INT32 or INT64, got FP64"):
            gb.Vector.from_dense([0.0]).one_hot(1)


def test_one_hot_of_huge_sides(device: str) -> None:
    """Also of a vector with an entry everywhere, and of equal values."""
    far = 2**41
    with gb.device(device):
        wide = gb.Vector.from_dense([5, far, 5]).one_hot(far + 1).new()
        tall = gb.Vector.from_coo([7, far], [1, 0], size=far + 1).one_hot(2).new()
        same = gb.Vector.from_coo([7, far], far, size=far + 1).one_hot(far + 1).new()
        with pytest.raises(IndexOutOfBound, match=r"one_hot value 5 is outside \[0, 5\)"):
            gb.Vector.from_coo([far], [5], size=far + 1).one_hot(5).new()
    assert wide.to_dicts() == {0: {5: True}, 1: {far: True}, 2: {5: True}}
    assert tall.to_dicts() == {7: {1: True}, far: {0: True}}
    assert same.to_dicts() == {7: {far: True}, far: {far: True}}


def test_a_loop_contracts_by_labels_that_it_computes(device: str) -> None:
    """Each level joins every vertex with its smallest neighbour; contraction keeps the weights."""
    n = 64
    with gb.device(device):
        A = gb.io.read("kron:6").dup("INT64")
        B, S, label = A.dup(), gb.Matrix("INT64", n, n), gb.Vector("INT64", n)
        ids, whole, level = gb.Vector.from_dense(np.arange(n)), label.dup(), gb.Scalar(int)
        whole << ids

        def contract() -> Any:
            label << ids
            label(gb.binary.min) << B.mxv(ids, "min_second")
            S << label.one_hot(n)
            B << S.T.mxm(B.mxm(S, "plus_times").new(), "plus_times")
            whole << label.gather(whole)
            level << B.nvals
            return level > 1

        levels = gb.repeat(contract, max_iterations=2).iterations
        told = str(gb.explain(contract, max_iterations=2, device="cuda"))
    groups = whole.to_dense()
    assert levels == 2
    assert 1 < len(np.unique(groups)) < n
    expected = gb.apps.contract(A, groups)
    numbers, found = np.unique(groups, return_inverse=True)[0], B.to_coo()
    assert expected.isequal(
        gb.Matrix.from_coo(
            np.searchsorted(numbers, found[0]), np.searchsorted(numbers, found[1]), found[2],
            nrows=len(numbers), ncols=len(numbers), device=device,
        )
    )  # fmt: skip
    assert told.count("a matrix; multiplied row by row, the host reads its size") == 2
    assert told.count("a matrix; the host reads its size") == 1
