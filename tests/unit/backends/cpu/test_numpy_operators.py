"""Kernels of NumPy's operators against their meaning."""

from __future__ import annotations

import numpy as np
from tests.helpers.every import every
from tests.unit.backends.cpu.test_operators import assert_equal, edge_values, run

import semira as gb
from semira.base.dtypes import lookup_dtype
from semira.ops.registry import NUMPY

UNARY = ("sign", "reciprocal", "signbit", "spacing")
BINARY = ("fmod", "mod", "gcd", "lcm", "left_shift", "right_shift", "logaddexp", "maximum")
#: Built-in operators whose texts are easiest to get wrong with 64-bit unsigned integers.
BUILT_IN = ("pow", "bget", "bset", "bclr", "bshift", "remainder", "ldexp", "binom", "rfloordiv")


def cases(table, names):
    return [
        (table[name], lookup_dtype(dtype))
        for name in names
        for dtype in ("INT8", "UINT64", "FP32")
        if dtype in table[name].types
    ]


@every(("row", "dtype"), cases(NUMPY["UnaryOp"], UNARY), ids=str)
def test_unary(row, dtype):
    op = row[dtype]
    values = edge_values(dtype).astype(op.type.np_type)
    wanted = [op.scalar_function(value, 0, 0) for value in values]
    assert_equal(run(op, [values], "apply"), np.array(wanted, op.return_type.np_type))


@every(
    ("row", "dtype"),
    cases(NUMPY["BinaryOp"], BINARY)
    + cases({name: getattr(gb.binary, name) for name in BUILT_IN}, BUILT_IN),
    ids=str,
)
def test_binary(row, dtype):
    op = row[dtype]
    values = edge_values(dtype).astype(op.type.np_type)
    left, right = (part.ravel().copy() for part in np.meshgrid(values, values))
    wanted = [op.scalar_function(a, b, 0, 0, 0) for a, b in zip(left, right, strict=True)]
    assert_equal(run(op, [left, right], "ewise_mult"), np.array(wanted, op.return_type.np_type))
