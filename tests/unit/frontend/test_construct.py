"""Positions that callers pass: what is no integer is refused by name, never cut."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.helpers.every import every

import semira as gb
from semira.exceptions import IndexOutOfBound, IndexTooLarge, InvalidIndex, InvalidValue

Calls = dict[str, Callable[[Any], Any]]

#: Calls that take a list of positions.
LISTS: Calls = {
    "Vector.from_coo": lambda at: gb.Vector.from_coo(at, 1),
    "Vector.from_coo, sized": lambda at: gb.Vector.from_coo(at, 1, size=9),
    "Matrix.from_coo, rows": lambda at: gb.Matrix.from_coo(at, [0] * len(at), 1),
    "Matrix.from_coo, columns": lambda at: gb.Matrix.from_coo([0] * len(at), at, 1),
    "from_csr": lambda at: gb.Matrix.from_csr([0, len(at)], at, 1),
    "from_dcsr": lambda at: gb.Matrix.from_dcsr([0], [0, len(at)], at, [1] * len(at)),
    "ss.import_sparse": lambda at: gb.Vector.ss.import_sparse(
        size=9, indices=at, values=[1] * len(at)
    ),
}
#: Calls that take a position that may be a key.
KEYS: Calls = {
    "from_dict": lambda at: gb.Vector.from_dict({at: 5}),
    "from_pairs": lambda at: gb.Vector.from_pairs([(at, 5)]),
    "from_dicts, row": lambda at: gb.Matrix.from_dicts({at: {0: 1}}),
    "from_dicts, empty row": lambda at: gb.Matrix.from_dicts({at: {}}),
    "from_dicts, column": lambda at: gb.Matrix.from_dicts({0: {at: 1}}),
    "from_edgelist": lambda at: gb.Matrix.from_edgelist([(0, at)]),
}
NO_INTEGERS = (1.5, 1.0, "1", True, float("nan"), None, 1j, np.float32(2), np.True_)


@every("item", NO_INTEGERS, ids=repr)
@every("call", LISTS)
def test_lists_of_anything_but_integers_are_refused(call, item):
    for given in ([item], [0, item], [item, 0]):
        with pytest.raises(InvalidIndex, match="must be integers") as caught:
            LISTS[call](given)
        assert repr(item) in str(caught.value)


@every("item", NO_INTEGERS, ids=repr)
@every("call", KEYS)
def test_keys_that_are_no_integers_are_refused(call, item):
    with pytest.raises(InvalidIndex, match="must be integers, got"):
        KEYS[call](item)


@every("item", [2**60, 2**63, 2**64, 2**70])
@every("call", LISTS)
def test_integers_beyond_every_size_are_named(call, item):
    for given in ([item], [1, item]):
        with pytest.raises(IndexTooLarge, match=f" {item}, which is outside"):
            LISTS[call](given)


def test_an_index_beyond_every_size_is_an_error_of_every_class_that_callers_expect():
    assert issubclass(IndexTooLarge, IndexOutOfBound)
    assert issubclass(IndexTooLarge, InvalidValue)
    assert issubclass(IndexTooLarge, OverflowError)
    with pytest.raises(IndexOutOfBound) as caught:
        gb.Vector.from_coo([5], [1], size=5)
    assert not isinstance(caught.value, IndexTooLarge)


def test_negative_positions_are_named_without_a_size():
    with pytest.raises(IndexOutOfBound, match="indices holds -5"):
        gb.Vector.from_coo([-5], [1])
    with pytest.raises(IndexOutOfBound, match="rows holds -1"):
        gb.Matrix.from_dicts({-1: {0: 1}})


def test_ragged_lists_are_refused():
    with pytest.raises(InvalidIndex, match="indices must be a list of integers"):
        gb.Vector.from_coo([[1], [2, 3]], 1)
    words = r"values: element 1 has shape \(2,\), and element 0 has \(1,\); all must have one shape"
    for call in (
        lambda: gb.Matrix.from_dense([[1], [2, 3]]),
        lambda: gb.Vector.from_coo([0, 1], [np.ones(1), np.ones(2)]),
    ):
        with pytest.raises(InvalidValue, match=words):
            call()


@pytest.mark.parametrize(
    "given",
    [[1, 2], (1, 2), range(1, 3), [np.int8(1), np.uint64(2)], [gb.Scalar.from_value(1), 2]],
    ids=repr,
)
def test_integers_of_any_kind_are_positions(given):
    assert gb.Vector.from_coo(given, [3, 4]).to_coo()[0].tolist() == [1, 2]


@pytest.mark.parametrize("empty", [[], (), np.array([]), np.array([], bool)], ids=repr)
def test_nothing_is_a_list_of_positions(empty):
    assert gb.Vector.from_coo(empty, [], size=3).nvals == 0
    assert gb.Matrix.from_coo(empty, empty, [], nrows=3, ncols=2).nvals == 0
    assert gb.Matrix.from_csr([0, 0], empty, [], ncols=2).nvals == 0


def test_nested_dicts_keep_their_sizes():
    assert gb.Matrix.from_dicts({0: {1: 5}, 3: {}}).shape == (4, 2)
    assert gb.Matrix.from_dicts([{1: 5}, {}], order="columnwise").shape == (2, 2)
    assert gb.Matrix.from_dicts({}).shape == (0, 0)


def test_offsets_whose_differences_wrap_are_refused():
    offsets = np.array([0, 2**63 - 1, -(2**63), -1, 3])
    with pytest.raises(InvalidValue, match="indptr must not decrease"):
        gb.Matrix.from_csr(offsets, [0, 1, 2], [1, 2, 3], ncols=3)


def test_sorted_arrays_are_copied_and_others_looked_at(device):
    indices, values = np.array([1, 4, 6], np.int32), np.array([2.0, 0.5, 7.0])
    with gb.device(device):
        found = gb.Vector.from_coo(indices, values, size=7)
        expected = gb.Vector.from_coo(indices.tolist(), values.tolist(), size=7)
        indices[0], values[0] = 0, 9.0
        assert found.isequal(expected, check_dtype=True)
        assert gb.Vector.from_coo(indices[::-1], values, size=7).to_dict() == {6: 9, 4: 0.5, 0: 7}
        for wrong, size in (([0, 7], 7), ([-1, 2], 7), ([2, 2], 7)):
            with pytest.raises((IndexOutOfBound, InvalidIndex, InvalidValue)):
                gb.Vector.from_coo(np.array(wrong, np.int32), values[:2], size=size)
