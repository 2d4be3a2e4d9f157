"""Iterations that one block runs alone: what is decided, what is handed over, who waits."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from functools import cache

import pytest
from tests.helpers.bfs_program import bfs_program
from tests.helpers.compiling import compile_only
from tests.helpers.every import every
from tests.helpers.kernels import listed_programs, lowered
from tests.unit.backends.cuda.test_compile import needs_nvrtc
from tests.unit.backends.cuda.test_lower import VECTORS, add

from semira.backends.cuda.backend import CAPABILITIES
from semira.backends.cuda.hosted import is_hosted
from semira.backends.cuda.lower import lower_program
from semira.backends.cuda.lower.solo import ALONE_POSITIONS
from semira.base.dtypes import BOOL, FC64, FP64, INT64, lookup_dtype
from semira.contract import Arg, Hints, Loop, Mask, Program, Slot, Solo, Statement
from semira.ops.registry import binary, monoid, semiring
from semira.plan import plan_program
from semira.plan.policy import SOLO_ENTER, SOLO_LEAVE

NOT_0 = Mask(0, structural=True, complement=True)
RECORD = lookup_dtype([("x", "i4"), ("y", "i8"), ("z", "f8", (3,))])


#: Thresholds that no iteration is too large for.
ALWAYS = Solo(2**31, 2**31)


def pinned(program: Program, solo: Solo = ALWAYS) -> Program:
    """Return a planned program with other thresholds."""

    def changed(item):
        if not isinstance(item, Loop):
            return item
        bodies = tuple(tuple(changed(inner) for inner in body) for body in item.bodies)
        return replace(item, bodies=bodies, solo=solo)

    return replace(program, body=tuple(changed(item) for item in program.body))


def looped(slots, *body, solo: Solo = ALWAYS) -> Program:
    """Return the planned loop over `body`; the last slot is its limit."""
    slots = (*slots, Slot("scalar", INT64))
    loop = Loop((body,), (None,), len(slots) - 1, explicit_limit=True)
    return pinned(plan_program(Program(slots, (loop,)), CAPABILITIES), solo)


def head(program: Program) -> str:
    source = lower_program(program).source
    return source[source.index("bool goes_on") : source.index("next_turn(barrier")]


def alike(source: str) -> set[str]:
    struct = source[source.index("struct Alike {") : source.index("static_assert(sizeof(Alike)")]
    return set(re.findall(r"(\w+);", struct))


#: What the list of programs is dealt out to; all of them, when tests are collected, take seconds.
PARTS = 8


@cache
def programs_with_loops() -> list[Program]:
    """Return programs whose loops may go alone: those that gather whole matrices do not."""
    looping = [p for p in listed_programs() if any(isinstance(item, Loop) for item in p.body)]
    return [p for p in looping if not is_hosted(p) and not lowered(p).sliced]


def test_what_gathers_whole_matrices_does_not_go_alone():
    slots = (*VECTORS, Slot("matrix", INT64))
    typed = semiring["min_plus"].typed(INT64)
    for balance, alone in (("rows", True), ("edges", False)):
        hints = Hints(direction="pull", balance=balance)
        product = Statement("mxv", 0, (Arg(4), Arg(1)), typed, hints=hints)
        assert ("next_turn(barrier" in lower_program(looped(slots, product)).source) == alone


# the plan ----------------------------------------------------------------------------------------
def test_only_a_backend_that_can_gets_thresholds():
    (loop,) = bfs_program(CAPABILITIES).body
    assert loop.solo == Solo(int(SOLO_ENTER.value), int(SOLO_LEAVE.value))
    (loop,) = bfs_program(replace(CAPABILITIES, solo=False)).body
    assert loop.solo is None
    assert SOLO_ENTER.source
    assert 0 < SOLO_ENTER.value < SOLO_LEAVE.value


def test_a_loop_without_thresholds_has_no_trace_of_it():
    source = lower_program(bfs_program(replace(CAPABILITIES, solo=False))).source
    assert not re.search(r"Alike|is_alone|hand_over|take_over", source)


# what an iteration walks -------------------------------------------------------------------------
def test_a_search_walks_its_frontier_and_the_edges_that_are_known():
    text = head(bfs_program(CAPABILITIES))
    assert "2 * static_cast<Count>(entries_walked(v1))" in text
    assert "work += edges2;" in text
    assert ".size" not in text.replace("previous2 == 1 ? v1.size : 0", "")


#: Two statements on vectors that may differ in size, and so share no phase.
APART = (*VECTORS, *VECTORS), (add(0, 1, 2), add(4, 5, 6))


def test_phases_that_look_at_every_position_count_every_position():
    slots, statements = APART
    counted = "work = static_cast<Count>(v0.size) + static_cast<Count>(v4.size);"
    assert counted in head(looped(slots, *statements))
    assert "work = static_cast<Count>(v0.size);" in head(looped(VECTORS, *[add(0, 1, 2)] * 2))


def test_edges_of_a_driver_born_in_the_iteration_are_taken_for_all_there_are():
    slots = (*VECTORS, Slot("matrix", INT64))
    typed = semiring["any_first"].typed(INT64)
    product = Statement("vxm", 3, (Arg(0), Arg(4)), typed, mask=NOT_0, replace=True)
    known = head(looped(slots, product))
    assert "work += edges0;" in known
    assert "if (!edges_known0)" in known
    born = head(looped(slots, add(0, 1, 2), product))
    assert "edges_known" not in born
    assert "static_cast<Count>(m4_csr.nvals)" in born


def test_a_product_that_only_pulls_walks_the_matrix():
    slots = (*VECTORS, Slot("matrix", INT64))
    typed = semiring["min_plus"].typed(INT64)
    hints = Hints(direction="pull", balance="rows")
    text = head(looped(slots, Statement("mxv", 0, (Arg(4), Arg(1)), typed, hints=hints)))
    assert "static_cast<Count>(m4_csr.nvals)" in text


def test_sums_in_a_fixed_order_are_left_to_all_blocks():
    slots = (Slot("vector", FP64), Slot("scalar", FP64, "inout"))
    for pinned in (True, False):
        hints = Hints(deterministic=pinned)
        statement = Statement("reduce", 1, (Arg(0),), monoid["plus"].typed(FP64), hints=hints)
        assert ("kOrderedBlocks * blockDim.x" in head(looped(slots, statement))) == pinned


# who goes alone ----------------------------------------------------------------------------------
def test_a_loop_that_is_small_only_where_the_launch_has_one_block_does_not_go_alone():
    slots, statements = APART
    for rounds, alone in ((1, True), (2, False)):
        program = looped(slots, *statements[:rounds], solo=Solo(2 * ALONE_POSITIONS, 9999))
        assert ("next_turn(barrier" in lower_program(program).source) == alone


def test_of_nested_loops_only_the_inner_one_goes_alone():
    slots = (*VECTORS, Slot("scalar", INT64))
    inner = Loop(((add(0, 1, 2),),), (None,), 4, explicit_limit=True)
    outer = Loop(((add(3, 0, 2), inner, add(1, 0, 3)),), (None,), 4, explicit_limit=True)
    source = lower_program(pinned(plan_program(Program(slots, (outer,)), CAPABILITIES))).source
    assert source.count("next_turn(barrier") == 1
    assert source.index("while (static_cast<Count>(completed)") < source.index("while (true)")
    # What the outer loop alone changes stays as it is.
    assert {"done1", "reason1", "turn1"} <= alike(source)
    assert not {"completed", "reason0", "turn0", "stop_turn"} & alike(source)


def test_each_body_of_a_loop_has_its_own_work():
    slots = (*VECTORS, Slot("scalar", INT64))
    bodies = ((add(0, 1, 2),), (add(3, 1, 2), add(0, 1, 3)))
    loop = Loop(bodies, (None, None), 4, explicit_limit=True)
    text = head(pinned(plan_program(Program(slots, (loop,)), CAPABILITIES)))
    assert (
        "if (goes_on && completed % 2 == 0) {\n        work = static_cast<Count>(v0.size);" in text
    )
    assert "if (goes_on && completed % 2 == 1)" in text


# what is handed over -----------------------------------------------------------------------------
def assigned_in_loop(source: str) -> set[str]:
    """Names declared outside of the phases and assigned between two iterations' heads."""
    run = source.index("auto run = [&]")
    declared = source[source.index("Journal journal") : run]
    names = set(re.findall(r"^  [\w<> ]+? (\w+)(?: = [^;]+|\([^;]+\));$", declared, re.MULTILINE))
    names |= set(re.findall(r"__shared__ [\w<>, ]+ (\w+);", source)) - {"shared_control"}
    loop = re.search(r"^( +)while \(true\) \{$.*?^\1\}$", source[run:], re.MULTILINE | re.DOTALL)
    assert loop is not None
    body = loop[0].partition("const Team team = team_of(")[2]
    changed = set(re.findall(r"\b(\w+) = ", body)) | set(re.findall(r"\+\+(\w+);", body))
    changed |= set(re.findall(r"scalar_(?:write|accumulate<\w+>)\((\w+),", body))
    changed |= set(re.findall(r"\b(v\d+|t\d+)\.\w+ = ", body))
    changed |= set(re.findall(r"(?:refresh\(|\b)(v\d+)(?:\.take_spare|, table)", body))
    return names & changed


@every("part", range(PARTS))
def test_all_that_a_loop_changes_is_handed_over(part):
    dealt = programs_with_loops()[part::PARTS]
    assert dealt
    for number, program in enumerate(map(pinned, dealt)):
        source = lower_program(program).source
        temporary = {f"x{k}" for k, slot in enumerate(program.slots) if slot.role == "temp"}
        changed = assigned_in_loop(source) - temporary - {"stop_word"}
        assert len(changed) > 3, number
        taken = source[source.index("auto take_over") : source.index("auto run")]
        assert changed <= set(re.findall(r"^ +(\w+) = ", taken, re.MULTILINE)), number


def test_at_the_end_of_the_program_nothing_is_handed_over_but_the_end():
    source = lower_program(bfs_program(CAPABILITIES)).source
    give = source[source.index("auto hand_over") : source.index("auto take_over")]
    before, after = give.split("if (!has_ended) {")
    assert re.findall(r"to\.(\w+) = ", before) == ["has_ended", "num_rows"]
    assert "to.v0 = v0;" in after
    end = source[source.index("  run();") :].splitlines()
    # Counters are zeroed behind the last barrier.
    assert "solo = table->alike->alone" in end[1]
    assert end[2:4] == ["  if (barrier.is_alone()) hand_over(true);", "  barrier.wait();"]


@needs_nvrtc
@pytest.mark.parametrize("arch", ["sm_80", "sm_90", "sm_100"])
def test_values_of_every_size_fit_where_they_are_handed_over(arch):
    slots = (
        *(Slot("vector", dtype, "inout") for dtype in (FC64, RECORD)),
        *(Slot("scalar", dtype, "inout") for dtype in (FC64, RECORD, BOOL)),
    )
    body = (
        Statement("assign", 0, (Arg(2),)),
        Statement("assign", 1, (Arg(3),)),
        Statement("reduce", 2, (Arg(0),), monoid["plus"].typed(FC64)),
        Statement("copy", 3, (Arg(3),)),
        Statement("apply", 4, (Arg(4), Arg(4)), binary["lor"].typed(BOOL)),
    )
    compiled = compile_only(looped(slots, *body), arch)
    assert compiled.log.strip("\0 \n") == ""


# the protocol ------------------------------------------------------------------------------------
class Memory:
    """What blocks share: the barrier and what is handed over."""

    def __init__(self) -> None:
        self.arrived = 0
        self.alike: tuple[int, bool] = (0, False)


class Block:
    """A model of one block: the head of `lower/solo.py`, the barriers of ``common/grid.cuh``."""

    def __init__(self, number: int, blocks: int, memory: Memory, works: list[int], ends: int):
        self.number, self.grid, self.memory = number, blocks, memory
        self.works, self.ends = works, ends
        self.blocks, self.target, self.done = blocks, 0, 0
        self.ran: list[int] = []

    def meet(self):
        self.target += self.grid
        self.memory.arrived += 1
        while self.memory.arrived < self.target:
            yield

    def wait(self):
        if self.blocks > 1:
            yield from self.meet()

    def hand_over(self, has_ended: bool):
        self.memory.alike = self.done, has_ended
        self.blocks = self.grid
        yield from self.wait()

    def loop(self):
        while True:
            goes_on = self.done < len(self.works)
            work = self.works[self.done] if goes_on else 0
            if self.blocks != self.grid:
                if not goes_on or work > 20:
                    yield from self.hand_over(False)
            elif goes_on and work < 10 and self.grid > 1:
                yield from self.wait()
                if self.number == 0:
                    self.blocks = 1
                else:
                    yield from self.meet()
                    self.done, has_ended = self.memory.alike
                    if has_ended:
                        return
                    goes_on = self.done < len(self.works)
            if not goes_on:
                return
            self.ran.append(self.done)
            yield from self.wait()
            if self.done == self.ends:
                return
            self.done += 1

    def run(self):
        yield
        yield from self.loop()
        if self.blocks != self.grid:
            yield from self.hand_over(True)
        yield from self.wait()


@every("seed", range(60))
def test_blocks_part_and_meet_in_any_order(seed):
    draw = random.Random(seed)
    works = [draw.choice((1, 5, 9, 15, 19, 21, 90)) for _ in range(draw.randrange(12))]
    ends = draw.choice((-1, *range(len(works))))
    blocks = draw.choice((1, 2, 5))
    memory = Memory()
    team = [Block(number, blocks, memory, works, ends) for number in range(blocks)]
    running = [block.run() for block in team]
    for _ in range(100_000):
        if not running:
            break
        one = draw.choice(running)
        if next(one, "ended") == "ended":
            running.remove(one)
    assert not running
    first, *others = team
    assert first.ran == list(range(len(works) if ends < 0 else ends + 1))
    assert len({block.target for block in team}) == 1
    assert memory.arrived == first.target
    alone, expected = False, []
    for done, work in enumerate(works):
        alone = blocks > 1 and (work <= 20 if alone else work < 10)
        if not alone:
            expected.append(done)
        if done == ends:
            break
    assert all(block.ran == expected for block in others)
