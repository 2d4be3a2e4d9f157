"""Pulls in equal shares: what is generated, and that it compiles without a warning."""

from __future__ import annotations

import re

import numpy as np
import pytest
from tests.unit.backends.cuda.test_compile import ARCHITECTURES, needs_nvrtc

from semira.backends.cuda.backend import CAPABILITIES
from semira.backends.cuda.jit.compile import compile_only
from semira.backends.cuda.lower import lower_program
from semira.base.dtypes import BOOL, FC32, FC64, FP32, FP64, INT8, INT32, INT64
from semira.base.record_dtypes import register_anonymous
from semira.contract import Arg, Hints, Mask, Program, Slot, Statement
from semira.ops.registry import monoid, semiring
from semira.plan import plan_program

PULL = Hints(direction="pull", balance="edges")
MASK = Mask(3, structural=True, complement=False)

RINGS = [
    ("plus_second", FP32), ("plus_times", FP64), ("min_plus", FP32), ("min_plus", INT32),
    ("lor_land", BOOL), ("plus_times", INT8), ("plus_pair", INT64), ("min_firsti", INT32),
    ("max_secondi", INT64), ("plus_times", FC32), ("plus_times", FC64),
]  # fmt: skip


def product(name, dtype, mask=None) -> str:
    """Return the text of w<mask> = A u, pulled in equal shares."""
    typed = semiring[name].typed(dtype)
    slots = (
        Slot("vector", typed.return_type, "inout"), Slot("vector", dtype), Slot("matrix", dtype),
        Slot("vector", INT64),
    )  # fmt: skip
    statement = Statement("mxv", 0, (Arg(2), Arg(1)), typed, mask=mask, hints=PULL)
    return lower_program(plan_program(Program(slots, (statement,)), CAPABILITIES)).source


@needs_nvrtc
@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize("mask", [None, MASK], ids=["all", "masked"])
def test_pulls_compile_without_warning(arch, mask):
    for number, (name, dtype) in enumerate(RINGS if arch == "sm_90" else RINGS[::3]):
        offset = ("int", "long long")[number % 2]
        compiled = compile_only(product(name, dtype, mask), arch, offset)
        assert compiled.log.strip("\0 \n") == ""


def test_the_matrix_stays_in_shared_memory():
    source = product("plus_times", FP64)
    assert "const SharedGather<" in source
    assert "spmv_pull_merge<false>" in source


def test_only_positions_ask_for_the_row_of_an_entry():
    assert "spmv_pull_merge<true>" in product("max_secondi", INT64)
    assert "spmv_pull_merge<false>" in product("max_second", INT64, MASK)


def test_rows_of_large_values_go_to_a_warp_each():
    record = register_anonymous(np.dtype([("x", np.float64), ("y", np.float64, (2,))]))
    for dtype, shared in ((FC64, True), (record, False)):
        any_of = monoid["any"].typed(dtype)
        slots = (Slot("vector", dtype, "inout"), Slot("vector", dtype), Slot("matrix", dtype))
        ring = semiring["any_second"].typed(dtype)
        assert ring.monoid.type is any_of.type
        statement = Statement("mxv", 0, (Arg(2), Arg(1)), ring, hints=PULL)
        source = lower_program(plan_program(Program(slots, (statement,)), CAPABILITIES)).source
        assert bool(re.search("spmv_pull_merge", source)) == shared
