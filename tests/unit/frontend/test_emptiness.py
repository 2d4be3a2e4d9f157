"""Scalars that may be empty: the same in eager code and in a recorded loop body."""

from __future__ import annotations

import itertools
import operator

import pytest
from tests.helpers.every import every

import semira as gb
from semira.exceptions import DomainMismatch

SIGNS = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "//": operator.floordiv,
    "<": operator.lt, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip

#: What an operand is: a Scalar of a dtype and a value, a number, or a number of entries.
OPERANDS = {
    "empty": lambda v: gb.Scalar(int), "three": lambda v: gb.Scalar.from_value(3),
    "empty float": lambda v: gb.Scalar("FP64"), "float": lambda v: gb.Scalar.from_value(2.0),
    "1": lambda v: 1, "2": lambda v: 2, "2.5": lambda v: 2.5, "nvals": lambda v: v,
}  # fmt: skip


def outcome(sign: str, left: str, right: str, *, recorded: bool):
    """Return the value of ``left sign right``, with ``v.nvals`` read where it is written."""
    v = gb.Vector.from_coo([0, 2], [5, 6], size=4)
    made = [OPERANDS[name](v) for name in (left, right)]
    result = gb.Scalar("FP64")

    def step() -> None:
        given = [v.nvals if each is v else each for each in made]
        result << SIGNS[sign](*given)

    if recorded:
        gb.repeat(step, max_iterations=1)
    else:
        step()
    return result.value


@every(
    ("text", "expected"),
    [
        ("e + 1", 1), ("1 + e", 1), ("e - 1", -1), ("1 - e", 1), ("e * 2", None), ("2 - u", -1),
        ("u - 2.5", 0.5), ("u + e", 3), ("e < 2", None), ("b ^ True", True), ("e + e", None),
    ],
)  # fmt: skip
def test_a_number_beside_an_empty_scalar_stays(device, text, expected) -> None:
    with gb.device(device):
        names = {"e": gb.Scalar(int), "u": gb.Scalar.from_value(3), "b": gb.Scalar(bool)}
        assert eval(text, names).new().value == expected


def test_adding_in_place_begins_with_the_number() -> None:
    s, t = gb.Scalar(int), gb.Scalar(int)
    s += 2
    t -= 2
    assert (s.value, t.value) == (2, -2)


@pytest.mark.parametrize("sign", SIGNS)
def test_recorded_operators_are_the_eager_ones(device, sign) -> None:
    with gb.device(device):
        for left, right in itertools.product(OPERANDS, repeat=2):
            eager = outcome(sign, left, right, recorded=False)
            assert outcome(sign, left, right, recorded=True) == eager, (left, right)


def test_an_empty_scalar_equals_no_number_and_another_empty_one(device) -> None:
    with gb.device(device):
        e, f, u = gb.Scalar(int), gb.Scalar("FP64"), gb.Scalar.from_value(3)
        found = [gb.Scalar(bool) for _ in range(6)]

    def step() -> None:
        none = (e == None, u != None)  # noqa: E711
        for each, comparison in zip(found, (e == f, e != 0, e == u, e == 0, *none), strict=True):
            each << comparison

    gb.repeat(step, max_iterations=1)
    assert [each.value for each in found] == [True, True, False, False, True, True]


def test_a_loop_goes_on_while_an_empty_scalar_differs() -> None:
    t, u, turns = gb.Scalar(int), gb.Scalar.from_value(3), gb.Scalar.from_value(0)

    def step():
        turns << turns + 1
        return t != u

    assert gb.repeat(step, max_iterations=4).iterations == 4


def test_records_are_compared_by_value_and_emptiness() -> None:
    place = gb.dtypes.register_anonymous({"x": "INT32", "y": "INT32"})
    here, nowhere = gb.Scalar.from_value((1, 2), place), gb.Scalar(place)
    found = [gb.Scalar(bool) for _ in range(3)]

    def step() -> None:
        found[0] << (here == (1, 2))
        found[1] << (nowhere == here)
        found[2] << (nowhere != (1, 2))

    gb.repeat(step, max_iterations=1)
    assert [each.value for each in found] == [True, False, True]


def test_a_count_that_was_written_to_may_be_empty() -> None:
    v, result, empty = gb.Vector(int, 4), gb.Scalar(bool), gb.Scalar(int)

    def step() -> None:
        count = v.nvals
        count << empty
        result << (count == 0)

    gb.repeat(step, max_iterations=1)
    assert result.value is False


def test_what_is_no_number_is_refused_in_a_loop_as_outside() -> None:
    s = gb.Scalar.from_value(3)
    with pytest.raises(DomainMismatch, match="Bad type for argument `other`"):
        gb.repeat(lambda: s == "three", max_iterations=1)
