"""Arrays in and out on the GPU: without the host, in the order of the caller's streams."""

from __future__ import annotations

import gc

import numpy as np
import pytest
from tests.helpers.on_device import forbid_downloads

import semira as gb
from semira.exceptions import DeviceMismatch, InvalidValue, RecordError

cp = pytest.importorskip("cupy")
pytestmark = [
    pytest.mark.gpu,
    pytest.mark.hardware(reason="arrays are handed to a library with streams of its own"),
]


@pytest.fixture
def matrix():
    rng = np.random.default_rng(2)
    rows, cols = rng.integers(0, 50, 400), rng.integers(0, 60, 400)
    return gb.Matrix.from_coo(
        rows, cols, rng.random(400), nrows=50, ncols=60, dup_op="min", device="cuda"
    )


def same(on_gpu, on_host) -> None:
    for one, other in zip(on_gpu, on_host, strict=True):
        assert isinstance(one, cp.ndarray)
        np.testing.assert_array_equal(one.get(), other)


@pytest.mark.parametrize("copy", [True, False])
@pytest.mark.parametrize("layout", ["coo", "csr", "csc"])
@pytest.mark.parametrize("transposed", [False, True])
def test_a_matrix_comes_out(matrix, layout, transposed, copy, monkeypatch):
    operand = matrix.T if transposed else matrix
    wanted = getattr(operand, f"to_{layout}")()
    with monkeypatch.context() as patch:
        forbid_downloads(patch)
        found = getattr(operand, f"to_{layout}")(device="cuda", copy=copy)
    same(found, wanted)


def test_dtypes_parts_and_shared_values(matrix):
    rows, cols, values = matrix.to_coo("FP32", columns=False, device="cuda")
    assert (rows.dtype, cols, values.dtype) == (np.int32, None, np.float32)
    pattern = gb.Matrix.from_coo([0, 2], [1, 0], 7, device="cuda")
    same(pattern.to_coo(device="cuda"), pattern.to_coo())
    same(pattern.to_csr(device="cuda", copy=False), pattern.to_csr())
    empty = gb.Matrix("INT8", 3, 4)
    same(empty.to("cuda").to_csc(device="cuda"), empty.to_csc())


@pytest.mark.parametrize("fill", [None, 0, 2.5])
def test_dense_arrays_come_out(matrix, fill):
    full = gb.Matrix.from_dense(np.arange(6.0).reshape(2, 3), device="cuda")
    vector = matrix.reduce_rowwise("plus").new()
    for operand in (full, full.T, gb.Vector.from_dense(np.arange(70), device="cuda")):
        same([operand.to_dense(fill, device="cuda")], [operand.to_dense(fill)])
    for operand in (matrix, matrix.T, vector):
        if fill is None and operand.nvals < np.prod(operand.shape):
            with pytest.raises(TypeError, match="fill_value"):
                operand.to_dense(device="cuda")
            continue
        found = operand.to_dense(fill, device="cuda")
        assert found.dtype == operand.to_dense(fill).dtype
        same([found], [operand.to_dense(fill)])


def test_vectors_come_out_whatever_wrote_them():
    vector = gb.Vector.from_coo([3, 1, 60], [1.0, 2.0, 3.0], size=70, device="cuda")
    same(vector.to_coo(device="cuda"), vector.to_coo())
    vector[5] << 4.0
    vector(vector.S, replace=True) << vector.apply("ainv")
    same(vector.to_coo(device="cuda"), vector.to_coo())
    same([vector.to_dense(0, device="cuda")], [vector.to_dense(0)])


def test_copies_are_the_callers_and_the_object_is_not_written(matrix):
    before = matrix.to_coo()
    indptr, indices, values = matrix.to_csr(device="cuda")
    for array in (indptr, indices, values):
        array[...] = 0
    same([*map(cp.asarray, matrix.to_coo())], before)
    given = cp.arange(5.0)
    vector = gb.Vector.from_dense(given)
    given[...] = 9
    assert vector.to_dense().tolist() == [0, 1, 2, 3, 4]
    indptr, indices, values = cp.asarray([0, 2]), cp.asarray([0, 1]), cp.asarray([1.0, 2.0])
    by_rows = gb.Matrix.from_csr(indptr, indices, values)
    values[...] = 7
    assert by_rows.to_coo()[2].tolist() == [1, 2]


def test_shared_arrays_outlive_the_object(matrix):
    wanted = matrix.to_csr()
    shared = matrix.to_csr(device="cuda", copy=False)
    again = matrix.to_csr(device="cuda", copy=False)
    assert all(one.data.ptr == two.data.ptr for one, two in zip(shared, again, strict=True))
    matrix.clear()
    del matrix, again
    gc.collect()
    _ = [gb.Vector.from_dense(np.full(400, 7.0), device="cuda") for _ in range(8)]
    same(shared, wanted)


def test_imports_keep_what_is_handed_over():
    indptr = cp.asarray([0, 2, 2, 3], dtype=cp.int32)
    indices, values = cp.asarray([0, 3, 1], dtype=cp.int32), cp.asarray([1.0, 2.0, 3.0])
    places = [part.data.ptr for part in (indptr, indices, values)]
    how = {"indptr": indptr, "col_indices": indices, "values": values, "nrows": 3, "ncols": 4}
    taken = gb.Matrix.ss.import_csr(**how, take_ownership=True)
    copied = gb.Matrix.ss.import_csr(**how)
    shared = taken.to_csr(device="cuda", copy=False)
    assert [part.data.ptr for part in shared] == places
    assert copied.to_csr(device="cuda", copy=False)[1].data.ptr != places[1]
    del indptr, indices, values, how, shared
    gc.collect()
    _ = [cp.full(3, 9.0) for _ in range(8)]
    assert taken.to_dicts() == copied.to_dicts() == {0: {0: 1, 3: 2}, 2: {1: 3}}
    assert taken.T.new().nvals == 3


def slow(array, rounds: int = 200):
    """Keep the current stream busy, then write ``arange`` into the array."""
    other = cp.ones(2**20)
    for _ in range(rounds):
        other = cp.sin(other)
    array[...] = cp.arange(array.size, dtype=array.dtype)
    return array


@pytest.mark.parametrize("blocking", [True, False])
def test_work_is_ordered_with_the_callers_stream(blocking):
    size = 2**20
    for _ in range(3):
        with cp.cuda.Stream(non_blocking=not blocking):
            given = slow(cp.zeros(size, cp.int64))
            vector = gb.Vector.from_dense(given)
            given[...] = -1  # must wait until the vector has read it
            del given
            overwritten = cp.full(size, -2, cp.int64)
            assert int(vector.reduce("plus").value) == size * (size - 1) // 2
            doubled = vector.apply("ainv").new().to_dense(device="cuda")
            total = int(doubled.sum())
            assert total == -size * (size - 1) // 2
            del overwritten


def test_entries_are_ordered_with_the_callers_stream():
    size = 2**18
    with cp.cuda.Stream(non_blocking=True):
        rows = slow(cp.zeros(size, cp.int32))
        made = gb.Matrix.from_coo(rows, rows, cp.ones(size), nrows=size, ncols=size)
        rows[...] = 0
        listed = made.to_coo(device="cuda", copy=False)[0]
        assert bool((listed == cp.arange(size)).all())
        del listed, made


class WithoutStream:
    """An array of a library that names no stream to wait for."""

    def __init__(self, array) -> None:
        self.__cuda_array_interface__ = {**array.__cuda_array_interface__, "stream": None}
        self._array = array


class ByDlpack:
    """An array of a library that speaks DLPack only."""

    def __init__(self, array) -> None:
        self.array, self.shape = array, array.shape

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)


def test_either_protocol_will_do():
    values = cp.arange(40.0)
    cp.cuda.get_current_stream().synchronize()
    for given in (ByDlpack(values), WithoutStream(values)):
        assert gb.Vector.from_dense(given).to_dense().tolist() == values.get().tolist()
    positions = ByDlpack(cp.asarray([4, 2]))
    assert gb.Vector.from_coo(positions, 1, size=5).to_dict() == {2: 1, 4: 1}


def test_views_with_strides_and_empty_arrays():
    grid = cp.arange(24).reshape(4, 6)
    vector = gb.Vector.from_dense(grid[:, 1])
    assert vector.to_dense().tolist() == [1, 7, 13, 19]
    assert gb.Vector.from_dense(grid[0, ::-2]).to_dense().tolist() == [5, 3, 1]
    assert gb.Matrix.from_dense(grid.T).to_dense().tolist() == grid.T.get().tolist()
    nothing = cp.empty(0, cp.int32)
    assert gb.Matrix.from_coo(nothing, nothing, cp.empty(0), nrows=3, ncols=3).nvals == 0


def test_dlpack_stays_on_the_device(monkeypatch):
    vector = gb.Vector.from_dense(np.arange(50.0), device="cuda")
    matrix = gb.Matrix.from_dense(np.arange(6).reshape(2, 3), device="cuda")
    with monkeypatch.context() as patch:
        forbid_downloads(patch)
        for thing in (vector, matrix):
            assert thing.__dlpack_device__() == (2, 0)
            assert isinstance(cp.from_dlpack(thing), cp.ndarray)
        back = gb.io.from_dlpack(cp.from_dlpack(vector))
    assert back.device == "cuda"
    assert back.isequal(vector)
    np.testing.assert_array_equal(np.from_dlpack(vector, device="cpu"), np.arange(50.0))
    with pytest.raises(BufferError, match="DLPack"):
        cp.from_dlpack(gb.Vector.from_coo([1], 1.0, size=3, device="cuda"))


def test_what_cannot_come_out_there(matrix):
    with pytest.raises(DeviceMismatch, match=r"\.to\('cuda'\)"):
        matrix.to("cpu").to_csr(device="cuda")
    with pytest.raises(InvalidValue, match="no memory of its own"):
        matrix.to_csr(device="cpu")
    unplaced = gb.Vector.from_dense([1.0, 2.0])
    assert unplaced.to_dense(device="cuda").tolist() == [1.0, 2.0]

    def step():
        matrix.to_csr(device="cuda")

    with pytest.raises(RecordError):
        gb.repeat(step, 1)


def test_torch_tensors_when_there_are_any():
    torch = pytest.importorskip("torch")
    given = torch.arange(12.0, device="cuda")
    vector = gb.Vector.from_dense(given)
    assert torch.equal(torch.from_dlpack(vector), given)
