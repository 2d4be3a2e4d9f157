"""Pins are followed where they can be, and refused with a way out where they cannot."""

import re
from dataclasses import replace

import pytest
from tests.helpers.every import every
from tests.helpers.plans import ABLE, COUNT, FRONTIER, LEVEL, A, B, plan_of, product

from semira.base.errors import PlanError
from semira.contract import Arg, Const, Hints, Mask, Statement

NAMED = Mask(A, structural=True, complement=False)


@pytest.mark.parametrize("direction", ["push", "pull"])
def test_pinned_direction_is_the_only_method(direction):
    plan = plan_of(product(), hints=Hints(direction=direction))
    assert [method.name for method in plan.methods] == [direction]
    assert plan.rule == Const(0.0)


@pytest.mark.parametrize(
    ("op", "transposed", "storage", "left"),
    [
        ("vxm", False, "csr", "push"),
        ("vxm", False, "csc", "pull"),
        ("vxm", True, "csr", "pull"),
        ("mxv", False, "csr", "pull"),
        ("mxv", True, "csr", "push"),
    ],
)
def test_matrix_storage_leaves_the_method_that_walks_it(op, transposed, storage, left):
    statement = product(op, transposed=transposed)
    plan = plan_of(statement, hints=Hints(matrix_storage=storage))
    assert [(m.name, m.orientation) for m in plan.methods] == [(left, storage)]
    assert len(plan_of(statement, hints=Hints(matrix_storage="both")).methods) == 2


def test_hints_shape_the_methods():
    plan = plan_of(
        product(),
        hints=Hints(mask_order="after", early_exit=False, structure_only=False),
    )
    assert [m.mask_order for m in plan.methods] == ["after", "after"]
    assert not any(m.early_exit or m.structure_only for m in plan.methods)
    assert plan_of(product(), hints=Hints(vector_storage="bitmap")).out_storage == "bitmap"


def test_mask_order_pin_leaves_out_the_push_that_cannot_follow():
    plan = plan_of(product(), replace(ABLE, masked_push=False), hints=Hints(mask_order="before"))
    assert [m.name for m in plan.methods] == ["pull"]


def test_demanded_early_exit_keeps_push():
    plan = plan_of(product(), hints=Hints(early_exit=True))
    assert [(m.name, m.early_exit) for m in plan.methods] == [("push", False), ("pull", True)]


def test_asserted_reuse_is_pull_s_alone():
    plan = plan_of(product(), hints=Hints(operand_reuse=True))
    assert [m.operand_reuse for m in plan.methods] == [False, True]


@pytest.mark.parametrize("method", ["dot", "hash", "dense"])
def test_pinned_mxm_method(method):
    plan = plan_of(product("mxm", mask=NAMED), hints=Hints(method=method))
    assert [m.name for m in plan.methods] == [method]


PLUS = product("vxm", "plus_times[FP64]")
IMPOSSIBLE = {
    "pull needs the other orientation": (
        product(),
        Hints(direction="pull", matrix_storage="csr"),
        [
            "direction='pull', matrix_storage='csr'",
            "pull walks csc",
            "possible here: direction=None or direction='push' or matrix_storage=None",
            "matrix_storage='csc' or matrix_storage='both'",
        ],
    ),
    "nothing to test before": (
        product(mask=None, replace=False),
        Hints(mask_order="before"),
        ["mask_order='before'", "there is no mask", "possible here: mask_order=None"],
    ),
    "plus has no terminal": (
        PLUS,
        Hints(early_exit=True),
        ["early_exit=True", "monoid.plus", "no terminal value", "False or None"],
    ),
    "push has no rows to leave": (
        product(),
        Hints(early_exit=True, direction="push"),
        ["early_exit=True", "push does not work row by row", "pull"],
    ),
    "push never reads the mask": (
        product(),
        Hints(operand_reuse=True, direction="push"),
        ["operand_reuse=True", "push does not work row by row"],
    ),
    "times reads values": (
        PLUS,
        Hints(structure_only=True),
        ["structure_only=True", "binary.times", "pair"],
    ),
    "reuse without a mask": (
        product(mask=None, replace=False),
        Hints(operand_reuse=True),
        ["operand_reuse=True", "complemented structural mask"],
    ),
    "reuse under a value mask": (
        product(mask=Mask(LEVEL, structural=False, complement=True)),
        Hints(operand_reuse=True),
        ["operand_reuse=True", "complemented structural mask"],
    ),
    "reuse of values": (PLUS, Hints(operand_reuse=True), ["reads the operand's values"]),
    "dot without a mask": (
        product("mxm"),
        Hints(method="dot"),
        ["method='dot'", "needs a mask", "method='hash'", "method='dense'"],
    ),
    "dot looks before": (
        product("mxm", mask=NAMED),
        Hints(method="dot", mask_order="after"),
        ["mask_order='after'", "looks at the mask before", "mask_order='before'"],
    ),
    "direction of mxm that its method is not": (
        product("mxm"),
        Hints(direction="push", method="dot"),
        ["direction='push'", "dot is a pull", "method='dense'"],
    ),
    "direction of nvals": (
        Statement("nvals", COUNT, (Arg(FRONTIER),)),
        Hints(direction="push"),
        ["direction='push'", "mxv, vxm, mxm only"],
    ),
    "method of vxm": (product(), Hints(method="hash"), ["method='hash' is unknown", "push"]),
    "policy of nvals": (
        Statement("nvals", COUNT, (Arg(FRONTIER),)),
        Hints(policy="ligra"),
        ["policy='ligra'", "mxv, vxm, mxm only"],
    ),
    "vector storage of a matrix": (
        Statement("copy", B, (Arg(A),)),
        Hints(vector_storage="full"),
        ["vector_storage='full'", "the output is a matrix"],
    ),
    "unknown direction": (
        product(),
        Hints(direction="sideways"),
        ["direction='sideways'", "'push', 'pull'"],
    ),
    "unknown flag": (product(), Hints(early_exit="yes"), ["early_exit='yes'", "False, True"]),
    "switch point zero": (product(), Hints(switch_point=0.0), ["switch_point=0.0", "(0, 1]"]),
    "switch point nan": (product(), Hints(switch_point=float("nan")), ["switch_point=nan"]),
}


@every("case", IMPOSSIBLE)
def test_impossible_pin_names_itself_the_reason_and_the_way_out(case):
    statement, hints, words = IMPOSSIBLE[case]
    with pytest.raises(PlanError) as caught:
        plan_of(statement, hints=hints)
    message = str(caught.value)
    assert message.startswith(f"{statement.op}: ")
    for word in words:
        assert re.search(re.escape(word), message), f"{word!r} not in {message!r}"


def test_early_exit_demanded_of_a_backend_that_cannot():
    with pytest.raises(PlanError, match="kernels of able cannot leave a row"):
        plan_of(product(), replace(ABLE, early_exit=False), hints=Hints(early_exit=True))


def test_forbidding_a_shortcut_is_possible_everywhere():
    hints = Hints(early_exit=False, structure_only=False, operand_reuse=False)
    assert plan_of(product("mxm"), hints=hints)
    assert plan_of(Statement("nvals", COUNT, (Arg(FRONTIER),)), hints=hints)
