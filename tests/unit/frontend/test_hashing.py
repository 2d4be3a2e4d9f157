"""Matrices and vectors as keys: by identity, as in python-graphblas."""

from __future__ import annotations

import gc
from functools import lru_cache
from weakref import WeakKeyDictionary, WeakSet

import pytest

import semira as gb


def objects():
    return [
        gb.Matrix.from_coo([0], [1], [2.0]),
        gb.Vector.from_coo([1], [2.0]),
        gb.Vector.from_coo([1], [True]),
    ]


@pytest.mark.parametrize("number", [0, 1, 2])
def test_equal_objects_are_different_keys(number):
    x, y = objects()[number], objects()[number]
    assert x.isequal(y)
    table = {x: "x", y: "y"}
    assert (table[x], table[y], len({x, y, x})) == ("x", "y", 2)
    before = hash(x)
    x << x.apply("identity")
    assert hash(x) == before
    assert table[x] == "x"
    assert x.dup() not in table


@pytest.mark.parametrize("number", [0, 1, 2])
def test_caches_keep_and_forget_them(number):
    calls = []

    @lru_cache
    def entries(x):
        calls.append(x)
        return x.nvals

    x, y = objects()[number], objects()[number]
    assert [entries(x), entries(x), entries(y)] == [1, 1, 1]
    assert calls[0] is x
    assert len(calls) == 2
    weak, kept = WeakKeyDictionary({objects()[number]: 1, x: 2}), WeakSet([y])
    gc.collect()
    assert list(weak.values()) == [2]
    assert weak[x] == 2
    assert y not in weak
    assert y in kept
    assert x not in kept


def test_expressions_are_keys_and_scalars_are_not():
    A, v, _ = objects()
    product = A.mxv(v)
    assert {product: 1}[product] == 1
    for item in (gb.Scalar.from_value(1), v.reduce(), A.T, A.S):
        with pytest.raises(TypeError, match="unhashable"):
            hash(item)
