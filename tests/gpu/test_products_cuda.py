"""Products of matrices on the GPU: every way a row can be computed, against the reference."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import scipy.sparse as sp
from tests.gpu.test_matrices_cuda import MASKS, check, iso_matrix, random_matrix
from tests.gpu.test_statements_cuda import compare, mask_of, run
from tests.helpers.dots import by_rows
from tests.helpers.every import every
from tests.helpers.rowwise import go

import semira as gb
from semira import binary as public_binary
from semira import monoid as public_monoid
from semira import semiring as public_semiring
from semira.backends.cuda.staged import bins, full, rowwise
from semira.backends.cuda.staged.pieces import Stage
from semira.base.dtypes import BOOL, FC64, FP32, FP64, INT8, INT32, INT64, UINT16
from semira.base.errors import PlanError
from semira.contract import Arg, Slot, Statement
from semira.contract.hints import NO_HINTS, Hints
from semira.formats import MatrixArrays, coo_to_matrix
from semira.methods.sets import cuda as sets
from semira.ops.registry import binary, semiring

pytestmark = pytest.mark.gpu

#: Lengths of groups of B's rows, and which of these rows each row of A names. Partial products:
#: 0 (no entries), 0 (empty rows of B), 1, 40, 80, 720, 3,750, 5,000, 100,000 and all.
LENGTHS = np.repeat([0, 1, 40, 1250], [10, 10, 100, 80])
NAMED = [
    [], range(10), [10], [20], [20, 21], range(20, 38), range(120, 123), range(120, 124),
    range(120, 200), range(200),
]  # fmt: skip
COLUMNS = 20_000


@pytest.fixture(autouse=True)
def in_bins(monkeypatch):
    """Share dot products out by rows, as with pinned sets: all ways are in test_fused_reduce."""
    by_rows(monkeypatch)
    monkeypatch.setattr(sets, "worthwhile_bins", lambda *_: bins.table_bins(4))


@pytest.fixture(params=["late", "counted"])
def way(request, monkeypatch) -> str:
    """One way after the other to make rows, with every bin."""
    go(monkeypatch, request.param)
    return request.param


SEMIRINGS = [
    ("plus_times", FP32), ("plus_times", FP64), ("plus_times", INT8), ("plus_times", INT64),
    ("min_plus", FP32), ("min_plus", INT64), ("any_pair", BOOL), ("lor_land", BOOL),
    ("max_second", INT32), ("times_first", INT8), ("plus_pair", INT64), ("min_secondi", INT64),
]  # fmt: skip


def of_lists(lists, ncols: int, dtype, seed: int) -> MatrixArrays:
    """Return a matrix whose rows have these columns and small values."""
    rng = np.random.default_rng(seed)
    rows = np.repeat(np.arange(len(lists)), [len(columns) for columns in lists])
    columns = np.concatenate([np.asarray(columns, np.int64) for columns in lists])
    values = rng.integers(0, 4, len(rows)).astype(dtype.np_type)
    return coo_to_matrix(len(lists), ncols, rows, columns, values)


def of_lengths(lengths, ncols: int, dtype, seed: int) -> MatrixArrays:
    """Return a matrix whose rows have so many entries."""
    rng = np.random.default_rng(seed)
    drawn = [np.sort(rng.choice(ncols, length, replace=False)) for length in lengths]
    return of_lists(drawn, ncols, dtype, seed)


def transposed(given: MatrixArrays) -> MatrixArrays:
    rows, columns, values = given.to_coo()
    return coo_to_matrix(given.ncols, given.nrows, columns, rows, values)


def slots_of(typed, *dtypes):
    return (Slot("matrix", typed.return_type, "inout"), *(Slot("matrix", d) for d in dtypes))


def product(typed, a, b, *, left=False, right=False, hints=NO_HINTS) -> None:
    """Compare one product that is not masked."""
    given = [transposed(a) if left else a, transposed(b) if right else b]
    nothing = MatrixArrays.empty(a.nrows, b.ncols, typed.return_type)
    body = (Statement("mxm", 0, (Arg(1, left), Arg(2, right)), typed, hints=hints),)
    compare(slots_of(typed, a.dtype, b.dtype), body, [nothing, *given])


# row by row --------------------------------------------------------------------------------------
@every(("name", "dtype"), SEMIRINGS)
def test_rows_of_every_bin(way, name, dtype):
    del way
    typed = semiring[name].typed(dtype)
    a = of_lists(NAMED, len(LENGTHS), dtype, 1)
    product(typed, a, of_lengths(LENGTHS, COLUMNS, dtype, 2))


def replaced(given: MatrixArrays, values) -> MatrixArrays:
    """Return a matrix with the same pattern and other values."""
    return dataclasses.replace(given, values=np.asarray(values, given.values.dtype))


def test_a_sum_of_one_product_is_that_product(way):
    del way
    # The identity of gcd leaves |x| of x.
    typed = public_semiring.numpy.gcd_multiply["INT64"]
    a = of_lists(NAMED, len(LENGTHS), INT64, 1)
    b = of_lengths(LENGTHS, COLUMNS, INT64, 2)
    rng = np.random.default_rng(3)
    product(
        typed,
        replaced(a, rng.integers(1, 9, a.nvals)),
        replaced(b, -rng.integers(1, 99, b.nvals)),
    )


def scaled(rng, count: int):
    """Return numbers of many magnitudes, whose sums depend on the order."""
    return rng.normal(size=count) * 10.0 ** rng.integers(-6, 6, count)


@pytest.mark.parametrize(("name", "dtype"), [("plus_times", FP64), ("plus_times", FP32)])
def test_deterministic_sums_are_added_up_in_the_order_of_k(way, name, dtype):
    del way
    typed, rng = semiring[name].typed(dtype), np.random.default_rng(4)
    a = of_lists(NAMED, len(LENGTHS), dtype, 1)
    b = of_lengths(LENGTHS, COLUMNS, dtype, 2)
    a, b = replaced(a, scaled(rng, a.nvals)), replaced(b, scaled(rng, b.nvals))
    nothing = MatrixArrays.empty(a.nrows, b.ncols, dtype)
    body = (Statement("mxm", 0, (Arg(1), Arg(2)), typed, hints=Hints(deterministic=True)),)
    _, values = run("cuda", slots_of(typed, dtype, dtype), body, [nothing, a, b])
    expected = []
    for i in range(a.nrows):
        sums, has = np.zeros(COLUMNS, dtype.np_type), np.zeros(COLUMNS, bool)
        for at in range(a.indptr[i], a.indptr[i + 1]):
            k = a.indices[at]
            line = slice(b.indptr[k], b.indptr[k + 1])
            columns, products = b.indices[line], a.values[at] * b.values[line]
            sums[columns] = np.where(has[columns], sums[columns] + products, products)
            has[columns] = True
        expected.append(sums[has])
    np.testing.assert_array_equal(values, np.concatenate(expected))


def test_operands_may_be_transposed():
    typed = semiring["plus_times"].typed(INT64)
    a, b = of_lists(NAMED, len(LENGTHS), INT64, 1), of_lengths(LENGTHS // 3, 500, INT64, 2)
    for left, right in ((False, True), (True, False), (True, True)):
        product(typed, a, b, left=left, right=right)


@pytest.mark.parametrize("way", ["late", "counted"])
@pytest.mark.parametrize("window", [64, 1 << 12])
@pytest.mark.parametrize(("name", "dtype"), [("plus_times", FP64), ("any_pair", BOOL)])
def test_rows_window_by_window(monkeypatch, window, name, dtype, way):
    """No table fits, so that every row goes through windows of a few columns."""
    go(monkeypatch, way, tables=False)
    monkeypatch.setattr(bins, "WINDOW", window)
    monkeypatch.setattr(rowwise, "BITMAP", window)
    typed = semiring[name].typed(dtype)
    lengths = LENGTHS // 10
    product(typed, of_lists(NAMED, len(lengths), dtype, 1), of_lengths(lengths, 3_000, dtype, 2))


def test_columns_far_apart():
    """Windows without an entry are skipped: there are 2**31 / 8,192 of them."""
    rng = np.random.default_rng(3)
    far = 2**31 - 2
    columns = [np.unique(rng.integers(0, far, 600)) for _ in range(10)]
    b = of_lists([*columns, [0, 1, far - 1], [far - 1]], far, FP64, 4)
    a = of_lists([range(12), [10, 11], [11], range(10), []], 12, FP64, 5)
    product(semiring["plus_times"].typed(FP64), a, b)


def test_a_hub_among_short_rows():
    """One row of A and one of B are full; the rest is short."""
    rng = np.random.default_rng(6)
    n = 700
    lists = [np.unique(rng.integers(0, n, rng.integers(0, 5))) for _ in range(n)]
    lists[17] = np.arange(n)
    a = of_lists(lists, n, INT64, 7)
    found = run(
        "cuda", slots_of(semiring["plus_times"].typed(INT64), INT64),
        (Statement("mxm", 0, (Arg(1), Arg(1)), semiring["plus_times"].typed(INT64)),),
        [MatrixArrays.empty(n, n, INT64), a],
    )  # fmt: skip
    ones = sp.csr_array((np.ones(a.nvals), a.indices, a.indptr), shape=(n, n))
    scipy = sp.csr_array((a.values, a.indices, a.indptr), shape=(n, n))
    pattern, values = (ones @ ones).tocoo(), (scipy @ scipy).toarray()
    expected = sorted(zip(pattern.row.tolist(), pattern.col.tolist(), strict=True))
    assert found[0] == expected
    np.testing.assert_array_equal(found[1], [values[place] for place in expected])


@pytest.mark.parametrize("mask", MASKS[1:])
@pytest.mark.parametrize(("name", "dtype"), [("plus_times", INT8), ("any_pair", BOOL)])
def test_row_by_row_under_a_mask(way, mask, name, dtype):
    del way
    typed = semiring[name].typed(dtype)
    a, b = of_lists(NAMED, len(LENGTHS), dtype, 1), of_lengths(LENGTHS // 2, 900, dtype, 2)
    slots = slots_of(typed, dtype, dtype, INT8)
    given = [random_matrix(10, 900, typed.return_type, 8), a, b, random_matrix(10, 900, INT8, 9)]
    hints = Hints(method="hash")
    body = Statement("mxm", 0, (Arg(1), Arg(2)), typed, mask=mask_of(mask, 3), hints=hints)
    compare(slots, (body,), given)


@pytest.mark.parametrize("first", ["late", "counted"])
def test_operators_of_python(monkeypatch, first):
    go(monkeypatch, first)
    least = public_binary.register_anonymous(lambda x, y: min(y, x))
    low = public_monoid.register_anonymous(least, 100)
    ring = public_semiring.register_anonymous(
        low, public_binary.register_anonymous(lambda x, y: x + 2 * y)
    )
    for dtype in (INT8, FP64):
        a, b = of_lists(NAMED, len(LENGTHS), dtype, 1), of_lengths(LENGTHS, 6_000, dtype, 2)
        product(ring[dtype], a, b)


# dot products ------------------------------------------------------------------------------------
@every("mask", [(True, False), (False, False)])
@every(("name", "dtype"), SEMIRINGS)
def test_dot_products_of_rows_of_every_length(name, dtype, mask):
    typed = semiring[name].typed(dtype)
    inner = 12_000
    a = of_lengths([0, 1, 20, 100, 700, 3_000, 6_000, 12_000, 5, 5], inner, dtype, 1)
    lengths = [0, 1, 3, 30, 200, 900, 5_000, 12_000, *range(10, 42)]
    b = of_lengths(lengths, inner, dtype, 2)
    wanted = random_matrix(10, 40, INT8, 3, 0.4)
    slots = slots_of(typed, dtype, dtype, INT8)
    given = [random_matrix(10, 40, typed.return_type, 4), a, b, wanted]
    check(Statement("mxm", 0, (Arg(1), Arg(2, True)), typed), slots, given, mask, 3,
          typed.return_type)  # fmt: skip


@pytest.mark.parametrize("mask", [(True, False), (False, False)])
def test_a_mask_without_entries_and_one_of_every_position(mask):
    typed = semiring["plus_times"].typed(INT64)
    slots = slots_of(typed, INT64, INT64, INT8)
    operands = [random_matrix(40, 40, INT64, seed) for seed in (1, 2, 3)]
    for wanted in (MatrixArrays.empty(40, 40, INT8), random_matrix(40, 40, INT8, 4, 1.1)):
        body = Statement("mxm", 0, (Arg(1), Arg(2)), typed)
        check(body, slots, [*operands, wanted], mask, 3, INT64)


@pytest.mark.parametrize("seed", [1, 2])
def test_triangles_are_counted_at_their_edges(seed):
    """C<L> = L plus.pair L', into an empty and into a filled matrix."""
    rng = np.random.default_rng(seed)
    dense = np.tril(rng.random((300, 300)) < np.linspace(0.02, 0.9, 300)[:, None], -1)
    rows, columns = np.nonzero(dense)
    lower = coo_to_matrix(300, 300, rows, columns, np.ones(len(rows), bool))
    typed = semiring["plus_pair"].typed(INT64)
    product = Statement(
        "mxm", 0, (Arg(1), Arg(1, True)), typed, mask=mask_of((True, False), 1),
        accum=binary["plus"].typed(INT64),
    )  # fmt: skip
    counts = dense.astype(np.int64) @ dense.T
    pairs = [(int(r), int(c)) for r, c in zip(rows, columns, strict=True) if counts[r, c]]
    empty = MatrixArrays.empty(300, 300, INT64)
    found = run("cuda", slots_of(typed, BOOL), (product,), [empty, lower])
    assert found[0] == pairs
    np.testing.assert_array_equal(found[1], [counts[pair] for pair in pairs])
    compare(slots_of(typed, BOOL), (product,), [random_matrix(300, 300, INT64, 5, 0.02), lower])


@pytest.mark.parametrize("order", ["before", "after"])
@pytest.mark.parametrize("flags", [(True, False), (False, False), (True, True), (False, True)])
@pytest.mark.parametrize(("name", "dtype"), [("plus_times", INT64), ("any_pair", BOOL)])
def test_rows_of_every_bin_under_a_mask(name, dtype, flags, order):
    """Row by row, what the mask forbids is left out before it is counted, or afterwards."""
    typed, rng = semiring[name].typed(dtype), np.random.default_rng(3)
    a, b = of_lists(NAMED, len(LENGTHS), dtype, 1), of_lengths(LENGTHS, COLUMNS, dtype, 2)
    lists = [
        np.sort(rng.choice(COLUMNS, n, replace=False)) for n in (9, 9, 0, 90, 900, *5 * [9000])
    ]
    mask = of_lists(lists, COLUMNS, INT8, 4)
    body = Statement(
        "mxm", 0, (Arg(1), Arg(2)), typed, mask=mask_of(flags, 3),
        hints=Hints(method="hash", mask_order=order),
    )  # fmt: skip
    nothing = MatrixArrays.empty(a.nrows, COLUMNS, typed.return_type)
    compare(slots_of(typed, dtype, dtype, INT8), (body,), [nothing, a, b, mask])


# full operands -----------------------------------------------------------------------------------
@every(("name", "dtype"), SEMIRINGS)
@every("columns", [1, 3, 70])
def test_a_full_operand_on_either_side(name, dtype, columns):
    typed = semiring[name].typed(dtype)
    full = of_lists([range(columns)] * 60, columns, dtype, 1)
    short, long = random_matrix(50, 60, dtype, 2, 0.04), random_matrix(50, 60, dtype, 3, 0.7)
    for sparse in (short, long):
        product(typed, sparse, full)
        product(typed, transposed(full), transposed(sparse))
        product(typed, sparse, full, left=True, right=True)
    product(typed, transposed(full), full)


def test_a_full_operand_and_one_without_entries():
    typed, full = semiring["plus_times"].typed(FP64), full_matrix(4, 4, FP64, 1)
    product(typed, MatrixArrays.empty(3, 4, FP64), full)
    product(typed, full, MatrixArrays.empty(4, 3, FP64))


def test_full_operands_of_one_value():
    typed = semiring["plus_times"].typed(FP64)
    full = MatrixArrays(
        30, 20, FP64, "csr", np.arange(0, 601, 20, np.int32), np.tile(np.arange(20), 30),
        np.ones(1), iso=True,
    )  # fmt: skip
    sparse = iso_matrix(25, 30, FP64, 5)
    product(typed, sparse, full)
    product(typed, transposed(full), transposed(sparse))


@pytest.mark.parametrize("out", [FP32, INT64])
def test_full_operands_written_into_another_dtype(out):
    """Whole rows have no list of their columns, and a cast asks for none."""
    typed, full = semiring["plus_times"].typed(FP64), full_matrix(30, 20, FP64, 1)
    sparse = random_matrix(25, 30, FP64, 2, 0.2)
    body = (Statement("mxm", 0, (Arg(1), Arg(2)), typed),)
    slots = (Slot("matrix", out, "inout"), Slot("matrix", FP64), Slot("matrix", FP64))
    compare(slots, body, [MatrixArrays.empty(25, 20, out), sparse, full])
    dense = full_matrix(25, 30, FP64, 3)
    compare(slots, body, [MatrixArrays.empty(25, 20, out), dense, full])


@pytest.mark.parametrize("mask", MASKS[1:])
def test_full_operands_under_a_mask(mask):
    typed = semiring["plus_times"].typed(INT64)
    full = of_lists([range(20)] * 30, 20, INT64, 1)
    given = [
        random_matrix(40, 20, INT64, 2), random_matrix(40, 30, INT64, 3), full,
        random_matrix(40, 20, INT8, 4, 0.4),
    ]  # fmt: skip
    body = Statement("mxm", 0, (Arg(1), Arg(2)), typed)
    check(body, slots_of(typed, INT64, INT64, INT8), given, mask, 3, INT64)


def full_matrix(nrows: int, ncols: int, dtype, seed: int) -> MatrixArrays:
    return of_lists([range(ncols)] * nrows, ncols, dtype, seed)


#: Lengths of rows: some end with a chunk, a warp or a share, some fill many shares.
SKEWED = [0, 1, 2, 31, 32, 33, 700, 0, 0, 5, 128, 129, 1, 1, 650, 3, 0, 64, 700, 700, 0]


@every("balance", ["thread", "rows", "edges", "pieces"])
@every(("name", "dtype"), SEMIRINGS)
def test_sparse_times_full_by_every_balance(name, dtype, balance):
    typed, hints = semiring[name].typed(dtype), Hints(balance=balance)
    sparse = of_lengths(SKEWED, 700, dtype, 1)
    for columns in (1, 3, 8, 33, 132):
        full = full_matrix(700, columns, dtype, 2)
        product(typed, sparse, full, hints=hints)
        product(typed, sparse, full, right=True, hints=hints)
    product(typed, transposed(sparse), full_matrix(21, 20, dtype, 3), hints=hints)
    product(typed, transposed(sparse), full_matrix(21, 20, dtype, 3), left=True, hints=hints)


@pytest.mark.parametrize("balance", ["thread", "rows", "edges", "pieces"])
def test_sparse_times_full_of_other_sizes(balance):
    """Values of 1, 2 and 16 bytes, one value for all, and operators on positions."""
    hints, lists = Hints(balance=balance), [range(40)] * 30
    for dtype in (INT8, UINT16, FC64):
        typed = semiring["plus_times"].typed(dtype)
        sparse = random_matrix(50, 30, dtype, 4, 0.3)
        product(typed, sparse, of_lists(lists, 40, dtype, 5), hints=hints)
    full = dataclasses.replace(full_matrix(30, 40, FP64, 1), values=np.full(1, 3.0), iso=True)
    product(semiring["plus_times"].typed(FP64), iso_matrix(50, 30, FP64, 5), full, hints=hints)
    for name in ("min_secondi", "max_firstj", "plus_secondj", "any_firsti"):
        typed = semiring[name].typed(INT64)
        product(typed, random_matrix(50, 30, INT64, 6), full_matrix(30, 40, INT64, 7), hints=hints)


@pytest.mark.parametrize(
    ("name", "dtype"), [*SEMIRINGS, ("plus_times", FC64), ("min_firsti", INT64)]
)
def test_long_rows_in_many_pieces(monkeypatch, name, dtype):
    """Rows of up to 175 pieces: a warp adds up few of them, a block many."""
    monkeypatch.setattr(full, "piece_of", lambda *_: 4)
    typed, hints = semiring[name].typed(dtype), Hints(balance="pieces")
    sparse = of_lengths(SKEWED, 700, dtype, 1)
    for columns in (1, 40):
        product(typed, sparse, full_matrix(700, columns, dtype, 2), hints=hints)


def test_pieces_grow_until_their_sums_have_room(monkeypatch):
    """And no further: a row that is not cut has no sums apart, however wide it is."""
    monkeypatch.setattr(full, "MOST_CARRIED", 1 << 10)
    sparse = of_lengths(SKEWED, 700, FP32, 1)
    for columns in (1, 150):
        product(semiring["plus_times"].typed(FP32), sparse, full_matrix(700, columns, FP32, 2))


@pytest.mark.parametrize("piece", [4, 1 << 20])
@pytest.mark.parametrize(
    ("name", "dtype"), [*SEMIRINGS, ("plus_times", FC64), ("min_firsti", INT64)]
)
def test_lanes_and_bands_share_out_rows_and_columns(monkeypatch, name, dtype, piece):
    """Groups of lanes at the end of the grid, bands that no number of columns fills."""
    monkeypatch.setattr(full, "piece_of", lambda *_: piece)
    typed = semiring[name].typed(dtype)
    sparse = of_lengths(SKEWED, 700, dtype, 1)
    for columns, lanes, band in ((1, 8, 1), (1, 32, 1), (6, 4, 6), (70, 1, 32), (130, 2, 24)):
        monkeypatch.setattr(full, "lanes_of", lambda *_, lanes=lanes: lanes)
        monkeypatch.setattr(full, "band_of", lambda *_, band=band: band)
        for flipped in (False, True):
            product(typed, sparse, full_matrix(700, columns, dtype, 2), right=flipped)


def test_few_long_rows_of_a_full_matrix():
    """Too few tiles for all multiprocessors: rows are cut instead."""
    for nrows, inner, ncols in ((1, 3000, 3), (2, 500, 70)):
        left, right = full_matrix(nrows, inner, INT64, 1), full_matrix(inner, ncols, INT64, 2)
        product(semiring["plus_times"].typed(INT64), left, right)


@pytest.mark.parametrize(
    ("name", "dtype"), [*SEMIRINGS, ("plus_times", FC64), ("any_firsti", INT64)]
)
def test_dense_products_in_tiles(name, dtype):
    """Both operands are full; sides end before, with and behind a tile."""
    typed = semiring[name].typed(dtype)
    for nrows, inner, ncols in ((1, 1, 1), (64, 16, 64), (65, 17, 3), (5, 40, 130)):
        left, right = full_matrix(nrows, inner, dtype, 1), full_matrix(inner, ncols, dtype, 2)
        for flags in ((False, False), (True, False), (False, True), (True, True)):
            product(typed, left, right, left=flags[0], right=flags[1])


@pytest.mark.parametrize(
    ("rows", "each", "balance"),
    [(3, 1025, "pieces"), (3, 33, "pieces"), (3, 32, "thread"), (20_000, 20, "thread")],
)
def test_long_rows_are_cut(monkeypatch, rows, each, balance):
    started: list[str] = []
    start = Stage.start

    def note(stage: Stage, one, *more) -> None:
        started.append(one.kernel)
        start(stage, one, *more)

    monkeypatch.setattr(Stage, "start", note)
    typed, columns = semiring["plus_times"].typed(INT64), 2 * each
    sparse = of_lists([range(k % 2, columns, 2) for k in range(rows)], columns, INT64, 1)
    with gb.device("cuda"):
        left = gb.Matrix.from_csr(
            sparse.indptr, sparse.indices, sparse.values, ncols=columns, dtype="INT64"
        )
        right = gb.Matrix.from_dense(np.arange(2 * columns).reshape(columns, 2) % 7)
    found = left.mxm(right, gb.semiring.plus_times).new()
    assert typed.return_type == found.dtype
    assert started[0] == f"t_spmm_{balance}"
    scipy_left = sp.csr_matrix((sparse.values, sparse.indices, sparse.indptr), (rows, columns))
    np.testing.assert_array_equal(found.to_dense(), scipy_left @ right.to_dense())


def test_only_a_full_operand_has_a_thread_a_row():
    typed, hints = semiring["plus_times"].typed(INT64), Hints(balance="thread")
    some = random_matrix(30, 30, INT64, 1)
    with pytest.raises(PlanError, match="every entry"):
        product(typed, some, some, hints=hints)


@every(("name", "dtype"), SEMIRINGS)
@every("right", [False, True])
def test_full_operands_on_both_sides_under_a_mask(name, dtype, right):
    """The dense product is sampled at the mask's entries."""
    typed = semiring[name].typed(dtype)
    left, other = full_matrix(40, 37, dtype, 1), full_matrix(37, 25, dtype, 2)
    mask = random_matrix(40, 25, INT8, 3, 0.2)
    given = [MatrixArrays.empty(40, 25, typed.return_type)]
    given += [left, transposed(other) if right else other, mask]
    for structural in (True, False):
        body = Statement(
            "mxm", 0, (Arg(1), Arg(2, right)), typed, mask=mask_of((structural, False), 3)
        )
        compare(slots_of(typed, dtype, dtype, INT8), (body,), given)


def test_whole_rows_are_like_any_other():
    """What a product with a full operand made is walked as a sparse one afterwards."""
    rng = np.random.default_rng(5)
    with gb.device("cuda"):
        some = np.where(rng.random((40, 30)) < 0.05, 2.0, 0)
        sparse = gb.Matrix.from_dense(some, missing_value=0)
        full = gb.Matrix.from_dense(rng.integers(1, 5, (30, 20)).astype(float))
    made = sparse.mxm(full).new()
    dense = np.zeros((40, 30))
    dense[sparse.to_coo()[0], sparse.to_coo()[1]] = 2
    wanted = dense @ full.to_dense()
    empty = ~(dense > 0).any(axis=1)
    assert empty.any()
    np.testing.assert_array_equal(made.to_dense(0), wanted)
    assert made.nvals == 20 * (~empty).sum()
    np.testing.assert_array_equal(made.T.new().to_dense(0), wanted.T)
    np.testing.assert_array_equal(made.reduce_rowwise().new().to_dense(0), wanted.sum(axis=1))
    np.testing.assert_array_equal(made.ewise_add(made).new().to_dense(0), 2 * wanted)
    np.testing.assert_array_equal(made.apply(gb.unary.ainv).new().to_dense(0), -wanted)
    np.testing.assert_array_equal(made[:, [3, 1]].new().to_dense(0), wanted[:, [3, 1]])
    twice = made.dup()
    twice(gb.binary.plus) << sparse.mxm(full)
    np.testing.assert_array_equal(twice.to_dense(0), 2 * wanted)
    np.testing.assert_array_equal(made.to_dense(0), wanted)
    square = full.T.mxm(full).new()
    np.testing.assert_array_equal(square.to_dense(), full.to_dense().T @ full.to_dense())
    assert square.mxm(full.T).new().nvals == 20 * 30


# edges -------------------------------------------------------------------------------------------
def test_without_entries_and_without_rows():
    typed = semiring["plus_times"].typed(FP64)
    some = random_matrix(30, 20, FP64, 1)
    product(typed, MatrixArrays.empty(40, 30, FP64), some)
    product(typed, some, MatrixArrays.empty(20, 10, FP64))
    product(typed, MatrixArrays.empty(0, 30, FP64), some)
    product(typed, some, MatrixArrays.empty(20, 0, FP64))
    product(typed, MatrixArrays.empty(5, 0, FP64), MatrixArrays.empty(0, 6, FP64))


def test_one_by_one():
    one = of_lists([[0]], 1, INT8, 1)
    for name in ("plus_times", "any_pair", "min_plus"):
        product(semiring[name].typed(INT8), one, one)
    slots = slots_of(semiring["plus_times"].typed(INT8), INT8)
    body = Statement(
        "mxm",
        0,
        (Arg(1), Arg(1)),
        semiring["plus_times"].typed(INT8),
        mask=mask_of((True, False), 1),
    )
    compare(slots, (body,), [MatrixArrays.empty(1, 1, INT8), one])


@pytest.mark.parametrize("name", ["plus_times", "plus_pair", "max_second", "any_pair"])
def test_operands_of_one_value(name):
    typed = semiring[name].typed(INT64)
    a, b = iso_matrix(60, 80, INT64, 1), iso_matrix(80, 300, INT64, 2)
    product(typed, a, b)


def test_wide_offsets():
    """64-bit offsets of one operand are those of all."""
    from semira.backends.registry import backend_for
    from semira.contract import Program
    from semira.plan import plan_program

    backend, typed = backend_for("cuda"), semiring["plus_times"].typed(INT64)
    a, b = of_lists(NAMED, len(LENGTHS), INT64, 1), of_lengths(LENGTHS, COLUMNS, INT64, 2)
    mask = random_matrix(10, COLUMNS, INT8, 3, 0.05)
    for wanted in (None, (True, False)):
        body = Statement("mxm", 0, (Arg(1), Arg(2)), typed, mask=mask_of(wanted, 3))
        program = Program(slots_of(typed, INT64, INT64, INT8), (body,))
        given = [MatrixArrays.empty(10, COLUMNS, INT64), a, b, mask]
        expected = run("cuda", program.slots, program.body, given)
        bound = [backend.put(arrays) for arrays in given]
        bound[1].widen()
        executable = backend.prepare(plan_program(program, backend.capabilities()))
        backend.execute(executable, bound)
        found = backend.get(bound[0])
        found.validate()
        rows, columns, values = found.to_coo()
        assert list(zip(rows.tolist(), columns.tolist(), strict=True)) == expected[0]
        np.testing.assert_array_equal(values, expected[1])
