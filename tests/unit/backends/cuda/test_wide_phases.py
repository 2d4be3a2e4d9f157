"""Phases of many vectors, and of large values: what a warp and shared memory have room for."""

from __future__ import annotations

import numpy as np
import pytest
from tests.helpers.compiling import FULL, compile_apart, compile_only
from tests.unit.backends.cuda.test_compile import needs_nvrtc

from semira.backends.cuda.backend import CAPABILITIES
from semira.backends.cuda.lower import lower_program
from semira.base.dtypes import INT64, register_anonymous
from semira.contract import Arg, Program, Slot, Statement
from semira.ops.registry import binary, monoid
from semira.plan import plan_program


@needs_nvrtc
@pytest.mark.parametrize("outputs", [16, 17, 40])
def test_any_number_of_vectors_is_stored_in_one_phase(outputs):
    vectors = tuple(Slot("vector", INT64, "inout") for _ in range(outputs))
    slots = (*vectors, Slot("vector", INT64), Slot("scalar", INT64))
    given = Arg(outputs), Arg(outputs + 1)
    body = tuple(Statement("apply", k, given, binary["plus"].typed(INT64)) for k in range(outputs))
    program = plan_program(Program(slots, body), CAPABILITIES)
    source = lower_program(program).source
    assert source.count("auto at = ") == 1
    assert source.count("add_over_block(values, sums)") == -(-2 * outputs // 32)
    assert compile_only(program, "sm_90").code


@needs_nvrtc
@pytest.mark.parametrize(
    ("size", "count"),
    [
        (8, 3),
        pytest.param(
            *(1000, 2),
            marks=pytest.mark.skipif(not FULL, reason="24 s; runs with SEMIRA_CONFORMANCE=full"),
        ),
    ],
)
def test_sums_of_large_values_fit_into_shared_memory(size, count):
    dtype = register_anonymous(np.dtype((np.uint8, size)))
    vectors = tuple(Slot("vector", dtype) for _ in range(count))
    slots = (*vectors, *(Slot("scalar", dtype, "output") for _ in range(count)))
    body = tuple(
        Statement("reduce", count + k, (Arg(k),), monoid["any"].typed(dtype)) for k in range(count)
    )
    program = plan_program(Program(slots, body), CAPABILITIES)
    assert compile_apart(program, "sm_90", kind="cubin").code
