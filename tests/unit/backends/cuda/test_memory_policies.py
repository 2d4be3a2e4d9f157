"""Policies of memory, on a driver that only counts."""

from __future__ import annotations

from enum import IntEnum
from types import SimpleNamespace
from typing import Any

import pytest
from tests.helpers.every import every

pytest.importorskip("cuda.core")

from benchmarks.scripts import device_memory as memory
from benchmarks.scripts.device_memory import (
    DriverMemory,
    MemoryPolicy,
    ReusedMemory,
    open_memory,
    peak_bytes,
    step_of,
)

from semira.base.errors import OutOfMemory

_STATUS = IntEnum("Status", {"CUDA_SUCCESS": 0, "CUDA_ERROR_OUT_OF_MEMORY": 2})
OK, FULL = _STATUS.CUDA_SUCCESS, _STATUS.CUDA_ERROR_OUT_OF_MEMORY


class FakeDriver:
    """Hands out addresses up to a limit."""

    def __init__(self, limit: int = 1 << 40) -> None:
        self.limit, self.taken, self.freed = limit, [], []

    def cuMemAlloc(self, size: int) -> tuple[Any, int]:
        if sum(self.taken) + size > self.limit:
            return FULL, 0
        self.taken.append(size)
        return OK, 4096 * len(self.taken)

    def cuMemFree(self, place: int) -> tuple[Any]:
        self.freed.append(place)
        return (OK,)


@pytest.fixture
def runtime(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    class Handle:
        @staticmethod
        def from_handle(ptr: int, size: int, mr: Any) -> SimpleNamespace:
            return SimpleNamespace(handle=ptr, size=size, memory_resource=mr)

    monkeypatch.setattr(memory, "Buffer", Handle)
    device = SimpleNamespace(device_id=0, memory_resource=object())
    return SimpleNamespace(driver=FakeDriver(), device=device)


def test_every_buffer_is_a_call_of_the_driver(runtime: Any) -> None:
    resource = open_memory(runtime, MemoryPolicy.OPERATION)
    one, _two = resource.allocate(100), resource.allocate(50)
    resource.deallocate(one.handle, one.size)
    resource.allocate(20)
    assert runtime.driver.taken == [100, 50, 20]
    assert runtime.driver.freed == [one.handle]
    assert (resource.taken_bytes, peak_bytes(resource)) == (70, 150)


def test_free_buffers_are_reused_by_size(runtime: Any) -> None:
    resource = open_memory(runtime, MemoryPolicy.REUSE)
    one = resource.allocate(1000)
    resource.deallocate(one.handle, one.size)
    assert resource.allocate(1020).handle == one.handle
    assert resource.allocate(1020).handle != one.handle
    assert runtime.driver.taken == [1024, 1024]
    assert runtime.driver.freed == []
    assert peak_bytes(resource) == 2048


def test_a_full_device_is_said(runtime: Any) -> None:
    runtime.driver.limit = 99
    for kind in (DriverMemory, ReusedMemory):
        resource = kind(runtime)
        with pytest.raises(OutOfMemory, match="allocating"):
            resource.allocate(100)
        assert resource.taken_bytes == 0


def test_the_default_is_the_pool_of_the_driver(runtime: Any) -> None:
    assert open_memory(runtime, MemoryPolicy.KEPT) is runtime.device.memory_resource


@every("size", [1, 15, 16, 17, 1000, 2**20, 2**20 + 1, 2**33 + 5])
def test_a_step_is_enough_and_hardly_more(size: int) -> None:
    assert size <= step_of(size) <= max(16, 1.25 * size)
    assert step_of(step_of(size)) == step_of(size)
