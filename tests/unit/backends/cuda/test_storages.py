"""Kernels of every storage, and of the pins of push: accepted by the compiler."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.helpers.bfs_program import bfs_program
from tests.helpers.compiling import assert_all_compile
from tests.helpers.storages import STORAGES
from tests.unit.backends.cuda.test_compile import needs_nvrtc

from semira.backends.cuda.backend import CAPABILITIES
from semira.backends.cuda.lower import lower_program
from semira.backends.cuda.lower.context import Made
from semira.base.dtypes import BOOL, FC64, FP64, INT8, INT64
from semira.contract import Arg, Hints, Mask, Program, Slot, Statement
from semira.ops.registry import semiring
from semira.plan import plan_program

PINS = {
    **{storage: {"matrix_storage": storage} for storage in sorted(STORAGES)},
    "coo, global": {"matrix_storage": "coo", "queue": "global"},
    "positions": {"balance": "positions"},
    "global": {"queue": "global"},
    "thread, global": {"balance": "thread", "queue": "global"},
    "thread, block": {"balance": "thread", "queue": "block"},
}


def product(pins, name="plus_times", dtype=FP64, op="vxm", *, transposed=False):
    typed = semiring[name].typed(dtype)
    slots = (
        Slot("vector", typed.return_type, "inout"), Slot("vector", dtype), Slot("matrix", dtype),
        Slot("vector", INT64),
    )  # fmt: skip
    matrix = Arg(2, transposed)
    args = (Arg(1), matrix) if op == "vxm" else (matrix, Arg(1))
    mask = Mask(3, structural=True, complement=True)
    statement = Statement(op, 0, args, typed, mask, replace=True, hints=Hints(**pins))
    return Program(slots, (statement,))


def lowered(program):
    return lower_program(plan_program(program, CAPABILITIES))


def search(pins):
    """Return the program of a loop with pins on its product."""
    program = bfs_program(CAPABILITIES)
    (loop,) = program.body
    body = tuple(
        replace(each, hints=Hints(**pins)) if each.op == "vxm" else each for each in loop.bodies[0]
    )
    return replace(program, body=(replace(loop, bodies=(body,)),))


@needs_nvrtc
@pytest.mark.parametrize("offset_type", ["int", "long long"])
def test_products_compile(offset_type):
    kinds = (("plus_times", FP64), ("any_secondi", INT64), ("min_plus", INT8))
    sources = {
        f"{name} of {dtype}, {pin}": lowered(product(pins, name, dtype)).source
        for pin, pins in PINS.items()
        for name, dtype in kinds
    }
    assert_all_compile(sources, "sm_90", offset_type)


@needs_nvrtc
def test_loops_compile():
    assert_all_compile({pin: lowered(search(PINS[pin])).source for pin in PINS}, "sm_90")


@needs_nvrtc
def test_values_that_need_more_than_a_word_compile():
    stored = {each: product({"matrix_storage": each}, dtype=FC64) for each in sorted(STORAGES)}
    assert_all_compile({each: lowered(stored[each]).source for each in stored}, "sm_90")


def test_entries_need_no_orientation():
    for op, transposed, ends in (("vxm", False, "true"), ("mxv", False, "false"),
                                 ("vxm", True, "false"), ("mxv", True, "true")):  # fmt: skip
        found = lowered(product({"matrix_storage": "coo"}, op=op, transposed=transposed))
        assert not found.orientations
        (made,) = found.made
        assert (made.slot, made.name) == (2, "coo")
        assert f"(table->s{made.label}, {ends})" in found.source


@pytest.mark.parametrize(
    ("op", "transposed", "orientation"),
    [("vxm", False, "csc"), ("vxm", True, "csr"), ("mxv", False, "csr"), ("mxv", True, "csc")],
)
def test_lines_are_those_of_pull(op, transposed, orientation):
    for storage in ("sell", "dense"):
        found = lowered(product({"matrix_storage": storage}, op=op, transposed=transposed))
        assert found.made == (Made(2, storage, orientation),)
        assert not found.orientations


@pytest.mark.parametrize("name", ["coo", "positions"])
def test_what_others_still_read_is_not_emptied(name):
    assert "prepares" in lowered(search({"direction": "push"})).source
    assert "prepares" not in lowered(search(PINS[name])).source
    assert "build_list" not in lowered(search(PINS[name])).source


def test_a_queue_chooses_where_places_are_asked_for():
    text = {name: lowered(search(PINS[f"thread, {name}"])).source for name in ("global", "block")}
    assert "BlockList<0>" in text["global"]
    assert "BlockList<kListed>" in text["block"]
    plain = lowered(search({"balance": "thread", "direction": "push"})).source
    assert plain == text["block"]


def test_other_programs_stay_as_they_were():
    for name in ("any_pair", "plus_times"):
        program = product({}, name, BOOL if name == "any_pair" else FP64)
        assert not lowered(program).made
        for word in ("Entries<", "Ell<", "Dense<", "BlockList<0>"):
            assert word not in lowered(program).source
