"""Pins of sorted pushes: they leave push, where their way is right, and say what else there is."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.helpers.every import every
from tests.helpers.plans import ABLE, plan_of, product

import semira as gb
from semira.base.errors import InvalidValue, PlanError
from semira.contract import Hints
from semira.plan.reasons import sentence

MERGES = ("radix", "sort", "scatter")
MERGING = replace(
    ABLE,
    name="cuda",
    parts="cuda",
    unordered=frozenset({("vxm", "push")}),
    balances=frozenset({("push", "warp")}),
)
SUM = product("vxm", "plus_times[FP64]")


@pytest.mark.parametrize("merge", MERGES)
def test_a_pinned_merge_is_a_push_that_says_so(merge):
    plan = plan_of(product(), MERGING, hints=Hints(merge=merge))
    (method,) = plan.methods
    assert (method.name, method.storage) == ("push", "sorted_push")
    assert method.parameters == (("merge", merge),)
    assert any(f"merge={merge!r} is pinned" in sentence(each) for each in plan.reasons)
    pinned = plan_of(product(), MERGING, hints=Hints(method="sorted_push", merge=merge))
    assert pinned.methods == plan.methods


def test_the_method_sorts_by_radix_unless_it_is_told():
    plan = plan_of(SUM, MERGING, hints=Hints(method="sorted_push"))
    assert plan.methods == plan_of(SUM, MERGING, hints=Hints(merge="radix")).methods


def test_nothing_is_listed_without_a_pin_or_by_atomics():
    assert not any(m.storage != "compressed" for m in plan_of(product(), MERGING).methods)
    (method,) = plan_of(product(), MERGING, hints=Hints(merge="atomics")).methods
    assert (method.name, method.storage) == ("push", "compressed")


@pytest.mark.parametrize("merge", MERGES)
def test_the_mask_is_looked_at_after_merging(merge):
    assert plan_of(product(), MERGING, hints=Hints(merge=merge)).methods[0].mask_order == "after"
    why = f"merge='{merge}' of vxm multiplies before it looks at the mask"
    with pytest.raises(PlanError, match=why):
        plan_of(product(), MERGING, hints=Hints(merge=merge, mask_order="before"))


@every(
    ("name", "is_right"),
    [
        ("any_pair[BOOL]", True), ("any_second[FP64]", True), ("min_pair[FP64]", True),
        ("lor_pair[BOOL]", True), ("plus_pair[INT64]", False), ("min_plus[FP64]", False),
        ("lor_land[BOOL]", False), ("min_secondi[INT64]", False), ("lxor_pair[BOOL]", False),
    ],
)  # fmt: skip
def test_scatter_is_for_products_of_which_any_will_do(name, is_right):
    statement = product("vxm", name)
    if is_right:
        assert plan_of(statement, MERGING, hints=Hints(merge="scatter"))
        return
    with pytest.raises(PlanError) as caught:
        plan_of(statement, MERGING, hints=Hints(merge="scatter"))
    said = str(caught.value)
    assert "scatter keeps one of the products that meet" in said
    assert all(f"merge='{other}'" in said for other in ("radix", "sort", "atomics"))
    assert "merge=None" in said


def test_sorts_keep_an_order_and_atomics_do_not():
    for merge in ("radix", "sort"):
        assert plan_of(SUM, MERGING, hints=Hints(merge=merge, deterministic=True)).ordered
    with pytest.raises(PlanError, match="merge='radix' or merge='sort'"):
        plan_of(SUM, MERGING, hints=Hints(merge="atomics", deterministic=True))
    scattered = Hints(merge="scatter", deterministic=True)
    with pytest.raises(PlanError, match="deterministic=True"):
        plan_of(product("vxm", "any_first[BOOL]"), MERGING, hints=scattered)
    # Of the ones of `pair` it makes no difference which is kept.
    assert not plan_of(product(), MERGING, hints=scattered).ordered


@pytest.mark.parametrize(
    ("hints", "why"),
    [
        (Hints(merge="radix", direction="pull"), "pull has no lists to merge by radix"),
        (Hints(merge="sort", balance="warp"), "merge='sort' shares its work by 'edges'"),
        (Hints(merge="bitonic"), "merge='bitonic' is unknown"),
    ],
)
def test_pins_that_do_not_go_together(hints, why):
    with pytest.raises(PlanError, match=why):
        plan_of(SUM, MERGING, hints=hints)


@pytest.mark.parametrize(
    ("hints", "why"),
    [
        (Hints(method="sorted_push", merge="atomics"), "is unknown; choose one of 'radix'"),
        (Hints(matrix_storage="coo", merge="sort"), "'coo' and merge='sort' name two methods"),
        (Hints(method="ell", merge="sort"), "name two methods"),
        (Hints(matrix_storage="csc", merge="sort"), "push walks csr"),
    ],
)
def test_pins_that_name_different_things(hints, why):
    with pytest.raises(PlanError, match=why):
        plan_of(SUM, MERGING, hints=hints)


def test_devices_that_cannot_merge_so_say_so():
    with pytest.raises(PlanError, match=r"able cannot run merge='radix'"):
        plan_of(SUM, hints=Hints(merge="radix"))


def test_the_api_takes_it_where_the_device_does():
    for device in ("reference", "cpu"):
        with gb.device(device):
            v, A = gb.Vector.from_coo([0], [1.0], size=3), gb.Matrix("FP64", 3, 3)
            v(merge="sort") << v.vxm(A, "plus_times")
            assert v.nvals == 0
            with pytest.raises(InvalidValue, match="merge='heap'"):
                v(merge="heap") << v.vxm(A, "plus_times")
            with pytest.raises(PlanError, match="is a choice of vxm, mxv only"):
                v(merge="sort") << v.apply("ainv")


def test_a_lean_matrix_is_not_transposed_for_it():
    rows = gb.Matrix.from_coo([0, 1], [1, 2], 1.0, nrows=3, ncols=3)
    rows.memory = "lean"
    u = gb.Vector.from_dense([1.0, 1, 1])
    with gb.device("cpu"):
        assert u.vxm(rows, "plus_times").new(method="sorted_push").nvals == 2
        with pytest.raises(PlanError, match="memory='lean'"):
            rows.mxv(u, "plus_times").new(method="sorted_push")
