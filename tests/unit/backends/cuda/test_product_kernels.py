"""Products of matrices: their kernels compile, and rows are shared out as the kernels assume."""

from __future__ import annotations

import numpy as np
import pytest
from tests.helpers.compiling import assert_all_compile, compile_only
from tests.helpers.every import every
from tests.unit.backends.cuda.test_compile import ARCHITECTURES, needs_nvrtc
from tests.unit.backends.cuda.test_staged import needs_numba_cuda

from semira import binary as public_binary
from semira import monoid as public_monoid
from semira import semiring as public_semiring
from semira.backends.cuda.backend import CAPABILITIES
from semira.backends.cuda.jit.linking import functions_in
from semira.backends.cuda.jit.render import KERNELS, STAGED
from semira.backends.cuda.staged import bins
from semira.backends.cuda.staged.statement_source import staged_source
from semira.backends.cuda.staged.text import has_dots
from semira.base.dtypes import BOOL, FC64, FP32, FP64, INT8, INT64, UINT16
from semira.contract import Arg, Hints, Mask, Program, Slot, Statement
from semira.ops.registry import semiring
from semira.plan import plan_program

MASKS = {
    "none": None,
    "plain": Mask(3, structural=True, complement=False),
    "value": Mask(3, structural=False, complement=False),
    "complement": Mask(3, structural=True, complement=True),
}


def planned(typed, mask: str, **pins) -> Program:
    slots = (
        Slot("matrix", typed.return_type, "inout"), Slot("matrix", typed.type),
        Slot("matrix", typed.type), Slot("matrix", INT8),
    )  # fmt: skip
    statement = Statement("mxm", 0, (Arg(1), Arg(2)), typed, mask=MASKS[mask], hints=Hints(**pins))
    return plan_program(Program(slots, (statement,)), CAPABILITIES)


def source(typed, mask: str, method: str | None = None) -> str:
    program = planned(typed, mask, method=method)
    return staged_source(program, program.body[0])


@needs_nvrtc
@pytest.mark.parametrize("deterministic", [None, True])
@pytest.mark.parametrize(("dtype", "needed"), [(FP64, True), (INT64, False)])
def test_deterministic_sums_of_rows_are_in_order_where_it_shows(dtype, needed, deterministic):
    typed = semiring["plus_times"].typed(dtype)
    slots = tuple(Slot("matrix", dtype, role) for role in ("inout", "input", "input"))
    hints = Hints(deterministic=deterministic)
    statement = Statement("mxm", 0, (Arg(1), Arg(2)), typed, hints=hints)
    planned = plan_program(Program(slots, (statement,)), CAPABILITIES)
    text = staged_source(planned, planned.body[0])
    assert ("InOrder<" in text) is bool(needed and deterministic)
    assert compile_only(text, "sm_90", "int", STAGED).log.strip("\0 \n") == ""


SEMIRINGS = [
    ("plus_times", FP64), ("plus_pair", INT64), ("any_pair", BOOL), ("max_times", INT8),
    ("times_minus", UINT16), ("any_secondi", INT64), ("min_plus", FP32), ("times_plus", FC64),
]  # fmt: skip


@needs_nvrtc
def test_products_compile_without_warning():
    for mask in MASKS:
        texts = {
            f"{each[0]} {each[1]}": source(semiring[each[0]].typed(each[1]), mask)
            for each in SEMIRINGS
        }
        assert all(("t_dots" in text) == (mask in ("plain", "value")) for text in texts.values())
        assert_all_compile(texts, "sm_90", root=STAGED)


@needs_nvrtc
@needs_numba_cuda
@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_products_with_operators_of_python_compile(arch):
    least = public_binary.register_anonymous(lambda x, y: min(y, x))
    low = public_monoid.register_anonymous(least, 100)
    times = public_binary.register_anonymous(lambda x, y: x + 2 * y)
    ring = public_semiring.register_anonymous(low, times)[FP64]
    texts = {mask: source(ring, mask) for mask in ("none", "plain")}
    assert [len(functions_in(text)) for text in texts.values()] == [2, 2]
    assert_all_compile(texts, arch, "long long", STAGED)


def test_a_pinned_method_decides_which_kernels_there_are():
    text = source(semiring["plus_times"].typed(FP64), "plain", method="hash")
    assert "t_by_table" in text
    assert "t_dots" not in text


def test_dots_need_a_plain_mask_and_a_plan():
    typed = semiring["plus_times"].typed(FP64)
    for mask in MASKS.values():
        assert not has_dots(Statement("mxm", 0, (Arg(1), Arg(2)), typed, mask=mask))


@every("itemsize", [0, 1, 2, 4, 8, 12, 16, 24, 64, 400])
def test_tables_fit_and_every_row_has_a_bin(itemsize):
    found, limits = bins.table_bins(itemsize), bins.limits_of(bins.table_bins(itemsize))
    assert len(limits) == len(bins.TABLES) == constant("kLimits")
    assert limits == sorted(limits)
    for one in found:
        assert one.table_bytes(itemsize) <= bins.SHARED
        assert limits[one.number] == one.limit
        # The kernels keep one counter for each group, and a group's lanes lie in one warp.
        assert one.groups <= 32
        assert one.lanes in (0, 8, 32)
        assert one.threads <= bins.MOST_THREADS
    for size in (1, 32, 33, 128, 1025, 4096, 4097, 10**9):
        number = sum(size > limit for limit in limits)
        assert number == bins.LAST.number or size <= bins.Bin(number, *bins.TABLES[number]).limit
        assert number in {bins.LAST.number, *(one.number for one in found)}


@every("itemsize", [1, 2, 4, 8, 12, 16, 24, 400])
def test_windows_are_powers_of_two_of_whole_words(itemsize):
    columns = bins.window_columns(itemsize)
    assert columns >= 32
    assert columns & (columns - 1) == 0
    assert columns * itemsize <= bins.WINDOW
    # The last window of the widest matrix ends within 32 unsigned bits.
    assert 2**31 + columns < 2**32


def test_the_ledger_has_the_words_the_kernels_write():
    few = bins.FEW.number
    assert few == bins.LAST.number + 1
    assert 2 + few + 1 == bins.TALLIED
    # Places given away, and rows there is room for.
    assert bins.TALLIED + 2 == bins.LEDGER_WORDS


def constant(name: str) -> int:
    """Return a constant of the kernels."""
    text = (KERNELS / "mxm" / "rows.cuh").read_text()
    return int(text.split(f"constexpr int {name} = ")[1].split(";")[0])


def test_blocks_follow_the_rows_up_to_what_fits():
    one = bins.Bin(0, *bins.TABLES[0])
    assert one.groups == 32
    assert [one.blocks(rows, 132) for rows in (0, 1, 33, 10**9)] == [1, 1, 2, 8 * 132]
    assert bins.LAST.blocks(5, 132) == 5


def test_the_sort_of_a_row_orders_every_length():
    """The index arithmetic of `sort_pairs` (kernels/mxm/table.cuh), step by step."""
    rng = np.random.default_rng(0)
    for n in [*range(1, 70), 127, 128, 129, 1000]:
        padded = 1 << (n - 1).bit_length()
        keys = np.full(padded, 2**31 - 1)
        keys[:n] = rng.permutation(10 * n)[:n]
        expected = np.sort(keys[:n])
        size = 2
        while size <= padded:
            stride = size // 2
            while stride:
                k = np.arange(padded // 2)
                low = 2 * k - (k & (stride - 1))
                high = low + stride
                # Every place is touched by one thread.
                assert len(np.unique(np.concatenate([low, high]))) == padded
                swap = (keys[low] > keys[high]) == ((low & size) == 0)
                keys[low], keys[high] = (
                    np.where(swap, keys[high], keys[low]),
                    np.where(swap, keys[low], keys[high]),
                )
                stride //= 2
            size *= 2
        np.testing.assert_array_equal(keys[:n], expected)
