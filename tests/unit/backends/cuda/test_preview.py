"""What becomes of programs that are not one kernel: pieces, with the numbers of the whole."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from tests.helpers.kernels import listed_programs, lowered
from tests.unit.backends.cuda.test_hosted import ADD, PRODUCT, SLOTS, SQUARE, loop

from semira.backends.cuda import preview
from semira.backends.cuda.backend import CAPABILITIES, PREVIEW
from semira.backends.cuda.hosted import prepare_hosted
from semira.backends.cuda.preview import phases_of
from semira.backends.cuda.staged import is_summed
from semira.base.dtypes import FP64, INT64
from semira.contract import (
    Arg,
    Barrier,
    Cause,
    Hints,
    HostLoop,
    Launch,
    LoopPhases,
    OneByOne,
    Phase,
    Program,
    Slot,
    Statement,
    Why,
    walk_statements,
)
from semira.ops.registry import monoid, semiring
from semira.plan import plan_program

NEW = (("new", True),)
#: ``m4<m1> = m1 plus_times m1.T``, of which `TOTAL` takes the sum.
MADE = replace(SQUARE, params=NEW)
TOTAL = Statement("reduce", 6, (Arg(4),), monoid["plus"].typed(INT64))
NVALS = Statement("nvals", 5, (Arg(4),), params=NEW)
#: Floating-point numbers: their order shows.
IN_ORDER = replace(
    MADE, operator=semiring["plus_times"].typed(FP64), hints=Hints(deterministic=True)
)
WITH_SUM = (*SLOTS, Slot("scalar", INT64, "inout"))
RADIX = Statement(
    "vxm", 3, (Arg(2), Arg(1)), semiring["plus_times"].typed(INT64), hints=Hints(merge="radix")
)


def outline(*body, sides=None):
    return phases_of(plan_program(Program(WITH_SUM, body), CAPABILITIES), sides)


def launches_of(steps) -> Iterator[Launch]:
    for step in steps:
        if isinstance(step, HostLoop):
            for body in step.bodies:
                yield from launches_of(body)
        else:
            yield step


def statements_of(steps) -> set[int]:
    found: set[int] = set()
    for step in steps:
        if isinstance(step, Phase):
            found |= {part.statement for part in step.parts}
        elif isinstance(step, LoopPhases):
            found = found.union(*map(statements_of, step.bodies))
    return found


def test_a_product_with_its_sum_is_one_launch_that_stores_no_product():
    (hosted,) = outline(loop(ADD, MADE, TOTAL))
    before, summed = hosted.bodies[0]
    assert before.statements == (0,)
    assert before.apart is None
    assert statements_of(before.steps) == {0}
    assert (summed.statements, summed.unstored, summed.is_one) == ((1, 2), ("m4",), True)
    assert summed.apart == Cause(Why.SUMS_PRODUCT, 1, "m4")
    assert hosted.apart == (summed.apart,)
    assert outline(MADE, TOTAL) == (replace(summed, statements=(0, 1), apart=Cause(
        Why.SUMS_PRODUCT, 0, "m4")),)  # fmt: skip


def test_rows_in_tables_are_several_launches():
    pinned = replace(MADE, hints=Hints(intersect="hash"))
    (summed,) = outline(pinned, TOTAL)
    assert summed.unstored == ("m4",)
    assert not summed.is_one


@pytest.mark.parametrize(
    ("product", "after", "why", "number"),
    [
        (MADE, (TOTAL, NVALS), Why.READ_AGAIN, 2),
        (replace(MADE, hints=Hints(method="hash")), (TOTAL,), Why.NO_DOTS, 1),
        (IN_ORDER, (TOTAL,), Why.FIXED_ORDER, 2),
    ],
)
def test_a_product_that_is_stored_though_it_is_summed(product, after, why, number):
    (hosted,) = outline(loop(ADD, product, *after))
    _, stored, last = hosted.bodies[0]
    assert stored.apart == Cause(Why.READS_SIZE, 1, "m4")
    assert stored.kept == Cause(why, number, "m4")
    assert stored.unstored == ()
    assert last.kept is None


def test_other_readers_of_a_product_are_no_sums():
    for after in (NVALS, loop(TOTAL)):
        (hosted,) = outline(loop(MADE, after))
        assert hosted.bodies[0][0].kept is None
    (lone,) = outline(MADE)
    assert lone == Launch((0,), apart=Cause(Why.READS_SIZE, 0, "m4"), is_one=False)


def test_pieces_have_the_numbers_of_the_whole():
    (hosted,) = outline(loop(MADE, NVALS, loop(ADD, PRODUCT), ADD, condition=5))
    stored, count, inner, last = hosted.bodies[0]
    assert hosted.conditions == ("x5",)
    assert [piece.statements for piece in (stored, count, inner, last)] == [
        (0,), (1,), (2, 3), (4,),
    ]  # fmt: skip
    (kernel_loop,) = (step for step in inner.steps if isinstance(step, LoopPhases))
    assert statements_of([kernel_loop]) == {2, 3}
    whole = phases_of(plan_program(Program(WITH_SUM, (loop(ADD, PRODUCT),)), CAPABILITIES))
    (alone,) = (step for step in whole if isinstance(step, LoopPhases))
    # The same but for the two statements before.
    for here, there in zip(kernel_loop.bodies[0], alone.bodies[0], strict=True):
        if isinstance(here, Barrier):
            assert here.cause == replace(
                there.cause,
                statement=None if there.cause.statement is None else there.cause.statement + 2,
                operand=here.cause.operand,
            )
        elif here.driver is not None and here.driver.startswith("w"):
            assert here.driver[1:].rstrip("m") == str(int(there.driver[1:].rstrip("m")) + 2)
        else:
            assert here.driver == there.driver


def test_loops_inside_are_run_by_the_host_where_they_must():
    (outer,) = outline(loop(ADD, loop(MADE, TOTAL, condition=6), condition=5))
    first, inner = outer.bodies[0]
    assert first.statements == (0,)
    assert isinstance(inner, HostLoop)
    assert (outer.conditions, inner.conditions) == (("x5",), ("x6",))
    assert outer.apart == inner.apart == (Cause(Why.SUMS_PRODUCT, 1, "m4"),)


def test_pushes_that_list_their_products_are_launches_of_their_own():
    (hosted,) = outline(loop(RADIX, ADD))
    merged, rest = hosted.bodies[0]
    assert merged == Launch((0,), apart=Cause(Why.OWN_LAUNCHES, 0), is_one=False)
    assert rest.statements == (1,)


def test_huge_objects_are_worked_on_statement_by_statement():
    given = loop(ADD, PRODUCT)
    assert outline(given, sides={2: 2**31 - 1}) == outline(given)
    for slot, name in ((1, "m1"), (2, "v2")):
        assert outline(given, sides={slot: 2**31}) == (OneByOne(Cause(Why.HUGE, None, name)),)


def test_it_is_what_the_backend_previews():
    assert PREVIEW.phases_of is phases_of


def test_every_statement_of_every_listed_program_stands_in_one_launch(monkeypatch):
    # What other tests have lowered is looked at again.
    monkeypatch.setattr(preview, "lower_program", lowered)
    in_pieces = 0
    for program in listed_programs():
        steps = phases_of(program)
        if not any(isinstance(step, (Launch, HostLoop)) for step in steps):
            continue
        found = list(launches_of(steps))
        numbers = [number for launch in found for number in launch.statements]
        assert numbers == list(range(len(list(walk_statements(program.body)))))
        prepared: list[Program] = []
        if len(found) > 1:
            # As many as the backend prepares.
            prepare_hosted(program, lambda piece, to=prepared: to.append(piece), is_summed)
            assert len(found) == len(prepared)
        in_pieces += 1
    assert in_pieces > 900
