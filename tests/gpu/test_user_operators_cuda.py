"""Python functions as operators on the GPU, against the reference."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from tests.gpu.test_matrices_cuda import random_matrix
from tests.gpu.test_statements_cuda import compare, random_vector

import semira as gb
from semira import binary, indexunary, monoid, select, semiring, unary
from semira.backends.registry import backend_for
from semira.base.dtypes import BOOL, FP32, FP64, INT8, INT64, UINT16
from semira.contract import Arg, Slot, Statement

pytestmark = pytest.mark.gpu

SHIFT = 3


def polynomial(x):
    return x * x - SHIFT * x + 1


def middle(x, y):
    if x > y:
        return x - (x - y) // 2
    return x + (y - x) // 2


@pytest.mark.parametrize("dtype", [INT8, UINT16, INT64, FP32, FP64])
@pytest.mark.parametrize("kind", ["vector", "matrix"])
def test_unary_and_binary(dtype, kind):
    slots = (Slot(kind, dtype, "inout"), Slot(kind, dtype), Slot(kind, dtype))
    made = random_vector if kind == "vector" else random_matrix
    shape = (200,) if kind == "vector" else (30, 30)
    given = [made(*shape, dtype, seed, 0.4) for seed in (1, 2, 3)]
    one = unary.register_anonymous(polynomial)[dtype]
    two = binary.register_anonymous(middle)[dtype]
    compare(slots, (Statement("apply", 0, (Arg(1),), one),), given)
    compare(slots, (Statement("ewise_add", 0, (Arg(1), Arg(2)), two, accum=two),), given)


@pytest.mark.parametrize("kind", ["vector", "matrix"])
def test_operators_that_see_positions(kind):
    slots = (Slot(kind, FP64, "inout"), Slot(kind, INT64), Slot("scalar", INT64))
    made = random_vector if kind == "vector" else random_matrix
    shape = (200,) if kind == "vector" else (30, 30)
    given = [made(*shape, FP64, 1, 0.4), made(*shape, INT64, 2, 0.4), 2]
    moved = indexunary.register_anonymous(lambda x, i, j, t: x + 10 * i - j * t)[INT64]
    kept = select.register_anonymous(lambda x, i, j, t: x > t or (i + j) % 3 == 0)[INT64]
    compare(slots, (Statement("apply", 0, (Arg(1), Arg(2)), moved),), given)
    compare(slots, (Statement("select", 0, (Arg(1), Arg(2)), kept),), given)


@pytest.mark.parametrize("dtype", [INT8, INT64, FP64])
def test_monoids_and_semirings(dtype):
    least = binary.register_anonymous(lambda x, y: min(y, x))
    low = monoid.register_anonymous(least, 100)
    ring = semiring.register_anonymous(low, binary.register_anonymous(lambda x, y: x + 2 * y))
    slots = (Slot("vector", dtype, "inout"), Slot("vector", dtype), Slot("matrix", dtype))
    given = [random_vector(60, dtype, 1, 0.2), random_vector(60, dtype, 2, 0.6),
             random_matrix(60, 60, dtype, 3)]  # fmt: skip
    for op, transposed in itertools.product(("vxm", "mxv"), (False, True)):
        args = (Arg(1), Arg(2, transposed))
        body = (Statement(op, 0, args if op == "vxm" else args[::-1], ring[dtype]),)
        compare(slots, body, given)
    matrices = (Slot("matrix", dtype, "inout"), Slot("matrix", dtype))
    product = Statement("mxm", 0, (Arg(1), Arg(1, True)), ring[dtype])
    compare(matrices, (product,), [random_matrix(60, 60, dtype, s) for s in (1, 2)])


def test_truth_values_pass_through():
    slots = (Slot("vector", BOOL, "inout"), Slot("vector", BOOL), Slot("vector", BOOL))
    given = [random_vector(100, BOOL, seed, 0.6) for seed in (1, 2, 3)]
    implies = binary.register_anonymous(lambda x, y: (not x) or y)[BOOL]
    compare(slots, (Statement("ewise_mult", 0, (Arg(1), Arg(2)), implies),), given)


def test_a_loop_with_a_python_operator_is_one_launch():
    backend = backend_for("cuda")
    grow = unary.register_anonymous(lambda x: 2 * x + 1)
    v = gb.Vector.from_coo([0, 5, 70], [1, 2, 3], size=100).to("cuda")

    def step():
        v << v.apply(grow)

    gb.repeat(step, max_iterations=1)
    before = backend.statistics().launches
    gb.repeat(step, max_iterations=4)
    assert backend.statistics().launches == before + 1
    assert v.to_dict() == {0: 63, 5: 95, 70: 127}


def test_the_result_is_the_same_as_on_the_cpu():
    rng = np.random.default_rng(0)
    dense = rng.integers(-20, 20, (40, 40))
    square = unary.register_anonymous(lambda x: x * x % 7)
    on_cpu = gb.Matrix.from_dense(dense).apply(square).new()
    on_gpu = gb.Matrix.from_dense(dense).to("cuda").apply(square).new()
    assert on_gpu.to("cpu").isequal(on_cpu)
