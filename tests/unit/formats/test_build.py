"""Building matrices and vectors: against the obvious dictionary, for every shape of input."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st
from tests.helpers.every import every

from semira.base import settings
from semira.base.dtypes import ALL_DTYPES, BOOL, FP32, FP64, INT8, INT64
from semira.base.errors import InvalidValue, OutOfMemory
from semira.formats import build, coo_to_matrix, coo_to_vector


def first_of_run(values, starts):
    return values[starts]


def last_of_run(values, starts):
    return values[np.append(starts[1:], len(values)) - 1]


def sum_of_run(values, starts):
    return np.add.reduceat(values, starts)


MERGES = {
    first_of_run: lambda old, _new: old,
    last_of_run: lambda _old, new: new,
    sum_of_run: lambda old, new: old + new,
}


@st.composite
def entry_lists(draw):
    nrows = draw(st.sampled_from([0, 1, 2, 7, 40, 5000]))
    ncols = draw(st.sampled_from([0, 1, 3, 9, 64, 5000]))
    most = 0 if 0 in {nrows, ncols} else 60
    places = st.tuples(st.integers(0, max(nrows - 1, 0)), st.integers(0, max(ncols - 1, 0)))
    return nrows, ncols, draw(st.lists(places, max_size=most))


def as_arrays(places, dtype=np.int32):
    table = np.array(places, dtype=dtype).reshape(-1, 2)
    return np.ascontiguousarray(table[:, 0]), np.ascontiguousarray(table[:, 1])


def entries_of(matrix):
    rows, cols, values = matrix.to_coo()
    places = zip(rows.tolist(), cols.tolist(), strict=True)
    return dict(zip(places, values.tolist(), strict=True))


@examples(deadline=None)
@given(entry_lists(), st.sampled_from(list(MERGES)), st.sampled_from([1, 4, 2**19]), st.booleans())
def test_matrix_equals_dictionary_in_any_blocking(entries, merge, block_entries, wide):
    nrows, ncols, places = entries
    rows, cols = as_arrays(places, np.int64 if wide else np.int32)
    values = np.arange(1, len(places) + 1)
    expected: dict[tuple[int, int], int] = {}
    for place, value in zip(places, values.tolist(), strict=True):
        expected[place] = MERGES[merge](expected[place], value) if place in expected else value
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build, "BLOCK_ENTRIES", block_entries)
        matrix = coo_to_matrix(nrows, ncols, rows, cols, values, merge=merge)
        pattern = coo_to_matrix(nrows, ncols, rows, cols, None)
    matrix.validate()
    pattern.validate()
    assert entries_of(matrix) == expected
    assert entries_of(pattern) == dict.fromkeys(expected, 1)
    assert matrix.dtype is INT64
    assert matrix.indices.dtype == matrix.indptr.dtype == np.int32
    assert not matrix.iso
    assert pattern.iso
    np.testing.assert_array_equal(rows, as_arrays(places)[0])


@given(st.sampled_from([1, 5, 300, 100_000]), st.lists(st.integers(0, 2**60), max_size=50))
def test_vector_equals_dictionary(size, numbers):
    indices = np.array([number % size for number in numbers], np.int64)
    values = np.arange(1, len(indices) + 1)
    expected: dict[int, int] = {}
    for index, value in zip(indices.tolist(), values.tolist(), strict=True):
        expected[index] = expected.get(index, 0) + value
    vector = coo_to_vector(size, indices, values, merge=sum_of_run)
    pattern = coo_to_vector(size, indices, None)
    vector.validate()
    pattern.validate()
    stored = zip(vector.indices.tolist(), vector.entry_values().tolist(), strict=True)
    assert dict(stored) == expected
    assert pattern.indices.tolist() == sorted(expected)
    assert pattern.iso


@pytest.mark.parametrize("with_values", [True, False])
def test_matrix_of_millions_of_entries_equals_scipy_for_any_threads(with_values):
    from scipy.sparse import coo_array

    rng = np.random.default_rng(3)
    count, nrows, ncols = 1_300_000, 30_000, 20_000
    rows = (nrows * rng.random(count) ** 3).astype(np.int32)
    cols = rng.integers(0, ncols, count, dtype=np.int32)
    values = rng.integers(1, 100, count) if with_values else None
    ones = np.ones(count, np.int64) if values is None else values
    expected = coo_array((ones, (rows, cols)), shape=(nrows, ncols)).tocsr()
    for threads in (1, 3):
        before = settings.override(threads=threads)
        try:
            matrix = coo_to_matrix(nrows, ncols, rows, cols, values, merge=sum_of_run)
        finally:
            settings.restore(before)
        matrix.validate()
        np.testing.assert_array_equal(matrix.indptr, expected.indptr)
        np.testing.assert_array_equal(matrix.indices, expected.indices)
        if with_values:
            np.testing.assert_array_equal(matrix.values, expected.data)


@every("dtype", ALL_DTYPES, ids=lambda dtype: dtype.name)
@every("block_entries", [1, 2**19])
def test_matrix_keeps_every_dtype(dtype, block_entries, monkeypatch):
    monkeypatch.setattr(build, "BLOCK_ENTRIES", block_entries)
    rows, cols = np.array([3, 0, 3, 1]), np.array([1, 2, 0, 0])
    values = np.array([dtype.largest, 0, dtype.smallest, 1], dtype.np_type)
    matrix = coo_to_matrix(4, 3, rows, cols, values)
    assert matrix.dtype is dtype
    assert matrix.values.dtype == dtype.np_type
    np.testing.assert_array_equal(matrix.values, values[[1, 3, 2, 0]])
    vector = coo_to_vector(9, np.array([8, 2, 5, 0]), values)
    np.testing.assert_array_equal(vector.values, values[[3, 1, 2, 0]])
    assert vector.dtype is dtype


def test_matrix_keeps_nan_and_explicit_zeros():
    matrix = coo_to_matrix(
        2, 2, np.array([1, 0]), np.array([0, 1]), np.array([np.nan, 0.0]), merge=sum_of_run
    )
    assert matrix.nvals == 2
    np.testing.assert_array_equal(matrix.values, [0.0, np.nan])


def test_matrix_casts_values_and_iso_value():
    place = np.array([0])
    assert coo_to_matrix(1, 1, place, place, np.array([2.5]), dtype=INT8).values.tolist() == [2]
    iso = coo_to_matrix(1, 1, place, place, None, dtype=FP32, iso_value=3)
    assert iso.dtype is FP32
    assert iso.values.tolist() == [3.0]
    assert coo_to_matrix(1, 1, place, place, None, iso_value=True).dtype is BOOL
    assert coo_to_vector(1, place, None, iso_value=0.5).dtype is FP64


@pytest.mark.parametrize("shape", [(4, 4), (10**6, 4), (4, 10**6)])
def test_matrix_repeats_without_merge_are_refused_with_their_number(shape):
    rows, cols = np.array([1, 1, 1, 0]), np.array([2, 2, 2, 0])
    with pytest.raises(InvalidValue, match=r"dup_op.*2 of 4 entries repeat"):
        coo_to_matrix(*shape, rows, cols, np.arange(4))
    with pytest.raises(InvalidValue, match=r"dup_op.*1 of 2 entries repeat"):
        coo_to_vector(3, np.array([1, 1]), np.arange(2))


def test_matrix_merge_is_called_once_with_all_runs_in_given_order():
    calls = []

    def record(values, starts):
        calls.append((values.tolist(), starts.tolist()))
        return values[starts]

    rows, cols = np.array([1, 0, 1, 0, 1]), np.array([0, 1, 0, 1, 1])
    coo_to_matrix(2, 2, rows, cols, np.array([10, 20, 30, 40, 50]), merge=record)
    assert calls == [([20, 40, 10, 30, 50], [0, 2, 4])]


@pytest.mark.parametrize("values", [None, np.array([7, 8, 9])])
def test_matrix_of_huge_width_needs_no_memory_for_it(values):
    rows, cols = np.array([2, 0, 2]), np.array([2**40, 5, 1])
    matrix = coo_to_matrix(3, 2**50, rows, cols, values)
    matrix.validate()
    assert matrix.indices.dtype == np.int64
    assert matrix.indices.tolist() == [5, 1, 2**40]
    assert matrix.indptr.tolist() == [0, 1, 1, 3]


def test_vector_of_huge_size():
    vector = coo_to_vector(2**60, np.array([2**59, 3]), np.array([1, 2]))
    vector.validate()
    assert vector.indices.tolist() == [3, 2**59]


@pytest.mark.parametrize("nrows", [2**56, 2**60])
def test_matrix_of_too_many_rows_is_hypersparse(nrows):
    matrix = coo_to_matrix(nrows, 2, np.array([nrows - 1, 1]), np.array([1, 1]), None)
    matrix.validate()
    assert matrix.majors.tolist() == [1, nrows - 1]
    assert matrix.indptr.tolist() == [0, 1, 2]
    with pytest.raises(OutOfMemory, match=f"{nrows} rows"):
        matrix.ordinary()


def test_matrix_does_not_alias_its_input():
    rows, cols, values = np.array([0, 1]), np.array([0, 1]), np.array([4, 5])
    matrix = coo_to_matrix(2, 2, rows, cols, values)
    vector = coo_to_vector(2, rows, values)
    values[:] = cols[:] = rows[:] = 0
    assert matrix.values.tolist() == vector.values.tolist() == [4, 5]
    assert matrix.indices.tolist() == vector.indices.tolist() == [0, 1]


def traced_peak(call):
    tracemalloc.start()
    try:
        made = call()
        return made, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("dtype", [np.int32, np.uint64], ids=str)
@pytest.mark.parametrize("repeats", [1, 2])
@pytest.mark.parametrize("with_values", [True, False])
def test_matrix_takes_little_memory_beside_its_arrays(dtype, repeats, with_values):
    rng = np.random.default_rng(5)
    size, count = 2**15, 2**20 // repeats
    rows, cols = (np.tile(rng.integers(0, size, count, dtype), repeats) for _ in range(2))
    values = rng.random(len(rows)) if with_values else None
    before = settings.override(threads=2)
    try:
        matrix, peak = traced_peak(
            lambda: coo_to_matrix(size, size, rows, cols, values, merge=first_of_run)
        )
    finally:
        settings.restore(before)
    # Repeats are stored before they fold: the bound is on the entries given.
    listed = matrix.nbytes * len(rows) / matrix.nvals
    assert peak < 1.6 * 2 * listed, peak / (2 * listed)
    if with_values:
        assert peak < 1.0 * 2 * listed, peak / (2 * listed)


@pytest.mark.parametrize("count", [1000, 200_000])
@pytest.mark.parametrize("with_values", [True, False])
def test_matrix_of_entries_in_order_equals_that_of_shuffled_ones(count, with_values):
    rng = np.random.default_rng(7)
    keys = np.sort(rng.choice(400_000, count, replace=False))
    rows, cols, values = keys // 400, keys % 400, rng.random(count)
    order = rng.permutation(count)
    given = (rows, cols, values if with_values else None)
    shuffled = tuple(None if part is None else part[order] for part in given)
    ordered, other = (coo_to_matrix(1000, 400, *parts) for parts in (given, shuffled))
    ordered.validate()
    for name in ("indptr", "indices", "values"):
        np.testing.assert_array_equal(getattr(ordered, name), getattr(other, name))
    assert not any(np.shares_memory(ordered.values, part) for part in given if part is not None)


@pytest.mark.parametrize("place", ["first", "last", "alone"])
def test_matrix_with_one_row_of_most_entries(place):
    rng = np.random.default_rng(9)
    nrows, ncols, count = 5000, 300_000, 150_000
    hub = {"first": 0, "last": nrows - 1, "alone": 7}[place]
    rows = np.full(count, hub)
    if place != "alone":
        rows[::50] = rng.integers(0, nrows, len(rows[::50]))
    cols, values = rng.permutation(ncols)[:count], rng.random(count)
    matrix = coo_to_matrix(nrows, ncols, rows, cols, values)
    matrix.validate()
    order = np.lexsort((cols, rows))
    np.testing.assert_array_equal(matrix.entry_major(), rows[order])
    np.testing.assert_array_equal(matrix.indices, cols[order])
    np.testing.assert_array_equal(matrix.values, values[order])


@pytest.mark.parametrize("bits", [(40, 20), (60, 60), (20, 60)])
def test_many_entries_of_a_huge_shape(bits):
    rng = np.random.default_rng(11)
    rows, cols = (rng.integers(0, 2**width, 100_000) for width in bits)
    matrix = coo_to_matrix(2 ** bits[0], 2 ** bits[1], rows, cols, None)
    matrix.validate()
    order = np.lexsort((cols, rows))
    np.testing.assert_array_equal(matrix.entry_major(), rows[order])
    np.testing.assert_array_equal(matrix.indices, cols[order])


def test_matrix_repeats_of_many_entries_are_counted_over_all_blocks():
    rng = np.random.default_rng(13)
    keys = rng.choice(10**6, 120_000, replace=False)
    keys = np.append(keys, keys[:321])
    with pytest.raises(InvalidValue, match="321 of 120321 entries repeat"):
        coo_to_matrix(1000, 1000, keys // 1000, keys % 1000, keys)


def test_matrix_folds_in_the_dtype_given_before_it_casts():
    rng = np.random.default_rng(15)
    rows, cols = np.tile(rng.integers(0, 500, (2, 100_000)), 2)
    values = np.full(len(rows), 0.5)
    made = coo_to_matrix(500, 500, rows, cols, values, dtype=INT64, merge=sum_of_run)
    counts = np.zeros((500, 500))
    np.add.at(counts, (rows, cols), 0.5)
    np.testing.assert_array_equal(made.values, counts[counts > 0].astype(np.int64))
