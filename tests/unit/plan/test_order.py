"""Sums in a fixed order: which statements need one, and which methods are left out for it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.helpers.plans import ABLE, plan_of, product

import semira as gb
from semira.base.dtypes import BOOL, FC32, FP32, INT64
from semira.base.errors import PlanError
from semira.contract import Arg, Hints, Statement
from semira.ops.registry import binary, monoid, semiring
from semira.plan.rules_mask import needs_order

FIXED = Hints(deterministic=True)
AS_THREADS_COME = replace(ABLE, unordered=frozenset({("vxm", "push")}))


def operator_is(name, dtype):
    return replace(product(), operator=semiring[name].typed(dtype))


@pytest.mark.parametrize(
    ("name", "dtype", "needed"),
    [
        ("plus_times", FP32, True),
        ("times_plus", FC32, True),
        ("min_plus", FP32, True),
        ("any_second", FP32, True),
        # It picks among equal ones.
        ("any_pair", BOOL, False),
        ("plus_times", INT64, False),
        ("lor_land", BOOL, False),
    ],
)
def test_what_rounds_or_picks_needs_an_order(name, dtype, needed):
    statement = operator_is(name, dtype)
    assert not needs_order(statement)
    assert needs_order(replace(statement, hints=FIXED)) is needed
    plan = plan_of(statement, AS_THREADS_COME, hints=FIXED)
    assert [method.name for method in plan.methods] == (["pull"] if needed else ["push", "pull"])
    assert plan.ordered is needed


def test_without_the_option_every_method_stays():
    plan = plan_of(operator_is("plus_times", FP32), AS_THREADS_COME)
    assert len(plan.methods) == 2
    assert not plan.ordered


def test_a_python_function_is_not_trusted_to_be_associative():
    sums = gb.monoid.register_anonymous(gb.binary.register_anonymous(lambda x, y: x + y), 0)
    assert needs_order(Statement("reduce", 0, (Arg(1),), sums["INT64"], hints=FIXED))
    assert not needs_order(
        Statement("reduce", 0, (Arg(1),), monoid["plus"].typed(INT64), hints=FIXED)
    )
    scattered = Statement("scatter", 0, (Arg(1), Arg(2)), hints=FIXED,
                          params=(("dup", monoid["plus"].typed(FP32)),))  # fmt: skip
    assert needs_order(scattered)
    assert not needs_order(
        Statement("ewise_add", 0, (Arg(1), Arg(2)), binary["plus"].typed(FP32), hints=FIXED)
    )


def test_a_pinned_push_is_refused_and_the_way_out_named():
    hints = Hints(deterministic=True, direction="push")
    with pytest.raises(PlanError, match="fixed order") as caught:
        plan_of(operator_is("plus_times", FP32), AS_THREADS_COME, hints=hints)
    assert "direction='pull'" in str(caught.value)
    assert "deterministic=False" in str(caught.value)


def test_the_option_sets_it_for_every_call_and_is_part_of_the_warm_key():
    from semira.engine import calls, warm

    v, w = gb.Vector.from_coo([0], [1.5], size=2), gb.Scalar("FP64")
    call = calls.Call("reduce", w._value, ((v._value, False),), gb.monoid.plus["FP64"])
    key = warm.read(call)[0]
    with gb.config.set(deterministic=True):
        assert warm.lowered(call).body[0].hints == FIXED
        assert warm.read(call)[0] != key
        assert v.reduce().new().value == 1.5
    assert warm.lowered(call).body[0].hints == Hints()
    assert warm.read(call)[0] == key
