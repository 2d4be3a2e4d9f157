"""The warm path: its keys tell apart what is another Program, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.helpers.every import every

import semira as gb
from semira.base.errors import DeviceMismatch, RecordError
from semira.base.recent import Recent
from semira.engine import recording, run, trace, warm
from semira.engine.calls import Call, Lowering

N = 6


def _objects() -> dict[str, Any]:
    return {
        "A": gb.Matrix.from_coo([0, 1, 2], [1, 2, 0], [1.0, 2.0, 3.0], nrows=N, ncols=N),
        "u": gb.Vector.from_coo([0, 2], [1.0, 2.0], size=N),
        "v": gb.Vector.from_coo([1, 2], [5.0, 6.0], size=N),
        "i": gb.Vector.from_coo([1, 2], [5, 6], size=N),
        "w": gb.Vector(float, N),
        "s": gb.Scalar.from_value(3.0),
    }


#: Writes that each need a Program of their own.
WRITES: dict[str, Callable[..., Any]] = {
    "mxv": lambda A, u, v, i, w, s: w << A.mxv(u, "plus_times"),
    "other semiring": lambda A, u, v, i, w, s: w << A.mxv(u, "min_plus"),
    "transposed": lambda A, u, v, i, w, s: w << A.T.mxv(u, "plus_times"),
    "into operand": lambda A, u, v, i, w, s: u << A.mxv(u, "plus_times"),
    "other dtype": lambda A, u, v, i, w, s: w << A.mxv(i, "plus_times"),
    "masked": lambda A, u, v, i, w, s: w(v.S) << A.mxv(u, "plus_times"),
    "mask is operand": lambda A, u, v, i, w, s: w(u.S) << A.mxv(u, "plus_times"),
    "mask is output": lambda A, u, v, i, w, s: w(w.S) << A.mxv(u, "plus_times"),
    "complement": lambda A, u, v, i, w, s: w(~v.S) << A.mxv(u, "plus_times"),
    "value mask": lambda A, u, v, i, w, s: w(v.V) << A.mxv(u, "plus_times"),
    "replace": lambda A, u, v, i, w, s: w(v.S, replace=True) << A.mxv(u, "plus_times"),
    "accum": lambda A, u, v, i, w, s: w(accum="plus") << A.mxv(u, "plus_times"),
    "pinned": lambda A, u, v, i, w, s: w(direction="pull") << A.mxv(u, "plus_times"),
    "ewise": lambda A, u, v, i, w, s: w << u.ewise_add(v, "plus"),
    "ewise with itself": lambda A, u, v, i, w, s: w << u.ewise_add(u, "plus"),
    "intersection": lambda A, u, v, i, w, s: w << u.ewise_mult(v, "plus"),
    "bound right": lambda A, u, v, i, w, s: w << u.apply("minus", right=2.0),
    "bound left": lambda A, u, v, i, w, s: w << u.apply("minus", left=2.0),
    "bound integer": lambda A, u, v, i, w, s: w << u.apply("minus", right=2),
    "bound scalar": lambda A, u, v, i, w, s: w << u.apply("minus", right=s),
    "assign": lambda A, u, v, i, w, s: w << 1.0,
    "assign to a range": lambda A, u, v, i, w, s: w[1:3] << 1.0,
    "assign to a list": lambda A, u, v, i, w, s: w[[1, 3]] << 1.0,
}


def _submitted(monkeypatch: pytest.MonkeyPatch, write: Callable[..., Any]) -> Call:
    calls: list[Call] = []
    with monkeypatch.context() as patch:
        patch.setattr("semira.frontend.call.submit", calls.append)
        write(**_objects())
    assert len(calls) == 1
    return calls[0]


@every("name", WRITES)
def test_bound_like_the_lowered_program(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    call = _submitted(monkeypatch, WRITES[name])
    lowering = Lowering()
    program = lowering.program((lowering.statement(call),))
    _, asked = warm.read(call)
    assert len(asked.bound) == len(program.slots)
    assert all(mine is theirs for mine, theirs in zip(asked.bound, lowering.bound, strict=True))


def test_one_key_for_each_program(monkeypatch: pytest.MonkeyPatch) -> None:
    keys, programs = {}, {}
    for name, write in WRITES.items():
        call = _submitted(monkeypatch, write)
        keys[name], programs[name] = warm.read(call)[0], warm.lowered(call)
    served: dict[Any, Any] = {}
    for name, key in keys.items():
        assert served.setdefault(key, programs[name]) == programs[name], name
    # A literal and a Scalar of one dtype are one Program.
    assert len(set(programs.values())) == len(WRITES) - 1
    again = {name: warm.read(_submitted(monkeypatch, write))[0] for name, write in WRITES.items()}
    assert again == keys


@every("name", WRITES)
def test_second_call_is_the_same(name: str, device: str) -> None:
    with gb.device(device):
        first, second = _objects(), _objects()
    WRITES[name](**first)
    WRITES[name](**second)
    for one, other in zip(first.values(), second.values(), strict=True):
        assert one.isequal(other, check_dtype=True)


def test_trace_and_recorder_see_warm_calls() -> None:
    given = _objects()
    WRITES["mxv"](**given)
    with trace.tracing() as traced, gb.Recorder() as recorder:
        WRITES["mxv"](**given)
        WRITES["ewise"](**given)
        assert given["u"].nvals == 2
    assert [program.body[0].op for program in traced.programs] == ["mxv", "ewise_add", "nvals"]
    assert [row.op for row in traced.rows] == ["mxv"]
    assert len(recorder.data) == 3


def test_mixed_devices_are_refused_and_nothing_moves() -> None:
    with gb.device("cpu"):
        u = gb.Vector.from_coo([0], [1.0], size=N)
    with gb.device("reference"):
        v = gb.Vector.from_coo([0], [1.0], size=N)
    w = gb.Vector(float, N)
    with pytest.raises(DeviceMismatch):
        w << u.ewise_add(v, "plus")
    assert (u.device, v.device, w.nvals) == ("cpu", "reference", 0)


def test_output_follows_its_placed_partner() -> None:
    with gb.device("reference"):
        u = gb.Vector.from_coo([0], [1.0], size=N)
    w = gb.Vector(float, N)
    w << u.apply("ainv")
    assert w.device == "reference"


def test_oldest_call_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warm, "_known", Recent(2))
    for name in ("mxv", "ewise", "assign"):
        WRITES[name](**_objects())
    assert len(warm._known) == 2
    WRITES["mxv"](**_objects())


def test_recorded_calls_are_not_run() -> None:
    given = _objects()
    with recording.recording() as record:
        run.submit(Call("copy", given["w"]._value, ((given["u"]._value, False),)))
    assert len(record.calls) == 1
    assert given["w"].nvals == 0


# loops -------------------------------------------------------------------------------------------
def _count(step_of: Callable[[gb.Scalar], Any], limit: int) -> tuple[int, Any]:
    total = gb.Scalar.from_value(0)

    def step() -> Any:
        total << total + step_of(total)
        return total < 10

    return gb.repeat(step, max_iterations=limit).iterations, total.value


def test_a_loop_asked_before_is_not_lowered_again(monkeypatch: pytest.MonkeyPatch) -> None:
    _count(lambda total: 1, 9)
    monkeypatch.setattr(run, "Lowering", None)
    assert _count(lambda total: 3, 9) == (4, 12)
    assert _count(lambda total: 3, 2) == (2, 6)


def test_loops_that_differ_are_different_programs() -> None:
    assert _count(lambda total: 2, 9) == (5, 10)
    assert _count(lambda total: 3.5, 9) == (4, 12)
    assert _count(lambda total: total + 1, 9) == (4, 15)


def test_what_the_host_knows_of_a_vector_is_part_of_the_key() -> None:
    graph = gb.Matrix.from_coo([0, 1, 2], [1, 2, 3], True, nrows=4, ncols=4)

    def reach(visited: gb.Vector) -> dict[int, Any]:
        front = gb.Vector.from_coo([0], True, size=4)

        def step() -> Any:
            visited(front.S) << True
            front(~visited.S, replace=True) << front.vxm(graph, "any_pair")
            return front.nvals > 0

        gb.repeat(step, max_iterations=9)
        return visited.to_dict()

    assert sorted(reach(gb.Vector(bool, 4))) == [0, 1, 2, 3]
    assert sorted(reach(gb.Vector.from_coo([2], True, size=4))) == [0, 1, 2]
    assert sorted(reach(gb.Vector(bool, 4))) == [0, 1, 2, 3]


@pytest.mark.parametrize(("literal", "iterations"), [(float("nan"), 3), (1.5, 3), (True, 3)])
def test_literals_of_two_recordings_are_compared(literal: Any, iterations: int) -> None:
    u = gb.Vector.from_coo([0], [1.0], size=3)

    def step() -> None:
        u << u.apply("second", right=literal)

    assert gb.repeat(step, max_iterations=3).iterations == iterations


def test_a_literal_that_changes_between_recordings_is_refused() -> None:
    u, numbers = gb.Vector.from_coo([0], [1.0], size=3), iter(range(100))

    def step() -> None:
        u << u.apply("plus", right=float(next(numbers)))

    with pytest.raises(RecordError, match="changes from run to run"):
        gb.repeat(step, max_iterations=3)


def test_a_temporary_is_told_from_an_object() -> None:
    u = gb.Vector.from_coo([0, 1], [1.0, 2.0], size=3)
    w = gb.Vector(float, 3)

    def with_temporary() -> None:
        w << u.apply("ainv").new().apply("ainv")

    def with_object() -> None:
        w << u.apply("ainv")
        w << w.apply("ainv")

    for step in (with_temporary, with_object, with_temporary):
        w.clear()
        gb.repeat(step, max_iterations=1)
        assert w.isequal(u)
