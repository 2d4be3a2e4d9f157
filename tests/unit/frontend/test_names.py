"""Names of objects in loop bodies, for people."""

from __future__ import annotations

import semira as gb
from semira.frontend.explain import names_in

everywhere = gb.Vector(bool, 4)


def test_closures_and_globals_have_names():
    ranks, total = gb.Vector(float, 3), gb.Scalar(int)

    def step():
        ranks << everywhere
        total << total + 1

    assert names_in(step) == {
        ranks._value: "ranks", total._value: "total", everywhere._value: "everywhere",
    }  # fmt: skip


def test_functions_of_a_function_are_followed_once():
    inside, other = gb.Vector(float, 3), gb.Matrix(float, 3, 3)

    def inner():
        inside << other.mxv(inside)
        return step

    def step():
        return inner, [everywhere for _ in range(2)]

    assert sorted(names_in(step).values()) == ["everywhere", "inside", "other"]


def test_no_two_objects_share_a_name():
    def made(found):
        return lambda: found

    found, other = gb.Vector(float, 3), gb.Vector(float, 3)
    inner = made(other)

    def step():
        return found, inner

    # Both are called `found` somewhere: the outer function's is.
    assert names_in(step) == {found._value: "found"}
    assert names_in(inner) == {other._value: "found"}


def test_what_has_no_name_has_none():
    v3, later = gb.Vector(float, 3), None
    held = [gb.Vector(float, 3)]

    def step():
        return v3, later, held, unset

    assert names_in(step) == {}
    unset = v3
    assert list(names_in(step).values()) == ["unset"]
    assert names_in(len) == names_in(3) == {}


def test_methods_are_functions():
    class Walk:
        def step(self):
            return everywhere

    assert list(names_in(Walk().step).values()) == ["everywhere"]
