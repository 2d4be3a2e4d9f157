"""Functions of users in kernels of the cpu: they are Numba's, the kernels around them are not."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

import semira as gb
from semira.backends.cpu.cache import compiled
from semira.base.dtypes import lookup_dtype

TABLE = np.array([3, 1, 4, 1, 5])


def power(x):
    return x**3


def quotient_and_rest(x):
    return x // 2 + x % 3


def branches(x):
    if x > 2:
        return x - 1
    return -x


def sum_of_a_loop(x):
    total = x
    for each in range(5):
        total += x * each
    return total


def functions_of_c(x):
    return math.sin(x) + np.exp(x) + math.atan2(x, 2.0)


def clipped(x):
    return min(max(x, 1), 3)


def is_larger(x):
    return x > 2


def table(x):
    return TABLE[2] + x


def with_defaults(x, step=2, scale=1.5):
    return (x + step) * scale


FUNCTIONS = [power, quotient_and_rest, branches, sum_of_a_loop, functions_of_c, clipped, is_larger,
             table, with_defaults]  # fmt: skip
DTYPES = ["INT8", "UINT8", "INT64", "UINT64", "FP32", "FP64"]


def not_the_kernels(before):
    """Return the kernels since then that Numba compiled whole."""
    return [name for name in compiled[before:] if "-numba:" in name]


@pytest.mark.parametrize("dtype", DTYPES)
def test_results_are_those_of_numba(dtype):
    values = np.array([0, 1, 2, 3, 7], dtype=lookup_dtype(dtype).np_type)
    v = gb.Vector.from_coo(np.arange(5), values, device="cpu")
    before = len(compiled)
    for function in FUNCTIONS:
        op = gb.unary.register_anonymous(function)
        if dtype not in op:
            continue
        made = v.apply(op).new()
        alone = numba.njit(error_model="numpy")(function)
        wanted = gb.Vector.from_dense(np.array([alone(value) for value in values]))
        assert made.isequal(wanted.dup(made.dtype)), function.__name__
    assert not not_the_kernels(before)


@pytest.mark.parametrize("dtype", ["FC32", "FC64"])
def test_complex_numbers(dtype):
    v = gb.Vector.from_coo([0, 1], [1 + 2j, -3.5 - 1j], dtype, device="cpu")
    before = len(compiled)
    w = v.apply(lambda x: x * x + 1j).new()
    assert w.dtype == dtype
    assert w.to_coo()[1].tolist() == [-3 + 5j, 11.25 + 8j]
    parts = v.ewise_mult(v, gb.binary.register_anonymous(lambda x, y: x.real * y.imag)).new()
    assert parts.to_coo()[1].tolist() == [2, 3.5]
    assert not not_the_kernels(before)


def test_functions_of_numpy_that_only_numba_knows():
    v = gb.Vector.from_coo([0, 1], [1 + 2j, -3.5 - 1j], device="cpu")
    before = len(compiled)
    assert (
        v.apply(gb.unary.log)
        .new()
        .isclose(gb.Vector.from_dense(np.log([1 + 2j, -3.5 - 1j]), device="cpu"))
    )
    w = gb.Vector.from_dense([3.0, -7.5], device="cpu")
    assert w.apply(gb.unary.numpy.degrees).new().to_coo()[1].tolist() == [*np.degrees([3.0, -7.5])]
    assert not not_the_kernels(before)


def test_chains_of_comparisons():
    v = gb.Vector.from_dense([-1, 3, 70], "INT8", device="cpu")
    before = len(compiled)
    w = v.apply(gb.binary.numpy.right_shift, left=np.int8(64)).new()
    assert w.to_coo()[1].tolist() == [0, 8, 0]
    assert not not_the_kernels(before)


def test_truth_values():
    v = gb.Vector.from_coo([0, 1, 2], [True, False, True], device="cpu")
    w = v.ewise_mult(v, gb.binary.register_anonymous(lambda x, y: not (x and y))).new()
    assert w.to_coo()[1].tolist() == [False, True, False]


def test_semirings_of_functions_alone():
    a = gb.Matrix.from_dense(np.arange(12.0).reshape(3, 4), device="cpu")
    largest = gb.monoid.register_anonymous(
        gb.binary.register_anonymous(lambda x, y: max(y, x)), -math.inf
    )
    ring = gb.semiring.register_anonymous(
        largest, gb.binary.register_anonymous(lambda x, y: x - 2 * y)
    )
    before = len(compiled)
    c = ring(a @ a.T).new()
    dense = np.arange(12.0).reshape(3, 4)
    wanted = (dense[:, None, :] - 2 * dense[None, :, :]).max(axis=2)
    assert c.to_dense().tolist() == wanted.tolist()
    assert not not_the_kernels(before)


def refuses(x):
    if x < 0:
        raise ValueError("less than nothing")
    return x


def needs_a_function_of_numba(x):
    return math.gamma(x)


def test_what_may_raise_raises():
    op = gb.unary.register_anonymous(refuses)
    v = gb.Vector.from_coo([0, 1], [1.0, 2.0], device="cpu")
    assert v.apply(op).new().isequal(v)
    v[1] = -1
    with pytest.raises(ValueError, match="less than nothing"):
        v.apply(op).new()


def test_what_needs_more_of_numba_is_compiled_whole():
    v = gb.Vector.from_coo([0, 1], [3.0, 5.0], device="cpu")
    made = v.apply(gb.unary.register_anonymous(needs_a_function_of_numba)).new().to_coo()[1]
    assert made.tolist() == [2.0, 24.0]


def test_another_process_finds_out_nothing_again(tmp_path):
    program = (
        "import math\n"
        "import semira as gb\n"
        "from semira.backends.cpu.cache import compiled\n"
        "from semira.backends.cpu.compiler import users\n"
        "v = gb.Vector.from_coo([0, 1], [3.0, 5.0], device='cpu')\n"
        "for function in (lambda x: x + 1, lambda x: math.gamma(x)):\n"
        "    print(v.apply(function).new().to_coo()[1].tolist())\n"
        "print(len(compiled) > 0, users.user_function.cache_info().misses)\n"
    )
    environment = os.environ | {
        "SEMIRA_CACHE_DIR": str(tmp_path),
        "PYTHONPATH": str(Path(gb.__file__).resolve().parents[1]),
        "NUMBA_OPT": "3",  # what Numba compiles whole holds addresses else, and is not kept
    }

    def run():
        done = subprocess.run(
            [sys.executable, "-c", program],
            check=True, capture_output=True, text=True, env=environment,
        )  # fmt: skip
        return done.stdout.splitlines()

    values = ["[4.0, 6.0]", "[2.0, 24.0]"]
    assert run() == [*values, "True 2"]
    assert run() == [*values, "False 0"]
