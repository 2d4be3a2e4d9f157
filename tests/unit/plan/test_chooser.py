"""Every statement gets a plan, wherever it stands, and planning again changes nothing."""

from dataclasses import replace

import pytest
from tests.helpers.plans import (
    ABLE,
    COUNT,
    FRESH,
    FRONTIER,
    LEVEL,
    A,
    B,
    bfs_body,
    count_frontier,
    loop,
    plan_of,
    product,
    program,
)

from semira.base.errors import PlanError
from semira.contract import Arg, Capabilities, Const, Hints, Statement, walk_statements
from semira.contract.program import OPS
from semira.plan import plan_program
from semira.plan.chooser import BALANCE
from semira.plan.reasons import sentence


def nested():
    inner = loop(*bfs_body())
    return program(count_frontier(), loop(product(), inner, count_frontier()), product())


@pytest.mark.parametrize("facts", [FRESH, type(FRESH)()])
def test_plan_program_fills_every_statement_of_nested_loops(facts):
    planned = plan_program(nested(), ABLE, facts=facts)
    statements = list(walk_statements(planned.body))
    assert len(statements) == 8
    assert all(statement.plan is not None for statement in statements)
    assert all(statement.plan.family == statement.op for statement in statements)
    assert all(statement.plan.reasons for statement in statements)


def test_plan_program_changes_nothing_but_plans():
    before, after = nested(), plan_program(nested(), ABLE)
    for old, new in zip(walk_statements(before.body), walk_statements(after.body), strict=True):
        assert replace(new, plan=None) == old
    assert after.slots == before.slots


def test_plan_program_is_idempotent():
    once = plan_program(nested(), ABLE, facts=FRESH)
    assert plan_program(once, ABLE, facts=FRESH) == once
    # and forgets what an earlier planning knew
    assert plan_program(once, ABLE) == plan_program(nested(), ABLE)


def test_every_operation_has_a_plan():
    assert set(OPS) == {*BALANCE, "vxm", "mxv", "mxm"}
    for op in BALANCE:
        plan = plan_of(Statement(op, LEVEL, (Arg(FRONTIER),)))
        assert [method.name for method in plan.methods] == ["direct"]
        assert plan.rule == Const(0.0)
        assert all(sentence(reason) for reason in plan.reasons)


def test_scalar_statements_are_serial():
    assert plan_of(Statement("apply", COUNT, (Arg(COUNT),))).methods[0].balance == "serial"
    assert plan_of(Statement("apply", LEVEL, (Arg(FRONTIER),))).methods[0].balance == "edges"


def test_statement_policy_wins_over_the_program_s():
    assert plan_of(product(), policy="ligra").policy == "ligra"
    assert plan_of(product(), policy="ligra", hints=Hints(policy="beamer")).policy == "beamer"
    assert plan_of(product()).policy == "auto"


def test_unknown_policy_is_refused():
    with pytest.raises(PlanError, match=r"'fast'.*auto, beamer, ligra, gunrock, pushpull18"):
        plan_of(product(), policy="fast")
    with pytest.raises(PlanError, match="'fast'"):
        plan_of(product(), hints=Hints(policy="fast"))


@pytest.mark.parametrize(
    ("op", "transposed", "push", "pull"),
    [
        ("vxm", False, "csr", "csc"),
        ("vxm", True, "csc", "csr"),
        ("mxv", False, "csc", "csr"),
        ("mxv", True, "csr", "csc"),
    ],
)
def test_orientation_follows_operation_and_transposition(op, transposed, push, pull):
    methods = plan_of(product(op, transposed=transposed)).methods
    assert [(m.name, m.orientation) for m in methods] == [("push", push), ("pull", pull)]


def test_bfs_product_uses_mask_early_exit_and_structure():
    push, pull = plan_of(product()).methods
    assert (push.mask_order, pull.mask_order) == ("before", "before")
    assert (push.early_exit, pull.early_exit) == (False, True)
    assert push.structure_only
    assert pull.structure_only


def test_push_that_cannot_test_the_mask_looks_after():
    push, pull = plan_of(product(), replace(ABLE, masked_push=False)).methods
    assert (push.mask_order, pull.mask_order) == ("after", "before")


def test_without_mask_there_is_no_order():
    plan = plan_of(product(mask=None, replace=False))
    assert {method.mask_order for method in plan.methods} == {"none"}


@pytest.mark.parametrize(
    ("op", "operator", "exits", "structure"),
    [
        ("vxm", "plus_times[FP64]", False, False),
        ("vxm", "min_plus[FP64]", True, False),
        ("vxm", "lor_land[BOOL]", True, False),
        ("vxm", "plus_first[FP64]", False, True),
        ("mxv", "plus_first[FP64]", False, False),
        ("mxv", "plus_second[FP64]", False, True),
        ("vxm", "any_secondi[INT64]", True, True),
    ],
)
def test_shortcuts_follow_from_algebra(op, operator, exits, structure):
    pull = plan_of(product(op, operator)).methods[1]
    assert (pull.early_exit, pull.structure_only) == (exits, structure)


def test_backend_without_early_exit_gets_none():
    assert not plan_of(product(), replace(ABLE, early_exit=False)).methods[1].early_exit


def test_backend_with_one_direction_gets_that_one():
    only = Capabilities("half", frozenset({("vxm", "push")}))
    plan = plan_of(product(), only)
    assert [method.name for method in plan.methods] == ["push"]
    assert plan.rule == Const(0.0)
    assert "pull is not admissible: half has no pull kernel" in " ".join(
        map(sentence, plan.reasons)
    )


def test_backend_without_the_product_is_an_error():
    with pytest.raises(PlanError, match=r"vxm is impossible on bare: .*use another device"):
        plan_of(product(), Capabilities("bare", frozenset()))


def test_masked_mxm_takes_dot_first_and_unmasked_goes_row_wise():
    from semira.contract import Mask

    named = product("mxm", "plus_pair[INT64]", mask=Mask(A, structural=True, complement=False))
    plan = plan_of(named)
    assert [method.name for method in plan.methods] == ["dot", "dense", "hash"]
    assert plan.methods[0].mask_order == "before"
    assert plan.methods[0].structure_only
    assert [m.name for m in plan_of(product("mxm")).methods] == ["dense", "hash"]
    closed = product("mxm", mask=Mask(A, structural=True, complement=True))
    assert [m.name for m in plan_of(closed).methods] == ["dense", "hash"]


def test_mxm_orientation_is_that_of_the_second_operand():
    from semira.contract import Mask

    mask = Mask(A, structural=True, complement=False)
    statement = product("mxm", mask=mask)
    assert plan_of(statement).methods[0].orientation == "csc"
    turned = replace(statement, args=(Arg(A), Arg(B, transposed=True)))
    assert plan_of(turned).methods[0].orientation == "csr"
