"""What does not fit is refused before any of it is allocated; a stand-in for the driver."""

from __future__ import annotations

import sys
from enum import IntEnum
from types import SimpleNamespace

import numpy as np
import pytest
from tests.helpers.gpu_memory import Limited

from semira.backends.cuda.runtime.free_memory import free_bytes
from semira.backends.cuda.runtime.primitives import transpose_bytes
from semira.backends.cuda.runtime.room import UNCHECKED, require
from semira.backends.cuda.runtime.spare import Spares
from semira.backends.cuda.runtime.transfer import put_matrix, put_vector
from semira.backends.cuda.runtime.vector_memory import vector_bytes
from semira.base.dtypes import FP64, INT8
from semira.base.errors import OutOfMemory
from semira.formats import MatrixArrays, VectorArrays

_OK = IntEnum("Status", {"CUDA_SUCCESS": 0}).CUDA_SUCCESS


class Driver:
    """Memory of a GPU: so much is free, so much is the pool's, of which so much is in use."""

    CUmemPool_attribute = SimpleNamespace(
        CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT="reserved", CU_MEMPOOL_ATTR_USED_MEM_CURRENT="used"
    )

    def __init__(self, free: int, reserved: int = 0, used: int = 0) -> None:
        self.sizes = {"free": free, "reserved": reserved, "used": used}

    def cuMemGetInfo(self):
        return _OK, self.sizes["free"], 2**40

    def cuDeviceGetMemPool(self, device):
        assert device == 0
        return _OK, "pool"

    def cuMemPoolGetAttribute(self, pool, attribute):
        assert pool == "pool"
        return _OK, self.sizes[attribute]


class Gpu:
    """A runtime that can do nothing but wait."""

    def __init__(self, driver: Driver, released: int = 0) -> None:
        self._driver, self._released = driver, released
        self.device = SimpleNamespace(device_id=0)
        self.spares, self.stream, self.paired_bytes = Spares(), None, 2**20
        self.memory = None
        self.waits = 0

    def synchronise(self) -> None:
        self.waits += 1
        self._driver.sizes["used"] -= self._released


GIB = 2**30


@pytest.fixture(autouse=True)
def _without_cupy(monkeypatch):
    """CuPy gives memory back as well, and needs a GPU for it; a test may have loaded it."""
    monkeypatch.delitem(sys.modules, "cupy", raising=False)


def test_free_memory_includes_what_the_pool_has_in_reserve():
    assert free_bytes(Gpu(Driver(5 * GIB, 3 * GIB, GIB))) == 7 * GIB


def test_a_memory_resource_may_have_less_than_the_gpu():
    gpu = Gpu(Driver(5 * GIB))
    gpu.memory = SimpleNamespace(free_bytes=lambda: GIB)
    assert free_bytes(gpu) == GIB
    gpu.memory = Limited(None, 2 * GIB)
    assert free_bytes(gpu) == 2 * GIB
    with pytest.raises(OutOfMemory, match=f"{2 * GIB} are free"):
        require(gpu, 3 * GIB, "a matrix")


def test_what_fits_is_not_waited_for():
    gpu = Gpu(Driver(GIB))
    require(gpu, GIB, "a matrix")
    assert gpu.waits == 0
    require(Gpu(Driver(0)), UNCHECKED, "little")


def test_what_was_released_but_is_still_queued_counts():
    gpu = Gpu(Driver(GIB, 2 * GIB, 2 * GIB), released=GIB)
    require(gpu, 2 * GIB, "a matrix")
    assert gpu.waits == 1


def test_the_message_names_bytes_needed_and_free():
    with pytest.raises(OutOfMemory, match=f"a matrix needs {3 * GIB} bytes .* and {GIB} are free"):
        require(Gpu(Driver(GIB)), 3 * GIB, "a matrix")


def test_large_objects_are_refused_before_the_first_allocation():
    gpu = Gpu(Driver(GIB // 2))  # it has no `allocate`
    with pytest.raises(OutOfMemory, match="a vector of size 2147483647 needs"):
        put_vector(gpu, VectorArrays.empty(2**31 - 1, INT8))
    count = 2**26
    wide = MatrixArrays(
        1, count, FP64, "csr", np.array([0, count]), np.zeros(count, np.int32),
        np.broadcast_to(1.0, count),
    )  # fmt: skip
    with pytest.raises(OutOfMemory, match="a matrix of 67108864 entries needs 805306"):
        put_matrix(gpu, wide)


def test_formulas():
    assert vector_bytes(64, FP64) == 64 * 12 + 8
    assert transpose_bytes(10, 0) < transpose_bytes(10, 4) < transpose_bytes(10, 8)
