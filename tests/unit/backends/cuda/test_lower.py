"""Lowering: barriers where phases meet, and a plain no to what has no kernel."""

from __future__ import annotations

import re

import pytest
from tests.helpers.bfs_program import FRONTIER, GRAPH, bfs_program

from semira.backends.cuda.backend import CAPABILITIES
from semira.backends.cuda.jit.literals import literal
from semira.backends.cuda.lower import lower_program
from semira.base.dtypes import BOOL, FC32, FP32, INT8, INT64, UINT64, lookup_dtype
from semira.base.errors import NotImplementedException
from semira.contract import Arg, IndexSpec, Loop, Mask, Program, Slot, Statement
from semira.ops.registry import binary, monoid, semiring
from semira.plan import plan_program

VECTORS = tuple(Slot("vector", INT64, "inout") for _ in range(4))
PLUS = binary["plus"].typed(INT64)
PAIR = lookup_dtype([("x", "i4"), ("y", "i8")])


def barriers(source: str) -> int:
    return len(re.findall(r"^    barrier\.wait\(\);$", source, re.MULTILINE))


def add(out: int, left: int, right: int) -> Statement:
    return Statement("ewise_add", out, (Arg(left), Arg(right)), PLUS)


def phases(source: str) -> int:
    """Return how many phases walk vectors position by position."""
    return source.count("// position by position")


def test_neighbouring_statements_share_a_phase():
    apart = lower_program(Program(VECTORS, (add(0, 2, 3), add(1, 2, 3)))).source
    in_turn = lower_program(Program(VECTORS, (add(0, 2, 3), add(1, 0, 3)))).source
    overwritten = lower_program(Program(VECTORS, (add(0, 2, 3), add(2, 1, 3)))).source
    for source in (apart, in_turn, overwritten):
        assert phases(source) == 1
        # For the numbers of entries.
        assert barriers(source) == 1


def test_vectors_that_may_differ_in_size_share_no_phase():
    slots = (*VECTORS, *VECTORS)
    source = lower_program(Program(slots, (add(0, 2, 3), add(4, 5, 6)))).source
    assert phases(source) == 2
    assert barriers(source) == 1


def test_reading_elsewhere_what_a_neighbour_wrote_takes_a_barrier():
    gathered = Statement("gather", 0, (Arg(1), Arg(2)))
    after = lower_program(Program(VECTORS, (add(1, 2, 3), gathered))).source
    before = lower_program(Program(VECTORS, (gathered, add(1, 2, 3)))).source
    # The check of the positions shares the phase of the write; the gather has one of its own.
    assert "positions" not in after
    assert phases(after) == 2
    assert phases(before) == 3


def test_a_temporary_that_nobody_else_reads_is_not_stored():
    slots = (*VECTORS[:3], Slot("vector", INT64, "temp", ((0, 0),)))
    made = Statement("ewise_add", 3, (Arg(1), Arg(2)), PLUS, params=(("new", True),))
    source = lower_program(Program(slots, (made, add(0, 3, 1)))).source
    assert "store_word(team, v0.here" in source
    assert "store_word(team, v3.here" not in source
    kept = (made, add(0, 3, 1), Statement("gather", 1, (Arg(3), Arg(0))))
    assert "store_word(team, v3.here" in lower_program(Program(slots, kept)).source


def test_a_temporary_that_nobody_reads_leaves_no_trace():
    slots = (*VECTORS[:1], Slot("vector", INT64, "temp", ((0, 0),)), Slot("scalar", INT64))
    made = Statement("assign", 1, (Arg(2),), params=(("new", True),))
    assert phases(lower_program(Program(slots, (made,))).source) == 0


def test_large_values_share_no_phase():
    large = lookup_dtype([("x", "f8", (3,))])
    slots = tuple(Slot("vector", large, "inout") for _ in range(3))
    copies = (Statement("copy", 0, (Arg(1),)), Statement("copy", 2, (Arg(1),)))
    assert phases(lower_program(Program(slots, copies)).source) == 2


def test_a_sum_waits_until_its_scalar_is_needed():
    slots = (*VECTORS, Slot("scalar", INT64, "inout"), Slot("scalar", INT64, "inout"))
    summed = Statement("reduce", 4, (Arg(0),), monoid["plus"].typed(INT64))
    shared = lower_program(Program(slots, (add(0, 1, 2), summed, add(1, 0, 2)))).source
    assert phases(shared) == 1
    copied = Statement("copy", 5, (Arg(4),))
    split = lower_program(Program(slots, (add(0, 1, 2), summed, copied, add(1, 0, 2)))).source
    assert phases(split) == 2
    assert split.index("total1") < split.index("scalar_write(x5, x4)")


def test_a_scalar_is_not_overwritten_under_a_statement_that_waits():
    slots = (*VECTORS, Slot("scalar", INT64, "inout"), Slot("scalar", INT64))
    assigned = Statement("assign", 0, (Arg(4),), indices=(IndexSpec("all"),))
    source = lower_program(Program(slots, (assigned, Statement("copy", 4, (Arg(5),))))).source
    assert source.index("walk_words") < source.index("scalar_write(x4")


def test_a_loop_sees_its_own_back_edge():
    slots = (*VECTORS, Slot("scalar", INT64))
    once = Program(slots, (add(0, 1, 2), add(3, 1, 2)))
    loop = Program(slots, (Loop(((add(0, 1, 2), add(3, 0, 2)),), (None,), 4, explicit_limit=True),))
    assert (
        "while (static_cast<Count>(completed) < most0 && reason0 == 1)"
        in lower_program(loop).source
    )
    assert "while" not in lower_program(once).source


def test_bfs_has_two_barriers_a_level_besides_the_conditional_ones():
    source = lower_program(bfs_program(CAPABILITIES)).source
    start = source.index("const Team team = team_of(")
    body = source[start : source.index("journal.loop")]
    body = re.sub(r"if \(!x\d+\.has\) \{.*?return;", "", body, flags=re.DOTALL)
    unconditional = re.findall(r"^ {8,10}barrier\.wait\(\);", body, re.MULTILINE)
    assert len(unconditional) == 2


def test_bfs_needs_a_spare_frontier_both_orientations_and_a_queue():
    lowered = lower_program(bfs_program(CAPABILITIES))
    assert lowered.swapped == {FRONTIER}
    assert lowered.orientations == {(GRAPH, "csr"), (GRAPH, "csc")}
    assert [spec.kind for spec in lowered.workspaces] == ["queue"]
    assert lowered.has_loop


def test_sizes_and_literals_are_not_in_the_text():
    first, second = (lower_program(bfs_program(CAPABILITIES)).source for _ in range(2))
    assert first == second


def test_accumulated_products_merge_from_their_own_plane():
    slots = (Slot("vector", FP32, "inout"), Slot("vector", FP32), Slot("matrix", FP32))
    typed = semiring["min_plus"].typed(FP32)
    body = (Statement("vxm", 0, (Arg(1), Arg(2)), typed, accum=binary["min"].typed(FP32)),)
    lowered = lower_program(Program(slots, body))
    assert {spec.kind for spec in lowered.workspaces} == {"plane", "queue"}
    assert lowered.swapped == frozenset()


def pulls_or_pushes(role: str, **options) -> Program:
    """Return w = A u, planned with both directions, its result a vector of that role."""
    slots = (Slot("vector", FP32, role), Slot("vector", FP32, "inout"), Slot("matrix", FP32))
    ring = semiring["plus_times"].typed(FP32)
    product = Statement("mxv", 0, (Arg(2), Arg(1)), ring, **options)
    return plan_program(Program(slots, (product, Statement("copy", 1, (Arg(0),)))), CAPABILITIES)


def test_what_is_pulled_fills_the_place_of_the_output_and_what_is_pushed_a_plane_apart():
    lowered = lower_program(pulls_or_pushes("inout"))
    pulled = re.search(r"spmv_pull_tiles<.*", lowered.source)[0]
    scatter = lowered.source[lowered.source.index("Scatter<") :]
    assert "v0.spare" in pulled
    assert re.search(r"KeepAll\{\}, (\S+),", scatter)[1] == "w0"
    assert "if (!(method0 == 0)) v0.take_spare(" in lowered.source
    assert 0 in lowered.swapped


def test_results_that_are_merged_or_born_to_be_read_once_are_pulled_apart_too():
    accumulated = pulls_or_pushes("inout", accum=binary["plus"].typed(FP32))
    masked = pulls_or_pushes("inout", mask=Mask(1, structural=True, complement=False))
    for program in (accumulated, masked, pulls_or_pushes("temp")):
        pulled = re.search(r"spmv_pull_\w+<.*", lower_program(program).source)[0]
        assert "w0" in pulled
        assert "spare" not in pulled


def test_what_has_no_kernel_is_refused_by_name_with_the_way_out():
    slots = (*VECTORS, Slot("matrix", FP32), Slot("index", INT64), Slot("scalar", FP32, "output"))
    for statement, named in (
        (Statement("extract", 6, (Arg(4),), indices=(IndexSpec("all"),) * 2), "region to a scalar"),
        (Statement("reduce", 6, (Arg(6),)), "reduce of a scalar"),
        (Statement("gather", 6, (Arg(6), Arg(6))), "gather on scalars"),
    ):
        with pytest.raises(NotImplementedException, match=rf"{named}.*cpu"):
            lower_program(Program(slots, (statement,)))


def test_masks_of_every_kind_are_types():
    slots = (*VECTORS, Slot("matrix", BOOL))
    for structural in (True, False):
        for complement in (True, False):
            mask = Mask(3, structural=structural, complement=complement)
            statement = Statement("copy", 0, (Arg(1),), mask=mask, replace=True)
            program = Program(slots, (statement,))
            flags = f"{str(structural).lower()}, {str(complement).lower()}"
            assert f"CellMask<long long, {flags}>{{c_v3}}" in lower_program(program).source


def test_the_entries_of_a_mask_drive_what_changes_nothing_outside():
    mask = Mask(3, structural=True, complement=False)
    source = lower_program(Program(VECTORS, (Statement("copy", 0, (Arg(1),), mask=mask),))).source
    assert "walk_list(team, v3.here.list, v3.nvals, at)" in source


@pytest.mark.parametrize(
    ("dtype", "value", "text"),
    [
        (INT64, -(2**63), "static_cast<long long>((-9223372036854775807ll - 1))"),
        (UINT64, 2**64 - 1, "static_cast<unsigned long long>(18446744073709551615ull)"),
        (INT8, -1, "static_cast<signed char>(-1ll)"),
        (BOOL, True, "true"),
        (FP32, -0.0, "__int_as_float(-2147483648)"),
        (FC32, 1j, "Complex<float>(__int_as_float(0), __int_as_float(1065353216))"),
        (PAIR, (1, 2), "Record<12, 4>{{1ull, 2ull, 0ull}}"),
    ],
)
def test_literals_are_exact(dtype, value, text):
    assert literal(dtype, value) == text


def test_only_loops_that_stand_in_no_other_are_reported():
    slots = (*VECTORS, Slot("scalar", INT64))
    inner = Loop(((add(0, 1, 2),),), (None,), 4, explicit_limit=False)
    outer = Loop(((add(3, 0, 2), inner),), (None,), 4, explicit_limit=True)
    source = lower_program(Program(slots, (outer, outer))).source
    assert source.count("journal.loop(team, completed") == source.count("journal.loop(") == 2
    assert source.count("journal.limit_reached(team, done") == 2


def test_products_that_fill_together_lie_apart_until_all_have_met():
    """A merge that waits must not be written where only another product's push is merged."""
    slots = (*(Slot("vector", FP32, "inout") for _ in range(4)), Slot("matrix", FP32))
    ring = semiring["plus_times"].typed(FP32)
    first = Statement("mxv", 0, (Arg(4), Arg(1)), ring, accum=binary["plus"].typed(FP32))
    second = Statement("mxv", 2, (Arg(4), Arg(3)), ring)
    program = plan_program(Program(slots, (first, second)), CAPABILITIES)
    lowered = lower_program(program)
    assert "if (!(method1 == 0))" not in lowered.source
    assert "spare" not in "".join(re.findall(r"spmv_pull_\w+<.*", lowered.source))
