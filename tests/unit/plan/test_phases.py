"""Phases and pieces in words."""

from __future__ import annotations

from dataclasses import replace

from tests.helpers.every import every
from tests.helpers.plans import ABLE, FRONTIER, bfs_body, bfs_slots, loop, program

from semira.contract import (
    Barrier,
    Cause,
    HostLoop,
    Launch,
    LoopPhases,
    OneByOne,
    Part,
    Phase,
    Why,
)
from semira.plan import ProgramPhases, explain_statement, phases_to_data, plan_program
from semira.plan.phases import operand_text, sentence_of

BODY = bfs_body()
PROGRAM = plan_program(program(loop(*BODY)), ABLE)
FUSED = Launch((0, 1), apart=Cause(Why.SUMS_PRODUCT, 0, "m4"), unstored=("m4",))
ROOM = "a matrix with room for all it may hold: a size is read above 256 MB alone"
STORED = Launch((2,), apart=Cause(Why.WRITES_MATRIX, 2, "m0"), is_one=False)
SUMMED = "statement 0 multiplies matrices: its dot products are added up as they are computed"
KERNEL = Launch((3,), (Phase((Part(3, "sum"),)), Barrier(Cause(Why.SUMMED, 3))))


def text(*steps, **fields) -> list[str]:
    """Return what is said below the statements."""
    lines = str(ProgramPhases(PROGRAM, steps, **fields)).splitlines()
    return lines[1 + len(BODY) :]


def test_a_loop_of_the_host_says_what_keeps_it_there():
    assert text(HostLoop(((STORED, KERNEL),), ("x5",)), names={0: "A", 5: "goes_on"}) == [
        "loop: run by the host, because of statement 2; it reads goes_on once an iteration",
        "  launches of its own: 2",
        f"    because statement 2 writes A, {ROOM}",
        "  one launch: 3",
        "    phase: 3 (sum)",
        "    barrier: statement 3 adds up what all have summed",
    ]


def test_a_product_that_is_only_summed_is_one_launch_and_not_stored():
    assert text(FUSED, STORED) == [
        "in pieces",
        "  one launch: 0, 1",
        f"    because {SUMMED}",
        "    never stores m4, because nothing but statement 1 reads it",
        "  launches of its own: 2",
        f"    because statement 2 writes m0, {ROOM}",
    ]


def test_a_product_that_is_stored_says_why():
    kept = Launch((0,), apart=STORED.apart, is_one=False, kept=Cause(Why.NO_DOTS, 0, "m4"))
    said = text(kept)[-1].strip()
    assert said == "stores m4, because statement 0 multiplies row by row, not by dot products"


def test_several_bodies_and_causes_are_told_apart():
    other = replace(STORED, statements=(3,), apart=replace(STORED.apart, statement=3))
    both = HostLoop(((FUSED,), (STORED, HostLoop(((other,),), (None,)))), (None, "x6"))
    causes = "run by the host, because of statements 0, 2 and 3"
    heads = [line for line in text(both) if "loop" in line]
    assert heads == [
        f"loop, body 0: {causes}",
        f"loop, body 1: {causes}; it reads x6 once an iteration",
        "  loop: run by the host, because of statement 3",
    ]


def test_one_by_one():
    assert text(OneByOne(Cause(Why.HUGE, None, "v2")), names={2: "f"}) == [
        "one by one: the host starts each statement, because f has a side of 2^31 or more"
    ]
    nothing = str(ProgramPhases(PROGRAM, None)).splitlines()[-1]
    assert nothing == "one by one: the device runs each by itself, so no statements share a phase"


def test_loops_and_launches_are_listed():
    inner = LoopPhases(((Phase((Part(3),)),),))
    outer = HostLoop(((FUSED, Launch((3,), (inner,))),), (None,))
    found = ProgramPhases(PROGRAM, (outer,))
    assert found.loops == [outer, inner]
    assert [launch.statements for launch in found.launches] == [(0, 1), (3,)]
    assert not found.is_one_kernel
    assert ProgramPhases(PROGRAM, (inner,)).is_one_kernel
    assert not ProgramPhases(PROGRAM, None).is_one_kernel


def test_names_stand_in_the_place_of_slots():
    found = ProgramPhases(PROGRAM, None, names={FRONTIER: "frontier"})
    assert found.statements[2].startswith("vxm: frontier<~v1.S, replace> = frontier any_pair m0")
    names = {1: "level", 2: "frontier"}
    assert operand_text("v2.spare", names) == "the old entries of frontier"
    assert operand_text("w2m", names) == "what statement 2 found"
    assert operand_text("v7", names) == "v7"
    said = sentence_of(Cause(Why.READS_WRITTEN, 4, "v1"), names)
    assert said == "statement 4 reads level, which was written before"


def test_plans_stand_below_products_and_equal_ones_once():
    twice = plan_program(program(loop(*BODY), loop(*BODY)), ABLE)
    product = explain_statement(twice.body[0].bodies[0][2])
    lines = str(ProgramPhases(twice, None, products={2: product, 6: product})).splitlines()
    at = next(at for at, line in enumerate(lines) if line.startswith("  2  vxm"))
    assert lines[at + 1].startswith("       method   push, ")
    assert lines[at + 2].startswith("                pull, ")
    assert any(line.startswith("       because  ") for line in lines)
    at = next(at for at, line in enumerate(lines) if line.startswith("  6  vxm"))
    assert lines[at + 1] == "       as statement 2"


def test_pieces_for_json():
    host, lone = phases_to_data(
        (HostLoop(((FUSED, KERNEL),), ("x5",)), OneByOne(Cause(Why.HUGE, None, "m0")))
    )
    assert host["conditions"] == ["x5"]
    assert host["apart"] == [{"why": "sums_product", "statement": 0, "operand": "m4"}]
    fused, kernel = host["host_loop"][0]
    assert fused == {
        "launch": [0, 1], "is_one": True, "apart": host["apart"][0], "unstored": ["m4"],
        "kept": None, "phases": [],
    }  # fmt: skip
    assert [next(iter(step)) for step in kernel["phases"]] == ["phase", "barrier"]
    assert lone == {"one_by_one": {"why": "huge", "statement": None, "operand": "m0"}}


@every("why", Why)
def test_every_reason_has_a_sentence(why):
    said = why.value.format(s=3, o="v1")
    assert said
    assert "{" not in said


def test_slots_without_a_name_keep_their_letter():
    kinds = {slot.kind for slot in bfs_slots()}
    assert kinds == {"matrix", "vector", "scalar"}
    assert ProgramPhases(PROGRAM, None).statements[0] == "assign: v1<v2.S> = assign(x3)"
