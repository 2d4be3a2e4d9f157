"""Pushes that list their products, without a GPU: which kernels, and where such statements run."""

from __future__ import annotations

import pytest
from tests.helpers.compiling import assert_all_compile, compile_only
from tests.unit.backends.cuda.test_compile import ARCHITECTURES, needs_nvrtc
from tests.unit.backends.cuda.test_hosted import loop

from semira.backends.cuda.backend import CAPABILITIES, phases_of
from semira.backends.cuda.hosted import Piece, is_hosted, prepare_hosted
from semira.backends.cuda.lower import lower_program
from semira.backends.cuda.own_launches import ending_of, is_own, own_text, written_slots
from semira.base.dtypes import BOOL, FC64, FP32, FP64, INT8, INT64
from semira.contract import Arg, Hints, Mask, Program, Slot, Statement, Why
from semira.methods.sorted_push.sorts import KERNELS
from semira.methods.sorted_push.text import form_of
from semira.ops.registry import binary, semiring
from semira.plan import plan_program

NOT = Mask(3, structural=True, complement=True)


def program(merge: str, name: str, dtype, *, op="vxm", **fields) -> Program:
    """Return a planned product with a pinned merge."""
    typed = semiring[name].typed(dtype)
    slots = (
        Slot("vector", typed.return_type, "inout"), Slot("vector", dtype), Slot("matrix", dtype),
        Slot("vector", INT64),
    )  # fmt: skip
    args = (Arg(1), Arg(2)) if op == "vxm" else (Arg(2), Arg(1))
    body = (Statement(op, 0, args, typed, hints=Hints(merge=merge), **fields),)
    return plan_program(Program(slots, body), CAPABILITIES)


PROGRAMS = {
    "sum": program("radix", "plus_times", FP64),
    "sum of complex numbers": program("sort", "plus_times", FC64, op="mxv"),
    "least": program("radix", "min_plus", FP32, mask=NOT, replace=True),
    "count": program("sort", "plus_pair", INT64, mask=NOT),
    "positions": program("radix", "max_secondi", INT64),
    "any": program("sort", "any_second", INT8),
    "structure": program("radix", "any_pair", BOOL),
    "scattered structure": program("scatter", "any_pair", BOOL, accum=binary["lor"].typed(BOOL)),
    "scattered values": program("scatter", "any_first", FP64),
}


@needs_nvrtc
@pytest.mark.parametrize("offset", ["int", "long long"])
@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_sorts_compile_without_warning(arch, offset):
    compiled = compile_only("", arch, offset, KERNELS)
    assert compiled.code
    assert compiled.log.strip("\0 \n") == ""


@needs_nvrtc
def test_kernels_compile_without_warning():
    texts = {name: own_text(planned) for name, planned in PROGRAMS.items()}
    (root,) = {each for each, _ in texts.values()}
    for offset in ("int", "long long"):
        assert_all_compile({name: text for name, (_, text) in texts.items()}, "sm_90", offset, root)
    assert_all_compile({name: ending_of(each) for name, each in PROGRAMS.items()}, "sm_90")


@pytest.mark.parametrize(
    ("name", "keys_only", "folds"),
    [
        ("sum", False, True), ("count", True, True), ("positions", False, True),
        ("any", False, False), ("structure", True, False), ("scattered structure", True, False),
        ("scattered values", False, False),
    ],
)  # fmt: skip
def test_only_columns_are_listed_where_products_are_equal(name, keys_only, folds):
    planned = PROGRAMS[name]
    form = form_of(planned.body[0])
    assert (form.keys_only, form.folds) == (keys_only, folds)
    _, source = own_text(planned)
    assert ("p_fold_items" in source) == folds
    assert ("p_mark" in source) == (form.merge == "scatter")


def test_the_ending_has_the_slots_it_writes_and_the_result():
    planned = program("radix", "plus_times", FP32, mask=NOT, replace=True)
    (statement,) = planned.body
    assert written_slots(statement) == (0, 3)
    ending = ending_of(planned)
    (copy,) = ending.body
    assert [slot.dtype for slot in ending.slots] == [FP32, INT64, FP32]
    assert (copy.op, copy.out, copy.args, copy.mask) == ("copy", 0, (Arg(2),), Mask(1, True, True))
    assert copy.replace
    lower_program(ending)
    itself = Mask(0, structural=False, complement=False)
    assert written_slots(program("radix", "plus_times", FP32, mask=itself).body[0]) == (0,)


def test_such_a_statement_is_launches_of_its_own():
    assert is_own(PROGRAMS["sum"])
    (launches,) = phases_of(PROGRAMS["sum"])
    assert (launches.apart.why, launches.is_one) == (Why.OWN_LAUNCHES, False)
    atomics = program("atomics", "plus_times", FP64)
    assert not is_own(atomics)
    assert phases_of(atomics)


def test_a_program_round_it_is_run_by_the_host():
    typed = semiring["plus_times"].typed(INT64)
    slots = (*(Slot("vector", INT64, "inout"),) * 3, Slot("matrix", INT64), Slot("scalar", INT64))
    scale = Statement("apply", 0, (Arg(0), Arg(4)), binary["times"].typed(INT64))
    push = Statement("vxm", 1, (Arg(0), Arg(3)), typed, hints=Hints(merge="radix"))
    plain = plan_program(Program(slots, (scale, scale, push, scale)), CAPABILITIES)
    assert is_hosted(plain)
    prepared: list[Program] = []
    pieces = prepare_hosted(plain, lambda piece: prepared.append(piece) or piece).body
    assert all(isinstance(piece, Piece) for piece in pieces)
    assert [len(each.body) for each in prepared] == [2, 1, 1]
    assert [is_own(each) for each in prepared if len(each.body) == 1] == [True, False]


def test_a_loop_round_it_is_run_by_the_host():
    typed = semiring["plus_times"].typed(INT64)
    slots = (
        Slot("scalar", INT64), Slot("vector", INT64, "inout"), Slot("vector", INT64, "inout"),
        Slot("matrix", INT64),
    )  # fmt: skip
    push = Statement("vxm", 1, (Arg(2), Arg(3)), typed, hints=Hints(merge="sort"))
    assert is_hosted(plan_program(Program(slots, (loop(push),)), CAPABILITIES))
