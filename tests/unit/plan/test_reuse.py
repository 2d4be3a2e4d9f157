"""Operand reuse is planned only where the program proves it, and then it is right."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers.every import every
from tests.helpers.plans import (
    ABLE,
    COUNT,
    DEPTH,
    FRESH,
    FRONTIER,
    LEVEL,
    LIMIT,
    MORE,
    OTHER,
    REACHED,
    VISITED,
    A,
    bfs_body,
    count_frontier,
    loop,
    mark,
    product,
    program,
    step_depth,
)

from semira.contract import Arg, Hints, IndexSpec, Loop, Mask, Statement, walk_statements
from semira.ops.registry import unary
from semira.plan import Facts, plan_program
from semira.plan.reasons import Code, sentence


def reuse_of(given, facts=FRESH):
    """Return the reason code and sentence about reuse of the only product in `given`."""
    planned = plan_program(given, ABLE, facts=facts)
    (found,) = [s for s in walk_statements(planned.body) if s.op in ("vxm", "mxv")]
    codes = {Code.REUSE_PROVEN, Code.REUSE_ASSERTED, Code.NO_REUSE}
    (reason,) = [reason for reason in found.plan.reasons if reason.code in codes]
    is_planned = any(method.operand_reuse for method in found.plan.methods)
    assert is_planned == (reason.code != Code.NO_REUSE)
    return Code(reason.code), sentence(reason)


def assert_proven(given, facts=FRESH):
    code, words = reuse_of(given, facts)
    assert code is Code.REUSE_PROVEN, words


def assert_not_proven(given, words, facts=FRESH):
    code, found = reuse_of(given, facts)
    assert code is Code.NO_REUSE
    assert words in found


def bfs(**changed):
    """Return the BFS loop with the statements named in `changed` exchanged."""
    body = {"mark": mark(), "step": step_depth(), "product": product()} | changed
    return program(loop(*body.values(), count_frontier()))


def test_loop_whose_mask_starts_empty_is_proven():
    assert_proven(bfs())


def test_mxv_is_proven_with_the_operand_on_its_other_side():
    assert_proven(bfs(product=product("mxv", "any_first[BOOL]", transposed=True)))
    assert_not_proven(bfs(product=product("mxv", "any_second[BOOL]")), "reads the operand's values")


@pytest.mark.parametrize("operator", ["plus_pair[INT64]", "any_secondi[INT64]", "min_second[FP64]"])
def test_any_semiring_that_ignores_the_operand_s_values_is_proven(operator):
    assert_proven(bfs(product=product("vxm", operator)))


def test_program_alone_does_not_prove_what_its_mask_starts_with():
    assert_not_proven(bfs(), "before the loop is not known", Facts(present=frozenset({DEPTH})))


def test_mask_that_an_empty_scalar_may_shrink_is_not_proven():
    assert_not_proven(bfs(), "other than by taking in", Facts(empty=frozenset({LEVEL})))


def test_scalar_that_a_statement_may_empty_is_not_present():
    emptied = Statement("reduce", DEPTH, (Arg(FRONTIER),))
    assert_not_proven(bfs(step=emptied), "other than by taking in")
    assert_proven(bfs(step=replace(emptied, params=(("identity", True),))))
    # through another scalar, and in a chain
    copied = Statement("copy", DEPTH, (Arg(LIMIT),))
    assert_not_proven(bfs(step=copied), "other than by taking in")
    known = replace(FRESH, present=frozenset({DEPTH, LIMIT}))
    assert_proven(bfs(step=copied), known)
    assert_proven(bfs(step=Statement("copy", DEPTH, (Arg(COUNT),))))


def test_operand_itself_as_the_mask_s_new_values_needs_no_fact_about_scalars():
    facts = Facts(empty=frozenset({LEVEL}))
    assert_proven(bfs(mark=mark(op="copy", args=(Arg(FRONTIER),), indices=())), facts)
    assert_proven(bfs(mark=mark(args=(Arg(FRONTIER),))), facts)


def born(**fields):
    given = {"op": "copy", "out": LEVEL, "args": (Arg(FRONTIER),), "params": (("new", True),)}
    return Statement(**given | fields)


BIRTHS = {
    "copy": born(),
    "select": born(op="select", args=(Arg(FRONTIER), Arg(DEPTH))),
    "intersection": born(op="ewise_mult", args=(Arg(OTHER), Arg(FRONTIER))),
    "assigned under the operand": born(op="assign", args=(Arg(DEPTH),), mask=REACHED),
}


@pytest.mark.parametrize("birth", BIRTHS)
def test_mask_born_from_the_operand_proves_its_start_in_any_loop(birth):
    only_depth = Facts(present=frozenset({DEPTH}))
    inner = loop(*bfs_body())
    assert_proven(program(BIRTHS[birth], inner), only_depth)
    assert_proven(program(loop(count_frontier(), BIRTHS[birth], inner)), only_depth)
    assert_proven(program(BIRTHS[birth], mark(), inner), only_depth)
    refilled = Statement("assign", FRONTIER, (Arg(DEPTH),), indices=ALL_ROWS)
    assert_not_proven(program(BIRTHS[birth], refilled, inner), "before the loop", only_depth)
    assert_proven(program(refilled, BIRTHS[birth], inner), only_depth)


ALL_ROWS = (IndexSpec("all"),)
FILLED = Statement("assign", LEVEL, (Arg(DEPTH),), indices=ALL_ROWS)
STARTS = {
    "filled": (FILLED, loop(*bfs_body())),
    "filled after its birth": (born(), FILLED, loop(*bfs_body())),
    "born from another vector": (born(args=(Arg(OTHER),)), loop(*bfs_body())),
    "born where the operand is not": (
        born(args=(Arg(OTHER),), mask=Mask(FRONTIER, structural=True, complement=True)),
        loop(*bfs_body()),
    ),
    "born from a union": (
        born(op="ewise_add", args=(Arg(FRONTIER), Arg(OTHER))),
        loop(*bfs_body()),
    ),
    "grown, and then the operand changed": (
        mark(),
        Statement("copy", FRONTIER, (Arg(OTHER),)),
        loop(*bfs_body()),
    ),
    "a second run of the loop": (loop(mark()), loop(*bfs_body())),
    "the loop runs again": (loop(loop(*bfs_body()), count_frontier()),),
}


@every("start", STARTS)
def test_unknown_start_is_not_proven(start):
    assert_not_proven(program(*STARTS[start]), "before the loop is not known")


CHANGES = {
    "no complement": (
        {"product": product(mask=Mask(LEVEL, structural=True, complement=False))},
        "complemented structural mask",
    ),
    "value mask": (
        {"product": product(mask=Mask(LEVEL, structural=False, complement=True))},
        "complemented structural mask",
    ),
    "no mask": ({"product": product(mask=None)}, "complemented structural mask"),
    "masked by the operand": (
        {"product": product(mask=Mask(FRONTIER, structural=True, complement=True))},
        "the mask is the operand",
    ),
    "no replace": ({"product": product(replace=False)}, "does not replace the operand"),
    "other output": ({"product": product(out=OTHER)}, "does not become the next operand"),
    "reads values": ({"product": product("vxm", "any_first[BOOL]")}, "reads the operand's values"),
    "accumulates": (
        {"product": product(accum=unary["identity"]["BOOL"])},
        "does not replace the operand",
    ),
    "operand changed": (
        {"step": Statement("copy", FRONTIER, (Arg(OTHER),))},
        "another statement of the loop writes the operand",
    ),
    "operand changed in a nested loop": (
        {"step": loop(Statement("copy", FRONTIER, (Arg(OTHER),)))},
        "another statement of the loop writes the operand",
    ),
    "matrix changed": ({"step": Statement("copy", A, (Arg(8),))}, "the loop changes the matrix"),
    "mask never grows": ({"mark": count_frontier()}, "does not enter the mask before"),
    "mask grows by values": (
        {"mark": mark(mask=Mask(FRONTIER, structural=False, complement=False))},
        "other than by taking in the operand",
    ),
    "mask grows outside the operand": (
        {"mark": mark(mask=Mask(FRONTIER, structural=True, complement=True))},
        "other than by taking in the operand",
    ),
    "mask grows by another vector": (
        {"step": mark(mask=Mask(OTHER, structural=True, complement=False))},
        "other than by taking in the operand",
    ),
    "mask filled": ({"step": FILLED}, "other than by taking in the operand"),
    "mask replaced": ({"mark": mark(replace=True)}, "other than by taking in the operand"),
    "mask born anew": (
        {"mark": mark(params=(("new", True),))},
        "other than by taking in the operand",
    ),
    "mask grows in part": (
        {"mark": mark(indices=(IndexSpec("range", LIMIT),))},
        "other than by taking in the operand",
    ),
    "mask takes another vector's entries": (
        {"mark": mark(args=(Arg(OTHER),))},
        "other than by taking in the operand",
    ),
    "mask written by another operation": (
        {"mark": mark(op="select", args=(Arg(FRONTIER), Arg(DEPTH)))},
        "other than by taking in the operand",
    ),
    "mask grows in a nested loop": (
        {"mark": loop(mark())},
        "other than by taking in the operand",
    ),
}


@every("change", CHANGES)
def test_one_change_breaks_the_proof(change):
    changed, words = CHANGES[change]
    assert_not_proven(bfs(**changed), words)


def test_operand_that_enters_the_mask_only_after_the_product_is_not_proven():
    late = program(loop(product(), mark(), step_depth(), count_frontier()))
    assert_not_proven(late, "does not enter the mask before the product")
    assert_proven(program(loop(mark(), product(), mark(), step_depth())))


def test_loop_that_rebinds_objects_is_not_proven():
    twice = Loop((bfs_body(), (count_frontier(),)), (MORE, MORE), LIMIT, explicit_limit=False)
    assert_not_proven(program(twice), "rebinds objects")


def test_single_product_is_not_proven_and_may_be_asserted():
    assert_not_proven(program(product()), "a single product proves nothing")
    asserted = program(product(hints=Hints(operand_reuse=True)))
    assert reuse_of(asserted, Facts())[0] is Code.REUSE_ASSERTED


def test_reuse_can_be_forbidden():
    assert_not_proven(bfs(product=product(hints=Hints(operand_reuse=False))), "is pinned")


def expand(matrix, vector, mask):
    """Entries of ``vector.vxm(matrix)`` that the mask lets through, with their products."""
    return np.where(mask, 0, vector.astype(int) @ matrix)


def test_counter_example_to_reuse_in_a_single_product():
    # 5 is in the mask but not in the frontier, and its neighbour 7 is outside the mask.
    matrix = np.zeros((8, 8), dtype=int)
    matrix[5, 7] = matrix[0, 4] = 1
    frontier, visited = np.isin(range(8), [0]), np.isin(range(8), [0, 5])
    assert list(np.flatnonzero(expand(matrix, frontier, visited))) == [4]
    assert list(np.flatnonzero(expand(matrix, visited, visited))) == [4, 7]
    assert_not_proven(program(product()), "a single product")
    # The same mask, filled before the loop starts.
    filled = Facts(present=frozenset({DEPTH}))
    assert_not_proven(program(loop(*bfs_body())), "before the loop", filled)
    assert_not_proven(program(mark(mask=None), loop(*bfs_body())), "before the loop")


#: Statements a random program is made of; `interpret` knows their meaning on presence alone.
POOL = [
    mark(),
    mark(op="copy", args=(Arg(FRONTIER),), indices=()),
    mark(args=(Arg(OTHER),)),
    mark(replace=True),
    mark(mask=Mask(OTHER, structural=True, complement=False)),
    FILLED,
    born(),
    born(args=(Arg(OTHER),)),
    BIRTHS["intersection"],
    BIRTHS["assigned under the operand"],
    Statement("copy", FRONTIER, (Arg(OTHER),)),
    Statement("copy", OTHER, (Arg(FRONTIER),)),
    product(out=OTHER),
    count_frontier(),
]


def result_of(statement, state, matrix):
    if statement.op == "vxm":
        return state[FRONTIER] @ matrix > 0
    if statement.op == "ewise_mult":
        return state[statement.args[0].slot] & state[statement.args[1].slot]
    # A scalar is present at every position.
    return state.get(statement.args[0].slot, np.ones(len(matrix), dtype=bool))


def interpret(statement, state, matrix):
    """Run one statement on sets of positions."""
    if statement.out not in state:
        return
    old, result = state[statement.out], result_of(statement, state, matrix)
    if statement.param("new"):
        old = np.zeros_like(old)
    allowed = np.ones_like(old)
    if statement.mask is not None:
        allowed = state[statement.mask.slot] ^ statement.mask.complement
    kept = old & ~allowed & (not statement.replace)
    state[statement.out] = kept | (result & allowed)


def run(body, state, matrix, check):
    for item in body:
        if isinstance(item, Loop):
            for _ in range(4):
                run(item.bodies[0], state, matrix, check)
            continue
        if item.op == "vxm" and any(method.operand_reuse for method in item.plan.methods):
            check(item, state)
        interpret(item, state, matrix)


SIZE = 6
#: Statements that break no proof, so that enough programs stay proven.
HARMLESS = [mark(), POOL[1], count_frontier(), Statement("copy", OTHER, (Arg(FRONTIER),))]
BODIES = st.lists(st.sampled_from(HARMLESS) | st.sampled_from(POOL), max_size=2)
POSITIONS = st.lists(st.booleans(), min_size=SIZE, max_size=SIZE).map(np.array)


@settings(max_examples=300, deadline=None)
@given(
    before=BODIES,
    first=st.sampled_from([mark(), POOL[1]]),
    extra=BODIES,
    after=BODIES,
    is_nested=st.booleans(),
    empty=st.booleans(),
    start=st.tuples(POSITIONS, POSITIONS, POSITIONS),
    seed=st.integers(0, 2**32 - 1),
)
def test_whatever_is_proven_gives_the_same_products(
    before, first, extra, after, is_nested, empty, start, seed
):
    inner = loop(first, *extra, product(), *after)
    body = (*before, inner)
    given = program(loop(*body)) if is_nested else program(*body)
    facts = Facts(frozenset({LEVEL} if empty else ()), frozenset({DEPTH}))
    planned = plan_program(given, ABLE, facts=facts)
    matrix = (np.random.default_rng(seed).random((SIZE, SIZE)) < 0.3).astype(int)
    level, frontier, other = start
    state = {LEVEL: level & (not empty), FRONTIER: frontier, OTHER: other}

    def check(statement, now):
        mask = now[LEVEL]
        assert statement.mask == VISITED
        expected = expand(matrix, now[FRONTIER], mask)
        np.testing.assert_array_equal(expand(matrix, mask, mask), expected)

    run(planned.body, state, matrix, check)
