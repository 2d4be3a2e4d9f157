"""Building on the GPU against the host's, and conversions that never pass through the host."""

from __future__ import annotations

import numpy as np
import pytest
from tests.helpers.every import every
from tests.helpers.on_device import forbid_downloads

import semira as gb
from semira.backends.cuda.runtime.free_memory import free_bytes
from semira.backends.registry import backend_for
from semira.exceptions import (
    DeviceMismatch,
    IndexOutOfBound,
    InvalidObject,
    InvalidValue,
    OutOfMemory,
)
from semira.frontend import raw

pytestmark = pytest.mark.gpu


@pytest.fixture(autouse=True)
def _build_everything_there(monkeypatch):
    monkeypatch.setattr(raw, "BUILD_FROM", 0)


def entries(count: int, nrows: int, ncols: int, dtype, seed: int = 3):
    rng = np.random.default_rng(seed)
    rows, cols = rng.integers(0, nrows, count), rng.integers(0, ncols, count)
    values = rng.integers(0, 9, count).astype(dtype)
    return rows, cols, values


def keep_larger(x, y):
    return max(y, x)


#: Keys of 32 and of 64 bits; many repeats, and hardly any.
SHAPES = [(1, 1, 3), (50, 40, 3_000), (3, 70_000, 5_000), (2**20, 2**20, 200_000)]
FOLDS = ["plus", "times", "min", "max", "any", "first", "second", "minus", "lor", "band", "lt"]


@every("shape", SHAPES)
@every("dup_op", FOLDS)
@every("dtype", ["INT8", "INT64"])
def test_entries_of_the_host_are_folded_as_there(shape, dup_op, dtype):
    nrows, ncols, count = shape
    given = entries(count, nrows, ncols, dtype.lower())
    how = {"nrows": nrows, "ncols": ncols, "dup_op": dup_op}
    found = gb.Matrix.from_coo(*given, **how, device="cuda")
    wanted = gb.Matrix.from_coo(*given, **how, device="cpu")
    assert (found.dtype, found.nvals) == (wanted.dtype, wanted.nvals)
    assert found.to("cpu").isequal(wanted)


@pytest.mark.parametrize("dtype", ["bool", "float32", "float64", "uint16"])
@pytest.mark.parametrize("given_dtype", ["int32", "float64"])
def test_values_are_cast_before_they_are_folded(dtype, given_dtype):
    rows, cols, values = entries(4_000, 30, 30, given_dtype)
    how = {"nrows": 30, "ncols": 30, "dup_op": "plus", "dtype": dtype}
    # Negative numbers do not fit into UINT16, and are refused.
    values = np.abs(values) if dtype == "uint16" else values - 3
    found = gb.Matrix.from_coo(rows, cols, values, **how, device="cuda")
    wanted = gb.Matrix.from_coo(rows, cols, values, **how, device="cpu")
    assert found.to("cpu").isclose(wanted)


@pytest.mark.parametrize("op", [lambda x, y: x - 2 * y, keep_larger])
def test_a_python_function_folds(op):
    pytest.importorskip("numba_cuda")
    operator = gb.binary.register_anonymous(op)
    rows, cols, values = entries(3_000, 20, 20, "int64")
    how = {"nrows": 20, "ncols": 20, "dup_op": operator}
    found = gb.Matrix.from_coo(rows, cols, values, **how, device="cuda")
    assert found.to("cpu").isequal(gb.Matrix.from_coo(rows, cols, values, **how, device="cpu"))


@pytest.mark.parametrize("count", [1, 2, 63, 64, 65, 66, 97, 2_000, 100_000])
def test_long_runs_are_shared_out_in_order(count):
    values = np.arange(1, count + 1)
    zeros = np.zeros(count, np.int64)
    for dup_op, wanted in (("plus", values.sum()), ("max", count), ("minus", 2 - values.sum())):
        found = gb.Vector.from_coo(zeros, values, size=2, dup_op=dup_op, device="cuda")
        assert found.to_dense(-1).tolist() == [wanted, -1]
    mixed = np.concatenate([zeros, [1, 1, 1]])
    sums = gb.Vector.from_coo(mixed, np.ones(count + 3), size=2, dup_op="plus", device="cuda")
    assert sums.to_dense().tolist() == [count, 3]


def test_patterns_are_stored_once():
    rows, cols, _ = entries(5_000, 60, 60, "int32")
    found = gb.Matrix.from_coo(rows, cols, True, nrows=60, ncols=60, device="cuda")
    assert found._value.handle_on("cuda").iso
    assert found.to("cpu").isequal(gb.Matrix.from_coo(rows, cols, True, nrows=60, ncols=60))
    vector = gb.Vector.from_coo(rows, 2.5, size=60, device="cuda")
    assert vector.to_dict() == dict.fromkeys(np.unique(rows).tolist(), 2.5)


@pytest.mark.hardware(reason="arrays are exchanged with a library of the GPU")
@pytest.mark.parametrize("index", ["int8", "uint8", "int32", "uint32", "int64", "uint64"])
def test_arrays_on_the_gpu(index):
    cp = pytest.importorskip("cupy")
    rows, cols, values = entries(2_000, 100, 90, "float64")
    rows, cols = rows.astype(index), cols.astype(index)
    how = {"nrows": 100, "ncols": 90, "dup_op": "max"}
    found = gb.Matrix.from_coo(cp.asarray(rows), cp.asarray(cols), cp.asarray(values), **how)
    assert found.device == "cuda"
    assert found.to("cpu").isequal(gb.Matrix.from_coo(rows, cols, values, **how, device="cpu"))
    inferred = gb.Matrix.from_coo(cp.asarray(rows), cp.asarray(cols), 1)
    assert inferred.shape == (int(rows.max()) + 1, int(cols.max()) + 1)


@pytest.mark.parametrize("orientation", ["csr", "csc"])
@pytest.mark.parametrize("is_ordered", [True, False])
def test_compressed_arrays_on_the_gpu(orientation, is_ordered):
    cp = pytest.importorskip("cupy")
    rng = np.random.default_rng(1)
    lengths = rng.integers(0, 40, 500)
    lines = [rng.permutation(64)[:length] for length in lengths]
    minor = np.concatenate([np.sort(line) if is_ordered else line for line in lines])
    indptr, values = np.concatenate(([0], np.cumsum(lengths))), rng.random(len(minor))
    make = getattr(gb.Matrix, f"from_{orientation}")
    for given in (values, 2.0):
        on_gpu = cp.asarray(given) if given is values else given
        found = make(cp.asarray(indptr), cp.asarray(minor.astype(np.int32)), on_gpu)
        assert found.to("cpu").isequal(make(indptr, minor, given, device="cpu"))


@pytest.mark.parametrize("missing", [None, 0, float("nan")])
def test_dense_arrays_on_the_gpu(missing):
    cp = pytest.importorskip("cupy")
    values = np.random.default_rng(1).integers(0, 3, (33, 65)).astype(np.float32)
    values[2, 3] = np.nan
    found = gb.Matrix.from_dense(cp.asarray(values), missing)
    wanted = gb.Matrix.from_dense(values, missing, device="cpu")
    for one, other in zip(found.to_coo(), wanted.to_coo(), strict=True):
        np.testing.assert_array_equal(one, other)
    row = gb.Vector.from_dense(cp.asarray(values[2]), missing)
    for one, other in zip(
        row.to_coo(), gb.Vector.from_dense(values[2], missing).to_coo(), strict=True
    ):
        np.testing.assert_array_equal(one, other)
    doubled = row.ewise_add(row, "plus").new()
    assert doubled.nvals == row.nvals


@pytest.mark.hardware(reason="arrays are exchanged with a library of the GPU")
def test_what_is_refused():
    cp = pytest.importorskip("cupy")
    rows, cols = cp.asarray([0, 1, 1]), cp.asarray([0, 2, 2])
    with pytest.raises(InvalidValue, match="1 of 3 entries repeat"):
        gb.Matrix.from_coo(rows, cols, cp.arange(3.0))
    with pytest.raises(IndexOutOfBound, match=r"columns holds 2, which is outside \[0, 2\)"):
        gb.Matrix.from_coo(rows, cols, 1, nrows=2, ncols=2)
    with pytest.raises(IndexOutOfBound, match="indices holds -1"):
        gb.Vector.from_coo(rows - 1, 1, size=2)
    with pytest.raises(InvalidObject, match="reaches 2, the size there is 2"):
        gb.Matrix.from_csr(cp.asarray([0, 1, 3]), cols, 1, ncols=2)
    with pytest.raises(InvalidValue, match="not decrease"):
        gb.Matrix.from_csr(cp.asarray([0, 3, 2, 3]), cp.asarray([0, 1, 2]), 1)
    with pytest.raises(DeviceMismatch):
        gb.Vector.from_coo(rows, 1, device="cpu")
    assert gb.Vector.from_coo(rows, 1, size=2).nvals == 2


def test_memory_is_refused_before_anything_is_allocated():
    cp = pytest.importorskip("cupy")
    backend = backend_for("cuda")
    free = free_bytes(backend.runtime)
    refused = r"needs \d+ bytes on the GPU and \d+ are free"
    with gb.device("cuda"), pytest.raises(OutOfMemory, match=refused):
        gb.Matrix.from_scalar(1.0, 2**20, 2**20)
    assert gb.Vector.from_coo(cp.asarray([1]), 1.0, size=5).nvals == 1
    assert free_bytes(backend.runtime) > free // 2


# conversions -------------------------------------------------------------------------------------
@pytest.fixture
def graph():
    rows, cols, values = entries(20_000, 700, 700, "float32")
    made = gb.Matrix.from_coo(rows, cols, values, nrows=700, ncols=700, dup_op="min", device="cuda")
    return made, made.to("cpu")


def permutation(size: int = 700) -> list[int]:
    return np.random.default_rng(9).permutation(size).tolist()


CONVERSIONS = {
    "transpose": lambda A: A.T.new(),
    "symmetrise": lambda A: A.ewise_add(A.T, "plus").new(),
    "permute": lambda A: A[permutation(), permutation()].new(),
    "rows out of order": lambda A: A[permutation()[:300], :].new(),
    "columns that repeat": lambda A: A[:, [5, 3, 3, 699, 5]].new(),
    "lower triangle": lambda A: A.select("tril", -1).new(),
    "upper triangle": lambda A: A.select("triu", 1).new(),
    "pattern": lambda A: A.apply("one").new(),
}


@pytest.mark.parametrize("name", CONVERSIONS)
def test_conversions_do_not_pass_through_the_host(graph, name, monkeypatch):
    on_gpu, on_cpu = graph
    with monkeypatch.context() as patch:
        forbid_downloads(patch)
        made = CONVERSIONS[name](on_gpu)
    assert made.device == "cuda"
    assert made.to("cpu").isequal(CONVERSIONS[name](on_cpu), check_dtype=True)


@pytest.mark.hardware(reason="arrays are exchanged with a library of the GPU")
@pytest.mark.parametrize("wide", [False, True])
def test_formats_become_one_another_on_the_device(graph, wide, monkeypatch):
    on_gpu, on_cpu = graph
    if wide:
        on_gpu._value.handle_on("cuda").widen()
    with monkeypatch.context() as patch:
        forbid_downloads(patch)
        by_columns = gb.Matrix.from_csc(*on_gpu.to_csc(device="cuda"), nrows=700, ncols=700)
        by_rows = gb.Matrix.from_csr(*by_columns.to_csr(device="cuda"), ncols=700)
        listed = gb.Matrix.from_coo(*by_columns.to_coo(device="cuda"), nrows=700, ncols=700)
    for made in (by_columns, by_rows, listed):
        assert made.to("cpu").isequal(on_cpu, check_dtype=True)
