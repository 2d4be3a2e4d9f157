"""Scalars against python-graphblas: values, emptiness, arithmetic, dtypes."""

from __future__ import annotations

import operator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.helpers.pgb import examples, mirror, suitesparse
from tests.helpers.strategies import DTYPES, vectors

import semira as gb

VALUES = st.sampled_from((None, 0, 1, 3, -2, True, 0.5))


@examples(60)
@given(value=VALUES, dtype=st.sampled_from(("INT32", "FP64", "INT8", None)))
def test_from_value_and_cast(value: Any, dtype: str | None, device: str) -> None:
    if isinstance(value, float) and dtype in ("INT32", "INT8"):
        dtype = None
    if value is None and dtype is None:
        dtype = "FP64"

    def program(library: Any) -> Any:
        s = library.Scalar.from_value(value, dtype)
        return s, s.dup(), s.dup("FP32"), s.dup("UINT8"), s.dup(clear=True)

    mirror(device, program)


@pytest.mark.parametrize("sign", ["add", "sub", "mul", "truediv", "lt", "ge"])
@examples(15)
@given(left=VALUES, right=VALUES)
def test_arithmetic(sign: str, left: Any, right: Any, device: str) -> None:
    apply = getattr(operator, sign)

    def program(library: Any) -> Any:
        s = library.Scalar.from_value(left, "INT32" if not isinstance(left, float) else "FP32")
        t = library.Scalar.from_value(right, "INT32" if not isinstance(right, float) else "FP32")
        # python-graphblas adds a number to an empty Scalar as if both were Scalars; here a
        # number is bound, as for a Vector, and the result is empty.
        bound = [] if left is None else [apply(s, 2).new()]
        return (apply(s, t).new(), *bound)

    mirror(device, program)


@examples(30)
@given(before=VALUES, value=VALUES, dtype=st.sampled_from(DTYPES))
def test_writing(before: Any, value: Any, dtype: str, device: str) -> None:
    usable = before is None or dtype in ("FP32", "FP64") or before in (0, 1)

    def program(library: Any) -> Any:
        s = library.Scalar.from_value(before if usable else 1, dtype)
        s << library.Scalar.from_value(value, None if value is not None else "INT64")
        return s

    mirror(device, program)


@examples(30)
@given(data=st.data())
def test_values_taken_from_vectors(device: str, data: Any) -> None:
    u = data.draw(vectors("INT32", 3))

    def program(library: Any) -> Any:
        v = u.build(library)
        s = library.Scalar("FP64")
        s << v[1]
        t = library.Scalar.from_value(5, "INT64")
        t(accum="plus") << v.reduce(library.monoid.plus)
        v[0] = t
        return s, t, v, v[2].new("FP32")

    mirror(device, program)


def test_emptiness(device: str) -> None:
    for library in (gb, suitesparse()):
        with gb.device(device):
            s = library.Scalar("INT64")
            assert s.is_empty
            assert s.nvals == 0
            assert s.value is None
            assert s.get(7) == 7
            s.value = 3
            assert (s.nvals, s.value, s.get(7)) == (1, 3, 3)
            assert s == 3
            s.clear()
            assert s.is_empty
            s << 4
            s.value = None
            assert s.is_empty


def test_python_conversions(device: str) -> None:
    for library in (gb, suitesparse()):
        with gb.device(device):
            s = library.Scalar.from_value(3)
            assert (int(s), float(s), bool(s)) == (3, 3.0, True)
            assert [10, 11, 12, 13][s] == 13
            assert library.Scalar.from_value(0.0).dtype.name == "FP64"
            assert not bool(library.Scalar.from_value(False))


@examples(30)
@given(left=VALUES, right=VALUES)
def test_equality(left: Any, right: Any, device: str) -> None:
    with gb.device(device):
        answers = [
            (
                library.Scalar.from_value(left, "FP32").isequal(right or 0),
                library.Scalar.from_value(left, "FP32").isclose(right or 0, abs_tol=1.0),
                library.Scalar.from_value(left, "FP64").isequal(
                    library.Scalar.from_value(right, "FP64"), check_dtype=True
                ),
            )
            for library in (gb, suitesparse())
        ]
    assert answers[0] == answers[1]


def test_empty_scalars_are_refused_where_a_value_is_needed(device: str) -> None:
    with gb.device(device):
        v = gb.Vector.from_coo([0, 2], [1, 2], size=3)
        empty = gb.Scalar("INT64")
        for act in (
            lambda: v.apply("plus", right=empty).new(),
            lambda: v.select(">", empty).new(),
            lambda: v.ewise_union(v, "plus", empty, 0).new(),
            lambda: int(empty),
        ):
            with pytest.raises(gb.exceptions.EmptyObject):
                act()
