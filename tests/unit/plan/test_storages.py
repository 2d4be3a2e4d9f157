"""Pinned formats of a matrix, and the pins that go with them."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from tests.helpers.every import every
from tests.helpers.plans import ABLE, REACHED, plan_of, product

from semira.base.errors import PlanError
from semira.contract import Capabilities, Hints
from semira.plan.explain import sentence

CAN = replace(
    ABLE,
    parts="cpu",
    walks_columns=True,
    balances=frozenset(
        {("push", "positions"), ("push", "edges"), ("push", "thread"), ("pull", "thread")}
    ),
    queues=frozenset({("push", "global"), ("push", "block")}),
)


def planned(statement=None, capabilities: Capabilities = CAN, **pins):
    return plan_of(statement or product(), capabilities, hints=Hints(**pins))


@every(
    ("storage", "op", "transposed", "left"),
    [
        ("coo", "vxm", False, ("push", "none", "edges")),
        ("coo", "mxv", True, ("push", "none", "edges")),
        ("ell", "vxm", False, ("pull", "csc", "thread")),
        ("ellr", "mxv", False, ("pull", "csr", "thread")),
        ("pell", "vxm", True, ("pull", "csr", "thread")),
        ("sell", "mxv", True, ("pull", "csc", "thread")),
        ("dense", "mxv", False, ("pull", "csr", "warp")),
        ("dense", "vxm", False, ("pull", "csc", "warp")),
    ],
)
def test_a_format_leaves_the_method_that_walks_it(storage, op, transposed, left):
    plan = planned(product(op, transposed=transposed), matrix_storage=storage)
    (method,) = plan.methods
    assert (method.name, method.orientation, method.balance) == left
    assert method.storage == storage
    assert method.variants == ()
    assert any(f"walked as {storage}, " in sentence(each) for each in plan.reasons)


@every(
    ("storage", "balance"),
    [("coo", "edges"), ("ell", "rows"), ("ellr", "rows"), ("pell", "rows"), ("sell", "rows")],
)
@every("mask", [None, REACHED])
@every("transposed", [False, True])
def test_products_of_matrices_walk_the_left_one(storage, balance, mask, transposed):
    plan = planned(product("mxm", transposed=transposed, mask=mask), matrix_storage=storage)
    assert [method.name for method in plan.methods] == ["dense", "hash"]
    for method in plan.methods:
        assert (method.storage, method.balance) == (storage, balance)
        assert method.orientation == ("csc" if transposed else "csr")
        assert method.mask_order == ("none" if mask is None else "after")
    said = [sentence(each) for each in plan.reasons]
    assert any(f"walked as {storage}, the left one's " in each for each in said)
    assert not any("no table to probe" in each for each in said)


def test_short_cuts_stay():
    method = planned(matrix_storage="ell").methods[0]
    assert method.early_exit
    assert method.mask_order == "before"
    assert method.structure_only


def test_nothing_is_walked_unless_it_is_pinned():
    assert {method.storage for method in planned().methods} == {"compressed"}
    assert {method.queue for method in planned().methods} == {"none"}


@pytest.mark.parametrize("queue", ["global", "block"])
def test_a_queue_leaves_push(queue):
    plan = planned(queue=queue)
    assert [(method.name, method.queue) for method in plan.methods] == [("push", queue)]
    assert any("queue is pinned" in sentence(each) for each in plan.reasons)


def test_positions_leave_push():
    plan = planned(balance="positions")
    assert [(method.name, method.balance) for method in plan.methods] == [("push", "positions")]


PLUS = product("vxm", "plus_times[FP64]")
IMPOSSIBLE = {
    "pull of entries": (product(), CAN, {"matrix_storage": "coo", "direction": "pull"},
                        "which push alone walks; possible here: direction=None or"),
    "push of padded lines": (product(), CAN, {"matrix_storage": "ell", "direction": "push"},
                             "which pull alone walks"),
    "push of positions": (product(), CAN, {"matrix_storage": "dense", "direction": "push"},
                          "which pull alone walks"),
    "positions of mxm": (product("mxm"), CAN, {"matrix_storage": "dense"},
                         "matrix_storage='dense' is for products with a vector"),
    "no such kernel": (product(), ABLE, {"matrix_storage": "sell"}, "able cannot run matrix"),
    "shares of its own": (product(), CAN, {"matrix_storage": "coo", "balance": "thread"},
                          "matrix_storage='coo' shares its work by 'edges'"),
    "dot products": (product("mxm", mask=REACHED), CAN,
                     {"matrix_storage": "ell", "method": "dot"}, "which dense and hash alone walk"),
    "mask of mxm": (product("mxm", mask=REACHED), CAN,
                    {"matrix_storage": "ell", "mask_order": "before"},
                    "multiplies before it looks at the mask"),
    "shares of mxm": (product("mxm"), CAN, {"matrix_storage": "coo", "balance": "rows"},
                      "cannot share its work by 'rows'"),
    "no queue": (product(), ABLE, {"queue": "block"}, "has no list to ask for places by 'block'"),
    "queue of pull": (product(), CAN, {"queue": "block", "direction": "pull"},
                      "possible here: direction=None or direction='push' or queue=None"),
    "order": (PLUS, replace(CAN, unordered=frozenset({("vxm", "push")})),
              {"matrix_storage": "coo", "deterministic": True}, "asks for a fixed order"),
    "unknown": (product(), CAN, {"matrix_storage": "jds"}, "choose one of 'csr', 'csc', 'both'"),
}  # fmt: skip


@every("name", IMPOSSIBLE)
def test_refused_with_a_way_out(name):
    statement, capabilities, pins, text = IMPOSSIBLE[name]
    with pytest.raises(PlanError, match=re.escape(text)):
        planned(statement, capabilities, **pins)
