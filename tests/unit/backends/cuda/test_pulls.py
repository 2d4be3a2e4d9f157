"""Pulls in equal shares: what is generated, and that it compiles without a warning."""

from __future__ import annotations

import re
from types import SimpleNamespace

import numpy as np
import pytest
from tests.helpers.compiling import assert_all_compile
from tests.helpers.every import every
from tests.unit.backends.cuda.test_compile import ARCHITECTURES, needs_nvrtc

from semira.backends.cuda.backend import CAPABILITIES
from semira.backends.cuda.jit.render import KERNELS
from semira.backends.cuda.lower import lower_program
from semira.backends.cuda.runtime.primitives import Primitives
from semira.backends.cuda.runtime.shares import (
    LEAST_ITEMS,
    LONGEST_MIDDLING,
    LONGEST_SHORT,
    MEAN_OF_LANE,
    MEAN_SHORT,
    MOST_SLICES,
    ROW_ITEMS,
    SHORT_ROW,
    TILING_WARPS,
    WALKING_WARPS,
    gathers_many,
    items_of_share,
)
from semira.base.dtypes import BOOL, FC32, FC64, FP32, FP64, INT8, INT32, INT64, register_anonymous
from semira.contract import Arg, Hints, Mask, Program, Slot, Statement
from semira.ops.registry import monoid, semiring
from semira.plan import plan_program

PULL = Hints(direction="pull", balance="edges")
MASK = Mask(3, structural=True, complement=False)

RINGS = [
    ("plus_second", FP32), ("plus_times", FP64), ("min_plus", FP32), ("min_plus", INT32),
    ("lor_land", BOOL), ("plus_times", INT8), ("plus_pair", INT64), ("min_firsti", INT32),
    ("max_secondi", INT64), ("plus_times", FC32), ("plus_times", FC64),
]  # fmt: skip


def product(name, dtype, mask=None) -> str:
    """Return the text of w<mask> = A u, pulled in equal shares."""
    typed = semiring[name].typed(dtype)
    slots = (
        Slot("vector", typed.return_type, "inout"), Slot("vector", dtype), Slot("matrix", dtype),
        Slot("vector", INT64),
    )  # fmt: skip
    statement = Statement("mxv", 0, (Arg(2), Arg(1)), typed, mask=mask, hints=PULL)
    return lower_program(plan_program(Program(slots, (statement,)), CAPABILITIES)).source


class Store:
    """A runtime that notes what it allocates; its kernels note that they were started."""

    multiprocessors = 4

    def __init__(self) -> None:
        self.sizes: list[int] = []
        self.started: list[tuple[object, ...]] = []

    def allocate(self, size: int):
        self.sizes.append(size)
        return SimpleNamespace(handle=4096, size=size)

    def launch(self, *given: object) -> None:
        self.started.append(given)


def test_the_longest_line_follows_the_slices():
    store = Store()
    primitives = Primitives(store)
    primitives.module = store
    slices = primitives.slices("int", None, 1000, 9 * LEAST_ITEMS)
    assert store.sizes == [4 * (slices.count + 2)]
    (_, first, *_), (_, second, *_, place) = store.started
    assert (first, second) == ("semira_slices", "semira_longest")
    assert place == 4096 + 4 * (slices.count + 1)
    header = (KERNELS / "common" / "matrix.cuh").read_text()
    assert "slices[d.num_slices + 1]" in header
    types = (KERNELS / "common" / "types.cuh").read_text()
    assert f"constexpr int kRowItems = {ROW_ITEMS};" in types
    short = (KERNELS / "vxm" / "short.cuh").read_text()
    assert f"constexpr int kShortBatch = {MEAN_OF_LANE};" in short
    assert "constexpr int kShortRow = 2 * kShortBatch;" in short
    assert SHORT_ROW == 2 * MEAN_OF_LANE
    assert f"kLongestShort = {LONGEST_SHORT}, kMeanShort = {MEAN_SHORT};" in short
    middling = (KERNELS / "vxm" / "middling.cuh").read_text()
    assert f"constexpr int kLongestMiddling = {LONGEST_MIDDLING};" in middling


@every("multiprocessors", [1, 4, 132, 148, 5000])
@every("nvals", [0, 1, 4000, 540_000, 541_000, 2_250_000, 5 * 10**9])
@every("nrows", [1, 300_000])
def test_no_warp_takes_a_share_more_than_others_need(nrows, nvals, multiprocessors):
    items = items_of_share(nrows, nvals, multiprocessors)
    warps = (WALKING_WARPS if gathers_many(nrows, nvals) else TILING_WARPS) * multiprocessors
    path = nvals + ROW_ITEMS * nrows
    shares = -(-path // items)
    assert shares <= MOST_SLICES
    if items > LEAST_ITEMS:
        # All warps but a few in the last round have work to the end.
        rounds = -(-shares // warps)
        assert rounds * items <= 1.01 * path / min(warps, MOST_SLICES) + rounds


@needs_nvrtc
@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize("mask", [None, MASK], ids=["all", "masked"])
def test_pulls_compile_without_warning(arch, mask):
    rings = RINGS if arch == "sm_90" else RINGS[::3]
    for start, offset in enumerate(("int", "long long")):
        assert_all_compile({ring: product(*ring, mask) for ring in rings[start::2]}, arch, offset)


def test_the_matrix_stays_in_shared_memory():
    source = product("plus_times", FP64)
    assert "const SharedGather<" in source
    assert "spmv_pull_tiles<false>" in source


def test_only_positions_ask_for_the_row_of_an_entry():
    assert "spmv_pull_tiles<true>" in product("max_secondi", INT64)
    assert "spmv_pull_tiles<false>" in product("max_second", INT64, MASK)


def test_entries_of_rows_are_counted_by_offsets_where_nothing_else_is_read():
    for dtype in (INT32, INT64, FP32, FP64):
        source = product("plus_pair", dtype, MASK)
        assert "if (gather.present == nullptr) spmv_pull_lengths<" in source
    # Sums of narrow integers wrap, one by one; other monoids and operators are no counts.
    for name, dtype in (("plus_pair", INT8), ("plus_pair", FC32), ("min_pair", INT32),
                        ("plus_second", INT32), ("any_pair", INT32)):  # fmt: skip
        assert "spmv_pull_lengths" not in product(name, dtype)


def test_rows_of_large_values_go_to_a_warp_each():
    record = register_anonymous(np.dtype([("x", np.float64), ("y", np.float64, (2,))]))
    for dtype, shared in ((FC64, True), (record, False)):
        any_of = monoid["any"].typed(dtype)
        slots = (Slot("vector", dtype, "inout"), Slot("vector", dtype), Slot("matrix", dtype))
        ring = semiring["any_second"].typed(dtype)
        assert ring.monoid.type is any_of.type
        statement = Statement("mxv", 0, (Arg(2), Arg(1)), ring, hints=PULL)
        source = lower_program(plan_program(Program(slots, (statement,)), CAPABILITIES)).source
        assert bool(re.search("spmv_pull_tiles", source)) == shared
