"""Masked products that are only summed: recognised, compiled, and few launches without a wait."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from types import SimpleNamespace

import numpy as np
import pytest
from tests.helpers.compiling import assert_all_compile
from tests.helpers.dots import by_rows
from tests.helpers.fake_cuda import FakeCuda, fake_cuda
from tests.unit.backends.cuda.test_compile import ARCHITECTURES, needs_nvrtc

import semira as gb
from semira import binary as public_binary
from semira import monoid as public_monoid
from semira import select as public_select
from semira import semiring as public_semiring
from semira.algorithms import triangle_count
from semira.backends import registry
from semira.backends.cuda import hosted
from semira.backends.cuda.backend import CAPABILITIES
from semira.backends.cuda.hosted import HostedTrace, prepare_hosted
from semira.backends.cuda.jit.render import STAGED
from semira.backends.cuda.runtime.objects import CudaMatrix
from semira.backends.cuda.runtime.primitives import Module
from semira.backends.cuda.staged import is_summed
from semira.backends.cuda.staged.product_source import summed_source
from semira.base.dtypes import BOOL, FC64, FP32, FP64, INT8, INT64
from semira.contract import (
    Arg,
    Hints,
    Loop,
    Mask,
    Program,
    Slot,
    Statement,
    TraceRow,
    walk_statements,
)
from semira.engine import run, warm
from semira.ops.registry import binary, monoid, semiring
from semira.plan import plan_program

__all__ = ["fake_cuda"]

PLAIN = Mask(2, structural=True, complement=False)


def pair(name="plus_times", dtype=FP64, total="plus", total_dtype=None, **changed) -> Program:
    """Return ``s = sum of C``, ``C<M> = A (+).(*) B'``, planned."""
    typed = semiring[name].typed(dtype)
    total_dtype = total_dtype or typed.return_type
    hints = changed.get("hints", Hints())
    slots = (
        Slot("matrix", dtype), Slot("matrix", dtype), Slot("matrix", INT8),
        Slot("matrix", typed.return_type, changed.get("role", "temp"), ((0, 0), (1, 1))),
        Slot("scalar", total_dtype, "inout"), Slot("scalar", INT64),
    )  # fmt: skip
    body = (
        Statement(
            "mxm", 3, (Arg(0), Arg(1, True)), typed, changed.get("mask", PLAIN),
            params=(("new", True),), hints=changed.get("product_hints", hints),
        ),
        Statement(
            "reduce", 4, (Arg(3),), monoid[total].typed(total_dtype),
            params=(("identity", changed.get("identity", False)),), hints=hints,
            accum=changed.get("accum"),
        ),
        *changed.get("more", ()),
    )  # fmt: skip
    return plan_program(Program(slots, body), CAPABILITIES)


def looped(program: Program) -> Program:
    return Program(program.slots, (Loop((program.body,), (None,), 5, explicit_limit=True),))


EXACT, ROUNDED = {"dtype": INT64}, {"dtype": FP64}
TOGETHER = {
    "plain": ROUNDED,
    "values of the mask": {"mask": Mask(2, structural=False, complement=False)},
    "in any order, exact": {**EXACT, "hints": Hints(deterministic=True)},
    "accumulated": {"accum": binary["plus"].typed(FP64)},
    "another monoid": {"total": "max"},
    "complex": {"dtype": FC64},
}
APART = {
    "in a fixed order": {**ROUNDED, "hints": Hints(deterministic=True)},
    "no mask": {"mask": None},
    "complemented": {"mask": Mask(2, structural=True, complement=True)},
    "row by row": {"product_hints": Hints(method="hash")},
    "seen by others": {"role": "inout"},
    "read again": {"more": (Statement("nvals", 5, (Arg(3),)),)},
}


@pytest.mark.parametrize("how", TOGETHER)
def test_a_product_that_is_only_summed_is_one_statement(how):
    assert is_summed(pair(**TOGETHER[how]))


@pytest.mark.parametrize("how", APART)
def test_a_product_that_must_be_there_is_not(how):
    assert not is_summed(pair(**APART[how]))


def pieces_of(program: Program):
    seen: list[Program] = []
    prepared = prepare_hosted(program, lambda one: seen.append(one) or len(seen) - 1, is_summed)
    return prepared, seen


def test_the_host_runs_it_as_one_piece():
    after = Statement("nvals", 5, (Arg(0),))
    prepared, seen = pieces_of(looped(pair(more=(after,))))
    (loop,) = prepared.body
    assert [piece.slots for piece in loop.bodies[0]] == [(0, 1, 2, 3, 4), (0, 5)]
    assert [len(one.body) for one in seen] == [2, 1]
    assert [slot.role for slot in seen[0].slots][-2:] == ["temp", "inout"]
    assert prepared.unmade == {3}


@pytest.mark.parametrize("how", ["in a fixed order", "read again", "row by row"])
def test_the_host_makes_what_somebody_reads(how):
    prepared, seen = pieces_of(looped(pair(**APART[how])))
    assert len(seen[0].body) == 1
    assert not prepared.unmade


CASES = [
    ("plus_pair", INT64, "plus", INT64), ("plus_times", FP64, "max", FP64),
    ("any_pair", BOOL, "plus", INT64), ("min_plus", FP32, "times", FP32),
    ("plus_times", FC64, "plus", FC64), ("any_secondi", INT64, "min", INT8),
]  # fmt: skip


@needs_nvrtc
@pytest.mark.parametrize("offsets", ["int", "long long"])
def test_sums_compile_without_warning(offsets):
    texts = {}
    for name, dtype, total, total_dtype in CASES:
        accum = binary["plus"].typed(total_dtype)
        changed = {"identity": True} if offsets == "int" else {"accum": accum}
        program = pair(name, dtype, total, total_dtype, **changed)
        texts[name, dtype] = summed_source(program, *walk_statements(program.body))
    assert not any("t_fill" in text for text in texts.values())
    assert_all_compile(texts, ARCHITECTURES[-1], offsets, STAGED)


# launches ----------------------------------------------------------------------------------------
@pytest.fixture
def launched(fake_cuda: FakeCuda, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Names of the staged kernels that were started; the device is the fake one."""
    names: list[str] = []
    monkeypatch.setitem(registry._open, "cuda", fake_cuda.backend)
    monkeypatch.setattr(run, "_prepared", type(run._prepared)(64))
    monkeypatch.setattr(warm, "_known", {})
    monkeypatch.setattr(Module, "load", lambda *given: None)
    # No kernel has counted anything.
    monkeypatch.setattr(CudaMatrix, "nvals", property(lambda matrix: matrix.most))

    def note(module, offset_type, kernel, *given, **how) -> None:
        names.append(kernel)

    monkeypatch.setattr(Module, "launch_blocks", note)
    yield names
    gc.collect()


def symmetric(device: str, n: int = 6) -> gb.Matrix:
    rows, columns = np.nonzero(1 - np.eye(n, dtype=int))
    return gb.Matrix.from_coo(rows, columns, 1, nrows=n, ncols=n, dtype="INT64").to(device)


def summed(A: gb.Matrix) -> gb.Scalar:
    """Return the sum of a masked square, computed in a recorded body."""
    total = gb.Scalar.from_value(0)

    def step() -> None:
        C = A.mxm(A.T, public_semiring.plus_pair).new(mask=A.S)
        total << C.reduce_scalar(public_monoid.plus, allow_empty=False)

    gb.repeat(step, max_iterations=1)
    return total


def test_short_lines_are_one_launch(launched, fake_cuda):
    A = symmetric("cuda")
    A.symmetric = True
    summed(A)
    launched.clear()
    before = fake_cuda.backend.statistics()
    total = summed(A)
    assert launched == ["t_dots_by_entry"]
    after = fake_cuda.backend.statistics()
    assert after.synchronisations == before.synchronisations
    assert total.value == 0
    assert fake_cuda.backend.statistics().synchronisations == before.synchronisations + 1


def test_pinned_sets_of_long_lines_go_in_bins(launched, monkeypatch):
    by_rows(monkeypatch)
    A = symmetric("cuda")
    A.symmetric = True
    summed(A)
    launched.clear()
    summed(A)
    # So few rows that each gets a block, and none of them is longer than the first table for one.
    assert launched == ["semira_count_looked_up", "semira_bin_rows", "t_dots0"]


@pytest.fixture
def given(launched, monkeypatch) -> list[tuple[str, int, tuple[object, ...]]]:
    """Kernels that were started, their shared memory, and numbers among their first arguments."""
    found: list[tuple[str, int, tuple[object, ...]]] = []

    def note(module, offset_type, kernel, blocks, table=None, *words, threads=256, shared=0):
        numbers = tuple(word for word in words[:3] if isinstance(word, int))
        found.append((kernel, shared, numbers))

    monkeypatch.setattr(Module, "launch_blocks", note)
    return found


#: Vertices, edges of each, a semiring, a pin; shared memory; words and slots, or cost.
SETS = {
    "nothing unless it is pinned": (3000, 30, "plus_pair", None, (0, (32,))),
    "bits": (3000, 30, "plus_pair", "bitmap", (8 * 376, (94, 0))),
    "bits that fit": (32_768, 5, "any_secondi", "bitmap", (32 << 10, (1024, 0))),
    "a table": (3000, 5, "plus_pair", "hash", (32 << 10, (0, 1024))),
    "a table with places": (3000, 5, "plus_times", "hash", (32 << 10, (0, 512))),
    "a merge needs nothing": (3000, 30, "plus_pair", "merge", (0, (32,))),
    "nor does a search": (3000, 5, "plus_pair", "search", (0, (32,))),
    "few bits": (50, 2, "plus_pair", "bitmap", (8 * 8, (2, 0))),
}  # fmt: skip


@pytest.mark.parametrize("how", SETS)
def test_what_the_columns_of_a_row_are_looked_up_in(given, how):
    n, length, ring, intersect, expected = SETS[how]
    rows = np.repeat(np.arange(n), length)
    columns = (rows + np.tile(np.arange(length), n)) % n
    A = gb.Matrix.from_coo(rows, columns, 1, nrows=n, ncols=n, dtype="INT64").to("cuda")
    A.symmetric = True
    given.clear()
    C = A.mxm(A.T, getattr(public_semiring, ring)).new(mask=A.S, intersect=intersect)
    assert C.nrows == n
    assert next(one for one in given if one[0].startswith("t_dots")) == (
        "t_dots_by_entry",
        *expected,
    )


def test_a_search_is_cheaper_where_lines_differ_in_length(given):
    rows, short = np.repeat(np.arange(40), 20), np.tile(np.arange(20), 40)
    B = gb.Matrix.from_coo(rows, short, True, nrows=40, ncols=500).to("cuda")
    M = gb.Matrix.from_scalar(True, 40, 40)
    for length, cost in ((20, 32), (79, 32), (80, 8)):
        rows, columns = np.repeat(np.arange(40), length), np.tile(np.arange(length), 40)
        A = gb.Matrix.from_coo(rows, columns, True, nrows=40, ncols=500).to("cuda")
        given.clear()
        A.mxm(B.T, public_semiring.plus_pair).new(mask=M.to("cuda").S, method="dot")
        assert next(one for one in given if one[0].startswith("t_dots"))[2] == (cost,)


def test_bits_of_long_rows_are_a_blocks(given):
    n, length = 70_000, 30
    rows = np.repeat(np.arange(n), length)
    A = gb.Matrix.from_coo(rows, (rows + np.tile(np.arange(length), n)) % n, 1, nrows=n, ncols=n)
    A = A.dup("INT64").to("cuda")
    A.symmetric = True
    for intersect in ("bitmap", "hash"):
        given.clear()
        A.mxm(A.T, public_semiring.plus_pair).new(mask=A.S, intersect=intersect, method="dot")
        started = [(name, shared) for name, shared, _ in given if name.startswith("t_dots")]
        # One bit for each of the columns, in whole words.
        bits = ("t_dots0", 4 * -(-n // 32))
        assert (started == [bits]) == (bits in started) == (intersect == "bitmap")


def test_triangles_in_natural_order_are_few_launches_and_one_wait(launched, fake_cuda):
    A = symmetric("cuda")
    for _ in range(2):
        triangle_count(A, symmetric=True, order="natural")
    launched.clear()
    before = fake_cuda.backend.statistics()
    triangle_count(A, symmetric=True)
    after = fake_cuda.backend.statistics()
    assert launched[-1] == "t_dots_by_entry"
    assert len(launched) <= 6
    assert after.launches == before.launches
    assert after.synchronisations == before.synchronisations + 1
    # The entries that are kept: another way to make them.
    assert after.allocations == before.allocations + 1


def test_a_warm_count_of_triangles_is_a_launch_and_a_wait(launched, fake_cuda):
    A = symmetric("cuda")
    for _ in range(2):
        triangle_count(A, symmetric=True, order="natural")
    launched.clear()
    before, start = fake_cuda.backend.statistics(), len(fake_cuda.driver.calls)
    triangle_count(A, symmetric=True, order="natural")
    after = fake_cuda.backend.statistics()
    assert launched == ["t_dots_by_entry"]
    assert fake_cuda.driver.calls[start:] == ["download"]
    assert after.synchronisations == before.synchronisations + 1
    assert (after.uploads, after.allocations) == (before.uploads, before.allocations)


def test_a_product_that_is_selected_from_is_written(launched):
    A = symmetric("cuda")
    out = gb.Matrix("INT64", *A.shape).to("cuda")

    def step() -> None:
        C = A.mxm(A.T, public_semiring.plus_pair).new(mask=A.S)
        out << C.select(public_select.valuegt, 1)

    gb.repeat(step, max_iterations=1)
    assert "t_fill" in launched


def test_matrices_of_one_pattern_are_multiplied_in_one_launch(launched):
    A, B = symmetric("cuda"), symmetric("cuda")
    twice = A.apply(public_binary.times, right=2).new()
    launched.clear()
    A.ewise_mult(twice, public_binary.plus).new()
    assert launched == ["t_pairs"]
    launched.clear()
    A.ewise_mult(B, public_binary.plus).new()
    assert "t_flags" in launched


# the trace ---------------------------------------------------------------------------------------
def test_rows_are_read_late_and_get_their_iteration():
    class Rows(list):
        reads = 0

        def __iter__(self):
            Rows.reads += 1
            return super().__iter__()

    trace, row = HostedTrace(), TraceRow(0, "mxm", "dot", 1, 2, 3)
    trace.add((), 0)
    for iteration in range(3):
        trace.add(Rows([row]), iteration)
    trace.add(Rows([row._replace(iteration=9)]), None)
    assert Rows.reads == 0
    assert [one.iteration for one in trace] == [0, 1, 2, 9]
    assert trace == tuple(trace)


def test_the_host_times_the_rows_of_its_loops(monkeypatch):
    now = iter([100, 107, 120, 120, 150, 151, 160, 250])
    monkeypatch.setattr(hosted, "time", SimpleNamespace(perf_counter_ns=lambda: next(now)))
    trace, row = HostedTrace(), TraceRow(0, "mxm", "dot", 1, 2, 3)
    # Nothing to add time to.
    trace.pass_time()
    trace.add([row, row._replace(elapsed_ns=99)], 0)
    trace.pass_time()
    trace.add((row,), 1)
    trace.pass_time()
    # Loops of the device have a clock of their own; the host adds what it spent besides.
    trace.add([row._replace(elapsed_ns=2), row], None)
    trace.add([row._replace(elapsed_ns=30), row._replace(elapsed_ns=40)], None)
    trace.pass_time()
    # The first product shares a launch with the second.
    expected = [0, 20, 30, 2, 0, 30 + (99 - 70), 40]
    assert [each.elapsed_ns for each in trace] == expected
    assert trace.lost == 0
