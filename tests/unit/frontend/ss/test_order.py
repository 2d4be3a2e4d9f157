"""compactify, selectk, sort and scan."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import semira as gb
from semira.backends.cpu import huge
from semira.exceptions import DomainMismatch, InvalidValue


@pytest.fixture
def matrix() -> Any:
    return gb.Matrix.from_coo(
        [0, 0, 0, 2], [1, 4, 6, 3], [30, 10, 20, 5], nrows=3, ncols=7
    )  # fmt: skip


def test_compactify_moves_entries_to_the_front(matrix: Any) -> None:
    wanted = {"first": [30, 10, 20], "last": [20, 10, 30], "smallest": [10, 20, 30]}
    for how, values in wanted.items():
        made = matrix.ss.compactify(how)
        assert made.shape == (3, 3)
        assert made.to_dicts() == {0: dict(enumerate(values)), 2: {0: 5}}
    turned = matrix.ss.compactify("largest", 2, reverse=True, asindex=True)
    assert turned.dtype == "UINT64"
    assert turned.to_dicts() == {0: {0: 6, 1: 1}, 2: {0: 3}}


def test_random_choice_has_k_entries_in_order_and_reaches_all(matrix: Any) -> None:
    seen = set()
    for _ in range(200):
        made = matrix.ss.compactify("random", 2, asindex=True)
        first = tuple(made.to_dicts()[0].values())
        assert first in {(1, 4), (1, 6), (4, 6)}
        seen.add(first)
        assert matrix.ss.selectk("random", 2).nvals == 3
    assert len(seen) == 3


def test_huge_lines_cost_entries_only() -> None:
    A = gb.Matrix.from_coo([2**40, 2**40, 3], [2**50, 7, 9], [1, 2, 3], nrows=2**41, ncols=2**51)
    assert A.ss.scan().to_coo()[2].tolist() == [3, 2, 3]
    assert A.ss.selectk("last", 1).to_coo()[1].tolist() == [9, 2**50]
    assert A.ss.compactify("smallest", order="columnwise").shape == (1, 2**51)
    v = gb.Vector.from_coo([2**50, 1], [1, 5], size=2**51)
    assert v.ss.sort()[1].to_coo()[1].tolist() == [2**50, 1]


def test_names_and_counts_are_checked(matrix: Any) -> None:
    v = gb.Vector.from_coo([0], [1])
    with pytest.raises(InvalidValue, match="`how` argument must be one of: random, first, last"):
        matrix.ss.selectk("largest", 1)
    with pytest.raises(InvalidValue, match="`how` argument must be one of"):
        v.ss.compactify("biggest")
    with pytest.raises(InvalidValue, match="negative k is not allowed"):
        v.ss.selectk("first", -1)
    with pytest.raises(InvalidValue, match="k must be an integer"):
        matrix.ss.compactify("first", 1.5)
    with pytest.raises(InvalidValue, match="Bad value for order"):
        matrix.ss.scan(order="diagonal")


def test_sort_keeps_the_order_of_equal_entries() -> None:
    v = gb.Vector.from_coo([1, 3, 4, 6], [1, 1, 2, 0])
    values, places = v.ss.sort()
    assert values.to_dict() == {0: 0, 1: 1, 2: 1, 3: 2}
    assert places.to_dict() == {0: 6, 1: 1, 2: 3, 3: 4}
    values, places = v.ss.sort(">")
    assert values.to_dict() == {0: 2, 1: 1, 2: 1, 3: 0}
    assert places.to_dict() == {0: 4, 1: 1, 2: 3, 3: 6}
    assert v.ss.sort(values=False, permutation=False) == (None, None)


def test_sort_by_a_python_function() -> None:
    v = gb.Vector.from_coo([0, 2, 4, 5], [7, -9, 1, 8])
    by_size = gb.binary.register_anonymous(lambda x, y: abs(x) < abs(y))
    assert list(v.ss.sort(by_size)[0].to_dict().values()) == [1, 7, 8, -9]
    with pytest.raises(DomainMismatch, match="returns INT64"):
        v.ss.sort(gb.binary.plus)


def test_scan_by_a_python_monoid_and_of_every_length() -> None:
    larger = gb.monoid.register_anonymous(
        gb.binary.register_anonymous(lambda x, y: max(y, x)), -(2**31)
    )
    v = gb.Vector.from_coo([0, 2, 4, 5], [1, 7, -9, 8])
    assert list(v.ss.scan(larger).to_dict().values()) == [1, 7, 7, 8]
    for length in (huge.LONG_LINE - 1, huge.LONG_LINE, huge.LONG_LINE + 1):
        ones = gb.Vector.from_dense(np.ones(length, np.int64))
        assert ones.ss.scan().to_dense().tolist() == list(range(1, length + 1))


def test_scan_wraps_and_keeps_the_dtype_of_the_monoid() -> None:
    v = gb.Vector.from_coo([0, 1], [100, 100], dtype="INT8")
    assert v.ss.scan().to_dict() == {0: 100, 1: -56}
    assert v.ss.scan("lor").dtype == "BOOL"
    assert gb.Vector("FP32", 4).ss.scan().dtype == "FP32"
    with pytest.raises(TypeError, match="Bad type for argument `op`"):
        v.ss.scan(gb.binary.first)
    with pytest.raises(TypeError):
        v.ss.scan(gb.agg.sum)


def test_results_stay_on_the_device(device: str) -> None:
    with gb.device(device):
        A = gb.Matrix.from_coo([0, 1], [1, 0], [1.0, 2.0])
        assert A.ss.scan().device == device
        assert A.ss.flatten().device == device
    B = A.to(device)
    assert B.ss.selectk("first", 1).device == device
    assert B.ss.sort()[0].device == device
