"""Kernels over records, which our own compiler copies as they are."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import semira as gb
from semira.backends.cpu import cache
from semira.backends.cpu.codegen import Header
from semira.base.settings import override, restore

PACKED = [("a", np.int8), ("b", np.float32), ("c", np.complex128), ("d", np.uint16, (3,))]


@pytest.fixture(autouse=True)
def folder(tmp_path):
    """An empty cache, and a process that has loaded nothing."""
    before = override(cache_dir=tmp_path / "cache")
    cache._modules.clear()
    yield
    restore(before)


def compilers(since: int) -> list[str]:
    """Return the compiler of each kernel after the first `since`."""
    return ["numba" if "-numba:" in name else "own" for name in cache.compiled[since:]]


def values(dtype: np.dtype[Any], number: int = 6) -> np.ndarray:
    """Return records of random bytes, at an address that suits no number."""
    room = np.empty(number * dtype.itemsize + 1, np.uint8)
    room[:] = np.random.default_rng(3).integers(0, 256, room.size)
    return room[1:].view(dtype)


def shift() -> Any:
    return cache.load("move", Header(), "entries").shift


@pytest.mark.parametrize(
    "dtype",
    [
        np.dtype(PACKED),
        np.dtype([("x", np.int8)]),
        np.dtype([("x", np.int8), ("y", [("z", np.float64), ("w", np.bool_)])]),
        np.dtype({"names": ["x"], "formats": ["S255"], "offsets": [1], "itemsize": 256}),
    ],
    ids=["packed", "one byte", "nested", "long"],
)
def test_every_byte_is_copied_from_any_address(dtype):
    before = len(cache.compiled)
    records = values(dtype)
    wanted = [records[at].tobytes() for at in (2, 3, 4, 3, 4, 5)]
    shift()(records, 2, 0, 3)
    assert [record.tobytes() for record in records] == wanted
    assert compilers(before) == ["own"]


def test_equal_dtypes_share_code_whatever_object_they_are():
    before, kernel = len(cache.compiled), shift()
    first = np.dtype(PACKED)
    for dtype in (first, pickle.loads(pickle.dumps(first)), np.dtype(list(PACKED))):
        records = values(dtype)
        last = records[5].tobytes()
        kernel(records, 3, 0, 3)
        assert records[2].tobytes() == last
        kernel.bound(records, 2, 0, 1)()
        assert records[0].tobytes() == last
    assert compilers(before) == ["own"]


def test_other_dtypes_of_the_same_size_have_their_own_code():
    before, kernel = len(cache.compiled), shift()
    for name in ("a", "b", "a"):
        records = values(np.dtype([(name, np.int64)]))
        kernel(records, 3, 0, 3)
    assert compilers(before) == ["own", "own"]


def test_records_that_are_no_values_for_llvm_are_moved_by_numba():
    before = len(cache.compiled)
    records = values(np.dtype([("x", np.int64, (40,))]))
    last = records[5].tobytes()
    shift()(records, 3, 0, 3)
    assert records[2].tobytes() == last
    assert compilers(before) == ["numba"]


def _nearer(left, right):
    return left if left["far"] <= right["far"] else right


def test_python_functions_see_copies_and_return_records():
    dtype = gb.dtypes.register_anonymous(np.dtype([("id", np.int8), ("far", np.float64)]))
    nearer = gb.binary.register_anonymous(_nearer, is_udt=True)
    rng = np.random.default_rng(5)
    held = [np.zeros(40, dtype.np_type) for _ in range(2)]
    for records in held:
        records["far"], records["id"] = rng.integers(0, 9, 40), rng.integers(-9, 9, 40)
    before = len(cache.compiled)
    found = []
    for device in ("cpu", "reference"):
        with gb.device(device):
            one, other = (gb.Vector.from_dense(records) for records in held)
            found.append(one.ewise_mult(other, nearer).new().to_coo()[1])
            # One record is an argument, too.
            found.append(one.apply(nearer, right=held[1][7]).new().to_coo()[1])
    assert [each.tobytes() for each in found[:2]] == [each.tobytes() for each in found[2:]]
    assert set(compilers(before)) == {"own"}
