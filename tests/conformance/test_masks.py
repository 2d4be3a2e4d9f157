"""Masks of every dtype and form, on every kind of write, against SuiteSparse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.helpers.every import every
from tests.helpers.pgb import examples, mirror
from tests.helpers.strategies import (
    DTYPES,
    MASK_FORMS,
    MatrixSpec,
    VectorSpec,
    Write,
    covered,
    matrices,
    shaped,
    sizes,
    vectors,
)

import semira as gb


@pytest.mark.parametrize("dtype", DTYPES)
@examples(16)
@given(data=st.data())
def test_masks_of_every_dtype(dtype: str, device: str, data: Any) -> None:
    axes = {"ndim": (1, 2), "form": MASK_FORMS, "replace": (False, True), "dtype": DTYPES}
    row = data.draw(covered(("dtype", dtype), **axes))
    form, replace = row["form"], row["replace"]
    shape = tuple(data.draw(sizes) for _ in range(row["ndim"]))
    mask = data.draw(shaped(dtype, shape, special=True))
    write = Write(data.draw(shaped("INT32", shape)), mask, form, None, replace)
    x = data.draw(shaped("INT32", shape))

    def program(library: Any) -> Any:
        out = write.out.build(library)
        # SuiteSparse looks at the bits of a mask, so -0.0 would be true: see below.
        built = mask.build(library).apply(library.unary.abs).new()
        out(mask=write.mask_of(built), replace=replace) << x.build(library).apply("ainv")
        return out

    mirror(device, program)


@pytest.mark.parametrize("dtype", ["FP32", "FP64"])
def test_negative_zero_is_false_and_nan_true(dtype: str, device: str) -> None:
    # What a cast to BOOL says, in SuiteSparse too; only its masks differ.
    with gb.device(device):
        mask = gb.Vector.from_coo([0, 1, 2, 3], [-0.0, np.nan, 0.25, 0.0], dtype=dtype, size=5)
        out = gb.Vector("INT32", 5)
        out(mask.V) << 1
        assert out.to_dict() == {1: 1, 2: 1}
        out(~mask.V, replace=True) << 2
        assert out.to_dict() == {0: 2, 3: 2, 4: 2}


@pytest.mark.parametrize("form", MASK_FORMS)
@pytest.mark.parametrize("replace", [False, True])
@examples(16)
@given(data=st.data())
def test_every_form_of_write(form: str, replace: bool, device: str, data: Any) -> None:
    n, m = data.draw(sizes), data.draw(sizes)
    a, b = data.draw(matrices("INT32", n, m)), data.draw(matrices("INT32", m, n))
    u, v = data.draw(vectors("INT32", m)), data.draw(vectors("INT32", n))
    matrix_write = Write(
        data.draw(matrices("INT32", n, n)), data.draw(matrices("BOOL", n, n)), form, None, replace
    )
    vector_write = Write(
        data.draw(vectors("INT32", n)), data.draw(vectors("BOOL", n)), form, None, replace
    )

    def matrix_expressions(library: Any) -> list[Any]:
        x, y = a.build(library), b.build(library)
        both = library.Matrix("INT32", n, n)
        both << x.mxm(y, library.semiring.min_plus)
        return [
            x.mxm(y, library.semiring.plus_times),
            both.ewise_add(both.T, library.binary.minus),
            both.T,
            both.select(library.select.triu, 0),
            v.build(library).diag(),
            3,
        ]

    def vector_expressions(library: Any) -> list[Any]:
        x, w = a.build(library), v.build(library)
        return [
            x.mxv(u.build(library), library.semiring.plus_times),
            w.vxm(x.mxm(b.build(library)).new(), library.semiring.min_plus),
            x.reduce_rowwise(library.monoid.max),
            w.ewise_add(w, library.binary.times),
            w.ewise_mult(w, library.binary.plus),
            w.select(library.select.valuegt, 1),
            w[::-1],
            w,
            6,
        ]

    def program(library: Any) -> Any:
        results = []
        for write, expressions in (
            (matrix_write, matrix_expressions),
            (vector_write, vector_expressions),
        ):
            for expression in expressions(library):
                out, keywords = write.build(library)
                out(**keywords) << expression
                results.append(out)
        return tuple(results)

    mirror(device, program)


@every("form", MASK_FORMS)
def test_empty_and_full_masks(form: str, device: str) -> None:
    for pattern in ("empty", "full"):
        for spec in (VectorSpec(5, "BOOL", pattern, iso=True), MatrixSpec(3, 5, "BOOL", pattern)):

            def program(library: Any, spec: Any = spec) -> Any:
                write = Write(_same_shape(spec, "half", 1), spec, form, None, True)
                out, keywords = write.build(library)
                out(**keywords) << _same_shape(spec, "half", 2).build(library)
                return out

            mirror(device, program)


def _same_shape(spec: Any, pattern: str, seed: int) -> Any:
    make = VectorSpec if isinstance(spec, VectorSpec) else MatrixSpec
    return make(*spec.shape, "INT32", pattern, seed)


@examples(20)
@given(data=st.data())
def test_new_of_a_mask(device: str, data: Any) -> None:
    mask = data.draw(vectors("INT8"))
    form = data.draw(st.sampled_from(MASK_FORMS))

    def program(library: Any) -> Any:
        built = mask.build(library)
        chosen = built.S if form.endswith("S") else built.V
        return (~chosen if form.startswith("~") else chosen).new()

    mirror(device, program)


def test_a_plain_bool_object_is_its_value_mask(device: str) -> None:
    def program(library: Any) -> Any:
        mask = library.Vector.from_coo([0, 1], [True, False], size=3)
        first, second = library.Vector("INT32", 3), library.Vector("INT32", 3)
        first(mask) << 1
        second(mask.V) << 1
        return first, second

    mirror(device, program)


def test_masks_that_are_none_are_refused(device: str) -> None:
    with gb.device(device):
        v = gb.Vector.from_coo([0, 1], [1, 2], size=3)
        with pytest.raises(TypeError, match="Mask must be boolean"):
            v(v)
        with pytest.raises(TypeError, match="mask is provided"):
            v(replace=True)
        with pytest.raises(TypeError, match="mask"):
            v(v.S, mask=v.S)
        with pytest.raises(TypeError):
            bool(v.S)
        with pytest.raises(TypeError):
            v.S == v.S  # noqa: B015
