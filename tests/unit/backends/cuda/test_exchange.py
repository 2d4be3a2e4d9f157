"""Arrays in and out of the device, with NumPy in place of CuPy and streams that only note waits."""

from __future__ import annotations

import contextlib
import ctypes
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.helpers.numpy_shop import HostGenerated, HostPrimitives, HostRuntime, data_of, items

from semira.backends.cuda.build import exchange, objects
from semira.backends.cuda.build.exchange import borrowed, joined, lent
from semira.backends.cuda.build.export import export as give_out
from semira.backends.cuda.runtime import primitives
from semira.base.dtypes import FP32, FP64
from semira.base.errors import InvalidValue
from semira.formats import RawArrays


class Stream:
    """Notes what waits for what."""

    def __init__(self, name: str, log: list[str]) -> None:
        self.name, self.log, self.ptr, self.handle = name, log, 7, 5

    def wait(self, other: Stream) -> None:
        self.log.append(f"{self.name} waits for {other.name}")


class Runtime(HostRuntime):
    """A runtime of the host with a stream and kernels."""

    def __init__(self) -> None:
        super().__init__()
        self.log: list[str] = []
        self.device = SimpleNamespace(device_id=0)
        self.stream: Any = Stream("ours", self.log)
        self.primitives = Primitives(self)

    @property
    def stream_handle(self) -> int:
        return int(self.stream.handle)

    def synchronise(self) -> None:
        self.log.append("host waits")

    def download(self, memory: Any, dtype: Any, count: int) -> np.ndarray:
        return items(memory, dtype, count).copy()

    def download_all(self, *wanted: tuple[Any, Any, int]) -> list[np.ndarray]:
        return [self.download(*one) for one in wanted]


class Primitives(HostPrimitives):
    """The host's kernels, and those that exports need."""

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self.generated = HostGenerated()

    def cupy_stream(self) -> Any:
        return contextlib.nullcontext()

    def positions(self, words: Any, size: int, nvals: int) -> tuple[Any, Any]:
        found = np.flatnonzero(np.unpackbits(data_of(words), bitorder="little")[:size])
        assert len(found) == nvals
        upload = self.runtime.upload
        return upload(found.astype(np.int32)), upload(found.astype(np.int64))

    def transpose(self, offset_type, shape, entries, itemsize):
        nvals, indices, values, rows = entries
        minor, major = (items(part, np.int32, nvals) for part in (rows, indices))
        order = np.lexsort((minor, major))
        upload = self.runtime.upload
        new_rows, new_indices = upload(major[order]), upload(minor[order])
        stored = self.reorder(values, order, nvals, itemsize) if itemsize else values
        indptr = self.row_offsets(offset_type, new_rows, nvals, shape[1])
        return indptr, new_indices, stored, new_rows

    def are_equal(self, first, second, nbytes):
        return bool((first.data[:nbytes] == second.data[:nbytes]).all())


class Array(np.ndarray):
    """CuPy's constructor over memory of the host."""

    def __new__(cls, shape, dtype, memory, strides=None):
        raw = (ctypes.c_uint8 * memory.size).from_address(memory.address)
        made = np.ndarray.__new__(cls, shape, dtype, raw, 0, strides)
        made.memory = memory  # which keeps its owner
        return made


def unowned(address: int, size: int, owner: Any, device: int | None = None) -> Any:
    assert address
    found = owner_gpu(owner) if device is None else device
    return SimpleNamespace(address=address, size=size, owner=owner, device_id=found)


def owner_gpu(owner: Any) -> int:
    return getattr(owner, "gpu", 0)


def place_of(memory: Any) -> int:
    return int(memory.handle) if hasattr(memory, "handle") else memory.ctypes.data


@pytest.fixture
def runtime(monkeypatch):
    made = Runtime()
    cupy = SimpleNamespace(
        ndarray=Array,
        ascontiguousarray=np.ascontiguousarray,
        empty=np.empty,
        from_dlpack=lambda given: np.from_dlpack(given.array),
        cuda=SimpleNamespace(
            UnownedMemory=unowned,
            MemoryPointer=lambda memory, offset: memory,
            get_current_stream=lambda: Stream("CuPy's", made.log),
        ),
    )
    monkeypatch.setattr(exchange, "array_library", lambda: cupy)
    monkeypatch.setattr(primitives, "array_library", lambda: cupy)
    monkeypatch.setattr(primitives, "address", place_of)
    monkeypatch.setattr(objects, "array_library", lambda: np)
    names = {1: "theirs", 2: "another", 7: "CuPy's"}
    monkeypatch.setattr(exchange, "_stream", lambda handle: Stream(names[handle], made.log))
    monkeypatch.setattr(objects, "require", lambda *given: None)
    monkeypatch.setattr("semira.backends.cuda.runtime.objects.require", lambda *given: None)
    return made


class OnGpu:
    """An array of another library."""

    def __init__(self, array: Any, stream: int | None = 1, gpu: int = 0, **extra: Any) -> None:
        self.array, self.gpu = array, gpu
        self.__cuda_array_interface__ = {**array.__array_interface__, "stream": stream, **extra}


def test_streams_wait_before_and_after(runtime):
    given = [OnGpu(np.arange(4)), OnGpu(np.arange(3.0), 2), np.ones(2), OnGpu(np.arange(2))]
    with borrowed(runtime, given) as arrays:
        before = list(runtime.log)
        assert [array.tolist() for array in arrays] == [[0, 1, 2, 3], [0, 1, 2], [1, 1], [0, 1]]
    assert sorted(before) == ["ours waits for another", "ours waits for theirs"]
    after = runtime.log[len(before) :]
    assert sorted(after) == ["another waits for ours", "theirs waits for ours"]


def test_without_a_stream_the_host_waits_even_after_an_error(runtime):
    def read() -> None:
        with borrowed(runtime, [OnGpu(np.arange(4), None)]):
            assert runtime.log == []
            raise KeyError

    with pytest.raises(KeyError):
        read()
    assert runtime.log == ["host waits"]


def test_views_are_read_as_they_lie(runtime):
    grid = np.arange(24.0).reshape(4, 6)
    views = [grid[:, 1], grid.T, grid[::2], grid[:0], np.asarray(5), grid[3:, 5]]
    with borrowed(runtime, [OnGpu(view) for view in views]) as arrays:
        for view, array in zip(views, arrays, strict=True):
            assert array.shape == view.shape
            assert array.flags.c_contiguous
            np.testing.assert_array_equal(array, view)


class ByDlpack:
    def __init__(self, array: Any, gpu: int = 0) -> None:
        self.array, self.shape, self._gpu = array, array.shape, gpu

    def __dlpack_device__(self) -> tuple[int, int]:
        return (2, self._gpu)

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)


def test_dlpack_alone_will_do(runtime):
    with borrowed(runtime, [ByDlpack(np.arange(3))]) as arrays:
        assert arrays[0].tolist() == [0, 1, 2]
    assert runtime.log == ["host waits"]


@pytest.mark.parametrize("given", [OnGpu(np.arange(3), gpu=1), ByDlpack(np.arange(3), gpu=1)])
def test_another_gpu_is_refused(runtime, given):
    with pytest.raises(InvalidValue, match="lies on GPU 1"), borrowed(runtime, [given]):
        pass


def test_masked_arrays_are_refused(runtime):
    given = OnGpu(np.arange(3), mask=np.ones(3))
    with pytest.raises(InvalidValue, match="mask"), borrowed(runtime, [given]):
        pass


def test_exports_run_on_the_callers_stream(runtime):
    with lent(runtime):
        assert runtime.log == ["CuPy's waits for ours"]
    assert runtime.log[1:] == ["ours waits for CuPy's"]


def test_blocks_on_our_stream_come_between_what_the_caller_does(runtime):
    def fail() -> None:
        with joined(runtime) as library:
            assert library is exchange.array_library()
            assert runtime.log == ["ours waits for CuPy's"]
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert runtime.log[1:] == ["CuPy's waits for ours"]


def test_a_stream_does_not_wait_for_itself(runtime):
    runtime.stream.handle = 7
    with joined(runtime), lent(runtime) as stream:
        assert stream is runtime.stream
        del exchange.Lease(runtime, None, stream)._buffer
    assert runtime.log == []


# exports -----------------------------------------------------------------------------------------
ROWS, COLS, VALUES = np.array([0, 0, 2, 2]), np.array([1, 3, 0, 3]), np.array([1.5, 2.0, -3.0, 4.0])


def matrix(runtime: Runtime, values: Any = VALUES) -> Any:
    raw = RawArrays("cuda", "coo", (3, 4), (OnGpu(ROWS), OnGpu(COLS)), np.asarray(values))
    return plain_build(runtime, raw)


def plain_build(runtime: Runtime, raw: RawArrays) -> Any:
    with borrowed(runtime, [*raw.indices, raw.values]) as arrays:
        return objects.build_with(objects.shop_of(runtime), raw, arrays[:-1], arrays[-1])


@pytest.mark.parametrize("copy", [True, False])
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("values", [VALUES, 2.5])
def test_layouts_of_a_matrix(runtime, copy, transposed, values):
    made = matrix(runtime, values)
    stored = np.broadcast_to(values, 4)
    how = {"copy": copy, "transposed": transposed}
    entries = give_out(runtime, made, "coo", **how)
    assert entries.shape == ((4, 3) if transposed else (3, 4))
    wanted = (COLS, ROWS) if transposed else (ROWS, COLS)
    for found, expected in zip((*entries.indices, entries.values), (*wanted, stored), strict=True):
        np.testing.assert_array_equal(found, expected)
    for layout in ("csr", "csc"):
        lines = give_out(runtime, made, layout, dtype=FP32, **how)
        by_rows = (layout == "csr") != transposed
        major, minor = (ROWS, COLS) if by_rows else (COLS, ROWS)
        order = np.lexsort((minor, major))
        indptr, indices = lines.indices
        lengths = np.bincount(major, minlength=3 if by_rows else 4)
        assert np.diff(indptr).tolist() == lengths.tolist()
        assert indices.tolist() == minor[order].tolist()
        assert lines.values.dtype == np.float32
        assert lines.values.tolist() == stored[order].tolist()


@pytest.mark.parametrize("transposed", [False, True])
def test_dense_matrices(runtime, transposed):
    made = matrix(runtime)
    wanted = np.full((3, 4), 9.0)
    wanted[ROWS, COLS] = VALUES
    found = give_out(runtime, made, "dense", fill=9.0, transposed=transposed).values
    np.testing.assert_array_equal(found, wanted.T if transposed else wanted)
    with pytest.raises(InvalidValue, match="entries are missing"):
        give_out(runtime, made, "dense")


def test_vectors(runtime):
    raw = RawArrays("cuda", "coo", (40,), (OnGpu(np.array([33, 2])),), np.array([1.0, 2.0]))
    some = plain_build(runtime, raw)
    entries = give_out(runtime, some, "coo")
    assert (entries.indices[0].tolist(), entries.values.tolist()) == ([2, 33], [2.0, 1.0])
    dense = give_out(runtime, some, "dense", fill=0.0).values
    assert np.flatnonzero(dense).tolist() == [2, 33]
    raw = RawArrays("cuda", "dense", (5,), (), OnGpu(np.arange(5)))
    full = give_out(runtime, plain_build(runtime, raw), "dense", dtype=FP64)
    assert full.values.tolist() == [0, 1, 2, 3, 4]
    with pytest.raises(InvalidValue, match="no layout 'csr'"):
        give_out(runtime, some, "csr")


def test_copies_are_apart_and_shares_are_not(runtime):
    made = matrix(runtime)
    stored = items(made.orientations["csr"][2], np.float64, 4)
    copied = give_out(runtime, made, "csr").values
    shared = give_out(runtime, made, "csr", copy=False).values
    assert not np.shares_memory(copied, stored)
    assert np.shares_memory(shared, stored)
    runtime.log.clear()
    lease = exchange.Lease(runtime, stored, Stream("theirs", runtime.log))
    del lease
    assert runtime.log == ["ours waits for theirs"]
