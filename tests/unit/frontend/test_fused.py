"""Statements that run once as one program: `fused`."""

from __future__ import annotations

import numpy as np
import pytest

import semira as gb
from semira import binary, monoid, semiring
from semira.backends.registry import backend_for
from semira.engine import loops
from semira.exceptions import IndexOutOfBound, RecordError
from semira.frontend.bodies import describe


@pytest.fixture
def on(device):
    with gb.device(device):
        yield device


@pytest.fixture
def programs(on, monkeypatch):
    """Programs that the device runs from now on."""
    found, backend = [], type(backend_for(on))
    execute = backend.execute

    def counted(self, executable, bindings):
        found.append(executable.program)
        return execute(self, executable, bindings)

    monkeypatch.setattr(backend, "execute", counted)
    return found


def normalise(x, norm):
    def step():
        norm << x.ewise_mult(x, binary.times).reduce(monoid.plus)
        norm << norm.apply("sqrt")
        x << x.apply(binary.truediv, right=norm)

    return step


def test_statements_run_once_as_one_program(programs):
    x, norm = gb.Vector.from_dense([3.0, 4.0]), gb.Scalar("FP64")
    programs.clear()
    done = gb.fused(normalise(x, norm))
    assert len(programs) == 1
    assert done.iterations == 1
    assert (norm.value, x.to_dense().tolist()) == (5.0, [0.6, 0.8])


def test_the_trace_has_the_products(on):
    A = gb.Matrix.from_coo([0, 1, 2], [1, 2, 0])
    w, v = gb.Vector("INT64", 3), gb.Vector.from_scalar(1, 3)

    def step():
        w << A.mxv(v, semiring.plus_pair)
        v << A.mxv(w, semiring.plus_second)

    assert [row.op for row in gb.fused(step).trace] == ["mxv", "mxv"]
    assert v.to_dense().tolist() == [1, 1, 1]


def test_a_loop_may_stand_among_the_statements(programs):
    total, twice = gb.Scalar.from_value(0), gb.Scalar("INT64")

    def count():
        total << total + 3
        return total < 10

    def step():
        total << 1
        gb.repeat(count)
        twice << total * 2
        # What a loop in it returns is nothing yet.
        return gb.repeat(count)

    programs.clear()
    gb.fused(step)
    assert len(programs) == 1
    assert (total.value, twice.value) == (13, 20)


def test_it_may_stand_in_a_loop(on):
    total = gb.Scalar.from_value(0)

    def add():
        total << total + 1

    def step():
        inner = gb.fused(add)
        with pytest.raises(RecordError, match="iterations"):
            inner.iterations  # noqa: B018
        return total < 3

    assert gb.repeat(step).iterations == 3
    assert total.value == 3


def test_matrices_may_be_written(on):
    A = gb.Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1])
    count = gb.Scalar("INT64")

    def step():
        C = A.mxm(A, semiring.plus_pair["INT64"]).new(mask=A.S)
        count << C.reduce_scalar(monoid.plus, allow_empty=False)

    gb.fused(step)
    assert count.value == 0


def test_like_statements_are_recorded_once(on, monkeypatch):
    seen, record = [], loops._record

    def counted(step, *given, **named):
        seen.append(step)
        return record(step, *given, **named)

    monkeypatch.setattr(loops, "_record", counted)
    found = []
    for values in ([3.0, 4.0], [6.0, 8.0]):
        x, norm = gb.Vector.from_dense(values), gb.Scalar("FP64")
        gb.fused(normalise(x, norm))
        found.append(norm.value)
    assert found == [5.0, 10.0]
    # Twice at most: they are compared. Other tests may have recorded them before.
    assert len(seen) <= 2


def test_a_loop_around_it_is_described():
    total = gb.Scalar.from_value(0)

    def add():
        total << total + 1

    def step():
        gb.fused(add)
        return total < 3

    assert describe(step) is not None


@pytest.mark.parametrize("returned", ["a condition", 3, np.True_])
def test_nothing_may_be_returned(on, returned):
    total = gb.Scalar.from_value(0)

    def step():
        total << total + 1
        return total < 3 if returned == "a condition" else returned

    # A loop may: what was recorded of it is not taken for these statements.
    if returned == "a condition":
        gb.repeat(step, max_iterations=1)
    before = total.value
    with pytest.raises(RecordError, match=r"test_fused\.py:\d+: `fused` runs its statements once"):
        gb.fused(step)
    assert total.value == before


def test_reading_a_number_is_refused(on):
    total = gb.Scalar.from_value(1)
    with pytest.raises(RecordError):
        gb.fused(lambda: total << total.value)


def test_an_error_changes_nothing(on):
    w, v = gb.Vector.from_scalar(1, 3), gb.Vector.from_scalar(1, 4)
    where = gb.Vector.from_dense([0, 1, 9])

    def step():
        w << 2
        w << v.gather(where)

    with pytest.raises(IndexOutOfBound):
        gb.fused(step)
    assert w.to_dense().tolist() == [1, 1, 1]


def test_traits_say_what_a_device_is_good_at(device):
    found = gb.device_traits(device)
    assert found.own_memory == found.fixed_points == (device == "cuda")
    assert found.directions == ({"pull"} if device == "suitesparse" else {"push", "pull"})
    with gb.device(device):
        assert gb.device_traits() == found
