"""Rows as bits: which products may have them, from when on, and what is said about it."""

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
from semira.methods.diagonals.plan import PRODUCTS
from semira.ops.registry import semiring
from semira.plan.reasons import sentence

READS = replace(ABLE, parts="cuda")


def diagonals_of(name="plus_second", dtype=FP32, hints=NO_HINTS, capabilities=READS, op="mxv"):
    """Return what the methods of a product say, by their names, and the plan in words."""
    statement = replace(product(op), operator=semiring[name].typed(dtype))
    plan = plan_of(statement, capabilities, hints=hints)
    texts = [text for text in map(sentence, plan.reasons) if "diagonals" in text]
    found = {
        method.name: {each.name: each.figures for each in method.variants}
        for method in plan.methods
    }
    return {name: each.get("diagonals") for name, each in found.items()}, texts


def test_a_pull_says_from_which_product_on():
    found, texts = diagonals_of()
    assert found == {"push": None, "pull": (PRODUCTS.value,)}
    (text,) = texts
    assert text.endswith("entries lie on few diagonals, from product 4 on")


@pytest.mark.parametrize(
    ("name", "op", "dtype"),
    [
        ("plus_times", "mxv", INT64), ("min_times", "mxv", FP32), ("plus_first", "mxv", FP32),
        ("plus_second", "vxm", FP32),
    ],
)  # fmt: skip
def test_values_that_are_read_must_be_one(name, op, dtype):
    found, (text,) = diagonals_of(name, dtype, op=op)
    assert found["pull"] == (PRODUCTS.value,)
    assert "few diagonals and have one value" in text


@every(
    ("name", "dtype", "hints", "capabilities"),
    [
        ("plus_second", FP64, Hints(), ABLE),
        ("plus_second", FP64, Hints(diagonals=False), READS),
        ("plus_second", FP64, Hints(balance="rows"), READS),
        # Kept in one orientation to save memory; in another format.
        ("plus_second", FP64, Hints(matrix_storage="csr"), READS),
        ("plus_second", FP64, Hints(matrix_storage="ell"), replace(READS, parts="cpu")),
        # Entries are counted, or a row is left at once.
        ("plus_pair", INT64, Hints(), READS),
        ("any_second", FP32, Hints(), READS),
        # A kernel may add a product in one step, rounded once, where another takes two.
        ("plus_times", FP32, Hints(), READS),
        ("plus_times", FP64, Hints(diagonals=True), READS),
    ],
)
def test_products_that_have_no_use_for_them(name, dtype, hints, capabilities):
    balances = frozenset({("pull", "rows"), ("push", "edges")})
    found, texts = diagonals_of(name, dtype, hints, replace(capabilities, balances=balances))
    assert set(found.values()) == {None}
    assert texts == []


def test_positions_may_be_multiplied():
    assert diagonals_of("max_secondi", INT64)[0]["pull"] == (PRODUCTS.value,)


def test_the_pin_asks_at_once():
    found, (text,) = diagonals_of(hints=Hints(diagonals=True, matrix_storage="csr"))
    assert found["pull"] == (0,)
    assert text.endswith("few diagonals: it is pinned")


def test_the_pin_is_checked():
    with pytest.raises(PlanError, match="diagonals='on' is unknown"):
        diagonals_of(hints=Hints(diagonals="on"))
    v = gb.Vector.from_coo([0], 1.0, size=2)
    with pytest.raises(PlanError, match="diagonals=True is impossible"):
        v(diagonals=True) << v.apply("ainv")


@pytest.mark.parametrize(
    ("chosen", "op", "expected"),
    [
        ("auto", "vxm", None), ("off", "vxm", False), ("on", "mxv", True), ("on", "apply", None),
    ],
)  # fmt: skip
def test_the_option_pins_products(chosen, op, expected):
    call = Call(op, None, (), hints=Hints())
    with config.set(diagonals=chosen):
        assert effective_hints(call).diagonals is expected
        assert effective_hints(call).hot_columns is None
        pinned = replace(call, hints=Hints(diagonals=True))
        assert effective_hints(pinned).diagonals is True


def test_the_option_takes_three_words():
    with pytest.raises(InvalidValue, match="auto, off, on"):
        config.set(diagonals="yes")
