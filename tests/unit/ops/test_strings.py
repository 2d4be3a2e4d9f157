"""Operators as strings."""

from __future__ import annotations

import pytest

import semira as gb
from semira.base.errors import InvalidValue
from semira.ops.strings import semiring_key, split_dtype


def test_a_dtype_in_brackets_is_split_off() -> None:
    assert split_dtype("plus[int32]") == ("plus", "int32")
    assert split_dtype(" + [ FP64 ] ") == ("+", "FP64")
    assert split_dtype("min.+") == ("min.+", None)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("plus[int", "does not end with"),
        ("plus[int]extra", "does not end with"),
        ("plus[int][float]", "too many"),
        ("plus]", "too many"),
        ("plus][int]", "not matched by"),
    ],
)
def test_brackets_that_are_no_pair_at_the_end(text: str, message: str) -> None:
    with pytest.raises(InvalidValue, match=message):
        split_dtype(text)


def test_semirings_may_be_written_with_signs() -> None:
    assert semiring_key("min.+") == "min_plus"
    assert gb.semiring.from_string("+.*") is gb.semiring.plus_times


@pytest.mark.parametrize(
    ("text", "name"),
    [("col<=", "colle"), ("row>", "rowgt"), ("index<=", "indexle"), ("TRIU", "triu")],
)
def test_positions_may_be_compared_in_a_string(text: str, name: str) -> None:
    assert gb.select.from_string(text) is getattr(gb.select, name)


def test_a_name_of_numpy_is_found_last() -> None:
    assert gb.binary.from_string("logaddexp") is gb.binary.numpy.logaddexp
    assert gb.binary.from_string("mod") is gb.binary.numpy.mod


@pytest.mark.parametrize("space", ["unary", "binary", "monoid", "select", "agg", "op"])
def test_unknown_strings_name_their_space(space: str) -> None:
    with pytest.raises(ValueError, match=f"Unknown {space} string"):
        getattr(gb, space).from_string("no_such")


def test_aggregators_have_signs() -> None:
    assert gb.agg.from_string("+[int]") is gb.agg.sum["INT64"]
    assert gb.agg.from_string("|") is gb.agg.any
