"""Indices of regions: counted from the end, and refused as they were given."""

from __future__ import annotations

import re

import numpy as np
import pytest
from tests.helpers.every import every

import semira as gb
from semira.exceptions import IndexOutOfBound

PLACES = [
    (-4, -4),
    ([-4], -4),
    ([0, 3, 1], 3),
    ([-1, -4], -4),
    (range(-4, 2), -4),
    (np.array([2, -5]), -5),
    (np.array([-128], np.int8), -128),
    (np.array([2**63 + 5], np.uint64), 2**63 + 5),
    ([0, 2**70], 2**70),
    ([2**63, -1], 2**63),
    ([-(2**70)], -(2**70)),
]


def use(x, key, how):
    if how == "read":
        x[key].new()
    elif how == "write":
        x[key] = 1
    elif how == "guarded":
        x(accum="plus")[key] << 1
    else:
        del x[key]


@every("how", ["read", "write", "guarded", "delete"])
@every(("key", "bad"), PLACES)
def test_an_index_outside_is_named_as_it_was_given(key, bad, how) -> None:
    v = gb.Vector.from_coo([2], [1])
    A = gb.Matrix.from_coo([2], [2], [5], nrows=3, ncols=3)
    text = f"index {bad} is outside [-3, 3)"
    for x, keys, what in ((v, key, "vector"), (A, (key, 0), "row"), (A, (0, key), "column")):
        with pytest.raises(IndexOutOfBound, match=re.escape(f"{what} {text}")):
            use(x, keys, how)
    assert (v.to_dict(), A.to_dicts()) == ({2: 1}, {2: {2: 5}})


def test_indices_are_counted_from_the_end_in_any_dtype() -> None:
    long = gb.Vector.from_coo([299], [5], size=300)
    assert long[np.array([-1, 2], np.int8)].new().to_dict() == {0: 5}
    huge = gb.Vector.from_coo([2**33 - 1], [6], size=2**33)
    assert huge[np.array([-1], np.int32)].new().to_dict() == {0: 6}
    A = gb.Matrix.from_coo([2], [3], [5], nrows=3, ncols=4)
    assert A[[-1], [-4, -1]].new().to_dicts() == {0: {1: 5}}
