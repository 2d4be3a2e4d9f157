"""Random numbers: the known answers of Philox, uniformity, and the same bits everywhere."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from tests.helpers.every import every

import semira as gb
from semira.ops.helpers import philox

#: Counter, key and result of Philox4x32-10 in Random123's list of known answers, as four, two and
#: two words of 32 bits, the lowest first.
KNOWN = [
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D)),
    ((0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2, (0x408F276D, 0x41C83B0E)),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB),
    ),
]


def joined(low: int, high: int) -> int:
    return high << 32 | low


def as_signed(word: int) -> int:
    return word - 2**64 if word >= 2**63 else word


@pytest.mark.parametrize(("counter", "key", "known"), KNOWN)
def test_known_answers(counter: Any, key: Any, known: Any) -> None:
    draw, place = (np.uint64(joined(*pair)) for pair in (counter[:2], counter[2:]))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        found = philox(draw, place, 0, as_signed(joined(*key)), 0)
    assert int(found) == joined(*known)


@pytest.mark.parametrize(("counter", "key", "known"), [KNOWN[0], KNOWN[2]])
def test_known_answers_of_the_operator(counter: Any, key: Any, known: Any, device: str) -> None:
    """The position is half of the counter; the answer for ones everywhere is at none."""
    place, draw = joined(*counter[2:]), np.uint64(joined(*counter[:2]))
    with gb.device(device):
        v = gb.Vector.from_coo([place], [draw], dtype="UINT64", size=2**60)
        found = v.apply(gb.indexunary.random_bits, as_signed(joined(*key))).new()
    assert int(found[place].new().value) == joined(*known)
    assert found.dtype is gb.dtypes.UINT64


def test_all_words_of_the_counter_and_key(device: str) -> None:
    """What each device draws in vectors and matrices, against the function that defines it."""
    draws = [0, 1, 2**31, 2**32, 2**63, 2**64 - 1]
    with gb.device(device):
        v = gb.Vector.from_dense(np.array(draws, np.uint64))
        A = gb.Matrix.from_coo([0, 1, 5, 5], [3, 0, 1, 70000], 4, nrows=6, ncols=70001)
        seeds = (0, 1, -1, 2**62 + 3, -(2**40))
        vectors = [v.apply(gb.indexunary.random_bits, s).new().to_dense().tolist() for s in seeds]
        matrices = [A.apply(gb.indexunary.random_bits, s).new().to_coo() for s in seeds]
    with np.errstate(all="ignore"):
        for seed, found, entries in zip(seeds, vectors, matrices, strict=True):
            at = enumerate(draws)
            assert found == [int(philox(np.uint64(x), i, 0, seed, 0)) for i, x in at]
            triples = zip(*(part.tolist() for part in entries), strict=True)
            assert all(x == int(philox(np.uint64(4), i, j, seed, 0)) for i, j, x in triples)


def test_uniform(device: str) -> None:
    """Numbers are in [0, 1); every 16th holds its share, within five standard deviations."""
    count = 2000 if device in ("reference", "suitesparse") else 40_000
    with gb.device(device):
        v = gb.Vector.from_scalar(0, count)
        u = v.apply(gb.indexunary.random_uniform, 11).new().to_dense()
    assert u.dtype == np.float64
    assert u.min() >= 0
    assert u.max() < 1
    share = np.bincount((u * 16).astype(int), minlength=16)
    assert np.abs(share - count / 16).max() < 5 * np.sqrt(count / 16)
    assert abs(np.corrcoef(u[:-1], u[1:])[0, 1]) < 5 / np.sqrt(count)


@every("bound", [1, 3, 10, 2**40 + 1])
def test_below(bound: int, device: str) -> None:
    count = 500 if device in ("reference", "suitesparse") else 5000
    with gb.device(device):
        v = gb.Vector.from_scalar(bound, count)
        found = v.apply(gb.indexunary.random_below, 5).new().to_dense()
        none = gb.Vector.from_dense(np.array([0, -4])).apply(gb.indexunary.random_below, 5).new()
    assert found.dtype == np.int64
    assert found.min() >= 0
    assert found.max() < bound
    if bound <= 10:
        share = np.bincount(found, minlength=bound)
        assert np.abs(share - count / bound).max() <= 5 * np.sqrt(count / bound)
    assert none.to_dense().tolist() == [0, 0]


def test_rejected_draws_are_drawn_again() -> None:
    """A bound just above 2**63 refuses half of all draws: the next one that it takes counts."""
    bound = 2**63 + 1
    least = 2**64 % bound
    again = 0
    with np.errstate(all="ignore"):
        for place in range(64):
            draw = 0
            while (bits := int(philox(np.uint64(draw), place, 0, 9, 0))) < least:
                draw += 1
            again += draw > 0
            assert int(philox(np.uint64(0), place, 0, 9, np.uint64(bound))) == bits % bound
    assert again > 16


def test_in_a_loop(device: str) -> None:
    with gb.device(device):
        total = gb.Vector.from_scalar(np.uint64(0), 10, "UINT64")
        draw = gb.Vector.from_scalar(np.uint64(0), 10, "UINT64")

        def step() -> None:
            total(gb.binary.bxor) << draw.apply(gb.indexunary.random_bits, 3)
            draw << draw.apply(gb.binary.plus, right=np.uint64(1))

        gb.repeat(step, 5)
        found = total.to_dense().tolist()
    for place in range(10):
        bits = 0
        with np.errstate(all="ignore"):
            for number in range(5):
                bits ^= int(philox(np.uint64(number), place, 0, 3, 0))
        assert found[place] == bits
