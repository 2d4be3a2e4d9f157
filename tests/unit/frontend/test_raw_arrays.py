"""What the front end makes of arrays on a GPU, with a stand-in for the device."""

from __future__ import annotations

import gc
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.helpers.numpy_shop import host_shop, read_matrix, read_vector

import semira as gb
from semira.backends import registry
from semira.backends.cuda.build.objects import build_with
from semira.base.dtypes import BOOL, FP64, INT32, INT64
from semira.exceptions import (
    DeviceMismatch,
    DeviceUnavailable,
    DimensionMismatch,
    IndexOutOfBound,
    InvalidValue,
)
from semira.frontend import raw


class OnGpu:
    """An array that says it lies on a GPU."""

    def __init__(self, values: Any, dtype: Any = None) -> None:
        self.array = np.asarray(values, dtype)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        shape, typestr = self.array.shape, self.array.dtype.str
        return {"shape": shape, "typestr": typestr, "data": (1, False), "version": 3, "stream": 1}


class StandIn:
    """Builds with NumPy what the cuda backend builds with CuPy."""

    name = "cuda"

    def __init__(self) -> None:
        self.built: list[Any] = []
        self.given: list[Any] = []

    def capabilities(self) -> Any:
        return SimpleNamespace(own_memory=True)

    def put(self, given: Any) -> Any:
        self.built.append(given)
        arrays = [getattr(one, "array", one) for one in (*given.indices, given.values)]
        self.given += arrays
        return build_with(host_shop(), given, arrays[:-1], np.asarray(arrays[-1]))

    def release(self, handle: Any) -> None:
        pass


@pytest.fixture
def gpu(monkeypatch):
    stand_in = StandIn()
    monkeypatch.setitem(registry._open, "cuda", stand_in)
    yield stand_in
    gc.collect()  # objects give their memory back to it


def handle(thing: Any) -> Any:
    return thing._value._handle


def test_entries_on_the_gpu_are_built_there(gpu):
    rows, cols = OnGpu([1, 0, 1]), OnGpu([2, 0, 2], np.int32)
    made = gb.Matrix.from_coo(rows, cols, OnGpu([1.0, 2.0, 3.0]), dup_op="plus")
    assert (made.shape, made.dtype, made.device, made._value.device) == (
        (2, 3),
        FP64,
        "cuda",
        "cuda",
    )
    found = read_matrix(handle(made))
    assert (found.indices.tolist(), found.values.tolist()) == ([0, 2], [2.0, 4.0])


def test_values_may_be_a_number_or_on_the_host(gpu):
    indices = OnGpu([4, 1])
    shared = gb.Vector.from_coo(indices, True, size=6)
    assert (shared.dtype, read_vector(handle(shared))) == (BOOL, ([1, 4], [True, True]))
    listed = gb.Vector.from_coo(indices, [7, 8], "INT32", size=6)
    assert (listed.dtype, read_vector(handle(listed))) == (INT32, ([1, 4], [8, 7]))
    one = gb.Vector.from_coo(indices, OnGpu(5), size=6)
    assert (one.dtype, read_vector(handle(one))) == (INT64, ([1, 4], [5, 5]))


def test_compressed_and_dense_arrays(gpu):
    indptr, indices = OnGpu([0, 2, 2, 3]), OnGpu([0, 3, 1])
    by_rows = gb.Matrix.from_csr(indptr, indices, 2.0, ncols=5)
    assert (by_rows.shape, read_matrix(handle(by_rows)).orientation) == ((3, 5), "csr")
    by_columns = gb.Matrix.from_csc(indptr, indices, OnGpu([1, 2, 3]), nrows=5)
    assert (by_columns.shape, read_matrix(handle(by_columns)).orientation) == ((5, 3), "csc")
    full = gb.Vector.from_dense(OnGpu([1.5, 2.5]))
    assert read_vector(handle(full)) == ([0, 1], [1.5, 2.5])
    grid = gb.Matrix.from_dense(OnGpu([[1, 0], [0, 4]]), 0)
    assert read_matrix(handle(grid)).values.tolist() == [1, 4]


@pytest.mark.parametrize("take", [False, True])
def test_imports_take_compressed_arrays_on_the_gpu(gpu, take, monkeypatch):
    arrays = {"indptr": OnGpu([0, 1, 2], np.int32), "values": 3.0, "take_ownership": take}
    monkeypatch.setattr("semira.backends.cuda.build.objects.adopted", lambda runtime, array: array)
    by_rows = gb.Matrix.ss.import_csr(
        **arrays, col_indices=OnGpu([4, 0], np.int32), nrows=2, ncols=5
    )
    assert (by_rows.shape, gpu.built[-1].owned) == ((2, 5), take)
    by_columns = gb.Matrix.ss.import_csc(**arrays, row_indices=OnGpu([4, 0]), nrows=5, ncols=2)
    assert read_matrix(handle(by_columns)).orientation == "csc"
    stored = handle(by_rows).orientations["csr"][1]
    assert (stored is gpu.given[-5]) == take
    arrays["values"] = OnGpu([3.0])
    with pytest.raises(InvalidValue, match="no dimensions"):
        gb.Matrix.ss.import_csr(**arrays, col_indices=OnGpu([4, 0]), nrows=2, ncols=5, is_iso=True)


def test_what_is_wrong_with_arrays_on_the_gpu_is_said(gpu):
    two, three = OnGpu([0, 1]), OnGpu([0, 1, 2])
    with pytest.raises(DimensionMismatch, match="2, 3"):
        gb.Matrix.from_coo(two, three, 1.0)
    with pytest.raises(DimensionMismatch, match=r"\(3,\) values for 2 positions"):
        gb.Vector.from_coo(two, three)
    with pytest.raises(DimensionMismatch, match="one-dimensional"):
        gb.Vector.from_coo(OnGpu([[0]]), 1)
    with pytest.raises(IndexOutOfBound, match=r"holds 1, which is outside \[0, 1\)"):
        gb.Vector.from_coo(two, 1.0, size=1)
    with pytest.raises(InvalidValue, match="Unable to infer"):
        gb.Vector.from_coo(OnGpu([], np.int32), OnGpu([]))
    with pytest.raises(InvalidValue, match="single value"):
        gb.Vector.from_coo(two, OnGpu(1), dup_op="plus")
    with pytest.raises(TypeError, match="from_scalar"):
        gb.Vector.from_dense(OnGpu(1))


def test_arrays_on_the_gpu_do_not_make_objects_elsewhere(gpu):
    indices = OnGpu([0, 1])
    with pytest.raises(DeviceMismatch, match=r"copy them to the host"):
        gb.Vector.from_coo(indices, 1.0, device="cpu")
    with gb.device("reference"), pytest.raises(DeviceMismatch):
        gb.Vector.from_dense(indices)
    assert not gpu.built


def test_without_a_gpu_there_is_no_way_round(monkeypatch):
    def refuse(name: str) -> Any:
        raise DeviceUnavailable(name)

    monkeypatch.setattr("semira.engine.values.backend_for", refuse)
    with pytest.raises(DeviceUnavailable):
        gb.Vector.from_coo(OnGpu([0, 1]), 1.0)


def test_many_entries_of_the_host_are_sent_as_they_are(gpu, monkeypatch):
    monkeypatch.setattr(raw, "BUILD_FROM", 4)
    rows, cols = [1, 0, 1, 1], [2, 0, 2, 1]
    made = gb.Matrix.from_coo(rows, cols, [1, 2, 3, 4], dup_op="times", device="cuda")
    assert [given.layout for given in gpu.built] == ["coo"]
    assert read_matrix(handle(made)).values.tolist() == [2, 4, 3]
    with gb.device("cuda"):
        vector = gb.Vector.from_coo(rows, 1.5, size=3)
    assert vector._value.device == "cuda"
    assert read_vector(handle(vector)) == ([0, 1], [1.5, 1.5])
    with pytest.raises(InvalidValue, match="2 of 4 entries repeat"):
        gb.Vector.from_coo(rows, [1, 2, 3, 4], device="cuda")
    with gb.device("cpu"):
        assert gb.Vector.from_coo(rows, 1.5, size=3).nvals == 2
    assert len(gpu.built) == 3


def test_build_and_device_of_a_few_entries():
    made = gb.Matrix.from_coo([0], [1], [2.0], device="reference")
    assert made._value.device == "reference"
    made.build([0, 1], [0, 1], [1.0, 2.0], clear=True, nrows=2, ncols=2)
    assert (made.nvals, made._value.device) == (2, "reference")
    assert gb.Vector.from_dense([1, 2], device="cpu")._value.device == "cpu"
    assert gb.Matrix.from_csr([0, 1], [0], 1.0, device="cpu")._value.device == "cpu"


def test_build_takes_arrays_of_the_gpu(gpu):
    vector = gb.Vector("INT64", 4)
    vector.build(OnGpu([2, 0]), OnGpu([5, 6]), size=3)
    assert (vector.size, vector.device, read_vector(handle(vector))) == (
        3,
        "cuda",
        ([0, 2], [6, 5]),
    )


def test_the_hosts_memory_is_no_device_to_export_to():
    with pytest.raises(InvalidValue, match="no memory of its own"):
        gb.Vector.from_dense([1, 2]).to_dense(device="cpu")
    with pytest.raises(TypeError, match="fill_value"):
        gb.Vector.from_coo([1], 2, size=3).to_dense(device="cuda")
