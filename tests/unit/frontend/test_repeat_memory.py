"""What a loop recorded is freed when it has run, and does not wait for the garbage collector."""

from __future__ import annotations

import gc
import weakref

import pytest

import semira as gb
from semira import monoid


@pytest.fixture
def on(device):
    with gb.device(device):
        yield device


def test_a_first_recording_is_freed_without_the_collector(on):
    def plain():
        v = gb.Vector.from_coo([0], [1], size=3)

        def step():
            v << v + v
            return v.reduce(monoid.max) < 7

        return v, step

    def rebound():
        v, w = gb.Vector.from_coo([0], [1], size=3), gb.Vector.from_coo([0], [1], size=3)

        def step():
            nonlocal v, w
            w << v + v
            v, w = w, v
            return v.reduce(monoid.max) < 7

        return v, step

    def nested():
        v = gb.Vector.from_coo([0], [1], size=3)

        def inner():
            v << v + v

        def step():
            gb.repeat(inner, max_iterations=2)
            return v.reduce(monoid.max) < 7

        return v, step

    def alive(make):
        v, step = make()
        gb.repeat(step)
        return weakref.ref(v)

    gc.disable()
    try:
        kept = [make.__name__ for make in (plain, rebound, nested) if alive(make)() is not None]
    finally:
        gc.enable()
    assert kept == []
