"""Cutting a program around the statements that write a matrix."""

from __future__ import annotations

import signal
from types import SimpleNamespace

import pytest

from semira.backends.cuda.hosted import (
    HostedExecutable,
    HostedLoop,
    Piece,
    execute_hosted,
    is_hosted,
    prepare_hosted,
)
from semira.base.dtypes import INT64
from semira.contract import Arg, Loop, Mask, Program, Rows, Slot, Statement, TraceRow
from semira.contract.backend import Outcome
from semira.ops.registry import binary, semiring

SLOTS = (
    Slot("scalar", INT64), Slot("matrix", INT64, "inout"), Slot("vector", INT64, "inout"),
    Slot("vector", INT64, "inout"), Slot("matrix", INT64, "temp", ((1, 0), (1, 1))),
    Slot("scalar", INT64, "temp"),
)  # fmt: skip
PLUS = binary["plus"].typed(INT64)
ADD = Statement("ewise_add", 2, (Arg(2), Arg(3)), PLUS)
PRODUCT = Statement("vxm", 3, (Arg(2), Arg(1)), semiring["plus_times"].typed(INT64))
SQUARE = Statement(
    "mxm", 4, (Arg(1), Arg(1, True)), semiring["plus_times"].typed(INT64),
    Mask(1, structural=True, complement=False),
)  # fmt: skip
COUNT = Statement("nvals", 5, (Arg(4),))


def loop(*body, condition=None) -> Loop:
    return Loop((body,), (condition,), 0, explicit_limit=True)


def test_only_programs_with_more_than_a_matrix_statement_are_hosted():
    assert not is_hosted(Program(SLOTS, (SQUARE,)))
    assert not is_hosted(Program(SLOTS, (ADD, PRODUCT)))
    assert not is_hosted(Program(SLOTS, (loop(ADD, PRODUCT),)))
    assert is_hosted(Program(SLOTS, (ADD, SQUARE)))
    assert is_hosted(Program(SLOTS, (loop(SQUARE),)))


def test_what_stands_between_matrix_statements_is_one_piece():
    inner = loop(ADD, PRODUCT)
    body = (loop(ADD, PRODUCT, SQUARE, COUNT, inner, ADD, condition=5),)
    seen: list[Program] = []

    def prepare(program: Program) -> int:
        seen.append(program)
        return len(seen) - 1

    (hosted,) = prepare_hosted(Program(SLOTS, body), prepare).body
    assert isinstance(hosted, HostedLoop)
    assert all(isinstance(item, Piece) for item in hosted.bodies[0])
    assert [piece.executable for piece in hosted.bodies[0]] == [0, 1, 2, 3, 4]
    assert [piece.slots for piece in hosted.bodies[0]] == [
        (1, 2, 3), (1, 4), (4, 5), (0, 1, 2, 3), (2, 3),
    ]  # fmt: skip
    assert [piece.is_loop for piece in hosted.bodies[0]] == [False, False, False, True, False]
    # Each piece counts its own slots, and its temporaries outlive it.
    assert seen[1].body[0].out == 1
    assert seen[1].body[0].mask.slot == 0
    assert [slot.role for slot in seen[1].slots] == ["inout", "inout"]
    assert seen[2].body[0].args == (Arg(0),)
    assert seen[3].body[0].limit == 0
    assert [len(program.body) for program in seen] == [2, 1, 1, 1, 1]


def test_a_loop_inside_that_writes_a_matrix_is_hosted_too():
    (outer,) = prepare_hosted(Program(SLOTS, (loop(ADD, loop(SQUARE)),)), id).body
    assert [type(item) for item in outer.bodies[0]] == [Piece, HostedLoop]


def test_rows_that_a_loop_inside_has_lost_are_counted():
    row = TraceRow(0, "vxm", "push", 1, 2, 3, 4)
    # One statement, then a loop of ten products that kept four rows.
    traces = iter([(row,), Rows.after(6, [row._replace(iteration=at) for at in range(6, 10)])] * 3)

    def execute(executable, bindings) -> Outcome:
        return Outcome(trace=next(traces))

    thing = SimpleNamespace(duplicate=lambda: None)
    slots = tuple(slot for slot in SLOTS if slot.role != "temp")
    body = loop(ADD)
    pieces = Piece(None, (2, 3), is_loop=False), Piece(None, (2, 3), is_loop=True)
    program = HostedExecutable(Program(slots, (body,)), (HostedLoop(body, (pieces,)),))
    outcome = execute_hosted(None, program, [3, *[thing] * 5], execute)
    assert (len(outcome.trace), outcome.trace.lost) == (15, 18)


def test_ctrl_c_says_how_far_the_loop_came():
    body, runs = loop(ADD), []

    def execute(executable, bindings) -> Outcome:
        runs.append(executable)
        if len(runs) == 2:
            signal.raise_signal(signal.SIGINT)
        return Outcome()

    thing = SimpleNamespace(duplicate=lambda: None)
    bound = [9, thing, thing, thing, thing, thing]
    slots = tuple(slot for slot in SLOTS if slot.role != "temp")
    hosted = HostedLoop(body, ((Piece(None, (2, 3), is_loop=False),),))
    program = HostedExecutable(Program(slots, (body,)), (hosted,))
    with pytest.raises(KeyboardInterrupt) as caught:
        execute_hosted(None, program, bound, execute)
    assert caught.value.semira_iterations == len(runs) == 2
