"""Reductions against SuiteSparse: to a scalar, by rows, by columns."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.helpers.pgb import cover, examples, find, mirror, result_dtype, suitesparse, works
from tests.helpers.strategies import DTYPES, matrices, sizes, vectors, writes

import semira as gb
from semira.ops.registry import monoid

MONOIDS = [
    (name, dtype)
    for name in monoid
    for dtype in DTYPES
    if name != "any" and dtype in getattr(gb.monoid, name) and works("monoid", name, dtype)
]
CASES = cover(MONOIDS, default=4, seed=7)
ACCUMS = ("plus", "min", "second")


def name_of(case: tuple[str, str]) -> str:
    return "-".join(case)


@pytest.mark.parametrize("case", CASES, ids=name_of)
@examples(10)
@given(data=st.data())
def test_rows_and_columns(case: tuple[str, str], device: str, data: Any) -> None:
    name, dtype = case
    n, m = data.draw(sizes), data.draw(sizes)
    a = data.draw(matrices(dtype, n, m, special=True))
    result = result_dtype("monoid", name, dtype)
    accum = ACCUMS[len(name + dtype) % len(ACCUMS)]
    usable = works("binary", accum, result)
    by_rows = data.draw(writes((n,), (result,), (accum,) if usable else ()))
    by_columns = data.draw(writes((m,), (result,), (accum,) if usable else ()))

    def program(library: Any) -> Any:
        x, op = a.build(library), find(library, "monoid", name)
        first, keywords = by_rows.build(library)
        first(**keywords) << x.reduce_rowwise(op)
        second, keywords = by_columns.build(library)
        second(**keywords) << x.reduce_columnwise(op)
        return first, second, x.T.reduce_rowwise(op).new(), x.reduce_rowwise(op).new()

    mirror(device, program, steps=n + m)


@pytest.mark.parametrize("case", CASES, ids=name_of)
@examples(8)
@given(data=st.data())
def test_to_a_scalar(case: tuple[str, str], device: str, data: Any) -> None:
    name, dtype = case
    n = data.draw(sizes)
    a = data.draw(matrices(dtype, n, special=True))
    u = data.draw(vectors(dtype, n, special=True))
    allow_empty = data.draw(st.booleans())

    def program(library: Any) -> Any:
        x, v, op = a.build(library), u.build(library), find(library, "monoid", name)
        return (
            x.reduce_scalar(op, allow_empty=allow_empty).new(),
            v.reduce(op, allow_empty=allow_empty).new(),
            x.T.reduce_scalar(op, allow_empty=allow_empty).new(),
        )

    mirror(device, program, steps=n * 8)


@examples(20)
@given(data=st.data())
def test_into_scalars(device: str, data: Any) -> None:
    u = data.draw(vectors("INT32"))
    before = data.draw(st.sampled_from((None, 10)))
    accum = data.draw(st.sampled_from((None, "plus", "min")))

    def program(library: Any) -> Any:
        v = u.build(library)
        s = library.Scalar.from_value(before, "INT64")
        s(accum=accum) << v.reduce(library.monoid.plus)
        t = library.Scalar.from_value(before, "FP32")
        t << v.reduce(library.monoid.max)
        return s, t, v.reduce(library.monoid.times).new("INT8")

    mirror(device, program)


@examples(15)
@given(data=st.data())
def test_binary_operators_that_have_a_monoid(device: str, data: Any) -> None:
    a = data.draw(matrices("INT32"))

    def program(library: Any) -> Any:
        x = a.build(library)
        return (
            x.reduce_rowwise(library.binary.plus).new(),
            x.reduce_scalar(library.binary.max).new(),
            x.reduce_columnwise("+").new(),
            x.reduce_rowwise("min").new("FP64"),
        )

    mirror(device, program)


@pytest.mark.parametrize("op", ["minus", "first", "truediv"])
def test_binary_operators_without_a_monoid_are_refused(op: str, device: str) -> None:
    with gb.device(device):
        matrix = gb.Matrix.from_coo([0, 0], [0, 1], [1, 2])
        with pytest.raises(gb.exceptions.NotImplementedException):
            matrix.reduce_rowwise(getattr(gb.binary, op)).new()


@examples(20)
@given(data=st.data())
def test_any_is_one_of_the_entries(device: str, data: Any) -> None:
    a = data.draw(matrices("INT32"))
    with gb.device(device):
        x = a.build(gb)
        rows = x.reduce_rowwise("any").new().to_dict()
        total = x.reduce_scalar("any").new().value
        entries = x.to_dicts()
    y = a.build(suitesparse())
    assert sorted(rows) == sorted(y.reduce_rowwise("any").new().to_dict())
    assert all(value in entries[i].values() for i, value in rows.items())
    assert (total is None) == (not entries)
    assert total is None or any(total in row.values() for row in entries.values())
