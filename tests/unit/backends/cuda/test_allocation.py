"""Allocators, and blocks in another order: what can be seen without a GPU."""

from __future__ import annotations

from math import gcd
from types import SimpleNamespace

import pytest
from tests.helpers.compiling import compile_only
from tests.helpers.gpu_memory import Failing
from tests.unit.backends.cuda.test_compile import PRODUCTS, needs_nvrtc

from semira.backends.cuda.jit import render
from semira.backends.cuda.jit.render import BASE
from semira.backends.cuda.runtime import free_memory, vector_memory
from semira.backends.cuda.runtime.device import Runtime, Statistics
from semira.base.dtypes import FP64, INT8
from semira.base.errors import OutOfMemory, Panic


class Sizes:
    """A memory resource that only notes what it is asked for."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def allocate(self, size, *, stream):
        assert stream is None
        self.asked.append(size)
        return SimpleNamespace(handle=256 * len(self.asked), size=size)


@pytest.fixture
def runtime(monkeypatch):
    """A Runtime without a device: enough to allocate."""
    made = object.__new__(Runtime)
    made.statistics, made.memory, made.stream, made.unit = Statistics(), Sizes(), None, 16
    monkeypatch.setattr(free_memory, "free_bytes", lambda runtime: 77)
    return made


def test_sizes_are_rounded_up_and_what_was_asked_is_counted(runtime):
    for nbytes in (0, 1, 16, 17):
        runtime.allocate(nbytes)
    assert runtime.memory.asked == [16, 16, 16, 32]
    assert (runtime.statistics.allocations, runtime.statistics.bytes_allocated) == (4, 34)


def test_a_refused_request_names_the_bytes_needed_and_free_and_the_next_one_succeeds(runtime):
    sizes, runtime.unit = runtime.memory, 1
    runtime.memory = Failing(sizes, 2)
    runtime.allocate(1)
    runtime.allocate(2)
    with pytest.raises(OutOfMemory, match=r"\b30 bytes are needed, 77 are free"):
        runtime.allocate(30)
    assert runtime.memory.has_failed
    runtime.allocate(4)
    assert sizes.asked == [1, 2, 4]
    assert runtime.statistics.bytes_allocated == 7


def test_another_failure_of_the_driver_is_not_out_of_memory(runtime):
    def refuse(size, *, stream):
        raise RuntimeError("CUDA_ERROR_ILLEGAL_ADDRESS")

    runtime.memory = SimpleNamespace(allocate=refuse)
    with pytest.raises(Panic, match="ILLEGAL_ADDRESS"):
        runtime.allocate(30)


def test_values_of_narrow_dtypes_fill_whole_words():
    for dtype, size, wanted in ((INT8, 5, 8), (INT8, 8, 8), (FP64, 3, 24), (INT8, 0, 4)):
        assert vector_memory.plane_sizes(size, dtype.itemsize)[0] == wanted


@pytest.mark.parametrize("itemsize", [1, 8, 16, 1024])
def test_a_vector_without_positions_has_room_for_a_value_that_lanes_may_look_at(itemsize):
    # Pulls of short rows read position 0 where they have no entry (kernels/vxm/short.cuh).
    assert vector_memory.plane_sizes(0, itemsize)[0] >= itemsize
    form = vector_memory.form_of(0, itemsize)
    assert form.values + itemsize <= form.end


@pytest.mark.parametrize("grid", [1, 7, 132, 1056, 4096, 999_983])
def test_permuted_numbers_come_once_each(grid):
    # As in kernels/common/types.cuh.
    assert gcd(1_000_003, grid) == 1
    if grid <= 4096:
        assert sorted((b * 1_000_003 + 1) % grid for b in range(grid)) == list(range(grid))


@needs_nvrtc
def test_permuted_blocks_compile(monkeypatch):
    plain = compile_only(PRODUCTS["min_plus-fp32"], "sm_90")
    monkeypatch.setattr(render, "defines", ["SEMIRA_PERMUTED"])
    permuted = compile_only(PRODUCTS["min_plus-fp32"], "sm_90")
    assert permuted.code != plain.code
    # Whether each says what it needs is a matter of its own test.
    first, *others = BASE
    base = compile_only("\n".join(f'#include "{each}"' for each in others), "sm_90", root=first)
    assert (permuted.log + base.log).strip("\0 \n") == ""
