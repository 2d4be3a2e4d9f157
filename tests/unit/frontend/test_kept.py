"""Loops that stay with a matrix: what they answer, and when they are recorded anew."""

from __future__ import annotations

import gc
import threading
import weakref
from typing import Any

import numpy as np
import pytest

import semira as gb
from semira import exceptions
from semira.engine import trace

N = 40


def path(device: str) -> gb.Matrix:
    """Return the edges 0 -> 1 -> 2 -> ... ."""
    with gb.device(device):
        return gb.Matrix.from_coo(range(N - 1), range(1, N), True, nrows=N, ncols=N)


class Hops:
    """Hops from a vertex, by a loop that stays with the matrix; counts how often it is made."""

    def __init__(self, key: Any = "hops") -> None:
        self.key, self.made = key, 0

    def make(self, A: gb.Matrix) -> gb.Kept:
        self.made += 1
        level, depth = gb.Vector("INT32", N), gb.Scalar.from_value(0, "INT32")
        front = gb.Vector.from_coo([0], True, size=N)

        def step() -> Any:
            level(front.S) << depth
            depth << depth + 1
            front(~level.S, replace=True) << front.vxm(A, gb.semiring.any_pair)
            return front.nvals > 0

        return gb.Kept(step, (front,), (level, depth), N)

    def __call__(self, A: gb.Matrix, source: Any) -> tuple[gb.LoopResult, dict[int, int]]:
        given = source if isinstance(source, tuple) else ([source], True)
        loop, (level, depth) = gb.kept_loop(A, self.key, lambda: self.make(A), given)
        assert depth.value == loop.iterations
        return loop, level.to_dict()


def levels(source: int) -> dict[int, int]:
    return {vertex: vertex - source for vertex in range(source, N)}


def test_every_run_has_objects_of_its_own(device) -> None:
    A, hops = path(device), Hops()
    kept = []
    for source in (0, 30, 7):
        loop, (level, _) = gb.kept_loop(A, "hops", lambda: hops.make(A), ([source], True))
        assert (loop.iterations, loop.stopped_by) == (N - source, "condition")
        assert len(loop.trace) == loop.iterations
        kept.append((source, level))
    assert hops.made == 1
    for source, level in kept:
        assert level.to_dict() == levels(source)
        assert level.device == device


def test_several_positions_are_given(device) -> None:
    A, hops = path(device), Hops()
    for positions in ([3, 30], np.array([3, 30]), np.array([30, 3])):
        _, found = hops(A, (positions, True))
        assert found == {**levels(3), **levels(30)}


def test_a_matrix_that_was_written_has_another_loop(device) -> None:
    A, hops = path(device), Hops()
    hops(A, 0)
    A[5, 20] << True
    _, found = hops(A, 4)
    assert found[20] == 2
    assert hops.made == 2
    B = A.dup()
    hops(B, 4)
    assert hops.made == 3


def test_keys_and_options_are_told_apart(device) -> None:
    A, hops = path(device), Hops()
    hops(A, 0)
    with gb.config.set(deterministic=True):
        hops(A, 0)
        hops(A, 0)
        assert hops.made == 2
    hops(A, 0)
    assert hops.made == 2
    hops.key = "others"
    hops(A, 0)
    assert hops.made == 3


def test_names_that_may_mean_something_else_are_looked_up_again(device) -> None:
    A, hops = path(device), Hops()
    gb.unary.register_new("kept_loops_twice", lambda x: 2 * x)
    hops(A, 0)
    del gb.unary.kept_loops_twice
    hops(A, 0)
    assert hops.made == 2


def test_a_lean_matrix_keeps_nothing(device) -> None:
    A, hops = path(device), Hops()
    A.memory = "lean"
    assert hops(A, 35)[1] == hops(A, 35)[1] == levels(35)
    assert hops.made == 2


def test_threads_do_not_disturb_one_another(device) -> None:
    A, hops, wrong = path(device), Hops(), []
    hops(A, 0)

    def search(first: int) -> None:
        mine = range(first, N, 4)
        wrong.extend(source for source in mine if hops(A, source)[1] != levels(source))

    threads = [threading.Thread(target=search, args=(first,)) for first in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert hops.made == 1


def test_it_does_not_keep_the_matrix(device) -> None:
    # The first recording of a body has cycles of its own.
    Hops()(path(device), 0)
    A = path(device)
    Hops()(A, 0)
    kept = weakref.ref(A)
    gc.disable()
    try:
        del A
        assert kept() is None
    finally:
        gc.enable()


def test_traces_and_listeners_see_it(device) -> None:
    A, hops, heard = path(device), Hops(), []
    hops(A, 0)
    with gb.tracing() as traced:
        hops(A, 30)
    assert len(traced.programs) == 1
    assert len(traced.rows) == N - 30
    trace.listen(heard.append)
    try:
        assert hops(A, 30)[1] == levels(30)
    finally:
        trace.stop_listening(heard.append)
    assert hops.made == 1
    (run,) = heard
    assert run.program is traced.programs[0]
    assert run.num_bytes >= sum(A.memory_usage().values())


def failing(A: gb.Matrix) -> gb.Kept:
    """Return a loop in which each entry names the position that is looked at."""
    index, found = gb.Vector.from_coo([0], 1, "INT64", size=N), gb.Vector("FP64", N)
    sums = gb.Vector.from_coo(range(N), 1.0, size=N)

    def step() -> None:
        sums << sums.vxm(A, gb.semiring.plus_first)
        found << sums.gather(index)

    return gb.Kept(step, (index,), (found,), 1)


def test_after_an_error_the_next_run_is_right(device) -> None:
    A = path(device)
    for _ in range(2):
        with pytest.raises(exceptions.IndexOutOfBound, match=str(N + 3)):
            gb.kept_loop(A, "failing", lambda: failing(A), ([1], N + 3))
        _, (found,) = gb.kept_loop(A, "failing", lambda: failing(A), ([2], 7))
        assert found.to_dict() == {2: 1.0}


def test_inside_a_recorded_loop() -> None:
    A, hops = path("reference"), Hops()
    with pytest.raises(exceptions.RecordError, match="a kept loop runs at once"):
        gb.repeat(lambda: hops(A, 0), max_iterations=2)


def with_two_matrices(A: gb.Matrix) -> gb.Kept:
    B, v = A.dup(), gb.Vector.from_coo([0], True, size=N)

    def step() -> None:
        v << v.vxm(A, gb.semiring.any_pair)
        v << v.vxm(B, gb.semiring.any_pair)

    return gb.Kept(step, (v,), (v,), 1)


def with_a_written_matrix(A: gb.Matrix) -> gb.Kept:
    v = gb.Vector.from_coo([0], True, size=N)

    def step() -> None:
        v << v.vxm(A, gb.semiring.any_pair)
        A << A.mxm(A, gb.semiring.any_pair)

    return gb.Kept(step, (v,), (v,), 1)


def with_an_empty_start(A: gb.Matrix) -> gb.Kept:
    v = gb.Vector(bool, N)

    def step() -> None:
        v << v.vxm(A, gb.semiring.any_pair)

    return gb.Kept(step, (v,), (v,), 1)


def with_a_stranger(A: gb.Matrix) -> gb.Kept:
    kept = with_two_matrices(A)
    v = gb.Vector.from_coo([0], True, size=N)

    def step() -> None:
        v << v.vxm(A, gb.semiring.any_pair)

    return gb.Kept(step, (v,), (v, *kept.results), 1)


def with_a_counter(A: gb.Matrix) -> gb.Kept:
    v, calls = gb.Vector.from_coo([0], True, size=N), []

    def step() -> None:
        calls.append(1)
        v << v.vxm(A, gb.semiring.any_pair)

    return gb.Kept(step, (v,), (v,), 1)


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (with_two_matrices, "the one matrix"),
        (with_a_written_matrix, "the one matrix"),
        (with_a_stranger, "the one matrix"),
        (with_an_empty_start, "has entries"),
        (with_a_counter, "may change from call to call"),
    ],
)
def test_what_cannot_be_kept_is_refused(make, match) -> None:
    A = path("reference")
    for _ in range(2):
        with pytest.raises(exceptions.InvalidValue, match=match):
            gb.kept_loop(A, "refused", lambda: make(A), ([0], True))
    assert A.nvals == N - 1


def test_contents_are_counted_and_checked() -> None:
    A, hops = path("reference"), Hops()
    with pytest.raises(exceptions.InvalidValue, match="contents for 2 of the vectors"):
        gb.kept_loop(A, "hops", lambda: hops.make(A), ([0], True), ([0], True))
    with pytest.raises(exceptions.IndexOutOfBound):
        hops(A, N)
    assert hops(A, ([1, 1], True))[1] == levels(1)
