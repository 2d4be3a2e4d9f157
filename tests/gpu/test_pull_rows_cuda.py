"""Pulls by rows that a warp walks side by side: rows of every length, early exit, masks, turns."""

from __future__ import annotations

import pytest
from tests.gpu.test_pull_shares_cuda import COLUMNS, LENGTHS, matrix_of
from tests.gpu.test_statements_cuda import compare, mask_of, random_vector
from tests.helpers.every import every

from semira.base.dtypes import BOOL, INT32
from semira.contract import Arg, Hints, Slot, Statement
from semira.ops.registry import semiring

pytestmark = pytest.mark.gpu

#: Rings that stop at the first operand, at a final value, and never.
RINGS = {
    "first": semiring["any_pair"].typed(INT32),
    "final": semiring["times_first"].typed(INT32),
    "never": semiring["plus_times"].typed(INT32),
}


def _check(name, lengths, *, balance="rows", density=0.3, mask=(True, True)) -> None:
    ring = RINGS[name]
    rows = len(lengths)
    slots = (
        Slot("vector", ring.return_type, "inout"), Slot("vector", INT32), Slot("matrix", INT32),
        Slot("vector", BOOL),
    )  # fmt: skip
    hints = Hints(direction="pull", balance=balance)
    statement = Statement("mxv", 0, (Arg(2), Arg(1)), ring, mask_of(mask, 3), hints=hints)
    bound = [
        random_vector(rows, ring.return_type, 1, 0.5), random_vector(COLUMNS, INT32, 2, density),
        matrix_of(lengths, INT32, 3), random_vector(rows, BOOL, 4, 0.3),
    ]  # fmt: skip
    compare(slots, (statement,), bound)


@every("lengths", LENGTHS)
@every("name", RINGS)
def test_rows_of_every_length(name, lengths):
    _check(name, LENGTHS[lengths])


@pytest.mark.parametrize("density", [1.0, 0.01, 0.0])
@pytest.mark.parametrize("name", RINGS)
def test_fuller_and_emptier_vectors(name, density):
    _check(name, LENGTHS["mixed"], density=density)


@pytest.mark.parametrize("balance", ["thread", "warp", "block"])
@pytest.mark.parametrize("name", RINGS)
def test_who_walks_a_row(name, balance):
    _check(name, LENGTHS["mixed"], balance=balance)


@pytest.mark.parametrize("rows", [1, 2, 31, 32, 33, 100, 257, 4000])
def test_words_that_warps_share(rows):
    """With few rows a warp takes a part of a word of them, down to one."""
    lengths = (LENGTHS["mixed"] * 5)[:rows]
    _check("first", lengths, mask=None)
    _check("final", lengths)
