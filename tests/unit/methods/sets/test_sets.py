"""Sets of dot products without a GPU: their kernels compile, kept and summed up."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.helpers.compiling import assert_all_compile
from tests.unit.backends.cuda.test_compile import needs_nvrtc
from tests.unit.backends.cuda.test_product_kernels import planned

from semira.backends.cuda.jit.render import STAGED
from semira.backends.cuda.staged.executable import source_of
from semira.base.dtypes import BOOL, FP64, INT64
from semira.contract import Arg, Program, Slot, Statement
from semira.ops.registry import monoid, semiring

CASES = [("plus_pair", INT64, "bitmap"), ("any_pair", BOOL, "hash"), ("plus_times", FP64, "hash")]


def program(name, dtype, kind: str, *, is_summed: bool) -> Program:
    typed = semiring[name].typed(dtype)
    made = planned(typed, "value", method="sets", parameters=(("kind", kind),))
    if not is_summed:
        return made
    add = monoid["max"].typed(typed.return_type)
    total = Statement("reduce", 4, (Arg(0),), add)
    slots = (replace(made.slots[0], role="temp"), *made.slots[1:], Slot("scalar", add.type))
    return Program(slots, (*made.body, total))


@needs_nvrtc
@pytest.mark.parametrize("is_summed", [False, True])
def test_kernels_compile_without_warning(is_summed):
    sources = {case[0]: source_of(program(*case, is_summed=is_summed)) for case in CASES}
    for name, _, kind in CASES:
        source = sources[name]
        assert all(f"t_dots{each}(" in source for each in ("8", "32", "0", "_by_entry"))
        assert ("LookUpRows<true" in source) == (kind == "bitmap")
    for offsets in ("int", "long long"):
        assert_all_compile(sources, "sm_90", offsets, STAGED)


def test_other_dot_products_do_not_have_them():
    typed = semiring["plus_pair"].typed(INT64)
    assert "semira.methods" not in source_of(planned(typed, "plain"))
