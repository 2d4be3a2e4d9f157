"""Errors that name what was probably meant."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.helpers.every import every

import semira as gb
from semira.exceptions import DomainMismatch, DtypeUnsupported, EmptyObject, InvalidValue

v = gb.Vector.from_coo([0, 1], [1.0, 4.0])
A = gb.Matrix.from_coo([0, 1], [1, 0], [1.0, 2.0])
BOOLS = gb.Matrix.from_coo([0, 1], [1, 0], True)

MISSPELT = {
    "apply": (lambda: v.apply("sqr"), "sqrt"),
    "apply, bound": (lambda: v.apply("pluss", right=1), "plus"),
    "mxm": (lambda: A.mxm(A, "min_pluss"), "min_plus"),
    "mxm, no underscore": (lambda: A.mxm(A, "minplus"), "min_plus"),
    "mxv": (lambda: A.mxv(v, "plus.time"), "plus_times"),
    "vxm": (lambda: v.vxm(A, "plus_tims"), "plus_times"),
    "inner": (lambda: v.inner(v, "pluss_times"), "plus_times"),
    "power": (lambda: A.power(2, "any_pears"), "any_pair"),
    "ewise_mult": (lambda: v.ewise_mult(v, "tims"), "times"),
    "ewise_add": (lambda: v.ewise_add(v, "minux"), "minus"),
    "ewise_union": (lambda: v.ewise_union(v, "truedv", 1, 1), "truediv"),
    "outer": (lambda: v.outer(v, "tims"), "times"),
    "kronecker": (lambda: A.kronecker(A, "tims"), "times"),
    "select": (lambda: A.select("trill"), "tril"),
    "reduce": (lambda: v.reduce("pluss"), "plus"),
    "reduce, aggregator": (lambda: v.reduce("meen"), "mean"),
    "reduce_rowwise": (lambda: A.reduce_rowwise("coount"), "count"),
    "reduce_scalar": (lambda: A.reduce_scalar("maxx"), "max"),
    "accum": (lambda: v(accum="pluss") << v, "plus"),
    "accum, positional": (lambda: v("pluss") << v, "plus"),
    "dup_op": (lambda: gb.Vector.from_coo([0, 0], [1, 2], dup_op="pluss"), "plus"),
    "scan": (lambda: v.ss.scan("pluss"), "plus"),
    "from_string": (lambda: gb.unary.from_string("sqqrt"), "sqrt"),
    "op.from_string": (lambda: gb.op.from_string("sqqrt"), "sqrt"),
    "agg.from_string": (lambda: gb.agg.from_string("meen"), "mean"),
    "with a dtype": (lambda: gb.semiring.from_string("min_pluss[int32]"), "min_plus"),
}


@every(("call", "meant"), MISSPELT.values(), ids=MISSPELT)
def test_misspelt_operators(call, meant):
    with pytest.raises(InvalidValue, match=rf"string: '.*'; did you mean '{meant}'\?"):
        call()


@every(
    ("module", "name", "meant"),
    [
        ("unary", "sqr", "sqrt"), ("binary", "pluss", "plus"), ("monoid", "timess", "times"),
        ("semiring", "min_pluss", "min_plus"), ("select", "trill", "tril"),
        ("indexunary", "rowindx", "rowindex"), ("op", "meen", None), ("agg", "meen", "mean"),
        ("unary", "qqqq", None), ("algorithms", "page_rank", "pagerank"),
    ],
)  # fmt: skip
def test_misspelt_attributes(module, name, meant):
    with pytest.raises(AttributeError, match=f"has no .* '{name}'") as caught:
        getattr(getattr(gb, module), name)
    assert ("did you mean" in str(caught.value)) == (meant is not None)
    assert meant is None or f"did you mean '{meant}'?" in str(caught.value)


def test_misspelt_names_of_the_package():
    for name, said in (
        ("Matrx", "did you mean 'Matrix'?"),
        ("semirng", "did you mean 'semiring'?"),
        ("bfs", "there is semira.algorithms.bfs"),
        ("read", "there is semira.io.read"),
        ("Graph", "there is semira.io.Graph"),
        ("leiden", "there is semira.apps.leiden"),
        ("from_networkx", "there is semira.io.from_networkx"),
    ):
        with pytest.raises(AttributeError) as caught:
            getattr(gb, name)
        assert str(caught.value) == f"module 'semira' has no attribute {name!r}; {said}"
    assert not hasattr(gb, "__wrapped__")


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: A.mxm(A, "plus"), "there is semira.binary.plus and semira.monoid.plus"),
        (lambda: v.ewise_mult(v, "sqrt"), "there is semira.unary.sqrt"),
        (lambda: v.apply("min_plus"), "there is semira.semiring.min_plus"),
        (lambda: v.select("exp"), "there is semira.unary.exp"),
    ],
)
def test_operators_of_another_kind(call, said):
    with pytest.raises(InvalidValue, match=f"string: '.*'; {said}$"):
        call()


FUNCTIONS = {
    "np.sqrt": (lambda: v.apply(np.sqrt), "semira.unary.sqrt"),
    "math.sqrt": (lambda: v.apply(math.sqrt), "semira.unary.sqrt"),
    "np.absolute": (lambda: v.apply(np.absolute), "semira.unary.abs"),
    "np.add, bound": (lambda: v.apply(np.add, right=1), "semira.binary.plus"),
    "np.deg2rad": (lambda: v.apply(np.deg2rad), "semira.unary.numpy.deg2rad"),
    "np.maximum": (lambda: v.ewise_mult(v, np.maximum), "semira.binary.numpy.maximum"),
    "np.hypot": (lambda: v.ewise_add(v, np.hypot), "semira.binary.numpy.hypot"),
    "reduce np.add": (lambda: v.reduce(np.add), "semira.monoid.plus"),
    "reduce np.mean": (lambda: v.reduce(np.mean), "semira.agg.mean"),
    "reduce sum": (lambda: A.reduce_rowwise(sum), "semira.agg.sum"),
    "accum": (lambda: v(accum=np.add) << v, "semira.binary.plus"),
    "accum, positional": (lambda: v(np.minimum) << v, "semira.binary.numpy.minimum"),
    "dup_op": (lambda: gb.Vector.from_coo([0, 0], [1, 2], dup_op=np.add), "semira.binary.plus"),
}


@every(("call", "meant"), FUNCTIONS.values(), ids=FUNCTIONS)
def test_functions_of_numpy_and_python(call, meant):
    with pytest.raises(TypeError, match=rf"use {meant}\b"):
        call()


def test_functions_that_make_no_semiring_or_select():
    for op in (np.add, lambda x, y: x):
        with pytest.raises(DomainMismatch, match=r"'min_plus', or .* semiring.register_anonymous"):
            A.mxm(A, op)
    for op in (np.greater, lambda x: x > 1):
        with pytest.raises(TypeError, match=r"Invalid mask.*select.register_anonymous of a func"):
            v.select(op)


def test_sums_of_truth_values():
    for call in (BOOLS.reduce_rowwise, BOOLS.reduce_columnwise, BOOLS.reduce_scalar):
        with pytest.raises(DtypeUnsupported, match=r"BOOL; .* plus\[INT64\], or .*agg.count"):
            call()
        assert call(gb.agg.count).new().dtype == "INT64"
        assert call(gb.monoid.plus["INT64"]).new().dtype == "INT64"
    with pytest.raises(DtypeUnsupported, match=r"name one of them, as in plus_times\[INT64\]"):
        BOOLS.mxm(BOOLS)


def test_arrays_are_no_operands():
    for call in (lambda: v * np.array([1.0, 2]), lambda: v * [1, 2], lambda: np.array([1, 2]) * v):
        with pytest.raises(TypeError, match=r"Vector.from_dense|to_coo\(\)"):
            call()
    with pytest.raises(TypeError, match="can't be directly converted to a numpy array"):
        np.array(v)


@pytest.mark.parametrize(
    "make", [gb.Scalar.from_value, lambda x: gb.Vector.from_coo([0], x).reduce("max")]
)
def test_scalars_format_and_round_as_numbers(make):
    x = make(2.71828)
    assert (f"{x:.2f}", f"{x:>8.1f}", round(x, 2), round(x)) == ("2.72", "     2.7", 2.72, 3)
    assert f"{x}" == str(x)
    assert f"{make(7):05d}" == "00007"
    assert format(gb.Scalar.from_value(True), "d") == "1"
    with pytest.raises(ValueError, match="format code"):
        format(x, "d")


def test_empty_scalars_do_not_format():
    with pytest.raises(EmptyObject, match=r"format\(\) of an empty Scalar"):
        format(gb.Scalar(int), ".2f")
    with pytest.raises(EmptyObject, match=r"round\(\) of an empty Scalar"):
        round(gb.Scalar(float), 1)
