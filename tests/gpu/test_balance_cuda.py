"""Every way of sharing out the work of a product, on matrices with hubs, against the reference."""

from __future__ import annotations

import numpy as np
import pytest
from tests.gpu.test_statements_cuda import compare, mask_of, random_vector
from tests.helpers.every import every

from semira.base.dtypes import BOOL, FP64, INT32, INT64
from semira.contract import Arg, Hints, Slot, Statement
from semira.formats import coo_to_matrix
from semira.ops.registry import binary, monoid, semiring

pytestmark = pytest.mark.gpu

SHAPE = (3000, 3100)

#: Semiring, dtype, accumulator: sums, a monoid that hardly stops, two that stop, positions.
RINGS = {
    "plus_times": (semiring["plus_times"].typed(FP64), FP64, None),
    "min_plus": (semiring["min_plus"].typed(INT32), INT32, binary["min"].typed(INT32)),
    "lor_land": (semiring["lor_land"].typed(BOOL), BOOL, None),
    "max_secondi": (semiring["max_secondi"].typed(INT64), INT64, None),
}


def skewed_matrix(dtype, seed: int):
    """Rows of 0 to 3000 entries: hubs side by side and apart, gaps, and many short rows."""
    rng = np.random.default_rng(seed)
    degrees = rng.integers(0, 6, SHAPE[0])
    degrees[rng.random(SHAPE[0]) < 0.3] = 0
    degrees[[0, 1, 2, 31, 32, 700, SHAPE[0] - 1]] = [3000, 900, 257, 2048, 1, 300, 2900]
    degrees[1000:1064] = 40
    rows = np.repeat(np.arange(SHAPE[0]), degrees)
    columns = np.concatenate([rng.choice(SHAPE[1], d, replace=False) for d in degrees])
    order = np.lexsort((columns, rows))
    values = rng.integers(0, 5, len(rows)).astype(dtype.np_type)
    return coo_to_matrix(*SHAPE, rows[order], columns[order], values)


def star_matrix(dtype, size: int):
    """One row with an entry in every column."""
    columns = np.arange(size)
    values = (columns % 7).astype(dtype.np_type)
    return coo_to_matrix(2, size, np.ones(size, int), columns, values)


def product(direction: str, balance: str, ring, accum, mask) -> Statement:
    hints = Hints(direction=direction, balance=balance)
    # Walked by its rows either way: u' A pushed, A u pulled.
    op, args = ("vxm", (Arg(1), Arg(2))) if direction == "push" else ("mxv", (Arg(2), Arg(1)))
    replaces = mask is not None and accum is None
    return Statement(op, 0, args, ring, mask_of(mask, 3), accum, replaces, hints=hints)


@every("mask", [None, (True, False), (False, True)])
@every("name", RINGS)
@every(
    ("direction", "balance"),
    [("push", b) for b in ("edges", "thread", "warp", "block")]
    + [("pull", b) for b in ("edges", "rows", "thread", "warp", "block")],
)
def test_every_balance(direction, balance, name, mask):
    ring, dtype, accum = RINGS[name]
    long, short = SHAPE if direction == "push" else SHAPE[::-1]
    slots = (
        Slot("vector", ring.return_type, "inout"), Slot("vector", dtype),
        Slot("matrix", dtype), Slot("vector", BOOL),
    )  # fmt: skip
    for density in (1.0, 0.3):
        given = [random_vector(short, ring.return_type, 1, 0.5),
                 random_vector(long, dtype, 2, density), skewed_matrix(dtype, 3),
                 random_vector(short, BOOL, 4, 0.6)]  # fmt: skip
        compare(slots, (product(direction, balance, ring, accum, mask),), given)


def test_a_row_that_covers_every_slice():
    size, ring = 300_000, RINGS["plus_times"][0]
    slots = (Slot("vector", FP64, "inout"), Slot("vector", FP64), Slot("matrix", FP64))
    given = [random_vector(2, FP64, 1, 0.0), random_vector(size, FP64, 2, 0.9),
             star_matrix(FP64, size)]  # fmt: skip
    compare(slots, (product("pull", "edges", ring, None, None),), given)
    rows = Statement("reduce_rows", 0, (Arg(2),), monoid["plus"].typed(FP64))
    compare(slots, (rows,), given)
