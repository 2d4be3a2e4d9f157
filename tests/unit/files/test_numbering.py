"""Numbers in order of first appearance."""

from __future__ import annotations

import numpy as np
import pytest
from tests.helpers.every import every

from semira.files.numbering import are_names, count_used, number_integers, number_rows


@every("width", [1, 2, 3])
@every(("count", "distinct"), [(1, 1), (50, 3), (5000, 5000), (20_000, 40)])
def test_rows_are_numbered_as_by_a_dict(width, count, distinct):
    rng = np.random.default_rng(width)
    table = rng.integers(0, 2**64, (distinct, width), np.uint64)[rng.integers(0, distinct, count)]
    numbers, firsts = number_rows([np.ascontiguousarray(column) for column in table.T])
    known: dict[tuple[int, ...], int] = {}
    expected = [known.setdefault(tuple(row), len(known)) for row in table.tolist()]
    assert numbers.tolist() == expected
    assert [tuple(row) for row in table[firsts].tolist()] == list(known)


def test_rows_that_hash_alike_are_told_apart():
    # Multiples of a high power of two: the low bits of a plain multiplicative hash are equal.
    ends = np.arange(3000, dtype=np.int64) << 50
    numbers, names = number_integers(np.concatenate((ends[::-1], ends)))
    assert numbers.tolist() == [*range(3000), *range(2999, -1, -1)]
    assert names.tolist() == ends[::-1].tolist()


def test_nothing_has_no_numbers():
    numbers, names = number_integers(np.empty(0, np.int64))
    assert (len(numbers), len(names)) == (0, 0)
    assert not are_names(np.empty(0, np.int64))
    assert count_used(np.empty(0, np.int64)) == 0


@every(
    ("ends", "is_named"),
    [
        (np.arange(1000), False),
        (np.arange(1000) * 2, False),
        (np.arange(1000) * 3, True),
        (np.arange(1000) + 900, False),
        (np.arange(1000) + 1100, True),
        (np.array([0, 100]), False),
        (np.array([0, 103]), True),
        (np.array([0, 2**62]), True),
        (np.array([-1, 0]), True),
    ],
)
def test_integers_with_many_gaps_are_names(ends, is_named):
    assert are_names(np.repeat(ends, 3)) is is_named


@pytest.mark.parametrize("high", [10, 10**6])
def test_used_numbers_are_counted(high):
    ends = np.random.default_rng(1).integers(0, high, 500)
    assert count_used(ends) == len(set(ends.tolist()))
