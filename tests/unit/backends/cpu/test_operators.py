"""Every operator's kernel against its meaning, on values at the edges of each dtype."""

from __future__ import annotations

import os

import numpy as np
import pytest
from tests.helpers.every import every
from tests.helpers.programs import Bench, statement

from semira.backends.registry import backend_for
from semira.base.dtypes import ALL_DTYPES, BOOL, FP32, INT8, UINT64
from semira.formats import VectorArrays
from semira.ops.meaning import cast_array
from semira.ops.registry import binary, unary

FULL = os.environ.get("SEMIRA_CONFORMANCE", "") == "full"
DTYPES = ALL_DTYPES if FULL else (INT8, UINT64, FP32)
#: Where Numba and NumPy are most likely to differ: division, wrapping, NaN, narrow integers.
TRICKY = (
    "cdiv", "rdiv", "floordiv", "truediv", "min", "max", "minus", "rminus", "times", "bxnor",
    "lxnor", "iseq", "hypot", "abs", "ainv", "minv", "bnot", "signum", "round", "cbrt", "isnan",
    "lnot",
)  # fmt: skip


def edge_values(dtype):
    if dtype is BOOL:
        return np.array([False, True])
    if dtype.is_float:
        parts = [0.0, -0.0, 1.0, -1.0, 0.5, 1.5, -2.5, 3.0, np.inf, -np.inf, np.nan, 1e-30, 3e7]
        return np.array(parts, dtype.np_type)
    low, high = int(dtype.smallest), int(dtype.largest)
    parts = {0, 1, 2, 3, 7, high, high - 1, low, low + 1, *(() if low == 0 else (-1, -2, -7))}
    return np.array(sorted(parts), dtype.np_type)


def cases(table):
    return [
        (name, dtype)
        for name, op in table.items()
        for dtype in DTYPES
        if dtype in op.types and (FULL or name in TRICKY)
    ]


def run(op, operands, opname):
    backend = backend_for("cpu")
    bench = Bench(backend)
    slots = [
        bench.object(backend.put(VectorArrays.full(op.type, values.copy())), op.type)
        for values in operands
    ]
    empty = VectorArrays.empty(len(operands[0]), op.return_type)
    out = bench.object(backend.put(empty), op.return_type, "inout")
    bench.run(statement(opname, out, slots, op))
    return backend.get(bench.bindings[out]).entry_values()


def assert_equal(found, wanted, *, scale=0):
    if found.dtype.kind == "f":
        # Numba and NumPy call different libraries: transcendental functions differ in last bits.
        steps = 4 * np.finfo(found.dtype).eps
        np.testing.assert_allclose(found, wanted, rtol=steps, atol=steps * scale)
    else:
        np.testing.assert_array_equal(found, wanted)


@every(("name", "dtype"), cases(unary), ids=str)
def test_unary_kernel_means_what_the_operator_means(name, dtype):
    op = unary[name].typed(dtype)
    values = cast_array(edge_values(dtype), op.type.np_type)
    found = run(op, [values], "apply")
    wanted = [op.scalar_function(value, i, 0) for i, value in enumerate(values)]
    # A logarithm near its zero is as exact as the number it is the logarithm of.
    scale = int(name == "lgamma")
    assert_equal(found, np.array(wanted, op.return_type.np_type), scale=scale)


@every(("name", "dtype"), cases(binary), ids=str)
def test_binary_kernel_means_what_the_operator_means(name, dtype):
    op = binary[name].typed(dtype)
    if op.is_positional:
        pytest.skip("positions are tested with products")
    values = cast_array(edge_values(dtype), op.type.np_type)
    left, right = (part.ravel().copy() for part in np.meshgrid(values, values))
    found = run(op, [left, right], "ewise_mult")
    wanted = [op.scalar_function(a, b, 0, 0, 0) for a, b in zip(left, right, strict=True)]
    assert_equal(found, np.array(wanted, op.return_type.np_type))


@every("target", DTYPES, ids=str)
@every("source", DTYPES, ids=str)
def test_accumulating_casts_as_suitesparse_does(source, target):
    # The cast in the kernel (an accumulator of another dtype) agrees with the cast of arrays.
    backend = backend_for("cpu")
    values = edge_values(source)
    bench = Bench(backend)
    x = bench.object(backend.put(VectorArrays.full(source, values)), source)
    half = np.arange(0, len(values), 2, dtype=np.int32)
    old = VectorArrays.sparse(len(values), target, half, np.zeros(len(half), target.np_type))
    out = bench.object(backend.put(old), target, "inout")
    bench.run(statement("copy", out, [x], accum=binary["second"].typed(source)))
    found = backend.get(bench.bindings[out]).entry_values()
    np.testing.assert_array_equal(found, cast_array(values, target.np_type))
