"""Heads of loop bodies that run inside the product of the iteration before."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from tests.helpers.compiling import assert_all_compile, compile_only
from tests.helpers.every import every
from tests.unit.backends.cuda.test_compile import needs_nvrtc
from tests.unit.backends.cuda.test_fusion import loop_of
from tests.unit.backends.cuda.test_lower import VECTORS

import semira as gb
from semira.backends.cuda.lower import lower_program
from semira.backends.cuda.lower.ahead import Ahead, ahead_of
from semira.backends.cuda.lower.product_parts import open_product
from semira.backends.cuda.lower.uses import list_readers_of
from semira.base.dtypes import BOOL, FC64, FP64, INT8, INT64, lookup_dtype
from semira.contract import (
    Arg,
    Barrier,
    IndexSpec,
    Loop,
    LoopPhases,
    Mask,
    Part,
    Phase,
    Program,
    Slot,
    Statement,
    walk_statements,
)
from semira.engine.explain import plan_for
from semira.ops.registry import binary, monoid, semiring, unary

LEVEL, F, A, DEPTH, ONE, COUNT, ZERO, GOES_ON, LIMIT, W, OTHER, TOTAL = range(12)
SLOTS = (
    Slot("vector", INT64, "inout"),
    Slot("vector", INT64, "inout"),
    Slot("matrix", INT64),
    Slot("scalar", INT64, "inout"),
    Slot("scalar", INT64),
    Slot("scalar", INT64, "temp"),
    Slot("scalar", INT64),
    Slot("scalar", BOOL, "temp"),
    Slot("scalar", INT64),
    Slot("vector", INT64, "inout"),
    Slot("vector", INT64),
    Slot("scalar", INT64, "inout"),
)
NEW, ALL = (("new", True),), (IndexSpec("all"),)
AT_F = Mask(F, structural=True, complement=False)
NOT_LEVEL = Mask(LEVEL, structural=True, complement=True)
PLUS, GREATER = binary["plus"].typed(INT64), binary["gt"].typed(INT64)


def nested_text(*, siblings: bool = False) -> str:
    """Return the program of a search inside of a loop, whose front is filled again behind it.

    With `siblings` another loop follows in place of a product.
    """
    with gb.device("reference"), gb.tracing() as traced:
        graph = gb.Matrix.from_coo([0, 1, 2], [1, 2, 3], True, nrows=64, ncols=64)
        level, other = gb.Vector("INT64", 64), gb.Vector.from_coo([0, 1], 1, "INT64", size=64)
        front, sizes = gb.Vector.from_coo([0], 1, "INT64", size=64), gb.Vector("INT64", 64)
        depth, total = gb.Scalar.from_value(1, "INT64"), gb.Scalar.from_value(0, "INT64")

        def search():
            level(front.S) << depth
            if siblings:
                sizes(front.S, accum=binary["plus"]) << depth
            front(~level.S, replace=True) << front.vxm(graph, gb.semiring.any_pair)
            total << front.reduce(gb.monoid.plus)
            return front.nvals > 0

        def refill():
            pushed = {} if siblings else {"direction": "push"}
            source = front if siblings else other
            front(~other.S, replace=True, **pushed) << source.vxm(graph, gb.semiring.any_pair)

        def outer():
            gb.repeat(search, max_iterations=64)
            if siblings:
                gb.repeat(refill, max_iterations=2)
            else:
                refill()
            level << other

        gb.repeat(outer, max_iterations=2)
    return lower_program(plan_for(traced.programs[-1], "cuda")).source


MARK = Statement("assign", LEVEL, (Arg(DEPTH),), mask=AT_F, indices=ALL)
NEXT = Statement("apply", DEPTH, (Arg(DEPTH), Arg(ONE)), PLUS)
FIRST = semiring["any_first"].typed(INT64)
PUSH = Statement("vxm", F, (Arg(F), Arg(A)), FIRST, mask=NOT_LEVEL, replace=True)
NVALS = Statement("nvals", COUNT, (Arg(F),), params=NEW)
TEST = Statement("apply", GOES_ON, (Arg(COUNT), Arg(ZERO)), GREATER, params=NEW)
BODY = (MARK, NEXT, PUSH, NVALS, TEST)

COPY = Statement("copy", W, (Arg(F),), mask=AT_F)
ADD = Statement("copy", W, (Arg(OTHER),), mask=AT_F, accum=PLUS)


def program_of(*body, slots=SLOTS, condition=GOES_ON, bodies=None, after=()):
    bodies = bodies or (body,)
    loop = Loop(bodies, (condition,) * len(bodies), LIMIT, explicit_limit=True)
    return Program(slots, (loop, *after))


def ahead(*body, **options):
    program = program_of(*body, **options)
    written = {each.out for each in walk_statements(program.body)}
    constants = frozenset(range(len(program.slots))) - written
    return ahead_of(program, program.body[0], constants, list_readers_of(program))


FOUND = Ahead(head=1, product=2, bound=ZERO, holds="< 1")


# what may run ahead ------------------------------------------------------------------------------
def test_writes_at_the_entries_of_what_the_product_makes():
    assert ahead(*BODY) == FOUND
    assert ahead(MARK, COPY, *BODY[1:]) == replace(FOUND, head=2, product=3)
    negated = replace(COPY, op="apply", operator=unary["ainv"].typed(INT64))
    assert ahead(MARK, negated, *BODY[1:]) == replace(FOUND, head=2, product=3)
    # An accumulator keeps entries where the source has none.
    assert ahead(MARK, ADD, *BODY[1:]) == replace(FOUND, head=2, product=3)
    assert ahead(MARK, replace(ADD, accum=None), *BODY[1:]) == replace(FOUND, product=3)
    # Only what stands at the head.
    assert ahead(NEXT, MARK, *BODY[2:]) is None


def test_a_loop_without_a_condition():
    assert ahead(*BODY[:3], condition=None) == Ahead(1, 2)


def test_products_with_a_mask_of_their_own_or_none():
    assert ahead(MARK, replace(PUSH, mask=None), *BODY[3:]) == replace(FOUND, product=1)
    other = replace(PUSH, mask=Mask(OTHER, structural=False, complement=False))
    assert ahead(MARK, other, *BODY[3:]) == replace(FOUND, product=1)


@pytest.mark.parametrize(
    ("name", "holds"), [("gt", "< 1"), ("ge", "<= 1"), ("ne", "< 1"), ("lt", None), ("eq", None)]
)
def test_conditions_that_hold_while_there_is_an_entry(name, holds):
    test = replace(TEST, operator=binary[name].typed(INT64))
    found = ahead(*BODY[:4], test)
    assert found == (None if holds is None else replace(FOUND, holds=holds))


def swapped(statement, **changes):
    return lambda body: tuple(replace(s, **changes) if s is statement else s for s in body)


def put(statement, at):
    return lambda body: (*body[:at], statement, *body[at:])


TOO_EARLY = {
    # Others see the level before its time, or see it change while they look at values.
    "valued mask": swapped(PUSH, mask=Mask(LEVEL, structural=False, complement=True)),
    "plain mask": swapped(PUSH, mask=Mask(LEVEL, structural=True, complement=False)),
    "read behind": put(Statement("nvals", TOTAL, (Arg(LEVEL),)), 3),
    "masks behind": put(Statement("copy", W, (Arg(OTHER),), mask=NOT_LEVEL), 3),
    "list is read": put(Statement("copy", W, (Arg(LEVEL),)), 1),
}
NOT_OWNED = {
    # An entry is final only when all have added to it; the result is merged; it is another vector.
    "monoid": swapped(PUSH, operator=semiring["min_second"].typed(INT64)),
    "merge": swapped(PUSH, replace=False),
    "accumulates": swapped(PUSH, accum=PLUS),
    "other operand": swapped(PUSH, args=(Arg(OTHER), Arg(A))),
    "own mask": swapped(PUSH, mask=Mask(F, structural=True, complement=True)),
    "second writer": put(Statement("copy", F, (Arg(OTHER),)), 1),
    "level is operand": swapped(MARK, out=F),
}
CHANGES = {
    # What the head reads is written behind the product, or what it writes elsewhere.
    "scalar behind": lambda body: (body[0], *body[2:4], body[1], body[4]),
    "vector behind": lambda body: put(Statement("copy", OTHER, (Arg(F),)), 4)(
        (MARK, ADD, *body[1:])
    ),
    "level behind": put(Statement("copy", LEVEL, (Arg(OTHER),)), 3),
    "level between": put(Statement("copy", LEVEL, (Arg(OTHER),)), 1),
}
NOT_PLAIN = {
    "replace": swapped(MARK, replace=True),
    "complement": swapped(MARK, mask=Mask(F, structural=True, complement=True)),
    "valued": swapped(MARK, mask=Mask(F, structural=False, complement=False)),
    "no mask": swapped(MARK, mask=None),
    "other mask": swapped(MARK, mask=Mask(OTHER, structural=True, complement=False)),
    "region": swapped(MARK, indices=(IndexSpec("range", ZERO),)),
    "gather": swapped(MARK, op="gather", args=(Arg(OTHER), Arg(F)), indices=()),
    "may be empty": swapped(MARK, op="apply", args=(Arg(F), Arg(DEPTH)), operator=PLUS, indices=()),
}
ENDS_EARLY = {
    "condition elsewhere": swapped(NVALS, args=(Arg(W),)),
    "condition too late": lambda body: (*body[:3], TEST, NVALS),
    "sides": swapped(TEST, args=(Arg(ZERO), Arg(COUNT))),
    "may fail": swapped(TEST, args=(Arg(COUNT), Arg(DEPTH))),
    "looks for positions": put(Statement("gather", W, (Arg(OTHER), Arg(F))), 3),
}
REFUSED = TOO_EARLY | NOT_OWNED | CHANGES | NOT_PLAIN | ENDS_EARLY


@every("name", REFUSED)
def test_what_stays_where_it_is(name):
    assert ahead(*REFUSED[name](BODY)) is None


def test_numbers_of_entries_are_not_compared_in_narrow_dtypes():
    slots = tuple(Slot("scalar", INT8) if at == ZERO else slot for at, slot in enumerate(SLOTS))
    test = replace(TEST, operator=binary["gt"].typed(INT8))
    assert ahead(*BODY[:4], test, slots=slots) is None


def test_wide_values_and_several_bodies_stay():
    record = lookup_dtype([("x", "f8", (3,))])
    for dtype, fits in ((FC64, True), (record, False)):
        slots = [Slot("vector", dtype, "inout") if at == LEVEL else s for at, s in enumerate(SLOTS)]
        slots[DEPTH] = Slot("scalar", dtype)
        body = tuple(each for each in BODY if each is not NEXT)
        assert (ahead(*body, slots=tuple(slots)) is not None) == fits
    assert ahead(bodies=(BODY, BODY)) is None
    inner = Loop(((NEXT,),), (None,), LIMIT, explicit_limit=True)
    assert ahead(MARK, inner, *BODY[1:]) is None


# text --------------------------------------------------------------------------------------------
def text_of(*body, **options) -> str:
    source = lower_program(program_of(*body, **options)).source
    return source[source.index("auto run") : source.index("\n  run();")]


def body_of(text: str) -> str:
    """Return a loop's text without the part that runs where nothing was prepared."""
    return re.sub(r"\n( +)if \(!ahead\d+\) \{\n.*?\n\1\}\n", "\n", text, flags=re.DOTALL)


def test_the_product_writes_for_the_next_iteration():
    text = text_of(*BODY)
    assert "ahead2 = false;" in text.partition("while (")[0]
    tests = re.search(r"const bool prepares = (.*);", text)
    assert tests is not None
    assert tests[1].split(" && ") == [
        "static_cast<Count>(completed) + 1 < most0",
        "stops == 0",
        f"x{ZERO}.value < 1",
        f"x{DEPTH}.has",
    ]
    # Nothing is loaded for what is known: the new entry, and that the mask lets it through.
    claimed = text[text.index("auto claimed") : text.index("const ChunkQueue")]
    assert "open_cell" not in claimed
    assert "fetch" not in claimed
    assert "update<" in claimed
    assert f"store_listed<false>(team, v{LEVEL}, list0, i" in claimed
    assert "sum_claimed" not in text
    assert f"if (ahead2) refresh(v{LEVEL}, now2, false);" in text


def test_the_push_empties_what_it_walks_and_only_pulls_are_cleared():
    text = text_of(*BODY)
    assert "spmspv_push_block<true>(" in text
    assert f"if (!(method2 == 0)) clear_spare(team, v{F});" in text
    # A product behind the loop may meet the clearing.
    later = text_of(*BODY, after=(PUSH,)).partition("journal.loop(")[2]
    assert "barrier.wait();" in later[: later.index("const ChunkQueue")]
    plain = text_of(*TOO_EARLY["read behind"](BODY))
    assert "ahead" not in plain
    assert "spmspv_push_block(" in plain
    assert re.search(rf"\n +clear_spare\(team, v{F}\);", plain)


def test_one_barrier_is_left_where_the_next_iteration_was_prepared():
    inside = body_of(text_of(*BODY).partition("while (")[2])
    # That which ends the product, and those for a missing list and for long rows.
    assert inside.count("barrier.wait();") == 3
    assert "position by position" not in inside
    steps = lower_program(program_of(*BODY)).phases
    (loop,) = (step for step in steps if isinstance(step, LoopPhases))
    (body,) = loop.bodies
    assert body[:2] == (
        replace(body[0], conditional=True),
        replace(body[1], conditional=True),
    )
    assert [type(step) for step in body[:2]] == [Phase, Barrier]
    assert body[2].parts == (Part(2, "product"), Part(0, "ahead"))
    certain = [s for s in body if isinstance(s, Barrier) and not s.conditional]
    assert len(certain) == 1


def test_vectors_that_may_have_entries_already_are_counted_apart():
    text = text_of(MARK, COPY, *BODY[1:])
    claimed = text[text.index("auto claimed") : text.index("auto sum_claimed")]
    assert f"open_cell(v{W}.here, i, live)" in claimed
    assert "fetch" not in claimed
    assert f"changes_v{W}.inserted" in text
    # Behind each way of the product, and behind the phase of long rows.
    ways = len(re.findall(r"spmspv_push_block<|spmv_pull_masked<", text))
    assert text.count("sum_claimed();") == ways + 1
    assert text.count(f"now3_v{W} = sums_v{W};") == 2
    assert f"if (ahead3) refresh(v{W}, now3_v{W}, false);" in text
    added = text_of(MARK, ADD, *BODY[1:])
    assert f"fetch(c_v{W}, v{W}.here, i);" in added
    assert f"fetch(c_v{OTHER}, v{OTHER}.here, i);" in added


def test_what_waits_is_written_out_before_the_product_writes_for_the_next_iteration():
    looks = Statement("copy", W, (Arg(OTHER),), mask=NOT_LEVEL)
    text = body_of(text_of(MARK, looks, *BODY[1:]).partition("while (")[2])
    assert text.index("position by position: 1") < text.index("const ChunkQueue")
    between = text[text.index("position by position: 1") : text.index("const ChunkQueue")]
    assert "barrier.wait();" in between


def test_a_sum_that_the_head_reads_is_there_before_the_product():
    total = Statement("reduce", DEPTH, (Arg(OTHER),), monoid["plus"].typed(INT64))
    text = body_of(text_of(MARK, total, *BODY[2:]).partition("while (")[2])
    assert text.index(f"scalar_write(x{DEPTH}, total1)") < text.index("auto claimed")


def test_a_nested_loop_starts_anew():
    inner = Loop((BODY,), (GOES_ON,), LIMIT, explicit_limit=True)
    copied = Statement("copy", F, (Arg(OTHER),))
    outer = Loop(((copied, inner),), (None,), LIMIT, explicit_limit=True)
    text = lower_program(Program(SLOTS, (outer,))).source
    assert text.index("while (") < text.index("ahead3 = false;", text.index("auto run"))
    tests = re.search(r"const bool prepares = (.*);", text)
    assert tests is not None
    # Only the outermost loop obeys an interrupt.
    assert "static_cast<Count>(done1) + 1 < most1" in tests[1]
    assert "stops" not in tests[1]


def test_a_pull_by_rows_runs_the_head_and_reads_no_mask_that_changes():
    program, _ = loop_of("bfs")
    text = lower_program(program).source
    assert "ahead2 = prepares;" in text
    pulls = re.findall(r"spmv_pull_\w+<.*", text)
    assert pulls
    assert all(call.endswith(", claimed, stale2);") for call in pulls)
    assert re.findall(r"gather\{(.*?), ", text) == ["prepares ? v2.here.words : v3.here.words"]


def test_what_a_pull_has_read_is_emptied_before_the_next_product_fills_it():
    program, _ = loop_of("bfs")
    inside, _, behind = lower_program(program).source.partition("journal.loop(team")
    # A push that has its list already follows a push.
    listing = inside[inside.index("build_list(team, v2") :]
    assert listing.index("if (stale2) clear_spare(team, v2);") < listing.index("barrier.wait();")
    pulled = inside[inside.index("if (stale2 && !pulls_words<") : inside.index("spmv_pull_masked<")]
    assert pulled.index("clear_spare(team, v2);") < pulled.index("barrier.wait();")
    done = inside[inside.index("stale2 = ahead2 &&") :]
    assert "if (!(method2 == 0) && !ahead2) clear_spare(team, v2);" in done
    assert done.rstrip().endswith("if (stale2) clear_spare(team, v2);")
    assert "clear_spare" not in behind


def test_who_fills_what_is_emptied_behind_a_loop_waits_for_it():
    text = nested_text()
    behind = text[text.rindex("if (stale1) clear_spare(team, v3);") :]
    between = behind[: behind.index("{")]
    assert "return;" in between
    assert between.count("barrier.wait();") == 1


@needs_nvrtc
def test_what_one_block_hands_over_has_room():
    assert compile_only(nested_text(siblings=True), "sm_90").log.strip("\0 \n") == ""


@pytest.mark.parametrize("shared", [{"balance": "block"}, {"storage": "ell"}, {"name": "push"}])
def test_only_pulls_whose_rows_are_one_threads_run_the_head(shared):
    program, _ = loop_of("bfs")
    statement = next(each for each in walk_statements(program.body) if each.op == "vxm")
    product = open_product(2, statement)
    pulls = [method for method in product.methods if method.name == "pull"]
    assert pulls
    assert product.prepares_by_rows
    assert all(map(product.pulls_by_rows, pulls))
    assert not any(product.pulls_by_rows(replace(each, **shared)) for each in pulls)


@needs_nvrtc
@pytest.mark.parametrize("arch", ["sm_80", "sm_90", "sm_100"])
def test_it_compiles(arch):
    bodies = {
        "level": BODY,
        "copy": (MARK, COPY, *BODY[1:]),
        "accumulate": (MARK, ADD, *BODY[1:]),
        "no mask": (MARK, replace(PUSH, mask=None)),
    }
    programs = {
        name: program_of(*body, condition=GOES_ON if TEST in body else None)
        for name, body in bodies.items()
    }
    assert_all_compile(programs, arch)


# products that replace what a waiting statement reads --------------------------------------------
def test_a_sum_before_a_product_that_swaps_sees_the_old_entries():
    slots = (*VECTORS, Slot("scalar", INT64, "inout"), Slot("matrix", INT64))
    total = Statement("reduce", 4, (Arg(0),), monoid["plus"].typed(INT64))
    mask = Mask(3, structural=True, complement=True)
    product = Statement("vxm", 0, (Arg(0), Arg(5)), FIRST, mask=mask, replace=True)
    text = lower_program(Program(slots, (total, product))).source
    assert text.index("position by position: 0") < text.index("v0.take_spare")


def test_reading_a_number_of_entries_keeps_nobody_from_writing_them():
    slots = (*VECTORS, Slot("scalar", INT64, "inout"))
    count = Statement("nvals", 4, (Arg(0),))
    copied = Statement("copy", 0, (Arg(1),))
    program = Program((*slots, Slot("scalar", FP64)), (count, copied))
    text = lower_program(program).source
    inside = text[text.index("auto run") : text.index("  run();")]
    assert "barrier.wait();" not in inside[: inside.index("position by position")]
    back = lower_program(Program(program.slots, (copied, count))).source
    assert (
        "barrier.wait();" in back[back.index("position by position") : back.index("scalar_write(")]
    )
