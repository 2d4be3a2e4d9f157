"""Every operator on complex numbers as the cpu backend compiles it, against its meaning."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.helpers.pgb import FULL, same_values
from tests.helpers.strategies import edge_values

from semira.backends.cpu import cache
from semira.backends.cpu.codegen import PREAMBLE, Header, digest_of
from semira.base.dtypes import FC32, FC64, FP32, FP64, INT8, DataType
from semira.ops import TypedOp
from semira.ops.registry import NAMESPACES, NUMPY

#: Numba's own functions, which differ from C's where a part is infinite or NaN.
ONLY_FINITE = (
    "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh",
)  # fmt: skip
DTYPES = (FC32, FC64) if FULL else (FC64,)
STEPS = 8


def operators(opclass: str, dtype: DataType) -> list[TypedOp]:
    tables = NAMESPACES[opclass] | NUMPY[opclass]
    rows = {row.name: row for row in tables.values()}
    typed = [row[dtype] for row in rows.values() if dtype in row]
    return [op for op in typed if op.type is dtype]


def mapped(header: Header, calls: list[str], operands: list[Any]) -> Any:
    """Return a row for each call of functions of a header, of the values in arrays.

    One kernel has them all: most of the time of compiling one alone would go into the kernel.
    """
    names = [f"x{number}" for number in range(len(operands))]
    given = ", ".join(f"{name}[at]" for name in names)
    kernel = "\n".join(
        [
            f"@kernel\ndef every(out, {', '.join(names)}):",
            "    for at in range(out.shape[1]):",
            *(f"        out[{row}, at] = {call}({given})" for row, call in enumerate(calls)),
        ]
    )
    text = "\n\n".join((PREAMBLE, *header.parts.values(), kernel))
    out = np.empty((len(calls), len(operands[0])), operands[0].dtype)
    cache._import(f"operators-{digest_of(text)}", text).every(out, *operands)
    return out


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(("opclass", "variables"), [("UnaryOp", "a"), ("BinaryOp", "ab")])
def test_compiled_operators_mean_the_same(opclass: str, variables: str, dtype: DataType) -> None:
    header, ops = Header(), operators(opclass, dtype)
    calls = [f"call{number}" for number in range(len(ops))]
    for call, op in zip(calls, ops, strict=True):
        header.function(call, tuple(variables), op, {name: name for name in variables})
    values = edge_values(dtype)
    operands = [each.ravel() for each in np.meshgrid(*[values] * len(variables))]
    finite = np.logical_and.reduce([np.isfinite(each) for each in operands])
    places = (0, 0) if len(variables) == 1 else (0, 0, 0)
    wrong = {}
    for op, found in zip(ops, mapped(header, calls, operands), strict=True):
        ours = (found if op.return_type.is_complex else found.real).astype(op.return_type.np_type)
        with np.errstate(all="ignore"):
            meant = np.array([op.meaning(*each, *places) for each in zip(*operands, strict=True)])
        same = same_values(ours, meant, steps=STEPS)
        if op.name in ONLY_FINITE:
            same |= ~finite
        if not same.all():
            wrong[op.name] = [
                (*(each[at] for each in operands), ours[at], meant[at])
                for at in np.flatnonzero(~same)[:5]
            ]
    assert not wrong, wrong


@pytest.mark.parametrize("target", [FP32, FP64, INT8, FC32], ids=str)
def test_casts_keep_the_real_part(target: DataType) -> None:
    header = Header()
    header.expression("call", ("x",), header.cast(FC64, target, "x"))
    values = [1.5 + 2j, -300 + 1j, complex(np.nan, 1), complex(np.inf, 0), 3j]
    (cast,) = mapped(header, ["call"], [np.array(values)])
    cast = (cast if target.is_complex else cast.real).astype(target.np_type)
    assert cast[0] == target.np_type.type(values[0] if target.is_complex else values[0].real)
    if target is INT8:
        assert cast.tolist() == [1, -128, 0, 127, 0]


def test_constants_survive_as_text() -> None:
    header = Header()
    for number, value in enumerate((1 - 2j, complex(np.inf, -0.0), complex(np.nan, 3))):
        header.constant(f"K{number}", FC32, np.complex64(value))
    scope: dict[str, Any] = {}
    exec(compile("\n\n".join((PREAMBLE, *header.parts.values())), "<constants>", "exec"), scope)
    kept = [scope[f"K{number}"] for number in range(3)]
    assert [type(value) for value in kept] == [np.complex64] * 3
    assert kept[0] == 1 - 2j
    assert kept[1].real == np.inf
    assert np.signbit(kept[1].imag)
    assert np.isnan(kept[2].real)
    assert kept[2].imag == 3
