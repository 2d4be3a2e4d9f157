"""Phases and barriers of the algorithms' loops: how many, and that the notes tell the truth."""

from __future__ import annotations

import re
from functools import cache

import pytest
from benchmarks.studies.variants import VARIANTS
from tests.helpers.kernels import listed_programs, lowered
from tests.helpers.recorded_loops import looping_program
from tests.unit.backends.cuda.test_lower import VECTORS, add, phases

import semira as gb
from semira.backends.cuda.backend import CAPABILITIES, phases_of
from semira.backends.cuda.lower import lower_program
from semira.backends.cuda.lower.notes import clash
from semira.base.dtypes import BOOL, INT64, lookup_dtype
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
from semira.ops.registry import binary, monoid, semiring
from semira.plan import plan_program

#: Barriers that depend on the data: rows that several blocks share, a list that is missing, edges
#: that nobody has counted, a plane that a pull has left, the end of a program whose scalar is
#: empty, a head that no product ran, an output that lacks entries, a result that was pushed.
CONDITIONAL = {
    Why.LONG_ROWS,
    Why.BUILDS_LIST,
    Why.COUNTS_EDGES,
    Why.EMPTIES,
    Why.NEEDS_VALUE,
    Why.NOT_AHEAD,
    Why.NOT_IN_PLACE,
    Why.PUSHED,
}


@cache
def loop_of(name: str, **options) -> tuple[Program, LoopPhases]:
    """Return the last program with a loop that an algorithm runs, and its innermost loop."""
    program = looping_program(name, **options)
    steps, loop = phases_of(program), None
    while inner := [step for step in steps if isinstance(step, LoopPhases)]:
        loop, steps = inner[0], inner[0].bodies[0]
    return program, loop


# (phases, barriers) of an iteration. A barrier costs a microsecond and more in each of thousands of
# iterations: whoever adds one has to say here why. Decision 22 has the numbers from before.
MOST = [
    ("bfs", {}, 1, 1),
    ("bfs", {"parents": True}, 1, 1),
    ("sssp", {}, 2, 2),
    # The check of the scalar that `select` reads ends no phase.
    ("sssp", {"algorithm": "window"}, 3, 3),
    ("pagerank", {}, 1, 1),
    ("connected_components", {"symmetric": True}, 3, 3),
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
            made = lowered(program)
        except NotImplementedException:
            continue
        text = without_heads(made.source)
        assert text.count("barrier.wait();") == noted(made.phases), program
        groups = sum(step.by_position for step in all_phases(made.phases))
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


def test_a_temporary_that_is_written_again_has_one_cell():
    slots = (*VECTORS, Slot("vector", INT64, "temp", ((0, 0),)))
    born = Statement("copy", 4, (Arg(0),), params=(("new", True),))
    source = lower_program(Program(slots, (born, add(4, 4, 1), add(4, 4, 2), add(0, 4, 3)))).source
    assert phases(source) == 1
    assert source.count("auto c_v4 = empty_cell") == 1


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


# products that fill together ----------------------------------------------------------------------
#: Vectors 0 to 3 and a matrix, of BOOL: any_pair needs nothing of the plane it fills.
FRONTIERS = (*(Slot("vector", BOOL, "inout") for _ in range(4)), Slot("matrix", BOOL))
ANY_PAIR = semiring["any_pair"].typed(BOOL)


def product(out: int, u: int, mask: int | None = None, op: str = "vxm", **options) -> Statement:
    """Return ``out<~mask, replace> = u A`` (or A u)."""
    args = (Arg(u), Arg(4)) if op == "vxm" else (Arg(4), Arg(u))
    masked = None if mask is None else Mask(mask, structural=True, complement=True)
    return Statement(op, out, args, ANY_PAIR, masked, replace=mask is not None, **options)


def fills(*body, slots=FRONTIERS) -> list[list[int]]:
    """Return the products between one barrier and the next."""
    found: list[list[int]] = [[]]
    for step in phases_of(plan_program(Program(slots, body), CAPABILITIES)):
        if isinstance(step, Barrier) and not step.conditional:
            found.append([])
        elif isinstance(step, Phase) and step.parts[0].role == "product":
            found[-1].append(step.parts[0].statement)
    return [each for each in found if each]


def test_independent_products_fill_between_the_same_barriers():
    assert fills(product(0, 0, 2), product(1, 1, 3)) == [[0, 1]]
    assert fills(product(0, 0, 2), product(1, 1, 3, op="mxv")) == [[0, 1]]
    assert fills(product(0, 2), product(1, 2), product(3, 2)) == [[0, 1, 2]]


def test_products_that_fill_together_are_kept_apart_inside_of_a_block():
    # Each gathers in shared memory, which another block's barrier does not guard.
    together = Program(FRONTIERS, (product(0, 0, 2), product(1, 1, 3)))
    source = lower_program(plan_program(together, CAPABILITIES)).source
    assert re.search(r"__syncthreads\(\);\s*const ChunkQueue queue1", source)
    assert re.search(r"queue0, now0.queued\);\s*__syncthreads\(\);\s*if \(now1", source)


@pytest.mark.parametrize(
    "second",
    [
        product(1, 0),  # reads what the first makes
        product(1, 3, mask=0),  # looks through it
        product(0, 3),  # makes the same
        product(2, 3),  # replaces the mask of the first
    ],
)
def test_products_that_meet_do_not(second):
    assert fills(product(0, 1, mask=2), second) == [[0], [1]]


def test_results_that_are_merged_in_order_may_meet_in_one_output():
    plus = {"accum": binary["lor"].typed(BOOL)}
    assert fills(product(0, 1, **plus), product(0, 2, **plus)) == [[0, 1]]
    # But not one that replaces it.
    assert fills(product(0, 1, **plus), product(0, 2)) == [[0], [1]]
    assert fills(product(0, 1), product(0, 2, **plus)) == [[0, 1]]


def test_a_statement_between_keeps_products_apart():
    copied = Statement("copy", 3, (Arg(2),))
    assert fills(product(0, 0), copied, product(1, 1)) == [[0], [2]]


def test_two_searches_in_a_loop_share_their_barriers():
    with gb.device("reference"), gb.tracing() as traced:
        graph = gb.io.read("kron:4").dup("INT32")
        VARIANTS["two frontiers"][0](graph, [0, 1]).run(10)
    (program,) = (p for p in traced.programs if any(isinstance(item, Loop) for item in p.body))
    (loop,) = phases_of(plan_for(program, "cuda"))
    (body,) = loop.bodies
    _, single = loop_of("bfs")
    # One search alone writes its levels inside of the product (decision 26).
    assert (barriers_in(body), barriers_in(single.bodies[0])) == (2, 1)
    assert phases_in(body) == 4


def test_a_search_against_the_edges_of_a_directed_graph_too():
    _, loop = loop_of("connected_components")
    assert barriers_in(loop.bodies[0]) == 4


@pytest.mark.parametrize("first", [
    # Reads the old frontier: where it had entries.
    Statement("copy", 1, (Arg(2),), mask=Mask(0, structural=True, complement=False)),
    # Changes the old frontier, which is lost then.
    Statement("copy", 0, (Arg(1),)),
])  # fmt: skip
def test_what_waits_is_written_out_before_a_product_replaces_its_vector(first):
    source = lower_program(plan_program(Program(FRONTIERS, (first, product(0, 3))), CAPABILITIES))
    text = source.source
    assert text.index("// position by position: 0") < text.index("v0.take_spare(")
