"""Allocators, and blocks in another order: what can be seen without a GPU."""

from __future__ import annotations

from math import gcd
from types import SimpleNamespace

import numpy as np
import pytest
from tests.unit.backends.cuda.test_compile import PRODUCTS, needs_nvrtc

from semira.backends.cuda.jit import render
from semira.backends.cuda.jit.compile import compile_only
from semira.backends.cuda.jit.render import BASE
from semira.backends.cuda.runtime import objects
from semira.backends.cuda.runtime.allocation import Failing, Pool
from semira.backends.cuda.runtime.device import Runtime, Statistics
from semira.base.dtypes import FP64, INT8
from semira.base.errors import OutOfMemory


class Sizes:
    """An allocator that only notes what it is asked for."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def allocate(self, nbytes, stream=None):
        assert stream is None
        self.asked.append(nbytes)
        return SimpleNamespace(handle=256 * len(self.asked), size=nbytes, fill=lambda *a, **k: None)


def a_runtime(allocator, free=1000):
    """A Runtime without a device: enough to allocate."""
    made = object.__new__(Runtime)
    made.statistics, made.allocator = Statistics(), allocator
    made.stream, made.primitives = None, None
    made.free_bytes = lambda: free
    return made


def test_the_pool_rounds_up_and_the_runtime_counts_what_was_asked():
    device = Sizes()
    runtime = a_runtime(Pool(device, None))
    for nbytes in (0, 1, 16, 17):
        runtime.allocate(nbytes)
    assert device.asked == [16, 16, 16, 32]
    assert (runtime.statistics.allocations, runtime.statistics.bytes_allocated) == (4, 34)


def test_a_refused_request_names_the_bytes_needed_and_free_and_the_next_one_succeeds():
    sizes = Sizes()
    runtime = a_runtime(Failing(sizes, 2), free=77)
    runtime.allocate(1)
    runtime.allocate(2)
    with pytest.raises(OutOfMemory, match=r"\b30 bytes are needed, 77 are free"):
        runtime.allocate(30)
    assert runtime.allocator.has_failed
    runtime.allocate(4)
    assert sizes.asked == [1, 2, 4]
    assert runtime.statistics.bytes_allocated == 7


def test_values_of_narrow_dtypes_fill_whole_words():
    for dtype, size, wanted in ((INT8, 5, 8), (INT8, 8, 8), (FP64, 3, 24), (INT8, 0, 0)):
        sizes = Sizes()
        objects.empty_plane(a_runtime(sizes), size, dtype)
        assert wanted in sizes.asked


def test_widening_is_all_or_nothing(monkeypatch):
    def refuse(indptr, count):
        if indptr == "second":
            raise OutOfMemory("refused by a test")
        return "wide"

    monkeypatch.setattr(objects, "primitives_of", lambda runtime: SimpleNamespace(widen=refuse))
    parts = {"csr": ("first", "i", "v"), "csc": ("second", "i", "v")}
    matrix = objects.CudaMatrix(
        None, 3, 3, 3, FP64, False, False, dict(parts), np.dtype(np.int32)
    )  # fmt: skip
    with pytest.raises(OutOfMemory):
        matrix.widen()
    assert matrix.orientations == parts
    assert not matrix.is_wide


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
    assert (permuted.log + compile_only("", "sm_90", "int", BASE).log).strip("\0 \n") == ""
