"""Monoids and semirings made of operators, with and without parameters."""

from __future__ import annotations

import pickle

import pytest

import semira as gb
from semira.base.errors import DomainMismatch, InvalidValue, MonoidMissing


def added(offset=0):
    def inner(x, y):
        return x + y + offset

    return inner


def minus_offset(offset=0):
    return -offset


def other_parameter(shift=0):
    return -shift


@pytest.fixture
def v():
    return gb.Vector.from_coo([0, 1, 3], [1, 2, -4], dtype="INT32")


def test_parameters_reach_monoids_and_semirings(v) -> None:
    operator = gb.binary.register_anonymous(added, parameterized=True)
    assert operator.monoid is None
    monoid = gb.monoid.register_anonymous(operator, minus_offset, "added")
    assert operator.monoid is monoid
    assert operator(1).monoid is monoid(1)
    assert v.reduce(monoid).new().value == -1
    assert v.reduce(monoid(1)).new().value == 1
    assert v.reduce(operator(1)).new().value == 1
    semiring = gb.semiring.register_anonymous(monoid, operator)
    assert semiring()(v @ v).new().value == 2 * (1 + 2 - 4)
    assert semiring(2)(v @ v).new().value == -2 + 3 * 2 + 2 * 2


def test_parameters_must_be_the_same() -> None:
    operator = gb.binary.register_anonymous(added, parameterized=True)
    with pytest.raises(ValueError, match="Signatures"):
        gb.monoid.register_anonymous(operator, other_parameter)


def test_an_identity_may_raise_for_some_parameters() -> None:
    def never(offset=0):
        raise ValueError("no identity")

    operator = gb.binary.register_anonymous(added, parameterized=True)
    gb.monoid.register_anonymous(operator, never)
    assert operator(3).monoid is None


def test_an_identity_wraps_only_where_it_stays_one() -> None:
    plus_one = gb.binary.register_anonymous(lambda x, y: x + y + 1)
    identities = gb.monoid.register_anonymous(plus_one, -1).identities
    assert identities[gb.dtypes.UINT8] == 255
    larger = gb.binary.register_anonymous(lambda x, y: max(y, x + 0))
    assert gb.dtypes.UINT8 not in gb.monoid.register_anonymous(larger, -1).types


def test_classes_are_checked() -> None:
    with pytest.raises(TypeError, match="must be a BinaryOp"):
        gb.monoid.register_anonymous(gb.monoid.plus, 0)
    with pytest.raises(TypeError, match="must be a Monoid"):
        gb.semiring.register_anonymous(gb.binary.plus, gb.binary.plus)
    with pytest.raises(TypeError, match="switch"):
        gb.semiring.get_semiring(gb.binary.plus, gb.monoid.times)
    assert gb.semiring.get_semiring(gb.binary.plus, gb.binary.times) is gb.semiring.plus_times
    assert gb.semiring.get_semiring(gb.monoid.plus, gb.monoid.times) is gb.semiring.plus_times


def test_reducing_needs_a_monoid(v) -> None:
    with pytest.raises(MonoidMissing, match="Expected type: Monoid"):
        v.reduce(gb.binary.minus)
    with pytest.raises(DomainMismatch, match="to get the Monoid"):
        v.reduce(gb.semiring.plus_times)
    with pytest.raises(DomainMismatch, match="part of a Monoid for BOOL datatype"):
        v.reduce(gb.binary.plus[bool])


def test_an_anonymous_operator_knows_the_monoid_made_of_it(v) -> None:
    operator = gb.binary.register_anonymous(lambda x, y: x + y + 0 * x * y)
    with pytest.raises(NotImplementedError):
        v.reduce(operator)
    monoid = gb.monoid.register_anonymous(operator, 0)
    assert operator.monoid is monoid
    assert v.reduce(operator).new().value == -1


def test_operators_with_parameters_survive_pickling() -> None:
    operator = gb.binary.register_anonymous(added, parameterized=True)
    again = pickle.loads(pickle.dumps(operator(2)))
    w = gb.Vector.from_coo([0], [5])
    assert w.ewise_mult(w, again).new().to_dict() == {0: 12}
    close = gb.binary.isclose(rel_tol=0.5)
    assert pickle.loads(pickle.dumps(close)) is close


def test_a_select_operator_must_return_bool_and_is_index_unary_too() -> None:
    with pytest.raises(InvalidValue, match="BOOL return type"):
        gb.select.register_new("not_bool", lambda x, i, j, t: x + t)
    assert not hasattr(gb.select, "not_bool")
    gb.select.register_new("early", lambda x, i, j, t: i < t)
    assert gb.indexunary.early.orig_func is gb.select.early.orig_func
    del gb.select.early
    del gb.indexunary.early
    assert not hasattr(gb.select, "early")


def test_dtypes_can_be_taken_from_an_operator() -> None:
    gb.unary.register_new("plus_five", lambda x: x + 5)
    del gb.unary.plus_five["INT8"]
    assert "INT8" not in gb.unary.plus_five
    assert "INT16" in gb.unary.plus_five
    del gb.unary.plus_five
    with pytest.raises(TypeError, match="built in"):
        del gb.unary.abs["INT8"]


def test_python_functions_min_and_max_are_operators() -> None:
    v, w = gb.Vector.from_coo([0, 1], [1, 5]), gb.Vector.from_coo([0, 1], [3, 2])
    assert v.ewise_mult(w, min).new().to_dict() == {0: 1, 1: 2}
    v(max) << w
    assert v.to_dict() == {0: 3, 1: 5}
