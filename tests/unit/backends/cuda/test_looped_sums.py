"""Sums that are loops themselves: ptxas can run out of predicates within the loop over entries."""

import pytest
from tests.helpers.compiling import assert_all_compile, compile_only
from tests.unit.backends.cuda.test_compile import ARCHITECTURES, needs_nvrtc
from tests.unit.backends.cuda.test_staged import needs_numba_cuda

import semira as gb
from semira.backends.cuda.backend import CAPABILITIES
from semira.base.dtypes import INT8, INT32, INT64, UINT64
from semira.contract import Arg, Hints, Program, Slot, Statement
from semira.plan import plan_program


def a_pull(monoid, dtype) -> Program:
    ring = gb.semiring.register_anonymous(monoid, gb.binary.second)[dtype]
    slots = (Slot("vector", dtype, "inout"), Slot("vector", dtype), Slot("matrix", dtype))
    pull = Statement("vxm", 0, (Arg(1), Arg(2)), ring, hints=Hints(direction="pull"))
    return plan_program(Program(slots, (pull,)), CAPABILITIES)


@needs_nvrtc
@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_pulls_whose_sum_is_a_loop_compile(arch):
    dtypes = (INT8, INT32, INT64, UINT64)
    assert_all_compile({dtype: a_pull(gb.monoid.numpy.gcd, dtype) for dtype in dtypes}, arch)


def common_divisor(x, y):
    while y != 0:
        x, y = y, x % y
    return x


@needs_nvrtc
@needs_numba_cuda
@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize("dtype", [INT64], ids=str)
def test_pulls_whose_sum_is_a_loop_in_python_compile(dtype, arch):
    divisor = gb.binary.register_anonymous(common_divisor)
    program = a_pull(gb.monoid.register_anonymous(divisor, 0), dtype)
    assert compile_only(program, arch, kind="cubin").code
