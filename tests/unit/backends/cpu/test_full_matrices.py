"""Products with a full matrix: as the reference has them, read in place, their lines kept whole."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.helpers.every import every
from tests.helpers.storages import COLUMN_RINGS, matrix_of, random_entries, result_of

import semira as gb
from semira.backends.cpu import threads
from semira.backends.cpu.compressed import Compressed
from semira.backends.cpu.host import mxm_full
from semira.backends.cpu.whole import WholeRuns, transpose, turned, whole_runs
from semira.base.dtypes import BOOL
from semira.base.settings import override, restore
from semira.contract import Arg, Hints, Mask, Slot, Statement
from semira.formats import coo_to_matrix

FIRST_RING = next(iter(COLUMN_RINGS))
INNER, OTHER = 70, 90
MASKS = {
    "none": None,
    "S": Mask(3, structural=True, complement=False),
    "V": Mask(3, structural=False, complement=False),
    "~S": Mask(3, structural=True, complement=True),
}


def full_of(shape, dtype, *, by_columns=False, iso=False):
    """Return a matrix with every entry, held either way."""
    stored = shape[::-1] if by_columns else shape
    rows, cols = (each.ravel() for each in np.indices(stored))
    values = np.random.default_rng(2).integers(0, 5, len(rows)).astype(dtype.np_type)
    made = coo_to_matrix(*stored, rows, cols, values)
    made = made.flipped() if by_columns else made
    return replace(made, values=np.array([3], dtype.np_type), iso=True) if iso else made


def check(ring_name, width, mask="none", *, left=False, flips=(False, False), hints=None, **how):
    """Compare a product of a sparse and a full matrix (the left one, if `left`) with the reference.

    `flips` says which operand is transposed, `how` goes to `full_of` or makes the sparse one iso.
    """
    ring, dtype, accum = COLUMN_RINGS[ring_name]
    sparse_iso, by_columns = how.pop("sparse_iso", False), how.pop("by_columns", False)
    # `matrix_of` has 90 x 70.
    sparse = matrix_of(dtype, iso=sparse_iso, orientation="csc" if by_columns else "csr")
    at = 1 if left else 0
    rows, cols = (INNER, OTHER) if flips[at] else (OTHER, INNER)
    shape, out_shape = ((width, rows), (width, cols)) if left else ((cols, width), (rows, width))
    full = full_of(shape[::-1] if flips[1 - at] else shape, dtype, by_columns=by_columns, **how)
    slots = (
        Slot("matrix", ring.return_type, "inout"), Slot("matrix", dtype), Slot("matrix", dtype),
        Slot("matrix", BOOL),
    )  # fmt: skip
    args = (Arg(2, flips[0]), Arg(1, flips[1])) if left else (Arg(1, flips[0]), Arg(2, flips[1]))
    masked = MASKS[mask]
    statement = Statement(
        "mxm", 0, args, ring, masked, accum, masked is not None and accum is None,
        hints=hints or Hints(),
    )  # fmt: skip
    given = [
        random_entries(out_shape, ring.return_type, 1), sparse, full,
        random_entries(out_shape, BOOL, 4),
    ]  # fmt: skip
    found, wanted = (result_of(device, slots, statement, given) for device in ("cpu", "reference"))
    assert found == wanted


@every("mask", MASKS)
@every("width", [1, 5, 64])
@every("ring", COLUMN_RINGS)
def test_a_full_right_operand(ring, width, mask):
    check(ring, width, mask)


@every("mask", MASKS)
@every("width", [1, 40])
@every("ring", COLUMN_RINGS)
def test_a_full_left_operand(ring, width, mask):
    check(ring, width, mask, left=True)


@every("how", [{}, {"iso": True}, {"sparse_iso": True}, {"by_columns": True}])
@every("flips", [(False, False), (True, False), (False, True), (True, True)])
@every("left", [False, True])
def test_transposes_layouts_and_single_values(left, flips, how):
    for width, mask in ((2, "none"), (64, "none"), (7, "V")):
        check("min_plus", width, mask, left=left, flips=flips, **how)
    check("min_firstj", 6, left=left, flips=flips, **how)


@pytest.mark.parametrize(
    "hints",
    [
        Hints(method="dense"), Hints(method="hash"), Hints(method="pull"), Hints(direction="pull"),
        Hints(direction="push"), Hints(early_exit=False), Hints(matrix_storage="csr"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("left", [False, True])
def test_pins_change_no_result(left, hints):
    for ring in ("lor_land", "any_secondj"):
        for mask in ("none", "S", "~S"):
            # Dot products would walk columns of the right operand.
            if hints.matrix_storage is None or mask == "~S":
                check(ring, 12, mask, left=left, hints=hints)


@pytest.mark.parametrize("left", [False, True])
def test_several_threads(left, monkeypatch):
    monkeypatch.setattr(threads, "PARALLEL_ENTRIES", 16)
    before = override(threads=3)
    try:
        for mask in MASKS:
            check("plus_times", 24, mask, left=left, by_columns=True)
            check("min_plus", 3, mask, left=left)
    finally:
        restore(before)


def test_a_full_operand_read_once_or_in_place(monkeypatch):
    """What lies by columns is turned only for a matrix with as many entries as it has rows."""
    turned = []
    kept = mxm_full.rows_across

    def watched(product):
        rows = kept(product)
        turned.append(rows is not None)
        return rows

    monkeypatch.setattr(mxm_full, "rows_across", watched)
    with gb.device("cpu"):
        few = gb.Matrix.from_coo([0, 3], [5, 7], [2.0, 3.0], nrows=9, ncols=40)
        dense = np.arange(320.0).reshape(8, 40)
        B = gb.Matrix.from_dense(dense)
        made = few.mxm(B.T, "plus_times").new()
    assert turned == [False]
    np.testing.assert_array_equal(made.to_dense(0)[[0, 3]], [2 * dense[:, 5], 3 * dense[:, 7]])


def looks(product, **pins):
    with gb.tracing() as run:
        product.new(**pins)
    return run.rows[-1].touched


def test_rows_are_left_when_all_sums_are_final():
    n, width = 400, 8
    with gb.device("cpu"):
        A = gb.Matrix.from_dense(np.ones((3, n), bool))
        B = gb.Matrix.from_dense(np.ones((n, width), bool))
        M = gb.Matrix.from_coo([0, 2], [1, 5], True, nrows=3, ncols=width)
    assert looks(A.mxm(B, "any_second")) == 3 * width
    assert looks(A.mxm(B, "lor_land"), early_exit=False) == 3 * width * n
    # Behind the first entry and 16 more.
    assert looks(A.mxm(B, "lxor_land")) == 3 * width * n
    assert looks(A.mxm(B, "lor_second")) == 3 * width * 17
    assert looks(A.mxm(B, "lor_second"), mask=M.S) == 2
    assert looks(A.mxm(B, "lor_second"), mask=M.S, early_exit=False) == 2 * n


def test_whole_runs_make_their_indices_when_asked():
    runs = whole_runs(np.array([2, 0, 1]), 4)
    runs.values = np.arange(8.0)
    assert (runs.nvals, runs.indptr.tolist()) == (8, [0, 4, 4, 8])
    assert set(runs.memory_usage()) == {"indptr", "values"}
    mapped = runs.replaced(-runs.values, iso=False)
    assert isinstance(mapped, WholeRuns)
    assert mapped.kept_indices() is None
    assert runs.indices.tolist() == [0, 1, 2, 3] * 2
    assert runs.indices is runs.indices
    assert runs.replaced(runs.values, iso=False).kept_indices() is runs.indices
    assert "indices" in runs.memory_usage()
    assert whole_runs(np.zeros(3, int), 5).nvals == whole_runs(np.zeros(0, int), 5).nvals == 0


@pytest.mark.parametrize("shape", [(3, 5), (20, 512), (1, 4), (9, 1)])
def test_a_full_matrix_is_turned_without_a_sort(shape):
    values = np.arange(float(np.prod(shape)))
    runs = whole_runs(np.full(shape[0], shape[1]), shape[1])
    runs.values = values
    assert turned(values, *shape).tolist() == values.reshape(shape).T.ravel().tolist()
    there = transpose(runs)
    assert isinstance(there, WholeRuns)
    assert there.indptr.tolist() == list(range(0, len(values) + 1, shape[0]))
    assert transpose(there).values.tolist() == values.tolist()
    one = transpose(runs.replaced(np.ones(1), iso=True))
    assert (one.nvals, one.iso, len(one.values)) == (len(values), True, 1)


def test_results_stay_whole_from_product_to_product():
    rng = np.random.default_rng(5)
    wanted = np.where(rng.random((30, 30)) < 0.2, rng.random((30, 30)), 0) + np.eye(30)
    dense = rng.random((30, 6))
    with gb.device("cpu"):
        A, X = (
            gb.Matrix.from_coo(*_entries(wanted), nrows=30, ncols=30),
            gb.Matrix.from_dense(dense),
        )
        for _ in range(3):
            X << A.mxm(X, "plus_times")
            X << X.apply("ainv")
        Y = gb.Matrix.from_dense(dense.T)
        for _ in range(2):
            Y << Y.mxm(A, "plus_times")
    assert not any(name.endswith("indices") for name in (*X.memory_usage(), *Y.memory_usage()))
    np.testing.assert_allclose(X.to_dense(0), -wanted @ wanted @ wanted @ dense)
    np.testing.assert_allclose(Y.to_dense(0), dense.T @ wanted @ wanted)
    # Other statements find what they need.
    total = X.ewise_add(Y.T, "plus").new().to_dense(0)
    np.testing.assert_allclose(total, X.to_dense(0) + Y.to_dense(0).T)


def _entries(dense):
    rows, cols = np.nonzero(dense)
    return rows, cols, dense[rows, cols]


def test_rows_without_entries_stay_without():
    with gb.device("cpu"):
        A = gb.Matrix.from_coo([1, 1, 4], [0, 2, 1], [1.0, 2.0, 3.0], nrows=6, ncols=3)
        B = gb.Matrix.from_dense(np.ones((3, 5)))
        C = A.mxm(B, "plus_times").new()
        D = C.T.new()
    rows, cols, _ = C.to_coo()
    assert set(rows.tolist()) == {1, 4}
    assert (C.nvals, D.nvals) == (10, 10)
    assert sorted(zip(rows.tolist(), cols.tolist(), strict=True)) == sorted(
        zip(*(each.tolist() for each in D.to_coo()[1::-1]), strict=True)
    )


def test_a_named_result_shares_the_pattern_of_its_mask():
    pattern = coo_to_matrix(3, 4, np.array([0, 2, 2]), np.array([1, 0, 3]), np.ones(3))
    held = Compressed(3, 4, pattern.indptr, pattern.indices, pattern.values)
    assert mxm_full._in_lines(held, np.array([True, False, True])) is held
    cut = mxm_full._in_lines(held, np.array([True, True, False]))
    assert (cut.indptr.tolist(), cut.indices.tolist()) == ([0, 1, 1, 1], [1])


def test_a_lean_operand_is_walked_as_it_is_kept():
    rng = np.random.default_rng(3)
    dense, sparse = rng.random((4, 20)), np.where(rng.random((20, 9)) < 0.3, 1.5, 0)
    with gb.device("cpu"):
        A = gb.Matrix.from_coo(*_entries(sparse), nrows=20, ncols=9)
        A.memory = "lean"
        X = gb.Matrix.from_dense(dense)
        C = X.mxm(A, "plus_times").new()
    np.testing.assert_allclose(C.to_dense(0), dense @ sparse)
    assert not any(name.startswith("csc") for name in A.memory_usage())


def test_records_are_multiplied_as_they_are():
    point = np.dtype([("x", np.int64), ("y", np.float64)])
    gb.dtypes.register_anonymous(point)
    A = gb.Matrix.from_coo([0, 0, 2], [0, 1, 1], np.ones(3, bool), nrows=3, ncols=2)
    given = np.zeros((2, 6), point)
    given["x"], given["y"] = np.arange(12).reshape(2, 6), 0.5
    rows, cols = (each.ravel() for each in np.indices(given.shape))
    B = gb.Matrix.from_coo(rows, cols, given.ravel(), nrows=2, ncols=6)
    M = gb.Matrix.from_coo([0, 2, 2], [4, 0, 5], True, nrows=3, ncols=6)
    ring = gb.semiring.any_second
    for mask in (None, M.S):
        made = A.mxm(B, ring).new(**({} if mask is None else {"mask": mask}))
        assert made.nvals == (12 if mask is None else 3)
        assert made[2, 5].new().value["x"] == 11
        assert made.dtype == B.dtype
