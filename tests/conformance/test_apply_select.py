"""apply and select against SuiteSparse: unary, bound binary, index-unary operators, masks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.helpers.pgb import UNDEFINED, cover, examples, find, mirror, result_dtype, works
from tests.helpers.strategies import DTYPES, MASK_FORMS, matrices, shaped, sizes, vectors, writes

import semira as gb
from semira.base.dtypes import lookup_dtype
from semira.ops.registry import binary, indexunary, select, unary

EXACT = (
    "identity", "ainv", "minv", "abs", "one", "lnot", "bnot", "signum", "isnan", "isinf",
    "isfinite", "round", "floor", "ceil", "trunc", "sqrt",
    "positioni", "positioni1", "positionj", "positionj1",
)  # fmt: skip
ACCUMS = ("plus", "min", "second")


def operators(namespace: str, table: Any, excluded: tuple[str, ...] = ()) -> list[tuple[str, str]]:
    """Return (operator, dtype) wherever both libraries have it."""
    return [
        (name, dtype)
        for name in table
        for dtype in DTYPES
        if name not in excluded
        and dtype in getattr(getattr(gb, namespace), name)
        and works(namespace, name, dtype)
    ]


UNARY = cover(operators("unary", unary), default=6, seed=3)
BOUND = cover(operators("binary", binary, ("any", *UNDEFINED)), default=3, seed=4)
INDEXUNARY = cover(operators("indexunary", indexunary), default=4, seed=5)
SELECT = cover(operators("select", select), default=4, seed=6)


def name_of(case: tuple[str, str]) -> str:
    return "-".join(case)


def drawn(data: Any, dtype: str) -> Any:
    """Draw a vector or a matrix."""
    shape = tuple(data.draw(sizes) for _ in range(data.draw(st.integers(1, 2))))
    return data.draw(shaped(dtype, shape, special=True))


@pytest.mark.parametrize("case", UNARY, ids=name_of)
@examples(6)
@given(data=st.data())
def test_unary(case: tuple[str, str], device: str, data: Any) -> None:
    name, dtype = case
    a = drawn(data, dtype)
    result = result_dtype("unary", name, dtype)
    accum = ACCUMS[len(name) % len(ACCUMS)]
    accums = (accum,) if works("binary", accum, result) else ()
    write = data.draw(writes(a.shape, (result,), accums))

    def program(library: Any) -> Any:
        x, op = a.build(library), find(library, "unary", name)
        out, keywords = write.build(library)
        out(**keywords) << x.apply(op)
        return out, op(x).new()

    mirror(device, program, steps=0 if name in EXACT else 6)


@pytest.mark.parametrize("case", BOUND, ids=name_of)
@pytest.mark.parametrize("side", ["left", "right"])
@examples(6)
@given(data=st.data())
def test_bound_binary(side: str, case: tuple[str, str], device: str, data: Any) -> None:
    name, dtype = case
    a = drawn(data, dtype)
    value = data.draw(st.sampled_from((0, 1, 2, 3)))
    as_scalar = data.draw(st.booleans())

    def program(library: Any) -> Any:
        number = lookup_dtype(dtype).np_type.type(value)
        bound = library.Scalar.from_value(number) if as_scalar else number
        x = a.build(library)
        return x.apply(find(library, "binary", name), **{side: bound}).new()

    mirror(device, program, steps=4 if name in ("atan2", "hypot", "pow") else 0)


@pytest.mark.parametrize("case", INDEXUNARY, ids=name_of)
@examples(8)
@given(data=st.data())
def test_indexunary(case: tuple[str, str], device: str, data: Any) -> None:
    name, dtype = case
    a = drawn(data, dtype)
    thunk = data.draw(st.sampled_from((0, 1, 2, -1)))

    def program(library: Any) -> Any:
        return a.build(library).apply(find(library, "indexunary", name), thunk).new()

    mirror(device, program)


@pytest.mark.parametrize("case", SELECT, ids=name_of)
@examples(10)
@given(data=st.data())
def test_select(case: tuple[str, str], device: str, data: Any) -> None:
    name, dtype = case
    a = drawn(data, dtype)
    number = data.draw(st.sampled_from((0, 1, 2)))
    write = data.draw(writes(a.shape, (dtype,), ("second",)))

    def program(library: Any) -> Any:
        # A thunk of another dtype makes SuiteSparse 9.4 compare garbage: see below.
        thunk = library.Scalar.from_value(number, dtype if name.startswith("value") else "INT64")
        x, op = a.build(library), find(library, "select", name)
        out, keywords = write.build(library)
        out(**keywords) << x.select(op, thunk)
        return out, x.select(op, thunk).new(), op(x, thunk).new()

    mirror(device, program)


@pytest.mark.parametrize(
    ("dtype", "thunk"), [("INT8", 1.5), ("UINT64", 2), ("FP32", 0.1), ("UINT8", -1), ("BOOL", 2)]
)
@examples(6)
@given(data=st.data())
def test_select_compares_in_the_unified_dtype(
    dtype: str, thunk: float, device: str, data: Any
) -> None:
    u = data.draw(vectors(dtype, special=True))
    with gb.device(device):
        vector = u.build(gb)
        kept = {name: vector.select(name, thunk).new() for name in (">", "==", "<=")}
    indices, values = vector.to_coo()
    wide = values.astype(np.promote_types(values.dtype, np.asarray(thunk).dtype))
    expected = {">": wide > thunk, "==": wide == thunk, "<=": wide <= thunk}
    for name, selected in kept.items():
        assert selected.dtype is vector.dtype
        assert selected.to_coo()[0].tolist() == indices[expected[name]].tolist()


@pytest.mark.parametrize("sign", ["==", "!=", "<", "<=", ">", ">="])
@examples(6)
@given(data=st.data())
def test_select_by_string(sign: str, device: str, data: Any) -> None:
    a = data.draw(matrices("INT32"))
    mirror(device, lambda library: a.build(library).select(sign, 2).new())


@pytest.mark.parametrize("form", MASK_FORMS)
@examples(12)
@given(data=st.data())
def test_select_by_mask(form: str, device: str, data: Any) -> None:
    n, m = data.draw(sizes), data.draw(sizes)
    a, mask = data.draw(matrices("INT32", n, m)), data.draw(matrices("BOOL", n, m))

    def program(library: Any) -> Any:
        built = mask.build(library)
        chosen = built.S if form.endswith("S") else built.V
        return a.build(library).select(~chosen if form.startswith("~") else chosen).new()

    mirror(device, program)


@examples(15)
@given(data=st.data())
def test_transposed_operands(device: str, data: Any) -> None:
    a = data.draw(matrices("INT32"))

    def program(library: Any) -> Any:
        x = a.build(library)
        return (
            x.T.apply(library.unary.ainv).new(),
            x.T.apply(library.binary.minus, left=5).new(),
            x.T.apply(library.indexunary.rowindex, 1).new(),
            x.T.apply(find(library, "unary", "positioni")).new(),
            x.T.select(library.select.tril, 0).new(),
            x.T.select(library.select.colle, 1).new(),
            x.T.select(library.select.valuegt, 1).new(),
        )

    mirror(device, program)


@examples(15)
@given(data=st.data())
def test_mixed_bound_dtypes(device: str, data: Any) -> None:
    a = data.draw(vectors("INT8"))

    def program(library: Any) -> Any:
        x = a.build(library)
        return (
            x.apply(library.binary.plus, right=0.5).new(),
            x.apply(library.binary.times, left=1000).new(),
            x.apply("plus", right=True).new(),
            (x + 1.5).new(),
            (1 - x).new(),
            x.apply(library.unary.sqrt).new(),
        )

    mirror(device, program, steps=2)


@examples(10)
@given(data=st.data())
def test_scalar_apply_and_select(device: str, data: Any) -> None:
    value = data.draw(st.sampled_from((None, 0, 4, -3)))

    def program(library: Any) -> Any:
        s = library.Scalar.from_value(value, "INT32")
        return (
            s.apply(library.unary.ainv).new(),
            s.apply(library.binary.plus, right=2).new(),
            s.apply(library.binary.minus, left=2).new(),
            s.select(library.select.valuegt, 1).new(),
        )

    mirror(device, program)
