"""Recorded loops: errors name the line of the body that has to change, and how."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial, wraps
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import semira as gb
from semira.exceptions import RecordError

TEXT = Path(__file__).read_text().splitlines()


@pytest.fixture(autouse=True)
def on(device: str) -> Iterator[str]:
    with gb.device(device):
        yield device


def refused(mark: str, step: Callable[[], Any], **given: Any) -> str:
    """Return what the error says after the line, which must be the one that ends in the mark."""
    with pytest.raises(RecordError) as caught:
        gb.repeat(step, **given)
    lines = [number for number, line in enumerate(TEXT, 1) if line.endswith(f"  # {mark}")]
    place, _, said = str(caught.value).partition(": ")
    assert [place] == [f"{__file__}:{line}" for line in lines]
    return said


# --- what a body returns ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("returned", "named"),
    [
        (lambda s, v: True, "True, which is fixed when the body is recorded; return a Scalar"),
        (lambda s, v: np.bool_(0), "np.False_, which is fixed"),
        (lambda s, v: 7, "7, which is fixed"),
        (lambda s, v: np.float64(0.5), "np.float64(0.5), which is fixed"),
        (lambda s, v: "go", "str; return a BOOL Scalar such as `frontier.nvals > 0`"),
        (lambda s, v: s, "a Scalar of INT64; return a BOOL Scalar"),
        (lambda s, v: s + 1, "a ScalarExpression of INT64; return a BOOL Scalar"),
        (lambda s, v: v, "a Vector of BOOL; return a BOOL Scalar"),
        (lambda s, v: v.S, "Mask; return a BOOL Scalar"),
        (lambda s, v: None, "None and there is no max_iterations; return a BOOL Scalar"),
    ],
)
def test_a_wrong_result_is_named_with_the_line_of_its_return(returned: Any, named: str) -> None:
    s, v = gb.Scalar.from_value(0), gb.Vector.from_dense([True, False])

    def step() -> Any:
        s << s + 1
        return returned(s, v)  # returned

    assert refused("returned", step).startswith(f"the loop body returns {named}")
    assert s.value == 0


def test_of_several_returns_the_function_is_named() -> None:
    s, flag = gb.Scalar.from_value(0), True

    def step() -> Any:  # several
        if flag:
            return bool(str(flag))
        return s < 3

    def certain() -> Any:
        if flag:
            return True  # certain
        return None

    def closing() -> Any:  # closing
        with memoryview(b""):
            return flag

    def without() -> None:
        s << s + 1  # without

    def generator() -> Any:  # generator
        yield s
        return s < 3

    refused("several", step)
    refused("certain", certain)
    refused("closing", closing)
    refused("without", without)
    assert "returns generator;" in refused("generator", generator)
    refused("lambda", lambda: True)  # lambda


class Body:
    def __init__(self) -> None:
        self.total = gb.Scalar.from_value(0)

    def method(self) -> Any:
        self.total << self.total + 1
        return self.total  # method

    @classmethod
    def of_class(cls) -> Any:
        return 1  # of_class

    @staticmethod
    def static() -> Any:
        return 1  # static

    def __call__(self) -> Any:
        self.total << self.total + 1
        return 1  # object


def logged(function: Callable[[], Any]) -> Callable[[], Any]:
    @wraps(function)
    def passing() -> Any:
        return function()

    return passing


def test_every_kind_of_callable_is_looked_into(on: str) -> None:
    def step(end: int) -> Any:
        return end  # step

    def cached() -> Any:
        return 1  # cached

    def plain() -> Any:
        return 1  # plain

    def forgetful() -> Any:
        @wraps(plain)
        def inner() -> None:
            plain()  # forgetful

        return inner

    refused("step", partial(step, 3))
    refused("step", partial(partial(step), end=3))
    refused("method", Body().method)
    refused("method", partial(Body().method))
    refused("of_class", Body.of_class)
    refused("static", Body.static)
    refused("object", Body())
    refused("object", partial(Body()))
    refused("cached", cache(cached))
    refused("plain", logged(plain))
    refused("plain", gb.device(on)(plain))
    refused("forgetful", forgetful())


def test_a_body_that_is_not_python_is_named_where_it_is_repeated() -> None:
    numbers = [1, 2]
    with pytest.raises(RecordError, match=rf"{Path(__file__).name}:\d+: the loop body returns 2"):
        gb.repeat(numbers.pop)


def test_what_is_returned_is_recorded_where_it_is_returned() -> None:
    v, kept = gb.Vector.from_dense([1, 2]), []

    def late() -> Any:
        kept.append(v.apply("ainv").new())
        return kept[0].nvals > 3  # late

    def own() -> Any:
        return gb.Scalar(bool)  # own

    assert "temporary made in another iteration" in refused("late", late)
    assert "a scalar made inside the loop body" in refused("own", own)


def test_explain_names_the_same_line() -> None:
    def step() -> Any:
        return 1  # explained

    line = next(number for number, text in enumerate(TEXT, 1) if text.endswith("# explained"))
    with pytest.raises(RecordError, match=rf"{Path(__file__).name}:{line}: the loop body returns"):
        gb.explain(step, max_iterations=3)


# --- what a loop inside of a loop returns -----------------------------------------------


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("iterations", "count them in a Scalar made before the outer loop"),
        ("stopped_by", "write its condition into a BOOL Scalar"),
        ("trace", "read the trace of the outer loop"),
        ("lost", "read `lost` of the outer loop"),
    ],
)
def test_fields_of_an_inner_loop_are_refused(name: str, remedy: str) -> None:
    s, kept = gb.Scalar.from_value(0), []

    def inner() -> Any:
        s << s + 1
        return s < 3

    def step() -> None:
        found = gb.repeat(inner)
        getattr(found, name)  # field

    def keep() -> None:
        kept.append(gb.repeat(inner))

    said = refused("field", step, max_iterations=2)
    assert said.startswith(f"`{name}` of a loop inside a recorded loop body is not known when the")
    assert remedy in said
    assert s.value == 0
    gb.repeat(keep, max_iterations=2)
    with pytest.raises(RecordError, match=f"`{name}` of a loop inside"):
        getattr(kept[0], name)


def test_an_inner_loop_is_no_condition() -> None:
    s = gb.Scalar.from_value(0)

    def step() -> Any:
        return gb.repeat(lambda: s << s + 1, max_iterations=2)  # nested

    assert gb.repeat(step, max_iterations=3).iterations == 3
    assert s.value == 6
    said = refused("nested", step)
    assert said.startswith("the loop body returns what a loop in it returned and there is no max")


def test_what_is_said_in_place_of_the_fields_works() -> None:
    A = gb.Matrix.from_coo([0, 1], [1, 0], [1, 1])
    v, turns, more = gb.Vector.from_dense([1, 1]), gb.Scalar.from_value(0), gb.Scalar(bool)

    def inner() -> Any:
        v << A.mxv(v, "plus_times")
        turns << turns + 1
        more << (turns < 100)
        return more

    def step() -> None:
        turns << 0
        gb.repeat(inner, max_iterations=5)

    loop = gb.repeat(step, max_iterations=2)
    assert (turns.value, more.value, len(loop.trace), loop.lost) == (5, True, 10, 0)
