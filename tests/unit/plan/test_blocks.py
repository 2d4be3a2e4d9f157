"""Push and pull of products of matrices whose left operand is a block of vectors."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.helpers.every import every
from tests.helpers.plans import ABLE, A, plan_of, product
from tests.helpers.rules import evaluate

from semira.base.errors import PlanError
from semira.contract import Capabilities, Const, Hints, Mask
from semira.plan.policy import MASKED_PRODUCT, WORTH_COUNTING
from semira.plan.reasons import sentence

PULLS = Capabilities("pulls", ABLE.methods | {("mxm", "pull")})
CLOSED = Mask(A, structural=True, complement=True)
NAMED = Mask(A, structural=True, complement=False)


def plan(hints: Hints | None = None, **fields):
    return plan_of(product("mxm", **fields), PULLS, hints=hints or Hints())


def counts(rows: int = 32, inner: int = 10_000, *, filled: float = 0.5, **others) -> dict:
    edges = 20 * inner
    given = {
        "block": rows, "shared": min(rows, 32), "n": rows * inner, "rows": rows * inner,
        "nnz": rows * edges, "frontier": int(filled * rows * inner),
        "frontier_edges": int(filled * rows * edges), "open_rows": rows * inner // 2,
        "open_edges": rows * edges // 2, "previous_frontier": -1, "cols": inner,
    }  # fmt: skip
    return given | others


def chosen(planned, found: dict, previous: int = -1) -> str:
    return planned.methods[int(evaluate(planned.rule, found.__getitem__, previous))].name


def test_a_full_block_pulls_and_a_sparse_one_pushes():
    planned = plan(mask=CLOSED)
    assert [method.name for method in planned.methods] == ["dense", "hash", "pull"]
    assert planned.policy == "auto"
    assert chosen(planned, counts()) == "pull"
    assert chosen(planned, counts(filled=1e-5)) == "dense"


def test_what_is_no_block_goes_row_by_row():
    planned = plan(mask=CLOSED)
    assert chosen(planned, counts(rows=2000, inner=10_000_000)) == "dense"
    assert chosen(planned, counts(rows=700, inner=10_000)) == "dense"
    assert chosen(planned, counts(rows=600, inner=10_000)) == "pull"


def test_in_between_the_last_direction_stays():
    planned = plan(mask=CLOSED)
    pull = len(planned.methods) - 1
    between = [
        filled / 1e5
        for filled in range(1, 20_000)
        if chosen(planned, counts(filled=filled / 1e5)) == "dense"
        and chosen(planned, counts(filled=filled / 1e5), pull) == "pull"
    ]
    assert between
    assert chosen(planned, counts(filled=between[0] / 4), pull) == "dense"


@given(st.integers(1, 1024), st.sampled_from(["auto", "ligra", "graphblast"]))
def test_more_vectors_pull_no_later(rows, policy):
    planned = plan(Hints(policy=policy), mask=CLOSED)
    found = counts(rows=rows, inner=16 * 1024, filled=0.02)
    alone = counts(rows=1, inner=16 * 1024, filled=0.02)
    if chosen(planned, alone) == "pull":
        assert chosen(planned, found) == "pull"


def test_a_plain_mask_names_the_results():
    planned = plan(mask=NAMED)
    assert [method.name for method in planned.methods] == ["dot", "dense", "hash", "pull"]
    # What is no block is left to dot products, and nothing of its mask is counted.
    assert chosen(planned, {"block": 2000, "cols": 10**9}) == "dot"
    assert chosen(planned, {"block": 700, "cols": 10_000}) == "dot"


@every("rows", [1, 8, 32, 64, 600])
@every("hints", [Hints(), Hints(direction="pull")])
def test_a_block_whose_mask_names_many_is_pulled(rows, hints):
    """Many: one for each column and as many rows as share a look."""
    planned = plan(hints, mask=NAMED)
    shared = min(rows, 32)
    most = rows * 10_000 // shared
    assert chosen(planned, counts(rows, open_rows=most)) == "dot"
    assert chosen(planned, counts(rows, open_rows=most + 1)) == "pull"


def test_few_results_of_a_block_are_left_to_what_else_is_counted():
    planned = plan_of(product("mxm", mask=NAMED), replace(PULLS, counts_products=True))
    named = {"cols": 10_000, "nnz": 10**8, "frontier_edges": 10, "open_edges": 10**6}
    few = counts(open_rows=10_000) | named
    assert chosen(planned, few) == "dense"
    assert chosen(planned, few | {"frontier_edges": 10**9}) == "dot"
    # Of many it depends on the pairs to multiply, as soon as a pull looks at much.
    many = few | {"open_rows": 10_001, "nnz": WORTH_COUNTING.value + 1}
    costs = many["nnz"] / MASKED_PRODUCT.value
    assert chosen(planned, many | {"frontier_edges": costs - 1}) == "dense"
    assert chosen(planned, many | {"frontier_edges": costs}) == "pull"
    # 600 rows are 19 looks at each entry.
    assert chosen(planned, many | counts(600, open_rows=10**6) | {"nnz": 10**6}) == "pull"
    assert (
        chosen(planned, many | counts(600, open_rows=10**6) | {"nnz": 10**6, "frontier_edges": 9})
        == "dense"
    )


def test_pairs_are_not_counted_where_a_pull_looks_at_little():
    planned = plan_of(product("mxm", mask=NAMED), replace(PULLS, counts_products=True))
    many = counts(open_rows=10_001, nnz=WORTH_COUNTING.value)
    del many["frontier_edges"], many["open_edges"]
    assert chosen(planned, many) == "pull"


@pytest.mark.parametrize(
    ("hints", "mask", "first"),
    [
        (Hints(direction="push"), NAMED, "dense"),
        (Hints(direction="pull"), NAMED, "dot"),
        (Hints(direction="push"), CLOSED, "dense"),
        (Hints(direction="pull"), CLOSED, "pull"),
        (Hints(direction="pull"), None, "pull"),
        (Hints(method="pull"), NAMED, "pull"),
        (Hints(method="hash", direction="push"), None, "hash"),
    ],
)
def test_pins(hints, mask, first):
    planned = plan(hints, mask=mask)
    assert planned.methods[0].name == first
    assert first == "dot" or planned.rule == Const(0.0)


def test_a_pull_looks_at_the_mask_before_and_shares_no_dense_operand():
    with pytest.raises(PlanError, match="looks at the mask before"):
        plan(Hints(method="pull", mask_order="after"), mask=CLOSED)
    with pytest.raises(PlanError, match="full right operand"):
        plan(Hints(direction="pull", balance="rows"))


def test_the_reasons_say_what_is_weighed():
    reasons = " ".join(map(sentence, plan(Hints(policy="ligra"), mask=CLOSED).reasons))
    assert "at most 1024 rows, 16 times as many columns" in reasons
    assert "policy ligra: from push to pull when frontier_edges" in reasons
    reasons = " ".join(map(sentence, plan(mask=NAMED).reasons))
    assert "names one of it for each column and 32 rows or more, columns are pulled" in reasons
    assert "unless" not in reasons
    counted = plan_of(product("mxm", mask=NAMED), replace(PULLS, counts_products=True))
    reasons = " ".join(map(sentence, counted.reasons))
    assert "are pulled, unless dense multiplies few pairs beside the looks of a pull" in reasons


def test_a_backend_that_cannot_pull_does_not_weigh():
    planned = plan_of(product("mxm", mask=CLOSED), replace(ABLE, name="cannot"))
    assert [method.name for method in planned.methods] == ["dense", "hash"]
    assert planned.rule == Const(0.0)
