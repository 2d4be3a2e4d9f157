"""The option `autocompute`, infix chains, and calls of operators."""

from __future__ import annotations

import pytest

import semira as gb
from semira import binary, monoid, semiring, unary
from semira.exceptions import DtypeUnsupported


@pytest.fixture
def v():
    return gb.Vector.from_coo([0, 1], [1, 2], size=3)


@pytest.fixture
def w():
    return gb.Vector.from_coo([1, 2], [10, 20], size=3)


def test_expressions_are_computed_where_an_object_is_asked_for(v, w) -> None:
    assert (v + w).nvals == 3
    assert (v + w).ewise_mult(v).isequal(gb.Vector.from_coo([0, 1], [1, 24], size=3))


def test_without_autocompute_that_is_an_error_with_the_way_out(v, w) -> None:
    expression = v + w
    with gb.config.set(autocompute=False):
        with pytest.raises(TypeError, match="autocompute"):
            expression.nvals  # noqa: B018 - reading computes
        with pytest.raises(TypeError, match=r"\.new\(\)"):
            v.ewise_add(expression)
        assert expression.new().nvals == 3
    assert expression.nvals == 3


def test_unknown_options_are_refused() -> None:
    with pytest.raises(ValueError, match="autocompute"):
        gb.config.set(no_such_option=1)


def test_a_chain_takes_its_operator_at_every_step(v, w) -> None:
    with gb.config.set(autocompute=False):
        assert binary.plus(v | w | v).new().to_dict() == {0: 2, 1: 14, 2: 20}
        assert monoid.min(v & (w & v)).new().to_dict() == {1: 2}
        A = v.diag()
        assert semiring.plus_times(A @ A @ v).new().to_dict() == {0: 1, 1: 8}


def test_a_chain_of_two_signs_is_refused(v, w) -> None:
    with pytest.raises(TypeError, match="do not mix"):
        (v & w) | v


def test_an_infix_expression_without_operator_is_computed_for_bool_only(v, w) -> None:
    with pytest.raises(TypeError, match="only valid for BOOL"):
        (v | w).new()
    assert (v.dup(bool) | w.dup(bool)).nvals == 3


def test_a_product_of_truth_values_waits_for_its_semiring(v, device) -> None:
    with gb.device(device):
        A, b = gb.Matrix.from_coo([0, 1], [1, 2], True, nrows=3), v.dup(bool)
        assert semiring.lor_land(b @ A).new().to_dict() == {1: True, 2: True}
        assert semiring.any_pair(A @ A).new().to_dicts() == {0: {2: True}}
        assert semiring.lor_land(b @ b).new().value is True
    assert "DtypeUnsupported" not in repr(A @ A)
    with pytest.raises(DtypeUnsupported, match=r"semiring\.lor_land\(x @ y\)"):
        (A @ A).new()


def test_union_with_defaults_in_infix(v, w) -> None:
    found = binary.minus(v | w, left_default=100, right_default=0).new()
    assert found.to_dict() == {0: 1, 1: -8, 2: 80}
    with pytest.raises(TypeError, match="left_default and right_default"):
        binary.minus(v | w, left_default=100)


def test_operators_are_called_with_numbers_on_either_side(v) -> None:
    assert binary.minus(v, 1).new().to_dict() == {0: 0, 1: 1}
    assert binary.minus(10, v).new().to_dict() == {0: 9, 1: 8}
    assert binary.minus(10, 3).new() == 7
    assert unary.sqrt(4.0).new() == 2
    with pytest.raises(TypeError, match="Bad type"):
        binary.plus(v)


def test_adding_in_place_keeps_dtype_and_identity(v, w) -> None:
    before = v
    v += w
    assert v is before
    assert v.to_dict() == {0: 1, 1: 12, 2: 20}


def test_a_scalar_compares_to_a_bool() -> None:
    s = gb.Scalar.from_value(5)
    assert (s == 5) is True
    assert (s != 5) is False
    assert (gb.Scalar(int) == 5) is False
    assert not gb.Scalar(int)


def test_printing_an_expression_does_not_compute_without_autocompute(v, w) -> None:
    with gb.config.set(autocompute=False):
        assert "Result" not in repr(v + w)
        assert "Result" not in repr(v.diag() @ v.diag())
        assert "Result" not in repr(v.reduce())
    assert "Result" in repr(v + w)
