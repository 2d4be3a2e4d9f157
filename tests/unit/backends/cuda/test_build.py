"""Building on the device, with NumPy in place of CuPy: objects and errors are the host's."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from tests.helpers.compiling import assert_all_compile
from tests.helpers.every import every
from tests.helpers.numpy_shop import host_shop, read_matrix, read_vector
from tests.unit.backends.cuda.test_compile import ARCHITECTURES, needs_nvrtc

from semira.backends.cuda.build import shop as shop_module
from semira.backends.cuda.build.entries import bits_of, needed_bytes
from semira.backends.cuda.build.generated import cast_source, fold_source
from semira.backends.cuda.build.objects import build_with, words_of
from semira.backends.cuda.jit.render import BUILD
from semira.base.dtypes import BOOL, FP32, FP64, INT8, INT32, INT64
from semira.base.errors import (
    GraphblasException,
    IndexOutOfBound,
    InvalidIndex,
    InvalidObject,
    InvalidValue,
    NotImplementedException,
    OutOfMemory,
)
from semira.formats import RawArrays
from semira.frontend import construct, raw
from semira.frontend.operators import as_accum
from semira.ops.registry import binary

RNG = np.random.default_rng(7)


def build(raw: RawArrays, **given):
    return build_with(host_shop(**given), raw, list(raw.indices), np.asarray(raw.values))


def folding(dup_op):
    return None if dup_op is None else partial(as_accum, dup_op)


def edges(nrows: int, ncols: int, count: int, dtype: np.dtype = np.int32):
    """Return entries of which many repeat."""
    return RNG.integers(0, nrows, count, dtype), RNG.integers(0, ncols, count, dtype)


def check_matrix(built, wanted) -> None:
    found = read_matrix(built)
    assert built.shape == (wanted.nrows, wanted.ncols)
    assert (built.nvals, built.iso, built.dtype) == (wanted.nvals, wanted.iso, wanted.dtype)
    assert found.orientation == wanted.orientation
    np.testing.assert_array_equal(found.indptr, wanted.indptr)
    np.testing.assert_array_equal(found.indices, wanted.indices)
    np.testing.assert_array_equal(found.values, wanted.values)


# the last one needs keys of 64 bits
SHAPES = [(1, 1, 5), (7, 1, 20), (1, 9, 20), (40, 30, 200), (70_000, 90_000, 3_000)]


@every(("nrows", "ncols", "count"), SHAPES)
@every("index", [np.int8, np.int32, np.uint64, np.int64])
@every("dup_op", ["plus", "first", "second", "any", "minus", "lor"])
def test_a_matrix_of_entries_is_that_of_the_host(nrows, ncols, count, index, dup_op):
    if nrows > 100 and index is np.int8:
        index = np.int16
        nrows = ncols = 30_000
    rows, cols = edges(nrows, ncols, count, index)
    values = RNG.integers(-9, 9, count).astype(np.float64)
    raw = RawArrays("cuda", "coo", (nrows, ncols), (rows, cols), values, FP64, folding(dup_op))
    wanted = construct.matrix_from_coo(rows, cols, values, None, nrows, ncols, dup_op)
    check_matrix(build(raw), replace(wanted, indptr=wanted.ordinary().indptr, majors=None))


def test_sizes_and_dtypes_are_inferred_and_values_cast():
    rows, cols = np.array([2, 0, 2]), np.array([1, 4, 1])
    raw = RawArrays("cuda", "coo", (None, None), (rows, cols), np.array([1.9, -2.5, 3.0]), INT8)
    raw = replace(raw, fold=folding("plus"))
    wanted = construct.matrix_from_coo(rows, cols, [1.9, -2.5, 3.0], "INT8", None, None, "plus")
    check_matrix(build(raw), wanted)
    made = build(replace(raw, dtype=None, values=np.array([1, 2, 3], np.float32)))
    assert made.dtype is FP32
    assert made.shape == (3, 5)


def test_one_value_for_all_is_stored_once_and_repeats_collapse():
    rows, cols = edges(20, 20, 300)
    raw = RawArrays("cuda", "coo", (20, 20), (rows, cols), np.asarray(3, np.int32))
    check_matrix(build(raw), construct.matrix_from_coo(rows, cols, np.int32(3), None, 20, 20, None))


@pytest.mark.parametrize("dup_op", [None, "plus", "second", "lor"])
def test_a_vector_of_entries(dup_op):
    indices = RNG.permutation(100)[:60] if dup_op is None else RNG.integers(0, 100, 300)
    values = RNG.integers(0, 2, len(indices)).astype(bool)
    raw = RawArrays("cuda", "coo", (100,), (indices,), values, BOOL, folding(dup_op))
    wanted = construct.vector_from_coo(indices, values, None, 100, dup_op)
    expected = wanted.indices.tolist(), wanted.values.tolist()
    assert read_vector(build(raw)) == expected
    shared = build(replace(raw, values=np.asarray(2, np.int64), dtype=INT64, fold=None))
    assert read_vector(shared) == (np.unique(indices).tolist(), [2] * len(np.unique(indices)))


def test_nothing_to_build():
    none = np.empty(0, np.int64)
    made = build(RawArrays("cuda", "coo", (3, 4), (none, none), np.empty(0), FP64))
    assert (made.nvals, read_matrix(made).indptr.tolist()) == (0, [0, 0, 0, 0])
    assert read_vector(build(RawArrays("cuda", "coo", (5,), (none,), np.empty(0), FP64))) == (
        [],
        [],
    )
    made = build(RawArrays("cuda", "csr", (None, 4), (np.zeros(1, np.int32), none), np.empty(0)))
    assert made.shape == (0, 4)


def test_what_is_refused():
    rows, cols, values = np.array([0, 1, 1]), np.array([0, 2, 2]), np.arange(3.0)
    raw = RawArrays("cuda", "coo", (2, 3), (rows, cols), values)
    with pytest.raises(InvalidValue, match=r"dup_op.*1 of 3 entries"):
        build(raw)
    with pytest.raises(IndexOutOfBound, match=r"columns holds 2, which is outside \[0, 2\)"):
        build(replace(raw, shape=(2, 2)))
    with pytest.raises(IndexOutOfBound, match="rows holds -1"):
        build(replace(raw, indices=(rows - 1, cols)))
    with pytest.raises(InvalidIndex, match="float64"):
        build(replace(raw, indices=(rows * 1.0, cols)))
    with pytest.raises(NotImplementedException, match="copy them to the host"):
        build(replace(raw, shape=(2, 2**31)))
    with pytest.raises(OutOfMemory, match=r"needs \d+ bytes on the GPU and 100 are free"):
        build(raw, free=100)


@every("orientation", ["csr", "csc"])
@every("is_ordered", [True, False])
@every("is_iso", [True, False])
def test_compressed_lines(orientation, is_ordered, is_iso):
    lengths = RNG.integers(0, 6, 50)
    minor = np.concatenate([RNG.permutation(33)[:length] for length in lengths])
    indptr = np.concatenate(([0], np.cumsum(lengths)))
    if is_ordered:
        minor = np.concatenate([np.sort(minor[a:b]) for a, b in pairwise(indptr)])
    values = np.asarray(2.5) if is_iso else RNG.random(len(minor))
    raw = RawArrays("cuda", orientation, (None, None), (indptr, minor), values)
    wanted = construct.matrix_from_compressed(orientation, indptr, minor, values, None, None, None)
    made = build(raw)
    assert made.shape == (wanted.nrows, wanted.ncols)
    rows, cols, stored = wanted.to_coo()
    if orientation == "csc":
        rows, cols = cols, rows
    order = np.lexsort((cols, rows))
    found = read_matrix(made)
    assert found.orientation == orientation
    np.testing.assert_array_equal(np.repeat(np.arange(50), np.diff(found.indptr)), rows[order])
    np.testing.assert_array_equal(found.indices, cols[order])
    np.testing.assert_array_equal(found.values, values[None] if is_iso else stored[order])


def test_compressed_lines_that_do_not_fit():
    raw = RawArrays("cuda", "csr", (3, 4), (np.array([0, 1, 1, 2]), np.array([3, 1])), np.ones(2))
    with pytest.raises(InvalidValue, match="end at 2"):
        build(replace(raw, indices=(np.array([0, 1, 1, 1]), np.array([3, 1]))))
    with pytest.raises(InvalidValue, match="not decrease"):
        build(replace(raw, indices=(np.array([0, 2, 1, 2]), np.array([3, 1]))))
    with pytest.raises(InvalidValue, match="nrows must be 3"):
        build(replace(raw, shape=(4, 4)))
    with pytest.raises(InvalidObject, match="reaches 3, the size there is 3"):
        build(replace(raw, shape=(3, 3)))
    with pytest.raises(IndexOutOfBound, match="-1"):
        build(replace(raw, indices=(np.array([0, 1, 1, 2]), np.array([3, -1]))))
    with pytest.raises(InvalidValue, match="1 of 2 entries repeat"):
        build(replace(raw, indices=(np.array([0, 2, 2, 2]), np.array([3, 3]))))
    with pytest.raises(OutOfMemory):
        build(raw, free=10)


@pytest.mark.parametrize("missing", [None, 0, float("nan")])
def test_dense_arrays(missing):
    values = RNG.integers(0, 3, (13, 7)).astype(np.float64)
    values[3, 4] = np.nan
    wanted = raw.matrix_from_dense(values, missing, None)
    check_matrix(build(RawArrays("cuda", "dense", (13, 7), (), values, missing=missing)), wanted)
    row = values[3].repeat(10)
    vector = raw.vector_from_dense(row, missing, None)
    found, stored = read_vector(build(RawArrays("cuda", "dense", (70,), (), row, missing=missing)))
    assert found == vector.entry_indices().tolist()
    np.testing.assert_array_equal(stored, vector.entry_values())


@pytest.mark.parametrize("size", [1, 31, 32, 33, 64])
def test_presence_of_a_full_vector_ends_with_it(size):
    made = build(RawArrays("cuda", "dense", (size,), (), np.arange(size)))
    assert read_vector(made) == (list(range(size)), list(range(size)))


def test_long_lists_are_walked_in_parts(monkeypatch):
    monkeypatch.setattr(shop_module, "PART", 16)
    test_compressed_lines()
    test_compressed_lines_that_do_not_fit()


def test_bits_bytes_and_words():
    assert [bits_of(size) for size in (0, 1, 2, 3, 2**24, 2**24 + 1)] == [0, 0, 1, 2, 24, 25]
    assert needed_bytes(2**28, 48, 0) / 2**28 == 36
    assert needed_bytes(2**20, 30, 8) > needed_bytes(2**20, 30, 0)
    assert words_of(12) == (np.dtype(np.uint32), 3)
    assert words_of(24) == (np.dtype(np.uint64), 3)


def test_the_host_and_the_device_refuse_alike():
    """Every refusal of the device is one that callers of the host know."""
    rows = np.array([0, 5])
    raw = RawArrays("cuda", "coo", (2, 2), (rows, rows), np.ones(2))
    with pytest.raises(GraphblasException) as on_device:
        build(raw)
    with pytest.raises(type(on_device.value)) as on_host:
        construct.matrix_from_coo(rows, rows, np.ones(2), None, 2, 2, None)
    assert str(on_device.value) == str(on_host.value)


SOURCES = {
    "cast": cast_source(FP64, INT8),
    "cast of truth values": cast_source(BOOL, FP32),
    "plus": fold_source(binary["plus"].typed(INT32), INT32),
    "min": fold_source(binary["min"].typed(FP32), FP32),
    "minus": fold_source(binary["minus"].typed(FP64), FP64),
    "lt": fold_source(binary["lt"].typed(INT64), INT64),
    "lor": fold_source(binary["lor"].typed(BOOL), BOOL),
}


@needs_nvrtc
@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_kernels_compile(arch):
    assert_all_compile(SOURCES, arch, root=BUILD)
