"""Kernels of fixed points, compiled without a GPU."""

from __future__ import annotations

import pytest
from tests.helpers.compiling import assert_all_compile
from tests.unit.backends.cuda.test_compile import ARCHITECTURES, needs_nvrtc

from semira.backends.cuda.fixed_point import ROOT, fixed_point_source, has_kernel
from semira.base.dtypes import BOOL, FP32, FP64, INT8, INT32, INT64, UINT32, UINT64
from semira.ops.registry import semiring

RINGS = [
    ("min_plus", FP32, FP32), ("min_plus", FP64, INT8), ("min_plus", INT64, INT64),
    ("max_min", UINT32, UINT32), ("max_min", FP64, FP64), ("min_max", UINT64, BOOL),
    ("min_second", INT32, FP32),
]  # fmt: skip


@needs_nvrtc
@pytest.mark.parametrize("offset_type", ["int", "long long"])
@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_they_compile_without_warning(arch, offset_type):
    rings = {each: (semiring[each[0]].typed(each[1]), each[2]) for each in RINGS}
    assert all(has_kernel(*each) for each in rings.values())
    texts = {name: fixed_point_source(*each) for name, each in rings.items()}
    assert_all_compile(texts, arch, offset_type, ROOT)


def test_what_has_no_kernel():
    assert not has_kernel(semiring["min_plus"].typed(INT8), INT8)
    assert not has_kernel(semiring["plus_times"].typed(FP64), FP64)
