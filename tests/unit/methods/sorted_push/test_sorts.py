"""How the sorts cut keys into digits, and what memory they say they take."""

import pytest
from tests.helpers.every import every

from semira.methods.sorted_push.sorts import MOST_BITS, TILE, digits_of, key_bits, sort_bytes


@every("bits", range(32))
def test_digits_cover_every_bit_once(bits):
    digits = digits_of(bits)
    assert [start + k for start, size in digits for k in range(size)] == list(range(bits))
    assert len(digits) == -(-bits // MOST_BITS)
    assert all(size <= MOST_BITS for _, size in digits)


def test_keys_have_the_bits_of_the_greatest():
    assert [key_bits(count) for count in (0, 1, 2, 3, 4, 5, 2**31 - 1)] == [0, 0, 1, 2, 2, 3, 31]


@pytest.mark.parametrize("width", [0, 16])
def test_a_sort_takes_a_second_list_and_counts_of_digits(width):
    count = 3 * TILE + 1
    assert sort_bytes(count, width) == count * (4 + width) + 8 * (4 * 256 + 1)
