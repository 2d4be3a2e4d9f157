"""Dot products or row by row under a mask: the rule, and what says why."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.helpers.plans import ABLE, A, plan_of, product
from tests.helpers.rules import evaluate

from semira.backends.cuda.backend import CAPABILITIES
from semira.backends.cuda.jit.render import KERNELS
from semira.contract import SEARCH_LOOKS, Const, Hints, Mask
from semira.plan import explain_statement

NAMED = Mask(A, structural=True, complement=False)
COUNTING = replace(ABLE, counts_products=True)

#: A long mask over short rows: what dot products look at, and what is multiplied.
LONG_MASK = {
    "n": 1000, "rows": 1000, "cols": 10_000, "nnz": 50_000, "frontier": 1000,
    "open_rows": 10_000_000, "open_edges": 40_000_000, "frontier_edges": 50_000,
    "block": 2000, "shared": 32,
}  # fmt: skip
CASES = {
    "few products, many looks": ({}, 1),
    "as dear either way": ({"frontier_edges": 50_000_000 / 16}, 0),
    "many products": ({"frontier_edges": 40_000_000}, 0),
    "a short mask is not counted": ({"open_rows": 1000, "open_edges": None}, 0),
    "no columns": ({"cols": 0, "open_rows": 0, "nnz": 0, "open_edges": None}, 0),
}


def planned(capabilities=COUNTING, **fields):
    return plan_of(product("mxm", "plus_pair[INT64]", mask=NAMED), capabilities, **fields)


@pytest.mark.parametrize("name", CASES)
def test_the_cheaper_way_is_taken(name):
    changed, expected = CASES[name]
    counts = LONG_MASK | changed

    def count(name: str) -> float:
        value = counts[name]
        assert value is not None, "counted for nothing"
        return value

    plan = planned()
    assert [method.name for method in plan.methods][:2] == ["dot", "dense"]
    assert evaluate(plan.rule, count, -1) == expected


def test_on_the_gpu_the_other_way_is_hash():
    names = [method.name for method in planned(CAPABILITIES).methods]
    # Pulling is for blocks; the rule is between the first two where there is none.
    assert names == ["dot", "hash", "pull"]
    counts = (LONG_MASK, LONG_MASK | {"open_rows": 9})
    assert [evaluate(planned(CAPABILITIES).rule, each.__getitem__, -1) for each in counts] == [1, 0]


def test_who_does_not_count_takes_dots():
    plan = planned(ABLE)
    assert plan.methods[0].name == "dot"
    assert plan.rule == Const(0.0)


@pytest.mark.parametrize("mask", [None, replace(NAMED, complement=True)])
def test_without_a_plain_mask_a_block_is_weighed_in_its_place(mask):
    plan = plan_of(product("mxm", "plus_pair[INT64]", mask=mask), CAPABILITIES)
    # A left operand of 2,000 rows is no block: nothing else is counted.
    assert evaluate(plan.rule, {"block": 2000, "n": 10**9}.__getitem__, -1) == 0
    by_rows = Hints(method="hash")
    plan = plan_of(product("mxm", "plus_pair[INT64]", mask=mask), CAPABILITIES, hints=by_rows)
    assert plan.rule == Const(0.0)


@pytest.mark.parametrize("hints", [Hints(method="dot"), Hints(direction="push")])
def test_without_a_choice_nothing_is_counted(hints):
    assert planned(CAPABILITIES, hints=hints).rule == Const(0.0)


def test_the_explanation_tells_what_was_compared():
    statement = product("mxm", "plus_pair[INT64]", mask=NAMED)
    statement = replace(statement, plan=planned(CAPABILITIES))
    found = explain_statement(statement, LONG_MASK)
    assert found.chosen.name == "hash"
    assert [(way.name, way.entries) for way in found.touched] == [
        ("row by row (Gustavson)", 50_000), ("dot products", 50_000_000)
    ]  # fmt: skip
    assert any(
        "more than 16 for each pair that is multiplied row by row" in why for why in found.reasons
    )
    assert explain_statement(statement, LONG_MASK | {"open_rows": 9}).chosen.name == "dot"


def test_kernels_and_rule_count_a_search_alike():
    text = (KERNELS / "mxm" / "counts.cuh").read_text()
    assert int(text.split("constexpr int kSearchCost = ")[1].split(";")[0]) == SEARCH_LOOKS
