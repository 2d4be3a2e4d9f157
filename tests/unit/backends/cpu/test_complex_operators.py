"""Every operator on complex numbers as the cpu backend compiles it, against its meaning."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from tests.helpers.every import every
from tests.helpers.pgb import FULL, same_values
from tests.helpers.strategies import edge_values

from semira.backends.cpu.codegen import PREAMBLE, Header
from semira.base.dtypes import FC32, FC64, FP32, FP64, INT8, DataType
from semira.ops import TypedOp
from semira.ops.registry import NAMESPACES, NUMPY

#: Numba's own functions, which differ from C's where a part is infinite or NaN.
ONLY_FINITE = (
    "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh",
)  # fmt: skip
DTYPES = (FC32, FC64) if FULL else (FC64,)
STEPS = 8


def rows(opclass: str, variables: tuple[str, ...]) -> list[Any]:
    tables = NAMESPACES[opclass] | NUMPY[opclass]
    operators = {row.name: row for row in tables.values()}
    return [
        pytest.param(row[dtype], variables, id=f"{name}-{dtype}")
        for name, row in operators.items()
        for dtype in DTYPES
        if dtype in row and row[dtype].type is dtype
    ]


def compiled(header: Header, name: str) -> Any:
    """Return a function of a header, compiled without a file."""
    scope: dict[str, Any] = {}
    text = "\n\n".join((PREAMBLE.replace("cache=True", "cache=False"), *header.parts.values()))
    exec(compile(text, "<operator>", "exec"), scope)
    return scope[name]


CASES = rows("UnaryOp", ("a",)) + rows("BinaryOp", ("a", "b"))


@every(("op", "variables"), CASES)
def test_compiled_operators_mean_the_same(op: TypedOp, variables: tuple[str, ...]) -> None:
    header = Header()
    header.function("call", variables, op, {name: name for name in variables})
    call = compiled(header, "call")
    values = edge_values(op.type)
    if op.name in ONLY_FINITE:
        values = values[np.isfinite(values)]
    operands = list(itertools.product(values, repeat=len(variables)))
    ours = np.array([call(*each) for each in operands], op.return_type.np_type)
    places = (0, 0) if len(variables) == 1 else (0, 0, 0)
    meant = np.array([op.scalar_function(*each, *places) for each in operands])
    same = same_values(ours, meant, steps=STEPS)
    assert same.all(), [
        (operands[k], ours[k], meant[k]) for k in np.flatnonzero(~same)[:5]
    ]  # fmt: skip


@pytest.mark.parametrize("target", [FP32, FP64, INT8, FC32], ids=str)
def test_casts_keep_the_real_part(target: DataType) -> None:
    header = Header()
    header.expression("call", ("x",), header.cast(FC64, target, "x"))
    call = compiled(header, "call")
    values = [1.5 + 2j, -300 + 1j, complex(np.nan, 1), complex(np.inf, 0), 3j]
    expected = [target.np_type.type(x if target.is_complex else x.real) for x in values[:1]]
    assert target.np_type.type(call(values[0])) == expected[0]
    if target is INT8:
        assert [int(call(x)) for x in values] == [1, -128, 0, 127, 0]


def test_constants_survive_as_text() -> None:
    header = Header()
    for number, value in enumerate((1 - 2j, complex(np.inf, -0.0), complex(np.nan, 3))):
        header.constant(f"K{number}", FC32, np.complex64(value))
    kept = [compiled(header, f"K{number}") for number in range(3)]
    assert [type(value) for value in kept] == [np.complex64] * 3
    assert kept[0] == 1 - 2j
    assert kept[1].real == np.inf
    assert np.signbit(kept[1].imag)
    assert np.isnan(kept[2].real)
    assert kept[2].imag == 3
