"""Index-binary operators: positions in products and element by element, theta, refusals."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

import semira as gb
from semira.base.errors import DomainMismatch, NotImplementedException, UdfParseError


def where(x: Any, ix: Any, jx: Any, y: Any, iy: Any, jy: Any, theta: Any) -> Any:
    """Return a number whose digits are all that the function sees."""
    return theta + y + 10 * x + 100 * jy + 1000 * iy + 10_000 * jx + 100_000 * ix


@pytest.fixture
def op() -> Any:
    return gb.indexbinary.register_anonymous(where)


def a_matrix() -> Any:
    return gb.Matrix.from_coo([0, 1, 2], [2, 1, 2], [1, 2, 3])


def b_matrix() -> Any:
    return gb.Matrix.from_coo([0, 1, 2], [0, 3, 1], [4, 5, 6], ncols=4)


def test_products_see_both_positions(device, op):
    with gb.device(device):
        semiring = gb.semiring.register_anonymous(gb.monoid.plus, op(1_000_000))
        product = a_matrix().mxm(b_matrix(), semiring).new()
        u = gb.Vector.from_coo([1, 2], [7, 8])
        pulled, pushed = a_matrix().mxv(u, semiring).new(), u.vxm(b_matrix(), semiring).new()
    # a(i, k) meets b(k, j): x = a, ix = i, jx = k; y = b, iy = k, jy = j.
    assert product.to_dicts() == {
        0: {1: 1_022_116}, 1: {3: 1_111_325}, 2: {1: 1_222_136},
    }  # fmt: skip
    assert pulled.to_dict() == {0: 1_022_018, 1: 1_111_027, 2: 1_222_038}
    # The vector is a row: ix = 0.
    assert pushed.to_dict() == {3: 1_011_375, 1: 1_022_186}


def test_element_by_element_both_are_at_one_place(device, op):
    with gb.device(device):
        b = gb.Matrix.from_coo([0, 2], [2, 0], [4, 5], nrows=3, ncols=3)
        met = a_matrix().ewise_mult(b, op(0)).new()
        union = a_matrix().ewise_union(b, op(0), 0, 0).new()
        u = gb.Vector.from_coo([1, 2], [7, 8])
        vector = u.ewise_mult(u, op(0)).new()
        bound = a_matrix().apply(op(0), right=9).new()
    assert met.to_dicts() == {0: {2: 20_214}}
    assert union.to_dicts() == {
        0: {2: 20_214}, 1: {1: 111_120}, 2: {0: 202_005, 2: 222_230},
    }  # fmt: skip
    assert vector.to_dict() == {1: 101_077, 2: 202_088}
    assert bound.to_dicts()[0] == {2: 20_219}


def test_theta_and_dtypes(op):
    assert op(3) is op(3)
    assert op(3) is not op(3.0)
    assert op(3)["INT32"].return_type == "INT32"
    assert op(0.5)["INT32"].return_type == "FP64"
    assert op["INT8"](1).type == "INT8"
    assert op(gb.Scalar.from_value(3)) is op(3)
    assert op(3)["FP32"].gb_name == "where(3)_FP32"
    assert gb.dtypes.FC64 in op


def test_registered_names():
    made = gb.indexbinary.register_new("tests.where", where)
    assert made is gb.indexbinary.tests.where is gb.op.tests.where
    assert gb.indexbinary.from_string("tests.where") is made
    assert "tests" in dir(gb.indexbinary)
    with pytest.raises(AttributeError, match="already defined"):
        gb.indexbinary.register_new("tests.where", where)
    lazy = gb.indexbinary.register_new("tests.lazily", where, lazy=True)
    assert lazy is None
    assert gb.indexbinary.tests.lazily(1).types


def test_pickling(op):
    for each in (op, op(2), op["INT64"], op(2)["INT64"]):
        assert pickle.loads(pickle.dumps(each)) is each
    inner = gb.indexbinary.register_anonymous(lambda x, ix, jx, y, iy, jy, t: x)
    with pytest.raises(UdfParseError, match="imported by name"):
        pickle.dumps(inner)


def test_refusals(op):
    a = a_matrix()
    with pytest.raises(UdfParseError, match="7 parameters"):
        gb.indexbinary.register_anonymous(lambda x, y: x)
    with pytest.raises(UdfParseError, match="Numba"):
        gb.indexbinary.register_anonymous(lambda x, ix, jx, y, iy, jy, t: x.nothing)
    with pytest.raises(NotImplementedException, match="is_udt"):
        gb.indexbinary.register_anonymous(where, is_udt=True)
    with pytest.raises(DomainMismatch, match="number"):
        op(gb.Scalar(int))
    with pytest.raises(DomainMismatch, match="number"):
        op(a)
    with pytest.raises(DomainMismatch, match="accumulator"):
        a(accum=op(1)) << a
    with pytest.raises(DomainMismatch, match="Kronecker"):
        a.kronecker(a, op(1))
    with pytest.raises(DomainMismatch):
        a.ewise_mult(a, op)
