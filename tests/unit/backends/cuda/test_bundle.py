"""Small objects that go to the device together (`runtime.bundle`)."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest
from tests.helpers.every import every
from tests.helpers.fake_cuda import FakeCuda, fake_cuda

from semira.backends.cuda.runtime.bundle import MOST_BYTES, MOST_MEMBERS
from semira.backends.cuda.runtime.spare import Spares
from semira.base.dtypes import BOOL, FC64, FP64, INT32
from semira.formats import ScalarArrays, VectorArrays

__all__ = ["fake_cuda"]


def vector(at=(), size=40, dtype=FP64) -> VectorArrays:
    indices = np.array(at, np.int32)
    return VectorArrays.sparse(size, dtype, indices, (np.arange(len(at)) + 1).astype(dtype.np_type))


def start(source: int = 3) -> list[VectorArrays | ScalarArrays]:
    """Return what a search begins with."""
    return [vector(dtype=INT32), ScalarArrays(INT32, np.int32(7)), vector([source], dtype=BOOL)]


def release(fake: FakeCuda, handles: list) -> None:
    for handle in handles:
        fake.backend.release(handle)


def assert_holds(fake: FakeCuda, handle, given) -> None:
    back = fake.backend.get(handle)
    if isinstance(given, ScalarArrays):
        assert back == given
        return
    assert back.nvals == given.nvals
    assert np.array_equal(back.entry_indices(), given.entry_indices())
    assert np.array_equal(back.entry_values(), given.entry_values())
    handle.add_spare()
    runtime = fake.backend.runtime
    assert not runtime.download(handle.planes[1][1], np.uint32, handle.num_words).any()
    nvals, _, is_listed, *counts = runtime.download(handle.state, np.int64, 5).tolist()
    assert (nvals, counts) == (given.nvals, [-1, -1])
    if is_listed:
        listed = runtime.download(handle.planes[0][2], np.int32, nvals)
        assert np.array_equal(listed, given.entry_indices())


def many(size: int) -> VectorArrays:
    return vector(range(0, size, 2), size)


@every(
    "listed",
    [
        start(),
        [vector([0]), vector([39], dtype=BOOL)],
        [ScalarArrays(FP64, None), ScalarArrays(INT32, np.int32(1)), ScalarArrays(BOOL, np.True_)],
        [VectorArrays(40, FP64, "full", np.full(1, 2.5), nvals=40, iso=True), vector([1, 5])],
        [VectorArrays.sparse(40, FP64, np.array([5]), np.ones(1), iso=True), many(200)],
        [VectorArrays.full(INT32, np.arange(40, dtype=np.int32)), vector(size=1)],
        [vector(size=0), vector([0], size=1)],
    ],
)
def test_all_come_back_as_they_went(fake_cuda: FakeCuda, listed) -> None:
    # The second time, memory has what the first ones left.
    for given in (listed, listed[::-1], listed):
        calls = len(fake_cuda.driver.calls)
        handles = fake_cuda.backend.put_all(given)
        assert fake_cuda.driver.calls[calls:] == ["upload"]
        for handle, arrays in zip(handles, given, strict=True):
            assert_holds(fake_cuda, handle, arrays)
            assert getattr(handle, "is_new", False) == (
                isinstance(arrays, VectorArrays) and not arrays.nvals
            )
        release(fake_cuda, handles)


def test_the_next_ones_take_the_same_memory_and_handles(fake_cuda: FakeCuda) -> None:
    first = fake_cuda.backend.put_all(start())
    stamps = [handle.stamp for handle in first]
    release(fake_cuda, first)
    allocated = fake_cuda.backend.runtime.device.allocations
    second = fake_cuda.backend.put_all(start(39))
    assert all(mine is theirs for mine, theirs in zip(first, second, strict=True))
    assert [handle.stamp for handle in second] == stamps
    assert fake_cuda.backend.runtime.device.allocations == allocated
    assert fake_cuda.backend.get(second[2]).entry_indices().tolist() == [39]


def test_memory_is_taken_when_all_members_were_released(fake_cuda: FakeCuda) -> None:
    first = fake_cuda.backend.put_all(start())
    # Twice: a member is given back once.
    release(fake_cuda, [*first[1:], *first[1:]])
    second = fake_cuda.backend.put_all(start(5))
    assert not {id(handle) for handle in first} & {id(handle) for handle in second}
    assert fake_cuda.backend.get(first[0]).nvals == 0
    release(fake_cuda, first[:1])
    assert fake_cuda.backend.put_all(start())[0] is first[0]


def test_dtypes_and_sizes_have_memory_of_their_own(fake_cuda: FakeCuda) -> None:
    first = fake_cuda.backend.put_all([vector(), vector()])
    release(fake_cuda, first)
    for other in ([vector(dtype=INT32), vector()], [vector(size=41), vector()], [vector()] * 3):
        handles = fake_cuda.backend.put_all(other)
        assert not {id(handle) for handle in first} & {id(handle) for handle in handles}


def test_a_value_that_may_be_missing_is_known_again_with_the_next_one(fake_cuda: FakeCuda) -> None:
    first = fake_cuda.backend.put_all(start())
    stamp = first[1].stamp
    # A launch writes it, and nobody can tell whether it has a value.
    first[1].know(has_value=False)
    assert first[1].stamp != stamp
    release(fake_cuda, first)
    second = fake_cuda.backend.put_all(start())
    assert second[1] is first[1]
    assert second[1].has_value
    assert second[1].stamp == stamp


def test_a_copy_of_a_member_is_its_own(fake_cuda: FakeCuda) -> None:
    handles = fake_cuda.backend.put_all([vector([3, 9]), vector([4])])
    twin = fake_cuda.backend.convert(handles[0], "copy")
    release(fake_cuda, handles)
    assert_holds(fake_cuda, twin, vector([3, 9]))
    fake_cuda.backend.release(twin)
    assert not twin.state.whole.is_closed


def test_what_took_other_memory_does_not_come_back(fake_cuda: FakeCuda) -> None:
    handles = fake_cuda.backend.put_all(start())
    handles[0].become(handles[0].duplicate())
    handles[1].become(handles[1].duplicate())
    release(fake_cuda, handles)
    again = fake_cuda.backend.put_all(start())
    assert not {id(handle) for handle in handles} & {id(handle) for handle in again}
    # Nothing holds the memory of the first ones any more.
    whole = weakref.ref(handles[2].state.whole)
    del handles
    gc.collect()
    assert whole() is None


def test_what_is_kept_is_given_back(fake_cuda: FakeCuda) -> None:
    runtime = fake_cuda.backend.runtime
    handles = fake_cuda.backend.put_all(start())
    whole = handles[0].state.whole
    release(fake_cuda, handles)
    assert runtime.spares.give_back(runtime.stream) >= whole.size
    assert whole.is_closed
    runtime.spares = Spares(1)
    handles = fake_cuda.backend.put_all(start())
    release(fake_cuda, handles)
    assert handles[0].state.whole.is_closed


@pytest.mark.parametrize(
    "listed",
    [
        [vector([1])],
        [vector([1]), vector(size=MOST_BYTES)],
        [vector([1])] * (MOST_MEMBERS + 1),
        [vector([1]), ScalarArrays(FC64, np.complex128(1))],
    ],
)
def test_others_go_one_by_one(fake_cuda: FakeCuda, listed) -> None:
    allocated = fake_cuda.backend.runtime.device.allocations
    handles = fake_cuda.backend.put_all(listed)
    assert fake_cuda.backend.runtime.device.allocations == allocated + len(listed)
    for handle, arrays in zip(handles, listed, strict=True):
        assert_holds(fake_cuda, handle, arrays)


def test_members_are_apart_where_buffers_are(fake_cuda: FakeCuda) -> None:
    fake_cuda.backend.runtime.keeps_apart = True
    handles = fake_cuda.backend.put_all(start())
    release(fake_cuda, handles)
    assert all(buffer.is_closed for handle in handles for buffer in handle.buffers())
