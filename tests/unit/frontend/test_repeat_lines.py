"""Recorded loops: errors name the line of the body that has to change, and how."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial, wraps
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.helpers.every import every

import semira as gb
from semira import binary
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


def ticks() -> Callable[[], int]:
    numbers = iter(range(100))
    return lambda: next(numbers)


# --- what a body returns ----------------------------------------------------------------


@every(
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
    v, kept, tick = gb.Vector.from_dense([1, 2]), [], ticks()

    def changing() -> Any:
        v << v + 1
        return v.nvals > tick()  # changing

    def late() -> Any:
        kept.append(v.apply("ainv").new())
        return kept[0].nvals > 3  # late

    def own() -> Any:
        return gb.Scalar(bool)  # own

    said = refused("changing", changing)
    assert "a Python value in `apply` is 0 in the first recording and 1 in a later one" in said
    assert "temporary made in another iteration" in refused("late", late)
    assert "a scalar made inside the loop body" in refused("own", own)


def test_explain_names_the_same_line() -> None:
    def step() -> Any:
        return 1  # explained

    line = next(number for number, text in enumerate(TEXT, 1) if text.endswith("# explained"))
    with pytest.raises(RecordError, match=rf"{Path(__file__).name}:{line}: the loop body returns"):
        gb.explain(step, max_iterations=3)


# --- bodies that change from run to run -------------------------------------------------


def changed(mark: str, step: Callable[[], Any]) -> str:
    said = refused(mark, step, max_iterations=9)
    start, end = "the loop body changes from run to run: ", ". Nothing ran, but names that the body"
    assert said.startswith(start)
    what, found, _ = said.removeprefix(start).partition(end)
    assert found
    return what


def test_a_python_value_that_changes_is_named() -> None:
    v, w, tick = gb.Vector.from_dense([1, 2, 3]), gb.Vector(int, 3), ticks()
    kinds = iter([1, 1.5])

    def step() -> None:
        w << v.apply(binary.plus, right=4)
        w << v.apply(binary.plus, right=tick())  # literal
        w << v + w

    def other_dtype() -> None:
        w << v.apply(binary.plus, right=next(kinds))  # dtype

    remedy = ". Python values that change (a counter, a step size) must be Scalars made before"
    what = changed("literal", step)
    assert what.startswith(
        "a Python value in `apply` is 0 in the first recording and 1 in a later one" + remedy
    )
    assert "is 1 (INT64) in the first recording and 1.5 (FP64) in" in changed("dtype", other_dtype)
    assert w.nvals == 0


def test_positions_that_change_are_named() -> None:
    v, tick = gb.Vector.from_dense([1, 2, 3]), ticks()

    def one() -> None:
        v[tick()] << 5  # position

    def several() -> None:
        v[[2, tick()]] << 5  # positions

    def slices() -> None:
        v[tick() :] << 5  # slices

    assert changed("position", one).startswith(
        "an index of `assign` is 0 in the first recording and 1 in a later one. Positions that "
        "change must be values of a Vector made before the loop (`gather`, `scatter`)"
    )
    tick = ticks()
    assert "is [2, 0] in the first recording and [2, 1] in" in changed("positions", several)
    tick = ticks()
    assert "is `:` in the first recording and slice(1, 3, 1) in" in changed("slices", slices)


def test_operations_that_change_are_named_with_both_lines() -> None:
    v, w, flags = gb.Vector.from_dense([1, 2, 3]), gb.Vector(int, 3), iter([0, 1] * 9)

    def other() -> None:
        if next(flags):
            w << v  # other
        else:
            w << v + v  # first

    def more() -> None:
        if next(flags):
            w << v  # more
        w << v

    def fewer() -> None:
        w << v
        if not next(flags):
            w << v  # fewer

    line = next(number for number, text in enumerate(TEXT, 1) if text.endswith("# first"))
    what = changed("other", other)
    assert f"an operation is `ewise_add` ({__file__}:{line}) in the first" in what
    assert "and `copy` in a later one. A body must do the same each time" in what
    assert "the number of operations is 1 in the first recording and 2" in changed("more", more)
    assert "the number of operations is 2 in the first recording and 1" in changed("fewer", fewer)


CHANGES = {
    "`operator` of `apply` is binary.minus[INT64] in the first recording and binary.plus[INT64]": (
        lambda v, w, k: w << v.apply([binary.minus, binary.plus][k], right=1)
    ),
    "`accum` of `copy` is None in the first recording and binary.plus[INT64]": (
        lambda v, w, k: w(accum=[None, "plus"][k]) << v
    ),
    "`replace` of `copy` is False in the first recording and True": (
        lambda v, w, k: w(v.S, replace=bool(k)) << v
    ),
    "the mask of `copy` is `~vector.S` in the first recording and `vector.V`": (
        lambda v, w, k: w([~v.S, v.V][k]) << v
    ),
    "the mask of `copy` is None in the first recording and `vector.S`": (
        lambda v, w, k: w(**[{}, {"mask": v.S}][k]) << v
    ),
    "`deterministic` of `copy` is None in the first recording and True": (
        lambda v, w, k: w(**[{}, {"deterministic": True}][k]) << v
    ),
    "`submask` of `assign` is True in the first recording and None": (
        lambda v, w, k: [lambda: w[:](v.S) << 1, lambda: w(v.S)[:] << 1][k]()
    ),
    "`submask` of `assign` is None in the first recording and True": (
        lambda v, w, k: [lambda: w(v.S)[:] << 1, lambda: w[:](v.S) << 1][k]()
    ),
    "an operation is `copy` with `.new()` in the first recording and `copy` in": (
        lambda v, w, k: [v.dup, lambda: w << v][k]()
    ),
    "an operand of `copy` is a vector of INT64 of shape (3,) in the first recording and a vector": (
        lambda v, w, k: w << [v, v.dup(float)][k]
    ),
    "an operand of `apply` is a scalar of INT64 in the first recording and the Python value 3": (
        lambda v, w, k: w << v.apply("plus", right=[SCALAR, 3][k])
    ),
    "an operand of `ewise_add` is the same vector as one before it in the first recording and": (
        lambda v, w, k: w << v + [v, w][k]
    ),
}

SCALAR = gb.Scalar.from_value(3)


@every("what", CHANGES)
def test_whatever_changes_is_named(what: str) -> None:
    v, w, k = gb.Vector.from_dense([1, 2, 3]), gb.Vector(int, 3), iter([0, 1])

    def step() -> None:
        CHANGES[what](v, w, next(k))

    with pytest.raises(RecordError) as caught:
        gb.repeat(step, max_iterations=3)
    assert what in str(caught.value)


def test_functions_of_one_name_are_told_apart() -> None:
    v, w, tick = gb.Vector.from_dense([1, 2, 3]), gb.Vector(int, 3), ticks()

    def step() -> None:
        number = tick()
        w << v.apply(lambda x: x + number)  # function

    what = changed("function", step)
    assert "is unary.<lambda>[INT64] in the first recording and another one in a later" in what


def test_loops_inside_are_looked_into() -> None:
    s, tick = gb.Scalar.from_value(0), ticks()

    def limit() -> None:
        gb.repeat(lambda: s << s + 1, max_iterations=tick() + 1)  # limit

    def given() -> None:
        gb.repeat(lambda: s << s + 1, max_iterations=SCALAR if tick() else 3)  # given

    def inner() -> Any:
        s << s + 1
        return s < tick() // 2  # inner

    what = changed("limit", limit)
    assert "`max_iterations` of an inner loop is 1 in the first recording and 2 in a later" in what
    assert "A limit that changes must be a Scalar made before the loop" in what
    tick = ticks()
    assert "is the Python value 3 in the first recording and a scalar" in changed("given", given)
    tick = ticks()
    assert "is 0 in the first recording and 1" in changed("inner", lambda: gb.repeat(inner))


def test_a_condition_that_comes_and_goes_is_named() -> None:
    s, more, k = gb.Scalar.from_value(0), gb.Scalar.from_value(True), iter([0, 1])

    def step() -> Any:
        s << s + 1
        return [None, more][next(k)]  # condition

    what = changed("condition", step)
    assert (
        "the condition is None in the first recording and a scalar of BOOL in a later one" in what
    )


# --- objects that do not come back ------------------------------------------------------


def test_too_long_a_rotation_is_told_from_values_that_change() -> None:
    vectors = [gb.Vector.from_dense([10**k]) for k in range(6)]

    def step() -> None:
        vectors[0] << vectors[0] + vectors[1]  # rotation
        vectors.append(vectors.pop(0))

    said = refused("rotation", step, max_iterations=2)
    assert said.startswith(
        "5 recordings of the loop body did not repeat: it rebinds objects (this vector of INT64 is "
        "another one each time) that did not come back to their places within 4 recordings. "
        "Rotate at most 4 objects, write all steps of a longer rotation into one body (a Python "
        "`for` is unrolled), or copy (`p << q`). Nothing ran"
    )
    assert "Python value" not in said
    assert sorted(v.to_dict()[0] for v in vectors) == [10**k for k in range(6)]


def test_a_long_rotation_may_be_unrolled() -> None:
    vectors = [gb.Vector.from_dense([10**k]) for k in range(6)]

    def once() -> None:
        vectors[0] << vectors[0] + vectors[1]
        vectors.append(vectors.pop(0))

    def step() -> None:
        for _ in range(6):
            once()

    gb.repeat(step, max_iterations=2)
    values = [10**k for k in range(6)]
    for _ in range(12):
        values[0] += values[1]
        values.append(values.pop(0))
    assert [v.to_dict()[0] for v in vectors] == values


def test_a_condition_that_does_not_come_back_is_named() -> None:
    flags = [gb.Scalar.from_value(True) for _ in range(5)]

    def step() -> Any:
        flags.append(flags.pop(0))
        return flags[0]  # flags

    assert "this scalar of BOOL is another one each time" in refused("flags", step)


# --- what a loop inside of a loop returns -----------------------------------------------


@every(
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
