"""Hot columns: which products may have them, from when on, and what is said about it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.helpers.every import every
from tests.helpers.plans import ABLE, plan_of, product

import semira as gb
from semira.base.config import config
from semira.base.dtypes import FP32, FP64, INT64
from semira.base.errors import InvalidValue, PlanError
from semira.contract import Hints
from semira.contract.hints import NO_HINTS
from semira.engine.calls import Call, effective_hints
from semira.methods.hot_columns.plan import ENTRIES, MEAN, PRODUCTS, SHARE, Figures
from semira.ops.registry import semiring
from semira.plan.reasons import sentence

KEEPS = replace(ABLE, parts="cuda")


def hot_of(name="plus_times", dtype=FP64, hints=NO_HINTS, capabilities=KEEPS, op="vxm"):
    """Return what the methods of a product say, by their names."""
    statement = replace(product(op), operator=semiring[name].typed(dtype))
    plan = plan_of(statement, capabilities, hints=hints)
    found = {
        method.name: {
            each.name: Figures(*each.figures)
            for each in method.variants
            if each.name == "hot_columns"
        }
        for method in plan.methods
    }
    return {name: each.get("hot_columns") for name, each in found.items()}, plan


def test_a_pull_has_the_conditions_of_the_policy():
    found, plan = hot_of()
    assert found["push"] is None
    assert found["pull"] == (ENTRIES.value, MEAN.value, PRODUCTS.value, SHARE.value)
    texts = [sentence(each) for each in plan.reasons]
    assert any("8,000,000 entries or more, 8 a row, from product 4 on" in text for text in texts)
    assert any("40% of the entries" in text for text in texts)


def test_a_matrix_must_be_large_and_its_rows_long():
    hot, _ = hot_of()
    asks = hot["pull"].asks
    assert asks(8_000_000, 1_000_000)
    assert not asks(7_999_999, 1)
    assert not asks(8_000_000, 1_000_001)


@every(
    ("name", "dtype", "hints", "capabilities"),
    [
        ("plus_times", FP64, Hints(), ABLE),
        ("plus_times", FP64, Hints(hot_columns=False), KEEPS),
        ("plus_times", FP64, Hints(balance="rows"), KEEPS),
        # Kept in one orientation to save memory.
        ("plus_times", FP64, Hints(matrix_storage="csc"), KEEPS),
        # The vector's values are not read, positions are, or a row is left at once.
        ("plus_second", FP64, Hints(), KEEPS),
        ("plus_pair", INT64, Hints(), KEEPS),
        ("min_firsti", INT64, Hints(), KEEPS),
        ("any_first", FP32, Hints(), KEEPS),
    ],
)
def test_products_that_have_no_use_for_them(name, dtype, hints, capabilities):
    capabilities = replace(capabilities, balances=frozenset({("pull", "rows"), ("push", "edges")}))
    hot, plan = hot_of(name, dtype, hints, capabilities)
    assert set(hot.values()) == {None}
    assert not any("frequent columns" in sentence(each) for each in plan.reasons)


def test_the_side_of_the_vector_decides():
    assert hot_of("plus_second", FP32, op="mxv")[0]["pull"] is not None
    assert hot_of("plus_first", FP32, op="mxv")[0]["pull"] is None


def test_the_pin_leaves_no_condition():
    hot, plan = hot_of(hints=Hints(hot_columns=True, matrix_storage="csc"))
    assert hot["pull"] == (0, 0, 0, 0)
    assert hot["pull"].asks(0, 0)
    assert any("it is pinned" in sentence(each) for each in plan.reasons)


def test_the_pin_is_checked():
    with pytest.raises(PlanError, match="hot_columns='on' is unknown"):
        hot_of(hints=Hints(hot_columns="on"))
    A = gb.Matrix.from_coo([0], [1], 2.0, nrows=2, ncols=2)
    v = gb.Vector.from_coo([0], 1.0, size=2)
    v(hot_columns=True) << v.vxm(A, "plus_times")
    with pytest.raises(PlanError, match="hot_columns=True is impossible"):
        v(hot_columns=True) << v.apply("ainv")


@pytest.mark.parametrize(
    ("chosen", "op", "expected"),
    [
        ("auto", "vxm", None), ("off", "vxm", False), ("on", "mxv", True), ("on", "apply", None),
    ],
)  # fmt: skip
def test_the_option_pins_products(chosen, op, expected):
    call = Call(op, None, (), hints=Hints())
    with config.set(hot_columns=chosen):
        assert effective_hints(call).hot_columns is expected
        pinned = replace(call, hints=Hints(hot_columns=True))
        assert effective_hints(pinned).hot_columns is True


def test_the_option_takes_three_words():
    with pytest.raises(InvalidValue, match="auto, off, on"):
        config.set(hot_columns="yes")
