"""Heads of loop bodies that run at the end of the iteration before."""

from __future__ import annotations

from dataclasses import replace

import pytest

from semira.backends.cuda.lower import lower_program
from semira.backends.cuda.lower.rotation import Rotation, rotation_of
from semira.backends.cuda.lower.uses import uses_of
from semira.base.dtypes import BOOL, INT64
from semira.contract import Arg, Loop, Mask, Program, Slot, Statement
from semira.ops.registry import binary, monoid

U, PAIRS, TOTAL, DOUBLE, SIZE, GOES_ON, W = range(7)
SLOTS = (
    Slot("vector", INT64, "inout"),
    Slot("vector", INT64, "temp", ((U, 0),)),
    Slot("scalar", INT64, "temp"),
    Slot("scalar", INT64, "temp"),
    Slot("scalar", INT64, "temp"),
    Slot("scalar", BOOL, "temp"),
    Slot("vector", INT64, "inout"),
)
NEW = (("new", True),)
PLUS, TIMES = binary["plus"].typed(INT64), binary["times"].typed(INT64)

SQUARES = Statement("ewise_mult", PAIRS, (Arg(U), Arg(U)), TIMES, params=NEW)
SUM = Statement("reduce", TOTAL, (Arg(PAIRS),), monoid["plus"].typed(INT64), params=NEW)
TWICE = Statement("apply", DOUBLE, (Arg(TOTAL), Arg(TOTAL)), PLUS, params=NEW)
WRITE = Statement("apply", U, (Arg(U), Arg(DOUBLE)), PLUS)
COUNT = Statement("nvals", SIZE, (Arg(U),), params=NEW)
GREATER = binary["gt"].typed(INT64)
TEST = Statement("apply", GOES_ON, (Arg(SIZE), Arg(SIZE)), GREATER, params=NEW)
BODY = (SQUARES, SUM, TWICE, WRITE, COUNT, TEST)


def rotated(body=BODY, after=(), slots=SLOTS, conditions=(GOES_ON,)):
    loop = Loop((body,), conditions, TOTAL, explicit_limit=True)
    program = Program(slots, (loop, *after))
    return rotation_of(program, replace(loop, limit=99), uses_of(program))


def test_a_sum_of_temporaries_moves_and_scalars_stay_behind():
    assert rotated() == Rotation(head=2, tail=4)


def test_what_follows_the_last_sum_stays():
    assert rotated((SQUARES, *BODY[2:])) is None
    assert rotated((SUM, SQUARES, *BODY[2:])) == Rotation(head=1, tail=4)


@pytest.mark.parametrize(
    "body",
    [
        # A vector that outlives the iteration, a mask, an accumulated sum, a scalar operand.
        (replace(SQUARES, out=W), replace(SUM, args=(Arg(W),)), *BODY[2:]),
        (replace(SQUARES, mask=Mask(W, structural=True, complement=False)), *BODY[1:]),
        (SQUARES, replace(SUM, accum=PLUS), *BODY[2:]),
        (TWICE, *BODY),
        # A second writer; the condition sees the sum.
        (*BODY[:4], replace(SUM, args=(Arg(U),)), *BODY[4:]),
        (*BODY[:5], replace(TEST, args=(Arg(TOTAL), Arg(SIZE)))),
    ],
)
def test_what_does_not_move(body):
    assert rotated(body) is None


def test_what_others_see_does_not_move():
    later = Statement("apply", DOUBLE, (Arg(TOTAL), Arg(TOTAL)), PLUS, params=NEW)
    assert rotated(after=(later,)) is None
    assert rotated(conditions=(TOTAL,)) is None


def test_the_head_runs_once_before_the_loop_and_then_at_its_end():
    most = Slot("scalar", INT64)
    loop = Loop((BODY,), (None,), len(SLOTS), explicit_limit=True)
    text = lower_program(Program((*SLOTS, most), (loop,))).source
    before, inside = text.split("while (", 1)
    assert before.count("// 1: reduce") == inside.count("// 1: reduce") == 1
    assert inside.index("// 3: apply") < inside.index("// 1: reduce") < inside.index("// 4: nvals")
    assert "position by position: 0, 1, 3" in inside
