"""Element-wise add, mult and union against SuiteSparse, and Python's infix operators."""

from __future__ import annotations

import operator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.helpers.pgb import FULL, UNDEFINED, cover, examples, find, mirror, result_dtype, works
from tests.helpers.strategies import DTYPES, matrices, shaped, sizes, vectors, writes

import semira as gb
from semira.ops.registry import binary

#: `any` may return either operand.
EXCLUDED = ("any", *UNDEFINED)
#: Functions of the C library: last digits may differ.
ROUNDED = ("atan2", "hypot", "pow")
ACCUMS = ("plus", "min", "second")
OTHER_DTYPES = ("FP64", "INT8", "BOOL")

METHODS = ("ewise_add", "ewise_mult", "ewise_union")


def operators() -> list[tuple[str, str]]:
    """Return (operator, dtype) wherever both libraries have it."""
    return [
        (name, dtype)
        for name in binary
        for dtype in DTYPES
        if name not in EXCLUDED
        and dtype in getattr(gb.binary, name)
        and works("binary", name, dtype)
    ]


#: (operator, dtype, method)
CASES = cover([(*case, method) for case in operators() for method in METHODS], default=5, seed=2)
#: Kernels of matrices are compiled separately: fewer of them.
MATRIX_CASES = CASES if FULL else CASES[::5]


def name_of(case: tuple[str, ...]) -> str:
    return "-".join(case)


def drawn_shape(data: Any, ndim: int) -> tuple[int, ...]:
    return tuple(data.draw(sizes) for _ in range(ndim))


@pytest.mark.parametrize("case", CASES, ids=name_of)
@examples(12)
@given(data=st.data())
def test_vectors(case: tuple[str, str, str], device: str, data: Any) -> None:
    elementwise(1, case, device, data)


@pytest.mark.parametrize("case", MATRIX_CASES, ids=name_of)
@examples(12)
@given(data=st.data())
def test_matrices(case: tuple[str, str, str], device: str, data: Any) -> None:
    elementwise(2, case, device, data)


def elementwise(ndim: int, case: tuple[str, str, str], device: str, data: Any) -> None:
    """Draw operands and an output, and compare ``out(...) << x.method(y, op)``."""
    name, dtype, method = case
    shape = drawn_shape(data, ndim)
    left_t = ndim == 2 and data.draw(st.booleans())
    a = data.draw(shaped(dtype, shape[::-1] if left_t else shape, special=True))
    b = data.draw(shaped(dtype, shape, special=True))
    number = sum(map(ord, name + dtype))
    natural = "INT64" if name == "pair" else result_dtype("binary", name, dtype)
    accum = ACCUMS[number % len(ACCUMS)]
    other = OTHER_DTYPES[number % len(OTHER_DTYPES)]
    usable = all(works("binary", accum, each) for each in (natural, other))
    write = data.draw(writes(shape, (natural, other), (accum,) if usable else ()))

    def program(library: Any) -> Any:
        x, y = a.build(library), b.build(library)
        defaults = ()
        if method == "ewise_union":
            defaults = tuple(library.Scalar.from_value(value, dtype) for value in (0, 1))
        op = find(library, "binary", name)
        expression = getattr(x.T if left_t else x, method)(y, op, *defaults)
        out, keywords = write.build(library)
        out(**keywords) << expression
        return out, expression.new()

    mirror(device, program, steps=4 if name in ROUNDED else 0)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("left", "right"), [("INT8", "UINT8"), ("INT32", "FP32"), ("BOOL", "FP64")]
)
@examples(10)
@given(data=st.data())
def test_mixed_dtypes(left: str, right: str, method: str, device: str, data: Any) -> None:
    n = data.draw(sizes)
    a, b = data.draw(vectors(left, n)), data.draw(vectors(right, n))
    default = data.draw(st.sampled_from((2, 0.5, True)))

    def program(library: Any) -> Any:
        defaults = (default, default) if method == "ewise_union" else ()
        x, y = a.build(library), b.build(library)
        return (
            getattr(x, method)(y, library.binary.plus, *defaults).new(),
            getattr(x, method)(y, library.binary.second, *defaults).new("FP32"),
            getattr(x, method)(y, library.monoid.max, *defaults).new(),
        )

    mirror(device, program)


INFIX = ["add", "sub", "mul", "truediv", "eq", "ne", "lt", "le", "gt", "ge"]


@pytest.mark.parametrize("sign", INFIX)
@pytest.mark.parametrize("dtype", ["INT16", "FP64", "BOOL"])
@examples(8)
@given(data=st.data())
def test_infix_operators(sign: str, dtype: str, device: str, data: Any) -> None:
    n, m = data.draw(sizes), data.draw(sizes)
    a, b = data.draw(matrices(dtype, n, m)), data.draw(matrices(dtype, n, m))
    u = data.draw(vectors(dtype, n))
    apply = getattr(operator, sign)

    def program(library: Any) -> Any:
        x, y, v = a.build(library), b.build(library), u.build(library)
        return apply(x, y).new(), apply(v, v).new(), apply(v, 3).new(), apply(2, v).new()

    mirror(device, program, steps=2 if sign == "truediv" else 0)


@examples(25)
@given(data=st.data())
def test_bar_and_ampersand(device: str, data: Any) -> None:
    n = data.draw(sizes)
    a, b = data.draw(vectors("BOOL", n)), data.draw(vectors("BOOL", n))
    c, d = data.draw(vectors("INT32", n)), data.draw(vectors("INT32", n))

    def program(library: Any) -> Any:
        p, q, x, y = (spec.build(library) for spec in (a, b, c, d))
        return (
            (p | q).new(),
            (p & q).new(),
            (p ^ q).new(),
            (~p).new(),
            (-x).new(),
            abs(x).new(),
            library.binary.plus(x | y).new(),
            library.binary.minus(x & y).new(),
            library.monoid.min(x | y).new(),
            library.binary.eq(x & y).new(),
        )

    mirror(device, program)


@examples(15)
@given(data=st.data())
def test_scalars_meet(device: str, data: Any) -> None:
    values = st.sampled_from((None, 0, 3, -2))
    left, right = data.draw(values), data.draw(values)

    def program(library: Any) -> Any:
        s = library.Scalar.from_value(left, "INT32")
        t = library.Scalar.from_value(right, "INT32")
        return (
            s.ewise_add(t, library.binary.plus).new(),
            s.ewise_mult(t, library.binary.times).new(),
            s.ewise_union(t, library.binary.minus, 7, 9).new(),
        )

    mirror(device, program)
