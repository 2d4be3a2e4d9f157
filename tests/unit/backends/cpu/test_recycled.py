"""Memory of large results that the next ones take."""

from __future__ import annotations

import gc
import threading

import numpy as np
import pytest

import semira as gb
from semira.backends.cpu import recycled

#: Positions of a vector of FP64 that is large.
SIZE = recycled.LARGE // 8


@pytest.fixture(autouse=True)
def nothing_kept():
    recycled.drop()
    yield
    recycled.drop()


def address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


@pytest.mark.parametrize("dtype", [np.float64, np.int8, np.complex128, [("a", "i4"), ("b", "f8")]])
def test_the_next_of_the_same_size_takes_it(dtype):
    first = recycled.empty(2 * recycled.LARGE, np.dtype(dtype))
    assert (first.dtype, first.shape) == (np.dtype(dtype), (2 * recycled.LARGE,))
    assert first.flags.c_contiguous
    assert first.flags.writeable
    assert first.flags.aligned
    place = address(first)
    del first
    gc.collect()
    again = recycled.empty(2 * recycled.LARGE, np.dtype(dtype))
    assert address(again) == place
    assert address(recycled.empty(2 * recycled.LARGE, np.dtype(dtype))) != place


@pytest.mark.parametrize("dtype", [np.float64, np.bool_, [("a", "i4"), ("b", "f8")]])
@pytest.mark.parametrize("length", [3, recycled.LARGE])
def test_zeros_are_zeros_in_memory_that_was_used(dtype, length):
    for _ in range(2):
        found = recycled.zeros(length, np.dtype(dtype))
        assert (found.dtype, found.shape) == (np.dtype(dtype), (length,))
        assert not found.view(np.uint8).any()
        found.view(np.uint8)[...] = 1
        del found
        gc.collect()


def test_not_while_somebody_looks_at_it():
    first = recycled.empty(SIZE, np.float64)
    first[...] = 7
    place, part = address(first), first[5:9][1:].reshape(3, 1).view(np.uint64).view(np.float64)
    held = memoryview(first)
    del first
    gc.collect()
    other = recycled.empty(SIZE, np.float64)
    other[...] = 1
    assert address(other) != place
    assert part.ravel().tolist() == [7, 7, 7]
    del part
    gc.collect()
    assert address(recycled.empty(SIZE, np.float64)) != place
    assert held[3] == 7
    del held
    gc.collect()
    assert address(recycled.empty(SIZE, np.float64)) == place


def test_small_ones_and_other_sizes_are_made_anew():
    small = recycled.empty(SIZE - 1, np.float64)
    assert small.base is None
    large = recycled.empty(SIZE, np.float64)
    place = address(large)
    del large
    assert address(recycled.empty(SIZE + 1, np.float64)) != place
    assert recycled.kept_bytes() == 8 * SIZE + 8 * (SIZE + 1)


def test_so_much_is_kept_and_no_more(monkeypatch):
    monkeypatch.setattr(recycled, "KEPT", 3 * 8 * SIZE)
    many = [recycled.empty(SIZE, np.float64) for _ in range(5)]
    del many
    gc.collect()
    # The fourth found no room: all went, and two came after that.
    assert recycled.kept_bytes() == 2 * 8 * SIZE
    huge = recycled.empty(4 * SIZE, np.float64)
    del huge
    assert recycled.kept_bytes() == 0


def test_memory_that_is_not_there_leaves_nothing_behind():
    kept = recycled.empty(SIZE, np.float64)
    del kept
    assert recycled.kept_bytes() == 8 * SIZE
    # What waits is given back before a result is refused.
    with pytest.raises(MemoryError):
        recycled.empty(1 << 60, np.int8)
    gc.collect()
    assert recycled.kept_bytes() == 0


def test_threads_never_share_one():
    failures = []

    def work(number: int) -> None:
        for turn in range(30):
            mine = recycled.empty(SIZE, np.float64)
            mine[:: SIZE // 64] = 100 * number + turn
            view = mine[:: SIZE // 64]
            del mine
            if not (view == 100 * number + turn).all():
                failures.append((number, turn))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_what_a_user_holds_keeps_its_values():
    n = SIZE + 3
    v = gb.Vector.from_dense(np.arange(n, dtype=float)).to("cpu")
    given, made = [], v
    for turn in range(4):
        made = made.apply(gb.binary.plus, right=1.0).new()
        given.append((turn, made.to_dense(), made.dup()))
        made = made.ewise_mult(v, gb.binary.first).new()
    for turn, array, vector in given:
        assert array[[0, n - 1]].tolist() == [turn + 1, n + turn]
        assert vector[n - 1].new().value == n + turn
        np.testing.assert_array_equal(array, np.arange(n) + turn + 1)
