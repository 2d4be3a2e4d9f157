"""Phases and barriers of the algorithms' loops: how many, and that the notes tell the truth."""

from __future__ import annotations

import re
from functools import cache

import pytest
from tests.helpers.kernels import listed_programs
from tests.unit.backends.cuda.test_lower import VECTORS, add

import semira as gb
from semira.backends.cuda.backend import phases_of
from semira.backends.cuda.lower import lower_program
from semira.backends.cuda.lower.notes import clash
from semira.base.dtypes import INT64, lookup_dtype
from semira.base.errors import NotImplementedException
from semira.contract import (
    Arg,
    Barrier,
    IndexSpec,
    Loop,
    LoopPhases,
    Mask,
    Phase,
    Program,
    Slot,
    Statement,
    Why,
    barriers_in,
    phases_in,
)
from semira.engine.explain import plan_for
from semira.ops.registry import monoid

#: Barriers that depend on the data: rows that several blocks share, a list that is missing, edges
#: that nobody has counted, the end of a program whose scalar is empty, a head that no product ran.
CONDITIONAL = {
    Why.LONG_ROWS,
    Why.BUILDS_LIST,
    Why.COUNTS_EDGES,
    Why.NEEDS_VALUE,
    Why.NOT_AHEAD,
}


@cache
def loop_of(algorithm: str, **options) -> tuple[Program, LoopPhases]:
    """Return the last program with a loop that an algorithm runs, planned for cuda, and its loop.

    It is recorded on another device, so it follows what the algorithm says today.
    """
    with gb.device("reference"), gb.tracing() as traced:
        graph = gb.io.read("kron:4").dup("FP32")
        places = (0,) if algorithm in ("bfs", "sssp") else ()
        getattr(gb.algorithms, algorithm)(graph, *places, **options)
    found = [p for p in traced.programs if any(isinstance(item, Loop) for item in p.body)]
    program = plan_for(found[-1], "cuda")
    loop = next(step for step in phases_of(program) if isinstance(step, LoopPhases))
    return program, loop


# (phases, barriers) of an iteration. A barrier costs a microsecond and more in each of thousands of
# iterations: whoever adds one has to say here why. Decision 22 has the numbers from before.
MOST = [
    ("bfs", {}, 1, 1),
    ("bfs", {"parents": True}, 1, 1),
    ("sssp", {}, 2, 2),
    ("pagerank", {}, 2, 2),
    ("connected_components", {"symmetric": True}, 6, 5),
]


@pytest.mark.parametrize(("algorithm", "options", "phases", "barriers"), MOST)
def test_an_iteration_has_so_many_phases_and_barriers(algorithm, options, phases, barriers):
    _, loop = loop_of(algorithm, **options)
    (body,) = loop.bodies
    assert (phases_in(body), barriers_in(body)) == (phases, barriers)
    data = [step for step in body if isinstance(step, Barrier) and step.conditional]
    assert {step.cause.why for step in data} <= CONDITIONAL


def test_an_added_barrier_would_be_seen():
    slots = (*VECTORS, Slot("scalar", INT64))
    gathered = Statement("gather", 0, (Arg(1), Arg(2)))
    counts = []
    for body in ((add(1, 2, 3),), (add(1, 2, 3), gathered)):
        (loop,) = phases_of(Program(slots, (Loop((body,), (None,), 4, explicit_limit=True),)))
        counts.append(barriers_in(loop.bodies[0]))
    assert counts[0] < counts[1]


# notes against text ------------------------------------------------------------------------------
def noted(steps) -> int:
    """Return how many barriers are noted, conditional ones and those of inner loops included."""
    inner = sum(noted(body) for step in steps if isinstance(step, LoopPhases)
                for body in step.bodies)  # fmt: skip
    return inner + sum(isinstance(step, Barrier) for step in steps)


def without_heads(text: str) -> str:
    """Return a kernel's phases without the heads where blocks part and meet."""
    heads = re.compile(r"bool goes_on = .*?if \(!goes_on\) break;", re.DOTALL)
    return heads.sub("", text[text.index("auto run = [&]() ") : text.index("  run();")])


def test_every_barrier_of_every_listed_program_is_noted():
    looked = 0
    for program in listed_programs():
        try:
            lowered = lower_program(program)
        except NotImplementedException:
            continue
        text = without_heads(lowered.source)
        assert text.count("barrier.wait();") == noted(lowered.phases), program
        groups = sum(step.by_position for step in all_phases(lowered.phases))
        assert text.count("// position by position") == groups
        looked += 1
    assert looked > 1000


def all_phases(steps):
    for step in steps:
        if isinstance(step, LoopPhases):
            for body in step.bodies:
                yield from all_phases(body)
        elif isinstance(step, Phase):
            yield step


def test_a_temporary_that_is_noted_as_unstored_is_not_stored():
    program, loop = loop_of("sssp")
    unstored = {name for phase in all_phases((loop,)) for name in phase.unstored}
    source = lower_program(program).source
    assert len(unstored) == 2
    assert not any(re.search(rf"store_\w+(<\w+>)?\(team, {name}\b", source) for name in unstored)
    assert re.search(r"store_spare\(team, v\d+\b", source)


def test_drivers_and_loops_of_one_block_are_noted():
    _, bfs = loop_of("bfs")
    assert bfs.solo is not None
    assert [phase.driver for phase in all_phases((bfs,))] == ["v2", None]
    assert [phase.conditional for phase in all_phases((bfs,))] == [True, False]
    _, sssp = loop_of("sssp")
    assert sssp.solo is None
    assert [phase.driver for phase in all_phases((sssp,))] == [None, "w0"]


# reasons -----------------------------------------------------------------------------------------
def reasons(slots, *body) -> list[tuple]:
    """Return why phases of a program end, but for its own end."""
    ends = [phase.ended_by for phase in all_phases(phases_of(Program(slots, body)))]
    return [(e.why, e.statement, e.operand) for e in ends if e is not None and e.why != Why.ENDS]


def test_phases_say_why_they_end():
    gathered = Statement("gather", 0, (Arg(1), Arg(2)))
    wider = (*VECTORS, *VECTORS)
    assert reasons(wider, add(0, 2, 3), add(4, 5, 6)) == [(Why.OTHER_SIZE, 1, None)]
    assert (Why.WRITES_READ_ELSEWHERE, 1, "v1") in reasons(VECTORS, gathered, add(1, 2, 3))
    masked = Statement("copy", 0, (Arg(1),), mask=Mask(3, structural=True, complement=False))
    assert reasons(VECTORS, masked, add(2, 1, 0)) == [(Why.OUTSIDE_OF_DRIVER, 1, "v3")]
    pair = lookup_dtype([("x", "f8", (3,))])
    large = tuple(Slot("vector", pair, "inout") for _ in range(3))
    copies = (Statement("copy", 0, (Arg(1),)), Statement("copy", 2, (Arg(1),)))
    assert reasons(large, *copies) == [(Why.TOO_WIDE, 1, None)]


def test_phases_end_for_scalars():
    slots = (*VECTORS, Slot("scalar", INT64, "inout"), Slot("scalar", INT64, "inout"))
    summed = Statement("reduce", 4, (Arg(0),), monoid["plus"].typed(INT64))
    copied = Statement("copy", 5, (Arg(4),))
    assert reasons(slots, add(0, 1, 2), summed, copied) == [(Why.NEEDS_SUM, 2, "x4")]
    assigned = Statement("assign", 0, (Arg(4),), indices=(IndexSpec("all"),))
    overwritten = Statement("copy", 4, (Arg(5),))
    assert reasons(slots, assigned, overwritten) == [(Why.OVERWRITES_SCALAR, 1, "x4")]


def test_a_gather_of_what_was_just_written_waits_for_it():
    steps = phases_of(Program(VECTORS, (add(1, 2, 3), Statement("gather", 0, (Arg(1), Arg(2))))))
    causes = [step.cause for step in steps if isinstance(step, Barrier)]
    assert (causes[0].why, causes[0].statement) == (Why.CHECKED, 1)


def test_accesses_clash_where_one_of_them_writes():
    assert clash({"a"}, set(), {"a"}, set()) is None
    assert clash({"a"}, set(), set(), {"a"}) == (Why.READS_WRITTEN, "a")
    assert clash(set(), {"a"}, {"a"}, set()) == (Why.WRITES_READ, "a")
    assert clash(set(), {"b"}, set(), {"b"}) == (Why.WRITES_WRITTEN, "b")


def test_every_reason_has_a_sentence():
    from semira.plan.phases import SENTENCES

    assert set(SENTENCES) == set(Why)
