"""Products that a later comparison throws away."""

from __future__ import annotations

from dataclasses import replace

import pytest

from semira.backends.cuda.lower import lower_program
from semira.backends.cuda.lower.pruning import pruning_of
from semira.backends.cuda.lower.uses import uses_of
from semira.base.dtypes import BOOL, FP32, FP64
from semira.contract import Arg, Loop, Mask, Program, Slot, Statement
from semira.ops.registry import binary, semiring

ACTIVE, GRAPH, REACHED, WORSE, BEST, LIMIT = range(6)
SLOTS = (
    Slot("vector", FP32, "inout"),
    Slot("matrix", FP32),
    Slot("vector", FP32, "temp", ((ACTIVE, 0),)),
    Slot("vector", BOOL, "temp", ((ACTIVE, 0),)),
    Slot("vector", FP32, "inout"),
    Slot("scalar", FP64),
)
NEW = (("new", True),)
NOT_WORSE = Mask(WORSE, structural=False, complement=True)

PRODUCT = Statement(
    "vxm", REACHED, (Arg(ACTIVE), Arg(GRAPH)), semiring["min_plus"].typed(FP32), params=NEW
)
COMPARED = Statement(
    "ewise_mult", WORSE, (Arg(REACHED), Arg(BEST)), binary["ge"].typed(FP32), params=NEW
)
TAKEN = Statement("copy", ACTIVE, (Arg(REACHED),), mask=NOT_WORSE, replace=True)
HELD = Statement("copy", BEST, (Arg(ACTIVE),), mask=Mask(ACTIVE, structural=True, complement=False))
BODY = (PRODUCT, COMPARED, TAKEN, HELD)


def pruned(body=BODY, after=(), slots=SLOTS):
    program = Program(slots, (Loop((body,), (None,), LIMIT, explicit_limit=True), *after))
    return pruning_of(program, body.index(PRODUCT), uses_of(program))


def test_what_is_no_better_than_the_best_is_dropped():
    found = pruned()
    assert found is not None
    assert (found.held, found.product_first) == (BEST, True)
    source = lower_program(
        Program(SLOTS, (Loop((BODY,), (None,), LIMIT, explicit_limit=True),))
    ).source
    assert "KeepUnless<BinaryOp_ge_FP32, true, float>(v4.here, v4.nvals == v4.size)" in source


@pytest.mark.parametrize(
    ("name", "turned", "monoid", "is_found"),
    [
        ("ge", False, "min", True),
        ("gt", False, "min", True),
        ("le", True, "min", True),
        ("lt", True, "min", True),
        ("le", False, "min", False),
        ("ge", True, "min", False),
        ("le", False, "max", True),
        ("ge", True, "max", True),
        ("ge", False, "max", False),
        ("eq", False, "min", False),
        ("ge", False, "plus", False),
        ("ge", False, "any", False),
    ],
)
def test_the_comparison_must_discard_what_loses(name, turned, monoid, is_found):
    args = (Arg(BEST), Arg(REACHED)) if turned else (Arg(REACHED), Arg(BEST))
    compared = replace(COMPARED, args=args, operator=binary[name].typed(FP32))
    operator = semiring[f"{monoid}_plus"].typed(FP32)
    product = replace(PRODUCT, operator=operator)
    body = (product, compared, TAKEN, HELD)
    program = Program(SLOTS, (Loop((body,), (None,), LIMIT, explicit_limit=True),))
    found = pruning_of(program, 0, uses_of(program))
    assert (found is not None) == is_found
    assert found is None or found.product_first == (not turned)


@pytest.mark.parametrize(
    "body",
    [
        # Entries outside of the mask stay, or are added up; the other half of it; its presence.
        (PRODUCT, COMPARED, replace(TAKEN, replace=False), HELD),
        (PRODUCT, COMPARED, replace(TAKEN, accum=binary["min"].typed(FP32)), HELD),
        (PRODUCT, COMPARED, replace(TAKEN, mask=replace(NOT_WORSE, complement=False)), HELD),
        (PRODUCT, COMPARED, replace(TAKEN, mask=replace(NOT_WORSE, structural=True)), HELD),
        # Under the mask, something that does not need the product.
        (PRODUCT, COMPARED, replace(TAKEN, args=(Arg(BEST),)), HELD),
        # Somebody else sees the product, or the comparison.
        (*BODY, Statement("copy", ACTIVE, (Arg(REACHED),))),
        (*BODY, Statement("nvals", LIMIT, (Arg(WORSE),))),
        # The best changes in between; a mask or an accumulator on the product.
        (PRODUCT, Statement("copy", BEST, (Arg(ACTIVE),)), *BODY[1:]),
    ],
)
def test_what_is_not_pruned(body):
    assert pruned(body) is None


def test_a_product_or_comparison_that_others_see_is_not_pruned():
    assert pruned(after=(Statement("copy", BEST, (Arg(REACHED),)),)) is None
    outlives = (*SLOTS[:REACHED], replace(SLOTS[REACHED], role="inout"), *SLOTS[REACHED + 1 :])
    assert pruned(slots=outlives) is None
    wider = (*SLOTS[:BEST], replace(SLOTS[BEST], dtype=FP64), *SLOTS[BEST + 1 :])
    assert pruned(slots=wider) is None


def test_statements_of_different_bodies_are_not_pruned():
    program = Program(
        SLOTS, (PRODUCT, Loop(((COMPARED, TAKEN, HELD),), (None,), LIMIT, explicit_limit=True))
    )
    assert pruning_of(program, 0, uses_of(program)) is None
