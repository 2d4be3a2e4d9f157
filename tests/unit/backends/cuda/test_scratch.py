"""Memory that statements work in, and outputs that nobody has asked for yet."""

from __future__ import annotations

import numpy as np
from tests.helpers.fake_cuda import FakeCuda, fake_cuda

from semira.backends.cuda.runtime.objects import CudaMatrix
from semira.backends.cuda.runtime.parts import JOINED, upload_parts
from semira.backends.cuda.runtime.scratch import KEPT, Scratch
from semira.base.dtypes import FP64
from semira.formats import MatrixArrays

__all__ = ["fake_cuda"]


def requests(fake: FakeCuda) -> int:
    return fake.backend.runtime.statistics.allocations


def test_parts_lie_side_by_side_and_the_next_statement_gets_them_again(fake_cuda: FakeCuda) -> None:
    scratch, before = Scratch(fake_cuda.backend.runtime), requests(fake_cuda)
    first, second = scratch.take(100), scratch.take(0)
    third = scratch.take(7)
    assert second.handle >= first.handle + 100
    assert third.handle >= second.handle
    assert (first.size, second.size, third.size) == (100, 0, 7)
    scratch.begin()
    assert scratch.take(5000).handle == first.handle
    assert requests(fake_cuda) == before + 1


def test_what_does_not_fit_is_allocated(fake_cuda: FakeCuda) -> None:
    scratch = Scratch(fake_cuda.backend.runtime)
    whole, before = scratch.take(KEPT), requests(fake_cuda)
    more, larger = scratch.take(1), scratch.take(KEPT + 1)
    assert requests(fake_cuda) == before + 2
    assert not {more.handle, larger.handle} & {whole.handle}
    scratch.begin()
    fake_cuda.backend.runtime.keeps_apart = True
    assert scratch.take(1).handle != whole.handle


def test_zeros_are_zero_in_used_memory(fake_cuda: FakeCuda) -> None:
    runtime = fake_cuda.backend.runtime
    scratch = Scratch(runtime)
    runtime.upload(np.full(8, 7), scratch.take(64))
    scratch.begin()
    assert runtime.download(scratch.zeros(64), np.int64, 8).tolist() == [0] * 8


def empty(fake: FakeCuda) -> CudaMatrix:
    handle = fake.backend.put(MatrixArrays.empty(5, 3, FP64))
    assert isinstance(handle, CudaMatrix)
    return handle


def test_a_matrix_without_entries_has_no_arrays_until_somebody_asks(fake_cuda: FakeCuda) -> None:
    before, calls = requests(fake_cuda), len(fake_cuda.driver.calls)
    handle = empty(fake_cuda)
    assert handle.nvals == 0
    assert handle.memory_usage()["buffers"] == 0
    assert handle.duplicate().nvals == 0
    assert (requests(fake_cuda), len(fake_cuda.driver.calls)) == (before, calls)
    arrays = fake_cuda.backend.get(handle)
    arrays.validate()
    assert (arrays.nrows, arrays.ncols, arrays.nvals) == (5, 3, 0)
    assert requests(fake_cuda) == before + 1
    handle.need("csc")
    assert (
        fake_cuda.backend.runtime.download(handle.orientations["csc"][0], np.int32, 4).tolist()
        == [0] * 4
    )


def test_a_restored_matrix_is_empty_again(fake_cuda: FakeCuda) -> None:
    handle = empty(fake_cuda)
    before, stamp = handle.duplicate(), handle.stamp
    handle.become(fake_cuda.backend.put(one_entry()))
    assert handle.nvals == 1
    handle.become(before)
    assert handle.nvals == 0
    assert handle.held is None
    assert handle.stamp not in (stamp, before.stamp)


def one_entry(values: int = 1) -> MatrixArrays:
    indptr, indices = np.array([0, values], np.int32), np.arange(values, dtype=np.int32)
    return MatrixArrays(1, values, FP64, "csr", indptr, indices, np.arange(values) + 0.5)


def test_a_small_matrix_is_one_allocation_and_one_upload(fake_cuda: FakeCuda) -> None:
    start = len(fake_cuda.driver.calls)
    before = requests(fake_cuda)
    handle = fake_cuda.backend.put(one_entry(9))
    assert fake_cuda.driver.calls[start:] == ["upload"]
    assert requests(fake_cuda) == before + 1
    waits = fake_cuda.backend.statistics().synchronisations
    arrays = fake_cuda.backend.get(handle)
    assert fake_cuda.backend.statistics().synchronisations == waits + 1
    assert arrays.values.tolist() == one_entry(9).values.tolist()
    assert arrays.indices.tolist() == list(range(9))


def test_large_arrays_have_allocations_of_their_own(fake_cuda: FakeCuda) -> None:
    runtime, large = fake_cuda.backend.runtime, np.zeros(JOINED, np.uint8)
    before = requests(fake_cuda)
    upload_parts(runtime, large[:-1], large[:1])
    assert requests(fake_cuda) == before + 1
    upload_parts(runtime, large, large[:1])
    assert requests(fake_cuda) == before + 3
