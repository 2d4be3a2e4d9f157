"""Products that a later comparison throws away."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.helpers.every import every

from semira.backends.cuda.lower import lower_program
from semira.backends.cuda.lower.pruning import blanked, pruning_of
from semira.backends.cuda.lower.uses import uses_of
from semira.base.dtypes import BOOL, FP32, FP64, INT64
from semira.contract import Arg, Hints, Loop, Mask, Program, Slot, Statement
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


def source_of(body):
    return lower_program(
        Program(SLOTS, (Loop((body,), (None,), LIMIT, explicit_limit=True),))
    ).source


def test_what_is_no_better_than_the_best_is_dropped():
    found = pruned()
    assert found is not None
    assert (found.held, found.product_first) == (BEST, True)
    assert "KeepUnlessBlank<BinaryOp_ge_FP32, true, float>(v4.here.values)" in source_of(BODY)


#: What the best may be written by besides, and whether it may lose entries by it.
LESS = binary["min"].typed(FP32)
WRITES = {
    "nothing": ((), False),
    "a sum": ((Statement("copy", BEST, (Arg(ACTIVE),), accum=LESS),), False),
    "a sum, others deleted": (
        (replace(HELD, accum=LESS, replace=True, mask=Mask(ACTIVE, True, False)),),
        True,
    ),
    "others deleted": ((replace(HELD, replace=True),), True),
    "another vector": ((replace(HELD, args=(Arg(BEST),)),), True),
    "outside of the mask": ((replace(HELD, mask=Mask(ACTIVE, True, True)),), True),
    "everything": ((Statement("copy", BEST, (Arg(ACTIVE),)),), True),
}


@pytest.mark.parametrize(("more", "loses"), WRITES.values(), ids=WRITES)
def test_absent_values_are_blank_where_no_entry_is_lost(more, loses):
    body = (*BODY, *more)
    found = pruned(body)
    assert found is not None
    assert found.blank == (not loses)
    source = source_of(body)
    assert ("fill_absent(team, v4, Monoid_min_FP32::identity());" in source) == (not loses)
    held = "v4.here, v4.nvals == v4.size" if loses else "v4.here.values"
    assert f"<BinaryOp_ge_FP32, true, float>({held})" in source


def test_only_floats_before_a_loop_are_blank():
    assert not pruned(after=(Statement("copy", BEST, (Arg(ACTIVE),), accum=LESS),)).blank
    slots = tuple(replace(s, dtype=INT64) if s.dtype is FP32 else s for s in SLOTS)
    body = (
        replace(PRODUCT, operator=semiring["min_plus"].typed(INT64)),
        replace(COMPARED, operator=binary["ge"].typed(INT64)),
        *BODY[2:],
    )
    program = Program(slots, (Loop((body,), (None,), LIMIT, explicit_limit=True),))
    found = pruning_of(program, 0, uses_of(program))
    assert found is not None
    assert not found.blank
    assert blanked(program, uses_of(program)) == {}


@every(
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


@every(
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


@pytest.mark.parametrize(("name", "adds"), [("min_plus", True), ("any_pair", False)])
def test_matrices_whose_rows_are_added_to_random_places(name, adds):
    product = replace(PRODUCT, operator=semiring[name].typed(FP32), hints=Hints(direction="push"))
    program = Program(SLOTS, (Loop(((product,),), (None,), LIMIT, explicit_limit=True),))
    assert lower_program(program).scattered == ({GRAPH} if adds else set())
