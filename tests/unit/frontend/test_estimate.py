"""What a product will take."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.helpers.every import every

import semira as gb
from semira.exceptions import DeviceUnavailable, InvalidValue


@every("seed", range(6))
def test_products_are_counted_and_entries_bounded(seed, device):
    rng = np.random.default_rng(seed)
    left, right, allowed = (rng.random(shape) < 0.3 for shape in ((9, 7), (7, 11), (9, 11)))
    with gb.device(device):
        a, b, mask = (
            gb.Matrix.from_dense(np.where(each, 1.0, 0), missing_value=0)
            for each in (left, right, allowed)
        )
    found = gb.estimate(a.mxm(b))
    made = a.mxm(b).new()
    assert found.products == int((left.astype(int) @ right).sum())
    rows = np.minimum((left.astype(int) @ right).sum(axis=1), 11)
    assert found.entries == rows.sum() >= made.nvals
    masked = gb.estimate(a.mxm(b), mask=mask.S)
    assert masked.products == found.products
    assert masked.entries == np.minimum(rows, np.where(rows, allowed.sum(axis=1), 0)).sum()
    assert masked.entries >= a.mxm(b).new(mask=mask.S).nvals
    assert gb.estimate(a.mxm(b), mask=~mask.S) == found
    turned = gb.estimate(b.T.mxm(a.T))
    assert turned.products == found.products


def test_bytes_are_those_of_compressed_rows():
    ones = gb.Matrix.from_dense(np.ones((5, 5), np.float32))
    found = gb.estimate(ones.mxm(ones))
    assert (found.products, found.entries) == (125, 25)
    assert found.nbytes == 6 * 4 + 25 * (4 + 4)


def test_nothing_to_multiply():
    empty = gb.Matrix(float, 4, 4)
    assert gb.estimate(empty.mxm(empty)).entries == 0


def test_only_products_of_matrices():
    some = gb.Matrix.from_coo([0], [0])
    for other in (some.ewise_add(some), some.mxv(gb.Vector(int, 1)), some, 3):
        with pytest.raises(InvalidValue, match="mxm"):
            gb.estimate(other)


def test_what_is_free_is_told_where_it_does_not_suffice(device):
    with gb.device(device):
        ones = gb.Matrix.from_dense(np.ones((5, 5), np.float32))
        free = gb.free_memory()
    assert free is None or 2**20 < free < 2**60
    found = gb.estimate(ones.mxm(ones))
    assert found.available is None or 2**20 < found.available < 2**60
    assert str(found) == "125 products, at most 25 entries in 224 bytes"
    assert str(replace(found, available=200)) == f"{found}, of which 200 are available"
    with pytest.raises(DeviceUnavailable, match="abacus"):
        gb.free_memory("abacus")
