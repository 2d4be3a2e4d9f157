"""Products in equal shares: their plan, and their kernels without a GPU."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.helpers.compiling import assert_all_compile
from tests.helpers.plans import plan_of, product
from tests.unit.backends.cuda.test_compile import needs_nvrtc
from tests.unit.backends.cuda.test_product_kernels import SEMIRINGS, planned

from semira.backends.cuda.backend import CAPABILITIES
from semira.backends.cuda.staged import bins
from semira.backends.cuda.staged.method_parts import own_part
from semira.base.errors import PlanError
from semira.contract import Hints
from semira.methods.equal_shares import cuda
from semira.ops.registry import semiring

EQUAL = Hints(method="equal_shares")
FOLDER = Path(cuda.__file__).parent


@needs_nvrtc
def test_products_in_shares_compile_without_warning():
    texts = {}
    for name, dtype in SEMIRINGS[::2]:
        program = planned(semiring[name].typed(dtype), "complement", balance="edges")
        assert program.body[0].plan.methods[0].balance == "edges"
        texts[name] = cuda.text(program, program.body[0])
    for offsets in ("int", "long long"):
        assert_all_compile(texts, "sm_90", offsets, cuda.ROOT)


def test_host_and_kernels_agree_on_what_a_share_is():
    text = (FOLDER / "kernels" / "shares.cuh").read_text()
    assert int(text.split("constexpr int kShare = ")[1].split(";")[0]) == cuda.SHARE
    bits = int(text.split("constexpr int kPlaceBits = ")[1].split(",")[0])
    assert 1 << bits == 2 * cuda.SHARE
    # Order and values of a share fit what any GPU grants a block.
    assert 2 * cuda.SHARE * (8 + cuda.SHARED_BYTES) <= bins.SHARED


def test_it_is_pinned_by_its_name_whatever_the_operands():
    plan = plan_of(product("mxm", "plus_times[FP64]"), CAPABILITIES, hints=EQUAL)
    (method,) = plan.methods
    assert (method.name, method.storage, method.balance) == ("hash", "equal_shares", "edges")
    statement = replace(product("mxm", "plus_times[FP64]"), plan=plan)
    assert own_part(statement) is own_part(statement, sparse=False) is cuda


def test_a_pinned_balance_means_it_where_the_right_operand_lacks_entries():
    statement = product("mxm", "plus_times[FP64]", hints=Hints(balance="edges"))
    statement = replace(statement, plan=plan_of(statement, CAPABILITIES))
    assert own_part(statement) is cuda
    assert own_part(statement, sparse=False) is None
    rows = product("mxm", "plus_times[FP64]", hints=Hints(balance="rows"))
    assert own_part(replace(rows, plan=plan_of(rows, CAPABILITIES))) is None


@pytest.mark.parametrize(
    ("hints", "why"),
    [
        (Hints(deterministic=True), "asks for a fixed order"),
        (Hints(balance="rows"), "balance='rows' is no parameter"),
        (Hints(direction="pull"), "direction='pull' is pinned"),
        (Hints(matrix_storage="csc"), "walks csr, and matrix_storage='csc' is pinned"),
    ],
)
def test_what_does_not_go_with_it(hints, why):
    with pytest.raises(PlanError, match=why):
        plan_of(
            product("mxm", "plus_times[FP64]"), CAPABILITIES,
            hints=replace(hints, method="equal_shares"),
        )  # fmt: skip
